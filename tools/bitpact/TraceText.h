// TraceText.h - what trace found, for people and as JSON
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef BITPACT_TOOL_TRACETEXT_H
#define BITPACT_TOOL_TRACETEXT_H

#include "tools/bitpact/DigestNames.h"
#include "tools/evidence/Trace.h"

namespace bitpact::tool {

/// The exit code.
int traceStatus(const evidence::TraceReport &report);

void printTrace(const evidence::TraceReport &report, const DigestNames &names,
                const std::vector<double> &clip, bool all);

nlohmann::json traceJson(const evidence::TraceReport &report,
                         const DigestNames &names, bool clipped);

} // namespace bitpact::tool

#endif // BITPACT_TOOL_TRACETEXT_H
