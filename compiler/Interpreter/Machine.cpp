// Machine.cpp - programs, arithmetic and control flow
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/Interpreter/Integers.h"
#include "compiler/Interpreter/Steps.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace bitpact;
using namespace bitpact::interpreter;
using KernelBlock = bitpact::interpreter::Block;

Machine::Machine(kernel::FuncOp func, const Code &code, TermStore &terms,
                 std::map<std::string, Buffer> &buffers,
                 const std::map<std::string, int64_t> &dims, LeftOut *leftOut,
                 bool isSilent)
    : func(func), code(code), terms(terms), buffers(buffers), dims(dims),
      leftOut(leftOut), isSilent(isSilent) {}

BrokenPromise Machine::error(const Instruction &what, int64_t lane) {
  if (isSilent)
    return {};
  InFlightDiagnostic diagnostic = what.op->emitError();
  diagnostic << what.op->getName() << " of program " << program;
  if (lane >= 0)
    diagnostic << ", lane " << lane;
  diagnostic << ": ";
  return BrokenPromise(std::move(diagnostic));
}

//===----------------------------------------------------------------------===//
// A launch
//===----------------------------------------------------------------------===//

LogicalResult Machine::bindSlots() {
  cells.assign(code.cells, Cell());
  for (const auto &constant : code.constants)
    for (uint32_t i = 0; i < constant.place.count; ++i)
      cells[constant.place.first + i] =
          Cell::of(constant.bits[constant.bits.size() == 1 ? 0 : i]);
  for (auto [i, attr] : llvm::enumerate(func.getSlots())) {
    std::string name = cast<StringAttr>(attr).str();
    size_t colon = name.find(':');
    auto buffer = buffers.find(name.substr(0, colon));
    auto dim = dims.find(name);
    slots.push_back(nullptr);
    if (name == kernel::FuncOp::kFaultSlot)
      continue;
    if (buffer != buffers.end() && colon == std::string::npos) {
      slots.back() = &buffer->second;
      continue;
    }
    size_t axis = colon == std::string::npos
                      ? 0
                      : size_t(std::stoul(name.substr(colon + 1)));
    if (buffer != buffers.end() && axis < buffer->second.strides.size())
      cells[code.body.arguments[i].first] =
          Cell::of(uint64_t(buffer->second.strides[axis]));
    else if (dim != dims.end())
      cells[code.body.arguments[i].first] = Cell::of(uint64_t(dim->second));
    else
      return func.emitError() << "nothing was given for slot '" << name << "'";
  }
  return success();
}

LogicalResult Machine::run() {
  if (failed(bindSlots()))
    return failure();
  int64_t count = programsOf(func, dims), parts = partsOf(func, dims);
  for (part = 0; part < parts; ++part)
    for (program = 0; program < count; ++program)
      if (failed(runProgram()))
        return failure();
  return success();
}

LogicalResult Machine::runProgram() {
  scratch.clear();
  for (auto [size, width] : llvm::zip(code.scratchSizes, code.scratchWidths))
    scratch.push_back({std::vector<Cell>(size_t(size * width)),
                       std::vector<bool>(size_t(size))});
  return runBlock(code.body);
}

LogicalResult Machine::runBlock(const KernelBlock &block) {
  for (const Instruction &what : block.instructions)
    if (failed(runInstruction(what)))
      return failure();
  return success();
}

