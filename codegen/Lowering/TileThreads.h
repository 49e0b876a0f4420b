// TileThreads.h - tile kernels whose consumers copy, for every GPU
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef BITPACT_CODEGEN_LOWERING_TILETHREADS_H
#define BITPACT_CODEGEN_LOWERING_TILETHREADS_H

#include "codegen/Lowering/WaveProducts.h"
#include "dialects/Kernel/Tiles.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/Support/Error.h"

namespace bitpact::lowering {

/// Threads of a consumer: four waves of 32 lanes or two of 64, side by side in
/// the columns of its part of a block.
inline constexpr int64_t kConsumerThreads = 128;

/// What a launch of such a kernel needs.
struct TileShare {
  int64_t threads, sharedBytes;
};
TileShare shareOf(tile::FuncOp func);

/// One tile kernel whose consumers copy to the LLVM dialect. Each thread copies
/// pieces of 16 bytes, and meets the others at every `tile.wait`; the pipe's
/// order in the kernel is all that keeps a stage from being overwritten.
/// Subclasses name the instructions of a machine.
class TileThreads {
public:
  struct Machine {
    llvm::StringRef name; // `NVIDIA GPUs`, for messages
    int64_t wave;
    unsigned privateSpace;
    /// Conversions to bf16 are the machine's own.
    bool keepBf16;
  };

  TileThreads(tile::FuncOp func, Machine machine)
      : func(func), builder(func), loc(func.getLoc()), machine(machine),
        schedule(func.getSchedule()) {}
  virtual ~TileThreads() = default;

  /// Replaces the kernel. arith and scf stay.
  mlir::LogicalResult run();
  static int64_t bytesOf(tile::BlockType block);

protected:
  /// Marks the function as a kernel launched with so many threads.
  virtual void markKernel(mlir::LLVM::LLVMFuncOp kernel, int64_t threads) = 0;
  /// Index of the thread in its CTA, of the CTA, and their number: i32.
  virtual mlir::Value threadIndex() = 0;
  virtual mlir::Value groupIndex() = 0;
  virtual mlir::Value groups() = 0;
  /// The CTA's shared memory, in the address space of the machine.
  virtual mlir::Value sharedMemory(mlir::LLVM::LLVMFuncOp kernel,
                                   int64_t bytes) = 0;
  /// All threads of the CTA meet; their shared memory is seen by all.
  virtual void barrier() = 0;
  /// For kernels that copy asynchronously: 16 bytes, or as many zeros; the end
  /// of a group of copies; and a wait for all groups but the last few.
  virtual void copyPiece(mlir::Value to, mlir::Value from, mlir::Value exists);
  virtual void commitCopies();
  virtual void waitForCopies(int64_t after);
  /// What multiplies for that operation; none if the machine has no such step.
  virtual std::unique_ptr<WaveProducts> productsOf(tile::DotOp dot,
                                                   WaveShape shape) = 0;

  tile::FuncOp func;
  mlir::OpBuilder builder;
  mlir::Location loc;

private:
  // TileThreads.cpp
  mlir::LogicalResult check();
  void createFunction();
  void prologue();
  mlir::LogicalResult convert(mlir::Operation *op);
  void roles(tile::RolesOp op);
  void offset(tile::OffsetOp op);
  void fault(tile::FaultOp op);

  // TileStages.cpp
  static int64_t rowBytesOf(tile::BlockType block);
  mlir::Value makeCursor();
  mlir::Value stageOf(mlir::Value cursor);
  void advance(mlir::Value cursor, tile::PipeOp pipe);
  void blocksAt(tile::PipeOp pipe, mlir::Value cursor,
                mlir::ResultRange blocks);
  void dot(tile::DotOp op);
  void await(tile::AwaitOp op);

  // TileShares.cpp: copies.
  void fetch(tile::FetchOp op);
  void commit(tile::CommitOp op);
  mlir::Value hasAlignedRows(tile::ViewOp view);
  mlir::Value wholePiece(tile::FetchOp op, mlir::Value row, mlir::Value first);
  mlir::Value pieceOfElements(tile::FetchOp op, mlir::Value row,
                              mlir::Value first);
  mlir::Value absentElement(tile::FetchOp op);
  mlir::Value addressOf(tile::ViewOp view, mlir::Value row, mlir::Value col,
                        mlir::Value matrix = mlir::Value());

  // TileElements.cpp: what becomes of sums.
  mlir::LogicalResult map(tile::MapOp op);
  std::pair<mlir::Value, mlir::Value>
  originOf(tile::ValuesType type, mlir::Value row, mlir::Value col);
  mlir::Value loadElement(tile::LoadOp op, size_t i);
  void put(tile::PutOp op);
  void store(tile::PutOp op, mlir::ValueRange run, mlir::Value row,
             mlir::Value col, mlir::Value end, bool isWhole);

  Machine machine;
  tile::ScheduleAttr schedule;
  mlir::LLVM::LLVMFuncOp target;
  mlir::Block *entry = nullptr;
  std::unique_ptr<WaveProducts> products;
  /// Set in the prologue; the number of a consumer, and of a wave in it.
  mlir::Value base, thread, lane, consumer, wave;
  llvm::DenseMap<mlir::Value, int64_t> firstBytes; // of a pipe
  llvm::DenseMap<mlir::Value, mlir::Value> produced, waited;
  llvm::DenseMap<mlir::Value, mlir::Value> offsets; // of blocks
  /// On their way: where a piece goes, and what it is.
  llvm::SmallVector<std::pair<mlir::Value, mlir::Value>> held;
  llvm::DenseMap<mlir::Value, llvm::SmallVector<mlir::Value>>
      values; // of a thread, in the order of WaveProducts::elements()
};

} // namespace bitpact::lowering

#endif
