// TilePipes.cpp - stages and their barriers on sm_90a
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/NVPTX/TileKernel.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace bitpact;
using namespace bitpact::codegen;

/// A bound on how long the hardware sleeps before it asks a barrier again.
static constexpr int64_t kPatience = 10000000;

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
  Value phase =
      LLVM::LoadOp::create(builder, loc, builder.getI32Type(), cursor.phase);
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
  for (auto [block, at] : llvm::zip(blocks, place.blocks))
    offsets[block] = add(mul(stage, at.stageStep), i32(at.first));
}

void TileKernel::acquire(tile::AcquireOp op) {
  Value pipe = op.getPipe();
  const Cursor &cursor = produced[pipe];
  Value stage = stageOf(cursor);
  Value phase =
      LLVM::LoadOp::create(builder, loc, builder.getI32Type(), cursor.phase);
  NVVM::MBarrierTryWaitParityOp::create(builder, loc,
                                        barrierAt(pipe, stage, /*empty=*/true),
                                        phase, i32(kPatience));
  blocksAt(pipe, stage, op.getBlocks());
}

/// What threads have written becomes visible to the matrix unit before they say
/// so; the copy unit says itself that its bytes have arrived, some of which may
/// have before it is said here how many there are.
void TileKernel::commit(tile::CommitOp op) {
  const Cursor &cursor = produced[op.getPipe()];
  MLIRContext *context = builder.getContext();
  if (schedule.copiesInBulk()) {
    Value bytes = op.getBytes();
    if (!bytes) {
      int64_t all = 0;
      for (const auto &block : layout.pipes.find(op.getPipe())->second.blocks)
        all += block.bytes();
      bytes = i32(all);
    }
    NVVM::MBarrierArriveExpectTxOp::create(
        builder, loc, Type(),
        barrierAt(op.getPipe(), stageOf(cursor), /*empty=*/false), bytes,
        NVVM::MemScopeKindAttr::get(context, NVVM::MemScopeKind::CTA),
        builder.getBoolAttr(false), Value());
  } else {
    NVVM::FenceProxyOp::create(
        builder, loc,
        NVVM::ProxyKindAttr::get(context, NVVM::ProxyKind::async_shared),
        NVVM::SharedSpaceAttr::get(context, NVVM::SharedSpace::shared_cta));
    NVVM::MBarrierArriveOp::create(
        builder, loc, builder.getI64Type(),
        barrierAt(op.getPipe(), stageOf(cursor), /*empty=*/false), Value(),
        NVVM::MemScopeKindAttr::get(context, NVVM::MemScopeKind::CTA));
  }
  advance(cursor, op.getPipe().getType().getStages());
}

void TileKernel::wait(tile::WaitOp op) {
  Value pipe = op.getPipe();
  const Cursor &cursor = waited[pipe];
  Value stage = stageOf(cursor);
  Value phase =
      LLVM::LoadOp::create(builder, loc, builder.getI32Type(), cursor.phase);
  NVVM::MBarrierTryWaitParityOp::create(builder, loc,
                                        barrierAt(pipe, stage, /*empty=*/false),
                                        phase, i32(kPatience));
  blocksAt(pipe, stage, op.getBlocks());
  advance(cursor, op.getPipe().getType().getStages());
}

/// Within the CTA: the scope of a cluster would become a fence of the whole
/// device. In a cluster a lane arrives in each CTA.
void TileKernel::release(tile::ReleaseOp op) {
  Value pipe = op.getPipe();
  const Cursor &cursor = released[pipe];
  Value at = barrierAt(pipe, stageOf(cursor), /*empty=*/true);
  auto scope = NVVM::MemScopeKindAttr::get(builder.getContext(),
                                           NVVM::MemScopeKind::CTA);
  if (isCluster())
    guarded(isLess(lane, i32(schedule.getCluster())), [&] {
      Value there = NVVM::MapaOp::create(builder, loc, toCluster(at).getType(),
                                         at, lane);
      NVVM::MBarrierArriveOp::create(builder, loc, Type(), there, Value(),
                                     scope);
    });
  else
    guarded(isZero(lane), [&] {
      NVVM::MBarrierArriveOp::create(builder, loc, builder.getI64Type(), at,
                                     Value(), scope);
    });
  advance(cursor, op.getPipe().getType().getStages());
}
