// Compiler.h - the compiler, loaded when a command needs it
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef BITPACT_TOOL_COMPILER_H
#define BITPACT_TOOL_COMPILER_H

#include "compiler/include/bitpact_compiler.h"
#include "tools/evidence/Progress.h"

#include <nlohmann/json.hpp>
#include <string>

namespace bitpact::tool {

class Compiler {
public:
  /// Looks beside the executable, in ../lib and on the loader's path. Throws
  /// UserError when there is none: a package needs no compiler.
  Compiler();

  /// Throws Diagnostics when the compiler reports errors.
  nlohmann::json run(const nlohmann::json &request,
                     const evidence::Progress &progress);

private:
  decltype(&bitpact_compiler_run) runRequest = nullptr;
  decltype(&bitpact_compiler_free) freeAnswer = nullptr;
};

/// A new directory under the system's temporary one, removed with its owner.
class TemporaryDirectory {
public:
  TemporaryDirectory();
  ~TemporaryDirectory();
  TemporaryDirectory(const TemporaryDirectory &) = delete;
  TemporaryDirectory &operator=(const TemporaryDirectory &) = delete;
  const std::string &path() const { return directory; }

private:
  std::string directory;
};

} // namespace bitpact::tool

#endif // BITPACT_TOOL_COMPILER_H
