// ColumnMemory.cpp - several rows a lane, and parts of rows in the workspace
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/Lowering/RowContext.h"
#include "codegen/Lowering/SplitPlan.h"

#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace bitpact;
using namespace bitpact::lowering;

//===----------------------------------------------------------------------===//
// Which rows a program has
//===----------------------------------------------------------------------===//

Value RowContext::rowCount() {
  return family.rowDim.empty() ? i64(1) : extentOf(family.rowDim);
}

void RowContext::chooseRows() {
  bool splits = bool(func.getSplitAttr());
  if (splits)
    partIndex = kernel::PartOp::create(builder, loc);
  if (family.rowDim.empty())
    return;
  Value program = kernel::ProgramOp::create(builder, loc);
  int64_t each = schedule.rowsPerProgram();
  if (each == 1) {
    row.addTerm(program, 1);
    return;
  }
  bool merges = !splits && func.slot("workspace");
  if (schedule.getRowsPerLane() > 1 || merges) {
    rowsAreMapped = true;
    firstRow = arith::MulIOp::create(builder, loc, program, i64(each));
    rowPack = rowPackOf(contract, schedule);
    return;
  }
  row.addTerm(program, each);
  row.addTerm(laneIndex, 1);
  rowsInRange =
      arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt,
                            materialize(row), splat(extentOf(family.rowDim)));
}

/// Where lanes are elements of a register, rows are taken as they
/// come, and the last program masks those that are missing. Else lanes beyond
/// the last row repeat it, so that nothing but stores is masked, which needs
/// rows in whole packs.
Value RowContext::rowsAreWhole() {
  if (schedule.getAdjacent()) {
    Value end = arith::AddIOp::create(builder, loc, firstRow,
                                      i64(schedule.rowsPerProgram()));
    return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::sle, end,
                                 rowCount());
  }
  if (rowPack == 1)
    return {};
  Value rest =
      arith::AndIOp::create(builder, loc, rowCount(), i64(rowPack - 1));
  return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, rest,
                               i64(0));
}

void RowContext::mapRows(bool whole) {
  wholeRows = whole;
  rowStarts.clear();
  rowsWanted.clear();
  for (int64_t at = 0; at < columns(); at += rowPack) {
    Affine start;
    start.addTerm(firstRow, 1);
    start.addTerm(laneIndex, rowPack);
    start.constant = at * lanes();
    rowsWanted.push_back(start);
    if (whole && !schedule.getAdjacent()) {
      Value wanted = materialize(start);
      Value last = splat(
          arith::SubIOp::create(builder, loc, rowCount(), i64(rowPack)));
      Value inside = arith::CmpIOp::create(
          builder, loc, arith::CmpIPredicate::slt, wanted, last);
      start = Affine();
      start.addTerm(
          arith::SelectOp::create(builder, loc, inside, wanted, last), 1);
    }
    rowStarts.push_back(start);
  }
}

/// None, or one a pack, or one a row.
SmallVector<Value> RowContext::columnMasks(int64_t group, bool stores) {
  SmallVector<Value> masks;
  bool repeats = !schedule.getAdjacent();
  if (wholeRows && !(stores && repeats))
    return masks;
  for (int64_t j = 0; j < (wholeRows ? 1 : rowPack); ++j) {
    Affine at = rowsWanted[group];
    at.constant += j;
    masks.push_back(arith::CmpIOp::create(builder, loc,
                                          arith::CmpIPredicate::slt,
                                          materialize(at), splat(rowCount())));
  }
  return masks;
}

//===----------------------------------------------------------------------===//
// Tensors
//===----------------------------------------------------------------------===//

bool RowContext::hasColumns(StringRef tensor) {
  return rowsAreMapped && llvm::is_contained(dimsOf(tensor), family.rowDim);
}

Value RowContext::loadColumn(StringRef tensor, const Affine *position,
                             const std::string &key, Value presence) {
  auto keyOf = [&](int64_t which) {
    return key + llvm::formatv(" column {0}", which).str();
  };
  if (Value known = remembered(keyOf(column)))
    return known;
  int64_t group = column / rowPack;
  row = rowStarts[group];
  Address where = address(tensor, position);
  Type element = cast<TypeAttr>(contract.getTypes().get(tensor)).getValue();
  SmallVector<Value> masks = columnMasks(group, /*stores=*/false);
  if (presence && masks.empty())
    masks.push_back(presence);
  else if (presence)
    for (Value &mask : masks)
      mask = both(mask, presence);
  int64_t align = wholeRows ? alignOf(tensor, element, rowPack)
                            : element.getIntOrFloatBitWidth() / 8;
  auto load = kernel::LoadOp::create(
      builder, loc, SmallVector<Type>(rowPack, laneType(element)),
      func.slot(tensor), where.uniform, where.laneOffsets, masks,
      where.laneStride, align);
  for (int64_t j = 0; j < rowPack; ++j)
    remember(keyOf(group * rowPack + j), load.getValues()[j]);
  return load.getValues()[column % rowPack];
}

void RowContext::storeColumns(StringRef tensor, ValueRange values) {
  for (int64_t group = 0; group * rowPack < columns(); ++group) {
    row = rowStarts[group];
    Address where = address(tensor, nullptr);
    ValueRange own = values.slice(group * rowPack, rowPack);
    Type element = getElementTypeOrSelf(own.front().getType());
    int64_t align = wholeRows ? alignOf(tensor, element, rowPack)
                              : element.getIntOrFloatBitWidth() / 8;
    kernel::StoreOp::create(builder, loc, own, func.slot(tensor), where.uniform,
                            where.laneOffsets, columnMasks(group, true),
                            where.laneStride, align);
  }
}

