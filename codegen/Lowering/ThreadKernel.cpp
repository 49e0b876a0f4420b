// ThreadKernel.cpp - distributed kernels to the LLVM dialect, for every GPU
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/Lowering/ThreadKernel.h"

#include "mlir/Interfaces/LoopLikeInterface.h"

using namespace mlir;
using namespace bitpact;
using namespace bitpact::lowering;

/// NVPTX and AMDGPU number these alike.
static constexpr unsigned kGlobal = 1, kShared = 3;

ThreadKernel::ThreadKernel(kernel::FuncOp func, Machine machine)
    : func(func), builder(func), loc(func.getLoc()), machine(machine),
      schedule(func.getSchedule()) {}

Value ThreadKernel::i64(int64_t v) {
  return LLVM::ConstantOp::create(builder, loc, builder.getI64Type(),
                                  builder.getI64IntegerAttr(v));
}

Value ThreadKernel::i32(int64_t v) {
  return LLVM::ConstantOp::create(builder, loc, builder.getI32Type(),
                                  builder.getI32IntegerAttr(v));
}

void ThreadKernel::createFunction() {
  MLIRContext *context = builder.getContext();
  SmallVector<Type> types;
  llvm::SmallDenseSet<Value> written;
  func->walk([&](kernel::StoreOp store) { written.insert(store.getBuffer()); });
  func->walk([&](kernel::FaultOp fault) { written.insert(fault.getWord()); });
  for (Type type : func.getBody().getArgumentTypes())
    types.push_back(isa<kernel::BufferType>(type)
                        ? LLVM::LLVMPointerType::get(context, kGlobal)
                        : type);
  auto type =
      LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(context), types);
  target = LLVM::LLVMFuncOp::create(builder, loc, func.getSymName(), type);
  markKernel(target, schedule.getLanes() * schedule.getProgramsPerGroup());
  for (BlockArgument argument : func.getBody().getArguments()) {
    if (!isa<kernel::BufferType>(argument.getType()))
      continue;
    unsigned i = argument.getArgNumber();
    // The runtime refuses outputs that overlap any other tensor.
    target.setArgAttr(i, LLVM::LLVMDialect::getNoAliasAttrName(),
                      builder.getUnitAttr());
    if (!written.contains(argument))
      target.setArgAttr(i, LLVM::LLVMDialect::getReadonlyAttrName(),
                        builder.getUnitAttr());
  }
}

/// Programs beyond the last leave at once; they share no barrier with others.
/// Where a warp holds several programs its threads must stay together for the
/// shuffles, so those repeat the last program and write the same bytes.
void ThreadKernel::prologue(Value rows, Block *body, Block *exit) {
  auto widen = [&](Value index) -> Value {
    return LLVM::ZExtOp::create(builder, loc, builder.getI64Type(), index);
  };
  thread = threadIndex();
  Value own = widen(thread);
  Value group = widen(groupIndex());
  int64_t lanes = schedule.getLanes(),
          perGroup = schedule.getProgramsPerGroup();
  lane = LLVM::AndOp::create(builder, loc, own, i64(lanes - 1));
  program = group;
  if (perGroup == 1) {
    LLVM::BrOp::create(builder, loc, ValueRange(), body);
    return;
  }
  Value local =
      LLVM::LShrOp::create(builder, loc, own, i64(llvm::Log2_64(lanes)));
  program = LLVM::AddOp::create(
      builder, loc, LLVM::MulOp::create(builder, loc, group, i64(perGroup)),
      local);
  Value first = program;
  if (lanes < machine.subgroup) {
    Value last = LLVM::SubOp::create(builder, loc, rows, i64(1));
    program = LLVM::SMinOp::create(builder, loc, program, last);
    LLVM::BrOp::create(builder, loc, ValueRange(), body);
    return;
  }
  if (int64_t each = schedule.rowsPerProgram(); each != 1)
    first = LLVM::MulOp::create(builder, loc, program, i64(each));
  Value works =
      LLVM::ICmpOp::create(builder, loc, LLVM::ICmpPredicate::slt, first, rows);
  LLVM::CondBrOp::create(builder, loc, works, body, exit);
}

