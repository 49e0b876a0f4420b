// Trace.cpp - the first site at which two recorded runs part
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/evidence/Trace.h"

#include "tools/evidence/RecordFile.h"
#include "tools/evidence/UserError.h"

#include <algorithm>
#include <fmt/format.h>
#include <unordered_map>

using namespace bitpact::diff;

namespace bitpact::evidence {
namespace {

/// Texts as numbers, in the order in which they first came.
class Names {
public:
  uint32_t operator()(const std::string &text) {
    auto [at, isNew] = numbers.try_emplace(text, uint32_t(texts.size()));
    if (isNew)
      texts.push_back(text);
    return at->second;
  }
  std::vector<std::string> texts;

private:
  std::unordered_map<std::string, uint32_t> numbers;
};

/// A row record, for sorting. Sites and sequences have the same numbers in
/// both runs.
struct PackedRow {
  uint32_t site, sequence;
  int64_t position;
  RowHash hash;
  uint32_t dtype, contract, code, device, tensor;
  int64_t row;

  auto key() const { return std::tie(site, sequence, position); }
  auto content() const { return std::tie(hash, dtype); }
  bool operator<(const PackedRow &other) const {
    return std::tuple_cat(key(), content()) <
           std::tuple_cat(other.key(), other.content());
  }
};

/// All records of one key in one run.
struct KeyGroup {
  PackedRow first;
  bool unsteady = false;
};

class Tracer {
public:
  explicit Tracer(const TraceOptions &options)
      : options(options), rows{SpillSort<PackedRow>(options.chunk),
                               SpillSort<PackedRow>(options.chunk)},
        logprobs(options.chunk) {}

  void read(int side, const std::string &file);
  void join();
  TraceReport finish();

private:
  uint32_t siteOf(const RowRecord &row);
  bool nextGroup(int side, KeyGroup &group);
  void compare(SiteTrace &site, const KeyGroup &a, const KeyGroup &b);
  void missing(SiteTrace &site, const PackedRow &row, int from);
  void unsteady(SiteTrace &site, const KeyGroup &group, int side);
  void measure(SiteTrace &site, const PackedRow &a, const PackedRow &b);
  KeptRows::Row kept(int side, const PackedRow &row);
  std::string place(const PackedRow &row) const {
    return fmt::format("sequence {}, position {}",
                       sequences.texts[row.sequence], row.position);
  }
  TracedRow traced(const PackedRow &row) const {
    return {hexOf(row.hash), names.texts[row.dtype], names.texts[row.contract],
            names.texts[row.code], names.texts[row.device]};
  }

