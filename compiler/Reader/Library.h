// Library.h - the operators, primitives and presets that contracts name
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef BITPACT_COMPILER_READER_LIBRARY_H
#define BITPACT_COMPILER_READER_LIBRARY_H

#include "dialects/Pact/Pact.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

#include <map>

namespace bitpact::reader {

/// Everything below one `contracts` directory: ops/*.mlir, primitives/*.mlir
/// and presets/*.json. Presets are read when a contract uses them.
class Library {
public:
  /// Errors go to the context's diagnostic engine. Loads the dialects that
  /// definitions are written in.
  static mlir::FailureOr<Library> load(llvm::StringRef directory,
                                       mlir::MLIRContext *context);

  /// The operator called `name@version`, or null.
  pact::OperatorOp findOperator(llvm::StringRef nameAtVersion) const;
  /// The primitive or atom of a name, or null.
  mlir::Operation *findDefinition(llvm::StringRef name) const;
  /// The file of a preset, or "".
  llvm::StringRef findPreset(llvm::StringRef name) const;

  /// All names, sorted, with commas between, for messages.
  std::string operatorNames() const;
  std::string definitionNames() const;
  std::string presetNames() const;

private:
  mlir::LogicalResult loadDefinitions(llvm::StringRef directory,
                                      mlir::MLIRContext *context);

  std::vector<mlir::OwningOpRef<mlir::ModuleOp>> modules;
  std::map<std::string, pact::OperatorOp, std::less<>> operators;
  std::map<std::string, mlir::Operation *, std::less<>> definitions;
  std::map<std::string, std::string, std::less<>> presets;
};

} // namespace bitpact::reader

#endif // BITPACT_COMPILER_READER_LIBRARY_H
