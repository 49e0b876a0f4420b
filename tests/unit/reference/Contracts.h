// Contracts.h - small contracts and tensors for the evaluator's tests
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef BITPACT_TESTS_UNIT_REFERENCE_CONTRACTS_H
#define BITPACT_TESTS_UNIT_REFERENCE_CONTRACTS_H

#include "contracts/reference/Evaluator.h"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace bitpact::tests {

using algebra::Format;
using reference::Tensor;

/// The node of a reduction contract, with what most tests leave as it is.
struct NodeText {
  std::string partition = "k:*";
  std::vector<std::string> merge = {"k chain"};
  std::string start = "identity";
  std::string input = "f32";
  std::string accumulator = "f32";
  std::string step{};   ///< default: the plain step of the accumulator's format
  std::string output{}; ///< default: the accumulator's format
};

/// y[rows] = sum or max over `hidden` of x[rows, hidden].
nlohmann::json reduceContract(const std::string &kind, const NodeText &node);

/// y[m, n] = dot over k of a[m, k] and b[n, k].
nlohmann::json dotContract(const NodeText &node);
/// y[m, n] = dot over k of a[m, k] and b[e, n, k], where row m lies in block e.
nlohmann::json groupedContract(const NodeText &node);

/// rms_norm@1 over bf16 or other `type`; sites in f32, output as `type`.
nlohmann::json rmsNormContract(const NodeText &node, const std::string &type,
                               const std::string &epsBits = "358637bd");

/// y[n] from x[n], w[n] and c[n] by the operations in `body`, which start from
/// v0, v1, v2; sites get `rounding`.
nlohmann::json elementwiseContract(const nlohmann::json &body,
                                   const nlohmann::json &rounding,
                                   const std::string &type,
                                   const std::string &output);

/// Every definition the contracts above name.
nlohmann::json definitions();

Tensor tensorOf(Format format, std::vector<int64_t> shape,
                const std::vector<double> &values);
Tensor tensorOfBits(Format format, std::vector<int64_t> shape,
                    const std::vector<uint64_t> &bits);
/// f32 between -0.5 and 0.5.
Tensor randomTensor(std::vector<int64_t> shape, std::mt19937 &random);
std::vector<double> valuesOf(const Tensor &tensor);
std::vector<uint64_t> bitsOf(const Tensor &tensor);

/// Evaluates a sum or max of one row of f32 (or `input`) values.
double reduceRow(const std::string &kind, const NodeText &node,
                 const std::vector<double> &row);
/// Evaluates the dot of two rows.
double dotRow(const NodeText &node, const std::vector<double> &a,
              const std::vector<double> &b);

} // namespace bitpact::tests

#endif // BITPACT_TESTS_UNIT_REFERENCE_CONTRACTS_H