  const TraceOptions &options;
  SpillSort<PackedRow> rows[2];
  PackedRow ahead[2];
  bool hasAhead[2] = {};
  LogprobSplitter logprobs;
  RunSummary summaries[2];
  std::unique_ptr<KeptRows> keeps[2];
  Names sequences, names;
  std::map<std::pair<int64_t, std::string>, uint32_t> siteNumbers;
  std::vector<SiteTrace> sites;
  uint64_t badKeeps = 0;
  TraceReport report;
};

uint32_t Tracer::siteOf(const RowRecord &row) {
  auto [at, isNew] =
      siteNumbers.try_emplace({row.layer, row.site}, uint32_t(sites.size()));
  if (isNew) {
    SiteTrace &site = sites.emplace_back();
    site.layer = row.layer;
    site.site = row.site;
  }
  return at->second;
}

void Tracer::read(int side, const std::string &file) {
  keeps[side] = std::make_unique<KeptRows>(file);
  RunSummary &summary = summaries[side];
  summary.report = readRecordFile(file, [&](AnyRecord &record, uint64_t) {
    if (auto *row = std::get_if<RowRecord>(&record)) {
      rows[side].add({siteOf(*row), sequences(row->sequence), row->position,
                      row->hash, names(row->dtype), names(row->contract),
                      names(row->code), names(row->device), names(row->tensor),
                      row->row});
    } else if (auto *logprob = std::get_if<LogprobRecord>(&record)) {
      logprobs.add(*logprob, sequences(logprob->sequence));
      return;
    }
    summary.take(record);
  });
}

bool Tracer::nextGroup(int side, KeyGroup &group) {
  if (!hasAhead[side])
    return false;
  group = {ahead[side]};
  while ((hasAhead[side] = rows[side].next(ahead[side])) &&
         ahead[side].key() == group.first.key())
    group.unsteady |= ahead[side].content() != group.first.content();
  return true;
}

void Tracer::unsteady(SiteTrace &site, const KeyGroup &group, int side) {
  if (!group.unsteady)
    return;
  ++(side ? site.unsteadyB : site.unsteadyA);
  if (site.firstUnsteady.empty())
    site.firstUnsteady =
        fmt::format("{} in {}", place(group.first), side ? "B" : "A");
}

void Tracer::missing(SiteTrace &site, const PackedRow &row, int from) {
  ++(from ? site.onlyB : site.onlyA);
  if (site.firstMissing.empty())
    site.firstMissing =
        fmt::format("{} is only in {}", place(row), from ? "B" : "A");
}

KeptRows::Row Tracer::kept(int side, const PackedRow &row) {
  const std::string &path = names.texts[row.tensor];
  KeptRows::Row found = keeps[side]->row(path, row.row);
  // A file that was written over since would show ulps of something else.
  if (algebra::name(found.tensor->format) != names.texts[row.dtype] ||
      hashRow({reinterpret_cast<const char *>(found.bytes),
               size_t(found.length)}) != row.hash)
    throw UserError(
        path, fmt::format("row {} is not what its record hashed", row.row));
  return found;
}

void Tracer::measure(SiteTrace &site, const PackedRow &a, const PackedRow &b) {
  if (names.texts[a.tensor].empty() || names.texts[b.tensor].empty())
    return;
  try {
    KeptRows::Row x = kept(0, a), y = kept(1, b);
    if (x.tensor->format == y.tensor->format && x.length == y.length)
      site.ulps.add(x.tensor->format, x.bytes, y.bytes, x.elements);
  } catch (const UserError &error) {
    if (++badKeeps <= 5)
      report.incomplete.push_back(
          fmt::format("a kept tensor: {}: {}", error.where(), error.what()));
  }
}

void Tracer::compare(SiteTrace &site, const KeyGroup &a, const KeyGroup &b) {
  ++site.rows;
  if (!a.unsteady && !b.unsteady && a.first.content() == b.first.content())
    return;
  ++site.differing;
  if (site.firstDiffering.empty()) {
    site.firstDiffering = place(a.first);
    site.a = traced(a.first);
    site.b = traced(b.first);
  }
  measure(site, a.first, b.first);
}

void Tracer::join() {
  for (int side : {0, 1}) {
    rows[side].sort();
    hasAhead[side] = rows[side].next(ahead[side]);
  }
  KeyGroup group[2];
  bool has[2] = {nextGroup(0, group[0]), nextGroup(1, group[1])};
  while (has[0] || has[1]) {
    bool takeA =
        has[0] && (!has[1] || !(group[1].first.key() < group[0].first.key()));
    bool takeB =
        has[1] && (!has[0] || !(group[0].first.key() < group[1].first.key()));
    SiteTrace &site = sites[group[takeA ? 0 : 1].first.site];
    if (takeA)
      unsteady(site, group[0], 0);
    if (takeB)
      unsteady(site, group[1], 1);
    if (takeA && takeB)
      compare(site, group[0], group[1]);
    else
      missing(site, group[takeA ? 0 : 1].first, takeA ? 0 : 1);
    if (takeA)
      has[0] = nextGroup(0, group[0]);
    if (takeB)
      has[1] = nextGroup(1, group[1]);
  }
}

TraceReport Tracer::finish() {
  report.logprobs =
      logprobs.finish(sequences.texts, options.clip, options.eachToken);
  const RunSummary &a = summaries[0], &b = summaries[1];
  auto lacks = [&](std::string text) {
    report.incomplete.push_back(std::move(text));
  };
  for (const auto &[run, name] : {std::pair(&a, "A"), std::pair(&b, "B")})
    for (const std::string &why : run->report.incomplete)
      lacks(fmt::format("{}: {}", name, why));
  if (a.hasRun && b.hasRun) {
    report.gate = gate(a, b);
    report.incomplete = report.gate->incomplete;
  } else if (a.hasRun != b.hasRun) {
    lacks(fmt::format("{}: no bitpact_run record, which the other run has",
                      a.hasRun ? "B" : "A"));
  } else {
    report.notes.push_back("neither file has a bitpact_run record: nothing "
                           "shows that the runs evaluate the same tokens with "
                           "the same weights");
  }
  std::stable_sort(
      sites.begin(), sites.end(),
      [](const SiteTrace &x, const SiteTrace &y) { return x.layer < y.layer; });
  for (const SiteTrace &site : sites)
    if (site.onlyA || site.onlyB)
      (options.common ? report.notes : report.incomplete)
          .push_back(fmt::format("{}: {} rows are only in A, {} only in B; {}",
                                 site.text(), site.onlyA, site.onlyB,
                                 site.firstMissing));
  if (!a.report.rows && !b.report.rows && !report.logprobs.any())
    lacks("neither file has row records, nor log-probs of two roles");
  if (!report.logprobs.firstMissing.empty()) {
    std::string text;
    for (LogprobRole role : report.logprobs.roles)
      if (uint64_t count = report.logprobs.missing[size_t(role)])
        text += fmt::format("{}{} tokens without a {} log-prob",
                            text.empty() ? "" : ", ", count, nameOf(role));
    text += "; " + report.logprobs.firstMissing;
    (options.common ? report.notes : report.incomplete).push_back(text);
  }
  if (badKeeps > 5)
    lacks(fmt::format("{} rows whose kept tensor could not be used", badKeeps));
  report.sites = std::move(sites);
  return std::move(report);
}

} // namespace

std::string SiteTrace::text() const {
  return fmt::format("layer {} {}", layer, site);
}

const SiteTrace *TraceReport::firstDifference() const {
  for (const SiteTrace &site : sites)
    if (site.differing || site.unsteadyA || site.unsteadyB)
      return &site;
  return nullptr;
}

bool TraceReport::differs() const {
  return firstDifference() || logprobs.differs();
}

TraceReport trace(const std::string &fileA, const std::string &fileB,
                  const TraceOptions &options) {
  Tracer tracer(options);
  tracer.read(0, fileA);
  tracer.read(1, fileB);
  tracer.join();
  return tracer.finish();
}

} // namespace bitpact::evidence
