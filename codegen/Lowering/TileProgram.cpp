// TileProgram.cpp - views, blocks and results of a tile kernel
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/Lowering/TileProgram.h"

#include "codegen/Lowering/TileBoxes.h"
#include "codegen/Lowering/TileEpilogue.h"

using namespace mlir;
using namespace bitpact;
using namespace bitpact::lowering;

TileProgram::TileProgram(pact::ContractOp contract, TileFamily of,
                         tile::FuncOp func)
    : contract(contract), family(std::move(of)), func(func),
      schedule(func.getSchedule()), builder(func.getContext()),
      loc(func.getLoc()) {
  builder.setInsertionPointToStart(&func.getBody().front());
  auto node = cast<pact::NodeAttr>(
      contract.getNodes().get(family.dots.front().getNode()));
  // That of all products.
  accumulator = cast<FloatType>(node.getAccumulator());
  // Where it is open there is one chain, whatever it is.
  auto depth = contract.getDims().getAs<IntegerAttr>(family.depthDim);
  if (depth && depth.getInt() != ShapedType::kDynamic)
    extent = depth.getInt();
  parts = partsOf(node, extent);
  chains = chainsOf(parts);
  if (!schedule.isSplit())
    return;
  ofUnits = llvm::cantFail(
      unitParts(parts, schedule.getSplit(), schedule.getK()));
  chains.clear();
  for (const PartTree *tree : ofUnits->own)
    llvm::append_range(chains, chainsOf(*tree));
}

Value TileProgram::view(StringRef tensor, StringRef rowDim, StringRef colDim) {
  return tile::ViewOp::create(
      builder, loc, tile::ViewType::get(builder.getContext(), typeOf(tensor)),
      func.slot(tensor), func.slot(rowDim), func.slot(colDim),
      func.slot((tensor + ":0").str()), Value(), Value(), StringAttr());
}

Value TileProgram::stackOf(StringRef tensor, StringRef rowDim,
                           StringRef colDim) {
  return tile::ViewOp::create(
      builder, loc, tile::ViewType::get(builder.getContext(), typeOf(tensor)),
      func.slot(tensor), func.slot(rowDim), func.slot(colDim),
      func.slot((tensor + ":1").str()), func.slot(family.segments->stackDim),
      func.slot((tensor + ":0").str()), StringAttr());
}

/// A vector is one for all rows or all columns.
Value TileProgram::viewOf(pact::InputOp input) {
  auto dims = input.getResult().getType().getDims();
  if (dims.size() == 2)
    return view(input.getTensor(), family.rowDim, family.colDim);
  StringRef tensor = input.getTensor();
  return tile::ViewOp::create(
      builder, loc, tile::ViewType::get(builder.getContext(), typeOf(tensor)),
      func.slot(tensor), func.slot(family.rowDim), func.slot(family.colDim),
      Value(), Value(), Value(),
      builder.getStringAttr(dims.front() == family.rowDim ? "rows" : "cols"));
}

void TileProgram::forEachBlock(Body body) {
  Value first = tile::ProgramOp::create(builder, loc, builder.getI32Type());
  Value step = tile::ProgramsOp::create(builder, loc, builder.getI32Type());
  if (family.segments)
    return forEachSegment(first, step, body);
  Value all = arith::MulIOp::create(builder, loc, rowBlocks, colBlocks);
  auto loop = scf::ForOp::create(builder, loc, first, all, step);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  blockAt(loop.getInductionVar(), rowBlocks, body);
}

/// Blocks in the order in which programs take them: groups of neighbouring rows
/// of blocks, and within a group column by column. Programs that run at one
/// time then share rows of both operands.
void TileProgram::blockAt(Value index, Value rowBlocks, Body body) {
  auto mul = [&](Value x, Value y) -> Value {
    return arith::MulIOp::create(builder, loc, x, y);
  };
  auto sub = [&](Value x, Value y) -> Value {
    return arith::SubIOp::create(builder, loc, x, y);
  };
  auto div = [&](Value x, Value y) -> Value {
    return arith::DivUIOp::create(builder, loc, x, y);
  };
  Value height = i32(schedule.getGroup());
  Value inGroup = mul(height, colBlocks);
  Value group = div(index, inGroup);
  Value within = sub(index, mul(group, inGroup));
  Value above = mul(group, height);
  // The last group may be lower.
  Value rows =
      arith::MinUIOp::create(builder, loc, height, sub(rowBlocks, above));
  Value col = div(within, rows);
  Value row =
      arith::AddIOp::create(builder, loc, above, sub(within, mul(col, rows)));
  body(firstRow(row), firstCol(col));
}

/// Of rows of blocks that copy units bring, the last ends where the matrix does:
/// it takes them much longer to bring what does not exist. So rows above it are
/// computed twice, to the same bits. Segments are others' rows.
Value TileProgram::firstRow(Value block) {
  Value row = arith::MulIOp::create(builder, loc, block, i32(schedule.getM()));
  if (!schedule.copiesInBulk() || family.segments)
    return row;
  return arith::MinUIOp::create(builder, loc, row,
                                lastBlock(family.rowDim, schedule.getM()));
}

