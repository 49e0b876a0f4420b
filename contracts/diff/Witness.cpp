// Witness.cpp - an input on which two contracts give different bytes
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "contracts/diff/Witness.h"

#include "contracts/diff/WitnessClimb.h"
#include "contracts/diff/WitnessInputs.h"
#include "contracts/diff/WitnessShrink.h"

#include <algorithm>

namespace bitpact::diff {

using nlohmann::json;

namespace {

/// The cheapest and most likely first.
constexpr WitnessKind kinds[] = {
    WitnessKind::Tree,         WitnessKind::Domain,    WitnessKind::Normal,
    WitnessKind::Zeros,        WitnessKind::Points,    WitnessKind::Dense,
    WitnessKind::Cancellation, WitnessKind::Boundary,  WitnessKind::Wide,
    WitnessKind::Scales,       WitnessKind::Subnormal, WitnessKind::Edges,
    WitnessKind::Approach,     WitnessKind::Special,   WitnessKind::Climb};

bool walks(WitnessKind kind) {
  return kind == WitnessKind::Boundary || kind == WitnessKind::Approach ||
         kind == WitnessKind::Climb;
}

/// What a round may cost, in elements: long rows, which are planned anew for
/// every evaluation, get fewer rounds, and no walk before everything else was
/// tried once.
constexpr int64_t roundElements = int64_t(1) << 20;
constexpr int64_t longRow = 1 << 15;
constexpr int64_t aimedRows = 40;

class Search {
public:
  Search(const ContractPair &pair, const WitnessOptions &options)
      : pair(pair), options(options) {
    for (std::vector<int64_t> &extents : extentsToTry(pair))
      inputs.emplace_back(pair, std::move(extents), options.seed);
    result.seed = options.seed;
  }

  WitnessSearch run() {
    for (int64_t round = 0; round < options.rounds; ++round)
      for (WitnessKind kind : kinds) {
        // Aimed inputs are cheap: for all extents. Others for each in turn.
        bool aimed = round == 0 &&
                     (kind == WitnessKind::Tree || kind == WitnessKind::Domain);
        for (size_t i = 0; i < (aimed ? inputs.size() : 1); ++i)
          if (auto found =
                  tryOne(inputs[(round + i) % inputs.size()], kind, round)) {
            report(*found, std::string(name(kind)));
            return std::move(result);
          }
      }
    return std::move(result);
  }

private:
  const ContractPair &pair;
  const WitnessOptions &options;
  std::vector<WitnessInputs> inputs;
  WitnessSearch result;
  int64_t spent = 0; ///< elements judged

  void count(const std::string &kind, int64_t judged) {
    for (auto &[name, number] : result.tried)
      if (name == kind) {
        number += judged;
        return;
      }
    result.tried.emplace_back(kind, judged);
  }

  int64_t lengthOf(const WitnessInputs &source) const {
    int64_t length = 1;
    for (const PairInput &input : pair.inputs())
      length += InputLines(pair, input, source.extents()).length;
    return length;
  }

  int64_t rowsOf(const WitnessInputs &source, WitnessKind kind,
                 int64_t round) const {
    int64_t length = lengthOf(source);
    int64_t elements = options.batchElements >> (round == 0 ? 2 : 0);
    // A pair of positions, a way and a ratio each: few are not enough.
    bool aimed = kind == WitnessKind::Tree && length <= longRow;
    return std::clamp<int64_t>(elements / length, aimed ? aimedRows : 2, 2048);
  }

  std::optional<Found> tryOne(const WitnessInputs &source, WitnessKind kind,
                              int64_t round) {
    int64_t length = lengthOf(source);
    if (!source.applies(kind) || spent > options.rounds * roundElements ||
        (round == 0 && walks(kind) && length > longRow))
      return std::nullopt;
    int64_t judged = 0;
    std::optional<Found> found = judge(source, kind, round, judged);
    count(std::string(name(kind)), judged);
    spent += judged * length * (length > longRow ? 4 : 1);
    return found;
  }

