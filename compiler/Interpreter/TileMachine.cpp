// TileMachine.cpp - programs, roles and control flow of tile kernels
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/Interpreter/TileMachine.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace bitpact;
using namespace bitpact::interpreter;

std::optional<int64_t> TileView::elementAt(int64_t row, int64_t col,
                                           int64_t matrix) const {
  if (row < 0 || col < 0 || row >= rows || col >= cols)
    return std::nullopt;
  if (matrix < 0 || matrix >= count)
    return -1;
  return buffer->elementAt(matrix * apart + row * rowStride + col * colStride)
      .value_or(-1);
}

InFlightDiagnostic TileMachine::error(const Role &role, Operation *op) {
  InFlightDiagnostic diagnostic = op->emitError();
  diagnostic << op->getName() << " of program " << program << ", ";
  if (func.getSchedule().isSplit())
    diagnostic << "unit " << role.unit << ", ";
  if (role.consumer < 0)
    diagnostic << "producer: ";
  else
    diagnostic << "consumer " << role.consumer << ": ";
  return diagnostic;
}

int64_t TileMachine::number(Role &role, mlir::Value value) {
  unsigned unused = 64 - value.getType().getIntOrFloatBitWidth();
  return int64_t(uint64_t(get<int64_t>(role, value)) << unused) >> unused;
}

//===----------------------------------------------------------------------===//
// A launch
//===----------------------------------------------------------------------===//

LogicalResult TileMachine::bindSlots(Role &role) {
  for (auto [i, attr] : llvm::enumerate(func.getSlots())) {
    std::string name = cast<StringAttr>(attr).str();
    BlockArgument argument = func.getBody().getArgument(i);
    if (isa<kernel::BufferType>(argument.getType())) {
      if (!buffers.count(name) && name != kernel::FuncOp::kFaultSlot)
        return func.emitError()
               << "nothing was given for slot '" << name << "'";
      continue;
    }
    size_t colon = name.find(':');
    auto buffer = buffers.find(name.substr(0, colon));
    auto dim = dims.find(name);
    if (StringRef(name).ends_with(tile::kSteadySlot))
      role.values[argument] = dim == dims.end() ? 1 : dim->second;
    else if (colon != std::string::npos && buffer != buffers.end())
      role.values[argument] =
          buffer->second.strides.at(std::stoul(name.substr(colon + 1)));
    else if (dim != dims.end())
      role.values[argument] = dim->second;
    else
      return func.emitError() << "nothing was given for slot '" << name << "'";
  }
  return success();
}

bool TileMachine::isSteady(Role &role, StringRef tensor) {
  BlockArgument slot = func.slot((tensor + tile::kSteadySlot).str());
  return slot && get<int64_t>(role, slot) != 0;
}

LogicalResult TileMachine::run() {
  for (program = 0; program < programs; ++program)
    if (failed(runProgram()))
      return failure();
  return success();
}

LogicalResult TileMachine::runProgram() {
  pipes.clear();
  meetings.clear();
  std::vector<Role> units(size_t(func.getSchedule().getSplit()));
  for (auto [i, outer] : llvm::enumerate(units)) {
    outer.unit = int64_t(i);
    if (failed(bindSlots(outer)))
      return failure();
    // What stands before the roles a producer does before it waits.
    func.walk([&](tile::ReadyOp) { outer.ready = false; });
  }
  if (func.getBody().front().getOps<tile::RolesOp>().empty())
    return runAlone(units.front());
  for (Operation &op : func.getBody().front()) {
    if (auto roles = dyn_cast<tile::RolesOp>(op)) {
      if (failed(runRoles(units, roles)))
        return failure();
      continue;
    }
    for (Role &outer : units)
      if (failed(runBefore(outer, op)))
        return failure();
  }
  return finish();
}

/// An operation before the roles, which may be a loop.
LogicalResult TileMachine::runBefore(Role &role, Operation &op) {
  auto loop = dyn_cast<scf::ForOp>(op);
  if (!loop)
    return success(execute(role, op) == Outcome::Went);
  if (failed(enter(role, loop)))
    return failure();
  while (!role.frames.empty()) {
    Operation *at = &*role.frames.back().at;
    Outcome outcome = step(role);
    if (outcome == Outcome::Failed)
      return failure();
    if (outcome == Outcome::Waits)
      return error(role, at) << "waits before there are roles";
  }
  return success();
}

LogicalResult TileMachine::runAlone(Role &role) {
  role.consumer = 0;
  mlir::Block &body = func.getBody().front();
  role.frames.push_back({&body, body.begin(), {}});
  while (!role.frames.empty()) {
    Operation *at = role.frames.back().at == role.frames.back().block->end()
                        ? func.getOperation()
                        : &*role.frames.back().at;
    Outcome outcome = step(role);
    if (outcome == Outcome::Failed)
      return failure();
    if (outcome == Outcome::Waits)
      return error(role, at) << "waits, and there is no other role";
  }
  return finish();
}

