// Expand.cpp - rules C8 and C9: base files and presets
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/Reader/Expand.h"

#include "compiler/Reader/Structure.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace mlir;
using namespace bitpact;
using namespace bitpact::reader;
using Kind = reader::Value::Kind;

/// Reads a file and the files it extends. `chain` holds the real paths of the
/// files being read.
static FailureOr<reader::Value> readChain(StringRef path, Location from,
                                          std::vector<std::string> &chain) {
  SmallString<256> real;
  if (llvm::sys::fs::real_path(path, real))
    real = path;
  if (llvm::is_contained(chain, real.str())) {
    std::string cycle;
    for (const std::string &file : chain)
      cycle += llvm::sys::path::filename(file).str() + " -> ";
    emitError(from) << "'extends' goes in a circle: " << cycle
                    << llvm::sys::path::filename(real) << " [C8]";
    return failure();
  }
  chain.push_back(real.str().str());
  llvm::scope_exit done([&] { chain.pop_back(); });

  FailureOr<Document> document = readDocument(path, from);
  if (failed(document) || failed(checkContractFile(document->root)))
    return failure();
  const reader::Value *base = document->root.get("extends");
  if (!base || base->is(Kind::Null))
    return std::move(document->root);

  SmallString<256> file(base->text);
  if (llvm::sys::path::is_relative(file)) {
    file = llvm::sys::path::parent_path(path);
    llvm::sys::path::append(file, base->text);
  }
  FailureOr<reader::Value> result = readChain(file, base->loc, chain);
  if (failed(result))
    return failure();
  document->root.erase("extends");
  mergePatch(*result, document->root);
  result->loc = document->root.loc;
  return result;
}

/// Replaces a node by its presets in order, and its own keys on top.
static LogicalResult fillNode(reader::Value &node, const Library &library) {
  const reader::Value *use = node.get("use");
  if (!use)
    return success();
  std::vector<reader::Value> names;
  if (use->is(Kind::Array))
    names = use->items;
  else
    names.push_back(*use);

  reader::Value filled(Kind::Object, node.loc);
  for (const reader::Value &name : names) {
    StringRef file = library.findPreset(name.text);
    if (file.empty())
      return emitError(name.loc)
             << "unknown preset '" << name.text << "'; there are "
             << library.presetNames() << " [C9]";
    FailureOr<Document> preset = readDocument(file, name.loc);
    if (failed(preset) || failed(checkPresetFile(preset->root)))
      return failure();
    const reader::Value *fields = preset->root.get("node");
    if (!fields)
      return emitError(preset->root.loc) << "the preset has no key 'node' [C6]";
    if (const Member *nested = fields->find("use"))
      return emitError(nested->loc) << "a preset cannot use presets [C9]";
    mergePatch(filled, *fields);
  }
  reader::Value own = node;
  own.erase("use");
  mergePatch(filled, own);
  filled.loc = node.loc;
  filled.begin = node.begin;
  filled.end = node.end;
  node = std::move(filled);
  return success();
}

FailureOr<reader::Value> reader::expandContract(StringRef path,
                                                const Library &library,
                                                MLIRContext *context) {
  std::vector<std::string> chain;
  FailureOr<Value> root =
      readChain(path, FileLineColLoc::get(context, path, 0, 0), chain);
  if (failed(root))
    return failure();
  bool ok = true;
  if (const Value *found = root->get("nodes"))
    for (Member &node : const_cast<Value *>(found)->members)
      ok &= succeeded(fillNode(node.value, library));
  if (!ok || failed(checkComplete(*root)))
    return failure();
  return root;
}
