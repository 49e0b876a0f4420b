// BrainHalves.cpp - bf16 in halves of registers, on NVIDIA GPUs
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/Target/BrainHalves.h"

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/IR/PatternMatch.h"
#include "llvm/TargetParser/Triple.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"

using namespace llvm;

namespace bitpact::codegen {

/// cvt.rn.bf16x2.f32
static Value *roundTwo(IRBuilder<> &builder, Value *upper, Value *lower) {
  return builder.CreateIntrinsic(Intrinsic::nvvm_ff2bf16x2_rn, {upper, lower});
}

/// A rounding that is widened again; of vectors each element.
static Value *widenRounding(IRBuilder<> &builder, FPTruncInst &rounding) {
  Value *from = rounding.getOperand(0);
  Type *single = builder.getFloatTy();
  if (from->getType()->getScalarType() != single)
    return nullptr;
  auto above = [&](Value *value) {
    return builder.CreateBitCast(
        roundTwo(builder, value, ConstantFP::getZero(single)), single);
  };
  auto *vector = dyn_cast<FixedVectorType>(from->getType());
  if (!vector)
    return above(from);
  Value *all = PoisonValue::get(vector);
  for (unsigned i = 0; i < vector->getNumElements(); ++i)
    all = builder.CreateInsertElement(
        all, above(builder.CreateExtractElement(from, i)), i);
  return all;
}

/// An element of a vector, which lies in memory as registers do.
static Value *widenElement(IRBuilder<> &builder, ExtractElementInst &element) {
  auto *vector = dyn_cast<FixedVectorType>(element.getVectorOperandType());
  auto *index = dyn_cast<ConstantInt>(element.getIndexOperand());
  if (!vector || !index || vector->getNumElements() % 2)
    return nullptr;
  uint64_t at = index->getZExtValue();
  Value *pairs = builder.CreateBitCast(
      element.getVectorOperand(),
      FixedVectorType::get(builder.getInt32Ty(), vector->getNumElements() / 2));
  Value *pair = builder.CreateExtractElement(pairs, at / 2);
  Value *upper = at % 2 ? builder.CreateAnd(pair, 0xFFFF0000)
                        : builder.CreateShl(pair, 16);
  return builder.CreateBitCast(upper, builder.getFloatTy());
}

static Value *widen(FPExtInst &extension) {
  IRBuilder<> builder(&extension);
  Value *from = extension.getOperand(0);
  if (!extension.getType()->getScalarType()->isFloatTy() ||
      !from->getType()->getScalarType()->isBFloatTy())
    return nullptr;
  if (auto *rounding = dyn_cast<FPTruncInst>(from))
    return widenRounding(builder, *rounding);
  if (auto *element = dyn_cast<ExtractElementInst>(from))
    return widenElement(builder, *element);
  return nullptr;
}

/// The f32 of which an element is the rounding, NaN canonical; null if of none.
static Value *roundedTo(Value *element) {
  using namespace PatternMatch;
  Value *from = nullptr, *a = nullptr, *b = nullptr, *nan = nullptr;
  CmpPredicate predicate;
  if (!match(element, m_Select(m_FCmp(predicate, m_Value(a), m_Value(b)),
                               m_Value(nan), m_FPTrunc(m_Value(from)))) ||
      predicate != FCmpInst::FCMP_UNO || a != from || b != from ||
      !from->getType()->isFloatTy())
    return nullptr;
  auto *constant = dyn_cast<ConstantFP>(nan);
  return constant && constant->getValueAPF().bitcastToAPInt() == 0x7FC0
             ? from
             : nullptr;
}

/// Of what all elements of a vector of bf16 are roundings; empty if any is not.
static SmallVector<Value *> roundingsIn(Value *whole) {
  auto *type = dyn_cast<FixedVectorType>(whole->getType());
  if (!type || !type->getElementType()->isBFloatTy() ||
      type->getNumElements() % 2)
    return {};
  SmallVector<Value *> singles(type->getNumElements());
  while (auto *insertion = dyn_cast<InsertElementInst>(whole)) {
    auto *index = dyn_cast<ConstantInt>(insertion->getOperand(2));
    if (!index)
      return {};
    Value *&single = singles[index->getZExtValue()];
    if (!single && !(single = roundedTo(insertion->getOperand(1))))
      return {};
    whole = insertion->getOperand(0);
  }
  return is_contained(singles, nullptr) ? SmallVector<Value *>() : singles;
}

/// Each half that is 0x7FFF becomes 0x7FC0. No other half is one less than a
/// negative integer without being negative.
static Value *canonical(IRBuilder<> &builder, Value *pair) {
  Value *next = builder.CreateAdd(pair, builder.getInt32(0x00010001));
  Value *nan = builder.CreateAnd(builder.CreateAnd(next, 0x80008000),
                                 builder.CreateNot(pair));
  Value *less = builder.CreateSub(builder.CreateLShr(nan, 9),
                                  builder.CreateLShr(nan, 15));
  return builder.CreateSub(pair, less);
}

/// The instruction makes every NaN 0x7FFF, and one comparison finds a NaN in
/// either of two values. Where there is any at all, they become canonical.
static void packRoundings(StoreInst &store) {
  SmallVector<Value *> singles = roundingsIn(store.getValueOperand());
  if (singles.empty())
    return;
  IRBuilder<> builder(&store);
  Type *word = builder.getInt32Ty();
  SmallVector<Value *> words;
  Value *hasNaN = builder.getFalse();
  for (size_t i = 0; i < singles.size(); i += 2) {
    words.push_back(builder.CreateBitCast(
        roundTwo(builder, singles[i + 1], singles[i]), word));
    hasNaN = builder.CreateOr(builder.CreateFCmpUNO(singles[i], singles[i + 1]),
                              hasNaN);
  }
  BasicBlock *before = store.getParent();
  Instruction *then = SplitBlockAndInsertIfThen(hasNaN, store.getIterator(),
                                                /*Unreachable=*/false);
  Value *all = PoisonValue::get(FixedVectorType::get(word, words.size()));
  for (size_t i = 0; i < words.size(); ++i) {
    builder.SetInsertPoint(then);
    Value *changed = canonical(builder, words[i]);
    builder.SetInsertPoint(store.getParent(), store.getParent()->begin());
    PHINode *chosen = builder.CreatePHI(word, 2);
    chosen->addIncoming(changed, then->getParent());
    chosen->addIncoming(words[i], before);
    builder.SetInsertPoint(&store);
    all = builder.CreateInsertElement(all, chosen, i);
  }
  store.setOperand(
      0, builder.CreateBitCast(all, store.getValueOperand()->getType()));
}

void keepBrainFloatsInHalves(Module &module) {
  if (!module.getTargetTriple().isNVPTX())
    return;
  for (Function &function : module) {
    SmallVector<StoreInst *> stores;
    for (Instruction &each : make_early_inc_range(instructions(function))) {
      if (auto *store = dyn_cast<StoreInst>(&each))
        stores.push_back(store);
      auto *extension = dyn_cast<FPExtInst>(&each);
      if (Value *wide = extension ? widen(*extension) : nullptr) {
        extension->replaceAllUsesWith(wide);
        extension->eraseFromParent();
      }
    }
    for (StoreInst *store : stores)
      packRoundings(*store);
  }
}

} // namespace bitpact::codegen