/// Each role in turn, of each unit, runs as far as it can.
LogicalResult TileMachine::runRoles(ArrayRef<Role> outer, tile::RolesOp roles) {
  size_t ofUnit = size_t(func.getSchedule().getConsumers()) + 1;
  std::vector<Role> all(outer.size() * ofUnit);
  for (auto [number, role] : llvm::enumerate(all)) {
    size_t i = number % ofUnit;
    role.unit = int64_t(number / ofUnit);
    role.consumer = int64_t(i) - 1;
    role.values = outer[number / ofUnit].values;
    // Consumers wait where they begin, as does a producer that does not say where.
    role.ready = i || roles.getProducer().getOps<tile::ReadyOp>().empty();
    Region &region = i ? roles.getConsumers() : roles.getProducer();
    if (i)
      role.values[region.getArgument(0)] = role.consumer;
    role.frames.push_back({&region.front(), region.front().begin(), {}});
  }
  while (true) {
    bool went = false, done = true;
    for (Role &role : all) {
      Outcome outcome = Outcome::Went;
      while (!role.frames.empty() && (outcome = step(role)) == Outcome::Went)
        went = true;
      if (outcome == Outcome::Failed)
        return failure();
      done &= role.frames.empty();
    }
    if (done)
      return success();
    if (went)
      continue;
    for (Role &role : all)
      if (!role.frames.empty())
        return error(role, &*role.frames.back().at)
               << "waits for a role that does not go on";
  }
}

LogicalResult TileMachine::finish() {
  for (auto &pipe : pipes)
    for (auto [i, released] : llvm::enumerate(pipe->released))
      if (released != int64_t(pipe->fillings.size()) ||
          released != pipe->complete())
        return pipe->op.emitError()
               << "program " << program << " ends with "
               << pipe->fillings.size() << " stages acquired, "
               << pipe->complete() << " committed and " << released
               << " released by consumer " << i;
  return success();
}

//===----------------------------------------------------------------------===//
// Control flow and scalars
//===----------------------------------------------------------------------===//

TileMachine::Outcome TileMachine::step(Role &role) {
  Frame &frame = role.frames.back();
  if (frame.at == frame.block->end() ||
      frame.at->hasTrait<OpTrait::IsTerminator>()) {
    leave(role);
    return Outcome::Went;
  }
  Operation &op = *frame.at;
  if (auto loop = dyn_cast<scf::ForOp>(op)) {
    ++frame.at;
    return failed(enter(role, loop)) ? Outcome::Failed : Outcome::Went;
  }
  Outcome outcome = execute(role, op);
  if (outcome == Outcome::Went)
    ++frame.at;
  return outcome;
}

LogicalResult TileMachine::enter(Role &role, scf::ForOp loop) {
  Frame frame{loop.getBody(),
              loop.getBody()->begin(),
              loop,
              number(role, loop.getLowerBound()),
              number(role, loop.getUpperBound()),
              number(role, loop.getStep())};
  if (frame.step <= 0)
    return error(role, loop) << "step " << frame.step;
  for (auto [argument, result, initial] : llvm::zip(
           loop.getRegionIterArgs(), loop.getResults(), loop.getInitArgs())) {
    Value value = role.values.lookup(initial);
    role.values[argument] = value;
    role.values[result] = value;
  }
  if (frame.i >= frame.high)
    return success();
  role.values[loop.getInductionVar()] = frame.i;
  role.frames.push_back(frame);
  return success();
}

/// The end of a block: the next round of its loop, or what follows.
void TileMachine::leave(Role &role) {
  Frame &frame = role.frames.back();
  if (!frame.loop) {
    role.frames.pop_back();
    return;
  }
  std::vector<Value> carried;
  for (mlir::Value value : frame.block->getTerminator()->getOperands())
    carried.push_back(role.values.lookup(value));
  for (auto [argument, result, value] : llvm::zip(
           frame.loop.getRegionIterArgs(), frame.loop.getResults(), carried)) {
    role.values[argument] = value;
    role.values[result] = value;
  }
  frame.i += frame.step;
  if (frame.i >= frame.high) {
    role.frames.pop_back();
    return;
  }
  frame.at = frame.block->begin();
  role.values[frame.loop.getInductionVar()] = frame.i;
}

