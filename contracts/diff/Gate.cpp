// Gate.cpp - field by field, then contracts and code
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "contracts/diff/Gate.h"

#include "contracts/diff/RecordLine.h"

#include <algorithm>
#include <fmt/format.h>

using nlohmann::json;

namespace bitpact::diff {
namespace {

/// One comparison of one field after the other.
class Comparer {
public:
  Comparer(const RunSummary &a, const RunSummary &b, GateReport &report)
      : a(a), b(b), report(report) {}

  void differ(const std::string &field, const std::string &sequence,
              int64_t position, std::string inA, std::string inB) {
    report.fields.push_back(
        {field, sequence, position, std::move(inA), std::move(inB)});
  }
  void lacks(const char *run, const std::string &what) {
    report.incomplete.push_back(fmt::format("{}: {}", run, what));
  }

  /// Both values, or the run that has none is named.
  template <typename T>
  bool both(const std::optional<T> &inA, const std::optional<T> &inB,
            const std::string &field) {
    if (!inA)
      lacks("A", field + " is missing");
    if (!inB)
      lacks("B", field + " is missing");
    return inA && inB;
  }

  void text(const std::string &field, const std::optional<std::string> &inA,
            const std::optional<std::string> &inB) {
    if (both(inA, inB, field) && *inA != *inB)
      differ(field, "", -1, *inA, *inB);
  }
  void value(const std::string &field, const json &inA, const json &inB) {
    if (inA.is_object() && inB.is_object()) {
      for (const auto &[key, one] : inA.items())
        if (!inB.contains(key))
          lacks("B", field + "." + key + " is missing");
        else
          value(field + "." + key, one, inB.at(key));
      for (const auto &[key, one] : inB.items())
        if (!inA.contains(key))
          lacks("A", field + "." + key + " is missing");
    } else if (inA != inB)
      differ(field, "", -1, shown(inA), shown(inB));
  }
  void value(const std::string &field, const std::optional<json> &inA,
             const std::optional<json> &inB) {
    if (both(inA, inB, field))
      value(field, *inA, *inB);
  }
  void owners(const std::string &field, const std::string &sequence,
              const std::optional<Ownership> &inA,
              const std::optional<Ownership> &inB) {
    if (!both(inA, inB, place(field, sequence)))
      return;
    Coverage x = coverageOf(*inA), y = coverageOf(*inB);
    if (x != y)
      differ(field, sequence, firstDifference(x, y), textOf(x), textOf(y));
  }
  void listing(const std::string &field, const std::string &sequence,
               const std::optional<Listing> &inA,
               const std::optional<Listing> &inB);
  void kv(const SequenceRecord &inA, const SequenceRecord &inB);

  /// Every sequence that both have, in order.
  template <typename Body> void eachSequence(const Body &body) {
    for (const auto &[name, inA] : a.sequences)
      if (auto found = b.sequences.find(name); found != b.sequences.end())
        body(inA, found->second);
  }

  static std::string place(const std::string &field,
                           const std::string &sequence) {
    return sequence.empty() ? field
                            : fmt::format("sequence {}: {}", sequence, field);
  }

