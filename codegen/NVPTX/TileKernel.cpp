// TileKernel.cpp - functions, roles and pipes of tile kernels on sm_90a
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/NVPTX/TileKernel.h"

#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace bitpact;
using namespace bitpact::codegen;

static constexpr unsigned kGlobal = 1, kShared = 3, kCluster = 7;
/// A bound on how long the hardware sleeps before it asks a barrier again.
static constexpr int64_t kPatience = 10000000;

TileKernel::TileKernel(tile::FuncOp func, TileLayout layout)
    : func(func), layout(std::move(layout)), schedule(func.getSchedule()),
      builder(func), loc(func.getLoc()) {}

//===- values --------------------------------------------------------------===//

Value TileKernel::i32(int64_t v) {
  return LLVM::ConstantOp::create(builder, loc, builder.getI32Type(),
                                  builder.getI32IntegerAttr(v));
}

Value TileKernel::i64(int64_t v) {
  return LLVM::ConstantOp::create(builder, loc, builder.getI64Type(),
                                  builder.getI64IntegerAttr(v));
}

Value TileKernel::add(Value a, Value b) {
  return LLVM::AddOp::create(builder, loc, a, b);
}

Value TileKernel::mul(Value a, int64_t b) {
  return LLVM::MulOp::create(builder, loc, a, i32(b));
}

Value TileKernel::isLess(Value a, Value b) {
  return LLVM::ICmpOp::create(builder, loc, LLVM::ICmpPredicate::slt, a, b);
}

Value TileKernel::isZero(Value value) {
  return LLVM::ICmpOp::create(builder, loc, LLVM::ICmpPredicate::eq, value,
                              i32(0));
}

Value TileKernel::shared(Value offset) {
  return LLVM::GEPOp::create(builder, loc, base.getType(), builder.getI8Type(),
                             base, ValueRange{offset});
}

/// The CTA is a cluster of its own.
Value TileKernel::toCluster(Value pointer) {
  return LLVM::AddrSpaceCastOp::create(
      builder, loc, LLVM::LLVMPointerType::get(builder.getContext(), kCluster),
      pointer);
}

Value TileKernel::mapArgument(const TensorMap &map) {
  return entry->getArgument(slots + layout.mapOf(map));
}

void TileKernel::guarded(Value condition, llvm::function_ref<void()> body) {
  auto branch = scf::IfOp::create(builder, loc, condition);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(branch.thenBlock());
  body();
}

Value TileKernel::assembly(Type result, ValueRange operands, StringRef text,
                           StringRef constraints) {
  auto op = LLVM::InlineAsmOp::create(
      builder, loc, result ? TypeRange(result) : TypeRange(), operands, text,
      constraints, /*has_side_effects=*/true, /*is_align_stack=*/false,
      LLVM::tailcallkind::TailCallKind::None,
      LLVM::AsmDialectAttr::get(builder.getContext(),
                                LLVM::AsmDialect::AD_ATT),
      ArrayAttr());
  return result ? op.getResult(0) : Value();
}

//===- the function --------------------------------------------------------===//

void TileKernel::createFunction() {
  MLIRContext *context = builder.getContext();
  auto global = LLVM::LLVMPointerType::get(context, kGlobal);
  SmallVector<Type> types;
  for (Type type : func.getBody().getArgumentTypes())
    types.push_back(isa<kernel::BufferType>(type) ? Type(global) : type);
  slots = unsigned(types.size());
  types.append(layout.maps.size(), LLVM::LLVMPointerType::get(context));
  auto type =
      LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(context), types);
  target = LLVM::LLVMFuncOp::create(builder, loc, func.getSymName(), type);
  target->setAttr(NVVM::NVVMDialect::getKernelFuncAttrName(),
                  builder.getUnitAttr());
  target->setAttr(NVVM::NVVMDialect::getReqntidAttrName(),
                  builder.getDenseI32ArrayAttr(
                      {int32_t(layout.threads), 1, 1}));
  target->setAttr(NVVM::NVVMDialect::getMinctasmAttrName(),
                  builder.getI32IntegerAttr(1));
  // A map is 128 bytes by value, in the constant bank.
  auto bytes = LLVM::LLVMArrayType::get(builder.getI8Type(), 128);
  for (unsigned i = slots; i < types.size(); ++i) {
    target.setArgAttr(i, LLVM::LLVMDialect::getByValAttrName(),
                      TypeAttr::get(bytes));
    target.setArgAttr(i, LLVM::LLVMDialect::getAlignAttrName(),
                      builder.getI64IntegerAttr(64));
    target.setArgAttr(i, NVVM::NVVMDialect::getGridConstantAttrName(),
                      builder.getUnitAttr());
  }
  for (BlockArgument argument : func.getBody().getArguments())
    if (isa<kernel::BufferType>(argument.getType())) {
      target.setArgAttr(argument.getArgNumber(),
                        LLVM::LLVMDialect::getNoAliasAttrName(),
                        builder.getUnitAttr());
      argument.setType(global);
    }
}

