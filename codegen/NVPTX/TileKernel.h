// TileKernel.h - one tile kernel to the LLVM and NVVM dialects
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef BITPACT_CODEGEN_NVPTX_TILEKERNEL_H
#define BITPACT_CODEGEN_NVPTX_TILEKERNEL_H

#include "codegen/NVPTX/TileLayout.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

namespace bitpact::codegen {

/// A CTA of sm_90a, or a cluster of them, is a program. The first warpgroup of
/// a CTA is the producer, of which one thread works, or all where they copy
/// themselves, each other one is a consumer. Blocks lie in shared memory as the copy unit swizzles them; a
/// stage is full when the bytes of its copies, or the threads that copied, have
/// arrived at its barrier, and free when every warp of the consumers has
/// arrived at the other; in a cluster those of all CTAs, since what all need is
/// brought to all by each producer in part. CTAs that are units of a split
/// schedule have pipes of their own, and bring each other values.
///
/// What the ops become: a block its offset in shared memory (i32), sums that
/// are pending a struct of the thread's registers, values pairs of neighbours.
class TileKernel {
public:
  TileKernel(tile::FuncOp func, TileLayout layout);
  /// Replaces the kernel. arith and scf stay.
  mlir::LogicalResult run();

private:
  static constexpr int64_t kPairRows = 8, kWarpRows = 16,
                           kWarpLanes = 32;

  // TilePrologue.cpp
  void createFunction();
  void prologue();
  void gridAction(mlir::NVVM::GridDepActionKind action);
  /// Barriers of a pipe from `first` to `end`: those of full stages come first.
  void initialise(const TileLayout::Pipe &place, int64_t first, int64_t end,
                  int64_t stages);
  void prefetchMaps();
  void meetCluster();

  // TileKernel.cpp: what the ops become, and roles.
  mlir::LogicalResult convert(mlir::Operation *op);
  void offset(tile::OffsetOp op);
  void fault(tile::FaultOp op);
  void roles(tile::RolesOp op);

  // TilePipes.cpp
  void acquire(tile::AcquireOp op);
  void commit(tile::CommitOp op);
  void wait(tile::WaitOp op);
  void release(tile::ReleaseOp op);
  /// A role's place in a pipe: cells that hold a stage and how often it has
  /// come round.
  struct Cursor {
    mlir::Value stage, phase;
  };
  Cursor makeCursor(int64_t phase);
  mlir::Value stageOf(const Cursor &cursor);
  void advance(const Cursor &cursor, int64_t stages);
  mlir::Value barrierAt(mlir::Value pipe, mlir::Value stage, bool empty);
  void blocksAt(mlir::Value pipe, mlir::Value stage, mlir::ResultRange blocks);

  // TileCopies.cpp
  void fetch(tile::FetchOp op);
  void prefetch(tile::PrefetchOp op);
  void fetchInBulk(tile::FetchOp op);
  void copyBox(tile::FetchOp op, mlir::Value row, mlir::Value to,
               mlir::Value every);
  void copyPanels(tile::FetchOp op, mlir::Value row, mlir::Value to,
                  mlir::Value every, mlir::Value policy);
  void fetchPlain(tile::FetchOp op);
  void copyPanel(tile::FetchOp op, int64_t panel);
  mlir::Value hasAlignedRows(tile::ViewOp view);
  mlir::Value matrixAt(tile::FetchOp op);
  mlir::Value loadPiece(tile::FetchOp op, mlir::Value row, mlir::Value column,
                        mlir::Value aligned);
  /// Whether CTAs bring blocks to each other.
  bool isCluster() const { return schedule.getCluster() > 1; }
  bool hasUnits() const { return schedule.units() > 1; }

  // TileProducts.cpp
  void dot(tile::DotOp op);
  llvm::SmallVector<tile::DotOp> together(tile::DotOp op);
  void await(tile::AwaitOp op);
  mlir::Value descriptor(mlir::Value offset);
  static bool holdsSums(mlir::Type type);
  mlir::Type registersOf(mlir::Type pending);
  const TileLayout::Place &placeOfOperand(mlir::Value block);

