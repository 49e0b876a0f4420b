// BrainFloats.cpp - bf16 becomes wider formats in integers
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/Target/BrainFloats.h"

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"

using namespace llvm;

namespace bitpact::codegen {

/// bf16 is the upper half of f32.
static Value *widen(FPExtInst &extension) {
  IRBuilder<> builder(&extension);
  Type *from = extension.getSrcTy();
  auto like = [&](Type *element) -> Type * {
    auto *vector = dyn_cast<VectorType>(from);
    return vector ? VectorType::get(element, vector->getElementCount())
                  : element;
  };
  Value *bits = builder.CreateBitCast(extension.getOperand(0),
                                      like(builder.getInt16Ty()));
  Type *wide = like(builder.getInt32Ty());
  Value *upper = builder.CreateShl(builder.CreateZExt(bits, wide),
                                   ConstantInt::get(wide, 16));
  Value *single = builder.CreateBitCast(upper, like(builder.getFloatTy()));
  return single->getType() == extension.getType()
             ? single
             : builder.CreateFPExt(single, extension.getType());
}

void widenBrainFloatsInIntegers(Module &module) {
  for (Function &function : module)
    for (Instruction &each : make_early_inc_range(instructions(function)))
      if (auto *extension = dyn_cast<FPExtInst>(&each))
        if (extension->getSrcTy()->getScalarType()->isBFloatTy()) {
          extension->replaceAllUsesWith(widen(*extension));
          extension->eraseFromParent();
        }
}

} // namespace bitpact::codegen
