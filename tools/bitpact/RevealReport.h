// RevealReport.h - what reveal found, for people
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef BITPACT_TOOL_REVEALREPORT_H
#define BITPACT_TOOL_REVEALREPORT_H

#include "tools/evidence/reveal/Reveal.h"

namespace bitpact::tool {

/// Tree, findings and text, or why there is none.
void printReport(const reveal::Report &report);

/// Writes the image of the tree. Throws UserError.
void writeSvg(const std::string &path, const reveal::Report &report,
              const std::string &title);

} // namespace bitpact::tool

#endif // BITPACT_TOOL_REVEALREPORT_H
