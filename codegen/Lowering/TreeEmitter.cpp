// TreeEmitter.cpp - the merge tree of one node
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/Lowering/TreeEmitter.h"

using namespace mlir;
using namespace bitpact;
using namespace bitpact::lowering;

//===----------------------------------------------------------------------===//
// Parts of one value
//===----------------------------------------------------------------------===//

ValueTree::ValueTree(RowContext &context, ElementEmitter &elements,
                     pact::ReduceOp reduce, const NodePlan &plan, size_t base)
    : MergeTree(context, plan, base), elements(elements), reduce(reduce),
      node(cast<pact::NodeAttr>(
          context.contract.getNodes().get(reduce.getNode()))),
      accumulator(cast<FloatType>(node.getAccumulator())) {}

FloatType ValueTree::floatType(algebra::Format format) const {
  OpBuilder &builder = context.builder;
  switch (format) {
  case algebra::Format::BF16:
    return builder.getBF16Type();
  case algebra::Format::F16:
    return builder.getF16Type();
  case algebra::Format::F32:
    return builder.getF32Type();
  case algebra::Format::F64:
    return builder.getF64Type();
  default:
    break;
  }
  llvm_unreachable("partials are floats");
}

bool ValueTree::rounds(algebra::Format format) {
  return floatType(format).getWidth() < accumulator.getWidth();
}

/// Rounds to `format` and carries the value on in the accumulator's format.
Value ValueTree::quantize(Value value, algebra::Format format) {
  if (!rounds(format))
    return value;
  return elements.convert(elements.convert(value, floatType(format)),
                          accumulator);
}

Part ValueTree::nothing() {
  const llvm::fltSemantics &semantics = accumulator.getFloatSemantics();
  return {context.laneConstant(FloatAttr::get(
      accumulator, isMax() ? llvm::APFloat::getInf(semantics, /*Negative=*/true)
                           : llvm::APFloat::getZero(semantics, true)))};
}

Part ValueTree::enter(const SubDigit &sub, const Part &part) {
  if (part.empty() || !sub.from)
    return part;
  return {quantize(part[0], *sub.from)};
}

/// Where a side is empty no merge happens, so nothing is rounded.
bool ValueTree::asksForSides(const SubDigit &sub) {
  return sub.in && rounds(*sub.in);
}

Part ValueTree::merge(const SubDigit &sub, const Part &left, const Part &right,
                      Sides exist) {
  OpBuilder &builder = context.builder;
  Value merged = isMax() ? arith::MaximumFOp::create(builder, context.loc,
                                                     left[0], right[0])
                               .getResult()
                         : arith::AddFOp::create(builder, context.loc, left[0],
                                                 right[0]);
  if (!asksForSides(sub))
    return {merged};
  Value rounded = quantize(merged, *sub.in);
  if (Value happens = context.both(exist.right, exist.left))
    rounded = arith::SelectOp::create(builder, context.loc, happens, rounded,
                                      merged);
  return {rounded};
}

//===----------------------------------------------------------------------===//
// Accumulators
//===----------------------------------------------------------------------===//

TreeEmitter::TreeEmitter(RowContext &context, ElementEmitter &elements,
                         pact::ReduceOp reduce, const NodePlan &plan)
    : ValueTree(context, elements, reduce, plan, plan.chainLength()) {}

TreeEmitter::Values TreeEmitter::emit() {
  Instances rows;
  for (int64_t column = 0; column < context.columns(); ++column) {
    rows.push_back(context.wholeRow(plan));
    rows.back().column = column;
  }
  const SubDigit *split = plan.split();
  if (!split)
    return flatten(parts(plan.order.size(), rows));
  return flatten(
      parts(plan.order.size() - 1, blocksAt(rows, *split, context.part())));
}

/// The identity if there is an element at all. `first` takes the neutral
/// value, into which a first element goes unchanged.
Value TreeEmitter::initial(const Instance &block) {
  Value neutral = nothing()[0];
  if (node.getStart() == algebra::Start::First || isMax())
    return neutral;
  Value zero = context.laneConstant(FloatAttr::get(
      accumulator, llvm::APFloat::getZero(accumulator.getFloatSemantics())));
  Presence presence = context.present(plan, block);
  if (presence.always())
    return zero;
  return arith::SelectOp::create(context.builder, context.loc, presence.mask,
                                 zero, neutral);
}

Value TreeEmitter::step(const Instance &instance, Value carried) {
  context.setColumn(instance.column);
  pact::PrimitiveOp primitive =
      elements.primitiveAt((reduce.getNode() + ".step").str());
  auto types = primitive.getFunctionType().getInputs();
  SmallVector<Value> arguments;
  if (reduce.getKind() == pact::ReduceKind::ExpSum)
    arguments.push_back(
        elements.convert(elements.weight(reduce, maximum, plan, instance),
                         cast<FloatType>(types[0])));
  else
    for (auto [arg, type] : llvm::zip(reduce.getArgs(), types))
      arguments.push_back(
          elements.valueAs(arg, cast<FloatType>(type), &plan, &instance));
  arguments.push_back(carried);
  Value taken = elements.apply(primitive, arguments);
  Presence presence = context.present(plan, instance);
  if (presence.always())
    return taken;
  return arith::SelectOp::create(context.builder, context.loc, presence.mask,
                                 taken, carried);
}

Parts TreeEmitter::leaves(const Instances &batch) {
  if (plan.partWeight)
    return readParts(batch);
  SmallVector<Value> carried;
  for (const Instance &block : batch)
    carried.push_back(initial(block));
  return regroup(visit(plan.chainLength(), batch, carried), 1);
}

Parts TreeEmitter::foldLoop(size_t level, const Instances &batch) {
  return plan.partWeight ? foldParts(level, batch)
                         : MergeTree::foldLoop(level, batch);
}

TreeEmitter::Values TreeEmitter::visit(size_t levels, const Instances &batch,
                                       ValueRange carried) {
  if (levels == 0) {
    SmallVector<Value> next;
    for (auto [instance, accumulator] : llvm::zip(batch, carried))
      next.push_back(step(instance, accumulator));
    return next;
  }
  const SubDigit &sub = plan.order[levels - 1];
  if (context.columns() > 1 && sub.digit + 1 == plan.digits.size() &&
      llvm::all_of(ArrayRef(plan.order).take_front(levels),
                   [&](const SubDigit &s) { return s.digit == sub.digit; }))
    return countedChain(levels, batch, carried);
  if (sub.binding == Binding::Loop)
    return context.loop(context.tripCount(plan, sub, &batch.front()), carried,
                        [&](Value index, ValueRange inner) {
                          return visit(levels - 1, blocksAt(batch, sub, index),
                                       inner);
                        });
  SmallVector<Value> current(carried);
  for (int64_t v = 0; v < sub.radix; ++v) {
    Instances blocks;
    SmallVector<size_t> origin;
    SmallVector<Value> inner;
    for (auto [i, block] : llvm::enumerate(batch)) {
      Instance next = block.at(sub, v);
      if (context.present(plan, next).never())
        continue;
      blocks.push_back(next);
      origin.push_back(i);
      inner.push_back(current[i]);
    }
    if (blocks.empty())
      break;
    SmallVector<Value> taken = visit(levels - 1, blocks, inner);
    for (auto [i, value] : llvm::zip(origin, taken))
      current[i] = value;
  }
  return current;
}
