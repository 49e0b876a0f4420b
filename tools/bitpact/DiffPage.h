// DiffPage.h - a comparison as one static page
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef BITPACT_TOOL_DIFFPAGE_H
#define BITPACT_TOOL_DIFFPAGE_H

#include "tools/bitpact/Comparison.h"

#include <string>

namespace bitpact::tool {

/// HTML with its style and pictures inside: nothing is loaded and nothing runs.
std::string diffPage(const Comparison &comparison);

} // namespace bitpact::tool

#endif // BITPACT_TOOL_DIFFPAGE_H
