// RuleChecker.h - the parts of checkContract
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef BITPACT_DIALECTS_PACT_RULECHECKER_H
#define BITPACT_DIALECTS_PACT_RULECHECKER_H

#include "dialects/Pact/Rules.h"

#include "llvm/ADT/DenseMap.h"

namespace bitpact::pact {

/// How a merge order writes an atom's arithmetic: `dot.nv(16,25)`. Atoms of one
/// arithmetic for several element formats have names of their own.
std::string arithmeticOf(AtomOp op);

struct RuleChecker {
  ContractOp contract;
  OperatorOp op;
  FindDefinition find;
  ReportField report;
  /// Format of every value of the operator under this contract; null for
  /// extents and constants.
  llvm::DenseMap<mlir::Value, mlir::Type> formats{};

  // Rules.cpp
  mlir::LogicalResult checkDims();
  mlir::LogicalResult checkTensors();
  mlir::LogicalResult checkNodes();

  // DomainRules.cpp
  mlir::LogicalResult checkDomains();

  // SiteRules.cpp
  mlir::LogicalResult checkRounding();
  mlir::LogicalResult checkPrimitives();

private:
  /// Every name is bound in a field, and nothing else is, but for those that
  /// have been reported.
  mlir::LogicalResult checkKeys(llvm::StringRef field, llvm::StringRef what,
                                mlir::DictionaryAttr bound,
                                llvm::ArrayRef<llvm::StringRef> names,
                                llvm::StringRef missing,
                                llvm::StringRef unknown,
                                llvm::ArrayRef<llvm::StringRef> reported = {});
  mlir::LogicalResult checkFormat(llvm::ArrayRef<llvm::StringRef> path,
                                  llvm::StringRef what, mlir::Attribute bound);
  mlir::LogicalResult checkIndex(llvm::StringRef tensor, mlir::Attribute bound);
  mlir::LogicalResult checkBounds(llvm::StringRef tensor,
                                  mlir::Attribute bound);
  mlir::LogicalResult checkNode(ReduceOp reduce, NodeAttr node);
  mlir::LogicalResult checkStored(ReduceOp reduce, NodeAttr node, int64_t dim);
  mlir::LogicalResult checkOffsets(ReduceOp reduce, NodeAttr node);
  mlir::LogicalResult checkExact(mlir::Operation *value, llvm::StringRef site);
  mlir::LogicalResult checkStep(ReduceOp reduce, mlir::Operation *definition);
  /// S6 and A1: the primitive sites that this contract's nodes and functions
  /// have are bound, and no others.
  mlir::LogicalResult checkPrimitiveSites();
  mlir::LogicalResult checkState(ReduceOp reduce);
  /// The function of a site, if it takes values of these formats and gives one
  /// that widens to `result`; a null `result` is any.
  mlir::LogicalResult checkFunctionAt(llvm::StringRef site,
                                      llvm::ArrayRef<mlir::Type> arguments,
                                      mlir::Type result);
  mlir::LogicalResult checkFunction(ApplyOp apply, mlir::Operation *definition);
  mlir::LogicalResult checkArguments(llvm::StringRef site, mlir::Operation *use,
                                     mlir::FunctionType type);
  mlir::Type formatOf(mlir::Operation *value);
  /// Runs a question to the algebra; its RuleError is reported at the path.
  mlir::LogicalResult ask(llvm::ArrayRef<llvm::StringRef> path,
                          llvm::StringRef node,
                          llvm::function_ref<void()> question);
  static std::string list(llvm::ArrayRef<llvm::StringRef> names);
};

} // namespace bitpact::pact

#endif // BITPACT_DIALECTS_PACT_RULECHECKER_H
