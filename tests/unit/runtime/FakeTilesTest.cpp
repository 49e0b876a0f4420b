// FakeTilesTest.cpp - launches of tiles: clusters, steady tensors, segments
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tests/unit/runtime/FakeTiles.h"

#include <nlohmann/json.hpp>

using namespace bitpact;
using namespace bitpact::test;
using namespace bitpact::test::fake;
using Catch::Contains;

TEST_CASE("a cluster is a program of several CTAs") {
  Tiles four({tiles("four", 64, 8, 4, {})});
  CHECK(four.gridOf(65, 33) == 4 * 2 * 5);
  CHECK(four.gridOf(64, 28 * 8) == 4 * 28);
  // 116 of 132 multiprocessors have 29 such clusters at one time.
  CHECK(four.gridOf(64, 29 * 8) == 116);
  CHECK(four.gridOf(64, 30 * 8) == 116);
  // Clusters of two have all of them.
  Tiles two({tiles("two", 64, 8, 2, {})});
  CHECK(two.gridOf(64, 66 * 8) == 132);
  CHECK(two.gridOf(64, 67 * 8) == 132);
}

TEST_CASE("the caller says which inputs are steady") {
  package::Variant variant = tiles("one", 64, 8, 1, {});
  package::Argument x;
  x.kind = package::ArgumentKind::Steady;
  x.tensor = "x";
  variant.arguments.push_back(x);
  Tiles one({variant});
  constexpr size_t now = sizeof(bitpact_launch_args),
                   before = offsetof(bitpact_launch_args, steady);
  CHECK(one.steadiness(0, now) == "0");
  CHECK(one.steadiness(1, now) == "1");
  // A caller that does not know the field says nothing of it.
  CHECK(one.steadiness(1, before) == "0");
  CHECK_THAT(one.steadiness(1, before - 1), Contains("args.size: is"));
  CHECK_THAT(one.steadiness(2, now),
             Contains("tensor 'y': the launch writes it; it cannot be steady"));
  CHECK_THAT(one.steadiness(4, now),
             Contains("args.steady: is 0x4, the contract has 2 tensors"));
}

TEST_CASE("steady arguments are inputs, each once, in format 4") {
  Package sample;
  sample.add(contract());
  package::Variant variant = tiles("one", 64, 8, 1, {});
  package::Argument x;
  x.kind = package::ArgumentKind::Steady;
  x.tensor = "x";
  variant.arguments.push_back(x);
  sample.add(variant);
  package::Manifest manifest = sample.manifest;
  manifest.contracts[0].sha256 = std::string(64, '0');
  manifest.variants[0].code.sha256 = std::string(64, '0');
  std::string sealed = package::seal(manifest);
  CHECK(manifest.format == 4);
  package::Manifest again = package::parseManifest(sealed, "manifest.json");
  CHECK(again.variants[0].arguments.back().kind ==
        package::ArgumentKind::Steady);
  CHECK(package::seal(again) == sealed);
  auto refused = [&](auto edit) {
    package::Manifest wrong = again;
    edit(wrong.variants[0].arguments);
    try {
      package::verify(wrong);
    } catch (const package::FormatError &error) {
      return std::string(error.what());
    }
    return std::string("accepted");
  };
  CHECK_THAT(refused([](auto &all) { all.back().tensor = "y"; }),
             Contains("'y' is steady, which is not an input"));
  CHECK_THAT(refused([](auto &all) { all.back().tensor = "z"; }),
             Contains("'z' is steady, which is not an input"));
  CHECK_THAT(refused([&](auto &all) { all.push_back(x); }),
             Contains("steady: 'x' is there twice"));
  CHECK_THAT(refused([](auto &all) { std::swap(all.back(), all.front()); }),
             Contains("is steadiness of x, must be pointer of x"));
}

TEST_CASE("tiles of segments are as many as there can be") {
  // The offsets are as many as `hidden`, so that there is a segment less.
  package::Variant cut = tiles("cut", 64, 8, 1, {"hidden", 1, 1, 1});
  cut.launch.tiles = {{"tokens", 64, "hidden"}};
  Tiles kernel({cut});
  CHECK(kernel.gridOf(64, 2) == 1);
  CHECK(kernel.gridOf(65, 2) == 2);
  // None that is good: all rows are one.
  CHECK(kernel.gridOf(65, 1) == 2);
  // Ten segments of one row, whichever of the 32 they are.
  CHECK(kernel.gridOf(10, 33) == 10);
  // A segment of 34 rows and 31 of one; 65 + 32 * 63 is 32 tiles and a half.
  CHECK(kernel.gridOf(65, 33) == 32);
  // 128 + 2 * 63: a segment of 65 rows and one of 63, or two whole tiles.
  CHECK(kernel.gridOf(128, 3) == 3);
  CHECK(kernel.gridOf(1 << 13, 3) == 129);
}

TEST_CASE("tiles of segments are format 4, and checked") {
  Package sample;
  sample.add(contract());
  package::Variant cut = tiles("cut", 64, 8, 1, {});
  cut.launch.tiles = {{"tokens", 64, "hidden"}};
  sample.add(cut);
  package::Manifest manifest = sample.manifest;
  const std::string hash(64, '0');
  manifest.contracts[0].sha256 = hash;
  manifest.variants[0].code.sha256 = hash;
  std::string sealed = package::seal(manifest);
  CHECK(manifest.format == 4);
  package::Manifest again = package::parseManifest(sealed, "manifest.json");
  CHECK(again.variants[0].launch.tiles == cut.launch.tiles);
  CHECK(package::seal(again) == sealed);
  again.variants[0].launch.tiles[0].segments = "z";
  try {
    package::verify(again);
    FAIL("accepted");
  } catch (const package::FormatError &error) {
    CHECK_THAT(error.what(), Contains("segments is 'z', which is not a dim of "
                                      "the contract"));
  }
}
