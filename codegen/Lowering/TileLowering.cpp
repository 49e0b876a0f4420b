// TileLowering.cpp - a contract and a tile schedule become a kernel
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/Lowering/TileLowering.h"

#include "codegen/Lowering/RowContext.h"
#include "codegen/Lowering/TileEpilogue.h"

#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace bitpact;
using namespace bitpact::lowering;

namespace {

class TileKernel {
public:
  TileKernel(pact::ContractOp contract, pact::OperatorOp op, TileFamily family,
             tile::FuncOp func)
      : contract(contract), op(op), family(std::move(family)), func(func),
        schedule(func.getSchedule()), builder(func.getContext()),
        loc(func.getLoc()) {
    builder.setInsertionPointToStart(&func.getBody().front());
  }

  void emit();

private:
  using Body = llvm::function_ref<void(Value row, Value col)>;

  Type typeOf(StringRef tensor) {
    return cast<TypeAttr>(contract.getTypes().get(tensor)).getValue();
  }
  Value i32(int64_t value) {
    return arith::ConstantIntOp::create(builder, loc, value, 32);
  }
  Value narrow(Value wide) {
    return arith::TruncIOp::create(builder, loc, builder.getI32Type(), wide);
  }
  /// Blocks of that length in a dim, as i32.
  Value blocksOf(StringRef dim, int64_t length) {
    Value beyond = arith::AddIOp::create(builder, loc, narrow(func.slot(dim)),
                                         i32(length - 1));
    return arith::DivUIOp::create(builder, loc, beyond, i32(length));
  }
  Value view(StringRef tensor, StringRef rowDim, StringRef colDim);
  Value viewOf(pact::InputOp input);
  void forEachBlock(Body body);
  /// A loop over stages from `first`.
  scf::ForOp forEachStage(Value first, ValueRange carried);
  void blockAt(Value index, Body body);
  void produce();
  void consume(Value number);
  /// For schedules whose consumers copy.
  void copyAndConsume(Value number);
  void fetchStage(Value row, Value col, Value stage);
  tile::WaitOp waitForStage(int64_t ahead = 0);
  tile::PendingType sumsType();
  tile::ValuesType valuesOf(Type element);
  Value columnsOf(Value stage);
  Value dot(Value number, tile::WaitOp stage, Value sums, Value columns);
  Value ownRow(Value number, Value row);
  SmallVector<Value> loadOthers(Value row, Value col);
  Value epilogue(Value sums, ValueRange others);
  void computeAlone();
  Value take(Value blockA, Value blockB, Value sums);
  Value applyStep(pact::PrimitiveOp step, ValueRange arguments);

