// Library.cpp - finds and parses the files of a contracts directory
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/Reader/Library.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace mlir;
using namespace bitpact;
using namespace bitpact::reader;

/// Files of a directory with an extension, sorted so that every run is equal.
static FailureOr<std::vector<std::string>>
listFiles(StringRef directory, StringRef extension, MLIRContext *context) {
  std::vector<std::string> files;
  std::error_code error;
  for (llvm::sys::fs::directory_iterator it(directory, error), end;
       !error && it != end; it.increment(error))
    if (llvm::sys::path::extension(it->path()) == extension)
      files.push_back(it->path());
  if (error) {
    emitError(FileLineColLoc::get(context, directory, 0, 0))
        << "cannot read the definitions: " << error.message();
    return failure();
  }
  llvm::sort(files);
  return files;
}

LogicalResult Library::loadDefinitions(StringRef directory,
                                       MLIRContext *context) {
  auto files = listFiles(directory, ".mlir", context);
  if (failed(files))
    return failure();
  for (const std::string &file : *files) {
    auto module = parseSourceFile<ModuleOp>(file, context);
    if (!module)
      return failure();
    for (Operation &op : module->getBodyRegion().front()) {
      bool fresh = true;
      if (auto oper = dyn_cast<pact::OperatorOp>(op))
        fresh = operators
                    .emplace((oper.getSymName() + "@" +
                              std::to_string(oper.getVersion()))
                                 .str(),
                             oper)
                    .second;
      else if (isa<pact::PrimitiveOp, pact::AtomOp>(op))
        fresh = definitions.emplace(SymbolTable::getSymbolName(&op).str(), &op)
                    .second;
      else
        return op.emitError("is no operator, primitive or atom");
      if (!fresh)
        return op.emitError("is defined twice");
    }
    modules.push_back(std::move(module));
  }
  return success();
}

FailureOr<Library> Library::load(StringRef directory, MLIRContext *context) {
  context->loadDialect<pact::PactDialect, arith::ArithDialect>();
  Library library;
  SmallString<256> folder;
  for (StringRef name : {"ops", "primitives"}) {
    folder = directory;
    llvm::sys::path::append(folder, name);
    if (failed(library.loadDefinitions(folder, context)))
      return failure();
  }
  folder = directory;
  llvm::sys::path::append(folder, "presets");
  auto files = listFiles(folder, ".json", context);
  if (failed(files))
    return failure();
  for (const std::string &file : *files)
    library.presets.emplace(llvm::sys::path::stem(file), file);
  return library;
}

pact::OperatorOp Library::findOperator(StringRef nameAtVersion) const {
  auto found = operators.find(std::string_view(nameAtVersion));
  return found == operators.end() ? pact::OperatorOp() : found->second;
}

Operation *Library::findDefinition(StringRef name) const {
  auto found = definitions.find(std::string_view(name));
  return found == definitions.end() ? nullptr : found->second;
}

StringRef Library::findPreset(StringRef name) const {
  auto found = presets.find(std::string_view(name));
  return found == presets.end() ? StringRef() : StringRef(found->second);
}

template <typename Map> static std::string joinKeys(const Map &map) {
  std::string text;
  for (const auto &[name, value] : map)
    text += (text.empty() ? "" : ", ") + name;
  return text.empty() ? "none" : text;
}

std::string Library::operatorNames() const { return joinKeys(operators); }
std::string Library::definitionNames() const { return joinKeys(definitions); }
std::string Library::presetNames() const { return joinKeys(presets); }
