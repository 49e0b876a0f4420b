// MergeLoops.cpp - merges of more parts than registers hold
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/Lowering/MergeTree.h"

using namespace mlir;
using namespace bitpact;
using namespace bitpact::lowering;

Part MergeTree::cells(int64_t size) {
  Part result;
  for (Value value : nothing())
    result.push_back(context.scratch(size, value.getType()));
  return result;
}

void MergeTree::poke(const Part &cells, const Part &part, Value index) {
  for (auto [cell, value] : llvm::zip(cells, part))
    kernel::PokeOp::create(context.builder, context.loc, value, cell, index);
}

Part MergeTree::peek(const Part &cells, Value index) {
  Part result;
  for (Value cell : cells)
    result.push_back(kernel::PeekOp::create(
        context.builder, context.loc,
        cast<kernel::ScratchType>(cell.getType()).getCellType(), cell, index));
  return result;
}

Parts MergeTree::foldLoop(size_t level, const Instances &batch) {
  const SubDigit &sub = plan.order[level];
  OpBuilder &builder = context.builder;
  Parts initial(batch.size(), nothing());
  size_t width = initial.front().size();
  return regroup(
      context.loop(
          context.tripCount(plan, sub, &batch.front()), flatten(initial),
          [&](Value index, ValueRange carried) {
            Instances blocks = blocksAt(batch, sub, index);
            // Elements lie before this part. The first of several blocks
            // between offsets may be empty.
            Sides exist;
            if (asksForSides(sub))
              exist.left = context.splat(arith::CmpIOp::create(
                  builder, context.loc, arith::CmpIPredicate::sgt,
                  plan.digits[sub.digit].isOffsets ? blocks.front().begin
                                                   : index,
                  context.i64(0)));
            Parts right = parts(level, blocks), next;
            for (auto [left, part, block] :
                 llvm::zip(regroup(carried, width), right, blocks))
              next.push_back(join(sub, left, enter(sub, part), block, exist));
            return flatten(next);
          }),
      width);
}

/// All parts are kept; then the upper half is merged into the lower one until
/// a single part is left.
Parts MergeTree::halvingLoop(size_t level, const Instances &batch) {
  const SubDigit &sub = plan.order[level];
  OpBuilder &builder = context.builder;
  Location loc = context.loc;
  Parts kept;
  for (size_t i = 0; i < batch.size(); ++i)
    kept.push_back(cells(sub.radix));
  context.loop(context.i64(sub.radix), {}, [&](Value index, ValueRange) {
    Instances blocks = blocksAt(batch, sub, index);
    for (auto [to, part] : llvm::zip(kept, parts(level, blocks)))
      poke(to, enter(sub, part.empty() ? nothing() : part), index);
    return SmallVector<Value>();
  });
  for (int64_t s = sub.radix / 2; s > 0; s /= 2)
    context.loop(context.i64(s), {}, [&](Value index, ValueRange) {
      Value upper = arith::AddIOp::create(builder, loc, index, context.i64(s));
      for (auto [at, block] : llvm::zip(kept, batch)) {
        Part left = peek(at, index), right = peek(at, upper);
        poke(at, join(sub, left, right, block.at(sub, upper)), index);
      }
      return SmallVector<Value>();
    });
  Parts results;
  for (const Part &at : kept)
    results.push_back(peek(at, context.i64(0)));
  return results;
}

/// A binary counter: cell b holds the merge of 2^b parts while bit b of the
/// number of parts seen is set. What is left at the end is merged from the
/// lowest bit up, as the positions say.
Parts MergeTree::pairwiseLoop(size_t level, const Instances &batch) {
  const SubDigit &sub = plan.order[level];
  OpBuilder &builder = context.builder;
  Location loc = context.loc;
  int64_t levels = sub.radix == kDynamic ? 63 : llvm::Log2_64(sub.radix) + 1;
  Parts kept;
  for (size_t i = 0; i < batch.size(); ++i)
    kept.push_back(cells(levels));
  size_t width = nothing().size();
  Value one = context.i64(1);
  Value count = context.tripCount(plan, sub, &batch.front());
  auto bitSet = [&](Value value, Value bit) {
    Value shifted = arith::ShRUIOp::create(builder, loc, value, bit);
    Value low = arith::AndIOp::create(builder, loc, shifted, context.i64(1));
    return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne, low,
                                 context.i64(0))
        .getResult();
  };

  context.loop(count, {}, [&](Value index, ValueRange) {
    Instances blocks = blocksAt(batch, sub, index);
    SmallVector<Value> carried{context.i64(0)};
    for (const Part &part : parts(level, blocks))
      llvm::append_range(carried, enter(sub, part.empty() ? nothing() : part));
    SmallVector<Type> types;
    for (Value value : carried)
      types.push_back(value.getType());
    auto loop = scf::WhileOp::create(
        builder, loc, types, carried,
        [&](OpBuilder &, Location, ValueRange inner) {
          RowContext::Scope scope(context);
          scf::ConditionOp::create(builder, loc, bitSet(index, inner[0]),
                                   inner);
        },
        [&](OpBuilder &, Location, ValueRange inner) {
          RowContext::Scope scope(context);
          // The right part began 2^bit - 1 parts ago.
          Value size = arith::ShLIOp::create(builder, loc, one, inner[0]);
          Value start = arith::SubIOp::create(
              builder, loc, arith::AddIOp::create(builder, loc, index, one),
              size);
          SmallVector<Value> next{
              arith::AddIOp::create(builder, loc, inner[0], one)};
          Parts right = regroup(inner.drop_front(), width);
          for (auto [at, part, block] : llvm::zip(kept, right, batch))
            llvm::append_range(next, join(sub, peek(at, inner[0]), part,
                                          block.at(sub, start)));
          scf::YieldOp::create(builder, loc, next);
        });
    Parts done = regroup(loop.getResults().drop_front(), width);
    for (auto [at, part] : llvm::zip(kept, done))
      poke(at, part, loop.getResult(0));
    return SmallVector<Value>();
  });

  // Start with the lowest bit that is set; its cell is the rightmost part.
  Parts initial(batch.size(), nothing());
  return regroup(
      context.loop(
          context.i64(levels), flatten(initial),
          [&](Value bit, ValueRange carried) {
            Value set = bitSet(count, bit);
            auto choice =
                scf::IfOp::create(builder, loc, TypeRange(carried), set,
                                  /*withElseRegion=*/true);
            OpBuilder::InsertionGuard guard(builder);
            {
              RowContext::Scope scope(context);
              builder.setInsertionPointToStart(choice.thenBlock());
              // The right part starts after this one: count with the bits up
              // to `bit` cleared, plus this part's size.
              Value size = arith::ShLIOp::create(builder, loc, one, bit);
              Value rest = arith::AndIOp::create(
                  builder, loc, count,
                  arith::SubIOp::create(builder, loc, size, one));
              Value start = arith::SubIOp::create(builder, loc, count, rest);
              Sides exist;
              if (asksForSides(sub))
                exist.right = context.splat(arith::CmpIOp::create(
                    builder, loc, arith::CmpIPredicate::ne, rest,
                    context.i64(0)));
              SmallVector<Value> next;
              for (auto [at, right, block] :
                   llvm::zip(kept, regroup(carried, width), batch))
                llvm::append_range(next, join(sub, peek(at, bit), right,
                                              block.at(sub, start), exist));
              scf::YieldOp::create(builder, loc, next);
            }
            builder.setInsertionPointToStart(choice.elseBlock());
            scf::YieldOp::create(builder, loc, carried);
            return SmallVector<Value>(choice.getResults());
          }),
      width);
}