  std::optional<Found> judge(const WitnessInputs &source, WitnessKind kind,
                             int64_t round, int64_t &judged) {
    int64_t rows = rowsOf(source, kind, round);
    bool beyond = round % 2 == 1;
    if (!walks(kind)) {
      Candidate candidate = source.batch(kind, round, rows, beyond);
      judged += pair.rowDim() < 0 ? 1 : candidate.extents[pair.rowDim()];
      if (auto parting = pair.parting(candidate))
        return Found{std::move(candidate), *parting};
      return std::nullopt;
    }
    WitnessSource random(options.seed, static_cast<uint64_t>(kind), round);
    if (kind == WitnessKind::Climb) {
      constexpr WitnessKind below[] = {WitnessKind::Tree, WitnessKind::Edges,
                                       WitnessKind::Dense, WitnessKind::Scales,
                                       WitnessKind::Subnormal};
      WitnessKind start = below[round % std::size(below)];
      if (!source.applies(start))
        start = WitnessKind::Edges;
      return climb(
          pair, source.batch(start, (uint64_t(1) << 21) + round, rows, beyond),
          std::min<int64_t>(rows, 256), random, judged);
    }
    // Rows of these kinds in turn, from which to walk.
    constexpr WitnessKind starts[] = {
        WitnessKind::Dense,        WitnessKind::Normal, WitnessKind::Tree,
        WitnessKind::Cancellation, WitnessKind::Wide,   WitnessKind::Scales,
        WitnessKind::Subnormal};
    bool single = kind == WitnessKind::Boundary;
    for (uint64_t n = 0; n < 2; ++n) {
      uint64_t number = 2 * static_cast<uint64_t>(round) + n;
      WitnessKind start = starts[number % (single ? std::size(starts) : 2)];
      if (!source.applies(start))
        start = WitnessKind::Dense;
      // Rounds that no batch of the same kind has.
      Candidate from =
          source.batch(start, (uint64_t(1) << 20) + number,
                       std::max<int64_t>(2, rows / 8), single || beyond);
      if (auto found =
              single ? walkToBoundary(pair, from, random, judged)
                     : approachBoundary(pair, from,
                                        source.logarithmic() && number % 3 != 1,
                                        random, judged))
        return found;
    }
    return std::nullopt;
  }

  /// A row that is not too long gets a thousand evaluations.
  int64_t budgetFor(const Candidate &candidate) const {
    int64_t elements = 0;
    for (const PairInput &input : pair.inputs())
      elements += InputLines(pair, input, candidate.extents).length;
    int64_t least = int64_t(1) << 22;
    return elements > longRow ? least
                              : std::max(least, 1024 * (200 + 2 * elements));
  }

  void report(const Found &found, const std::string &kind) {
    Candidate input =
        options.shrunk
            ? shrink(pair, found.first, found.second, budgetFor(found.first))
            : pair.rowOf(found.first, pair.rowOf(found.second));
    input = pair.restored(input);
    Witness witness;
    witness.kind = kind;
    witness.inputsA = pair.tensors(false, input);
    witness.inputsB = pair.tensors(true, input);
    for (size_t dim = 0; dim < input.extents.size(); ++dim)
      witness.extents[pair.programA().dims[dim].name] = input.extents[dim];
    auto a = pair.run(false, input), b = pair.run(true, input);
    for (const auto &[name, tensor] : a) {
      TensorComparison comparison = compareTensors(tensor, b.at(name));
      if (comparison.differing)
        witness.outputs.emplace(name, std::move(comparison));
    }
    witness.output = pair.parting(a, b).value();
    witness.first = pair.firstParting(input).value();
    result.found = std::move(witness);
  }
};

} // namespace

int64_t WitnessSearch::total() const {
  int64_t total = 0;
  for (const auto &[kind, count] : tried)
    total += count;
  return total;
}

WitnessSearch findWitness(const json &a, const json &b,
                          const WitnessOptions &options) {
  ContractPair pair(a, b);
  return Search(pair, options).run();
}

} // namespace bitpact::diff
