// RunFields.cpp - the fields of a run and of a sequence: what the gate compares
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "contracts/diff/RunFields.h"

#include "contracts/algebra/CanonicalJson.h"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>

using nlohmann::json;

namespace bitpact::diff {
namespace {

Listing listing(const Fields &fields, const char *key, bool mask = false) {
  const json &value = fields.need(key);
  Listing list;
  if (value.is_object()) {
    Fields inner = fields.inner(key);
    inner.allow({"sha256", "count"});
    list.sha256 = inner.hex("sha256", digestDigits);
    list.count = inner.integer("count");
    return list;
  }
  if (!value.is_array())
    fields.wrong(key, "a list of integers, or {\"sha256\": …, \"count\": …}");
  list.listed = true;
  list.values.reserve(value.size());
  for (const json &one : value) {
    bool fits =
        one.is_boolean() || (one.is_number_integer() &&
                             !(one.is_number_unsigned() &&
                               one.get<uint64_t>() > uint64_t(INT64_MAX)));
    int64_t number = !fits              ? 0
                     : one.is_boolean() ? int64_t(one.get<bool>())
                                        : one.get<int64_t>();
    if (!fits || (!mask && one.is_boolean()) ||
        (mask && number != 0 && number != 1))
      throw RecordError(fmt::format("{}: element {} is {}, must be {}",
                                    fields.path(key), list.values.size(),
                                    shown(one),
                                    mask ? "0 or 1" : "an integer of 64 bits"));
    list.values.push_back(number);
  }
  list.count = int64_t(list.values.size());
  list.sha256 = listingHash(list.values);
  return list;
}

Interval interval(const json &value, int64_t extent, const std::string &where) {
  auto fits = [&](const json &one) {
    return one.is_number_integer() && one.get<int64_t>() >= 0 &&
           !(one.is_number_unsigned() &&
             one.get<uint64_t>() > uint64_t(extent)) &&
           one.get<int64_t>() <= extent;
  };
  if (!value.is_array() || value.size() != 2 || !fits(value[0]) ||
      !fits(value[1]) || value[0].get<int64_t>() >= value[1].get<int64_t>())
    throw RecordError(
        fmt::format("{} has {}, must have [START, END] with 0 <= START < END "
                    "<= {}",
                    where, shown(value), extent));
  return {value[0].get<int64_t>(), value[1].get<int64_t>()};
}

Ownership ownership(const Fields &parent, const char *key) {
  Fields fields = parent.inner(key);
  fields.allow({"extent", "shards", "replicated"});
  Ownership result;
  result.extent = fields.integer("extent");
  if (const json *replicated = fields.find("replicated")) {
    if (!replicated->is_boolean())
      fields.wrong("replicated", "true or false");
    result.replicated = replicated->get<bool>();
  }
  const json &shards = fields.need("shards");
  if (shards == "whole") {
    if (result.extent)
      result.shards.insert({0, {{0, result.extent}}});
    return result;
  }
  if (!shards.is_array())
    fields.wrong("shards",
                 "\"whole\" or a list of {\"rank\": …, \"ranges\": …}");
  for (const json &one : shards) {
    Fields shard(one, fields.path("shards"));
    shard.allow({"rank", "ranges"});
    std::vector<Interval> ranges;
    if (!shard.need("ranges").is_array())
      shard.wrong("ranges", "a list of [START, END]");
    for (const json &range : shard.need("ranges"))
      ranges.push_back(interval(range, result.extent, shard.path("ranges")));
    std::sort(ranges.begin(), ranges.end());
    result.shards.insert({shard.integer("rank"), std::move(ranges)});
  }
  return result;
}

KvMap kvMap(const Fields &parent, const char *key) {
  KvMap map;
  if (parent.need(key).is_null())
    return map;
  map.cached = true;
  Fields fields = parent.inner(key);
  fields.allow({"identity", "weights", "blocks"});
  map.identity = fields.text("identity");
  map.weights = fields.hex("weights", digestDigits);
  if (!fields.need("blocks").is_array())
    fields.wrong("blocks", "a list of blocks");
  for (const json &one : fields.need("blocks")) {
    Fields block(one, fields.path("blocks"));
    block.allow({"start", "end", "content", "weights", "page"});
    KvBlock kept;
    kept.start = block.integer("start");
    kept.end = block.integer("end", kept.start + (kept.start < INT64_MAX));
    kept.content = block.text("content");
    kept.weights = block.hexOr("weights", digestDigits, "");
    map.blocks.push_back(std::move(kept));
  }
  std::stable_sort(
      map.blocks.begin(), map.blocks.end(),
      [](const KvBlock &a, const KvBlock &b) { return a.start < b.start; });
  return map;
}

/// Raw, and processed with everything off, are one thing.
json logprobMode(const Fields &parent) {
  Fields fields = parent.inner("logprob");
  std::string mode = fields.text("mode");
  if (mode == "raw") {
    fields.allow({"mode"});
    return {{"mode", "raw"}};
  }
  if (mode != "processed")
    fields.wrong("mode", "\"raw\" or \"processed\"");
  fields.allow({"mode", "temperature", "top_k", "top_p"});
  json result = {{"mode", mode}};
  bool off = true;
  for (const char *key : {"temperature", "top_k", "top_p"}) {
    const json &value = fields.need(key);
    bool temperature = !std::strcmp(key, "temperature");
    if (!value.is_number() && (temperature || !value.is_null()))
      fields.wrong(key, temperature ? "a number" : "a number, or null for off");
    off = off && (value.is_null() || (temperature && value == 1));
    result[key] = value;
  }
  return off ? json{{"mode", "raw"}} : result;
}

json kinded(const Fields &parent, const char *key) {
  Fields fields = parent.inner(key);
  (void)fields.text("kind");
  json value = parent.need(key);
  value.erase("note");
  return value;
}

} // namespace

RunRecord runRecord(const Fields &fields) {
  fields.allow({"bitpact_run", "weights", "rope", "mask", "ownership",
                "vocabulary", "logprob", "rng"});
  RunRecord run;
  if (fields.has("weights")) {
    Fields weights = fields.inner("weights");
    weights.allow({"sha256", "version"});
    if (weights.has("sha256"))
      run.weights = weights.hex("sha256", digestDigits);
    if (weights.has("version"))
      run.version = weights.name("version");
  }
  if (fields.has("rope"))
    run.rope = kinded(fields, "rope");
  if (fields.has("mask"))
    run.mask = kinded(fields, "mask");
  if (fields.has("ownership")) {
    Fields owners = fields.inner("ownership");
    owners.allow({"heads", "kv_heads", "vocabulary"});
    if (owners.has("heads"))
      run.heads = ownership(owners, "heads");
    if (owners.has("kv_heads"))
      run.kvHeads = ownership(owners, "kv_heads");
    if (owners.has("vocabulary"))
      run.vocabularyOwners = ownership(owners, "vocabulary");
  }
  if (fields.has("vocabulary"))
    run.vocabulary = interval(fields.need("vocabulary"), INT64_MAX,
                              fields.path("vocabulary"));
  if (fields.has("logprob"))
    run.logprob = logprobMode(fields);
  if (fields.has("rng")) {
    Fields rng = fields.inner("rng");
    rng.allow({"replay", "state"});
    if (!rng.need("replay").is_boolean())
      rng.wrong("replay", "true or false");
    run.replay = rng.need("replay").get<bool>();
    if (const json *state = rng.find("state"); state && !state->is_null())
      run.rngState = *state;
  }
  return run;
}

SequenceRecord sequenceRecord(const Fields &fields) {
  fields.allow({"bitpact_sequence", "sequence", "tokens", "targets", "active",
                "positions", "kv", "ownership"});
  SequenceRecord one;
  one.sequence = fields.name("sequence");
  if (fields.has("tokens"))
    one.tokens = listing(fields, "tokens");
  if (fields.has("targets"))
    one.targets = listing(fields, "targets");
  if (fields.has("active"))
    one.active = listing(fields, "active", /*mask=*/true);
  if (fields.has("positions"))
    one.positions = listing(fields, "positions");
  if (fields.has("kv"))
    one.kv = kvMap(fields, "kv");
  if (fields.has("ownership"))
    one.owners = ownership(fields, "ownership");
  return one;
}

std::string listingHash(const std::vector<int64_t> &values) {
  std::string bytes;
  bytes.reserve(values.size() * 8);
  for (int64_t value : values)
    for (int i = 0; i < 8; ++i)
      bytes += char(uint64_t(value) >> (8 * i));
  return algebra::sha256Hex(bytes);
}

} // namespace bitpact::diff
