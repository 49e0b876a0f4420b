// Code.cpp - a kernel with its values numbered, as the machine runs it
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/Interpreter/Code.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace bitpact;
using namespace bitpact::interpreter;

namespace {

uint64_t bitsOf(Attribute attr) {
  if (auto number = dyn_cast<FloatAttr>(attr))
    return number.getValue().bitcastToAPInt().getZExtValue();
  return cast<IntegerAttr>(attr).getValue().getZExtValue();
}

class Encoder {
public:
  Encoder(kernel::FuncOp func, const WholePrimitives &whole)
      : func(func), whole(whole) {
    code.lanes = func.getSchedule().getLanes();
    code.subgroup = std::min(code.lanes, func.getSchedule().getSubgroup());
  }

  FailureOr<Code> run() {
    if (failed(block(func.getBody().front(), code.body)))
      return failure();
    return std::move(code);
  }

private:
  /// Gives the value cells; buffers and scratch have none.
  FailureOr<Place> define(Value value) {
    if (auto type = dyn_cast<kernel::ScratchType>(value.getType())) {
      scratches[value] = unsigned(code.scratchSizes.size());
      code.scratchSizes.push_back(type.getSize());
      code.scratchWidths.push_back(lanesOf(type.getCellType()));
      return Place();
    }
    if (auto buffer = dyn_cast<kernel::BufferType>(value.getType())) {
      buffers[value] = cast<BlockArgument>(value).getArgNumber();
      return Place();
    }
    std::optional<Scalar> scalar = scalarOf(value.getType());
    uint32_t count = lanesOf(value.getType());
    if (!scalar || (count != 1 && count != code.lanes))
      return emitError(value.getLoc())
             << "the interpreter has no values of type " << value.getType()
             << " with " << code.lanes << " lanes";
    Place place{code.cells, count, *scalar};
    code.cells += count;
    return places[value] = place;
  }

  static uint32_t lanesOf(Type type) {
    auto vector = dyn_cast<VectorType>(type);
    return vector ? uint32_t(vector.getNumElements()) : 1;
  }

  std::vector<Place> placesOf(ValueRange values) {
    std::vector<Place> result;
    for (Value value : values)
      result.push_back(places.lookup(value));
    return result;
  }

  LogicalResult block(mlir::Block &from, bitpact::interpreter::Block &to) {
    for (BlockArgument argument : from.getArguments()) {
      FailureOr<Place> place = define(argument);
      if (failed(place))
        return failure();
      to.arguments.push_back(*place);
    }
    // Matches end with the operation whose value remains.
    std::vector<WholePrimitives::Match> open;
    size_t before = 0;
    for (Operation &op : from.without_terminator()) {
      if (open.empty() && actionOf(&op)) {
        if (auto match = whole.match(op)) {
          open.push_back(std::move(*match));
          before = to.instructions.size();
        }
      }
      if (failed(instruction(op, to)))
        return failure();
      if (!open.empty() && &op == open[0].operations.back()) {
        fold(open[0], before, to);
        open.clear();
      }
    }
    if (!from.empty())
      to.yielded = placesOf(from.getTerminator()->getOperands());
    return success();
  }

  LogicalResult instruction(Operation &op, bitpact::interpreter::Block &to) {
    std::vector<Place> results;
    for (Value result : op.getResults()) {
      FailureOr<Place> place = define(result);
      if (failed(place))
        return failure();
      results.push_back(*place);
    }
    if (isa<kernel::PrefetchOp>(op))
      return success();
    if (auto constant = dyn_cast<arith::ConstantOp>(op))
      return this->constant(constant, results[0]);
    Instruction made{Form::Compute,      &op, {}, placesOf(op.getOperands()),
                     std::move(results), 0,   {}};
    std::optional<Action> action = actionOf(&op);
    std::optional<Form> form =
        action ? Form::Compute
               : llvm::TypeSwitch<Operation *, std::optional<Form>>(&op)
                     .Case([](vector::BroadcastOp) { return Form::Broadcast; })
                     .Case([](kernel::ProgramOp) { return Form::Program; })
                     .Case([](kernel::PartOp) { return Form::Part; })
                     .Case([](kernel::LaneOp) { return Form::Lane; })
                     .Case([&](kernel::LoadOp load) {
                       made.memory = buffers.lookup(load.getBuffer());
                       return Form::Load;
                     })
                     .Case([&](kernel::ReadOp read) {
                       made.memory = buffers.lookup(read.getBuffer());
                       return Form::Read;
                     })
                     .Case([&](kernel::StoreOp store) {
                       made.memory = buffers.lookup(store.getBuffer());
                       return Form::Store;
                     })
                     .Case([](kernel::FaultOp) { return Form::Fault; })
                     .Case([&](kernel::ScratchOp scratch) {
                       made.memory = scratches.lookup(scratch.getResult());
                       return Form::Scratch;
                     })
                     .Case([&](kernel::PeekOp peek) {
                       made.memory = scratches.lookup(peek.getScratch());
                       return Form::Peek;
                     })
                     .Case([&](kernel::PokeOp poke) {
                       made.memory = scratches.lookup(poke.getScratch());
                       return Form::Poke;
                     })
                     .Case([](kernel::ExchangeOp) { return Form::Exchange; })
                     .Case([](kernel::GatherOp) { return Form::Gather; })
                     .Case([](scf::ForOp) { return Form::For; })
                     .Case([](scf::WhileOp) { return Form::While; })
                     .Case([](scf::IfOp) { return Form::If; })
                     .Default([](Operation *) { return std::nullopt; });
    if (!form)
      return op.emitError() << "the interpreter does not know " << op.getName();
    made.form = *form;
    if (action)
      made.action = *action;
    for (Region &region : op.getRegions()) {
      made.blocks.emplace_back();
      if (!region.empty() && failed(block(region.front(), made.blocks.back())))
        return failure();
    }
    to.instructions.push_back(std::move(made));
    return success();
  }

  /// The instructions from `from` on become the block of one.
  void fold(const WholePrimitives::Match &match, size_t from,
            bitpact::interpreter::Block &to) {
    auto begin = to.instructions.begin() + int64_t(from);
    Instruction made{Form::Whole,
                     match.operations.back(),
                     to.instructions.back().action,
                     placesOf(match.arguments),
                     to.instructions.back().results,
                     unsigned(match.primitive),
                     {}};
    made.blocks.emplace_back();
    made.blocks[0].instructions.assign(
        std::make_move_iterator(begin),
        std::make_move_iterator(to.instructions.end()));
    to.instructions.erase(begin, to.instructions.end());
    to.instructions.push_back(std::move(made));
  }

  LogicalResult constant(arith::ConstantOp op, Place place) {
    bitpact::interpreter::Constant made{place, {}};
    if (auto dense = dyn_cast<DenseElementsAttr>(op.getValue())) {
      if (dense.isSplat())
        made.bits.push_back(bitsOf(dense.getSplatValue<Attribute>()));
      else
        for (Attribute each : dense.getValues<Attribute>())
          made.bits.push_back(bitsOf(each));
    } else {
      made.bits.push_back(bitsOf(op.getValue()));
    }
    code.constants.push_back(std::move(made));
    return success();
  }

  kernel::FuncOp func;
  const WholePrimitives &whole;
  Code code;
  llvm::DenseMap<Value, Place> places;
  llvm::DenseMap<Value, unsigned> buffers, scratches;
};

} // namespace

FailureOr<Code> interpreter::encode(kernel::FuncOp func,
                                    const WholePrimitives &whole) {
  return Encoder(func, whole).run();
}
