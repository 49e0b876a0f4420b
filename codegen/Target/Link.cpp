// Link.cpp - one relocatable to a shared object, with lld as a library
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/Target/Link.h"
#include "codegen/Target/Target.h"
#include "lld/Common/Driver.h"
#include "llvm/Object/ELFObjectFile.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/MemoryBuffer.h"
#include <mutex>

LLD_HAS_DRIVER(elf)

using namespace llvm;

namespace bitpact::codegen {

std::vector<std::string> undefinedSymbols(StringRef object) {
  std::vector<std::string> names;
  auto file = object::ObjectFile::createELFObjectFile(
      MemoryBufferRef(object, "object"));
  if (!file) {
    consumeError(file.takeError());
    names.emplace_back("(unreadable object)");
    return names;
  }
  for (const object::SymbolRef &symbol : (*file)->symbols()) {
    Expected<uint32_t> flags = symbol.getFlags();
    Expected<StringRef> name = symbol.getName();
    if (!flags || !name) {
      consumeError(flags.takeError());
      consumeError(name.takeError());
      continue;
    }
    // The ELF symbol table opens with a null symbol.
    if ((*flags & object::SymbolRef::SF_Undefined) && !name->empty())
      names.push_back(name->str());
  }
  return names;
}

static mlir::FailureOr<std::string> scratch(mlir::Location location,
                                            StringRef suffix) {
  SmallString<128> path;
  if (std::error_code error =
          sys::fs::createTemporaryFile("bitpact", suffix, path))
    return mlir::emitError(location)
           << "no temporary file: " << error.message();
  return path.str().str();
}

mlir::FailureOr<std::vector<uint8_t>>
linkShared(mlir::Location location, StringRef object,
           ArrayRef<const char *> options) {
  auto input = scratch(location, "o"), output = scratch(location, "so");
  if (failed(input) || failed(output))
    return mlir::failure();
  FileRemover removeInput(*input), removeOutput(*output);
  std::error_code error;
  {
    raw_fd_ostream stream(*input, error);
    stream << object;
    stream.close();
    if (error || stream.has_error()) {
      stream.clear_error();
      return mlir::emitError(location) << "cannot write " << *input;
    }
  }
  // No name of a file, no time and no build id enters the object.
  SmallVector<const char *> arguments = {
      "ld.lld",          "-shared",       "-nostdlib",   "--no-undefined",
      "--build-id=none", "-znoexecstack", "--threads=1", "-o",
      output->c_str(),   input->c_str()};
  append_range(arguments, options);
  std::string messages;
  raw_string_ostream stream(messages);
  lld::Result result;
  {
    // lld keeps its state in globals.
    static std::mutex mutex;
    std::lock_guard<std::mutex> lock(mutex);
    result =
        lld::lldMain(arguments, stream, stream, {{lld::Gnu, &lld::elf::link}});
  }
  if (result.retCode != 0)
    return emitCompilerBug(location) << "lld: " << messages;
  auto buffer = MemoryBuffer::getFile(*output);
  if (!buffer)
    return mlir::emitError(location) << "cannot read " << *output;
  StringRef bytes = (*buffer)->getBuffer();
  return std::vector<uint8_t>(bytes.bytes_begin(), bytes.bytes_end());
}

} // namespace bitpact::codegen
