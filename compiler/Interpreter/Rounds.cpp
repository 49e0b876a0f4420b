// Rounds.cpp - loops, and rounds of them that do what the one before did
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A long row is proved on a shorter one: docs/rationale/0011-rounds-left-out.md
// says why that is enough. The rounds left out are run dry: numbers for control
// flow, conditions and addresses, and no terms. They must do what the last full
// round did, the same distance further on each.
#include "compiler/Interpreter/Machine.h"

using namespace mlir;
using namespace bitpact;
using namespace bitpact::interpreter;
using KernelBlock = bitpact::interpreter::Block;

static uint64_t mixed(uint64_t hash, uint64_t value) {
  hash = (hash ^ value) * 0x9e3779b97f4a7c15;
  return hash ^ hash >> 32;
}

void Machine::note(uint64_t value) {
  for (Round &round : rounds)
    round.hash = mixed(round.hash, value);
}

void Machine::noteOpaque() {
  for (Round &round : rounds)
    round.isOpaque = true;
}

void Machine::noteAccess(const Buffer &buffer, int64_t lane, uint32_t j,
                         int64_t offset) {
  if (rounds.empty())
    return;
  if (!isFloat(buffer.type))
    return noteOpaque();
  SmallVector<int64_t> indices;
  buffer.indicesAt(offset, indices);
  uint64_t where = mixed(uint64_t(lane), j);
  int64_t position = -1;
  for (auto [axis, index] : llvm::enumerate(indices))
    if (int(axis) == buffer.reducedAxis)
      position = index;
    else
      where = mixed(where, uint64_t(index));
  for (Round &round : rounds) {
    round.hash = mixed(round.hash, where);
    if (position < 0)
      continue;
    if (round.first < 0)
      round.first = round.least = round.most = position;
    round.least = std::min(round.least, position);
    round.most = std::max(round.most, position);
    round.hash = mixed(round.hash, uint64_t(position - round.first));
  }
}

/// Conditions, and integers that become floats.
void Machine::noteResult(const Instruction &what) {
  if (rounds.empty())
    return;
  Place to = what.results[0];
  bool isCondition = to.type == Scalar::I1;
  if (!isCondition && !(isFloat(to.type) && !isFloat(what.action.from)))
    return;
  for (uint32_t lane = 0; lane < to.count; ++lane) {
    const Cell &cell =
        isCondition ? cells[to.first + lane] : cells[what.operands[0].of(lane)];
    if (cell.isConcrete())
      note(cell.bits);
  }
}

/// Integers are computed, floats stay what they were in the last full round.
LogicalResult Machine::runDry(const Instruction &what) {
  auto isNumber = [](const Place &place) { return !isFloat(place.type); };
  switch (what.form) {
  case Form::Compute: {
    Place to = what.results[0];
    bool all = isNumber(to) && llvm::all_of(what.operands, isNumber) &&
               computeNumbers(what);
    for (uint32_t lane = 0; lane < to.count && isNumber(to) && !all; ++lane) {
      Cell operands[3];
      bool known = true;
      for (size_t i = 0; i < what.operands.size(); ++i) {
        operands[i] = cells[what.operands[i].of(lane)];
        known &= operands[i].isConcrete() && isNumber(what.operands[i]);
      }
      if (known)
        cells[to.first + lane] = terms.apply(
            what.action, ArrayRef<Cell>(operands, what.operands.size()));
    }
    noteResult(what);
    return success();
  }
  case Form::Whole:
    return success();
  case Form::Broadcast:
    if (isNumber(what.results[0]))
      assign(what.results, what.operands);
    return success();
  case Form::Peek: {
    int64_t at;
    return scratchAt(what, what.operands[1], at);
  }
  case Form::Poke: {
    int64_t at;
    return scratchAt(what, what.operands[2], at);
  }
  case Form::Exchange:
    return isNumber(what.results[0]) ? exchange(what) : success();
  case Form::Gather:
    return isNumber(what.results[0]) ? gather(what) : success();
  case Form::Read:
  case Form::Fault:
    noteOpaque();
    return success();
  case Form::Load:
    return load(what);
  case Form::Store:
    return store(what);
  case Form::For:
    return runFor(what);
  case Form::While:
    return runWhile(what);
  case Form::If:
    return runIf(what);
  case Form::Program:
  case Form::Part:
  case Form::Lane:
  case Form::Scratch:
    return success();
  }
  llvm_unreachable("a form");
}

