// ClusterProgram.h - of a kernel, what its threads do to integers and barriers
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef BITPACT_CODEGEN_NVPTX_CLUSTERPROGRAM_H
#define BITPACT_CODEGEN_NVPTX_CLUSTERPROGRAM_H

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "llvm/Support/Error.h"

namespace bitpact::codegen {

/// One thread of a cluster of a launch with that many.
struct ClusterThread {
  int64_t rank = 0, number = 0, clusters = 1;
  std::vector<int64_t> registers, cells;
};

/// The slice of a kernel in the LLVM and NVVM dialects that decides where its
/// threads go, which barriers they use and where in shared memory they bring
/// and take what. Values of tensors are not in it.
struct ClusterProgram {
  enum class Kind {
    // Integers of `width` bits.
    Add,
    Sub,
    Mul,
    UDiv,
    URem,
    And,
    Or,
    Xor,
    Shl,
    LShr,
    AShr,
    UMin,
    UMax,
    SMin,
    SMax,
    Compare, ///< by `predicate`
    Select,
    Resize,     ///< without a sign
    SignExtend, ///< from `number` bits
    Offset,     ///< in shared memory, by `number` times the second operand
    Map,        ///< an address in the CTA of that rank
    // Where a thread is.
    Thread,
    Rank,
    Cluster,
    Clusters,
    // A cell of a thread's own, `number`.
    LoadCell,
    StoreCell,
    // Barriers; `number` is not 0 where bytes that arrive are counted, or what
    // other CTAs did is seen.
    Init,
    Arrive,
    ArriveThere, ///< at that barrier of the CTA of that rank
    Wait,
    ClusterArrive,
    ClusterWait,
    WarpSync,
    // `number` bytes of shared memory.
    Send,
    Take,
    // Edges `number` and, where a condition does not hold, the next.
    Jump,
    Branch,
    Return,
  };
  struct Step {
    Kind kind;
    mlir::Operation *op = nullptr;
    int result = -1; ///< register
    int operands[3] = {-1, -1, -1};
    int64_t number = 0;
    unsigned width = 32;
    mlir::LLVM::ICmpPredicate predicate = mlir::LLVM::ICmpPredicate::eq;
  };
  struct Edge {
    size_t step;
    llvm::SmallVector<std::pair<int, int>> moves; ///< from, to
  };
  std::vector<Step> steps;
  std::vector<Edge> edges;
  /// Registers as they begin: constants, and zero. Arguments are the first
  /// ones.
  std::vector<int64_t> registers;
  size_t cells = 0;

  /// Shared memory begins there.
  static constexpr int64_t kBase = 1024;
  static int64_t masked(int64_t value, unsigned width) {
    return width >= 64 ? value : value & ((int64_t(1) << width) - 1);
  }

  /// Addresses of other CTAs have their rank above these bits, and one.
  static constexpr int kRankShift = 24;
  static int64_t rankOf(int64_t address, int64_t own) {
    return address >> kRankShift ? (address >> kRankShift) - 1 : own;
  }
  static int64_t offsetOf(int64_t address) {
    return (address & ((int64_t(1) << kRankShift) - 1)) - kBase;
  }
  static int64_t addressIn(int64_t rank, int64_t offset) {
    return (offset + kBase) | (rank + 1) << kRankShift;
  }

  /// What a step on integers gives; more bits than it has may be set.
  static int64_t valueOf(const Step &step, const ClusterThread &thread);

  /// The error names an operation whose result nobody can tell.
  static llvm::Expected<ClusterProgram> of(mlir::LLVM::LLVMFuncOp kernel);
};

} // namespace bitpact::codegen

#endif // BITPACT_CODEGEN_NVPTX_CLUSTERPROGRAM_H
