// DimOptions.h - extents of open dims on the command line: hidden=576,4096
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef BITPACT_TOOL_DIMOPTIONS_H
#define BITPACT_TOOL_DIMOPTIONS_H

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace bitpact::tool {

/// Throws UserError for anything but NAME=EXTENT[,EXTENT…].
std::map<std::string, std::vector<int64_t>>
parseExtents(const std::vector<std::string> &options,
             const char *name = "--dim");

} // namespace bitpact::tool

#endif // BITPACT_TOOL_DIMOPTIONS_H
