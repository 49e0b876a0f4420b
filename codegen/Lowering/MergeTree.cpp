// MergeTree.cpp - how complete parts of a node meet
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/Lowering/MergeTree.h"

using namespace mlir;
using namespace bitpact;
using namespace bitpact::lowering;
using algebra::Form;

SmallVector<Value> lowering::flatten(const Parts &parts) {
  SmallVector<Value> values;
  for (const Part &part : parts)
    values.append(part.begin(), part.end());
  return values;
}

Parts lowering::regroup(ValueRange values, size_t each) {
  Parts parts;
  for (size_t i = 0; i < values.size(); i += each)
    parts.emplace_back(values.slice(i, each));
  return parts;
}

Parts MergeTree::parts(size_t levels, const Instances &batch) {
  if (levels == base)
    return leaves(batch);
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
  if (sub.form == Form::Pairwise)
    return pairwiseLoop(levels - 1, batch);
  if (sub.form == Form::Halving)
    return halvingLoop(levels - 1, batch);
  return foldLoop(levels - 1, batch);
}

Instances MergeTree::blocksAt(const Instances &batch, const SubDigit &sub,
                              Value value) {
  Instances blocks;
  for (const Instance &block : batch)
    blocks.push_back(block.at(sub, value));
  return blocks;
}

Part MergeTree::join(const SubDigit &sub, const Part &left, const Part &right,
                     const Instance &rightBlock, Sides exist) {
  if (left.empty() || right.empty())
    return left.empty() ? right : left;
  if (asksForSides(sub)) {
    Presence presence = context.present(plan, rightBlock);
    if (presence.never())
      return left;
    exist.right = context.both(presence.mask, exist.right);
  }
  return merge(sub, left, right, exist);
}

Parts MergeTree::unrolled(size_t level, const Instances &batch) {
  const SubDigit &sub = plan.order[level];
  Instances blocks;
  SmallVector<std::pair<size_t, int64_t>> origin;
  for (auto [i, block] : llvm::enumerate(batch))
    for (int64_t v = 0; v < sub.radix; ++v) {
      Instance next = block.at(sub, v);
      if (context.present(plan, next).never())
        break;
      blocks.push_back(next);
      origin.push_back({i, v});
    }
  Parts inner = parts(level, blocks);
  SmallVector<Parts> table(batch.size(), Parts(sub.radix));
  for (auto [where, part] : llvm::zip(origin, inner))
    table[where.first][where.second] = enter(sub, part);
  Parts results;
  for (auto [i, row] : llvm::enumerate(table)) {
    auto meet = [&](int64_t left, int64_t right) {
      row[left] =
          join(sub, row[left], row[right], batch[i].at(sub, right));
    };
    if (sub.form == Form::Halving)
      for (int64_t s = sub.radix / 2; s > 0; s /= 2)
        for (int64_t j = 0; j < s; ++j)
          meet(j, j + s);
    else if (sub.form == Form::Pairwise)
      for (int64_t s = 1; s < sub.radix; s *= 2)
        for (int64_t j = 0; j + s < sub.radix; j += 2 * s)
          meet(j, j + s);
    else
      for (int64_t j = 1; j < sub.radix; ++j)
        meet(0, j);
    results.push_back(row[0]);
  }
  return results;
}

//===----------------------------------------------------------------------===//
// Lanes
//===----------------------------------------------------------------------===//

Part MergeTree::exchanged(const SubDigit &sub, const Part &part,
                          const Instance &block, int64_t distance) {
  OpBuilder &builder = context.builder;
  Location loc = context.loc;
  Part left = part, right;
  bool far = distance >= context.schedule.getSubgroup();
  for (Value value : part)
    right.push_back(kernel::ExchangeOp::create(builder, loc, value.getType(),
                                               value, distance, far));
  if (!asksForSides(sub))
    return join(sub, left, right, block);
  auto bits = [&](Value value, int64_t keep, int64_t set) {
    Value masked = arith::AndIOp::create(
        builder, loc, value,
        context.laneConstant(builder.getI64IntegerAttr(keep)));
    return arith::OrIOp::create(
               builder, loc, masked,
               context.laneConstant(builder.getI64IntegerAttr(set)))
        .getResult();
  };
  if (isOrdered()) {
    // The left part is that of the lane whose bit is not set.
    Value own = arith::AndIOp::create(
        builder, loc, context.lane(),
        context.laneConstant(builder.getI64IntegerAttr(distance)));
    Value isRight = arith::CmpIOp::create(
        builder, loc, arith::CmpIPredicate::ne, own,
        context.laneConstant(builder.getI64IntegerAttr(0)));
    for (auto [a, b] : llvm::zip(left, right)) {
      Value mine = a, partner = b;
      a = arith::SelectOp::create(builder, loc, isRight, partner, mine);
      b = arith::SelectOp::create(builder, loc, isRight, mine, partner);
    }
  }
  // The right block begins at the first position whose lane has the bit set.
  Value first =
      sub.form == Form::Pairwise
          ? bits(context.lane(), ~(2 * distance - 1), distance)
          : bits(far ? context.lane() : context.laneInSubgroup(),
                 2 * distance - 1, distance);
  return join(sub, left, right, block.at(sub, first));
}

Part MergeTree::acrossSubgroups(const SubDigit &sub, const Part &part,
                                const Instance &block) {
  int64_t lanes = context.lanes();
  int64_t subgroup = std::min(lanes, context.schedule.getSubgroup());
  if (lanes == subgroup || part.empty() || isOrdered())
    return part;
  int64_t count = lanes / subgroup;
  Parts row(count);
  for (Value value : part) {
    auto gather = kernel::GatherOp::create(
        context.builder, context.loc, SmallVector<Type>(count, value.getType()),
        value, subgroup);
    for (auto [one, gathered] : llvm::zip(row, gather.getValues()))
      one.push_back(gathered);
  }
  bool pairwise = sub.form == Form::Pairwise;
  auto meet = [&](int64_t left, int64_t right) {
    Instance rightBlock = block;
    if (!pairwise && asksForSides(sub))
      rightBlock = rightBlock.at(sub, context.laneInSubgroup());
    row[left] = join(sub, row[left], row[right],
                     rightBlock.at(sub, right * subgroup));
  };
  if (pairwise)
    for (int64_t s = 1; s < count; s *= 2)
      for (int64_t j = 0; j + s < count; j += 2 * s)
        meet(j, j + s);
  else
    for (int64_t s = count / 2; s > 0; s /= 2)
      for (int64_t j = 0; j < s; ++j)
        meet(j, j + s);
  return row[0];
}

Parts MergeTree::acrossLanes(size_t level, const Instances &batch) {
  const SubDigit &sub = plan.order[level];
  int64_t subgroup =
      std::min(context.lanes(), context.schedule.getSubgroup());
  // Between subgroups all lanes do all merges, unless that is much to do.
  if (isOrdered())
    subgroup = context.lanes();
  Instances blocks;
  for (const Instance &block : batch)
    blocks.push_back(block.at(sub, context.lane()));
  Parts results;
  for (auto [block, inner] : llvm::zip(batch, parts(level, blocks))) {
    Part part = enter(sub, inner);
    if (sub.form == Form::Pairwise) {
      for (int64_t s = 1; s < subgroup; s *= 2)
        part = exchanged(sub, part, block, s);
      part = acrossSubgroups(sub, part, block);
    } else {
      part = acrossSubgroups(sub, part, block);
      for (int64_t s = subgroup / 2; s > 0; s /= 2)
        part = exchanged(sub, part, block, s);
    }
    results.push_back(part);
  }
  return results;
}
