// CacheOption.h - --cache and --no-cache: where code objects are kept
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef BITPACT_TOOL_CACHEOPTION_H
#define BITPACT_TOOL_CACHEOPTION_H

#include <CLI/CLI.hpp>
#include <string>

namespace bitpact::tool {

struct CacheOption {
  std::string given;
  bool none = false;

  void addTo(CLI::App &command);
  /// The directory, or "" for none: what was given, else bitpact in
  /// XDG_CACHE_HOME, which is ~/.cache where it is not set.
  std::string directory() const;
};

} // namespace bitpact::tool

#endif // BITPACT_TOOL_CACHEOPTION_H
