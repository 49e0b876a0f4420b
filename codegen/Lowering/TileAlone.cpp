// TileAlone.cpp - programs without roles pack what they multiply
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/Lowering/TileEpilogue.h"
#include "codegen/Lowering/TileProgram.h"

using namespace mlir;
using namespace bitpact;
using namespace bitpact::lowering;

/// The sums after another stage, of an atom or of a primitive.
Value TileProgram::take(Value rows, Value cols, Value sums) {
  if (pact::AtomOp atom = atomOf(contract, family.dot))
    return tile::DotOp::create(builder, loc, sums.getType(), rows, cols, sums,
                               Value(), atom.getSymName());
  pact::PrimitiveOp step = primitiveOf(contract, family.dot);
  auto chain =
      tile::ChainOp::create(builder, loc, sums.getType(), rows, cols, sums);
  OpBuilder::InsertionGuard guard(builder);
  Block *body = builder.createBlock(
      &chain.getBody(), {},
      {blockA.getElementType(), blockB.getElementType(),
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
  auto attr =
      cast<pact::NodeAttr>(contract.getNodes().get(family.dot.getNode()));
  // Elements are widened where they are packed.
  if (pact::PrimitiveOp step = primitiveOf(contract, family.dot)) {
    auto as = [&](tile::BlockType block, unsigned term) {
      return tile::BlockType::get(builder.getContext(), block.getRows(),
                                  block.getCols(),
                                  step.getFunctionType().getInput(term));
    };
    blockA = as(blockA, 0);
    blockB = as(blockB, 1);
  }
  Value program = tile::ProgramOp::create(builder, loc, builder.getI32Type());
  blockAt(program, [&](Value row, Value col) {
    Value none = tile::BeginOp::create(
        builder, loc, sumsType(),
        attr.getStart() == algebra::Start::First ? "first" : "identity");
    scf::ForOp stages = forEachStage(i32(0), none);
    {
      OpBuilder::InsertionGuard guard(builder);
      builder.setInsertionPointToStart(stages.getBody());
      Value depth = arith::MulIOp::create(
          builder, loc, stages.getInductionVar(), i32(schedule.getK()));
      Value rows = tile::PackOp::create(builder, loc, blockA, a, row, depth);
      Value cols = tile::PackOp::create(builder, loc, blockB, b, col, depth);
      scf::YieldOp::create(builder, loc,
                           take(rows, cols, stages.getRegionIterArg(0)));
    }
    SmallVector<Value> loaded = loadOthers(row, col);
    Value sums = tile::AwaitOp::create(builder, loc,
                                       valuesOf(sumsType().getElementType()),
                                       stages.getResult(0));
    tile::PutOp::create(builder, loc, epilogue(sums, loaded), result, row, col);
  });
}
