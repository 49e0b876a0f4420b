// TileLayout.cpp - where a tile kernel has its shared memory and tensor maps
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/NVPTX/TileLayout.h"

#include "llvm/Support/Error.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace bitpact;
using namespace bitpact::codegen;

namespace {

/// Rows of a box of the copy unit.
constexpr int64_t kMostBoxRows = 256;

template <typename... Args>
llvm::Error refusal(const char *format, Args &&...args) {
  return llvm::createStringError(
      llvm::formatv(format, std::forward<Args>(args)...).str());
}

int64_t elementBytes(Type type) { return type.getIntOrFloatBitWidth() / 8; }

llvm::Error checkDot(tile::DotOp dot) {
  tile::BlockType a = dot.getA().getType(), b = dot.getB().getType();
  if (elementBytes(a.getElementType()) != 2 || a.getCols() * 2 != kSwizzledRow)
    return refusal("blocks of {0} columns of {1}; a warpgroup multiplies rows "
                   "of {2} bytes, of bf16 or f16",
                   a.getCols(), a.getElementType(), kSwizzledRow);
  if (a.getRows() != kDotRows)
    return refusal("{0} rows for each consumer; a warpgroup multiplies {1}",
                   a.getRows(), kDotRows);
  if (b.getRows() % 8 || b.getRows() > 256)
    return refusal("n is {0}; a warpgroup takes multiples of 8 up to 256",
                   b.getRows());
  return llvm::Error::success();
}

/// A CTA begins with the registers of a multiprocessor, divided evenly in
/// eights. A role that asks for more than others have given back would wait
/// for them forever.
llvm::Error checkRegisters(tile::ScheduleAttr schedule, int64_t threads) {
  constexpr int64_t registers = 65536, unit = 8, mostOfThread = 255;
  if (!schedule.getProducerRegisters() || !schedule.getConsumerRegisters())
    return llvm::Error::success();
  int64_t each = std::min(registers / threads, mostOfThread) / unit * unit;
  int64_t wanted =
      kWarpgroup * (schedule.getProducerRegisters() +
                    schedule.getConsumers() * schedule.getConsumerRegisters());
  if (wanted > each * threads)
    return refusal("roles want {0} registers; {1} threads begin with {2}",
                   wanted, threads, each * threads);
  return llvm::Error::success();
}

} // namespace

int64_t codegen::bytesOf(tile::BlockType block) {
  return block.getRows() * block.getCols() *
         elementBytes(block.getElementType());
}

StringRef codegen::tensorOf(tile::FuncOp func, tile::ViewOp view) {
  auto buffer = cast<BlockArgument>(view->getOperand(0));
  return cast<StringAttr>(func.getSlots()[buffer.getArgNumber()]).getValue();
}

int64_t codegen::boxCols(Type element) {
  return kSwizzledRow / elementBytes(element);
}

bool codegen::isStaged(tile::PutOp put, tile::ScheduleAttr schedule) {
  tile::ValuesType type = put.getValues().getType();
  return schedule.copiesInBulk() && elementBytes(type.getElementType()) <= 4 &&
         type.getCols() % boxCols(type.getElementType()) == 0;
}

size_t TileLayout::mapOf(const TensorMap &map) {
  auto found = llvm::find(maps, map);
  if (found == maps.end())
    found = maps.insert(maps.end(), map);
  return size_t(found - maps.begin());
}

llvm::Expected<TileLayout> codegen::layOut(tile::FuncOp func) {
  TileLayout layout;
  tile::ScheduleAttr schedule = func.getSchedule();
  layout.threads = (1 + schedule.getConsumers()) * kWarpgroup;
  int64_t stages = 0;
  func.walk([&](tile::PipeOp pipe) {
    TileLayout::Pipe place;
    for (Type type : pipe.getType().getBlocks()) {
      place.blocks.push_back(layout.sharedBytes);
      layout.sharedBytes +=
          pipe.getType().getStages() *
          llvm::alignTo(bytesOf(cast<tile::BlockType>(type)), kSwizzleAtom);
    }
    stages += pipe.getType().getStages();
    layout.pipes.insert({pipe.getResult(), place});
  });
  func.walk([&](tile::FetchOp fetch) {
    tile::BlockType block = fetch.getBlock().getType();
    if (schedule.copiesInBulk())
      layout.mapOf(
          {tensorOf(func, fetch.getView().getDefiningOp<tile::ViewOp>()).str(),
           block.getRows(), block.getCols()});
  });
  func.walk([&](tile::PutOp put) {
    if (!isStaged(put, schedule))
      return;
    Type element = put.getValues().getType().getElementType();
    layout.mapOf(
        {tensorOf(func, put.getView().getDefiningOp<tile::ViewOp>()).str(),
         kDotRows, boxCols(element)});
    layout.stagings = 2;
  });
  layout.staging = layout.sharedBytes;
  layout.sharedBytes +=
      schedule.getConsumers() * layout.stagings * kDotRows * kSwizzledRow;
  for (auto &[value, place] : layout.pipes) {
    place.barriers = layout.sharedBytes;
    layout.sharedBytes +=
        2 * 8 * cast<tile::PipeType>(value.getType()).getStages();
  }
  llvm::Error error = checkRegisters(schedule, layout.threads);
  func.walk([&](tile::DotOp dot) {
    if (!error)
      error = checkDot(dot);
  });
  if (!error)
    for (const TensorMap &map : layout.maps)
      if (map.rows > kMostBoxRows)
        error = refusal("boxes of {0} rows; the copy unit takes up to {1}",
                        map.rows, kMostBoxRows);
  if (error)
    return error;
  return layout;
}
