// TileMerges.cpp - parts of sums, and how they meet
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/Lowering/TileEpilogue.h"
#include "codegen/Lowering/TileProgram.h"

using namespace mlir;
using namespace bitpact;
using namespace bitpact::lowering;

static FloatType floatOf(algebra::Format format, MLIRContext *context) {
  switch (format) {
  case algebra::Format::BF16:
    return BFloat16Type::get(context);
  case algebra::Format::F16:
    return Float16Type::get(context);
  case algebra::Format::F32:
    return Float32Type::get(context);
  case algebra::Format::F64:
    return Float64Type::get(context);
  case algebra::Format::I32:
  case algebra::Format::I64:
    break;
  }
  llvm_unreachable("sums are floating-point");
}

TileProgram::Stages TileProgram::stagesOf(const PartTree &chain) {
  bool isFirst = &chain == chains.front(), isLast = &chain == chains.back();
  // The one chain there is has whatever extent a launch says.
  if (parts.isChain())
    return {i32(0), depthBlocks, isFirst, isLast};
  // What a compiler knows to be one round is no loop, and then sums of the next
  // part begin before those of this one have met.
  int64_t k = schedule.getK();
  auto stages = [&](int64_t elements) { return (elements + k - 1) / k; };
  Value first = i32(chain.first / k);
  Value end = arith::SubIOp::create(
      builder, loc, depthBlocks, i32(stages(extent) - stages(chain.end)));
  if (unit) {
    Value before =
        arith::MulIOp::create(builder, loc, unit, i32(ofUnits->apart / k));
    first = arith::AddIOp::create(builder, loc, first, before);
    end = arith::AddIOp::create(builder, loc, end, before);
  }
  return {first, end, isFirst, isLast};
}

/// The sum of the values, of which there are one or two, rounded: in the last of
/// the formats, of which the accumulator's holds every value.
Value TileProgram::rounded(ValueRange values,
                           ArrayRef<algebra::Format> roundings) {
  FloatType format = roundings.empty()
                         ? accumulator
                         : floatOf(roundings.back(), builder.getContext());
  if (values.size() == 1 && roundings.empty())
    return values.front();
  SmallVector<Type> elements;
  for (Value each : values)
    elements.push_back(cast<tile::ValuesType>(each.getType()).getElementType());
  auto shape = cast<tile::ValuesType>(values.front().getType());
  auto map = tile::MapOp::create(
      builder, loc,
      tile::ValuesType::get(builder.getContext(), shape.getRows(),
                            shape.getCols(), format),
      values);
  OpBuilder::InsertionGuard guard(builder);
  Block *body = builder.createBlock(&map.getBody(), {}, elements,
                                    SmallVector<Location>(values.size(), loc));
  ScalarArithmetic arithmetic(builder, loc, contract);
  Value sum = arithmetic.convert(body->getArgument(0), accumulator);
  if (values.size() == 2)
    sum = arith::AddFOp::create(
        builder, loc, sum,
        arithmetic.convert(body->getArgument(1), accumulator));
  for (algebra::Format each : roundings)
    sum = arithmetic.convert(sum, floatOf(each, builder.getContext()));
  tile::YieldOp::create(builder, loc, sum);
  return map;
}

/// Depth first: what is held in slots before `slot` waits for this value.
Value TileProgram::valueOf(const PartTree &tree, int64_t slot, SumsOf sumsOf) {
  if (tree.isChain())
    return rounded(sumsOf(stagesOf(tree)), tree.roundings);
  Value left = valueOf(*tree.left, slot, sumsOf);
  left = tile::HoldOp::create(builder, loc, left.getType(), left,
                              uint64_t(slot));
  Value right = valueOf(*tree.right, slot + 1, sumsOf);
  return rounded({left, right}, tree.roundings);
}

/// Of what units have brought to each other.
Value TileProgram::valueOf(const PartTree &tree, ValueRange met) {
  auto brought = ofUnits->numbers.find(&tree);
  if (brought != ofUnits->numbers.end())
    return met[brought->second];
  Value left = valueOf(*tree.left, met), right = valueOf(*tree.right, met);
  return rounded({left, right}, tree.roundings);
}

/// The columns of this unit of what all have computed of rows from `row` on.
ValueRange TileProgram::meet(SumsOf sumsOf, Value row) {
  SmallVector<Value> mine;
  SmallVector<Type> types;
  for (auto [slot, tree] : llvm::enumerate(ofUnits->own)) {
    Value value = valueOf(*tree, int64_t(slot), sumsOf);
    if (slot + 1 < ofUnits->own.size())
      value = tile::HoldOp::create(builder, loc, value.getType(), value,
                                   uint64_t(slot));
    mine.push_back(value);
    types.push_back(ownValuesOf(
        cast<tile::ValuesType>(value.getType()).getElementType()));
  }
  SmallVector<Type> all;
  for (int64_t i = 0; i < schedule.getSplit(); ++i)
    llvm::append_range(all, types);
  // Rows that do not exist are not brought.
  Value last = end ? end : narrow(func.slot(family.rowDim));
  Value before = arith::MinUIOp::create(builder, loc, row, last);
  Value rows = arith::MinUIOp::create(
      builder, loc, arith::SubIOp::create(builder, loc, last, before),
      i32(schedule.rowsPerConsumer()));
  return tile::MeetOp::create(builder, loc, all, mine, rows).getParts();
}

/// The first column of which the unit has the sums.
Value TileProgram::ownCol(Value col) {
  if (!unit)
    return col;
  Value before = arith::MulIOp::create(builder, loc, unit,
                                       i32(schedule.colsPerUnit()));
  return arith::AddIOp::create(builder, loc, col, before);
}

SmallVector<Value> TileProgram::sumsOfParts(SumsOf sumsOf, Value row) {
  if (parts.isChain() && parts.roundings.empty())
    return sumsOf(stagesOf(parts));
  Value sums =
      ofUnits ? valueOf(parts, meet(sumsOf, row)) : valueOf(parts, 0, sumsOf);
  auto type = cast<tile::ValuesType>(sums.getType());
  if (type.getElementType() == accumulator)
    return {sums};
  auto map =
      tile::MapOp::create(builder, loc, ownValuesOf(accumulator), sums);
  OpBuilder::InsertionGuard guard(builder);
  Block *body =
      builder.createBlock(&map.getBody(), {}, {type.getElementType()}, {loc});
  tile::YieldOp::create(builder, loc,
                        ScalarArithmetic(builder, loc, contract)
                            .convert(body->getArgument(0), accumulator));
  return {map};
}
