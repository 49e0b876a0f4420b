// EntryPoint.cpp - the function that a launch calls, and its loop over programs
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/CPU/EntryPoint.h"

using namespace mlir;
using namespace bitpact;
using namespace bitpact::codegen;

EntryPoint codegen::makeEntryPoint(OpBuilder &builder, Location loc,
                                   StringRef symbol, Block &body) {
  MLIRContext *context = builder.getContext();
  auto pointer = LLVM::LLVMPointerType::get(context);
  Type i64Type = builder.getI64Type();
  EntryPoint made;
  made.function = LLVM::LLVMFuncOp::create(
      builder, loc, symbol,
      LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(context),
                                  {pointer, i64Type, i64Type}));
  Block *entry = made.function.addEntryBlock(builder);
  builder.setInsertionPointToStart(entry);
  for (BlockArgument argument : body.getArguments()) {
    Value at = LLVM::GEPOp::create(
        builder, loc, pointer, i64Type, entry->getArgument(0),
        ArrayRef<LLVM::GEPArg>{int(argument.getArgNumber())});
    bool isBuffer = isa<kernel::BufferType>(argument.getType());
    made.slots.push_back(LLVM::LoadOp::create(
        builder, loc, isBuffer ? Type(pointer) : i64Type, at));
  }
  Value one = LLVM::ConstantOp::create(builder, loc, i64Type,
                                       builder.getI64IntegerAttr(1));
  made.programs = scf::ForOp::create(builder, loc, entry->getArgument(1),
                                     entry->getArgument(2), one);
  LLVM::ReturnOp::create(builder, loc, ValueRange());
  return made;
}