  pact::ContractOp contract;
  pact::OperatorOp op;
  TileFamily family;
  tile::FuncOp func;
  tile::ScheduleAttr schedule;
  OpBuilder builder;
  Location loc;
  Value a, b, result, pipe;
  SmallVector<Value> others; // views
  Value rowBlocks, colBlocks, depthBlocks;
  tile::BlockType blockA, blockB;
};

Value TileKernel::view(StringRef tensor, StringRef rowDim, StringRef colDim) {
  return tile::ViewOp::create(
      builder, loc, tile::ViewType::get(builder.getContext(), typeOf(tensor)),
      func.slot(tensor), func.slot(rowDim), func.slot(colDim),
      func.slot((tensor + ":0").str()), StringAttr());
}

/// A vector is one for all rows or all columns.
Value TileKernel::viewOf(pact::InputOp input) {
  auto dims = input.getResult().getType().getDims();
  if (dims.size() == 2)
    return view(input.getTensor(), family.rowDim, family.colDim);
  StringRef tensor = input.getTensor();
  return tile::ViewOp::create(
      builder, loc, tile::ViewType::get(builder.getContext(), typeOf(tensor)),
      func.slot(tensor), func.slot(family.rowDim), func.slot(family.colDim),
      Value(),
      builder.getStringAttr(dims.front() == family.rowDim ? "rows" : "cols"));
}

void TileKernel::forEachBlock(Body body) {
  Value first = tile::ProgramOp::create(builder, loc, builder.getI32Type());
  Value step = tile::ProgramsOp::create(builder, loc, builder.getI32Type());
  Value all = arith::MulIOp::create(builder, loc, rowBlocks, colBlocks);
  auto loop = scf::ForOp::create(builder, loc, first, all, step);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  blockAt(loop.getInductionVar(), body);
}

/// Blocks in the order in which programs take them: groups of neighbouring rows
/// of blocks, and within a group column by column. Programs that run at one
/// time then share rows of both operands.
void TileKernel::blockAt(Value index, Body body) {
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
  body(mul(row, i32(schedule.getM())), mul(col, i32(schedule.getN())));
}

scf::ForOp TileKernel::forEachStage(Value first, ValueRange carried) {
  return scf::ForOp::create(builder, loc, first, depthBlocks, i32(1), carried);
}

void TileKernel::produce() {
  forEachBlock([&](Value row, Value col) {
    scf::ForOp stages = forEachStage(i32(0), {});
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(stages.getBody());
    fetchStage(row, col, stages.getInductionVar());
    tile::CommitOp::create(builder, loc, pipe);
  });
}

/// Begins to copy what is in the next stage.
void TileKernel::fetchStage(Value row, Value col, Value stage) {
  Value depth =
      arith::MulIOp::create(builder, loc, stage, i32(schedule.getK()));
  auto blocks =
      tile::AcquireOp::create(builder, loc, TypeRange{blockA, blockB}, pipe);
  UnitAttr negative =
      family.absent == Absent::Negative ? builder.getUnitAttr() : UnitAttr();
  tile::FetchOp::create(builder, loc, a, row, depth, blocks.getResult(0),
                        negative);
  tile::FetchOp::create(builder, loc, b, col, depth, blocks.getResult(1),
                        UnitAttr());
}

tile::WaitOp TileKernel::waitForStage(int64_t ahead) {
  return tile::WaitOp::create(builder, loc, TypeRange{blockA, blockB}, pipe,
                              ahead ? builder.getI64IntegerAttr(ahead)
                                    : IntegerAttr());
}

tile::PendingType TileKernel::sumsType() {
  return tile::PendingType::get(builder.getContext(),
                                schedule.rowsPerConsumer(), blockB.getRows(),
                                builder.getF32Type());
}

tile::ValuesType TileKernel::valuesOf(Type element) {
  tile::PendingType sums = sumsType();
  return tile::ValuesType::get(builder.getContext(), sums.getRows(),
                               sums.getCols(), element);
}

/// Columns of a stage that are there, if products must know.
Value TileKernel::columnsOf(Value stage) {
  if (family.absent != Absent::LeftOut)
    return {};
  Value before =
      arith::MulIOp::create(builder, loc, stage, i32(schedule.getK()));
  Value left = arith::SubIOp::create(
      builder, loc, narrow(func.slot(family.depthDim)), before);
  return arith::MinUIOp::create(builder, loc, left, i32(schedule.getK()));
}

Value TileKernel::dot(Value number, tile::WaitOp stage, Value sums,
                      Value columns) {
  auto own =
      tile::BlockType::get(builder.getContext(), schedule.rowsPerConsumer(),
                           schedule.getK(), blockA.getElementType());
  Value rows =
      tile::RowsOp::create(builder, loc, own, stage.getResult(0), number);
  return tile::DotOp::create(builder, loc, sumsType(), rows, stage.getResult(1),
                             sums, columns, stepOf(contract, family.dot));
}

/// A stage is free once the products after it have begun: those then keep the
/// unit busy while the producer refills.
void TileKernel::consume(Value number) {
  forEachBlock([&](Value row, Value col) {
    // The first stage begins the sums.
    Value first = dot(number, waitForStage(), Value(), columnsOf(i32(0)));
    scf::ForOp stages = forEachStage(i32(1), first);
    {
      OpBuilder::InsertionGuard guard(builder);
      builder.setInsertionPointToStart(stages.getBody());
      Value next = dot(number, waitForStage(), stages.getRegionIterArg(0),
                       columnsOf(stages.getInductionVar()));
      Value settled = tile::SettleOp::create(builder, loc, next.getType(), next,
                                             /*behind=*/1);
      tile::ReleaseOp::create(builder, loc, pipe);
      scf::YieldOp::create(builder, loc, settled);
    }
    Value above = ownRow(number, row);
    // Before the sums are complete, so that both are awaited at one time.
    SmallVector<Value> loaded = loadOthers(above, col);
    Value sums = tile::AwaitOp::create(
        builder, loc, valuesOf(builder.getF32Type()), stages.getResult(0));
    tile::ReleaseOp::create(builder, loc, pipe);
    tile::PutOp::create(builder, loc, epilogue(sums, loaded), result, above,
                        col);
  });
}

/// All stages of the pipe but one are on their way before the first is
/// multiplied. Then each stage that has been multiplied makes place for the
/// next, until there is none.
void TileKernel::copyAndConsume(Value number) {
  int64_t most = schedule.getStages() - 1;
  forEachBlock([&](Value row, Value col) {
    auto loop = [&](Value first, Value end, ValueRange carried,
                    llvm::function_ref<Value(Value, Value)> body) -> Value {
      auto stages =
          scf::ForOp::create(builder, loc, first, end, i32(1), carried);
      OpBuilder::InsertionGuard guard(builder);
      builder.setInsertionPointToStart(stages.getBody());
      Value sums = body(stages.getInductionVar(),
                        carried.empty() ? Value() : stages.getRegionIterArg(0));
      if (carried.empty())
        return {};
      scf::YieldOp::create(builder, loc, sums);
      return stages.getResult(0);
    };
    auto multiply = [&](tile::WaitOp stage, Value sums, Value columns) {
      Value next = dot(number, stage, sums, columns);
      return tile::SettleOp::create(builder, loc, next.getType(), next,
                                    /*behind=*/0)
          .getResult();
    };
    Value early = arith::MinUIOp::create(builder, loc, depthBlocks, i32(most));
    loop(i32(0), early, {}, [&](Value stage, Value) {
      fetchStage(row, col, stage);
      tile::CommitOp::create(builder, loc, pipe);
      return Value();
    });
    Value sums = tile::StartOp::create(builder, loc, sumsType());
    // What lies in registers on its way is committed once the products, which
    // take as long as it does, have begun.
    bool late = schedule.getCopy() == "registers";
    sums = loop(early, depthBlocks, sums, [&](Value stage, Value sums) {
      tile::WaitOp ready = waitForStage(/*ahead=*/most - 1);
      fetchStage(row, col, stage);
      if (!late)
        tile::CommitOp::create(builder, loc, pipe);
      sums = multiply(ready, sums, Value());
      if (late)
        tile::CommitOp::create(builder, loc, pipe);
      tile::ReleaseOp::create(builder, loc, pipe);
      return sums;
    });
    Value last = arith::SubIOp::create(builder, loc, depthBlocks, early);
    sums = loop(last, depthBlocks, sums, [&](Value stage, Value sums) {
      sums = multiply(waitForStage(), sums, columnsOf(stage));
      tile::ReleaseOp::create(builder, loc, pipe);
      return sums;
    });
    SmallVector<Value> loaded = loadOthers(ownRow(number, row), col);
    Value complete = tile::AwaitOp::create(
        builder, loc, valuesOf(builder.getF32Type()), sums);
    tile::PutOp::create(builder, loc, epilogue(complete, loaded), result,
                        ownRow(number, row), col);
  });
}

/// The first row that a consumer has of a block.
Value TileKernel::ownRow(Value number, Value row) {
  Value above = arith::MulIOp::create(builder, loc, number,
                                      i32(schedule.rowsPerConsumer()));
  return arith::AddIOp::create(builder, loc, row, above);
}

SmallVector<Value> TileKernel::loadOthers(Value row, Value col) {
  SmallVector<Value> loaded;
  for (Value each : others)
    loaded.push_back(tile::LoadOp::create(
        builder, loc,
        valuesOf(cast<tile::ViewType>(each.getType()).getElementType()), each,
        row, col));
  return loaded;
}

/// A primitive's operations, on one element.
Value TileKernel::applyStep(pact::PrimitiveOp step, ValueRange arguments) {
  IRMapping map;
  Block &body = step.getBody().front();
  map.map(body.getArguments(), arguments);
  for (Operation &each : body.without_terminator()) {
    SmallVector<Value> operands;
    for (Value operand : each.getOperands())
      operands.push_back(map.lookup(operand));
    Type type = each.getResult(0).getType();
    Value result;
    if (isa<pact::FmaOp>(each))
      result = kernel::FmaOp::create(builder, loc, type, operands[0],
                                     operands[1], operands[2]);
    else if (isa<pact::SqrtOp>(each))
      result = kernel::SqrtOp::create(builder, loc, type, operands[0]);
    else if (isa<arith::TruncFOp>(each))
      result = kernel::NarrowOp::create(builder, loc, type, operands[0]);
    else
      result = builder
                   .create(OperationState(loc, each.getName(), operands, {type},
                                          each.getAttrs()))
                   ->getResult(0);
    map.map(each.getResult(0), result);
  }
  return map.lookup(cast<pact::YieldOp>(body.getTerminator()).getValue());
}

/// The sums after another stage, of an atom or of a primitive.
Value TileKernel::take(Value rows, Value cols, Value sums) {
  if (pact::AtomOp atom = atomOf(contract, family.dot))
    return tile::DotOp::create(builder, loc, sums.getType(), rows, cols, sums,
                               Value(), atom.getSymName());
  pact::PrimitiveOp step = primitiveOf(contract, family.dot);
  auto chain = tile::ChainOp::create(builder, loc, sums.getType(), rows, cols,
                                     sums);
  OpBuilder::InsertionGuard guard(builder);
  Block *body = builder.createBlock(
      &chain.getBody(), {},
      {blockA.getElementType(), blockB.getElementType(),
       cast<tile::PendingType>(sums.getType()).getElementType()},
      {loc, loc, loc});
  tile::YieldOp::create(builder, loc, applyStep(step, body->getArguments()));
  return chain;
}

/// Without roles: there are as many programs as blocks, and each packs what it
/// multiplies. What lies beyond the reduced dim is not there.
void TileKernel::computeAlone() {
  auto attr = cast<pact::NodeAttr>(
      contract.getNodes().get(family.dot.getNode()));
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
  auto type = tile::PendingType::get(builder.getContext(), blockA.getRows(),
                                     blockB.getRows(), attr.getAccumulator());
  Value program = tile::ProgramOp::create(builder, loc, builder.getI32Type());
  blockAt(program, [&](Value row, Value col) {
    Value none = tile::BeginOp::create(
        builder, loc, type,
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
    auto valuesOf = [&](Type element) {
      return tile::ValuesType::get(builder.getContext(), type.getRows(),
                                   type.getCols(), element);
    };
    SmallVector<Value> loaded;
    for (Value each : others)
      loaded.push_back(tile::LoadOp::create(
          builder, loc,
          valuesOf(cast<tile::ViewType>(each.getType()).getElementType()), each,
          row, col));
    Value sums = tile::AwaitOp::create(
        builder, loc, valuesOf(type.getElementType()), stages.getResult(0));
    tile::PutOp::create(builder, loc, epilogue(sums, loaded), result, row, col);
  });
}

/// What the operator does with each sum, and the rounding of its output.
Value TileKernel::epilogue(Value sums, ValueRange others) {
  SmallVector<Value> values = {sums};
  values.append(others.begin(), others.end());
  SmallVector<Type> elements;
  for (Value each : values)
    elements.push_back(cast<tile::ValuesType>(each.getType()).getElementType());
  auto from = cast<tile::ValuesType>(sums.getType());
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

void TileKernel::emit() {
  MLIRContext *context = builder.getContext();
  blockA = tile::BlockType::get(context, schedule.getM(), schedule.getK(),
                                typeOf(family.a));
  blockB = tile::BlockType::get(context, schedule.getN(), schedule.getK(),
                                typeOf(family.b));
  a = view(family.a, family.rowDim, family.depthDim);
  b = view(family.b, family.colDim, family.depthDim);
  for (pact::InputOp input : family.others)
    others.push_back(viewOf(input));
  result = view(family.output.getTensor(), family.rowDim, family.colDim);
  rowBlocks = blocksOf(family.rowDim, schedule.getM());
  colBlocks = blocksOf(family.colDim, schedule.getN());
  depthBlocks = blocksOf(family.depthDim, schedule.getK());
  if (schedule.packsOwn())
    return computeAlone();
  pipe = tile::PipeOp::create(
      builder, loc,
      tile::PipeType::get(context, schedule.getStages(), {blockA, blockB}));
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

} // namespace

tile::FuncOp lowering::lowerTiles(pact::ContractOp contract,
                                  pact::OperatorOp op,
                                  tile::ScheduleAttr schedule, StringRef symbol,
                                  ModuleOp into) {
  TileFamily family = llvm::cantFail(tileFamily(op));
  family.absent = absentOf(stepOf(contract, family.dot));
  OpBuilder builder(into.getBodyRegion());
  builder.setInsertionPointToEnd(into.getBody());
  // The calling convention: tensors with the strides of their rows, then dims.
  SmallVector<Type> types;
  SmallVector<std::string> names;
  std::map<std::string, pact::RealType> tensors = tensorTypes(op);
  auto addTensor = [&](StringRef tensor) {
    Type element = cast<TypeAttr>(contract.getTypes().get(tensor)).getValue();
    types.push_back(kernel::BufferType::get(builder.getContext(), element));
    names.push_back(tensor.str());
    size_t rank = tensors.at(tensor.str()).getDims().size();
    for (size_t axis = 0; axis + 1 < rank; ++axis) {
      types.push_back(builder.getI64Type());
      names.push_back((tensor + ":" + Twine(axis)).str());
    }
  };
  for (Operation &each : op.getBody().front()) {
    if (auto input = dyn_cast<pact::InputOp>(each))
      addTensor(input.getTensor());
    else if (auto output = dyn_cast<pact::OutputOp>(each))
      addTensor(output.getTensor());
  }
  for (Attribute dim : op.getDims()) {
    types.push_back(builder.getI64Type());
    names.push_back(cast<StringAttr>(dim).str());
  }
  SmallVector<StringRef> slots(names.begin(), names.end());
  auto func = tile::FuncOp::create(builder, contract.getLoc(), symbol,
                                   builder.getStrArrayAttr(slots), schedule,
                                   contract.getDigestAttr());
  func.getBody().emplaceBlock().addArguments(
      types, SmallVector<Location>(types.size(), func.getLoc()));
  TileKernel(contract, op, family, func).emit();
  return func;
}