void TileKernel::prologue() {
  MLIRContext *context = builder.getContext();
  auto pointer = LLVM::LLVMPointerType::get(context, kShared);
  std::string name = (target.getSymName() + "_shared").str();
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPoint(target);
    LLVM::GlobalOp::create(builder, loc,
                           LLVM::LLVMArrayType::get(builder.getI8Type(), 0),
                           /*isConstant=*/false, LLVM::Linkage::External, name,
                           Attribute(), kSwizzleAtom, kShared);
  }
  base = LLVM::AddressOfOp::create(builder, loc, pointer, name);
  baseNumber =
      LLVM::PtrToIntOp::create(builder, loc, builder.getI32Type(), base);
  thread = NVVM::ThreadIdXOp::create(builder, loc, builder.getI32Type());
  own = LLVM::AndOp::create(builder, loc, thread, i32(kWarpgroup - 1));
  lane = LLVM::AndOp::create(builder, loc, thread, i32(31));
  guarded(isZero(thread), [&] {
    for (auto &[pipe, place] : layout.pipes)
      initialise(place, cast<tile::PipeType>(pipe.getType()).getStages());
    NVVM::FenceMbarrierInitOp::create(builder, loc);
    for (unsigned i = 0; i < layout.maps.size(); ++i)
      NVVM::PrefetchOp::create(builder, loc, nullptr, nullptr,
                               entry->getArgument(slots + i), Value(),
                               builder.getUnitAttr());
  });
  NVVM::BarrierOp::create(builder, loc);
}

/// The producer arrives at a full barrier, with the number of bytes that it
/// expects; every warp of a consumer arrives at an empty one.
void TileKernel::initialise(const TileLayout::Pipe &place, int64_t stages) {
  int64_t warps = schedule.getConsumers() * kWarpgroup / 32;
  for (int64_t i = 0; i < 2 * stages; ++i)
    NVVM::MBarrierInitOp::create(builder, loc,
                                 shared(i32(place.barriers + 8 * i)),
                                 i32(i < stages ? 1 : warps), Value());
}

LogicalResult TileKernel::run() {
  createFunction();
  Region &region = target.getBody();
  region.takeBody(func.getBody());
  entry = &region.front();
  for (unsigned i = 0; i < layout.maps.size(); ++i)
    entry->addArgument(LLVM::LLVMPointerType::get(builder.getContext()), loc);
  builder.setInsertionPointToStart(entry);
  prologue();
  SmallVector<Operation *> ops;
  entry->walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (isa<tile::MapOp>(op)) {
      ops.push_back(op);
      return WalkResult::skip();
    }
    if (isa<tile::TileDialect>(op->getDialect()))
      ops.push_back(op);
    // Loops carry the registers of pending sums.
    for (Value result : op->getResults())
      if (isa<scf::ForOp>(op) && holdsSums(result.getType()))
        result.setType(registersOf(result.getType()));
    for (Region &nested : op->getRegions())
      if (isa<scf::ForOp>(op))
        for (BlockArgument argument : nested.getArguments())
          if (holdsSums(argument.getType()))
            argument.setType(registersOf(argument.getType()));
    return WalkResult::advance();
  });
  for (Operation *op : ops)
    if (failed(convert(op)))
      return failure();
  for (Operation *op : llvm::reverse(ops))
    op->erase();
  builder.setInsertionPointToEnd(entry);
  LLVM::ReturnOp::create(builder, loc, ValueRange());
  func.erase();
  return success();
}

