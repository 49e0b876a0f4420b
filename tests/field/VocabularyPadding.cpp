// VocabularyPadding.cpp - columns that are stored and do not exist
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Seen elsewhere: logits stored with a padded vocabulary, whose zero columns
// win where all others are negative, or whose garbage makes rows NaN; states
// that have no element yet and turn to NaN in -Inf - -Inf; and rows of -Inf.
#include "tests/field/Fixture.h"
#include "tools/evidence/Launch.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <limits>

using namespace bitpact::field;

namespace {

constexpr int64_t kStored = 128, kExist = 100;
const std::vector<std::string> kContracts{"lse_online", "lse_shared",
                                          "lse_two_pass"};

uint32_t bitsOf(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof(bits));
  return bits;
}

float valueOf(uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, sizeof(value));
  return value;
}

/// Rows of 100 columns that exist, with `padding` behind them.
std::vector<uint32_t> stored(const std::vector<std::vector<float>> &rows,
                             uint32_t padding) {
  std::vector<uint32_t> bits;
  for (const std::vector<float> &row : rows) {
    REQUIRE(row.size() == kExist);
    for (float value : row)
      bits.push_back(bitsOf(value));
    bits.insert(bits.end(), kStored - kExist, padding);
  }
  return bits;
}

/// One value a row from every variant; all must agree with the oracle.
std::vector<uint32_t> run(const Compiled &compiled, const std::string &name,
                          const std::vector<uint32_t> &bits) {
  const ContractSpec &contract = compiled.contract(name);
  int64_t rows = int64_t(bits.size()) / kStored;
  Tensors inputs{{"x", floats({rows, kStored}, bits)}};
  Tensor want = expected(contract, inputs);
  Arena arena(contract, inputs);
  for (const VariantSpec *variant : compiled.variants(contract)) {
    INFO(variant->id);
    CHECK(arena.launch(compiled, *variant, 0, rows) == want.bytes);
    CHECK(arena.intact());
  }
  std::vector<uint32_t> result(rows);
  std::memcpy(result.data(), want.bytes.data(), want.bytes.size());
  return result;
}

std::vector<float> rowOf(float value) {
  return std::vector<float>(kExist, value);
}

/// Ascending, so that the running maximum moves at every step; descending, so
/// that it never does; and a peak in the last column that exists.
std::vector<std::vector<float>> movingRows() {
  std::vector<std::vector<float>> rows(3, rowOf(-20));
  for (int64_t i = 0; i < kExist; ++i) {
    rows[0][i] = float(i) / 4 - 100;
    rows[1][i] = -float(i) / 8 - 3;
  }
  rows[2][kExist - 1] = -1;
  return rows;
}

} // namespace

TEST_CASE("whatever stands in columns that do not exist changes no bit") {
  Compiled compiled(kContracts);
  for (const std::string &name : kContracts) {
    INFO(name);
    std::vector<uint32_t> zeros = run(compiled, name, stored(movingRows(), 0));
    for (uint32_t padding : {0x7FC00000u, 0xFFFFFFFFu, 0x7F800000u, 0xFF800000u,
                             bitsOf(1e30f)})
      CHECK(run(compiled, name, stored(movingRows(), padding)) == zeros);
    // Zeros would win over each of these rows, whose sums are far below 1.
    for (uint32_t bits : zeros)
      CHECK(valueOf(bits) < 0);
    // e^-1 + 99 e^-20: one column and next to nothing else.
    CHECK(valueOf(zeros[2]) == Approx(-1 + 99 * std::exp(-19.0)).epsilon(1e-6));
  }
}

TEST_CASE("states of -Inf, of +Inf and of NaN") {
  Compiled compiled(kContracts);
  const float inf = INFINITY;
  std::vector<std::vector<float>> rows;
  rows.push_back(rowOf(-inf)); // log 100 - Inf
  rows.push_back(rowOf(-inf)); // one number among -Inf, in the last short step
  rows[1][97] = 2;
  rows.push_back(rowOf(1)); // +Inf wins
  rows[2][50] = inf;
  rows.push_back(rowOf(-inf)); // +Inf beside -Inf
  rows[3][3] = inf;
  for (int64_t column : {0, 31, 32, 99}) { // one NaN, wherever it stands
    rows.push_back(rowOf(0.5));
    rows.back()[column] = NAN;
  }
  rows.push_back(rowOf(-inf));
  rows.back()[64] = NAN;
  for (const std::string &name : kContracts) {
    INFO(name);
    std::vector<uint32_t> got = run(compiled, name, stored(rows, 0));
    CHECK(got[0] == bitsOf(-inf));
    CHECK(got[1] == bitsOf(2)); // e^(-Inf - 2) is 0, and log 1 is 0
    CHECK(got[2] == bitsOf(inf));
    CHECK(got[3] == bitsOf(inf));
    for (size_t i = 4; i < rows.size(); ++i)
      CHECK(got[i] == 0x7FC00000); // the canonical one
  }
}

