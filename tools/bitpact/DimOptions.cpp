// DimOptions.cpp - extents of open dims on the command line: hidden=576,4096
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/bitpact/DimOptions.h"

#include "tools/evidence/UserError.h"

#include <charconv>
#include <fmt/format.h>
#include <string_view>

namespace bitpact::tool {

std::map<std::string, std::vector<int64_t>>
parseExtents(const std::vector<std::string> &options, const char *name) {
  std::map<std::string, std::vector<int64_t>> extents;
  for (const std::string &option : options) {
    size_t equals = option.find('=');
    auto wrong = [&] {
      return evidence::UserError(fmt::format(
          "{} '{}' is not of the form NAME=EXTENT,EXTENT", name, option));
    };
    if (equals == option.npos || equals == 0)
      throw wrong();
    std::vector<int64_t> &list = extents[option.substr(0, equals)];
    const char *at = option.data() + equals + 1;
    const char *end = option.data() + option.size();
    for (;;) {
      int64_t extent = 0;
      auto [after, error] = std::from_chars(at, end, extent);
      if (error != std::errc() || extent < 1)
        throw wrong();
      list.push_back(extent);
      if (after == end)
        break;
      if (*after != ',')
        throw wrong();
      at = after + 1;
    }
  }
  return extents;
}

} // namespace bitpact::tool
