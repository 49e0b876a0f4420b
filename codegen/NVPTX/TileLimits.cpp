// TileLimits.cpp - what a CTA and a cluster of sm_90a can do
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/NVPTX/TileLimits.h"

#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace bitpact;
using namespace bitpact::codegen;

namespace {

/// Registers of a multiprocessor, and the most of a thread.
constexpr int64_t kRegisters = 65536, kMostOfThread = 255;
/// Rows after which the pattern of swizzled pieces repeats.
constexpr int64_t kSwizzleRows = kSwizzleAtom / kSwizzledRow;

template <typename... Args>
llvm::Error refusal(const char *format, Args &&...args) {
  return llvm::createStringError(
      llvm::formatv(format, std::forward<Args>(args)...).str());
}

int64_t elementBytes(Type type) { return type.getIntOrFloatBitWidth() / 8; }

} // namespace

llvm::Error codegen::checkDot(tile::DotOp dot) {
  tile::BlockType a = dot.getA().getType(), b = dot.getB().getType();
  if (elementBytes(a.getElementType()) != 2 || a.getCols() * 2 % kSwizzledRow)
    return refusal("blocks of {0} columns of {1}; a warpgroup multiplies rows "
                   "of multiples of {2} bytes, of bf16 or f16",
                   a.getCols(), a.getElementType(), kSwizzledRow);
  if (a.getRows() > kDotRows || a.getRows() % kSwizzleRows)
    return refusal("{0} rows for each consumer; a warpgroup multiplies "
                   "multiples of {1} up to {2}",
                   a.getRows(), kSwizzleRows, kDotRows);
  if (b.getRows() % 8 || b.getRows() > 256)
    return refusal("n is {0}; a warpgroup takes multiples of 8 up to 256",
                   b.getRows());
  return llvm::Error::success();
}

/// A CTA begins with the registers of a multiprocessor, divided evenly in
/// eights. A role that asks for more than others have given back would wait
/// for them forever.
llvm::Error codegen::checkRegisters(tile::ScheduleAttr schedule, int64_t threads) {
  constexpr int64_t unit = 8;
  if (!schedule.getProducerRegisters() || !schedule.getConsumerRegisters())
    return llvm::Error::success();
  int64_t each = std::min(kRegisters / threads, kMostOfThread) / unit * unit;
  int64_t wanted = kWarpgroup * (schedule.getProducerRegisters() +
                                 schedule.consumersPerUnit() *
                                     schedule.getConsumerRegisters());
  if (wanted > each * threads)
    return refusal("roles want {0} registers; {1} threads begin with {2}",
                   wanted, threads, each * threads);
  return llvm::Error::success();
}

/// CTAs of a cluster bring each other whole repetitions of the pattern.
llvm::Error codegen::checkCluster(tile::ScheduleAttr schedule,
                                  const TileLayout &layout) {
  int64_t cluster = schedule.getCluster();
  if (cluster == 1)
    return llvm::Error::success();
  if (cluster > kMostCluster || cluster & (cluster - 1))
    return refusal("a cluster of {0}; sm_90a has clusters of powers of two up "
                   "to {1}",
                   cluster, kMostCluster);
  if (!schedule.copiesInBulk())
    return refusal("a cluster of {0} with {1} copies; only the copy unit "
                   "brings blocks to other CTAs",
                   cluster, schedule.getCopy());
  for (const auto &[pipe, place] : layout.pipes)
    for (const TileLayout::Place &block : place.blocks)
      if (block.isShared && block.rows % (cluster * kSwizzleRows))
        return refusal("blocks of {0} rows, of which {1} CTAs cannot bring "
                       "multiples of {2} each",
                       block.rows, cluster, kSwizzleRows);
  return llvm::Error::success();
}
