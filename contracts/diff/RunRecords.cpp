// RunRecords.cpp - the fields of each kind of record
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "contracts/diff/RunRecords.h"

#include "contracts/algebra/CanonicalJson.h"
#include "contracts/diff/RecordLine.h"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>

using nlohmann::json;

namespace bitpact::diff {
namespace {

constexpr int digestDigits = 64, hashDigits = 32;

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

RunRecord run(const Fields &fields) {
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

SequenceRecord sequence(const Fields &fields) {
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

LaunchRecord launch(const Fields &fields) {
  fields.allow({"bitpact_record", "sequence", "contract", "name", "op",
                "variant", "code", "target", "device", "role", "dims", "route",
                "site", "dropped"});
  LaunchRecord one;
  one.numbered = fields.has("sequence");
  one.sequence = uint64_t(fields.integerOr("sequence", 0));
  one.dropped = uint64_t(fields.integerOr("dropped", 0));
  one.site = uint64_t(fields.integerOr("site", 0));
  one.contract = fields.hex("contract", digestDigits);
  one.code = fields.hex("code", digestDigits);
  one.op = fields.text("op");
  one.name = fields.textOr("name", "");
  one.variant = fields.textOr("variant", "");
  one.device = fields.textOr("device", "");
  one.role = fields.textOr("role", "");
  return one;
}

RowRecord row(const Fields &fields) {
  fields.allow({"bitpact_row", "sequence", "position", "layer", "site", "hash",
                "dtype", "contract", "code", "device", "tensor", "row"});
  RowRecord one;
  one.sequence = fields.name("sequence");
  one.position = fields.integer("position");
  one.layer = fields.integer("layer", -1, INT32_MAX);
  one.site = fields.text("site");
  std::string hash = fields.hex("hash", hashDigits);
  for (size_t i = 0; i < one.hash.size(); ++i)
    one.hash[i] = uint8_t(std::stoul(hash.substr(2 * i, 2), nullptr, 16));
  one.dtype = fields.text("dtype");
  one.contract = fields.hexOr("contract", digestDigits, "");
  one.code = fields.hexOr("code", digestDigits, "");
  one.device = fields.textOr("device", "");
  if (fields.has("tensor"))
    one.tensor = fields.text("tensor");
  if (fields.has("row") || !one.tensor.empty())
    one.row = fields.integer("row");
  return one;
}

LogprobRecord logprob(const Fields &fields) {
  fields.allow(
      {"bitpact_logprob", "sequence", "position", "role", "dtype", "bits"});
  LogprobRecord one;
  one.sequence = fields.name("sequence");
  one.position = fields.integer("position");
  std::string role = fields.text("role");
  bool known = false;
  for (LogprobRole each : {LogprobRole::Training, LogprobRole::Prefill,
                           LogprobRole::Decode, LogprobRole::Recorded})
    if (role == nameOf(each)) {
      one.role = each;
      known = true;
    }
  if (!known)
    fields.wrong("role", "training, prefill, decode or recorded");
  one.dtype = fields.text("dtype");
  size_t digits = one.dtype == "f64"                          ? 16
                  : one.dtype == "f32"                        ? 8
                  : one.dtype == "bf16" || one.dtype == "f16" ? 4
                                                              : 0;
  if (!digits)
    fields.wrong("dtype", "f32, f64, bf16 or f16");
  one.bits = std::stoull(fields.hex("bits", digits), nullptr, 16);
  return one;
}

EndRecord end(const Fields &fields) {
  fields.allow({"bitpact_end", "sequences", "launches", "rows", "logprobs",
                "sites", "dropped"});
  EndRecord one;
  auto count = [&](const char *key, std::optional<uint64_t> &into) {
    if (fields.has(key))
      into = uint64_t(fields.integer(key));
  };
  count("sequences", one.sequences);
  count("launches", one.launches);
  count("rows", one.rows);
  count("logprobs", one.logprobs);
  one.dropped = uint64_t(fields.integerOr("dropped", 0));
  if (fields.has("sites")) {
    Fields sites = fields.inner("sites");
    for (const auto &[site, counted] : fields.need("sites").items()) {
      if (site.empty() || site.size() > 19 ||
          site.find_first_not_of("0123456789") != site.npos)
        throw RecordError(fmt::format("{}: key '{}' is no site number",
                                      fields.path("sites"), site));
      one.sites[std::stoull(site)] = uint64_t(sites.integer(site.c_str()));
    }
  }
  return one;
}

} // namespace

std::string listingHash(const std::vector<int64_t> &values) {
  std::string bytes;
  bytes.reserve(values.size() * 8);
  for (int64_t value : values)
    for (int i = 0; i < 8; ++i)
      bytes += char(uint64_t(value) >> (8 * i));
  return algebra::sha256Hex(bytes);
}

const char *nameOf(LogprobRole role) {
  switch (role) {
  case LogprobRole::Training:
    return "training";
  case LogprobRole::Prefill:
    return "prefill";
  case LogprobRole::Decode:
    return "decode";
  case LogprobRole::Recorded:
    return "recorded";
  }
  return "?";
}

AnyRecord parseRecord(const json &line) {
  constexpr const char *kinds[] = {"bitpact_run",     "bitpact_sequence",
                                   "bitpact_record",  "bitpact_row",
                                   "bitpact_logprob", "bitpact_end"};
  const char *kind = nullptr;
  for (const char *each : kinds)
    if (line.contains(each)) {
      if (kind)
        throw RecordError(fmt::format("is both {} and {}", kind, each));
      kind = each;
    }
  if (!kind)
    throw RecordError("no record: it has none of the keys bitpact_run, "
                      "bitpact_sequence, bitpact_record, bitpact_row, "
                      "bitpact_logprob, bitpact_end");
  if (line.at(kind) != 1 || !line.at(kind).is_number_integer())
    throw RecordError(fmt::format("{} has version {}; this tool reads 1", kind,
                                  shown(line.at(kind))));
  Fields fields(line, kind);
  switch (std::find(std::begin(kinds), std::end(kinds), kind) - kinds) {
  case 0:
    return run(fields);
  case 1:
    return sequence(fields);
  case 2:
    return launch(fields);
  case 3:
    return row(fields);
  case 4:
    return logprob(fields);
  default:
    return end(fields);
  }
}

RowHash hashRow(std::string_view bytes) {
  std::string hex = algebra::sha256Hex(bytes);
  RowHash hash;
  for (size_t i = 0; i < hash.size(); ++i)
    hash[i] = uint8_t(std::stoul(hex.substr(2 * i, 2), nullptr, 16));
  return hash;
}

std::string hexOf(const RowHash &hash) {
  std::string text;
  for (uint8_t byte : hash)
    text += fmt::format("{:02x}", byte);
  return text;
}

std::string rowLine(const RowRecord &row) {
  json line = {{"bitpact_row", 1},         {"sequence", row.sequence},
               {"position", row.position}, {"layer", row.layer},
               {"site", row.site},         {"hash", hexOf(row.hash)},
               {"dtype", row.dtype},       {"contract", row.contract},
               {"code", row.code},         {"device", row.device}};
  if (!row.tensor.empty()) {
    line["tensor"] = row.tensor;
    line["row"] = row.row;
  }
  return algebra::canonicalText(line) + '\n';
}

} // namespace bitpact::diff
