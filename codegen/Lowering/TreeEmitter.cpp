// TreeEmitter.cpp - the merge tree of one node
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/Lowering/TreeEmitter.h"

using namespace mlir;
using namespace bitpact;
using namespace bitpact::lowering;
using algebra::Form;

TreeEmitter::TreeEmitter(RowContext &context, ElementEmitter &elements,
                         pact::ReduceOp reduce, const NodePlan &plan)
    : context(context), elements(elements), reduce(reduce), plan(plan),
      node(cast<pact::NodeAttr>(
          context.contract.getNodes().get(reduce.getNode()))),
      accumulator(cast<FloatType>(node.getAccumulator())) {}

TreeEmitter::Values TreeEmitter::emit() {
  Instances rows;
  for (int64_t column = 0; column < context.columns(); ++column) {
    rows.push_back(context.wholeRow(plan));
    rows.back().column = column;
  }
  const SubDigit *split = plan.split();
  if (!split)
    return partials(plan.order.size(), rows);
  return partials(plan.order.size() - 1,
                  blocksAt(rows, *split, context.part()));
}

//===----------------------------------------------------------------------===//
// Blocks
//===----------------------------------------------------------------------===//

Instance TreeEmitter::at(const Instance &block, const SubDigit &sub,
                         int64_t value) const {
  Instance result = block;
  result.digits[sub.digit].constant += value * sub.weight;
  return result;
}

Instance TreeEmitter::at(const Instance &block, const SubDigit &sub,
                         Value value) const {
  Instance result = block;
  result.digits[sub.digit].addTerm(value, sub.weight);
  return result;
}

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

FloatType TreeEmitter::floatType(algebra::Format format) const {
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
  case algebra::Format::I32:
  case algebra::Format::I64:
    break;
  }
  llvm_unreachable("partials are floats");
}

/// Rounds to `format` and carries the value on in the accumulator's format.
Value TreeEmitter::quantize(Value value, algebra::Format format) {
  FloatType type = floatType(format);
  if (type.getWidth() >= accumulator.getWidth())
    return value;
  return elements.convert(elements.convert(value, type), accumulator);
}

Value TreeEmitter::neutral() {
  bool isMax = reduce.getKind() == pact::ReduceKind::Max;
  const llvm::fltSemantics &semantics = accumulator.getFloatSemantics();
  return context.laneConstant(FloatAttr::get(
      accumulator, isMax ? llvm::APFloat::getInf(semantics, /*Negative=*/true)
                         : llvm::APFloat::getZero(semantics, true)));
}

/// What an accumulator holds before the first element of a block: the
/// identity if there is an element at all. `first` takes the neutral value,
/// into which a first element goes unchanged.
Value TreeEmitter::initial(const Instance &block) {
  Value nothing = neutral();
  if (node.getStart() == algebra::Start::First ||
      reduce.getKind() == pact::ReduceKind::Max)
    return nothing;
  Value zero = context.laneConstant(FloatAttr::get(
      accumulator, llvm::APFloat::getZero(accumulator.getFloatSemantics())));
  Presence presence = context.present(plan, block);
  if (presence.always())
    return zero;
  return arith::SelectOp::create(context.builder, context.loc, presence.mask,
                                 zero, nothing);
}