  // TileElements.cpp
  /// Where a thread has its pairs of a block in a view. Pair 2j + h of a
  /// thread, in a warp w of the warpgroup, is in row 16w + lane/4 + 8h and
  /// columns 8j + 2(lane mod 4) and the next.
  struct Place {
    mutable tile::ViewOp view;
    mlir::Type element;
    mlir::Value row, col; // of pair 0, i64
    mlir::Value end;      // of rows
    mlir::Value isWhole;  // within the extents, and pairs are aligned
  };
  /// Rows of values from `end` on, if it is given, are not there.
  Place placeOf(tile::ViewOp view, mlir::Value row, mlir::Value col,
                tile::ValuesType values, mlir::Value end = mlir::Value());
  mlir::Value pointerTo(const Place &place, int64_t j, int64_t h, int64_t i);
  mlir::Value hasRow(const Place &place, int64_t h);
  mlir::Value hasCol(const Place &place, int64_t j, int64_t i);
  mlir::Value loadElement(const Place &place, int64_t j, int64_t h, int64_t i);
  mlir::Value pairFrom(mlir::ValueRange elements);
  void load(tile::LoadOp op);
  size_t portionOf();
  void prefetch(const Place &place, size_t pairs, size_t portion);
  void loadPortion(tile::LoadOp op, size_t portion);
  void loadAhead(mlir::Value values, size_t pair);

  // TileHeld.cpp
  mlir::LogicalResult hold(tile::HoldOp op);
  mlir::Value heldAt(tile::HoldOp op);
  mlir::Value heldPair(mlir::Value first, tile::HoldOp op, size_t number);
  mlir::Value loadHeld(tile::HoldOp op, size_t number);
  llvm::SmallVector<mlir::Value> pinned(llvm::ArrayRef<mlir::Value> pairs);

  // TileMeetings.cpp
  void initialiseMeeting();
  mlir::LogicalResult meet(tile::MeetOp op);
  mlir::Value meetingBarrier(bool empty);
  void waitForUnits(mlir::Value barrier, mlir::Value phase);
  mlir::LogicalResult bring(tile::MeetOp op);
  void take(tile::MeetOp op);

  // TileResults.cpp
  mlir::Value pairOf(mlir::Value values, size_t number);
  mlir::Value mapPair(tile::MapOp op, llvm::ArrayRef<mlir::Value> pairs);
  mlir::Value narrow(mlir::Value pair, mlir::FloatType to);
  mlir::LogicalResult put(tile::PutOp op);
  mlir::LogicalResult putClipped(tile::PutOp op);
  mlir::LogicalResult putStaged(tile::PutOp op);
  void stagePairs(llvm::ArrayRef<mlir::Value> results, int64_t part,
                  mlir::Value staging);
  void stageWide(llvm::ArrayRef<mlir::Value> results, int64_t part,
                 mlir::Value staging);

  // TileStores.cpp
  mlir::LogicalResult putDirect(tile::PutOp op);
  mlir::Value hasPieces(tile::ViewOp view, tile::ValuesType type);
  void exchange(llvm::MutableArrayRef<mlir::Value> words);
  void storePieces(llvm::ArrayRef<mlir::Value> results, int64_t column,
                   Place place);
  void storeElements(llvm::ArrayRef<mlir::Value> results, int64_t column,
                     const Place &place);

  mlir::Value i32(int64_t v);
  mlir::Value i64(int64_t v);
  mlir::Value add(mlir::Value a, mlir::Value b);
  mlir::Value mul(mlir::Value a, int64_t b);
  mlir::Value shared(mlir::Value offset);
  mlir::Value toCluster(mlir::Value sharedPointer);
  mlir::Value mapArgument(const TensorMap &map);
  mlir::Value isLess(mlir::Value a, mlir::Value b);
  mlir::Value isZero(mlir::Value value);
  /// Runs `body` in threads where the condition holds.
  void guarded(mlir::Value condition, llvm::function_ref<void()> body);
  mlir::Value assembly(mlir::Type result, mlir::ValueRange operands,
                       llvm::StringRef text, llvm::StringRef constraints);

  tile::FuncOp func;
  TileLayout layout;
  tile::ScheduleAttr schedule;
  mlir::OpBuilder builder;
  mlir::Location loc;
  mlir::LLVM::LLVMFuncOp target;
  mlir::Block *entry = nullptr;
  unsigned slots = 0;
  /// Set in the prologue: the shared memory, as a pointer and a number, the
  /// thread's index in the CTA and in its warpgroup, and the CTA's in a cluster.
  mlir::Value base, baseNumber, thread, own, lane, rank;
  mlir::Value consumer; // its number in the CTA, in that role
  /// Of each pipe: the producer's, and a consumer's first and last stage.
  llvm::DenseMap<mlir::Value, Cursor> produced, waited, released;
  Cursor met; ///< only the phase
  llvm::DenseMap<mlir::Value, mlir::Value> offsets; // of blocks
  llvm::DenseMap<mlir::Value, llvm::SmallVector<mlir::Value>>
      pairs; // of sums and of what has been loaded
  llvm::DenseMap<mlir::Value, Place> places; // of what is loaded
  size_t portionPairs = 0;
  /// Products that are emitted, and how many a group of instructions has at
  /// most.
  llvm::DenseSet<mlir::Operation *> computed;
  int64_t productsOfGroup = 1;
};

} // namespace bitpact::codegen

#endif