/// Uses that are left are those of ops that are erased too.
LogicalResult TileKernel::convert(Operation *op) {
  builder.setInsertionPoint(op);
  loc = op->getLoc();
  return llvm::TypeSwitch<Operation *, LogicalResult>(op)
      .Case<tile::ProgramOp>([&](Operation *op) {
        op->getResult(0).replaceAllUsesWith(
            NVVM::BlockIdXOp::create(builder, loc, builder.getI32Type()));
        return success();
      })
      .Case<tile::ProgramsOp>([&](Operation *op) {
        op->getResult(0).replaceAllUsesWith(
            NVVM::GridDimXOp::create(builder, loc, builder.getI32Type()));
        return success();
      })
      .Case<tile::ViewOp, tile::PipeOp>([](Operation *) { return success(); })
      .Case([&](tile::RolesOp op) { return roles(op), success(); })
      .Case([&](tile::AcquireOp op) { return acquire(op), success(); })
      .Case([&](tile::CommitOp op) { return commit(op), success(); })
      .Case([&](tile::WaitOp op) { return wait(op), success(); })
      .Case([&](tile::ReleaseOp op) { return release(op), success(); })
      .Case([&](tile::FetchOp op) { return fetch(op), success(); })
      .Case([&](tile::RowsOp op) {
        Value offset = LLVM::MulOp::create(builder, loc, op.getNumber(),
                                           i32(bytesOf(op.getType())));
        offsets[op.getResult()] = add(offsets.lookup(op.getBlock()), offset);
        return success();
      })
      .Case([&](tile::DotOp op) { return dot(op), success(); })
      .Case([&](tile::SettleOp op) {
        NVVM::WgmmaWaitGroupSyncOp::create(
            builder, loc, builder.getI64IntegerAttr(op.getBehind()));
        op.getResult().replaceAllUsesWith(op->getOperand(0));
        return success();
      })
      .Case([&](tile::AwaitOp op) { return await(op), success(); })
      .Case([&](tile::MapOp op) { return map(op); })
      .Case([&](tile::PutOp op) { return put(op), success(); })
      .Default([](Operation *op) {
        return op->emitOpError("has no form on sm_90a");
      });
}

//===- roles ---------------------------------------------------------------===//

void TileKernel::roles(tile::RolesOp op) {
  auto setRegisters = [&](int64_t registers,
                          NVVM::SetMaxRegisterAction action) {
    if (registers)
      NVVM::SetMaxRegisterOp::create(
          builder, loc, builder.getI32IntegerAttr(registers),
          NVVM::SetMaxRegisterActionAttr::get(builder.getContext(), action));
  };
  // Both branches begin here, with the cursors of their role.
  Value warpgroup = LLVM::LShrOp::create(builder, loc, thread,
                                         i32(llvm::Log2_64(kWarpgroup)));
  auto branch = scf::IfOp::create(builder, loc, isZero(warpgroup),
                                  /*withElseRegion=*/true);
  builder.setInsertionPointToStart(branch.thenBlock());
  setRegisters(schedule.getProducerRegisters(),
               NVVM::SetMaxRegisterAction::decrease);
  for (auto &[pipe, place] : layout.pipes)
    produced[pipe] = makeCursor(/*phase=*/1);
  auto single = scf::IfOp::create(builder, loc, isZero(thread));
  Block *work = single.thenBlock();
  work->getOperations().splice(work->begin(),
                               op.getProducer().front().getOperations());
  builder.setInsertionPointToStart(branch.elseBlock());
  setRegisters(schedule.getConsumerRegisters(),
               NVVM::SetMaxRegisterAction::increase);
  consumer = LLVM::SubOp::create(builder, loc, warpgroup, i32(1));
  for (auto &[pipe, place] : layout.pipes) {
    waited[pipe] = makeCursor(/*phase=*/0);
    released[pipe] = makeCursor(/*phase=*/0);
  }
  Block &body = op.getConsumers().front();
  body.getArgument(0).replaceAllUsesWith(consumer);
  Block *rest = branch.elseBlock();
  rest->getOperations().splice(rest->getTerminator()->getIterator(),
                               body.getOperations());
  builder.setInsertionPoint(rest->getTerminator());
  // Copies read shared memory, which ends with the CTA.
  if (layout.stagings)
    guarded(isZero(own), [&] {
      NVVM::CpAsyncBulkWaitGroupOp::create(
          builder, loc, builder.getI32IntegerAttr(0), builder.getUnitAttr());
    });
}

//===- pipes ---------------------------------------------------------------===//

TileKernel::Cursor TileKernel::makeCursor(int64_t phase) {
  auto cell = [&](int64_t value) -> Value {
    Value at;
    {
      OpBuilder::InsertionGuard guard(builder);
      builder.setInsertionPointToStart(entry);
      at = LLVM::AllocaOp::create(
          builder, loc, LLVM::LLVMPointerType::get(builder.getContext()),
          builder.getI32Type(), i64(1));
    }
    LLVM::StoreOp::create(builder, loc, i32(value), at);
    return at;
  };
  return {cell(0), cell(phase)};
}

Value TileKernel::stageOf(const Cursor &cursor) {
  return LLVM::LoadOp::create(builder, loc, builder.getI32Type(), cursor.stage);
}

void TileKernel::advance(const Cursor &cursor, int64_t stages) {
  Value next = add(stageOf(cursor), i32(1));
  Value round = LLVM::ICmpOp::create(builder, loc, LLVM::ICmpPredicate::eq,
                                     next, i32(stages));
  Value stage = LLVM::SelectOp::create(builder, loc, round, i32(0), next);
  Value phase = LLVM::LoadOp::create(builder, loc, builder.getI32Type(),
                                     cursor.phase);
  Value turn = LLVM::ZExtOp::create(builder, loc, builder.getI32Type(), round);
  LLVM::StoreOp::create(builder, loc, stage, cursor.stage);
  LLVM::StoreOp::create(builder, loc,
                        LLVM::XOrOp::create(builder, loc, phase, turn),
                        cursor.phase);
}

