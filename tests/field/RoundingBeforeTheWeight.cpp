// RoundingBeforeTheWeight.cpp - one more rounding is another contract
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Seen elsewhere: one engine rounds the normalised value to bf16 before it
// multiplies by the weight, the other after; 74 % of elements are equal.
#include "contracts/diff/Delta.h"
#include "tests/field/Fixture.h"

#include <catch2/catch.hpp>
#include <iostream>

using namespace bitpact::field;
using nlohmann::json;

TEST_CASE("the two contracts differ in one entry of R, and have digests") {
  Compiled compiled({"norm", "norm_rounded"});
  const ContractSpec &late = compiled.contract("norm");
  const ContractSpec &early = compiled.contract("norm_rounded");
  CHECK(late.digest != early.digest);
  json a = json::parse(late.text), b = json::parse(early.text);
  bitpact::diff::Delta delta = bitpact::diff::compare(a, b);
  REQUIRE(delta.changes.size() == 1);
  CHECK(delta.changes[0].field == bitpact::diff::Field::R);
  CHECK(delta.changes[0].node == "normed");
  for (json *one : {&a, &b})
    for (const char *words : {"name", "doc"})
      one->erase(words);
  CHECK(json::diff(a, b) == json::parse(R"([{"op": "replace",
      "path": "/rounding/normed/format", "value": "bf16"}])"));
}

namespace {

uint16_t at(const Tensor &tensor, int64_t i) {
  return tensor.bytes[2 * i] | tensor.bytes[2 * i + 1] << 8;
}

/// Both contracts on the same tensors: each kernel keeps its own.
std::pair<Tensor, Tensor> both(const Compiled &compiled,
                               const Tensors &inputs) {
  Tensor results[2];
  int n = 0;
  for (const char *name : {"norm", "norm_rounded"}) {
    const ContractSpec &contract = compiled.contract(name);
    Tensor want = expected(contract, inputs);
    Arena arena(contract, inputs);
    for (const VariantSpec *variant : compiled.variants(contract)) {
      INFO(variant->id);
      CHECK(arena.launch(compiled, *variant, 0, want.shape[0]) == want.bytes);
    }
    results[n++] = want;
  }
  return {results[0], results[1]};
}

} // namespace

TEST_CASE("a witness by hand") {
  // Ones and threes: the mean of squares is 5, a three becomes 3/sqrt(5) =
  // 1.34164…, in bf16 1.34375. Times 1.125 that is 1.50934…, next to 193/128;
  // rounded before, 1.51171875 = 193.5/128, a tie that goes to 194/128.
  Compiled compiled({"norm", "norm_rounded"});
  std::vector<uint16_t> x(100, 0x3F80), weight(100, 0x3F90);
  for (size_t i = 1; i < x.size(); i += 2)
    x[i] = 0x4040;
  auto [late, early] = both(
      compiled, {{"x", bf16s({1, 100}, x)}, {"weight", bf16s({100}, weight)}});
  for (int64_t i = 1; i < 100; i += 2) {
    CHECK(at(late, i) == 0x3FC1);
    CHECK(at(early, i) == 0x3FC2);
  }
}

TEST_CASE("the share of equal elements is that seen in the field") {
  Compiled compiled({"norm", "norm_rounded"});
  constexpr int64_t rows = 256, hidden = 100;
  auto [late, early] =
      both(compiled, normalInputs(compiled.contract("norm"), rows, hidden));
  int64_t equal = 0;
  for (int64_t i = 0; i < rows * hidden; ++i)
    equal += at(late, i) == at(early, i);
  double share = double(equal) / double(rows * hidden);
  std::cout << "rounding before the weight: " << 100 * share
            << " % of elements equal\n";
  CHECK(share > 0.69);
  CHECK(share < 0.79);
}