LogicalResult ThreadKernel::run() {
  createFunction();
  std::optional<unsigned> rows;
  if (!func.getRows().empty())
    rows = func.slot(func.getRows()).getArgNumber();
  for (BlockArgument argument : func.getBody().getArguments())
    if (isa<kernel::BufferType>(argument.getType()))
      argument.setType(
          LLVM::LLVMPointerType::get(builder.getContext(), kGlobal));
  // The arguments move from the body's block to the entry block.
  Region &region = target.getBody();
  region.takeBody(func.getBody());
  Block *body = &region.front();
  Block *entry = builder.createBlock(body);
  for (BlockArgument argument : body->getArguments())
    argument.replaceAllUsesWith(
        entry->addArgument(argument.getType(), argument.getLoc()));
  body->eraseArguments(0, body->getNumArguments());
  Block *exit = builder.createBlock(&region, region.end());
  LLVM::ReturnOp::create(builder, loc, ValueRange());
  builder.setInsertionPointToStart(entry);
  prologue(rows ? entry->getArgument(*rows) : i64(1), body, exit);
  SmallVector<Operation *> ops;
  body->walk([&](Operation *op) {
    if (isa<kernel::KernelDialect>(op->getDialect()))
      ops.push_back(op);
  });
  for (Operation *op : ops)
    if (failed(convert(op)))
      return failure();
  func.erase();
  return success();
}

Value ThreadKernel::pointer(Value buffer, Type element, Value offset,
                            Value laneOffsets, int64_t laneStride) {
  if (laneStride) {
    Value own = laneStride == 1
                    ? lane
                    : LLVM::MulOp::create(builder, loc, lane, i64(laneStride))
                          .getResult();
    offset = LLVM::AddOp::create(builder, loc, offset, own);
  }
  if (laneOffsets)
    offset = LLVM::AddOp::create(builder, loc, offset, laneOffsets);
  return LLVM::GEPOp::create(builder, loc, buffer.getType(), element, buffer,
                             ValueRange{offset});
}

SmallVector<Value>
ThreadKernel::guarded(Value mask, TypeRange types,
                      llvm::function_ref<SmallVector<Value>()> body) {
  if (!mask)
    return body();
  auto branch = scf::IfOp::create(builder, loc, types, mask,
                                  /*withElseRegion=*/!types.empty());
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(branch.thenBlock());
  SmallVector<Value> values = body();
  if (types.empty())
    return {};
  scf::YieldOp::create(builder, loc, values);
  builder.setInsertionPointToStart(branch.elseBlock());
  SmallVector<Value> nothing;
  for (Type type : types)
    nothing.push_back(LLVM::ZeroOp::create(builder, loc, type));
  scf::YieldOp::create(builder, loc, nothing);
  return SmallVector<Value>(branch.getResults());
}

void ThreadKernel::load(kernel::LoadOp op) {
  Type element = op.getValues().front().getType();
  Value from = pointer(op->getOperand(0), element, op.getOffset(),
                       op.getLaneOffsets(), op.getLaneStride());
  size_t count = op.getValues().size();
  auto at = [&](size_t j) -> Value {
    return j == 0 ? from
                  : LLVM::GEPOp::create(builder, loc, from.getType(), element,
                                        from, ArrayRef<LLVM::GEPArg>{int(j)});
  };
  unsigned natural = element.getIntOrFloatBitWidth() / 8;
  if (isUnaligned(element, count, op.getAlign(), op.getLaneOffsets(),
                  op.getLaneStride()))
    return loadUnaligned(op, from);
  if (count > 1 && op.getMasks().size() <= 1) {
    Type wide = VectorType::get({int64_t(count)}, element);
    Value mask = op.getMasks().empty() ? Value() : op.getMasks()[0];
    Value vector = guarded(mask, TypeRange(wide), [&] {
      return SmallVector<Value>{
          LLVM::LoadOp::create(builder, loc, wide, from, op.getAlign())};
    })[0];
    for (size_t j = 0; j < count; ++j)
      op.getValues()[j].replaceAllUsesWith(
          LLVM::ExtractElementOp::create(builder, loc, vector, i32(j)));
    return;
  }
  for (size_t j = 0; j < count; ++j) {
    Value mask = op.getMasks().empty() ? Value() : op.getMasks()[j];
    Value value = guarded(mask, TypeRange(element), [&] {
      return SmallVector<Value>{
          LLVM::LoadOp::create(builder, loc, element, at(j), natural)};
    })[0];
    op.getValues()[j].replaceAllUsesWith(value);
  }
}

