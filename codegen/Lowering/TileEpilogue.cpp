// TileEpilogue.cpp - what an operator does with the sums of a tile kernel
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/Lowering/TileEpilogue.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace bitpact;
using namespace bitpact::lowering;

TileEpilogue::TileEpilogue(OpBuilder &builder, Location loc,
                           pact::ContractOp contract, const TileFamily &family,
                           ValueRange elements)
    : ScalarArithmetic(builder, loc, contract) {
  for (auto [dot, sum] : llvm::zip(family.dots, elements))
    known[pact::ReduceOp(dot).getResult()] = rounded(dot, sum);
  for (auto [input, element] :
       llvm::zip(family.others, elements.drop_front(family.dots.size())))
    known[Value(pact::InputOp(input).getResult())] = element;
}

Value ScalarArithmetic::constant(TypedAttr value) {
  return arith::ConstantOp::create(builder, loc, value);
}

Value ScalarArithmetic::extentAs(pact::ExtentOp, FloatType) {
  llvm_unreachable("tileFamily refuses extents");
}

Value TileEpilogue::value(Value f) {
  if (Value found = known.lookup(f))
    return found;
  Value result =
      compute(f.getDefiningOp(), [&](Value operand) { return value(operand); });
  return known[f] = result;
}

Value TileEpilogue::output(pact::OutputOp output) {
  return outputOf(output, [&](Value operand) { return value(operand); });
}