/// As rows, but for what keeps vectors of results aligned.
Value TileProgram::firstCol(Value block) {
  Value col = arith::MulIOp::create(builder, loc, block, i32(schedule.getN()));
  if (!schedule.copiesInBulk() || schedule.getN() % kMovedCols)
    return col;
  Value last = lastBlock(family.colDim, schedule.getN());
  last = arith::AddIOp::create(builder, loc, last, i32(kMovedCols - 1));
  last = arith::AndIOp::create(builder, loc, last, i32(-kMovedCols));
  return arith::MinUIOp::create(builder, loc, col, last);
}

/// Where the last block begins that has as many; or the one that has all.
Value TileProgram::lastBlock(StringRef dim, int64_t size) {
  Value all = narrow(func.slot(dim));
  Value fits = arith::MinUIOp::create(builder, loc, all, i32(size));
  return arith::SubIOp::create(builder, loc, all, fits);
}

scf::ForOp TileProgram::forEachStage(Value first, Value end,
                                     ValueRange carried) {
  return scf::ForOp::create(builder, loc, first, end, i32(1), carried);
}

tile::PendingType TileProgram::sumsType() {
  return tile::PendingType::get(builder.getContext(),
                                schedule.rowsPerConsumer(), schedule.getN(),
                                accumulator);
}

tile::ValuesType TileProgram::valuesOf(Type element) {
  tile::PendingType sums = sumsType();
  return tile::ValuesType::get(builder.getContext(), sums.getRows(),
                               sums.getCols(), element);
}

tile::ValuesType TileProgram::ownValuesOf(Type element) {
  return tile::ValuesType::get(builder.getContext(), schedule.rowsPerConsumer(),
                               schedule.colsPerUnit(), element);
}

SmallVector<Value> TileProgram::loadOthers(Value row, Value col) {
  SmallVector<Value> loaded;
  for (Value each : others)
    loaded.push_back(tile::LoadOp::create(
        builder, loc,
        ownValuesOf(cast<tile::ViewType>(each.getType()).getElementType()),
        each, row, col));
  return loaded;
}

SmallVector<Value> TileProgram::await(ValueRange sums) {
  SmallVector<Value> complete;
  for (Value each : sums)
    complete.push_back(tile::AwaitOp::create(
        builder, loc, valuesOf(accumulator), each, exists));
  return complete;
}

/// What the operator does with the sums of an element, and the rounding of its
/// output.
Value TileProgram::epilogue(ValueRange sums, ValueRange others) {
  SmallVector<Value> values(sums);
  values.append(others.begin(), others.end());
  SmallVector<Type> elements;
  for (Value each : values)
    elements.push_back(cast<tile::ValuesType>(each.getType()).getElementType());
  auto from = cast<tile::ValuesType>(values.front().getType());
  auto map = tile::MapOp::create(
      builder, loc,
      tile::ValuesType::get(builder.getContext(), from.getRows(),
                            from.getCols(), typeOf(family.output.getTensor())),
      values);
  OpBuilder::InsertionGuard guard(builder);
  Block *body = builder.createBlock(&map.getBody(), {}, elements,
                                    SmallVector<Location>(values.size(), loc));
  TileEpilogue emitter(builder, loc, contract, family, body->getArguments());
  tile::YieldOp::create(builder, loc, emitter.output(family.output));
  return map;
}

void TileProgram::emit() {
  MLIRContext *context = builder.getContext();
  blockA = tile::BlockType::get(context, schedule.getM(), schedule.getK(),
                                typeOf(family.a));
  blocks = {blockA};
  a = view(family.a, family.rowDim, family.depthDim);
  for (const std::string &tensor : family.b) {
    blockB.push_back(tile::BlockType::get(context, schedule.getN(),
                                          schedule.getK(), typeOf(tensor)));
    blocks.push_back(blockB.back());
    b.push_back(family.segments
                    ? stackOf(tensor, family.colDim, family.depthDim)
                    : view(tensor, family.colDim, family.depthDim));
  }
  for (pact::InputOp input : family.others)
    others.push_back(viewOf(input));
  result = view(family.output.getTensor(), family.rowDim, family.colDim);
  rowBlocks = blocksOf(family.rowDim, schedule.getM());
  colBlocks = blocksOf(family.colDim, schedule.getN());
  depthBlocks = blocksOf(family.depthDim, schedule.getK());
  if (schedule.isSplit())
    unit = tile::UnitOp::create(builder, loc, builder.getI32Type());
  if (family.segments)
    checkSegments();
  if (schedule.packsOwn())
    return computeAlone();
  pipe = tile::PipeOp::create(
      builder, loc,
      tile::PipeType::get(context, schedule.getStages(), blocks));
  auto roles = tile::RolesOp::create(builder, loc);
  Block *producer = builder.createBlock(&roles.getProducer());
  builder.setInsertionPointToStart(producer);
  if (!schedule.sharesCopies())
    produce();
  Block *consumer = builder.createBlock(&roles.getConsumers(), {},
                                        {builder.getI32Type()}, {loc});
  builder.setInsertionPointToStart(consumer);
  if (schedule.sharesCopies())
    copyAndConsume(consumer->getArgument(0));
  else
    consume(consumer->getArgument(0));
}
