// TilePrologue.cpp - what a tile kernel takes, and does before its roles
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/NVPTX/TileKernel.h"

using namespace mlir;
using namespace bitpact;
using namespace bitpact::codegen;

static constexpr unsigned kGlobal = 1, kShared = 3;

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
  target->setAttr(
      NVVM::NVVMDialect::getReqntidAttrName(),
      builder.getDenseI32ArrayAttr({int32_t(layout.threads), 1, 1}));
  target->setAttr(NVVM::NVVMDialect::getMinctasmAttrName(),
                  builder.getI32IntegerAttr(1));
  if (hasUnits())
    target->setAttr(NVVM::NVVMDialect::getClusterDimAttrName(),
                    builder.getDenseI32ArrayAttr(
                        {int32_t(schedule.units()), 1, 1}));
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
  auto pointer = LLVM::LLVMPointerType::get(builder.getContext(), kShared);
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
  if (hasUnits())
    rank = NVVM::ClusterId::create(builder, loc, builder.getI32Type());
  // A short launch waits for all of this, so that the warps of a warpgroup share it.
  // CTAs of a cluster wait for each other longer.
  int64_t leaders = hasUnits() ? 1 : kWarpgroup / kWarpLanes;
  for (int64_t leader = 0; leader < leaders; ++leader)
    guarded(LLVM::ICmpOp::create(builder, loc, LLVM::ICmpPredicate::eq, thread,
                                 i32(leader * kWarpLanes)),
            [&] {
              for (auto &[pipe, place] : layout.pipes) {
                int64_t stages = cast<tile::PipeType>(pipe.getType()).getStages();
                initialise(place, 2 * stages * leader / leaders,
                           2 * stages * (leader + 1) / leaders, stages);
              }
              if (layout.meeting && leader == 0)
                initialiseMeeting();
              NVVM::FenceMbarrierInitOp::create(builder, loc);
              if (leader == leaders - 1)
                prefetchMaps();
            });
  if (hasUnits())
    meetCluster();
  else
    NVVM::BarrierOp::create(builder, loc);
  // What follows in the stream may begin where multiprocessors become free; it
  // waits, as this does, for what was there before it touches a tensor. A
  // producer may say where it does.
  gridAction(NVVM::GridDepActionKind::launch_dependents);
  auto wait = [&] { gridAction(NVVM::GridDepActionKind::wait); };
  bool isProducers = false;
  entry->walk([&](tile::ReadyOp) { isProducers = true; });
  if (isProducers)
    guarded(LLVM::ICmpOp::create(builder, loc, LLVM::ICmpPredicate::uge, thread,
                                 i32(kWarpgroup)),
            wait);
  else
    wait();
}

void TileKernel::prefetchMaps() {
  for (unsigned i = 0; i < layout.maps.size(); ++i)
    NVVM::PrefetchOp::create(builder, loc, nullptr, nullptr,
                             entry->getArgument(slots + i), Value(),
                             builder.getUnitAttr());
}

void TileKernel::gridAction(NVVM::GridDepActionKind action) {
  NVVM::GriddepcontrolOp::create(
      builder, loc,
      NVVM::GridDepActionKindAttr::get(builder.getContext(), action));
}

/// Nobody goes on, or ends, before all CTAs have come here.
void TileKernel::meetCluster() {
  NVVM::ClusterArriveOp::create(builder, loc, UnitAttr());
  NVVM::ClusterWaitOp::create(builder, loc, UnitAttr());
}

/// At a full barrier the producer arrives, with the number of bytes that it
/// expects, or each of its threads where they copy themselves; at an empty one
/// every warp of a consumer.
void TileKernel::initialise(const TileLayout::Pipe &place, int64_t first,
                            int64_t end, int64_t stages) {
  int64_t warps = schedule.getConsumers() * kWarpgroup / kWarpLanes; // of a cluster
  int64_t producers = schedule.copiesInBulk() ? 1 : kWarpgroup;
  for (int64_t i = first; i < end; ++i)
    NVVM::MBarrierInitOp::create(builder, loc,
                                 shared(i32(place.barriers + 8 * i)),
                                 i32(i < stages ? producers : warps), Value());
}