LogicalResult TileMachine::scalar(Role &role, Operation &op) {
  if (auto constant = dyn_cast<arith::ConstantOp>(op))
    if (auto attr = dyn_cast<IntegerAttr>(constant.getValue())) {
      role.values[constant] = int64_t(attr.getValue().getZExtValue());
      return success();
    }
  std::optional<uint64_t> result;
  if (isa<arith::MinUIOp, arith::MaxUIOp>(op)) {
    auto [least, most] =
        std::minmax({uint64_t(get<int64_t>(role, op.getOperand(0))),
                     uint64_t(get<int64_t>(role, op.getOperand(1)))});
    result = isa<arith::MinUIOp>(op) ? least : most;
  } else {
    std::optional<Action> action = actionOf(&op);
    if (!action || isFloat(action->type))
      return error(role, &op) << "the interpreter does not know it here";
    SmallVector<uint64_t> operands;
    for (mlir::Value operand : op.getOperands())
      operands.push_back(uint64_t(get<int64_t>(role, operand)));
    result = evaluate(*action, operands.data());
  }
  if (!result)
    return error(role, &op) << "the result is not specified";
  role.values[op.getResult(0)] = int64_t(*result);
  return success();
}

TileMachine::Outcome TileMachine::execute(Role &role, Operation &op) {
  auto outcomeOf = [](LogicalResult result) {
    return failed(result) ? Outcome::Failed : Outcome::Went;
  };
  return llvm::TypeSwitch<Operation *, Outcome>(&op)
      .Case([&](tile::AcquireOp each) { return acquire(role, each); })
      .Case([&](tile::EarlyOp each) { return outcomeOf(early(role, each)); })
      .Case([&](tile::ReadyOp) {
        role.ready = true;
        return Outcome::Went;
      })
      .Case([&](tile::WaitOp each) { return wait(role, each); })
      .Case([&](tile::FetchOp each) { return outcomeOf(fetch(role, each)); })
      // Memory has the same elements, whoever asks for them.
      .Case([](tile::PrefetchOp) { return Outcome::Went; })
      .Case([&](tile::CommitOp each) { return outcomeOf(commit(role, each)); })
      .Case(
          [&](tile::ReleaseOp each) { return outcomeOf(release(role, each)); })
      .Case([&](tile::RowsOp each) { return outcomeOf(rows(role, each)); })
      .Case([&](tile::StartOp each) { return outcomeOf(start(role, each)); })
      .Case([&](tile::PackOp each) { return outcomeOf(pack(role, each)); })
      .Case([&](tile::BeginOp each) {
        role.values[each] = SumsRef{role.chains.size(), 0};
        role.chains.push_back({{}, each.getStart() == "first", false});
        return Outcome::Went;
      })
      .Case([&](tile::ChainOp each) { return outcomeOf(chain(role, each)); })
      .Case([&](tile::DotOp each) { return outcomeOf(dot(role, each)); })
      .Case([&](tile::SettleOp each) { return outcomeOf(settle(role, each)); })
      .Case([&](tile::AwaitOp each) { return outcomeOf(await(role, each)); })
      .Case([&](tile::LoadOp each) { return outcomeOf(load(role, each)); })
      .Case([&](tile::HoldOp each) { return outcomeOf(hold(role, each)); })
      .Case([&](tile::MeetOp each) { return meetUnits(role, each); })
      .Case([&](tile::UnitOp each) {
        role.values[each] = role.unit;
        return Outcome::Went;
      })
      .Case([&](tile::PutOp each) { return outcomeOf(store(role, each)); })
      .Case([&](tile::ViewOp each) { return outcomeOf(view(role, each)); })
      .Case([&](tile::OffsetOp each) { return outcomeOf(offset(role, each)); })
      .Case([&](tile::FaultOp each) {
        faulted |= number(role, each.getMask()) != 0;
        return Outcome::Went;
      })
      .Case([&](tile::MapOp map) {
        auto made = std::make_shared<TileValues>();
        made->map = map;
        for (mlir::Value value : map.getValues())
          made->from.push_back(
              get<std::shared_ptr<const TileValues>>(role, value));
        role.values[map] = std::shared_ptr<const TileValues>(made);
        return Outcome::Went;
      })
      .Case([&](tile::PipeOp pipe) {
        std::vector<int64_t> each(size_t(func.getSchedule().getConsumers()));
        std::vector<int64_t> writers(sharesCopies ? each.size() : 1);
        pipes.push_back(std::make_unique<Pipe>(Pipe{pipe,
                                                    pipe.getType().getStages(),
                                                    {},
                                                    writers,
                                                    writers,
                                                    each,
                                                    each,
                                                    each,
                                                    {}}));
        role.values[pipe] = pipes.back().get();
        return Outcome::Went;
      })
      .Case([&](tile::ProgramOp each) {
        role.values[each] = program;
        return Outcome::Went;
      })
      .Case([&](tile::ProgramsOp each) {
        role.values[each] = programs;
        return Outcome::Went;
      })
      .Default([&](Operation *each) { return outcomeOf(scalar(role, *each)); });
}