void ThreadKernel::store(kernel::StoreOp op) {
  Type element = op.getValues().front().getType();
  Value to = pointer(op->getOperand(op.getValues().size()), element,
                     op.getOffset(), op.getLaneOffsets(), op.getLaneStride());
  size_t count = op.getValues().size();
  unsigned natural = element.getIntOrFloatBitWidth() / 8;
  if (isUnaligned(element, count, op.getAlign(), op.getLaneOffsets(),
                  op.getLaneStride()))
    return storeUnaligned(op, to);
  if (count > 1 && op.getMasks().size() <= 1) {
    Type wide = VectorType::get({int64_t(count)}, element);
    Value vector = LLVM::UndefOp::create(builder, loc, wide);
    for (size_t j = 0; j < count; ++j)
      vector = LLVM::InsertElementOp::create(builder, loc, vector,
                                             op.getValues()[j], i32(j));
    Value mask = op.getMasks().empty() ? Value() : op.getMasks()[0];
    guarded(mask, {}, [&] {
      LLVM::StoreOp::create(builder, loc, vector, to, op.getAlign());
      return SmallVector<Value>();
    });
    return;
  }
  for (size_t j = 0; j < count; ++j) {
    Value mask = op.getMasks().empty() ? Value() : op.getMasks()[j];
    guarded(mask, {}, [&] {
      Value where = to;
      if (j)
        where = LLVM::GEPOp::create(builder, loc, to.getType(), element, to,
                                    ArrayRef<LLVM::GEPArg>{int(j)});
      LLVM::StoreOp::create(builder, loc, op.getValues()[j], where, natural);
      return SmallVector<Value>();
    });
  }
}

/// Lanes that meet a fault write the same word.
void ThreadKernel::fault(kernel::FaultOp op) {
  Value word = op->getOperand(0);
  Value null = LLVM::ZeroOp::create(builder, loc, word.getType());
  Value given = LLVM::ICmpOp::create(builder, loc, LLVM::ICmpPredicate::ne,
                                     word, null);
  Value writes = LLVM::AndOp::create(builder, loc, op.getMask(), given);
  guarded(writes, {}, [&] {
    LLVM::StoreOp::create(builder, loc, i32(1), word, /*alignment=*/4);
    return SmallVector<Value>();
  });
}

Value ThreadKernel::cell(Value scratch, Type type, Value index) {
  return LLVM::GEPOp::create(builder, loc, scratch.getType(), type, scratch,
                             ValueRange{index});
}

/// 64-bit values cross in two halves.
Value ThreadKernel::exchange(Value value, int64_t distance) {
  Type type = value.getType();
  unsigned width = type.getIntOrFloatBitWidth();
  if (type.isF32() || type.isInteger(32))
    return shuffle(value, distance);
  if (width == 64) {
    Type halves = VectorType::get({2}, builder.getI32Type());
    Value pair = LLVM::BitcastOp::create(builder, loc, halves, value);
    Value swapped = LLVM::UndefOp::create(builder, loc, halves);
    for (int i = 0; i < 2; ++i) {
      Value half = LLVM::ExtractElementOp::create(builder, loc, pair, i32(i));
      swapped = LLVM::InsertElementOp::create(builder, loc, swapped,
                                              shuffle(half, distance), i32(i));
    }
    return LLVM::BitcastOp::create(builder, loc, type, swapped);
  }
  return {};
}

Value ThreadKernel::sharedCells(Type type) {
  auto array = LLVM::LLVMArrayType::get(type, schedule.getLanes());
  std::string name = (target.getSymName() + "_gather" + Twine(gathers++)).str();
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPoint(target);
    LLVM::GlobalOp::create(builder, loc, array, /*isConstant=*/false,
                           LLVM::Linkage::Internal, name, Attribute(),
                           /*alignment=*/16, kShared);
  }
  auto shared = LLVM::LLVMPointerType::get(builder.getContext(), kShared);
  return LLVM::AddressOfOp::create(builder, loc, shared, name);
}

/// Between subgroups, in turn through one of two sets of cells: a lane that
/// writes those of the exchange before last has met all others since they read.
/// Turns of a loop may begin with the cells they end with, so they meet twice.
Value ThreadKernel::exchangeFar(kernel::ExchangeOp op) {
  Type type = op.getValue().getType();
  std::string &cells =
      farCells[{type.getAsOpaquePointer(), farExchanges++ % 2}];
  Value base;
  if (cells.empty()) {
    base = sharedCells(type);
    cells = base.getDefiningOp<LLVM::AddressOfOp>().getGlobalName().str();
  } else {
    auto shared = LLVM::LLVMPointerType::get(builder.getContext(), kShared);
    base = LLVM::AddressOfOp::create(builder, loc, shared, cells);
  }
  auto at = [&](Value lane) {
    return LLVM::GEPOp::create(builder, loc, base.getType(), type, base,
                               ValueRange{lane});
  };
  LLVM::StoreOp::create(builder, loc, op.getValue(), at(lane));
  barrier();
  Value partner =
      LLVM::XOrOp::create(builder, loc, lane, i64(op.getDistance()));
  Value result = LLVM::LoadOp::create(builder, loc, type, at(partner));
  if (op->getParentOfType<LoopLikeOpInterface>())
    barrier();
  return result;
}

