// DigestTest.cpp - spellings do not enter the digest, meanings do
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tests/unit/reader/ReaderFixture.h"

#include <catch2/catch.hpp>

#include <set>

using namespace bitpact::test;

TEST_CASE("spellings of one contract have one digest") {
  const std::string digest = digestOf(good);
  CHECK(digestOf("// a comment\n" + good) == digest);
  CHECK(digestOf(with(good, "test/rms_norm", "another/name")) == digest);
  CHECK(digestOf(with(good, "\"op\"", "\"doc\": \"words\", \"op\"")) == digest);
  CHECK(digestOf(with(good, "sweep:* lane:4 pack:2",
                      "  sweep:*   lane:4  pack:2 ")) == digest);
  CHECK(digestOf(with(good, "pack chain", "pack  chain")) == digest);
  CHECK(digestOf(with(good, "1e-6 f32", "0.000001  f32")) == digest);
  CHECK(digestOf(with(good, "\"x\": \"bf16\", \"weight\": \"bf16\"",
                      "\"weight\": \"bf16\", \"x\": \"bf16\"")) == digest);
  // Digits are named for the reader only.
  std::string renamed =
      with(with(with(good, "sweep:* lane:4 pack:2", "a:* b:4 c:2"),
                "\"pack chain\", \"sweep chain\"", "\"c chain\", \"a chain\""),
           "lane halving", "b halving");
  CHECK(digestOf(renamed) == digest);
  // No node reduces tokens.
  CHECK(digestOf(with(good, "\"tokens\": \"*\"", "\"tokens\": 7")) == digest);
}

TEST_CASE("a change of meaning changes the digest") {
  const std::string digest = digestOf(good);
  std::vector<std::string> changed{
      with(good, "\"hidden\": 16", "\"hidden\": 32"),
      with(good, "\"weight\": \"bf16\"", "\"weight\": \"f32\""),
      with(good, "1e-6 f32", "1e-5 f32"),
      with(with(good, "1e-6 f32", "1e-6 f64"), "div_sqrt.f32", "div_sqrt.f64"),
      with(good, "lane:4", "lane:8"),
      with(good, "lane halving", "lane pairwise"),
      with(good, "\"pack chain\", \"sweep chain\"",
           "\"sweep chain\", \"pack chain\""),
      with(good, "identity", "first"),
      with(good, "\"normed\": \"f32 rne\"", "\"normed\": \"bf16 rne\""),
      with(good, "rsqrt.div_sqrt.f32", "rsqrt.f64_rounded.f32"),
      with(with(good, "dot.fma.f32", "dot.mul_add.f32"), "exact", "f32"),
  };
  std::set<std::string> digests{digest};
  for (const std::string &text : changed)
    CHECK(digests.insert(digestOf(text)).second);
}

TEST_CASE("presets and extends expand before the digest") {
  Folder folder;
  const std::string digits = R"("partition": "sweep:* lane:4 pack:2",
      "merge": ["pack chain", "sweep chain", "lane halving"],
      "start": "identity",)";
  std::string wide =
      with(with(good, "lane:4 pack:2", "lane:512 pack:8"), "16", "4096");
  std::string used = with(
      with(good, digits, "\"use\": \"row.pack8_lane512@1\","), "16", "4096");
  CHECK(digestOf(used) == digestOf(wide));

  // Later presets fill over earlier ones, the node's own keys over both.
  std::string listed =
      with(with(used, "\"row.pack8_lane512@1\"",
                "[\"row.serial@1\", \"row.pack8_lane512@1\"]"),
           "\"domain\"", "\"start\": \"identity\", \"domain\"");
  CHECK(digestOf(listed) == digestOf(wide));
  CHECK(digestOf(with(listed, "identity", "first")) != digestOf(wide));

  std::string base = folder.write("base.json", good);
  std::string same = folder.write(
      "same.json", R"({ "bitpact": 1, "extends": "base.json", "name": "n" })");
  CHECK(read(same).digest == read(base).digest);
  std::string variant = folder.write("variant.json", R"({
    "bitpact": 1,
    "extends": "same.json",
    "rounding": { "normed": "bf16 rne" }
  })");
  CHECK(read(variant).digest == digestOf(with(good, "\"normed\": \"f32 rne\"",
                                              "\"normed\": \"bf16 rne\"")));
  // null removes what the base says.
  std::string removed = folder.write("removed.json", R"({
    "bitpact": 1,
    "extends": "base.json",
    "nodes": { "sum_sq": { "start": null } }
  })");
  CHECK_THAT(read(removed).text(),
             Catch::Matchers::Contains("'sum_sq' has no key 'start' [C6]"));
}

TEST_CASE("params are rounded once, from the decimal text") {
  auto bits = [](const std::string &text) {
    std::string contract = with(good, "1e-6 f32", text);
    if (text.ends_with("f64"))
      contract = with(contract, "div_sqrt.f32", "div_sqrt.f64");
    return readText(contract)
        .canonical.value()["params"]["eps"]["bits"]
        .get<std::string>();
  };
  CHECK(bits("1e-6 f32") == "358637bd");
  CHECK(bits("1e-6 f64") == "3eb0c6f7a0b5ed8d");
  CHECK(bits("1.0 bf16") == "3f80");
  CHECK(bits("-2 f16") == "c000");
  CHECK(bits("0 f32") == "00000000");
  // Just above the middle of 1 and the next f32: through f64 it would fall on
  // the middle first, and then to 1.
  CHECK(bits("1.00000005960464477539062500001 f32") == "3f800001");
  CHECK(bits("1.000000059604644775390625 f32") == "3f800000");
}
