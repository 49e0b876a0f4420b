// RunSummary.cpp - a run's records brought together, rank by rank
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "contracts/diff/Gate.h"
#include "contracts/diff/RecordLine.h"

#include <fmt/format.h>

namespace bitpact::diff {
namespace {

bool agree(const Listing &a, const Listing &b) { return a.same(b); }
template <typename T> bool agree(const T &a, const T &b) { return a == b; }

/// Keeps what is known; two ranks may not say different things.
template <typename T>
void keep(std::optional<T> &mine, const std::optional<T> &more,
          const std::string &field) {
  if (!more)
    return;
  if (mine && !agree(*mine, *more))
    throw RecordError(fmt::format(
        "{} is not what an earlier record of this run says", field));
  // A list says more than its hash.
  if constexpr (std::is_same_v<T, Listing>)
    if (mine && mine->listed)
      return;
  mine = more;
}

/// Every rank may name its own shard.
void unite(std::optional<Ownership> &mine, const std::optional<Ownership> &more,
           const std::string &field) {
  if (!more)
    return;
  if (!mine) {
    mine = more;
    return;
  }
  if (mine->extent != more->extent || mine->replicated != more->replicated)
    throw RecordError(
        fmt::format("{} is an axis of another extent or replication than in an "
                    "earlier record of this run",
                    field));
  mine->shards.insert(more->shards.begin(), more->shards.end());
}

} // namespace

std::string SiteKey::text() const {
  if (launched)
    return number ? fmt::format("{} at site {}", name, number) : name;
  return fmt::format("layer {} {}", layer, name);
}

void RunSummary::merge(const RunRecord &more) {
  hasRun = true;
  keep(run.weights, more.weights, "weights.sha256");
  keep(run.version, more.version, "weights.version");
  keep(run.rope, more.rope, "rope");
  keep(run.mask, more.mask, "mask");
  keep(run.logprob, more.logprob, "logprob");
  keep(run.vocabulary, more.vocabulary, "vocabulary");
  keep(run.replay, more.replay, "rng.replay");
  keep(run.rngState, more.rngState, "rng.state");
  unite(run.heads, more.heads, "ownership.heads");
  unite(run.kvHeads, more.kvHeads, "ownership.kv_heads");
  unite(run.vocabularyOwners, more.vocabularyOwners, "ownership.vocabulary");
}

void RunSummary::merge(const SequenceRecord &more) {
  auto [at, isNew] = sequences.emplace(more.sequence, more);
  if (isNew)
    return;
  SequenceRecord &mine = at->second;
  auto field = [&](const char *name) {
    return fmt::format("sequence {}: {}", more.sequence, name);
  };
  keep(mine.tokens, more.tokens, field("tokens"));
  keep(mine.targets, more.targets, field("targets"));
  keep(mine.active, more.active, field("active"));
  keep(mine.positions, more.positions, field("positions"));
  keep(mine.kv, more.kv, field("kv"));
  unite(mine.owners, more.owners, field("ownership"));
}

void RunSummary::take(const AnyRecord &record) {
  if (auto *header = std::get_if<RunRecord>(&record))
    merge(*header);
  else if (auto *sequence = std::get_if<SequenceRecord>(&record))
    merge(*sequence);
  else if (auto *launch = std::get_if<LaunchRecord>(&record)) {
    SiteDigests &site = sites[{0, launch->site, launch->op, true}];
    site.contracts.insert(launch->contract);
    site.code.insert(launch->code);
    names.try_emplace(launch->contract, launch->name);
    names.try_emplace(launch->code, launch->variant);
  } else if (auto *row = std::get_if<RowRecord>(&record)) {
    SiteDigests &site = sites[{row->layer, 0, row->site, false}];
    site.contracts.insert(row->contract);
    site.code.insert(row->code);
  }
}

void RunSummary::read(std::istream &stream) {
  report = readRecords(
      stream, [this](const AnyRecord &record, uint64_t) { take(record); });
}

} // namespace bitpact::diff
