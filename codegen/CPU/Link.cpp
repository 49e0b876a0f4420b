// Link.cpp - one relocatable to a shared object, with lld as a library
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/CPU/ObjectCode.h"
#include "lld/Common/Driver.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/MemoryBuffer.h"
#include <mutex>

LLD_HAS_DRIVER(elf)

using namespace llvm;

namespace bitpact::codegen {

static mlir::FailureOr<std::string> scratch(mlir::Location location,
                                            StringRef suffix) {
  SmallString<128> path;
  if (std::error_code error =
          sys::fs::createTemporaryFile("bitpact", suffix, path))
    return mlir::emitError(location)
           << "no temporary file: " << error.message();
  return path.str().str();
}

mlir::FailureOr<std::vector<uint8_t>> linkShared(mlir::Location location,
                                                 StringRef object) {
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
  const char *arguments[] = {"ld.lld",          "-shared",
                             "-nostdlib",       "--no-undefined",
                             "--build-id=none", "--strip-all",
                             "--hash-style=gnu", "-znoexecstack",
                             "--threads=1",     "-o",
                             output->c_str(),   input->c_str()};
  std::string messages;
  raw_string_ostream stream(messages);
  lld::Result result;
  {
    // lld keeps its state in globals.
    static std::mutex mutex;
    std::lock_guard<std::mutex> lock(mutex);
    result = lld::lldMain(arguments, stream, stream,
                          {{lld::Gnu, &lld::elf::link}});
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
