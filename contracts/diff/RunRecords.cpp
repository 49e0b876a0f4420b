// RunRecords.cpp - the fields of each kind of record
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "contracts/diff/RunRecords.h"

#include "contracts/algebra/CanonicalJson.h"
#include "contracts/diff/RunFields.h"

#include <algorithm>
#include <fmt/format.h>

using nlohmann::json;

namespace bitpact::diff {
namespace {

constexpr int hashDigits = 32;

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
    return runRecord(fields);
  case 1:
    return sequenceRecord(fields);
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
