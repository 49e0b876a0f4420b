// PanelSums.cpp - sums of products of panels, and how they leave
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/CPU/PanelKernel.h"

using namespace mlir;
using namespace bitpact;
using namespace bitpact::codegen;

Value PanelKernel::panelAt(const Panels &panels, Value base, Value number,
                          int64_t depth, Type element) {
  return at(base, element, mul(number, i64(panels.height * depth)));
}

void PanelKernel::forEachTile(
    const Panels &a, const Panels &b, int64_t rows, Type sum, Value sums,
    llvm::function_ref<void(Value, Value, Value)> body) {
  int64_t perColumn = rows / a.height;
  loop(i64(0), blocks(b.rows, b.height), 1, [&](Value col) {
    loop(i64(0), blocks(a.rows, a.height), 1, [&](Value row) {
      Value number = add(mul(col, i64(perColumn)), row);
      body(row, col, at(sums, sum, mul(number, i64(a.height * b.height))));
    });
  });
}

/// The product that sums begin for, through the loop that carries them.
static Operation *firstProduct(Value sums) {
  while (sums.hasOneUse()) {
    OpOperand &use = *sums.use_begin();
    auto loop = dyn_cast<scf::ForOp>(use.getOwner());
    if (!loop)
      return use.getOwner();
    sums = loop.getTiedLoopRegionIterArg(&use);
  }
  return nullptr;
}

/// Whether all that is made of values is stored before `op`, in its block.
static bool isStoredBefore(Value values, Operation *op) {
  return llvm::all_of(values.getUsers(), [&](Operation *user) {
    if (isa<tile::MapOp>(user))
      return isStoredBefore(user->getResult(0), op);
    return user->getBlock() == op->getBlock() && user->isBeforeInBlock(op);
  });
}

/// +0, or what any first product goes into unchanged. Of rows and columns of
/// panels, those that are there. Sums of parts take the place of those before
/// them, once these are held.
void PanelKernel::begin(tile::BeginOp op) {
  tile::PendingType type = op.getType();
  Type element = type.getElementType();
  bool isFree = begun.sums && begun.type == type && begun.awaited &&
                isStoredBefore(begun.awaited, op);
  Value sums = isFree ? begun.sums
                      : scratch(element, type.getRows() * type.getCols());
  Value rows = i64(type.getRows()), cols = i64(type.getCols());
  if (Operation *product = firstProduct(op))
    for (auto [operand, extent] :
         {std::pair(product->getOperand(0), &rows),
          std::pair(product->getOperand(1), &cols)})
      if (auto pack = operand.getDefiningOp<tile::PackOp>())
        if (pack.getRow().getParentBlock() == op->getBlock())
          *extent = least(*extent, rowsOf(pack));
  begun = {sums, rows, cols, type, {}};
  Value neutral =
      real(lanesOf(element), op.getStart() == "first" ? -0.0 : 0.0);
  Panels a{{}, {}, rows, {}, schedule.getPanelRows(), element},
      b{{}, {}, cols, {}, schedule.getPanelCols(), element};
  forEachTile(a, b, type.getRows(), element, sums,
              [&](Value, Value, Value tile) {
                int64_t count = a.height * b.height;
                for (int64_t i = 0; i < count; i += schedule.getLanes())
                  store(neutral, at(tile, element, i64(i)));
              });
  op.replaceAllUsesWith(sums);
}

/// One column of a panel with one of the other: each of its rows with vectors
/// of columns.
LogicalResult PanelKernel::chain(tile::ChainOp op) {
  const Panels a = packed[op.getA()], b = packed[op.getB()];
  tile::PendingType type = op.getType();
  Type element = type.getElementType();
  int64_t depth = op.getA().getType().getCols(), lanes = schedule.getLanes();
  Type vector = lanesOf(element);
  Value columns = least(a.cols, b.cols);
  Block &step = op.getBody().front();
  forEachTile(
      a, b, type.getRows(), element, op.getSums(),
      [&](Value row, Value col, Value tile) {
        Value rows = panelAt(a, a.data, row, depth, a.element),
              cols = panelAt(b, b.data, col, depth, b.element);
        Values sums;
        for (int64_t i = 0; i < a.height * b.height; i += lanes)
          sums.push_back(load(vector, at(tile, element, i64(i))));
        sums = loop(
            i64(0), columns, 1, sums, [&](Value k, ValueRange carried) {
              Value x = at(rows, a.element, mul(k, i64(a.height))),
                    y = at(cols, b.element, mul(k, i64(b.height)));
              Values right, next;
              for (int64_t j = 0; j < b.height; j += lanes)
                right.push_back(
                    load(lanesOf(b.element), at(y, b.element, i64(j))));
              for (int64_t i = 0; i < a.height; ++i) {
                Value left = splat(load(a.element, at(x, a.element, i64(i))));
                for (Value each : right)
                  next.push_back(
                      inlined(step, {left, each, carried[next.size()]}));
              }
              return next;
            });
        for (auto [i, sum] : llvm::enumerate(sums))
          store(sum, at(tile, element, i64(int64_t(i) * lanes)));
      });
  op.replaceAllUsesWith(op.getSums());
  return success();
}

