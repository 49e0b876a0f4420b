// Expectation.cpp - which operations a contract lets its code contain
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/Pipeline/Expectation.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace bitpact;
using codegen::OpKind;

codegen::LintExpectation pipeline::expectationOf(pact::ContractOp contract,
                                                 pact::OperatorOp op) {
  bool fma = false, certainFma = false, div = false, sqrt = false, max = false;
  auto countBody = [&](pact::PrimitiveOp primitive) {
    bool any = false;
    primitive.walk([&](Operation *each) {
      any |= isa<pact::FmaOp>(each);
      div |= isa<arith::DivFOp>(each);
      sqrt |= isa<pact::SqrtOp>(each);
      max |= isa<arith::MaximumFOp, arith::MinimumFOp>(each);
    });
    fma |= any;
    return any;
  };
  for (NamedAttribute bound : contract.getPrimitives())
    if (auto primitive =
            SymbolTable::lookupNearestSymbolFrom<pact::PrimitiveOp>(
                contract, cast<FlatSymbolRefAttr>(bound.getValue()))) {
      bool any = countBody(primitive);
      // A step from the identity cannot be folded to a multiplication; from
      // the first element, the first step can.
      StringRef node = bound.getName().getValue();
      if (any && node.consume_back(".step"))
        if (auto attr = contract.getNodes().getAs<pact::NodeAttr>(node))
          certainFma |= attr.getStart() == algebra::Start::Identity;
    }
  for (NamedAttribute bound : contract.getRounding())
    fma |= cast<pact::RoundingAttr>(bound.getValue()).isExact();
  for (Operation &each : op.getBody().front()) {
    div |= isa<pact::DivOp>(each);
    max |= isa<pact::MaxOp>(each);
    if (auto reduce = dyn_cast<pact::ReduceOp>(each))
      max |= reduce.getKind() == pact::ReduceKind::Max;
  }
  codegen::LintExpectation expected;
  for (NamedAttribute bound : contract.getPrimitives())
    if (auto atom = SymbolTable::lookupNearestSymbolFrom<pact::AtomOp>(
            contract, cast<FlatSymbolRefAttr>(bound.getValue())))
      expected.atoms.push_back(atom.getSymName().str());
  for (auto reduce : op.getOps<pact::ReduceOp>()) {
    auto step = contract.getPrimitives().getAs<FlatSymbolRefAttr>(
        (reduce.getNode() + ".step").str());
    expected.chainsFma |= step && step.getValue() == "dot.fma.f32";
  }
  expected.allowFma = fma;
  if (!fma)
    expected.none(OpKind::Fma);
  else if (certainFma)
    expected.some(OpKind::Fma);
  if (!div)
    expected.none(OpKind::Div);
  if (sqrt)
    expected.some(OpKind::Sqrt);
  else
    expected.none(OpKind::Sqrt);
  if (!max)
    expected.none(OpKind::Max);
  return expected;
}
