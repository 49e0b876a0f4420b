// TileKernel.cpp - the ops and roles of tile kernels on sm_90a
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/NVPTX/TileKernel.h"

#include "codegen/NVPTX/EasyQuotients.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace bitpact;
using namespace bitpact::codegen;

static constexpr unsigned kCluster = 7;

TileKernel::TileKernel(tile::FuncOp func, TileLayout layout)
    : func(func), layout(std::move(layout)), schedule(func.getSchedule()),
      builder(func), loc(func.getLoc()) {}

//===- values
//--------------------------------------------------------------===//

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
      LLVM::AsmDialectAttr::get(builder.getContext(), LLVM::AsmDialect::AD_ATT),
      ArrayAttr());
  return result ? op.getResult(0) : Value();
}

//===- the function
//--------------------------------------------------------------===//

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
  skipEasyQuotients(target);
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
        Type type = builder.getI32Type();
        Value number;
        if (hasUnits())
          number = NVVM::ClusterIdXOp::create(builder, loc, type);
        else
          number = NVVM::BlockIdXOp::create(builder, loc, type);
        return op->getResult(0).replaceAllUsesWith(number), success();
      })
      .Case<tile::ProgramsOp>([&](Operation *op) {
        Type type = builder.getI32Type();
        Value number;
        if (hasUnits())
          number = NVVM::ClusterDimXOp::create(builder, loc, type);
        else
          number = NVVM::GridDimXOp::create(builder, loc, type);
        return op->getResult(0).replaceAllUsesWith(number), success();
      })
      .Case([&](tile::UnitOp op) {
        return op.getResult().replaceAllUsesWith(rank), success();
      })
      .Case<tile::ViewOp, tile::PipeOp>([](Operation *) { return success(); })
      .Case([&](tile::OffsetOp op) { return offset(op), success(); })
      .Case([&](tile::FaultOp op) { return fault(op), success(); })
      .Case([&](tile::RolesOp op) { return roles(op), success(); })
      .Case([&](tile::EarlyOp op) {
        return blocksAt(op.getPipe(), op.getNumber(), op.getBlocks()),
               success();
      })
      .Case([&](tile::ReadyOp) {
        return gridAction(NVVM::GridDepActionKind::wait), success();
      })
      .Case([&](tile::AcquireOp op) { return acquire(op), success(); })
      .Case([&](tile::CommitOp op) { return commit(op), success(); })
      .Case([&](tile::WaitOp op) { return wait(op), success(); })
      .Case([&](tile::ReleaseOp op) { return release(op), success(); })
      .Case([&](tile::FetchOp op) { return fetch(op), success(); })
      .Case([&](tile::PrefetchOp op) { return prefetch(op), success(); })
      .Case([&](tile::RowsOp op) {
        // Those of a block that is not shared lie in the CTA of the consumer.
        Value number = op.getNumber();
        if (isCluster() && !layout.placeOf(op.getBlock()).isShared)
          number = LLVM::SubOp::create(
              builder, loc, number, mul(rank, schedule.consumersPerUnit()));
        Value offset = mul(number, op.getType().getRows() * kSwizzledRow);
        offsets[op.getResult()] = add(offsets.lookup(op.getBlock()), offset);
        return success();
      })
      .Case([&](tile::DotOp op) { return dot(op), success(); })
      .Case([&](tile::SettleOp op) {
        // Groups that hold no more than the products that may be left.
        NVVM::WgmmaWaitGroupSyncOp::create(
            builder, loc,
            builder.getI64IntegerAttr(int64_t(op.getBehind()) /
                                      productsOfGroup));
        op.getResult().replaceAllUsesWith(op->getOperand(0));
        return success();
      })
      .Case([&](tile::AwaitOp op) { return await(op), success(); })
      .Case([&](tile::LoadOp op) { return load(op), success(); })
      // Elements are computed where they are put.
      .Case([](tile::MapOp) { return success(); })
      .Case([&](tile::HoldOp op) { return hold(op); })
      .Case([&](tile::MeetOp op) { return meet(op); })
      .Case([&](tile::PutOp op) { return put(op); })
      .Default([](Operation *op) {
        return op->emitOpError("has no form on sm_90a");
      });
}

void TileKernel::offset(tile::OffsetOp op) {
  Value index = LLVM::SExtOp::create(builder, loc, builder.getI64Type(),
                                     op.getIndex());
  Value buffer = op->getOperand(0);
  Value at = LLVM::GEPOp::create(builder, loc, buffer.getType(),
                                 builder.getI32Type(), buffer,
                                 ValueRange{index});
  op.getResult().replaceAllUsesWith(LLVM::LoadOp::create(
      builder, loc, builder.getI32Type(), at, /*alignment=*/4));
}

/// Threads that meet a fault write the same word.
void TileKernel::fault(tile::FaultOp op) {
  Value word = op->getOperand(0);
  Value null = LLVM::ZeroOp::create(builder, loc, word.getType());
  Value given = LLVM::ICmpOp::create(builder, loc, LLVM::ICmpPredicate::ne,
                                     word, null);
  guarded(LLVM::AndOp::create(builder, loc, op.getMask(), given), [&] {
    LLVM::StoreOp::create(builder, loc, i32(1), word, /*alignment=*/4);
  });
}

//===- roles
//---------------------------------------------------------------===//

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
  // One thread says what the copy unit has to do.
  Block *work = branch.thenBlock();
  if (schedule.copiesInBulk())
    work = scf::IfOp::create(builder, loc, isZero(thread)).thenBlock();
  work->getOperations().splice(work->getTerminator()->getIterator(),
                               op.getProducer().front().getOperations());
  builder.setInsertionPointToStart(branch.elseBlock());
  setRegisters(schedule.getConsumerRegisters(),
               NVVM::SetMaxRegisterAction::increase);
  consumer = LLVM::SubOp::create(builder, loc, warpgroup, i32(1));
  for (auto &[pipe, place] : layout.pipes) {
    waited[pipe] = makeCursor(/*phase=*/0);
    released[pipe] = makeCursor(/*phase=*/0);
  }
  if (layout.meeting)
    met = makeCursor(/*phase=*/0);
  Block &body = op.getConsumers().front();
  Value number = consumer;
  if (isCluster())
    number = add(mul(rank, schedule.consumersPerUnit()), consumer);
  body.getArgument(0).replaceAllUsesWith(number);
  Block *rest = branch.elseBlock();
  rest->getOperations().splice(rest->getTerminator()->getIterator(),
                               body.getOperations());
  // Others may still bring something to this CTA, or arrive at its barriers.
  if (hasUnits()) {
    builder.setInsertionPointAfter(branch);
    meetCluster();
  }
  builder.setInsertionPoint(rest->getTerminator());
  // Copies read shared memory, which ends with the CTA.
  if (layout.stagings)
    guarded(isZero(own), [&] {
      NVVM::CpAsyncBulkWaitGroupOp::create(
          builder, loc, builder.getI32IntegerAttr(0), builder.getUnitAttr());
    });
}