/// At the right edge one by one: what lies beyond may not be there.
Value PanelKernel::loadedAt(tile::LoadOp op, Value row, Value col) {
  const Matrix &from = views[op.getView()];
  int64_t lanes = schedule.getLanes();
  Type stored = builder.getIntegerType(from.element.getIntOrFloatBitWidth());
  Type vector = lanesOf(stored);
  Value line = add(wide(op.getRow()), row), first = add(wide(op.getCol()), col);
  auto own = [&](Value bits) {
    return LLVM::BitcastOp::create(builder, loc, lanesOf(from.element), bits);
  };
  if (from.alongRows)
    return own(splat(load(stored, at(from.data, stored, line))));
  Value start = from.stride ? add(mul(line, from.stride), first) : first;
  Value place = at(from.data, stored, start);
  Value left = binary<LLVM::SubOp>(from.cols, first);
  Value whole = LLVM::ICmpOp::create(builder, loc, LLVM::ICmpPredicate::sge,
                                     left, i64(lanes));
  Value edge = scratch(stored, lanes);
  auto branch = scf::IfOp::create(builder, loc, TypeRange{vector}, whole,
                                  /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(branch.thenBlock());
  scf::YieldOp::create(builder, loc, load(vector, place));
  builder.setInsertionPointToStart(branch.elseBlock());
  store(integer(vector, 0), edge);
  loop(i64(0), left, 1, [&](Value i) {
    store(load(stored, at(place, stored, i)), at(edge, stored, i));
  });
  scf::YieldOp::create(builder, loc, load(vector, edge));
  builder.setInsertionPointAfter(branch);
  return own(branch.getResult(0));
}

Value PanelKernel::valuesAt(Value values, Value row, Value col) {
  if (auto map = values.getDefiningOp<tile::MapOp>()) {
    Values arguments;
    for (Value from : map.getValues())
      arguments.push_back(valuesAt(from, row, col));
    return inlined(map.getBody().front(), arguments);
  }
  if (auto loaded = values.getDefiningOp<tile::LoadOp>())
    return loadedAt(loaded, row, col);
  auto type = cast<tile::ValuesType>(values.getType());
  Type element = type.getElementType();
  Value place = placeOf(type, row, col);
  if (Value slot = held.lookup(values))
    return load(lanesOf(element), at(slot, element, place));
  auto await = values.getDefiningOp<tile::AwaitOp>();
  Value sums = load(lanesOf(element), at(await.getSums(), element, place));
  if (!await.getExists())
    return sums;
  return LLVM::SelectOp::create(
      builder, loc, await.getExists(), sums,
      real(sums.getType(), std::numeric_limits<double>::quiet_NaN()));
}

/// Where sums of that type, or what is held like them, have an element.
Value PanelKernel::placeOf(Type values, Value row, Value col) {
  auto type = cast<tile::ValuesType>(values);
  int64_t height = schedule.getPanelRows(), width = schedule.getPanelCols();
  auto over = [&](Value index, int64_t by) {
    return binary<LLVM::UDivOp>(index, i64(by));
  };
  auto rest = [&](Value index, int64_t by) {
    return binary<LLVM::URemOp>(index, i64(by));
  };
  Value tile = add(mul(over(col, width), i64(type.getRows() / height)),
                   over(row, height));
  return add(mul(tile, i64(height * width)),
             add(mul(rest(row, height), i64(width)), rest(col, width)));
}

/// Laid out as sums are, of those that the last ones have. Each vector is read before its place is written, so
/// that values may take the slot of what they are made of.
void PanelKernel::hold(tile::HoldOp op) {
  tile::ValuesType type = op.getType();
  Type element = type.getElementType();
  Value &slot = slots[{int64_t(op.getSlot()), element}];
  if (!slot)
    slot = scratch(element, type.getRows() * type.getCols());
  held[op] = slot;
  loop(i64(0), begun.rows, 1, [&](Value row) {
    loop(i64(0), begun.cols, schedule.getLanes(), [&](Value col) {
      store(valuesAt(op.getValues(), row, col),
            at(slot, element, placeOf(type, row, col)));
    });
  });
}

LogicalResult PanelKernel::put(tile::PutOp op) {
  const Matrix &to = views[op.getView()];
  tile::ValuesType type = op.getValues().getType();
  int64_t lanes = schedule.getLanes();
  Value firstRow = wide(op.getRow()), firstCol = wide(op.getCol());
  Value end = op.getEnd() ? least(to.rows, wide(op.getEnd())) : to.rows;
  Value rows = least(binary<LLVM::SubOp>(end, firstRow), i64(type.getRows())),
        cols = least(binary<LLVM::SubOp>(to.cols, firstCol),
                     i64(type.getCols()));
  Type stored = builder.getIntegerType(to.element.getIntOrFloatBitWidth());
  Value edge = scratch(stored, lanes);
  loop(i64(0), rows, 1, [&](Value row) {
    Value line = at(to.data, stored,
                    add(mul(add(firstRow, row), to.stride), firstCol));
    loop(i64(0), cols, lanes, [&](Value col) {
      Value values = LLVM::BitcastOp::create(
          builder, loc, lanesOf(stored), valuesAt(op.getValues(), row, col));
      Value left = binary<LLVM::SubOp>(cols, col);
      Value whole = LLVM::ICmpOp::create(
          builder, loc, LLVM::ICmpPredicate::sge, left, i64(lanes));
      auto branch = scf::IfOp::create(builder, loc, whole,
                                      /*withElseRegion=*/true);
      OpBuilder::InsertionGuard guard(builder);
      builder.setInsertionPointToStart(branch.thenBlock());
      store(values, at(line, stored, col));
      builder.setInsertionPointToStart(branch.elseBlock());
      store(values, edge);
      loop(i64(0), left, 1, [&](Value i) {
        store(load(stored, at(edge, stored, i)),
              at(line, stored, add(col, i)));
      });
    });
  });
  return success();
}
