// TileProgram.h - the body of a tile kernel
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef BITPACT_CODEGEN_LOWERING_TILEPROGRAM_H
#define BITPACT_CODEGEN_LOWERING_TILEPROGRAM_H

#include "codegen/Lowering/TileParts.h"
#include "codegen/Lowering/TilePlan.h"
#include "codegen/Lowering/TileUnits.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"

namespace bitpact::lowering {

/// Writes the body of one kernel.
class TileProgram {
public:
  TileProgram(pact::ContractOp contract, TileFamily family, tile::FuncOp func);

  void emit();

private:
  using Body = llvm::function_ref<void(mlir::Value row, mlir::Value col)>;
  using Values = llvm::SmallVector<mlir::Value>;

  mlir::Type typeOf(llvm::StringRef tensor) {
    return cast<mlir::TypeAttr>(contract.getTypes().get(tensor)).getValue();
  }
  mlir::Value i32(int64_t value) {
    return mlir::arith::ConstantIntOp::create(builder, loc, value, 32);
  }
  mlir::Value narrow(mlir::Value wide) {
    return mlir::arith::TruncIOp::create(builder, loc, builder.getI32Type(),
                                         wide);
  }
  /// Blocks of that length in a dim, as i32.
  mlir::Value blocksOf(llvm::StringRef dim, int64_t length) {
    mlir::Value beyond = mlir::arith::AddIOp::create(
        builder, loc, narrow(func.slot(dim)), i32(length - 1));
    return mlir::arith::DivUIOp::create(builder, loc, beyond, i32(length));
  }
  // TileProgram.cpp
  mlir::Value view(llvm::StringRef tensor, llvm::StringRef rowDim,
                   llvm::StringRef colDim);
  mlir::Value viewOf(pact::InputOp input);
  /// A stack of matrices whose rows and columns are these dims.
  mlir::Value stackOf(llvm::StringRef tensor, llvm::StringRef rowDim,
                      llvm::StringRef colDim);
  mlir::Value firstRow(mlir::Value block);
  mlir::Value firstCol(mlir::Value block);
  mlir::Value lastBlock(llvm::StringRef dim, int64_t size);
  void forEachBlock(Body body);
  /// Stages of one chain.
  struct Stages {
    mlir::Value first, end;
    bool isFirst, isLast; ///< of the chains of a block
  };
  /// A loop over stages from `first` to `end`.
  mlir::scf::ForOp forEachStage(mlir::Value first, mlir::Value end,
                                mlir::ValueRange carried);
  void blockAt(mlir::Value index, mlir::Value rowBlocks, Body body);
  tile::PendingType sumsType();
  tile::ValuesType valuesOf(mlir::Type element);
  /// Of the columns of a unit.
  tile::ValuesType ownValuesOf(mlir::Type element);
  llvm::SmallVector<mlir::Value> loadOthers(mlir::Value row, mlir::Value col);
  /// One for each product, complete.
  llvm::SmallVector<mlir::Value> await(mlir::ValueRange sums);
  mlir::Value epilogue(mlir::ValueRange sums, mlir::ValueRange others);

  // TileSegments.cpp: rows that are cut at offsets.
  void checkSegments();
  mlir::Value offsetAt(mlir::Value index);
  void forEachSegment(mlir::Value first, mlir::Value step, Body body);
  mlir::Value mostBlocks();

  // TileMerges.cpp
  Stages stagesOf(const PartTree &chain);
  /// Complete sums of one chain, one for each product.
  using SumsOf = llvm::function_ref<llvm::SmallVector<mlir::Value>(Stages)>;
  /// The sums of a block, of which `sumsOf` computes one chain after the other:
  /// in the accumulator's format.
  llvm::SmallVector<mlir::Value> sumsOfParts(SumsOf sumsOf,
                                             mlir::Value row = mlir::Value());
  mlir::Value valueOf(const PartTree &tree, int64_t slot, SumsOf sumsOf);
  mlir::Value valueOf(const PartTree &tree, mlir::ValueRange met);
  mlir::ValueRange meet(SumsOf sumsOf, mlir::Value row);
  mlir::Value ownCol(mlir::Value col);
  mlir::Value rounded(mlir::ValueRange values,
                      llvm::ArrayRef<algebra::Format> roundings);

  // TileRoles.cpp: a producer and consumers, or consumers that copy.
  void produce();
  void consume(mlir::Value number);
  void copyAndConsume(mlir::Value number);
  void fetchStage(mlir::Value row, mlir::Value col, mlir::Value stage,
                  mlir::Value fetched = mlir::Value());
  void commit(mlir::Value bytes = mlir::Value());
  void countRows();
  void countBoxes(mlir::Value row);
  tile::WaitOp waitForStage(int64_t ahead = 0);
  mlir::Value columnsOf(mlir::Value stage);
  /// All products of a stage, after `sums` if there are any.
  llvm::SmallVector<mlir::Value> dot(mlir::Value number, tile::WaitOp stage,
                                     mlir::ValueRange sums,
                                     mlir::Value columns);
  llvm::SmallVector<mlir::Value> settle(mlir::ValueRange sums, int64_t stages);
  mlir::Value ownRow(mlir::Value number, mlir::Value row);

  // TileEarly.cpp: what is copied before the launch may read all.
  void fetchEarly();
  void prefetchBehind(mlir::Value stage, mlir::Value steady);
  void fetchSecond(mlir::ResultRange stored, mlir::Value col, mlir::Value depth,
                   mlir::Value unless);
  mlir::Value fetchedBefore(mlir::Value row, mlir::Value col);

  // TileAlone.cpp: a program without roles.
  void computeAlone();
  mlir::Value take(pact::ReduceOp dot, mlir::Value rows, mlir::Value cols,
                   mlir::Value sums);

  pact::ContractOp contract;
  TileFamily family;
  tile::FuncOp func;
  tile::ScheduleAttr schedule;
  mlir::FloatType accumulator;
  int64_t extent = 1; ///< of the reduced dim, where it is fixed
  PartTree parts;
  std::optional<UnitParts> ofUnits; ///< where several share a block
  std::vector<const PartTree *> chains; ///< of the program, or of unit 0
  mlir::OpBuilder builder;
  mlir::Location loc;
  mlir::Value a, result, pipe;
  llvm::SmallVector<mlir::Value> b, others; // views
  /// Of the rows of a block, where not all are copied: boxes, how many rows
  /// these have, and the bytes of a stage.
  mlir::Value boxes, boxRows, stageBytes;
  mlir::Value isOneRow; ///< of blocks
  /// Whether second operands are the first to leave the cache of the device, and
  /// whether results leave room there.
  mlir::Value once, hasFewResults;
  mlir::Value unit;     ///< of several
  /// Stages of the program's first block, and where it lies.
  struct {
    mlir::Value stages, row, col;
  } early;
  /// Where there are segments: whether the offsets are good, how many segments
  /// there then are, and how many rows and matrices.
  mlir::Value isGood, segments, rows, matrices;
  /// Of the segment of a block: its first row and the one behind the last, the
  /// matrix that it takes, and whether there is one.
  mlir::Value start, end, matrix, exists;
  mlir::Value rowBlocks, colBlocks, depthBlocks;
  tile::BlockType blockA;
  llvm::SmallVector<tile::BlockType> blockB;
  llvm::SmallVector<mlir::Type> blocks; ///< of a stage: all of these
};

} // namespace bitpact::lowering

#endif // BITPACT_CODEGEN_LOWERING_TILEPROGRAM_H
