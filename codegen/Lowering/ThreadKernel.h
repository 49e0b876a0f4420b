// ThreadKernel.h - distributed kernels to the LLVM dialect, for every GPU
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef BITPACT_CODEGEN_LOWERING_THREADKERNEL_H
#define BITPACT_CODEGEN_LOWERING_THREADKERNEL_H

#include "dialects/Kernel/KernelDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

#include <map>

namespace bitpact::lowering {

/// Turns one kernel whose lanes are threads into an `llvm.func`. A GPU target
/// derives from it and adds what only it has: its attributes, the indices of
/// threads and groups, the shuffle and the barrier.
class ThreadKernel {
public:
  /// Lanes in lockstep, the address space of a thread's own memory, and whether
  /// wide accesses must be aligned.
  struct Machine {
    llvm::StringRef name; // `NVIDIA GPUs`, for messages
    int64_t subgroup;
    unsigned privateSpace;
    bool alignsAccesses;
  };

  ThreadKernel(kernel::FuncOp func, Machine machine);
  virtual ~ThreadKernel() = default;

  /// Replaces the kernel. arith and scf stay.
  mlir::LogicalResult run();

protected:
  /// Marks the function as a kernel launched with so many threads.
  virtual void markKernel(mlir::LLVM::LLVMFuncOp kernel, int64_t threads) = 0;
  /// Index of the thread in its CTA, and of the CTA: i32.
  virtual mlir::Value threadIndex() = 0;
  virtual mlir::Value groupIndex() = 0;
  /// Of the CTA among those that share their rows: i32.
  virtual mlir::Value partIndex() = 0;
  /// `value` (i32 or f32) of the lane at `distance`.
  virtual mlir::Value shuffle(mlir::Value value, int64_t distance) = 0;
  /// `value` (i32) of the thread before or after this one in its subgroup; its
  /// own at the end. Only for machines that align accesses.
  virtual mlir::Value neighbour(mlir::Value value, bool next) = 0;
  /// All threads of the CTA meet; their shared memory is seen by all.
  virtual void barrier() = 0;

  mlir::Value i64(int64_t v);
  mlir::Value i32(int64_t v);

  kernel::FuncOp func;
  mlir::OpBuilder builder;
  mlir::Location loc;
  /// i32, set in the prologue.
  mlir::Value thread;

private:
  void createFunction();
  void prologue(mlir::Value rows, mlir::Block *body, mlir::Block *exit);
  mlir::LogicalResult convert(mlir::Operation *op);
  mlir::Value pointer(mlir::Value buffer, mlir::Type element,
                      mlir::Value offset, mlir::Value laneOffsets,
                      int64_t laneStride);
  void load(kernel::LoadOp op);
  void store(kernel::StoreOp op);
  /// In ThreadUnaligned.cpp.
  struct Unaligned;
  bool isUnaligned(mlir::Type element, size_t count, int64_t align,
                   mlir::Value laneOffsets, int64_t laneStride) const;
  Unaligned unaligned(mlir::Value at, mlir::Type element, size_t count,
                      mlir::ValueRange masks, bool isStore);
  void loadUnaligned(kernel::LoadOp op, mlir::Value from);
  void storeUnaligned(kernel::StoreOp op, mlir::Value to);
  void fault(kernel::FaultOp op);
  mlir::Value cell(mlir::Value scratch, mlir::Type type, mlir::Value index);
  mlir::Value exchange(mlir::Value value, int64_t distance);
  mlir::Value exchangeFar(kernel::ExchangeOp op);
  /// A cell of shared memory for each lane, not used for anything else.
  mlir::Value sharedCells(mlir::Type type);
  void gather(kernel::GatherOp op);
  /// Runs `body` where `mask` holds; its values are zero elsewhere.
  mlir::SmallVector<mlir::Value>
  guarded(mlir::Value mask, mlir::TypeRange types,
          llvm::function_ref<mlir::SmallVector<mlir::Value>()> body);

  Machine machine;
  kernel::ScheduleAttr schedule;
  mlir::LLVM::LLVMFuncOp target;
  mlir::Value program, lane;
  unsigned gathers = 0, farExchanges = 0;
  /// Names of shared cells by type and turn.
  std::map<std::pair<const void *, unsigned>, std::string> farCells;
};

} // namespace bitpact::lowering

#endif