TEST_CASE("signs of zero in a state") {
  Compiled compiled(kContracts);
  const float inf = INFINITY;
  // A single -0 that exists: m = -0, l = 1, log 1 = +0, and -0 + +0 = +0.
  std::vector<std::vector<float>> rows(2, rowOf(-inf));
  rows[0][40] = -0.0f;
  rows[1][40] = 0.0f;
  // Both zeros: the maximum is +0, and each weighs 1, so that l is 2.
  rows.push_back(rowOf(-inf));
  rows[2][5] = -0.0f;
  rows[2][70] = 0.0f;
  for (const std::string &name : kContracts) {
    INFO(name);
    std::vector<uint32_t> got = run(compiled, name, stored(rows, 0));
    CHECK(got[0] == bitsOf(0.0f));
    CHECK(got[1] == bitsOf(0.0f));
    CHECK(got[2] == bitsOf(std::log(2.0f)));
  }
}

TEST_CASE("a target outside of the columns that exist gives NaN, and is told") {
  Compiled compiled({"logprob"});
  const ContractSpec &contract = compiled.contract("logprob");
  const std::vector<int32_t> targets{0,
                                     kExist - 1,
                                     kExist, // stored, but not there
                                     kStored - 1,
                                     kStored,
                                     -1,
                                     std::numeric_limits<int32_t>::min(),
                                     std::numeric_limits<int32_t>::max(),
                                     50};
  int64_t rows = int64_t(targets.size());
  // Equal columns: each has a hundredth.
  Tensor target{bitpact::algebra::Format::I32, {rows}, {}};
  target.bytes.resize(4 * targets.size());
  std::memcpy(target.bytes.data(), targets.data(), target.bytes.size());
  std::vector<std::vector<float>> equal(rows, rowOf(3));
  Tensors inputs{{"x", floats({rows, kStored}, stored(equal, 0x7f800000))},
                 {"target", target}};
  for (const VariantSpec *variant : compiled.variants(contract)) {
    INFO(variant->id);
    bitpact::evidence::Kernel kernel(compiled.package(), cpu(),
                                     contract.digest, variant->roles.front(), variant->id);
    kernel.prepare({{"tokens", rows}, {"vocab", kStored}});
    std::vector<Placed> placed;
    std::vector<bitpact::evidence::View> views;
    for (const TensorSpec &tensor : contract.tensors) {
      placed.emplace_back(tensor, cpu(),
                          bitpact::evidence::allLayouts().front(),
                          tensor.name == "x"
                              ? std::vector<int64_t>{rows, kStored}
                              : std::vector<int64_t>{rows});
      placed.back().put(Arena::canary, tensor.output
                                           ? nullptr
                                           : inputs.at(tensor.name).bytes.data());
      views.push_back(placed.back().view());
    }
    kernel.launch(views);
    CHECK(kernel.takeFault());
    std::vector<uint8_t> bytes = placed.back().rows();
    CHECK(bytes == expected(contract, inputs).bytes);
    for (int64_t row = 0; row < rows; ++row) {
      uint32_t bits;
      std::memcpy(&bits, &bytes[row * 4], 4);
      INFO("target " << targets[row]);
      if (targets[row] < 0 || targets[row] >= kExist)
        CHECK(bits == 0x7fc00000);
      else
        CHECK(std::abs(valueOf(bits) + std::log(100.0)) < 1e-5);
    }
    bitpact::evidence::LaunchRequest request;
    request.package = &compiled.package();
    request.contract = &contract;
    request.role = variant->roles.front();
    request.device = "cpu";
    request.variant = variant->id;
    request.inputs = inputs;
    CHECK_THROWS_WITH(bitpact::evidence::launch(request),
                      Catch::Contains("an index names an element that is not "
                                      "there"));
  }
}
