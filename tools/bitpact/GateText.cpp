// GateText.cpp - what the gate found, for people and as JSON
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/bitpact/GateText.h"

#include <fmt/format.h>

using nlohmann::json;

namespace bitpact::tool {

void printComparable(const diff::GateReport &report, bool all) {
  if (report.comparable()) {
    if (report.incomplete.empty())
      fmt::print("comparable = true: {} fields are the same\n",
                 diff::gateFields().size());
    else
      fmt::print("comparable: not decided, the evidence is not whole\n");
    return;
  }
  fmt::print("comparable = false: {}\n", report.fields.front().text());
  size_t more = report.fields.size() - 1;
  if (all)
    for (size_t i = 1; i <= more; ++i)
      fmt::print("  {}\n", report.fields[i].text());
  else if (more)
    fmt::print("  and {} more; --all shows them\n", more);
}

void printIncomplete(const std::vector<std::string> &reasons, bool all) {
  size_t shown = all ? reasons.size() : std::min<size_t>(reasons.size(), 10);
  for (size_t i = 0; i < shown; ++i)
    fmt::print("incomplete: {}\n", reasons[i]);
  if (shown < reasons.size())
    fmt::print("incomplete: and {} more; --all shows them\n",
               reasons.size() - shown);
}

json gateJson(const diff::GateReport &report) {
  json fields = json::array(), digests = json::array();
  for (const diff::FieldDifference &one : report.fields) {
    json field = {{"field", one.field}, {"a", one.a}, {"b", one.b}};
    if (!one.sequence.empty())
      field["sequence"] = one.sequence;
    if (one.position >= 0)
      field["position"] = one.position;
    fields.push_back(std::move(field));
  }
  for (const diff::DigestDifference &one : report.digests)
    digests.push_back({{"site", one.site.text()},
                       {"kind", one.code ? "code" : "contract"},
                       {"a", one.a},
                       {"b", one.b}});
  json comparable = nullptr; // not decided
  if (!report.comparable() || report.incomplete.empty())
    comparable = report.comparable();
  return {{"comparable", comparable},
          {"fields", fields},
          {"sites", report.sitesCompared},
          {"digests", digests},
          {"incomplete", report.incomplete},
          {"digests_incomplete", report.digestsIncomplete}};
}

} // namespace bitpact::tool
