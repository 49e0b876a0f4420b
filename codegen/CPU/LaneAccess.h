// LaneAccess.h - loads and stores of all lanes at once
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef BITPACT_CODEGEN_CPU_LANEACCESS_H
#define BITPACT_CODEGEN_CPU_LANEACCESS_H

#include "dialects/Kernel/KernelDialect.h"
#include "mlir/IR/Builders.h"

namespace bitpact::codegen {

/// Lanes that stand side by side in memory move in one access and are taken
/// apart in registers; lanes that all read one place share a scalar access;
/// others are visited one by one. Elements move as integers: 16-bit floats
/// have no vector operations on x86-64-v3.
class LaneAccess {
public:
  LaneAccess(mlir::OpBuilder &builder, mlir::Location loc)
      : builder(builder), loc(loc) {}

  llvm::SmallVector<mlir::Value> load(kernel::LoadOp op);
  void store(kernel::StoreOp op);

private:
  /// What loads and stores have in common.
  struct Access {
    mlir::Value base, laneOffsets;
    mlir::ValueRange masks;
    int64_t laneStride, lanes, pack;
    mlir::Type element; // an integer
    unsigned bytes;
    bool contiguous() const { return !laneOffsets && laneStride == pack; }
    bool isWords() const { return bytes == 2 && pack == 8 && lanes >= 4; }
    bool shared() const { return !laneOffsets && laneStride == 0; }
  };
  Access accessOf(mlir::Operation *op, mlir::Value buffer, mlir::Value offset,
                  mlir::Value laneOffsets, mlir::ValueRange masks,
                  int64_t laneStride, mlir::ValueRange values);

  mlir::Value i64(int64_t v);
  mlir::Value address(const Access &a, int64_t lane, int64_t j);
  mlir::Value maskOf(const Access &a, int64_t lane, int64_t j);
  /// One mask bit an element, lane by lane.
  mlir::Value wideMask(const Access &a);
  mlir::Value shuffle(mlir::Value v, llvm::ArrayRef<int32_t> indices);
  mlir::Value interleave(llvm::ArrayRef<mlir::Value> values, int64_t lanes);
  mlir::Value guarded(mlir::Value mask, mlir::Type type,
                      llvm::function_ref<mlir::Value()> body);
  llvm::SmallVector<mlir::Value> loadWords(const Access &a);
  llvm::SmallVector<mlir::Value> transposeWords(const Access &a,
                                                llvm::ArrayRef<mlir::Value> z);
  llvm::SmallVector<mlir::Value> loadContiguous(const Access &a);
  llvm::SmallVector<mlir::Value> loadShared(const Access &a);
  llvm::SmallVector<mlir::Value> loadEach(const Access &a);

  mlir::OpBuilder &builder;
  mlir::Location loc;
};

} // namespace bitpact::codegen

#endif
