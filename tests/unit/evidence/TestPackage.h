// TestPackage.h - packages of hand-written kernels and hand-written contracts
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef BITPACT_TESTS_UNIT_EVIDENCE_TESTPACKAGE_H
#define BITPACT_TESTS_UNIT_EVIDENCE_TESTPACKAGE_H

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace bitpact::tests {

/// y[tokens] = sum of x[tokens, hidden], f32; `block:* lane:8`, block chain
/// from +0, lane halving. The name tells several contracts apart.
nlohmann::json sumContract(int64_t hidden = 43,
                           const std::string &name = "test/sum");

/// rms_norm in f32: chain with a rounded product, `normed` rounded to `normed`.
nlohmann::json normContract(int64_t hidden = 43,
                            const std::string &normed = "bf16");

/// y[tokens, out] = x[tokens, hidden] times weight[out, hidden], f32: a chain
/// from +0 with rounded products. `out` of -1 is open.
nlohmann::json productContract(int64_t out, int64_t hidden);

/// The same with the weights of the expert whose block between i32 offsets a
/// row lies in. `hidden` of -1 is open.
nlohmann::json groupedContract(int64_t hidden);

/// A package of the contract with one variant per entry of Kernels.c, best
/// first. `alignX` becomes a condition of the first variant, if not 0.
void writeTestPackage(const std::string &directory,
                      const std::vector<nlohmann::json> &contracts,
                      const std::vector<std::string> &entries,
                      int64_t alignX = 0);

} // namespace bitpact::tests

#endif // BITPACT_TESTS_UNIT_EVIDENCE_TESTPACKAGE_H