//===----------------------------------------------------------------------===//
// Parts
//===----------------------------------------------------------------------===//

Value RowContext::partCount(kernel::SplitAttr split) {
  if (split.getDim().empty())
    return i64(split.getLength());
  Value extent = extentOf(split.getDim());
  Value up = arith::AddIOp::create(
      builder, loc, extent, i64(split.getLength() - 1 - split.getLess()));
  return arith::DivUIOp::create(builder, loc, up, i64(split.getLength()));
}

/// The workspace has a row of values for each part.
RowContext::Address RowContext::partAddress(Value number, const Affine &rows) {
  Address result;
  Affine uniform;
  uniform.addTerm(arith::MulIOp::create(builder, loc, number, rowCount()), 1);
  for (auto [value, scale] : rows.terms) {
    if (value == laneIndex)
      result.laneStride = scale;
    else if (isa<VectorType>(value.getType()))
      result.laneOffsets = value;
    else
      uniform.addTerm(value, scale);
  }
  uniform.constant = rows.constant;
  result.uniform = materialize(uniform);
  return result;
}

int64_t RowContext::partAlign(Type element) {
  int64_t bytes = element.getIntOrFloatBitWidth() / 8;
  if (!rowsAreMapped || !wholeRows)
    return bytes;
  return std::min(std::max(bytes, schedule.getVectorBytes()), bytes * rowPack);
}

void RowContext::storePart(ValueRange values) {
  Value workspace = func.slot("workspace");
  Type element = getElementTypeOrSelf(values.front().getType());
  if (!rowsAreMapped) {
    Address where = partAddress(partIndex, row);
    Value first =
        arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, laneIndex,
                              laneConstant(builder.getI64IntegerAttr(0)));
    kernel::StoreOp::create(builder, loc, values, workspace, where.uniform,
                            where.laneOffsets, ValueRange(first),
                            where.laneStride, partAlign(element));
    return;
  }
  for (int64_t group = 0; group * rowPack < columns(); ++group) {
    Address where = partAddress(partIndex, rowStarts[group]);
    kernel::StoreOp::create(builder, loc,
                            values.slice(group * rowPack, rowPack), workspace,
                            where.uniform, where.laneOffsets,
                            columnMasks(group, true), where.laneStride,
                            partAlign(element));
  }
}

Value RowContext::loadPart(Value number, Type element) {
  auto keyOf = [&](int64_t which) {
    return llvm::formatv("part {0} column {1}", number.getAsOpaquePointer(),
                         which)
        .str();
  };
  if (Value known = remembered(keyOf(column)))
    return known;
  int64_t group = column / rowPack;
  Address where =
      partAddress(number, rowsAreMapped ? rowStarts[group] : Affine());
  SmallVector<Value> masks;
  if (rowsAreMapped)
    masks = columnMasks(group, /*stores=*/false);
  auto load = kernel::LoadOp::create(
      builder, loc, SmallVector<Type>(rowPack, laneType(element)),
      func.slot("workspace"), where.uniform, where.laneOffsets, masks,
      where.laneStride, partAlign(element));
  for (int64_t j = 0; j < rowPack; ++j)
    remember(keyOf(group * rowPack + j), load.getValues()[j]);
  return load.getValues()[column % rowPack];
}

Value RowContext::partExists(const NodePlan &plan, const Instance &instance) {
  Value exists;
  for (auto [i, shape] : llvm::enumerate(plan.digits)) {
    if (!shape.mayBeShort)
      continue;
    Affine offset;
    for (size_t j = i; j < plan.digits.size(); ++j)
      offset.add(instance.digits[j], plan.digits[j].length);
    Value limit = shape.container == kDynamic ? containerOf(i, instance)
                                              : i64(shape.container);
    exists = both(exists, arith::CmpIOp::create(
                              builder, loc, arith::CmpIPredicate::slt,
                              materialize(offset), limit));
  }
  return exists;
}

Value RowContext::readOffset(StringRef tensor, Value index) {
  Value narrow = kernel::ReadOp::create(builder, loc, builder.getI32Type(),
                                        func.slot(tensor), index);
  return arith::ExtSIOp::create(builder, loc, builder.getI64Type(), narrow);
}

/// Where they do not hold, the fault word is set too.
void RowContext::checkOffsets(StringRef tensor) {
  auto is = [&](arith::CmpIPredicate predicate, Value a, Value b) -> Value {
    return arith::CmpIOp::create(builder, loc, predicate, a, b);
  };
  Value blocks = arith::SubIOp::create(
      builder, loc, extentOf(family.offsetsDim), i64(1));
  Value first = readOffset(tensor, i64(0));
  Value holds = is(arith::CmpIPredicate::eq, first, i64(0));
  SmallVector<Value> end = loop(
      blocks, {first, holds}, [&](Value index, ValueRange before) {
        Value at = arith::AddIOp::create(builder, loc, index, i64(1));
        Value next = readOffset(tensor, at);
        Value ascends = is(arith::CmpIPredicate::sle, before[0], next);
        return SmallVector<Value>{next, both(before[1], ascends)};
      });
  holds = both(end[1], is(arith::CmpIPredicate::eq, end[0],
                          extentOf(family.reducedDim)));
  offsetsHold = splat(holds);
  fault(arith::XOrIOp::create(builder, loc, offsetsHold,
                              laneConstant(builder.getBoolAttr(true))));
}

Value RowContext::unlessFault(Value output) {
  if (!offsetsHold)
    return output;
  auto type = cast<FloatType>(getElementTypeOrSelf(output.getType()));
  Value nan = laneConstant(
      FloatAttr::get(type, llvm::APFloat::getNaN(type.getFloatSemantics())));
  return arith::SelectOp::create(builder, loc, offsetsHold, output, nan);
}
