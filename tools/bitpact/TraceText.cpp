// TraceText.cpp - what trace found, for people and as JSON
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/bitpact/TraceText.h"

#include "contracts/diff/Delta.h"
#include "tools/bitpact/Commands.h"
#include "tools/bitpact/GateText.h"
#include "tools/bitpact/Terminal.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

using namespace bitpact::evidence;
using nlohmann::json;

namespace bitpact::tool {
namespace {

/// ΔC at a site, where both contracts are at hand.
std::optional<diff::Delta> deltaAt(const SiteTrace &site,
                                   const DigestNames &names) {
  const SourcedContract *a = names.contract(site.a.contract),
                        *b = names.contract(site.b.contract);
  if (!a || !b || site.a.contract == site.b.contract)
    return std::nullopt;
  return diff::compare(a->canonical, b->canonical);
}

std::string sumText(const ExactSum &sum) {
  bool exact = true;
  double value = sum.rounded(exact);
  return fmt::format("{}{}", value, exact ? "" : " (rounded once)");
}

void printSites(const TraceReport &report, bool all) {
  Table table({"site", "rows", "differ", "only in A", "only in B", "max ulp"});
  const SiteTrace *first = report.firstDifference();
  size_t equal = 0;
  bool skipping = false;
  for (const SiteTrace &site : report.sites) {
    bool clean = !site.differing && !site.onlyA && !site.onlyB &&
                 !site.unsteadyA && !site.unsteadyB;
    equal += clean;
    if (clean && !all) {
      skipping = true;
      continue;
    }
    table.add({site.text(), std::to_string(site.rows),
               std::to_string(site.differing), std::to_string(site.onlyA),
               std::to_string(site.onlyB),
               site.ulps.rows ? std::to_string(site.ulps.largest) : "-"});
  }
  if (report.sites.empty())
    return;
  if (!first)
    fmt::print("no row that both runs have differs: {} sites\n",
               report.sites.size());
  if (equal < report.sites.size() || all)
    table.print();
  if (skipping && equal < report.sites.size())
    fmt::print("{} sites are equal; --all shows them\n", equal);
}

void printDelta(const SiteTrace &site, const DigestNames &names) {
  if (site.a.contract.empty() || site.b.contract.empty()) {
    fmt::print("  ΔC      not known: the records name no contract\n");
    return;
  }
  if (site.a.contract == site.b.contract) {
    fmt::print("  ΔC      none: {}. What went in differs at a site that was "
               "not recorded, or a kernel breaks its contract\n",
               site.a.code == site.b.code ? "one contract, one code"
                                          : "one contract");
    return;
  }
  auto delta = deltaAt(site, names);
  if (!delta) {
    fmt::print("  ΔC      contracts differ; --package or --contracts with both "
               "shows how\n");
    return;
  }
  if (!delta->comparable)
    fmt::print("  ΔC      not comparable: {}\n", delta->reason);
  for (const diff::Change &one : delta->changes)
    fmt::print("  ΔC      {} {}: {} in A, {} in B\n", diff::name(one.field),
               one.node, one.before, one.after);
  for (const diff::Equivalence &one : delta->equivalences)
    fmt::print("  ΔC      {}: equivalent, {}\n", one.node, one.rule);
}

void printFirst(const SiteTrace &site, const DigestNames &names) {
  fmt::print("first site that differs: {}\n", site.text());
  if (site.unsteadyA || site.unsteadyB)
    fmt::print("  not deterministic: {} rows in A and {} in B have several "
               "hashes; first {}\n",
               site.unsteadyA, site.unsteadyB, site.firstUnsteady);
  if (site.firstDiffering.empty())
    return;
  fmt::print("  first   {}\n", site.firstDiffering);
  for (auto [name, row] : {std::pair("A", &site.a), std::pair("B", &site.b)})
    fmt::print("  {}       {} {}, contract {}, code {}{}\n", name, row->dtype,
               row->hash, names.text(row->contract), names.text(row->code),
               row->device.empty() ? "" : ", " + row->device);
  printDelta(site, names);
  if (site.ulps.rows)
    fmt::print("  ulps    {} of {} elements differ in {} rows; {}\n",
               site.ulps.differing, site.ulps.elements, site.ulps.rows,
               site.ulps.text());
}

void printLogprobs(const LogprobSplit &split, const std::vector<double> &clip) {
  for (const std::string &text : split.contradictions)
    fmt::print("log-probs: {}\n", text);
  if (!split.any())
    return;
  fmt::print("log-probs of {} tokens\n", split.tokens);
  Table table({"difference", "nonzero", "sum", "mean |d|", "max |d|", "at"});
  uint64_t finite = split.tokens - split.notFinite;
  auto add = [&](const SplitTerm &term, const std::string &name) {
    bool exact = true;
    double mean =
        finite ? term.magnitudes.rounded(exact) / double(finite) : 0.0;
    table.add({name,
               fmt::format("{:.2f} %", finite ? 100.0 * double(term.nonzero) /
                                                    double(finite)
                                              : 0.0),
               sumText(term.sum), fmt::format("{:.6g}", mean),
               fmt::format("{}", std::abs(term.largest.high)),
               term.largestPosition < 0
                   ? "-"
                   : fmt::format("sequence {}, position {}",
                                 term.largestSequence, term.largestPosition)});
  };
  ExactSum together;
  for (const SplitTerm &term : split.terms) {
    add(term, term.name());
    together.add(term.sum);
  }
  if (split.terms.size() > 1)
    add(split.total, "total: " + split.total.name());
  table.print();
  if (split.terms.size() > 1)
    fmt::print("the {} sums {} the total, exactly\n", split.terms.size(),
               together == split.total.sum ? "add up to" : "do not add up to");
  if (split.roles.size() < 4) {
    std::string absent;
    for (size_t role = 0; role < 4; ++role)
      if (std::find(split.roles.begin(), split.roles.end(),
                    diff::LogprobRole(role)) == split.roles.end())
        absent += (absent.empty() ? "" : ", ") +
                  std::string(diff::nameOf(diff::LogprobRole(role)));
    fmt::print("not recorded, so not told apart: {}\n", absent);
  }
  if (split.notFinite)
    fmt::print("{} tokens are infinite or NaN and not in the sums; {} of them "
               "differ\n",
               split.notFinite, split.notFiniteDiffering);
  if (!clip.empty())
    fmt::print("clipped: {} tokens above 1 + {}, {} below 1 - {}{}\n",
               split.clippedHigh, clip[1], split.clippedLow, clip[0],
               split.firstClipped.empty() ? ""
                                          : "; first " + split.firstClipped);
}

json rowJson(const TracedRow &row) {
  return {{"hash", row.hash},
          {"dtype", row.dtype},
          {"contract", row.contract},
          {"code", row.code},
          {"device", row.device}};
}

json siteJson(const SiteTrace &site) {
  json one = {{"layer", site.layer},
              {"site", site.site},
              {"rows", site.rows},
              {"differing", site.differing},
              {"only_a", site.onlyA},
              {"only_b", site.onlyB},
              {"unsteady_a", site.unsteadyA},
              {"unsteady_b", site.unsteadyB}};
  if (!site.firstDiffering.empty()) {
    one["first"] = site.firstDiffering;
    one["a"] = rowJson(site.a);
    one["b"] = rowJson(site.b);
  }
  if (site.ulps.rows) {
    json histogram = json::array();
    for (uint64_t count : site.ulps.histogram)
      histogram.push_back(count);
    one["ulps"] = {
        {"rows", site.ulps.rows},           {"elements", site.ulps.elements},
        {"differing", site.ulps.differing}, {"nan", site.ulps.nans},
        {"max", site.ulps.largest},         {"histogram", histogram}};
  }
  return one;
}

json splitJson(const LogprobSplit &split, bool clipped) {
  auto termJson = [](const SplitTerm &term) {
    bool exact = true;
    double sum = term.sum.rounded(exact);
    json one = {{"difference", term.name()},
                {"nonzero", term.nonzero},
                {"sum", sum},
                {"sum_is_exact", exact},
                {"max", std::abs(term.largest.high)}};
    if (term.largestPosition >= 0) {
      one["sequence"] = term.largestSequence;
      one["position"] = term.largestPosition;
    }
    return one;
  };
  json terms = json::array();
  for (const SplitTerm &term : split.terms)
    terms.push_back(termJson(term));
  json result = {{"tokens", split.tokens},
                 {"terms", terms},
                 {"not_finite", split.notFinite},
                 {"contradictions", split.contradictions}};
  if (split.any())
    result["total"] = termJson(split.total);
  if (clipped)
    result["clipped"] = {{"high", split.clippedHigh},
                         {"low", split.clippedLow}};
  return result;
}

} // namespace

int traceStatus(const TraceReport &report) {
  if (report.gate && !report.gate->comparable())
    return NotComparable;
  if (!report.incomplete.empty())
    return Incomplete;
  return report.differs() ? Differs : Holds;
}

json traceJson(const TraceReport &report, const DigestNames &names,
               bool clipped) {
  json sites = json::array();
  for (const SiteTrace &site : report.sites)
    sites.push_back(siteJson(site));
  json result = {{"status", traceStatus(report)},
                 {"sites", sites},
                 {"incomplete", report.incomplete},
                 {"notes", report.notes},
                 {"logprobs", splitJson(report.logprobs, clipped)},
                 {"first", nullptr}};
  if (report.gate)
    result["gate"] = gateJson(*report.gate);
  if (const SiteTrace *first = report.firstDifference()) {
    result["first"] = siteJson(*first);
    if (auto delta = deltaAt(*first, names))
      result["delta"] = diff::toJson(*delta);
  }
  return result;
}

void printTrace(const TraceReport &report, const DigestNames &names,
                const std::vector<double> &clip, bool all) {
  for (const std::string &note : report.notes)
    fmt::print("note: {}\n", note);
  if (report.gate)
    printComparable(*report.gate, all);
  // Of incomparable runs a first site says nothing.
  if (traceStatus(report) != NotComparable) {
    if (const SiteTrace *first = report.firstDifference())
      printFirst(*first, names);
    printSites(report, all);
    printLogprobs(report.logprobs, clip);
  }
  printIncomplete(report.incomplete, all);
}

} // namespace bitpact::tool
