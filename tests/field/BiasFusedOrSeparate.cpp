// BiasFusedOrSeparate.cpp - a rounding between product and bias is a contract
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Seen elsewhere: one engine adds the bias in the epilogue, in f32, the other
// to what it had stored as bf16.
#include "tests/field/Fixture.h"

#include <catch2/catch.hpp>
#include <iostream>

using namespace bitpact::field;
using nlohmann::json;

namespace {

uint16_t at(const Tensor &tensor, int64_t i) {
  return tensor.bytes[2 * i] | tensor.bytes[2 * i + 1] << 8;
}

/// Both contracts on the same tensors: each kernel keeps its own.
std::pair<Tensor, Tensor> both(const Compiled &compiled,
                               const Tensors &inputs) {
  Tensor results[2];
  int n = 0;
  for (const char *name : {"layer", "layer_separate"}) {
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

TEST_CASE("fused and separate differ in one entry of R") {
  Compiled compiled({"layer", "layer_separate"});
  json a = json::parse(compiled.contract("layer").text),
       b = json::parse(compiled.contract("layer_separate").text);
  for (json *one : {&a, &b})
    for (const char *words : {"name", "doc"})
      one->erase(words);
  CHECK(a != b);
  CHECK(compiled.contract("layer").digest !=
        compiled.contract("layer_separate").digest);
  a.at("rounding").erase("scaled");
  b.at("rounding").erase("scaled");
  CHECK(a == b);
}

TEST_CASE("a witness by hand, bias after a product") {
  // 1, 1, 1, -3, …: mean 0, variance 3, so a one becomes 1/sqrt(3) = 0.57735.
  // Less 0.5 that is 0.07735 = 158.4 · 2^-11, in bf16 158 · 2^-11. Rounded
  // before, 0.57735 is 148 · 2^-8, and 148 · 2^-8 - 0.5 = 160 · 2^-11.
  Compiled compiled({"layer", "layer_separate"});
  std::vector<uint16_t> x(100, 0x3F80), weight(100, 0x3F80), bias(100, 0xBF00);
  for (size_t i = 3; i < x.size(); i += 4)
    x[i] = 0xC040;
  auto [fused, separate] = both(compiled, {{"x", bf16s({1, 100}, x)},
                                           {"weight", bf16s({100}, weight)},
                                           {"bias", bf16s({100}, bias)}});
  for (int64_t i = 0; i < 100; ++i) {
    bool one = i % 4 != 3;
    CHECK(at(fused, i) == (one ? 0x3D9E : 0xC00F));
    CHECK(at(separate, i) == (one ? 0x3DA0 : 0xC00F));
  }
}

TEST_CASE("how many elements a bias added apart changes") {
  Compiled compiled({"layer", "layer_separate"});
  constexpr int64_t rows = 256, hidden = 100;
  auto [fused, separate] =
      both(compiled, normalInputs(compiled.contract("layer"), rows, hidden));
  int64_t equal = 0;
  for (int64_t i = 0; i < rows * hidden; ++i)
    equal += at(fused, i) == at(separate, i);
  double share = double(equal) / double(rows * hidden);
  std::cout << "bias fused or separate: " << 100 * share
            << " % of elements equal\n";
  CHECK(share > 0.3);
  CHECK(share < 0.95);
}
