// Definitions.cpp - asks the loader where this library lies
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/Entry/Definitions.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

#include <dlfcn.h>

using namespace bitpact;

std::string entry::definitionsDirectory() {
  Dl_info info;
  llvm::SmallString<256> path;
  // The address of any function here is inside this library.
  if (dladdr(reinterpret_cast<void *>(&definitionsDirectory), &info) &&
      info.dli_fname)
    llvm::sys::fs::real_path(info.dli_fname, path);
  llvm::sys::path::remove_filename(path);
  llvm::sys::path::append(path, "..", "share", "bitpact", "contracts");
  llvm::sys::path::remove_dots(path, /*remove_dot_dot=*/true);
  return path.str().str();
}
