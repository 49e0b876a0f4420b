// GateText.h - what the gate found, for people and as JSON
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef BITPACT_TOOL_GATETEXT_H
#define BITPACT_TOOL_GATETEXT_H

#include "contracts/diff/Gate.h"

namespace bitpact::tool {

/// `comparable = false` with the first field, or with all of them.
void printComparable(const diff::GateReport &report, bool all);

/// What keeps evidence from being whole; the first ten, or all.
void printIncomplete(const std::vector<std::string> &reasons, bool all);

nlohmann::json gateJson(const diff::GateReport &report);

} // namespace bitpact::tool

#endif // BITPACT_TOOL_GATETEXT_H
