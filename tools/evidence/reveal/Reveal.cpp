// Reveal.cpp - the tree of a black box and what else its results tell
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/evidence/reveal/Reveal.h"

#include "tools/evidence/reveal/Absorption.h"
#include "tools/evidence/reveal/Counting.h"
#include "tools/evidence/reveal/Probes.h"

#include <algorithm>
#include <fmt/format.h>
#include <numeric>
#include <set>

using nlohmann::json;

namespace bitpact::reveal {
namespace {

/// Of so few terms, every pair is counted too.
constexpr int64_t fewTerms = 48;
constexpr int64_t confirmations = 1024;

/// All positions; or the first few, some around every power of two, and random
/// ones.
std::vector<int64_t> positionsOf(int64_t n, const Options &options) {
  std::vector<int64_t> all(n);
  std::iota(all.begin(), all.end(), 0);
  if (n <= options.mostLeaves)
    return all;
  std::set<int64_t> some;
  for (int64_t i = 0; i < options.sampled / 8; ++i)
    some.insert(i);
  for (int64_t power = 1; power < n; power *= 2)
    for (int64_t at : {power - 1, power, power + 1})
      some.insert(std::min(at, n - 1));
  std::mt19937_64 random(1);
  while (static_cast<int64_t>(some.size()) < options.sampled)
    some.insert(static_cast<int64_t>(random() % static_cast<uint64_t>(n)));
  return {some.begin(), some.end()};
}

/// Pairs that were no pivots, counted and compared with the tree.
void confirmCounts(Counting &counting, const RevealedTree &tree,
                   const std::vector<int64_t> &positions) {
  std::mt19937_64 random(2);
  std::vector<std::pair<int64_t, int64_t>> pairs;
  for (int64_t trial = 0; trial < confirmations; ++trial) {
    int64_t i = positions[random() % positions.size()];
    int64_t j = positions[random() % positions.size()];
    if (i != j)
      pairs.emplace_back(i, j);
  }
  std::vector<int64_t> leaves = counting.leavesAt(
      pairs, std::make_shared<const std::vector<int64_t>>(positions));
  std::vector<VertexId> meetings = tree.meetings(pairs);
  for (size_t k = 0; k < pairs.size(); ++k)
    if (leaves[k] !=
        (tree.at(meetings[k]).any ? 2 : tree.at(meetings[k]).leaves))
      throw Undetermined(fmt::format(
          "the counts fit no tree: where x{} and x{} meet there are {} leaves, "
          "and {} in the tree that fits the others",
          pairs[k].first, pairs[k].second, leaves[k],
          tree.at(meetings[k]).leaves));
}

void count(Questions &questions, const std::vector<int64_t> &positions,
           Report &report) {
  Masks masks = chooseMasks(questions);
  Counting counting(questions, masks);
  report.tree = counting.recursive(positions);
  report.method = fmt::format(
      "units counted beside two terms of 2^{} that cancel, {} units at once",
      std::ilogb(masks.big / masks.unit), masks.capacity);
  bool any = report.tree.at(report.tree.root()).any;
  if (any && masks.seesBits < 54)
    report.method +=
        fmt::format("; an accumulator of more than {} bits would look the same",
                    masks.seesBits);
  if (questions.n() <= fewTerms && positions.size() == size_t(questions.n())) {
    if (!(counting.allPairs() == report.tree))
      throw Undetermined("all pairs, counted one by one, fit another tree than "
                         "the one that few of them told");
    report.method += "; all pairs agree";
  } else {
    confirmCounts(counting, report.tree, positions);
    report.method += fmt::format("; {} other pairs agree", confirmations);
  }
}

void triples(Questions &questions, const std::vector<int64_t> &positions,
             Report &report) {
  std::unique_ptr<TripleOracle> oracle;
  if (questions.signature().terms.negative)
    oracle = std::make_unique<Cancellation>(questions);
  else
    oracle = std::make_unique<Absorption>(questions, positions);
  report.tree = fromTriples(*oracle, positions);
  confirmTriples(*oracle, report.tree, positions, confirmations);
  report.method = fmt::format(
      "{}; {} other triples agree",
      questions.signature().terms.negative
          ? "whether a unit outlives two terms that cancel"
          : "whether two units below the last place of a sum meet before it",
      confirmations);
}

/// One or two terms leave nothing to find out.
void trivial(const std::vector<int64_t> &positions, Report &report) {
  std::vector<VertexId> leaves;
  for (int64_t position : positions)
    leaves.push_back(report.tree.leaf(position));
  if (leaves.size() == 2)
    report.tree.meet(leaves);
  report.method = "so few terms meet in one way only";
}

json toJson(const Recognised &recognised) {
  if (!recognised.reduction)
    return {{"reason", recognised.reason}};
  return {{"partition", recognised.reduction->partition.text()},
          {"merge", recognised.reduction->order.texts()},
          {"start", algebra::name(recognised.reduction->start)}};
}

} // namespace

Report reveal(BlackBox &box, const Options &options) {
  Report report;
  report.signature = box.signature();
  Questions questions(box, options.progress);
  std::vector<int64_t> positions = positionsOf(box.signature().n, options);
  if (positions.size() < static_cast<size_t>(box.signature().n))
    report.sample = positions;
  RecogniseOptions text;
  try {
    if (positions.size() <= 2)
      trivial(positions, report);
    else if (report.signature.readout == Readout::Sum &&
             report.signature.terms.negative)
      count(questions, positions, report);
    else
      triples(questions, positions, report);
    if (!options.treeOnly)
      report.findings = probe(questions, report.tree, text);
    else if (report.signature.readout == Readout::Sum)
      report.fraction = probeFraction(questions, report.tree);
    questions.askAgain();
  } catch (const Undetermined &why) {
    report.tree = {};
    report.reason = why.what();
    report.findings.clear();
  }
  if (!report.findings.empty())
    report.fraction = text.fraction;
  report.rows = questions.rows();
  report.batches = questions.batches();
  if (report.determined() && report.sample.empty() && !options.treeOnly)
    report.recognised = recognise(report.tree, text);
  else if (!report.sample.empty())
    report.recognised.reason = "a sample of the positions is no whole tree";
  return report;
}

json toJson(const Report &report) {
  json findings = json::array();
  for (const Finding &finding : report.findings)
    findings.push_back({{"what", finding.what},
                        {"value", finding.value},
                        {"evidence", finding.evidence},
                        {"determined", finding.determined}});
  json result{
      {"subject", report.signature.subject}, {"terms", report.signature.n},
      {"determined", report.determined()},   {"rows", report.rows},
      {"batches", report.batches},           {"findings", findings}};
  if (!report.determined()) {
    result["reason"] = report.reason;
    return result;
  }
  result["method"] = report.method;
  result["depth"] = report.tree.depth();
  result["widest"] = report.tree.widest();
  result["order_free"] = report.tree.at(report.tree.root()).any;
  if (!report.sample.empty())
    result["sampled_positions"] = report.sample.size();
  result["recognised"] = toJson(report.recognised);
  return result;
}

} // namespace bitpact::reveal
