// ResidualFusedOrSeparate.cpp - what a residual or a bias meets is a contract
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Seen elsewhere: one engine adds the residual, or the bias, in the epilogue of
// the product, in f32, the other to what the product had stored as bf16.
#include "contracts/reference/Evaluator.h"
#include "tests/unit/interpreter/TileFixture.h"

#include <catch2/catch.hpp>
#include <iostream>

using namespace bitpact;
using namespace bitpact::tests;

namespace {

Case contractOf(const std::string &name) {
  return readFile(BITPACT_FIELD_CONTRACTS "/" + name + ".json");
}

/// What a contract makes of the inputs: the oracle, and kernels in every tile.
reference::Tensor resultOf(const std::string &name,
                           const interpreter::Tensors &inputs,
                           const interpreter::Dims &dims) {
  Case of = contractOf(name);
  reference::Tensor want =
      reference::Evaluator(of.read.canonical).run(inputs, 1).at("y");
  for (tile::ScheduleAttr schedule : allTiles()) {
    INFO(name << " in " << schedule.text());
    TileKernel kernel = lower(of, schedule);
    interpreter::Tensors all = inputs;
    all["y"] = {want.format, want.shape, {}};
    Said said;
    auto got = interpreter::interpretNumbers(kernel.func, all, dims, 3);
    INFO(said.text);
    REQUIRE(succeeded(got));
    CHECK(got->at("y").bytes == want.bytes);
  }
  return want;
}

} // namespace

TEST_CASE("fused and separate products differ in one entry of R") {
  for (std::string other : {"residual", "bias"}) {
    nlohmann::json a = contractOf(other).read.canonical,
                   b = contractOf(other + "_separate").read.canonical;
    a.erase("name");
    b.erase("name");
    CHECK(a != b);
    a.at("rounding").erase("product");
    b.at("rounding").erase("product");
    CHECK(a == b);
  }
}

TEST_CASE("a witness by hand, after a product") {
  // The sum is 1 + 2^-8, half way between 1 and the next bf16; rounded it is 1.
  // Less 1 that is 2^-8 = 0x3B80, or 0.
  interpreter::Dims dims = productDims(1, 1, 2);
  interpreter::Tensors inputs = {{"x", bf16s({1, 2}, {0x3F80, 0x3B80})},
                                 {"weight", bf16s({1, 2}, {0x3F80, 0x3F80})}};
  for (std::string other : {"residual", "bias"}) {
    interpreter::Tensors all = inputs;
    all[other] =
        other == "bias" ? bf16s({1}, {0xBF80}) : bf16s({1, 1}, {0xBF80});
    CHECK(bitsAt(resultOf(other, all, dims), 0) == 0x3B80);
    CHECK(bitsAt(resultOf(other + "_separate", all, dims), 0) == 0);
  }
}

TEST_CASE("how many elements a product stored between changes") {
  std::mt19937 random(1);
  interpreter::Dims dims = productDims(32, 33, 256);
  for (std::string other : {"residual", "bias"}) {
    interpreter::Tensors inputs =
        tensorsOf(contractOf(other), dims, random, /*plain=*/true);
    inputs.erase("y");
    reference::Tensor fused = resultOf(other, inputs, dims),
                      separate = resultOf(other + "_separate", inputs, dims);
    int64_t equal = 0, count = int64_t(fused.bytes.size() / 2);
    for (int64_t i = 0; i < count; ++i)
      equal += bitsAt(fused, i) == bitsAt(separate, i);
    double share = double(equal) / double(count);
    std::cout << other << " fused or separate: " << 100 * share
              << " % of elements equal\n";
    CHECK(share > 0.3);
    CHECK(share < 0.99);
  }
}
