// TreeParts.cpp - counted chains, blocks between offsets, parts of a split
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/Lowering/SplitPlan.h"
#include "codegen/Lowering/TreeEmitter.h"

using namespace mlir;
using namespace bitpact;
using namespace bitpact::lowering;

//===----------------------------------------------------------------------===//
// Chains whose length all lanes share
//===----------------------------------------------------------------------===//

static bool sameDigits(const Instance &a, const Instance &b) {
  for (auto [x, y] : llvm::zip(a.digits, b.digits))
    if (x.constant != y.constant || x.terms != y.terms)
      return false;
  return a.begin == b.begin;
}

/// Loads before arithmetic: they are all under way at once.
void TreeEmitter::readAhead(const Instances &batch) {
  for (const Instance &instance : batch) {
    context.setColumn(instance.column);
    for (Value arg : reduce.getArgs())
      if (arg.getDefiningOp<pact::InputOp>())
        elements.value(arg, &plan, &instance);
  }
}

/// No lane has a part of the chain, so its length is a number to loop to, and
/// no element needs a mask.
TreeEmitter::Values TreeEmitter::countedChain(size_t levels,
                                              const Instances &batch,
                                              ValueRange carried) {
  OpBuilder &builder = context.builder;
  Location loc = context.loc;
  const SubDigit &inner = plan.order.front();
  int64_t unroll = inner.binding == Binding::Unroll ? inner.radix : 1;
  Values results(carried);
  // Blocks that differ in other digits than the column have chains of their
  // own.
  for (size_t first = 0; first < batch.size();) {
    size_t count = 1;
    while (first + count < batch.size() &&
           sameDigits(batch[first], batch[first + count]))
      ++count;
    ArrayRef<Instance> group = ArrayRef(batch).slice(first, count);
    Value length = context.presentCount(plan, group.front());
    Value steps = length, whole = length;
    if (unroll > 1) {
      steps = arith::DivUIOp::create(builder, loc, length, context.i64(unroll));
      whole =
          arith::MulIOp::create(builder, loc, steps, context.i64(unroll));
    }
    auto chain = [&](Value start, int64_t stride, Value trips, int64_t taken,
                     ValueRange from) {
      return context.loop(trips, from, [&](Value index, ValueRange running) {
        Instances blocks;
        for (int64_t v = 0; v < taken; ++v)
          for (Instance instance : group) {
            Affine &digit = instance.digits.back();
            if (start)
              digit.addTerm(start, 1);
            digit.addTerm(index, stride);
            digit.constant += v;
            instance.whole = true;
            blocks.push_back(instance);
          }
        readAhead(blocks);
        Values next(running);
        for (size_t i = 0; i < blocks.size(); ++i)
          next[i % count] = step(blocks[i], next[i % count]);
        return next;
      });
    };
    Values taken =
        chain({}, unroll, steps, unroll,
              ValueRange(results).slice(first, count));
    if (unroll > 1)
      taken = chain(whole, 1,
                    arith::SubIOp::create(builder, loc, length, whole), 1,
                    taken);
    std::copy(taken.begin(), taken.end(), results.begin() + first);
    first += count;
  }
  return results;
}

//===----------------------------------------------------------------------===//
// Blocks between offsets
//===----------------------------------------------------------------------===//

/// Offsets are data of the device: whatever they are, a block lies within the
/// dim and after its own beginning.
Instances TreeEmitter::blocksAt(const Instances &batch, const SubDigit &sub,
                                Value value) {
  Instances blocks = MergeTree::blocksAt(batch, sub, value);
  if (!plan.digits[sub.digit].isOffsets)
    return blocks;
  OpBuilder &builder = context.builder;
  Location loc = context.loc;
  auto choose = [&](arith::CmpIPredicate predicate, Value a, Value b) -> Value {
    Value first = arith::CmpIOp::create(builder, loc, predicate, a, b);
    return arith::SelectOp::create(builder, loc, first, a, b);
  };
  Value extent = context.extentOf(context.family.reducedDim);
  Value next =
      arith::AddIOp::create(builder, loc, value, context.i64(1));
  Value begin = context.readOffset(node.getOffsets(), value);
  Value end = context.readOffset(node.getOffsets(), next);
  begin = choose(arith::CmpIPredicate::sgt, begin, context.i64(0));
  begin = choose(arith::CmpIPredicate::slt, begin, extent);
  end = choose(arith::CmpIPredicate::sgt, end, begin);
  end = choose(arith::CmpIPredicate::slt, end, extent);
  for (Instance &block : blocks) {
    block.begin = begin;
    block.end = end;
  }
  return blocks;
}

//===----------------------------------------------------------------------===//
// Parts that another kernel left
//===----------------------------------------------------------------------===//

/// A part that does not exist is the neutral value; what is read for it is
/// the first part.
Parts TreeEmitter::readParts(const Instances &batch) {
  OpBuilder &builder = context.builder;
  Location loc = context.loc;
  Parts parts;
  for (const Instance &instance : batch) {
    const Affine &digit = instance.digits[plan.order.front().digit];
    Affine number;
    number.constant = digit.constant / *plan.partWeight;
    for (auto [value, scale] : digit.terms)
      number.addTerm(value, scale / *plan.partWeight);
    Value at = context.materialize(number);
    Presence presence = context.present(plan, instance);
    if (!presence.always()) {
      Value exists = context.partExists(plan, instance);
      at = arith::SelectOp::create(builder, loc, exists, at, context.i64(0));
    }
    context.setColumn(instance.column);
    Value part = context.loadPart(at, accumulator);
    if (!presence.always())
      part = arith::SelectOp::create(builder, loc, presence.mask, part,
                                     neutral());
    parts.push_back({part});
  }
  return parts;
}

/// Several parts are read at once, then merged one after the other.
Parts TreeEmitter::foldParts(size_t level, const Instances &batch) {
  constexpr int64_t atOnce = kPartsAtOnce;
  const SubDigit &sub = plan.order[level];
  OpBuilder &builder = context.builder;
  Location loc = context.loc;
  Value count = context.tripCount(plan, sub, &batch.front());
  Value groups = arith::DivUIOp::create(
      builder, loc,
      arith::AddIOp::create(builder, loc, count, context.i64(atOnce - 1)),
      context.i64(atOnce));
  Values initial(batch.size(), neutral());
  auto turn = [&](Value index, ValueRange carried) {
    Instances blocks;
    for (int64_t v = 0; v < atOnce; ++v)
      for (Instance block : batch) {
        block.digits[sub.digit].addTerm(index, sub.weight * atOnce);
        block.digits[sub.digit].constant += sub.weight * v;
        blocks.push_back(block);
      }
    Parts read = readParts(blocks), merged = regroup(carried, 1);
    Sides later;
    if (sub.in)
      later.left = context.splat(arith::CmpIOp::create(
          builder, loc, arith::CmpIPredicate::sgt, index, context.i64(0)));
    for (size_t i = 0; i < blocks.size(); ++i)
      merged[i % batch.size()] =
          join(sub, merged[i % batch.size()], enter(sub, read[i]), blocks[i],
               i < batch.size() ? later : Sides());
    return flatten(merged);
  };
  return regroup(context.loop(groups, initial, turn), 1);
}
