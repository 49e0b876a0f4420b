// DomainTest.cpp - padding that does not exist, and reading at an index
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tests/unit/reference/States.h"

#include <catch2/catch.hpp>

#include <cmath>
#include <limits>

using namespace bitpact::tests;
using bitpact::algebra::Format;
using bitpact::algebra::RuleError;
using bitpact::reference::Evaluator;

static StateText padded(const std::string &state,
                        const std::vector<std::string> &merge) {
  StateText text;
  text.partition = "t:* c:2";
  text.state = state;
  text.merge = merge;
  text.extent = 5;
  text.stored = 8;
  return text;
}

TEST_CASE("what is stored beyond the extent changes nothing") {
  const std::vector<StateText> texts{
      padded("two_pass", {"c chain", "t chain"}),
      padded("two_pass", {"c halving", "t pairwise"}),
      padded("online", {"c chain", "t carry"}),
      padded("online", {"t carry", "c halving merge"})};
  const std::vector<double> row{1, 3, 7, 5, 2};
  for (const StateText &text : texts) {
    INFO(text.state << " " << text.merge.back());
    StateText whole = text;
    whole.extent = whole.stored = 0;
    double expected = stateRow(whole, row);
    for (double poison : {0.0, 1e30, double(INFINITY), double(NAN)}) {
      std::vector<double> stored = row;
      stored.resize(8, poison);
      CHECK(stateRow(text, stored) == expected);
    }
    // The witness: the same bytes without padding are another sum.
    std::vector<double> stored = row;
    stored.resize(8, 100);
    CHECK(stateRow(whole, stored) != expected);
  }
}

TEST_CASE("a take reads the element at an index, or nothing") {
  StateText text = padded("online", {"c chain", "t carry"});
  std::vector<double> row{1, 3, 7, 5, 2, 100, 100, NAN};
  std::vector<double> x;
  const std::vector<int64_t> at{0,
                                4,
                                5,
                                7,
                                8,
                                -1,
                                std::numeric_limits<int32_t>::min(),
                                std::numeric_limits<int32_t>::max()};
  for (size_t i = 0; i < at.size(); ++i)
    x.insert(x.end(), row.begin(), row.end());
  std::vector<uint64_t> bits(at.begin(), at.end());
  const uint64_t nan = 0x7fc00000;
  for (const char *format : {"i32", "i64"}) {
    Evaluator evaluator(takeContract(text, format));
    auto y = evaluator.run(
        {{"x", tensorOf(Format::F32, {8, 8}, x)},
         {"at",
          tensorOfBits(*bitpact::algebra::parseFormat(format), {8}, bits)}});
    // Padding is out of range: its positions do not exist.
    CHECK(bitsOf(y.at("t")) == std::vector<uint64_t>{0x3f800000, 0x40000000,
                                                     nan, nan, nan, nan, nan,
                                                     nan});
    // The other values of the row do not hear of it.
    CHECK(valuesOf(y.at("m")) == std::vector<double>(8, 7));
    // The extent is that of the nodes.
    CHECK(valuesOf(y.at("n")) == std::vector<double>(8, 5));
  }
  // 2^32 does not wrap to 0.
  Evaluator wide(takeContract(text, "i64"));
  auto y = wide.run({{"x", tensorOf(Format::F32, {1, 8}, row)},
                     {"at", tensorOfBits(Format::I64, {1}, {1ull << 32})}});
  CHECK(bitsOf(y.at("t")) == std::vector<uint64_t>{nan});
  CHECK_THROWS_WITH(wide.run({{"x", tensorOf(Format::F32, {1, 8}, row)},
                              {"at", tensorOfBits(Format::I32, {1}, {1})}}),
                    "tensor 'at': its format is i32, the contract says i64");
}

TEST_CASE("a take moves bits, and NaN it makes canonical") {
  StateText text = padded("online", {"c chain", "t carry"});
  Evaluator evaluator(takeContract(text, "i32"));
  std::vector<uint64_t> x(8, 0x80000000); // -0
  x[1] = 0x00000001;
  x[2] = 0xffc12345;
  for (auto [at, expected] : {std::pair<uint64_t, uint64_t>{0, 0x80000000},
                              {1, 0x00000001},
                              {2, 0x7fc00000}}) {
    auto y = evaluator.run({{"x", tensorOfBits(Format::F32, {1, 8}, x)},
                            {"at", tensorOfBits(Format::I32, {1}, {at})}});
    CHECK(bitsOf(y.at("t"))[0] == expected);
  }
}

TEST_CASE("canonical contracts of states that are none are refused") {
  auto refuses = [](nlohmann::json contract, const std::string &rule) {
    INFO(rule);
    try {
      Evaluator evaluator(contract);
      FAIL("it was accepted");
    } catch (const RuleError &error) {
      CHECK(error.rule() == rule);
    }
  };
  StateText text = padded("online", {"c chain", "t carry"});
  nlohmann::json good = takeContract(text, "i32");
  Evaluator accepted(good);
  auto with = [&](const std::string &pointer, nlohmann::json value) {
    nlohmann::json changed = good;
    changed[nlohmann::json::json_pointer(pointer)] = std::move(value);
    return changed;
  };
  refuses(with("/nodes/sum/state", "two_pass"), "S3");
  refuses(with("/nodes/sum/state", "later"), "C4");
  refuses(with("/nodes/max/state", "online"), "S2");
  refuses(with("/nodes/sum/merge", {"t carry", "c carry merge"}), "S5");
  refuses(with("/nodes/sum/domain", "vocab"), "S1");
  refuses(with("/nodes/max/merge", {"j pairwise in bf16"}), "S1");
  refuses(with("/op/body/2/args", {"v0", "v0"}), "S1");
  refuses(with("/dims/vocab", 9), "D4");
  refuses(with("/nodes/sum/domain/vocab/extent", 9), "D4");
  refuses(with("/nodes/sum/domain/vocab/extent", 0), "D4");
  refuses(with("/primitives/sum.weight", "sum.add.f32"), "A3");
  refuses(with("/primitives/sum.rescale", "combine.fma.f32"), "A3");
  refuses(with("/primitives/sum.combine", "combine.fma.f32"), "A1");
  refuses(with("/types/at", "f32"), "P1");
  refuses(with("/op/body/6/args", {"v0", "v0"}), "F11");
  refuses(with("/op/body/6/over", "rows"), "F11");
  refuses(with("/op/body/7/args", {"i"}), "F11");
}
