// EasyQuotients.cpp - divisions that most launches need not make
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/NVPTX/EasyQuotients.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

void bitpact::codegen::skipEasyQuotients(LLVM::LLVMFuncOp kernel) {
  SmallVector<arith::DivUIOp> quotients;
  kernel.walk([&](arith::DivUIOp op) {
    if (!op.getRhs().getDefiningOp<arith::ConstantOp>())
      quotients.push_back(op);
  });
  for (arith::DivUIOp op : quotients) {
    OpBuilder builder(op);
    Location loc = op.getLoc();
    Value dividend = op.getLhs(), divisor = op.getRhs();
    auto constant = [&](int64_t value) -> Value {
      return arith::ConstantOp::create(
          builder, loc, builder.getIntegerAttr(op.getType(), value));
    };
    Value isByOne = arith::CmpIOp::create(
        builder, loc, arith::CmpIPredicate::eq, divisor, constant(1));
    Value isZero = arith::CmpIOp::create(
        builder, loc, arith::CmpIPredicate::ult, dividend, divisor);
    Value isEasy = arith::OrIOp::create(builder, loc, isByOne, isZero);
    auto branch = scf::IfOp::create(builder, loc, op.getType(), isEasy,
                                    /*withElseRegion=*/true);
    builder.setInsertionPointToStart(branch.thenBlock());
    Value easy = arith::SelectOp::create(builder, loc, isByOne, dividend,
                                         constant(0));
    scf::YieldOp::create(builder, loc, easy);
    builder.setInsertionPointToStart(branch.elseBlock());
    Value hard = arith::DivUIOp::create(builder, loc, dividend, divisor);
    scf::YieldOp::create(builder, loc, hard);
    op.replaceAllUsesWith(branch.getResult(0));
    op.erase();
  }
}
