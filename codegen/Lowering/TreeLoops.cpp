// TreeLoops.cpp - pairwise and halving over more parts than registers hold
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/Lowering/TreeEmitter.h"

using namespace mlir;
using namespace bitpact;
using namespace bitpact::lowering;

/// All parts are kept; then the upper half is merged into the lower one until
/// a single part is left.
TreeEmitter::Values TreeEmitter::halvingLoop(size_t level,
                                             const Instances &batch) {
  const SubDigit &sub = plan.order[level];
  OpBuilder &builder = context.builder;
  Location loc = context.loc;
  Values cells;
  for (size_t i = 0; i < batch.size(); ++i)
    cells.push_back(context.scratch(sub.radix, context.laneType(accumulator)));
  context.loop(context.i64(sub.radix), {}, [&](Value index, ValueRange) {
    Instances blocks;
    for (const Instance &block : batch)
      blocks.push_back(at(block, sub, index));
    for (auto [cell, part] : llvm::zip(cells, partials(level, blocks)))
      kernel::PokeOp::create(builder, loc, enter(sub, part), cell, index);
    return Values();
  });
  for (int64_t s = sub.radix / 2; s > 0; s /= 2)
    context.loop(context.i64(s), {}, [&](Value index, ValueRange) {
      Value upper = arith::AddIOp::create(builder, loc, index, context.i64(s));
      for (auto [cell, block] : llvm::zip(cells, batch)) {
        Type type = context.laneType(accumulator);
        Value left = kernel::PeekOp::create(builder, loc, type, cell, index);
        Value right = kernel::PeekOp::create(builder, loc, type, cell, upper);
        Instance rightBlock = at(block, sub, upper);
        kernel::PokeOp::create(
            builder, loc, merge(sub, left, right, &rightBlock), cell, index);
      }
      return Values();
    });
  Values results;
  for (Value cell : cells)
    results.push_back(kernel::PeekOp::create(
        builder, loc, context.laneType(accumulator), cell, context.i64(0)));
  return results;
}

/// A binary counter: cell b holds the merge of 2^b parts while bit b of the
/// number of parts seen is set. What is left at the end is merged from the
/// lowest bit up, as the positions say.
TreeEmitter::Values TreeEmitter::pairwiseLoop(size_t level,
                                              const Instances &batch) {
  const SubDigit &sub = plan.order[level];
  OpBuilder &builder = context.builder;
  Location loc = context.loc;
  Type type = context.laneType(accumulator);
  int64_t levels = sub.radix == kDynamic ? 63 : llvm::Log2_64(sub.radix) + 1;
  Values cells;
  for (size_t i = 0; i < batch.size(); ++i)
    cells.push_back(context.scratch(levels, type));
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
    Values parts = partials(level, blocks);
    Values carried{context.i64(0)};
    for (Value part : parts)
      carried.push_back(enter(sub, part));
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
          Values next{arith::AddIOp::create(builder, loc, inner[0], one)};
          for (size_t i = 0; i < batch.size(); ++i) {
            Value left =
                kernel::PeekOp::create(builder, loc, type, cells[i], inner[0]);
            Instance rightBlock = at(batch[i], sub, start);
            next.push_back(merge(sub, left, inner[i + 1], &rightBlock));
          }
          scf::YieldOp::create(builder, loc, next);
        });
    for (size_t i = 0; i < batch.size(); ++i)
      kernel::PokeOp::create(builder, loc, loop.getResult(i + 1), cells[i],
                             loop.getResult(0));
    return Values();
  });

  // Start with the lowest bit that is set; its cell is the rightmost part.
  Values initial(batch.size(), neutral());
  return context.loop(
      context.i64(levels), initial, [&](Value bit, ValueRange carried) {
        Value set = bitSet(count, bit);
        auto choice = scf::IfOp::create(builder, loc, TypeRange(carried), set,
                                        /*withElseRegion=*/true);
        OpBuilder::InsertionGuard guard(builder);
        {
          RowContext::Scope scope(context);
          builder.setInsertionPointToStart(choice.thenBlock());
          // The right part starts after this one: count with the bits up to
          // `bit` cleared, plus this part's size.
          Value size = arith::ShLIOp::create(builder, loc, one, bit);
          Value rest = arith::AndIOp::create(
              builder, loc, count,
              arith::SubIOp::create(builder, loc, size, one));
          Value start = arith::SubIOp::create(builder, loc, count, rest);
          Value rightExists = context.splat(arith::CmpIOp::create(
              builder, loc, arith::CmpIPredicate::ne, rest, context.i64(0)));
          Values next;
          for (size_t i = 0; i < batch.size(); ++i) {
            Value left =
                kernel::PeekOp::create(builder, loc, type, cells[i], bit);
            Instance rightBlock = at(batch[i], sub, start);
            next.push_back(merge(sub, left, carried[i],
                                 sub.in ? &rightBlock : nullptr,
                                 sub.in ? rightExists : Value()));
          }
          scf::YieldOp::create(builder, loc, next);
        }
        builder.setInsertionPointToStart(choice.elseBlock());
        scf::YieldOp::create(builder, loc, carried);
        return Values(choice.getResults());
      });
}
