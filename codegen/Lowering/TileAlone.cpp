// TileAlone.cpp - programs without roles pack what they multiply
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/Lowering/TileEpilogue.h"
#include "codegen/Lowering/TileProgram.h"

using namespace mlir;
using namespace bitpact;
using namespace bitpact::lowering;

/// The sums after another stage, of an atom or of a primitive.
Value TileProgram::take(pact::ReduceOp dot, Value rows, Value cols,
                        Value sums) {
  if (pact::AtomOp atom = atomOf(contract, dot))
    return tile::DotOp::create(builder, loc, sums.getType(), rows, cols, sums,
                               Value(), atom.getSymName());
  pact::PrimitiveOp step = primitiveOf(contract, dot);
  auto chain =
      tile::ChainOp::create(builder, loc, sums.getType(), rows, cols, sums);
  OpBuilder::InsertionGuard guard(builder);
  Block *body = builder.createBlock(
      &chain.getBody(), {},
      {cast<tile::BlockType>(rows.getType()).getElementType(),
       cast<tile::BlockType>(cols.getType()).getElementType(),
       cast<tile::PendingType>(sums.getType()).getElementType()},
      {loc, loc, loc});
  tile::YieldOp::create(builder, loc,
                        ScalarArithmetic(builder, loc, contract)
                            .apply(step, body->getArguments()));
  return chain;
}

/// Without roles: there are as many programs as blocks, and each packs what it
/// multiplies. What lies beyond the reduced dim is not there.
void TileProgram::computeAlone() {
  // Elements are widened where they are packed.
  if (pact::PrimitiveOp step = primitiveOf(contract, family.dots.front())) {
    auto as = [&](tile::BlockType block, unsigned term) {
      return tile::BlockType::get(builder.getContext(), block.getRows(),
                                  block.getCols(),
                                  step.getFunctionType().getInput(term));
    };
    blockA = as(blockA, 0);
    for (tile::BlockType &block : blockB)
      block = as(block, 1);
  }
  auto compute = [&](Value row, Value col) {
    SmallVector<Value> sums = sumsOfParts([&](Stages part) {
      SmallVector<Value> none;
      for (pact::ReduceOp dot : family.dots) {
        auto attr = cast<pact::NodeAttr>(contract.getNodes().get(dot.getNode()));
        none.push_back(tile::BeginOp::create(
            builder, loc, sumsType(),
            attr.getStart() == algebra::Start::First ? "first" : "identity"));
      }
      scf::ForOp stages = forEachStage(part.first, part.end, none);
      {
        OpBuilder::InsertionGuard guard(builder);
        builder.setInsertionPointToStart(stages.getBody());
        Value depth = arith::MulIOp::create(
            builder, loc, stages.getInductionVar(), i32(schedule.getK()));
        Value rows = tile::PackOp::create(builder, loc, blockA, a, row, depth,
                                          /*matrix=*/Value(), end);
        SmallVector<Value> next;
        for (auto [dot, block, view, before] :
             llvm::zip(family.dots, blockB, b, stages.getRegionIterArgs())) {
          Value cols =
              tile::PackOp::create(builder, loc, block, view, col, depth,
                                   matrix, /*end=*/Value());
          next.push_back(take(dot, rows, cols, before));
        }
        scf::YieldOp::create(builder, loc, next);
      }
      return await(stages.getResults());
    });
    SmallVector<Value> loaded = loadOthers(row, col);
    tile::PutOp::create(builder, loc, epilogue(sums, loaded), result, row, col,
                        end);
  };
  Value program = tile::ProgramOp::create(builder, loc, builder.getI32Type());
  // No launch has so many programs that one would get a second block.
  if (family.segments)
    return forEachSegment(program, mostBlocks(), compute);
  blockAt(program, rowBlocks, compute);
}
