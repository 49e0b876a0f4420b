// RuleChecker.h - the parts of checkContract
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef BITPACT_DIALECTS_PACT_RULECHECKER_H
#define BITPACT_DIALECTS_PACT_RULECHECKER_H

#include "dialects/Pact/Rules.h"

#include "llvm/ADT/DenseMap.h"

namespace bitpact::pact {

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

  // SiteRules.cpp
  mlir::LogicalResult checkRounding();
  mlir::LogicalResult checkPrimitives();

private:
  /// Every name is bound in a field, and nothing else is.
  mlir::LogicalResult checkKeys(llvm::StringRef field, llvm::StringRef what,
                                mlir::DictionaryAttr bound,
                                llvm::ArrayRef<llvm::StringRef> names,
                                llvm::StringRef missing,
                                llvm::StringRef unknown);
  mlir::LogicalResult checkFormat(llvm::ArrayRef<llvm::StringRef> path,
                                  llvm::StringRef what, mlir::Attribute bound);
  mlir::LogicalResult checkNode(ReduceOp reduce, NodeAttr node);
  mlir::LogicalResult checkOffsets(ReduceOp reduce, NodeAttr node);
  mlir::LogicalResult checkExact(mlir::Operation *value, llvm::StringRef site);
  mlir::LogicalResult checkStep(ReduceOp reduce, mlir::Operation *definition);
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
