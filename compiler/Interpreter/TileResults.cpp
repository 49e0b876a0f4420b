// TileResults.cpp - values of tile kernels, and what leaves
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/Interpreter/TileMachine.h"

using namespace mlir;
using namespace bitpact;
using namespace bitpact::interpreter;

LogicalResult TileMachine::load(Role &role, tile::LoadOp op) {
  const TileView *from = get<const TileView *>(role, op.getView());
  if (from->buffer->isOutput)
    return error(role, op) << "reads output '" << from->buffer->name << "'";
  tile::ValuesType type = op.getType();
  auto made = std::make_shared<TileValues>();
  made->loaded =
      Window{from, number(role, op.getRow()), number(role, op.getCol()),
             type.getRows(), type.getCols()};
  role.values[op] = std::shared_ptr<const TileValues>(made);
  return success();
}

LogicalResult TileMachine::use(Role &role, Operation *op,
                               const TileValues &values) {
  if (values.held && role.taken[values.held->slot] != values.held->taken)
    return error(role, op) << "uses values of slot " << values.held->slot
                           << ", which others have taken";
  // What was held, or brought to another unit, was computed then.
  if (!values.held && !values.brought)
    for (const auto &each : values.from)
      if (failed(use(role, op, *each)))
        return failure();
  return success();
}

LogicalResult TileMachine::hold(Role &role, tile::HoldOp op) {
  auto values = get<std::shared_ptr<const TileValues>>(role, op.getValues());
  if (failed(use(role, op, *values)))
    return failure();
  int64_t slot = int64_t(op.getSlot());
  auto made = std::make_shared<TileValues>();
  made->from.push_back(values);
  made->held = {slot, ++role.taken[slot]};
  role.values[op] = std::shared_ptr<const TileValues>(made);
  return success();
}

/// All units of one consumer.
TileMachine::Outcome TileMachine::meetUnits(Role &role, tile::MeetOp op) {
  Meeting &meeting = meetings[{role.consumer, role.met}];
  if (failed(bring(role, op, meeting)))
    return Outcome::Failed;
  if (llvm::any_of(meeting.brought, [](const auto &each) { return each.empty(); }))
    return Outcome::Waits;
  ++role.met;
  size_t each = op.getValues().size();
  for (auto [i, part] : llvm::enumerate(op.getParts())) {
    auto made = std::make_shared<TileValues>();
    made->from.push_back(meeting.brought[i / each][i % each]);
    int64_t cols = cast<tile::ValuesType>(part.getType()).getCols();
    made->brought = {role.unit * cols, meeting.rows};
    role.values[part] = std::shared_ptr<const TileValues>(made);
  }
  return Outcome::Went;
}

LogicalResult TileMachine::bring(Role &role, tile::MeetOp op,
                                 Meeting &meeting) {
  meeting.brought.resize(size_t(func.getSchedule().getSplit()));
  auto &mine = meeting.brought[size_t(role.unit)];
  if (!mine.empty())
    return success();
  int64_t rows = number(role, op.getRows());
  bool isFirst = !meeting.op;
  if (isFirst)
    meeting.op = op, meeting.rows = rows;
  if (meeting.op != op || meeting.rows != rows)
    return error(role, op) << "brings " << rows << " rows where another unit "
                           << "brings " << meeting.rows
                           << (meeting.op == op ? "" : " elsewhere");
  for (mlir::Value value : op.getValues()) {
    auto values = get<std::shared_ptr<const TileValues>>(role, value);
    if (failed(use(role, op, *values)))
      return failure();
    mine.push_back(values);
  }
  return success();
}

LogicalResult TileMachine::store(Role &role, tile::PutOp op) {
  const TileView *to = get<const TileView *>(role, op.getView());
  if (!to->buffer->isOutput)
    return error(role, op) << "writes input '" << to->buffer->name << "'";
  tile::ValuesType type = op.getValues().getType();
  Window window{to, number(role, op.getRow()), number(role, op.getCol()),
                type.getRows(), type.getCols()};
  if (window.row < 0 || window.col < 0)
    return error(role, op) << "begins at row " << window.row << ", column "
                           << window.col;
  if (op.getEnd())
    window.rows = std::clamp(number(role, op.getEnd()) - window.row,
                             int64_t(0), window.rows);
  auto values = get<std::shared_ptr<const TileValues>>(role, op.getValues());
  if (failed(use(role, op, *values)))
    return failure();
  return put(op, values, window);
}

Cell interpreter::elementOf(
    const TileValues &values, TermStore &terms, int64_t row, int64_t col,
    llvm::function_ref<Cell(const TileValues &, int64_t, int64_t)> leaf) {
  if (values.held)
    return elementOf(*values.from.front(), terms, row, col, leaf);
  // A row that was not brought is whatever lay there.
  if (values.brought && row >= values.brought->rows)
    return Cell();
  if (values.brought)
    return elementOf(*values.from.front(), terms, row,
                     col + values.brought->left, leaf);
  if (!values.map)
    return leaf(values, row, col);
  std::vector<Cell> arguments;
  for (const auto &from : values.from)
    arguments.push_back(elementOf(*from, terms, row, col, leaf));
  return yielded(values.map.getBody().front(), arguments, terms);
}

Cell interpreter::yielded(mlir::Block &body, ArrayRef<Cell> arguments,
                          TermStore &terms) {
  llvm::DenseMap<mlir::Value, Cell> cells;
  for (auto [argument, cell] : llvm::zip(body.getArguments(), arguments))
    cells[argument] = cell;
  for (Operation &op : body.without_terminator()) {
    if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
      auto real = dyn_cast<FloatAttr>(constant.getValue());
      cells[constant] =
          Cell::of(real ? real.getValue().bitcastToAPInt().getZExtValue()
                        : cast<IntegerAttr>(constant.getValue())
                              .getValue()
                              .getZExtValue());
      continue;
    }
    SmallVector<Cell> operands;
    for (mlir::Value operand : op.getOperands())
      operands.push_back(cells.lookup(operand));
    std::optional<Action> action = actionOf(&op);
    // An operation that is no arithmetic leaves the element unspecified.
    cells[op.getResult(0)] = action ? terms.apply(*action, operands) : Cell();
  }
  return cells.lookup(cast<tile::YieldOp>(body.getTerminator()).getValue());
}
