// Whole.cpp - primitives found in kernels, operation by operation
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/Interpreter/Whole.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/DenseMap.h"

#include <algorithm>

using namespace mlir;
using namespace bitpact;
using namespace bitpact::interpreter;

namespace {

/// Shorter ones are cheaper as they are, and laws of terms apply to them.
constexpr int kFewestOperations = 6;
/// As many as a term has operands.
constexpr unsigned kMostArguments = 3;

/// The attribute of a constant, of a lane vector that of all its lanes.
Attribute numberOf(Value value) {
  auto constant = value.getDefiningOp<arith::ConstantOp>();
  if (!constant)
    return {};
  if (auto dense = dyn_cast<DenseElementsAttr>(constant.getValue()))
    return dense.isSplat() ? dense.getSplatValue<Attribute>() : Attribute();
  return constant.getValue();
}

bool sameAction(Operation *a, Operation *b) {
  std::optional<Action> left = actionOf(a), right = actionOf(b);
  return left && right && left->op == right->op && left->type == right->type &&
         left->from == right->from && left->attribute == right->attribute;
}

std::optional<WholePrimitives::Match> matchOne(pact::PrimitiveOp primitive,
                                               int number, Operation *at) {
  WholePrimitives::Match match{number, {}, {}};
  mlir::Block &body = primitive.getBody().front();
  llvm::DenseMap<Value, Value> bound; // of the primitive → of the kernel
  auto binds = [&](Value inner, Value outer) {
    if (Attribute constant = numberOf(inner))
      return numberOf(outer) == constant;
    auto [known, isNew] = bound.try_emplace(inner, outer);
    return isNew ? isa<BlockArgument>(inner) : known->second == outer;
  };
  for (Operation &op : body.without_terminator()) {
    if (isa<arith::ConstantOp>(op))
      continue;
    while (at && isa<arith::ConstantOp>(at))
      at = at->getNextNode();
    if (!at || !sameAction(&op, at) ||
        op.getNumOperands() != at->getNumOperands())
      return std::nullopt;
    for (auto [inner, outer] : llvm::zip(op.getOperands(), at->getOperands()))
      if (!binds(inner, outer))
        return std::nullopt;
    bound[op.getResult(0)] = at->getResult(0);
    match.operations.push_back(at);
    at = at->getNextNode();
  }
  Value result = cast<pact::YieldOp>(body.getTerminator()).getValue();
  Operation *last = match.operations.back();
  if (bound.lookup(result) != last->getResult(0))
    return std::nullopt;
  for (Operation *op : match.operations)
    for (Operation *user : op->getUsers())
      if (op != last && !llvm::is_contained(match.operations, user))
        return std::nullopt;
  for (Value argument : body.getArguments()) {
    if (!bound.count(argument))
      return std::nullopt;
    match.arguments.push_back(bound.lookup(argument));
  }
  return match;
}

} // namespace

WholePrimitives::WholePrimitives(pact::ContractOp contract) {
  for (NamedAttribute bound : contract.getPrimitives()) {
    auto primitive = SymbolTable::lookupNearestSymbolFrom<pact::PrimitiveOp>(
        contract, cast<FlatSymbolRefAttr>(bound.getValue()));
    if (!primitive || primitive.getBody().empty() || find(primitive))
      continue;
    mlir::Block &body = primitive.getBody().front();
    auto computes = [](Operation &op) { return !isa<arith::ConstantOp>(op); };
    if (body.getNumArguments() <= kMostArguments &&
        llvm::count_if(body.without_terminator(), computes) >=
            kFewestOperations)
      primitives.push_back(primitive);
  }
}

std::optional<int> WholePrimitives::find(pact::PrimitiveOp primitive) const {
  auto found = std::find(primitives.begin(), primitives.end(), primitive);
  return found == primitives.end()
             ? std::nullopt
             : std::optional(int(found - primitives.begin()));
}

std::optional<WholePrimitives::Match>
WholePrimitives::match(Operation &first) const {
  for (auto [i, primitive] : llvm::enumerate(primitives))
    if (std::optional<Match> found = matchOne(primitive, int(i), &first))
      return found;
  return std::nullopt;
}