  const RunSummary &a, &b;
  GateReport &report;
};

void Comparer::listing(const std::string &field, const std::string &sequence,
                       const std::optional<Listing> &inA,
                       const std::optional<Listing> &inB) {
  if (!both(inA, inB, place(field, sequence)) || inA->same(*inB))
    return;
  if (inA->listed && inB->listed) {
    size_t shared = std::min(inA->values.size(), inB->values.size());
    for (size_t i = 0; i < shared; ++i)
      if (inA->values[i] != inB->values[i])
        return differ(field, sequence, int64_t(i),
                      std::to_string(inA->values[i]),
                      std::to_string(inB->values[i]));
  }
  if (inA->count != inB->count)
    return differ(field, sequence, std::min(inA->count, inB->count),
                  fmt::format("{} of them", inA->count),
                  fmt::format("{} of them", inB->count));
  differ(field, sequence, -1, fmt::format("sha256 {:.12}", inA->sha256),
         fmt::format("sha256 {:.12}", inB->sha256));
}

void Comparer::kv(const SequenceRecord &inA, const SequenceRecord &inB) {
  if (!both(inA.kv, inB.kv, place("kv", inA.sequence)) || !inA.tokens ||
      !inB.tokens || !inA.tokens->same(*inB.tokens))
    return; // other tokens: said before
  const std::vector<int64_t> *tokens = inA.tokens->listed ? &inA.tokens->values
                                       : inB.tokens->listed
                                           ? &inB.tokens->values
                                           : nullptr;
  std::string problemA, problemB;
  int64_t count = inA.tokens->count;
  auto runsA =
      runsOf(*inA.kv, tokens, count, a.run.weights.value_or(""), problemA);
  auto runsB =
      runsOf(*inB.kv, tokens, count, b.run.weights.value_or(""), problemB);
  if (!problemA.empty())
    lacks("A", place("kv: ", inA.sequence) + problemA);
  if (!problemB.empty())
    lacks("B", place("kv: ", inA.sequence) + problemB);
  if (!problemA.empty() || !problemB.empty())
    return;
  KvComparison result =
      compareKv(*inA.kv, runsA, *inB.kv, runsB, tokens != nullptr);
  if (result.position >= 0)
    differ("kv", inA.sequence, result.position, result.a, result.b);
  else if (!result.undecided.empty())
    lacks("A and B", place("kv: ", inA.sequence) + result.undecided);
}

void compareSequenceSets(Comparer &compare) {
  const auto &[a, b] = std::tie(compare.a.sequences, compare.b.sequences);
  if (a.empty())
    compare.lacks("A", "no bitpact_sequence record");
  if (b.empty())
    compare.lacks("B", "no bitpact_sequence record");
  if (a.empty() || b.empty())
    return;
  // Where lines were lost, a sequence that is not there proves nothing.
  auto only = [&](const auto &from, const auto &in, const ReadReport &report,
                  const char *other, bool fromA) {
    for (const auto &[name, unused] : from)
      if (!in.count(name)) {
        if (!report.incomplete.empty())
          compare.lacks(other, fmt::format("sequence {} is missing", name));
        else
          compare.differ("sequences", name, -1, fromA ? "there" : "not there",
                         fromA ? "not there" : "there");
      }
  };
  only(a, b, compare.b.report, "B", true);
  only(b, a, compare.a.report, "A", false);
}

struct GateField {
  const char *name;
  void (*compare)(Comparer &);
  /// Stands in the sequence records, not in the run's.
  bool ofSequence = false;
};

/// The order of the gate.
const GateField gateOrder[] = {
    {"weights.sha256",
     [](Comparer &c) {
       c.text("weights.sha256", c.a.run.weights, c.b.run.weights);
     }},
    {"weights.version",
     [](Comparer &c) {
       c.text("weights.version", c.a.run.version, c.b.run.version);
     }},
    {"sequences", compareSequenceSets, true},
    {"tokens",
     [](Comparer &c) {
       c.eachSequence([&](auto &x, auto &y) {
         c.listing("tokens", x.sequence, x.tokens, y.tokens);
       });
     },
     true},
    {"targets",
     [](Comparer &c) {
       c.eachSequence([&](auto &x, auto &y) {
         c.listing("targets", x.sequence, x.targets, y.targets);
       });
     },
     true},
    {"active",
     [](Comparer &c) {
       c.eachSequence([&](auto &x, auto &y) {
         c.listing("active", x.sequence, x.active, y.active);
       });
     },
     true},
    {"positions",
     [](Comparer &c) {
       c.eachSequence([&](auto &x, auto &y) {
         c.listing("positions", x.sequence, x.positions, y.positions);
       });
     },
     true},
    {"rope", [](Comparer &c) { c.value("rope", c.a.run.rope, c.b.run.rope); }},
    {"mask", [](Comparer &c) { c.value("mask", c.a.run.mask, c.b.run.mask); }},
    {"kv",
     [](Comparer &c) { c.eachSequence([&](auto &x, auto &y) { c.kv(x, y); }); },
     true},
    {"ownership.heads",
     [](Comparer &c) {
       c.owners("ownership.heads", "", c.a.run.heads, c.b.run.heads);
     }},
    {"ownership.kv_heads",
     [](Comparer &c) {
       c.owners("ownership.kv_heads", "", c.a.run.kvHeads, c.b.run.kvHeads);
     }},
    {"ownership.sequence",
     [](Comparer &c) {
       c.eachSequence([&](auto &x, auto &y) {
         c.owners("ownership", x.sequence, x.owners, y.owners);
       });
     },
     true},
    {"ownership.vocabulary",
     [](Comparer &c) {
       c.owners("ownership.vocabulary", "", c.a.run.vocabularyOwners,
                c.b.run.vocabularyOwners);
     }},
    {"vocabulary",
     [](Comparer &c) {
       const auto &x = c.a.run.vocabulary, &y = c.b.run.vocabulary;
       if (c.both(x, y, "vocabulary") && *x != *y)
         c.differ("vocabulary", "", -1,
                  fmt::format("[{}, {})", x->first, x->second),
                  fmt::format("[{}, {})", y->first, y->second));
     }},
    {"logprob",
     [](Comparer &c) {
       const auto &x = c.a.run.logprob, &y = c.b.run.logprob;
       if (!c.both(x, y, "logprob"))
         return;
       if (x->at("mode") != y->at("mode"))
         c.differ("logprob.mode", "", -1, shown(*x), shown(*y));
       else
         c.value("logprob", *x, *y);
     }},
    {"rng",
     [](Comparer &c) {
       // Fixed tokens stand for whatever was drawn.
       if (c.both(c.a.run.replay, c.b.run.replay, "rng") && !*c.a.run.replay &&
           !*c.b.run.replay)
         c.value("rng.state", c.a.run.rngState, c.b.run.rngState);
     }},
};

bool namesAll(const std::set<std::string> &digests) {
  return !digests.count("");
}

void compareDigests(const RunSummary &a, const RunSummary &b,
                    GateReport &report) {
  auto lacks = [&](const char *run, const std::string &what) {
    report.digestsIncomplete.push_back(fmt::format("{}: {}", run, what));
  };
  if (a.sites.empty())
    lacks("A", "no launch or row record: nothing says what ran");
  if (b.sites.empty())
    lacks("B", "no launch or row record: nothing says what ran");
  if (a.sites.empty() || b.sites.empty())
    return;
  for (const auto &[key, unused] : b.sites)
    if (!a.sites.count(key))
      lacks("A", "nothing recorded for " + key.text());
  for (const auto &[key, inA] : a.sites) {
    auto found = b.sites.find(key);
    if (found == b.sites.end()) {
      lacks("B", "nothing recorded for " + key.text());
      continue;
    }
    ++report.sitesCompared;
    const SiteDigests &inB = found->second;
    for (bool code : {false, true}) {
      const auto &x = code ? inA.code : inA.contracts;
      const auto &y = code ? inB.code : inB.contracts;
      if (!namesAll(x) || !namesAll(y))
        lacks(namesAll(x) ? "B" : "A",
              fmt::format("{}: a record names no {}", key.text(),
                          code ? "code" : "contract"));
      else if (x != y)
        report.digests.push_back({key, code, x, y});
    }
  }
}

} // namespace

std::vector<std::string> gateFields() {
  std::vector<std::string> names;
  for (const GateField &field : gateOrder)
    names.emplace_back(field.name);
  return names;
}

std::string FieldDifference::text() const {
  std::string where = field;
  if (!sequence.empty())
    where += fmt::format(", sequence {}", sequence);
  if (position >= 0)
    where += fmt::format(", position {}", position);
  return fmt::format("{}: {} in A, {} in B", where, a, b);
}

GateReport gate(const RunSummary &a, const RunSummary &b) {
  GateReport report;
  for (const auto &[run, name] : {std::pair(&a, "A"), std::pair(&b, "B")}) {
    for (const std::string &why : run->report.incomplete)
      report.incomplete.push_back(fmt::format("{}: {}", name, why));
    if (!run->hasRun)
      report.incomplete.push_back(
          fmt::format("{}: no bitpact_run record", name));
  }
  Comparer compare(a, b, report);
  for (const GateField &field : gateOrder)
    if (field.ofSequence || (a.hasRun && b.hasRun))
      field.compare(compare);
  if (report.comparable())
    compareDigests(a, b, report);
  return report;
}

} // namespace bitpact::diff