Value TreeEmitter::step(const Instance &instance, Value carried) {
  context.setColumn(instance.column);
  pact::PrimitiveOp primitive =
      elements.primitiveAt((reduce.getNode() + ".step").str());
  SmallVector<Value> arguments;
  for (auto [arg, type] :
       llvm::zip(reduce.getArgs(), primitive.getFunctionType().getInputs()))
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

Value TreeEmitter::enter(const SubDigit &sub, Value part) {
  return part && sub.from ? quantize(part, *sub.from) : part;
}

Value TreeEmitter::merge(const SubDigit &sub, Value left, Value right,
                         const Instance *rightBlock, Value leftExists) {
  if (!left || !right)
    return left ? left : right;
  OpBuilder &builder = context.builder;
  Value merged =
      reduce.getKind() == pact::ReduceKind::Max
          ? arith::MaximumFOp::create(builder, context.loc, left, right)
                .getResult()
          : arith::AddFOp::create(builder, context.loc, left, right);
  if (!sub.in)
    return merged;
  // Where a side is empty no merge happens, so nothing is rounded.
  Value rounded = quantize(merged, *sub.in);
  if (rounded == merged)
    return merged;
  Presence presence =
      rightBlock ? context.present(plan, *rightBlock) : Presence();
  if (presence.never())
    return left;
  Value happens = presence.mask;
  if (leftExists)
    happens = happens ? arith::AndIOp::create(builder, context.loc, happens,
                                              leftExists)
                            .getResult()
                      : leftExists;
  return happens ? arith::SelectOp::create(builder, context.loc, happens,
                                           rounded, merged)
                       .getResult()
                 : rounded;
}

//===----------------------------------------------------------------------===//
// Accumulators
//===----------------------------------------------------------------------===//

TreeEmitter::Values TreeEmitter::accumulate(const Instances &batch) {
  if (plan.partWeight)
    return readParts(batch);
  Values carried;
  for (const Instance &block : batch)
    carried.push_back(initial(block));
  return visit(plan.chainLength(), batch, carried);
}

TreeEmitter::Values TreeEmitter::visit(size_t levels, const Instances &batch,
                                       ValueRange carried) {
  if (levels == 0) {
    Values next;
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
  Values current(carried);
  for (int64_t v = 0; v < sub.radix; ++v) {
    Instances blocks;
    SmallVector<size_t> origin;
    Values inner;
    for (auto [i, block] : llvm::enumerate(batch)) {
      Instance next = at(block, sub, v);
      if (context.present(plan, next).never())
        continue;
      blocks.push_back(next);
      origin.push_back(i);
      inner.push_back(current[i]);
    }
    if (blocks.empty())
      break;
    Values taken = visit(levels - 1, blocks, inner);
    for (auto [i, value] : llvm::zip(origin, taken))
      current[i] = value;
  }
  return current;
}

//===----------------------------------------------------------------------===//
// Merges
//===----------------------------------------------------------------------===//

TreeEmitter::Values TreeEmitter::partials(size_t levels,
                                          const Instances &batch) {
  if (levels == plan.chainLength())
    return accumulate(batch);
  const SubDigit &sub = plan.order[levels - 1];
  switch (sub.binding) {
  case Binding::Unroll:
    return unrolled(levels - 1, batch);
  case Binding::Lanes:
    return acrossLanes(levels - 1, batch);
  case Binding::Loop:
    break;
  case Binding::Split:
    llvm_unreachable("a program has one part");
  }
  if (plan.partWeight && sub.form == Form::Fold)
    return foldParts(levels - 1, batch);
  if (sub.form == Form::Pairwise)
    return pairwiseLoop(levels - 1, batch);
  if (sub.form == Form::Halving)
    return halvingLoop(levels - 1, batch);
  return foldLoop(levels - 1, batch);
}

TreeEmitter::Values TreeEmitter::unrolled(size_t level,
                                          const Instances &batch) {
  const SubDigit &sub = plan.order[level];
  Instances blocks;
  SmallVector<std::pair<size_t, int64_t>> origin;
  for (auto [i, block] : llvm::enumerate(batch))
    for (int64_t v = 0; v < sub.radix; ++v) {
      Instance next = at(block, sub, v);
      if (context.present(plan, next).never())
        break;
      blocks.push_back(next);
      origin.push_back({i, v});
    }
  Values inner = partials(level, blocks);
  SmallVector<Values> parts(batch.size(), Values(sub.radix, Value()));
  for (auto [where, part] : llvm::zip(origin, inner))
    parts[where.first][where.second] = enter(sub, part);
  Values results;
  for (auto [i, row] : llvm::enumerate(parts)) {
    auto join = [&](int64_t left, int64_t right) {
      Instance block = at(batch[i], sub, right);
      row[left] = merge(sub, row[left], row[right], &block);
    };
    if (sub.form == Form::Halving)
      for (int64_t s = sub.radix / 2; s > 0; s /= 2)
        for (int64_t j = 0; j < s; ++j)
          join(j, j + s);
    else if (sub.form == Form::Pairwise)
      for (int64_t s = 1; s < sub.radix; s *= 2)
        for (int64_t j = 0; j + s < sub.radix; j += 2 * s)
          join(j, j + s);
    else
      for (int64_t j = 1; j < sub.radix; ++j)
        join(0, j);
    results.push_back(row[0]);
  }
  return results;
}

TreeEmitter::Values TreeEmitter::acrossLanes(size_t level,
                                             const Instances &batch) {
  const SubDigit &sub = plan.order[level];
  OpBuilder &builder = context.builder;
  Location loc = context.loc;
  int64_t lanes = context.lanes();
  int64_t subgroup = std::min(lanes, context.schedule.getSubgroup());
  Instances blocks;
  for (const Instance &block : batch)
    blocks.push_back(at(block, sub, context.lane()));
  Values parts = partials(level, blocks);

  auto bits = [&](Value value, int64_t keep, int64_t set) {
    Value masked = arith::AndIOp::create(
        builder, loc, value,
        context.laneConstant(builder.getI64IntegerAttr(keep)));
    return arith::OrIOp::create(
               builder, loc, masked,
               context.laneConstant(builder.getI64IntegerAttr(set)))
        .getResult();
  };
  bool pairwise = sub.form == Form::Pairwise;
  auto exchange = [&](Value part, const Instance &block, int64_t distance) {
    Value partner = kernel::ExchangeOp::create(builder, loc, part.getType(),
                                               part, distance);
    std::optional<Instance> right;
    if (sub.in) // first position of the part whose lane has the bit set
      right = at(block, sub,
                 pairwise ? bits(context.lane(), ~(2 * distance - 1), distance)
                          : bits(context.laneInSubgroup(), 2 * distance - 1,
                                 distance));
    return merge(sub, part, partner, right ? &*right : nullptr);
  };
  auto acrossSubgroups = [&](Value part, const Instance &block) {
    if (lanes == subgroup)
      return part;
    int64_t count = lanes / subgroup;
    Values row(kernel::GatherOp::create(
                   builder, loc, SmallVector<Type>(count, part.getType()), part,
                   subgroup)
                   .getValues());
    auto join = [&](int64_t left, int64_t right) {
      Instance rightBlock = block;
      if (sub.in) {
        if (!pairwise)
          rightBlock = at(block, sub, context.laneInSubgroup());
        rightBlock = at(rightBlock, sub, right * subgroup);
      }
      row[left] = merge(sub, row[left], row[right], &rightBlock);
    };
    if (pairwise)
      for (int64_t s = 1; s < count; s *= 2)
        for (int64_t j = 0; j + s < count; j += 2 * s)
          join(j, j + s);
    else
      for (int64_t s = count / 2; s > 0; s /= 2)
        for (int64_t j = 0; j < s; ++j)
          join(j, j + s);
    return row[0];
  };

  Values results;
  for (auto [block, value] : llvm::zip(batch, parts)) {
    Value part = enter(sub, value);
    if (pairwise) {
      for (int64_t s = 1; s < subgroup; s *= 2)
        part = exchange(part, block, s);
      part = acrossSubgroups(part, block);
    } else {
      part = acrossSubgroups(part, block);
      for (int64_t s = subgroup / 2; s > 0; s /= 2)
        part = exchange(part, block, s);
    }
    results.push_back(part);
  }
  return results;
}

TreeEmitter::Values TreeEmitter::foldLoop(size_t level,
                                          const Instances &batch) {
  const SubDigit &sub = plan.order[level];
  OpBuilder &builder = context.builder;
  Values initial(batch.size(), neutral());
  return context.loop(
      context.tripCount(plan, sub, &batch.front()), initial,
      [&](Value index, ValueRange carried) {
        Instances blocks = blocksAt(batch, sub, index);
        // Elements lie before this part. The first of several blocks between
        // offsets may be empty.
        Value later;
        if (sub.in)
          later = context.splat(arith::CmpIOp::create(
              builder, context.loc, arith::CmpIPredicate::sgt,
              plan.digits[sub.digit].isOffsets ? blocks.front().begin : index,
              context.i64(0)));
        Values parts = partials(level, blocks), next;
        for (auto [left, right, block] : llvm::zip(carried, parts, blocks))
          next.push_back(merge(sub, left, enter(sub, right), &block, later));
        return next;
      });
}