LogicalResult Machine::runInstruction(const Instruction &what) {
  if (isDry)
    return runDry(what);
  switch (what.form) {
  case Form::Compute:
    return compute(what);
  case Form::Whole:
    return whole(what);
  case Form::Broadcast:
    assign(what.results, what.operands);
    return success();
  case Form::Program:
    cells[what.results[0].first] = Cell::of(uint64_t(program));
    return success();
  case Form::Part:
    cells[what.results[0].first] = Cell::of(uint64_t(part));
    return success();
  case Form::Lane:
    for (uint32_t lane = 0; lane < what.results[0].count; ++lane)
      cells[what.results[0].first + lane] = Cell::of(lane);
    return success();
  case Form::Load:
    return load(what);
  case Form::Read:
    return read(what);
  case Form::Store:
    return store(what);
  case Form::Fault:
    return fault(what);
  case Form::Scratch:
    return success();
  case Form::Peek: {
    int64_t at;
    if (failed(scratchAt(what, what.operands[1], at)))
      return failure();
    Scratch &from = scratch[what.memory];
    if (!from.written[at])
      return error(what) << "reads cell " << at << ", which was never written";
    Place to = what.results[0];
    std::copy_n(from.cells.begin() + at * to.count, to.count,
                cells.begin() + to.first);
    return success();
  }
  case Form::Poke: {
    int64_t at;
    if (failed(scratchAt(what, what.operands[2], at)))
      return failure();
    Place from = what.operands[0];
    scratch[what.memory].written[at] = true;
    std::copy_n(cells.begin() + from.first, from.count,
                scratch[what.memory].cells.begin() + at * from.count);
    return success();
  }
  case Form::Exchange:
    return exchange(what);
  case Form::Gather:
    return gather(what);
  case Form::For:
    return runFor(what);
  case Form::While:
    return runWhile(what);
  case Form::If:
    return runIf(what);
  }
  llvm_unreachable("a form");
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

/// What an instruction gives, where its operands are integers that all lanes
/// have as numbers: addresses, and masks of elements.
bool Machine::computeNumbers(const Instruction &what) {
  Place to = what.results[0], a = what.operands[0], b = what.operands.back();
  uint32_t nextA = a.count > 1, nextB = b.count > 1;
  bool known = true;
  bool isOne = withInteger(what.action, [&](auto compute) {
    const Cell *left = &cells[a.first], *right = &cells[b.first];
    Cell *result = &cells[to.first];
    for (uint32_t lane = 0; lane < to.count; ++lane) {
      known = left->isConcrete() && right->isConcrete();
      if (!known)
        return;
      *result++ = Cell::of(compute(left->bits, right->bits));
      left += nextA;
      right += nextB;
    }
  });
  return isOne && known;
}

LogicalResult Machine::compute(const Instruction &what) {
  if (computeNumbers(what)) {
    noteResult(what);
    return success();
  }
  Place to = what.results[0];
  size_t count = what.operands.size();
  Cell operands[3];
  for (uint32_t lane = 0; lane < to.count; ++lane) {
    bool known = true, repeats = lane > 0;
    for (size_t i = 0; i < count; ++i) {
      const Cell &cell = cells[what.operands[i].of(lane)];
      repeats &= cell == operands[i];
      operands[i] = cell;
      known &= !cell.isUnspecified();
    }
    // Lanes beyond the last row do what the last one does.
    if (repeats) {
      cells[to.first + lane] = cells[to.first + lane - 1];
      continue;
    }
    cells[to.first + lane] =
        known || what.action.op == interpreter::Op::Select
            ? terms.apply(what.action, ArrayRef<Cell>(operands, count))
            : Cell();
  }
  noteResult(what);
  return success();
}

/// Operations are run one by one for the sake of lanes that have numbers.
LogicalResult Machine::whole(const Instruction &what) {
  Place to = what.results[0];
  size_t count = what.operands.size();
  TermId arguments[3];
  bool someNumber = false;
  for (uint32_t lane = 0; lane < to.count; ++lane) {
    bool known = true, symbols = true;
    for (size_t i = 0; i < count; ++i) {
      const Cell &cell = cells[what.operands[i].of(lane)];
      known &= !cell.isUnspecified();
      symbols &= cell.isSymbolic();
      arguments[i] = cell.term;
    }
    someNumber |= known && !symbols;
    cells[to.first + lane] =
        symbols ? Cell::symbol(terms.whole(int(what.memory),
                                           ArrayRef(arguments, count),
                                           what.action.type))
                : Cell();
  }
  if (!someNumber)
    return success();
  std::vector<Cell> made(cells.begin() + to.first,
                         cells.begin() + to.first + to.count);
  // Numbers in here come from numbers that no round changes.
  std::vector<Round> around;
  std::swap(around, rounds);
  if (failed(runBlock(what.blocks[0])))
    return failure();
  std::swap(around, rounds);
  for (auto [lane, cell] : llvm::enumerate(made))
    if (cell.isSymbolic())
      cells[to.first + lane] = cell;
  return success();
}

/// All sources are read before any target is written.
void Machine::assign(const std::vector<Place> &to,
                     const std::vector<Place> &from) {
  moved.clear();
  for (auto [target, source] : llvm::zip(to, from)) {
    auto first = cells.begin() + source.first;
    if (source.count == target.count)
      moved.insert(moved.end(), first, first + source.count);
    else
      moved.insert(moved.end(), target.count, *first);
  }
  auto next = moved.begin();
  for (const Place &target : to) {
    std::copy_n(next, target.count, cells.begin() + target.first);
    next += target.count;
  }
}

LogicalResult Machine::uniform(const Instruction &what, Place place,
                               int64_t &value) {
  const Cell &cell = cells[place.first];
  if (place.count != 1 || !cell.isConcrete())
    return error(what) << "control flow depends on the values of tensors";
  value = int64_t(cell.bits);
  return success();
}

LogicalResult Machine::exchange(const Instruction &what) {
  auto op = cast<kernel::ExchangeOp>(what.op);
  int64_t distance = op.getDistance();
  Place to = what.results[0], from = what.operands[0];
  for (int64_t lane = 0; lane < to.count; ++lane) {
    int64_t partner = lane ^ distance;
    if (!op.getFar() && partner / code.subgroup != lane / code.subgroup)
      return error(what, lane)
             << "distance " << distance << " reaches lane " << partner
             << ", beyond the subgroup of " << code.subgroup << " lanes";
    cells[to.first + lane] = cells[from.first + partner];
  }
  return success();
}

LogicalResult Machine::gather(const Instruction &what) {
  int64_t subgroup = cast<kernel::GatherOp>(what.op).getSubgroup();
  if (subgroup != code.subgroup)
    return error(what) << "subgroup " << subgroup << " in a schedule with "
                       << code.subgroup;
  for (auto [j, to] : llvm::enumerate(what.results))
    for (int64_t lane = 0; lane < to.count; ++lane) {
      int64_t from = lane % subgroup + int64_t(j) * subgroup;
      if (from >= code.lanes)
        return error(what, lane)
               << "reads lane " << from << " of " << code.lanes;
      cells[to.first + lane] = cells[what.operands[0].first + from];
    }
  return success();
}

LogicalResult Machine::scratchAt(const Instruction &what, Place index,
                                 int64_t &cell) {
  if (failed(uniform(what, index, cell)))
    return failure();
  int64_t size = code.scratchSizes[what.memory];
  if (cell < 0 || cell >= size)
    return error(what) << "cell " << cell << " of " << size;
  note(uint64_t(cell));
  return success();
}

//===----------------------------------------------------------------------===//
// Control flow
//===----------------------------------------------------------------------===//

LogicalResult Machine::runWhile(const Instruction &what) {
  const KernelBlock &before = what.blocks[0], &after = what.blocks[1];
  std::vector<Place> passed(before.yielded.begin() + 1, before.yielded.end());
  assign(before.arguments, what.operands);
  while (true) {
    int64_t goOn;
    if (failed(runBlock(before)) ||
        failed(uniform(what, before.yielded[0], goOn)))
      return failure();
    note(uint64_t(goOn));
    if (!goOn)
      break;
    assign(after.arguments, passed);
    if (failed(runBlock(after)))
      return failure();
    assign(before.arguments, after.yielded);
  }
  assign(what.results, passed);
  return success();
}

LogicalResult Machine::runIf(const Instruction &what) {
  int64_t condition;
  if (failed(uniform(what, what.operands[0], condition)))
    return failure();
  note(uint64_t(condition));
  const KernelBlock &taken = what.blocks[condition ? 0 : 1];
  if (failed(runBlock(taken)))
    return failure();
  assign(what.results, taken.yielded);
  return success();
}
