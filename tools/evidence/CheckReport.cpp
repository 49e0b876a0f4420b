// CheckReport.cpp - comparing bytes and telling what was found
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/evidence/Check.h"

#include "tools/evidence/Elements.h"

#include <algorithm>
#include <cstring>

using nlohmann::json;

namespace bitpact::evidence {

std::vector<int64_t> CheckOptions::defaultRows() {
  return {1, 2, 3, 31, 32, 33, 255, 256, 257, 1024, 1025};
}

bool CheckReport::equal() const {
  return std::all_of(variants.begin(), variants.end(),
                     [](const VariantReport &one) { return !one.first; });
}

int64_t CheckReport::differing() const {
  int64_t count = 0;
  for (const VariantReport &one : variants)
    count += one.differing;
  return count;
}

std::optional<Difference> compare(const TensorSpec &tensor,
                                  const std::vector<int64_t> &shape,
                                  std::span<const uint8_t> expected,
                                  std::span<const uint8_t> actual) {
  if (std::ranges::equal(expected, actual))
    return std::nullopt;
  Difference difference;
  difference.tensor = tensor.name;
  int64_t width = algebra::bytes(tensor.format), first = -1;
  difference.elements = static_cast<int64_t>(expected.size()) / width;
  for (int64_t at = 0; at < difference.elements; ++at)
    if (std::memcmp(&expected[at * width], &actual[at * width], width) != 0) {
      ++difference.differing;
      if (first < 0)
        first = at;
    }
  difference.expected = bitsText(
      tensor.format, loadBits(tensor.format, &expected[first * width]));
  difference.actual =
      bitsText(tensor.format, loadBits(tensor.format, &actual[first * width]));
  for (size_t axis = shape.size(); axis-- > 0;) {
    difference.coordinate.insert(difference.coordinate.begin(),
                                 first % shape[axis]);
    first /= shape[axis];
  }
  return difference;
}

json toJson(const Difference &d) {
  json result{{"recipe", d.recipe},       {"seed", d.seed},
              {"layout", d.layout},       {"dims", d.dims},
              {"tensor", d.tensor},       {"against", d.against},
              {"same_bytes", d.sameBytes}};
  if (d.stray) {
    result["stray_byte"] = *d.stray;
    return result;
  }
  result["coordinate"] = d.coordinate;
  result["expected"] = d.expected;
  result["actual"] = d.actual;
  result["differing"] = d.differing;
  result["elements"] = d.elements;
  return result;
}

json toJson(const CheckReport &report) {
  json variants = json::array(), unchecked = json::array(),
       without = json::array(), sampled = json::array();
  for (const VariantReport &one : report.variants)
    variants.push_back(
        {{"contract", one.contract->digest},
         {"name", one.contract->name},
         {"op", one.contract->op},
         {"variant", one.variant->id},
         {"target", one.variant->target},
         {"device", one.device},
         {"launches", one.launches},
         {"elements", one.elements},
         {"differing", one.differing},
         {"differences", one.differences},
         {"excluded", one.excluded},
         {"left_out", one.leftOut},
         {"first", one.first ? toJson(*one.first) : json(nullptr)}});
  for (const Unchecked &one : report.unchecked)
    unchecked.push_back({{"contract", one.contract->digest},
                         {"variant", one.variant->id},
                         {"target", one.variant->target},
                         {"why", one.why}});
  for (const SampledCase &one : report.sampled)
    sampled.push_back({{"contract", one.contract->digest},
                       {"dims", one.dims},
                       {"evaluated", one.places},
                       {"outputs", one.outputs},
                       {"launch", one.launch}});
  for (const ContractSpec *one : report.withoutEvidence)
    without.push_back(one->digest);
  return {{"equal", report.equal()},
          {"complete", report.complete()},
          {"differing", report.differing()},
          {"seed", report.seed},
          {"devices", report.devices},
          {"recipes", report.recipes},
          {"rows", report.rows},
          {"cases", report.cases},
          {"sampled_cases", report.sampledCases},
          {"sampled", sampled},
          {"oracle_runs", report.oracleRuns},
          {"variants", variants},
          {"unchecked", unchecked},
          {"without_evidence", without}};
}

} // namespace bitpact::evidence
