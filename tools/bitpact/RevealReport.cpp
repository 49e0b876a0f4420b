// RevealReport.cpp - what reveal found, for people
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/bitpact/RevealReport.h"

#include "tools/evidence/UserError.h"
#include "tools/evidence/reveal/Drawing.h"

#include <algorithm>
#include <fmt/format.h>
#include <fstream>

namespace bitpact::tool {

void printReport(const reveal::Report &report) {
  if (!report.determined()) {
    fmt::print("tree: could not be determined: {}\n", report.reason);
    return;
  }
  const reveal::RevealedTree &tree = report.tree;
  fmt::print("tree: {} terms{}, depth {}{}\n", report.signature.n,
             report.sample.empty()
                 ? ""
                 : fmt::format(" ({} of them looked at)", report.sample.size()),
             tree.depth(),
             tree.widest() > 2 && !tree.at(tree.root()).any
                 ? fmt::format(", up to {} parts in one step", tree.widest())
                 : "");
  fmt::print("found by: {}; {} rows in {} batches\n\n{}\n", report.method,
             report.rows, report.batches, reveal::draw(tree));
  size_t width = 0;
  for (const reveal::Finding &finding : report.findings)
    width = std::max(width, finding.what.size());
  for (const reveal::Finding &finding : report.findings)
    fmt::print("{:<{}}  {}{}\n", finding.what, width, finding.value,
               finding.evidence.empty() ? "" : ": " + finding.evidence);
  for (const reveal::Finding &finding : report.findings)
    if (finding.what == "start" && !finding.determined)
      fmt::print("The text has the start {} all the same: it needs one.\n",
                 algebra::name(algebra::Start::Identity));
  if (!report.recognised.reduction)
    fmt::print("an explicit tree: {}\n", report.recognised.reason);
}

void writeSvg(const std::string &path, const reveal::Report &report,
              const std::string &title) {
  std::ofstream file(path);
  file << reveal::svg(report.tree, title);
  if (!file.flush())
    throw evidence::UserError(path, "cannot be written");
}

} // namespace bitpact::tool
