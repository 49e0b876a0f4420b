// TileLayout.h - where a tile kernel has its shared memory and tensor maps
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef BITPACT_CODEGEN_NVPTX_TILELAYOUT_H
#define BITPACT_CODEGEN_NVPTX_TILELAYOUT_H

#include "dialects/Kernel/Tiles.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/Support/Error.h"

#include <optional>
#include <string>

namespace bitpact::codegen {

/// Bytes of a row of a box of the copy unit, which swizzles 16-byte pieces of
/// it, and of the eight rows after which the pattern repeats.
inline constexpr int64_t kSwizzledRow = 128, kSwizzleAtom = 8 * kSwizzledRow;
/// Threads of a warpgroup, and rows of its products.
inline constexpr int64_t kWarpgroup = 128, kDotRows = 64;

/// A tensor map that the launch brings: boxes of `rows` by `cols` elements.
struct TensorMap {
  std::string tensor;
  int64_t rows, cols;
  bool operator==(const TensorMap &) const = default;
};

struct TileLayout {
  int64_t threads = 0;
  /// Dynamic shared memory, from an address that kSwizzleAtom divides.
  int64_t sharedBytes = 0;
  /// In the order of the arguments that follow those of the slots.
  std::vector<TensorMap> maps;
  struct Pipe {
    /// First stage of each block, in bytes.
    llvm::SmallVector<int64_t> blocks;
    /// Barriers: full ones of all stages, then empty ones.
    int64_t barriers;
  };
  llvm::MapVector<mlir::Value, Pipe> pipes;
  /// Where the consumers put results together, `stagings` boxes each; none if
  /// they write from registers.
  int64_t staging = 0, stagings = 0;

  /// Index of the map of that box.
  size_t mapOf(const TensorMap &map);
};

/// Bytes of a block.
int64_t bytesOf(tile::BlockType block);
/// The tensor that a view is of.
llvm::StringRef tensorOf(tile::FuncOp func, tile::ViewOp view);
/// Columns of a box with that element: a swizzled row.
int64_t boxCols(mlir::Type element);
/// Whether results leave through shared memory and the copy unit.
bool isStaged(tile::PutOp put, tile::ScheduleAttr schedule);

/// The error names what a warpgroup of sm_90a cannot do.
llvm::Expected<TileLayout> layOut(tile::FuncOp func);

} // namespace bitpact::codegen

#endif
