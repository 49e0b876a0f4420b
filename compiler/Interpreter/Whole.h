// Whole.h - primitives that a proof takes as one operation
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef BITPACT_COMPILER_INTERPRETER_WHOLE_H
#define BITPACT_COMPILER_INTERPRETER_WHOLE_H

#include "compiler/Interpreter/Scalar.h"
#include "dialects/Pact/Pact.h"

#include <optional>
#include <vector>

namespace bitpact::interpreter {

/// The primitives of a contract by number. Where a kernel has exactly the
/// operations of one, and the contract applies it, both are one term: equal
/// terms still have equal bits, and there are twenty times fewer of them. A
/// kernel that has others, in another order say, differs from the contract in
/// these terms and is then compared without them.
class WholePrimitives {
public:
  WholePrimitives() = default;
  explicit WholePrimitives(pact::ContractOp contract);

  /// The number of a primitive; nothing if it is not taken whole.
  std::optional<int> find(pact::PrimitiveOp primitive) const;

  /// A primitive found in a block of a kernel.
  struct Match {
    int primitive;
    mlir::SmallVector<mlir::Operation *> operations;
    mlir::SmallVector<mlir::Value> arguments;
  };
  /// Of the operations from `first` on, constants skipped, those that are a
  /// primitive and whose values nobody else uses, except for the last one's.
  std::optional<Match> match(mlir::Operation &first) const;

private:
  std::vector<pact::PrimitiveOp> primitives;
};

} // namespace bitpact::interpreter

#endif
