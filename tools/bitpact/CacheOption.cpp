// CacheOption.cpp - --cache and --no-cache: where code objects are kept
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/bitpact/CacheOption.h"

#include <cstdlib>
#include <filesystem>

namespace bitpact::tool {

void CacheOption::addTo(CLI::App &command) {
  CLI::Option *where = command.add_option(
      "--cache", given,
      "Keep code objects here; else in bitpact in XDG_CACHE_HOME or ~/.cache");
  command.add_flag("--no-cache", none, "Compile all, keep nothing")
      ->excludes(where);
}

std::string CacheOption::directory() const {
  if (none || !given.empty())
    return none ? "" : given;
  auto absolute = [](const char *name) -> std::filesystem::path {
    const char *text = std::getenv(name);
    std::filesystem::path path = text ? text : "";
    // The XDG specification has relative ones ignored.
    return path.is_absolute() ? path : "";
  };
  if (auto cache = absolute("XDG_CACHE_HOME"); !cache.empty())
    return cache / "bitpact";
  if (auto home = absolute("HOME"); !home.empty())
    return home / ".cache" / "bitpact";
  return "";
}

} // namespace bitpact::tool