/// Runs the rounds after `at` dry, as many as take the positions left out.
/// What a loop carries is then what it was.
LogicalResult Machine::leaveOut(const Instruction &what, const Round &like,
                                int64_t advance, int64_t step, int64_t high,
                                int64_t &at) {
  if (leftOut->length % advance) {
    leftOut->advance = advance;
    return failure();
  }
  const KernelBlock &body = what.blocks[0];
  std::vector<Place> carried(body.arguments.begin() + 1, body.arguments.end());
  std::vector<Cell> kept;
  for (const Place &place : carried)
    for (uint32_t lane = 0; lane < place.count; ++lane) {
      kept.push_back(cells[place.first + lane]);
      // A float that is a number might be counted up.
      if (isFloat(place.type) && kept.back().isConcrete())
        return failure();
    }
  isDry = true;
  Round last = like;
  LogicalResult result = success();
  for (int64_t n = leftOut->length / advance; n > 0 && succeeded(result); --n) {
    at += step;
    cells[body.arguments[0].first] = Cell::of(uint64_t(at));
    rounds.emplace_back();
    result = success(at < high && succeeded(runBlock(body)));
    Round now = rounds.back();
    rounds.pop_back();
    if (now.hash != last.hash || now.first != last.first + advance ||
        now.isOpaque || now.least < leftOut->first ||
        now.most >= leftOut->first + leftOut->length)
      result = failure();
    last = now;
    assign(carried, body.yielded);
  }
  isDry = false;
  const Cell *next = kept.data();
  for (const Place &place : carried)
    for (uint32_t lane = 0; lane < place.count; ++lane, ++next)
      if (isFloat(place.type))
        cells[place.first + lane] = *next;
  return result;
}

LogicalResult Machine::runFor(const Instruction &what) {
  int64_t low, high, step;
  if (failed(uniform(what, what.operands[0], low)) ||
      failed(uniform(what, what.operands[1], high)) ||
      failed(uniform(what, what.operands[2], step)))
    return failure();
  if (step <= 0)
    return error(what) << "step " << step;
  note(uint64_t(high - low));
  note(uint64_t(step));
  const KernelBlock &body = what.blocks[0];
  std::vector<Place> initial(what.operands.begin() + 3, what.operands.end());
  std::vector<Place> carried(body.arguments.begin() + 1, body.arguments.end());
  assign(carried, initial);
  bool watched = leftOut && !isDry;
  Round before;
  for (int64_t i = low; i < high; i += step) {
    cells[body.arguments[0].first] = Cell::of(uint64_t(i));
    if (watched)
      rounds.emplace_back();
    if (failed(runBlock(body)))
      return failure();
    assign(carried, body.yielded);
    if (!watched)
      continue;
    Round now = rounds.back();
    rounds.pop_back();
    int64_t advance = now.first - before.first;
    if (i > low && i + step < high && before.first >= 0 && advance > 0 &&
        !now.isOpaque) {
      int64_t least = now.least + advance, most = now.most + advance;
      // A loop that ends before they do lies in one that leaves them out.
      if (least >= leftOut->first && most < leftOut->first + leftOut->length &&
          (high - i - 1) / step >= leftOut->length / advance) {
        if (failed(leaveOut(what, now, advance, step, high, i)))
          return failure();
      } else if (now.most < leftOut->first && most >= leftOut->first) {
        leftOut->advance = advance; // a round that begins before them
        return failure();
      }
    }
    before = now;
  }
  assign(what.results, carried);
  return success();
}
