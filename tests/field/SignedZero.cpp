// SignedZero.cpp - signs of zero are bits like others
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Seen elsewhere: -x compiled as 0 - x, -0.0 constants dropped, and parts that
// are skipped or filled with +0, which turns a sum of -0 into +0.
#include "tests/field/Fixture.h"

#include <catch2/catch.hpp>
#include <cstring>

using namespace bitpact::field;

namespace {

constexpr uint32_t kMinus = 0x80000000, kPlus = 0;

/// The sum of each row of `bits`, from every variant; all must agree with the
/// oracle and with each other.
std::vector<uint32_t> sums(const Compiled &compiled, const std::string &name,
                           int64_t hidden, const std::vector<uint32_t> &bits) {
  const ContractSpec &contract = compiled.contract(name);
  int64_t rows = bits.size() / hidden;
  Tensors inputs{{"x", floats({rows, hidden}, bits)}};
  Tensor want = expected(contract, inputs);
  Arena arena(contract, inputs);
  for (const VariantSpec *variant : compiled.variants(contract)) {
    INFO(variant->id << ", rows of " << hidden);
    CHECK(arena.launch(compiled, *variant, 0, rows) == want.bytes);
  }
  std::vector<uint32_t> result(rows);
  std::memcpy(result.data(), want.bytes.data(), want.bytes.size());
  return result;
}

/// Rows of -0 alone; with +0 first, last, and in the middle; of +0 alone.
std::vector<uint32_t> zeroRows(int64_t hidden) {
  std::vector<uint32_t> bits;
  for (int64_t plus : {int64_t(-1), int64_t(0), hidden - 1, hidden / 2})
    for (int64_t i = 0; i < hidden; ++i)
      bits.push_back(i == plus ? kPlus : kMinus);
  bits.insert(bits.end(), hidden, kPlus);
  return bits;
}

} // namespace

TEST_CASE("sums of zeros, where blocks are whole, short and empty") {
  Compiled compiled({"sum_identity", "sum_first", "sum_pairwise"});
  // A block has 32 elements on 16 lanes.
  for (int64_t hidden : {1, 2, 3, 15, 16, 17, 31, 32, 33, 63, 64, 65, 100}) {
    std::vector<uint32_t> rows = zeroRows(hidden);
    // From the identity: +0 + -0 is +0, whatever follows.
    CHECK(sums(compiled, "sum_identity", hidden, rows) ==
          std::vector<uint32_t>{kPlus, kPlus, kPlus, kPlus, kPlus});
    // From the first element: only -0 and -0 make -0. A part without elements
    // adds nothing, not even +0.
    std::vector<uint32_t> first{kMinus, kPlus, kPlus, kPlus, kPlus};
    CHECK(sums(compiled, "sum_first", hidden, rows) == first);
    CHECK(sums(compiled, "sum_pairwise", hidden, rows) == first);
  }
}

TEST_CASE("values that cancel leave +0, values too small to see leave a sign") {
  Compiled compiled({"sum_first"});
  constexpr uint32_t one = 0x3F800000, tiny = 0x80000001;
  CHECK(sums(compiled, "sum_first", 2,
             {one, one | kMinus, kMinus, tiny, tiny, tiny & ~kMinus}) ==
        std::vector<uint32_t>{kPlus, tiny, kPlus});
}

TEST_CASE("a norm keeps the sign of zero, and the weight turns it") {
  Compiled compiled({"norm"});
  const ContractSpec &contract = compiled.contract("norm");
  constexpr int64_t rows = 3, hidden = 100;
  // Row 0: all -0. Row 1: all +0. Row 2: -0 beside other values.
  std::vector<uint16_t> x(rows * hidden, 0x8000), weight(hidden, 0x3F80);
  for (int64_t i = 0; i < hidden; ++i) {
    x[hidden + i] = 0;
    if (i % 2)
      x[2 * hidden + i] = 0x3F80;
    if (i % 3 == 0)
      weight[i] = 0xBF80; // -1
  }
  Tensors inputs{{"x", bf16s({rows, hidden}, x)},
                 {"weight", bf16s({hidden}, weight)}};
  Arena arena(contract, inputs);
  for (const VariantSpec *variant : compiled.variants(contract)) {
    INFO(variant->id);
    std::vector<uint8_t> got = arena.launch(compiled, *variant, 0, rows);
    std::vector<uint16_t> y(rows * hidden);
    std::memcpy(y.data(), got.data(), got.size());
    for (int64_t i = 0; i < hidden; ++i) {
      bool turned = i % 3 == 0;
      CHECK(y[i] == (turned ? 0x0000 : 0x8000));
      CHECK(y[hidden + i] == (turned ? 0x8000 : 0x0000));
      if (i % 2 == 0)
        CHECK(y[2 * hidden + i] == (turned ? 0x0000 : 0x8000));
    }
  }
}
