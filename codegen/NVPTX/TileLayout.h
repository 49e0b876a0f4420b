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
/// Threads of a warpgroup, and rows of its products. Where blocks have fewer,
/// what it computes of others is nobody's.
inline constexpr int64_t kWarpgroup = 128, kDotRows = 64;
/// Columns of which a thread has a pair in each of two rows.
inline constexpr int64_t kPairCols = 8;
/// Shared memory of a CTA.
inline constexpr int64_t kMostSharedBytes = 227 * 1024;

/// A tensor map that the launch brings: boxes of `rows` by `cols` elements. With
/// `part` they have the rows of the matrix, or, if these are more, as many as
/// `part` says. `promotion` as a box of a package has it.
struct TensorMap {
  std::string tensor;
  int64_t rows, cols, part = 0, promotion = 0;
  bool operator==(const TensorMap &) const = default;
};

struct TileLayout {
  int64_t threads = 0;
  /// Dynamic shared memory, from an address that kSwizzleAtom divides.
  int64_t sharedBytes = 0;
  bool isCut = false; ///< rows are, at offsets
  /// In the order of the arguments that follow those of the slots.
  std::vector<TensorMap> maps;
  /// Where a CTA has a block of a stage: in panels of a swizzled row's width.
  /// Panels of blocks that one operand is multiplied with lie side by side, so
  /// that these are one block to an instruction.
  struct Place {
    int64_t first; ///< stage, in bytes
    int64_t rows, panels;
    /// From one panel to the next, and from one stage to the next, in bytes.
    int64_t panelStep, stageStep;
    /// All consumers of a cluster need it: each CTA brings a part of the rows
    /// to all. Of other blocks a CTA has the rows of its own consumers.
    bool isShared = false;
    int64_t panelBytes() const { return rows * kSwizzledRow; }
    int64_t bytes() const { return panels * panelBytes(); }
    /// Whether panels of `next` begin where those of this one end.
    bool isBeside(const Place &next) const {
      return next.first == first + panelBytes() &&
             next.panelStep == panelStep && next.stageStep == stageStep;
    }
  };
  struct Pipe {
    llvm::SmallVector<Place> blocks;
    /// Barriers: full ones of all stages, then empty ones.
    int64_t barriers;
  };
  llvm::MapVector<mlir::Value, Pipe> pipes;
  /// Where the consumers put results together, `stagings` boxes each; none if
  /// they write from registers.
  int64_t staging = 0, stagings = 0;
  /// Slots of values in registers, the first ones; where others lie, by slot.
  size_t heldInRegisters = 0;
  llvm::SmallVector<int64_t> held;
  /// Where units of a program meet: what a consumer is brought, in bytes by value
  /// of each unit, from `first` on, and its barriers, a full one and an empty one;
  /// those of the next consumer follow.
  struct Meeting {
    int64_t first = 0, bytes = 0, barriers = 0;
    llvm::SmallVector<int64_t> values; ///< where each value of a unit begins
    int64_t ofUnit = 0;
  };
  std::optional<Meeting> meeting;

  /// That of a block which acquire or wait gives.
  const Place &placeOf(mlir::Value block) const;
  /// Index of the map of that box.
  size_t mapOf(const TensorMap &map);
  /// The map of what a fetch copies.
  TensorMap mapOf(tile::FuncOp func, tile::FetchOp fetch) const;
};

/// The tensor that a view is of.
llvm::StringRef tensorOf(tile::FuncOp func, tile::ViewOp view);
/// Columns of a box with that element: a swizzled row.
int64_t boxCols(mlir::Type element);
/// Whether results leave through shared memory and the copy unit, where a layout
/// has room for them there.
bool isStaged(tile::PutOp put, tile::ScheduleAttr schedule);

/// The error names what a warpgroup of sm_90a cannot do.
llvm::Expected<TileLayout> layOut(tile::FuncOp func);

} // namespace bitpact::codegen

#endif
