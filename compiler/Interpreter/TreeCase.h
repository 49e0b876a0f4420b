// TreeCase.h - a launch on symbols, and what its contract declares of it
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef BITPACT_COMPILER_INTERPRETER_TREECASE_H
#define BITPACT_COMPILER_INTERPRETER_TREECASE_H

#include "compiler/Interpreter/Declared.h"

namespace bitpact::interpreter {

/// The shape of a launch, and the numbers in it that decide what is computed.
struct Launch {
  int64_t extent = 0, rows = 1;
  std::vector<int64_t> offsets{}, indices{};
  LeftOut leftOut{};
  bool operator==(const Launch &) const = default;
};

/// Tensors of symbols for one launch, and the terms that the contract declares
/// for its outputs. Nothing in here depends on a schedule: kernels of several
/// may run on the same one, one after the other.
class TreeCase {
public:
  TreeCase(pact::ContractOp contract, pact::OperatorOp op, Launch launch,
           WholePrimitives whole);
  TreeCase(const TreeCase &) = delete;

  /// Tensors for one run, outputs unwritten, aligned as `steps` ask for.
  std::map<std::string, Buffer>
  tensors(llvm::ArrayRef<kernel::FuncOp> steps) const;
  std::map<std::string, int64_t> dims() const;

  /// Every element of the outputs: what is declared, and what is there.
  mlir::LogicalResult forEachElement(
      const std::map<std::string, Buffer> &written,
      llvm::function_ref<mlir::LogicalResult(pact::OutputOp, int64_t, int64_t,
                                             TermId, TermId)>
          see);

  /// Some node's merges have an open order; maxima are then compared as sets.
  bool hasOpenOrder();
  /// Some node's maximum runs; then maxima are sets everywhere.
  bool isOnline();
  std::vector<NodeTerms> &nodes() { return declared->nodes(); }

  TermStore terms;
  const WholePrimitives whole;

private:
  int64_t sizeOf(mlir::StringAttr dim) const;
  void findOffsets();
  void addBuffer(llvm::StringRef tensor, pact::RealType type, bool isOutput);
  void addIndex(pact::IndexOp index);
  void fill();

  pact::ContractOp contract;
  pact::OperatorOp op;
  Launch launch;
  /// The dim of the tensor that has the offsets.
  mlir::StringAttr offsetsDim, reduced;
  std::map<std::string, Buffer> buffers; ///< without strides
  std::optional<Declared> declared;
};

} // namespace bitpact::interpreter

#endif