/// Through shared memory. In a loop the cells are written again, which a second
/// barrier holds back until all have read.
void ThreadKernel::gather(kernel::GatherOp op) {
  Type type = op.getValue().getType();
  Value base = sharedCells(type);
  Type shared = base.getType();
  Value own =
      LLVM::GEPOp::create(builder, loc, shared, type, base, ValueRange{lane});
  LLVM::StoreOp::create(builder, loc, op.getValue(), own);
  barrier();
  int64_t subgroup = op.getSubgroup();
  Value mine = LLVM::AndOp::create(builder, loc, lane, i64(subgroup - 1));
  Value first =
      LLVM::GEPOp::create(builder, loc, shared, type, base, ValueRange{mine});
  for (auto [j, result] : llvm::enumerate(op.getValues())) {
    Value from = LLVM::GEPOp::create(builder, loc, shared, type, first,
                                     ArrayRef<LLVM::GEPArg>{int(j * subgroup)});
    result.replaceAllUsesWith(LLVM::LoadOp::create(builder, loc, type, from));
  }
  if (op->getParentOfType<LoopLikeOpInterface>())
    barrier();
}

LogicalResult ThreadKernel::convert(Operation *op) {
  builder.setInsertionPoint(op);
  loc = op->getLoc();
  Value result;
  if (auto load = dyn_cast<kernel::LoadOp>(op)) {
    this->load(load);
  } else if (auto read = dyn_cast<kernel::ReadOp>(op)) {
    result = LLVM::LoadOp::create(
        builder, loc, read.getType(),
        pointer(read->getOperand(0), read.getType(), read.getOffset(), {}, 0),
        read.getType().getIntOrFloatBitWidth() / 8);
  } else if (isa<kernel::PartOp>(op)) {
    result =
        LLVM::ZExtOp::create(builder, loc, builder.getI64Type(), partIndex());
  } else if (auto store = dyn_cast<kernel::StoreOp>(op)) {
    this->store(store);
  } else if (auto fault = dyn_cast<kernel::FaultOp>(op)) {
    this->fault(fault);
  } else if (auto gather = dyn_cast<kernel::GatherOp>(op)) {
    this->gather(gather);
  } else if (isa<kernel::ProgramOp>(op)) {
    result = program;
  } else if (isa<kernel::LaneOp>(op)) {
    result = lane;
  } else if (auto fma = dyn_cast<kernel::FmaOp>(op)) {
    result =
        LLVM::FMAOp::create(builder, loc, fma.getA(), fma.getB(), fma.getC());
  } else if (auto sqrt = dyn_cast<kernel::SqrtOp>(op)) {
    result = LLVM::SqrtOp::create(builder, loc, sqrt.getA());
  } else if (auto exchange = dyn_cast<kernel::ExchangeOp>(op)) {
    result = exchange.getFar()
                 ? exchangeFar(exchange)
                 : this->exchange(exchange.getValue(), exchange.getDistance());
  } else if (auto scratch = dyn_cast<kernel::ScratchOp>(op)) {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPoint(target.getBody().front().getTerminator());
    kernel::ScratchType type = scratch.getType();
    result = LLVM::AllocaOp::create(
        builder, loc,
        LLVM::LLVMPointerType::get(builder.getContext(), machine.privateSpace),
        type.getCellType(), i64(type.getSize()));
  } else if (auto peek = dyn_cast<kernel::PeekOp>(op)) {
    result = LLVM::LoadOp::create(
        builder, loc, peek.getType(),
        cell(peek->getOperand(0), peek.getType(), peek.getIndex()));
  } else if (auto poke = dyn_cast<kernel::PokeOp>(op)) {
    LLVM::StoreOp::create(
        builder, loc, poke.getValue(),
        cell(poke->getOperand(1), poke.getValue().getType(), poke.getIndex()));
  } else if (isa<kernel::ReturnOp>(op)) {
    LLVM::ReturnOp::create(builder, loc, ValueRange());
  }
  if (op->getNumResults() == 1 && result)
    op->getResult(0).replaceAllUsesWith(result);
  if (!op->use_empty())
    return op->emitOpError("has no form on ") << machine.name;
  op->erase();
  return success();
}