Value TileKernel::barrierAt(Value pipe, Value stage, bool empty) {
  int64_t first = layout.pipes.lookup(pipe).barriers;
  if (empty)
    first += 8 * cast<tile::PipeType>(pipe.getType()).getStages();
  return shared(add(mul(stage, 8), i32(first)));
}

void TileKernel::blocksAt(Value pipe, Value stage, ResultRange blocks) {
  const TileLayout::Pipe &place = layout.pipes.find(pipe)->second;
  for (auto [block, first] : llvm::zip(blocks, place.blocks)) {
    int64_t bytes = llvm::alignTo(bytesOf(cast<tile::BlockType>(block.getType())),
                                  kSwizzleAtom);
    offsets[block] = add(mul(stage, bytes), i32(first));
  }
}

void TileKernel::acquire(tile::AcquireOp op) {
  Value pipe = op.getPipe();
  const Cursor &cursor = produced[pipe];
  Value stage = stageOf(cursor);
  Value phase = LLVM::LoadOp::create(builder, loc, builder.getI32Type(),
                                     cursor.phase);
  NVVM::MBarrierTryWaitParityOp::create(builder, loc,
                                        barrierAt(pipe, stage, /*empty=*/true),
                                        phase, i32(kPatience));
  int64_t bytes = 0;
  for (Type type : op.getPipe().getType().getBlocks())
    bytes += bytesOf(cast<tile::BlockType>(type));
  NVVM::MBarrierArriveExpectTxOp::create(
      builder, loc, Type(), barrierAt(pipe, stage, /*empty=*/false), i32(bytes),
      NVVM::MemScopeKindAttr::get(builder.getContext(),
                                  NVVM::MemScopeKind::CTA),
      builder.getBoolAttr(false), Value());
  blocksAt(pipe, stage, op.getBlocks());
}

void TileKernel::commit(tile::CommitOp op) {
  advance(produced[op.getPipe()], op.getPipe().getType().getStages());
}

void TileKernel::wait(tile::WaitOp op) {
  Value pipe = op.getPipe();
  const Cursor &cursor = waited[pipe];
  Value stage = stageOf(cursor);
  Value phase = LLVM::LoadOp::create(builder, loc, builder.getI32Type(),
                                     cursor.phase);
  NVVM::MBarrierTryWaitParityOp::create(builder, loc,
                                        barrierAt(pipe, stage, /*empty=*/false),
                                        phase, i32(kPatience));
  blocksAt(pipe, stage, op.getBlocks());
  advance(cursor, op.getPipe().getType().getStages());
}

/// Within the CTA: the scope of a cluster would become a fence of the whole
/// device.
void TileKernel::release(tile::ReleaseOp op) {
  Value pipe = op.getPipe();
  const Cursor &cursor = released[pipe];
  Value at = barrierAt(pipe, stageOf(cursor), /*empty=*/true);
  guarded(isZero(lane), [&] {
    NVVM::MBarrierArriveOp::create(
        builder, loc, builder.getI64Type(), at, Value(),
        NVVM::MemScopeKindAttr::get(builder.getContext(),
                                    NVVM::MemScopeKind::CTA));
  });
  advance(cursor, op.getPipe().getType().getStages());
}

/// Elements beyond the extents arrive as zero, and count as bytes.
void TileKernel::fetch(tile::FetchOp op) {
  tile::BlockType block = op.getBlock().getType();
  auto view = op.getView().getDefiningOp<tile::ViewOp>();
  const Cursor &cursor =
      produced[op.getBlock().getDefiningOp<tile::AcquireOp>().getPipe()];
  Value barrier =
      barrierAt(op.getBlock().getDefiningOp<tile::AcquireOp>().getPipe(),
                stageOf(cursor), /*empty=*/false);
  NVVM::CpAsyncBulkTensorGlobalToSharedClusterOp::create(
      builder, loc, toCluster(shared(offsets.lookup(op.getBlock()))),
      mapArgument({tensorOf(func, view).str(), block.getRows(),
                   block.getCols()}),
      ValueRange{op.getCol(), op.getRow()}, barrier, ValueRange(), Value(),
      Value(),
      NVVM::TMALoadModeAttr::get(builder.getContext(), NVVM::TMALoadMode::TILE),
      builder.getBoolAttr(false), NVVM::CTAGroupKindAttr(), Value());
}
