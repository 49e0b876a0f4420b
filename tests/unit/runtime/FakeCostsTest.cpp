// FakeCostsTest.cpp - the choice among tiles by cost, and of what device costs are
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tests/unit/runtime/FakeTiles.h"

#include <nlohmann/json.hpp>

using namespace bitpact;
using namespace bitpact::test;
using namespace bitpact::test::fake;
using Catch::Contains;

TEST_CASE("of variants of one tier the cheapest is taken") {
  // Of tiles of one CTA 132 are computed at one time, of those of two 66.
  package::Cost large{"hidden", 1000000, 9000000, 1000},
      small{"hidden", 1000000, 3000000, 1000};
  Tiles two({tiles("large", 64, 8, 1, large), tiles("small", 64, 4, 2, small)});
  // 1000 columns: 125 large tiles in a round of 10 us; 250 small ones in four
  // rounds of 4 us.
  CHECK(two.select(64, 1000) == "large");
  // 528: 66 large tiles in a round of 9.528 us; 132 small ones in two rounds of
  // 3.528 us.
  CHECK(two.select(64, 528) == "small");
  CHECK(two.select(64, 529) == "large"); // a third round
  // Equal: the first in the manifest.
  Tiles same({tiles("b", 64, 8, 1, large), tiles("a", 64, 8, 1, large)});
  CHECK(same.select(64, 8) == "b");
}

TEST_CASE("a device that is not here is asked what it would take") {
  package::Cost large{"hidden", 1000000, 9000000, 1000},
      small{"hidden", 1000000, 3000000, 1000};
  Tiles two({tiles("large", 64, 8, 1, large), tiles("small", 64, 4, 2, small)});
  auto selectOn = [&](const char *name, int64_t rows, int64_t columns) {
    OpenDevice absent = device(name);
    OpenKernel kernel = test::kernel(two.package, absent);
    Tensor from(Tiles::data, {rows, columns}),
        to(Tiles::data + (1 << 19), {rows, columns});
    Launch launch(from, to);
    CHECK(launch.run(kernel) == BITPACT_MISSING_DEVICE);
    CHECK_THAT(bitpact_last_error(), Contains("runs nothing"));
    return launch.select(two.package, kernel);
  };
  int64_t records = 0;
  auto count = [](void *context, const char *) { ++*(int64_t *)context; };
  REQUIRE(bitpact_records_drain(count, &records, nullptr) == BITPACT_OK);
  records = 0;
  for (int64_t columns : {8, 528, 529, 1000})
    CHECK(selectOn("null:cuda:sm_90a:132", 64, columns) ==
          two.select(64, columns));
  // Of half as many multiprocessors 33 programs of two are there at one time.
  CHECK(selectOn("null:cuda:sm_90a:66", 64, 264) == "small");
  CHECK(selectOn("null:cuda:sm_90a:66", 64, 265) == "large");
  CHECK(two.select(64, 265) == "small");
  REQUIRE(bitpact_records_drain(count, &records, nullptr) == BITPACT_OK);
  CHECK(records == 0);
}

TEST_CASE("cost decides within a tier, among those that fit") {
  package::Cost cheap{"hidden", 1, 0, 0}, dear{"hidden", 1000, 0, 0};
  package::Variant narrow = tiles("narrow", 64, 8, 1, cheap);
  narrow.when.dims["hidden"] = {1, 16};
  Tiles kernel({tiles("later", 64, 8, 1, cheap, 20), narrow,
                tiles("silent", 64, 8, 1, {}), tiles("dear", 64, 8, 1, dear)});
  CHECK(kernel.select(64, 16) == "narrow");
  CHECK(kernel.select(64, 17) == "dear"); // not one that says nothing
  // What no number holds is dearer than any.
  constexpr int64_t most = 1'000'000'000'000;
  Tiles large({tiles("endless", 1, 1, 1, {"hidden", 0, 0, most}),
               tiles("dear", 64, 8, 1, {"hidden", most, 1, 0})});
  CHECK(large.select(1, 1) == "endless");
  CHECK(large.select(2, 1 << 18) == "dear");
}

TEST_CASE("a cost and a cluster are format 3, and checked") {
  Package sample;
  sample.add(contract());
  sample.add(tiles("one", 64, 8, 2, {"hidden", 1, 2, 3}));
  package::Manifest manifest = sample.manifest;
  // As the writer fills them in.
  const std::string hash(64, '0');
  manifest.contracts[0].sha256 = hash;
  manifest.variants[0].code.sha256 = hash;
  std::string sealed = package::seal(manifest);
  CHECK(manifest.format == 3);
  package::Manifest again = package::parseManifest(sealed, "manifest.json");
  CHECK(again.variants[0].cost == package::Cost{"hidden", 1, 2, 3});
  CHECK(again.variants[0].launch.ctasPerProgram == 2);
  CHECK(package::seal(again) == sealed);
  auto refused = [&](auto edit) {
    package::Manifest wrong = again;
    edit(wrong.variants[0]);
    try {
      package::verify(wrong);
    } catch (const package::FormatError &error) {
      return std::string(error.what());
    }
    return std::string("accepted");
  };
  CHECK_THAT(refused([](auto &v) { v.cost.dim = "z"; }),
             Contains("variants[0].cost.dim: 'z' is not a dim"));
  CHECK_THAT(refused([](auto &v) { v.launch.tiles = {}; }),
             Contains("variants[0].launch.ctas_per_"));
  CHECK_THAT(refused([](auto &v) {
               v.launch.tiles = {};
               v.launch.ctasPerUnit = 0;
             }),
             Contains("variants[0].launch.ctas_per_program: is 2, but there "
                      "are no tiles"));
  CHECK_THAT(refused([](auto &v) { v.launch.programsPerCta = 2; }),
             Contains("has 2 CTAs a program and 2 programs a CTA"));
  CHECK_THAT(refused([](auto &v) {
               v.launch.tiles = {};
               v.launch.ctasPerUnit = 0;
               v.launch.overlaps = true;
             }),
             Contains("variants[0].launch.overlaps: is true, but there are no "
                      "tiles"));
  CHECK_THAT(refused([](auto &v) {
               package::Argument map;
               map.kind = package::ArgumentKind::TensorMap;
               map.tensor = "x";
               map.box = {64, 32, 128, 65};
               v.arguments.push_back(map);
             }),
             Contains("tensor map of 'x': part is 65, at most the 64 rows of "
                      "the box are allowed"));
  CHECK_THAT(refused([](auto &v) {
               v.launch = package::Launch();
               v.launch.parallelDims = {"tokens"};
             }),
             Contains("variants[0].cost: is that of one launch of tiles"));
}

TEST_CASE("how much a box asks for at a time is format 6") {
  Package sample;
  sample.add(contract());
  package::Variant asks = tiles("one", 64, 8, 1, {});
  package::Argument map;
  map.kind = package::ArgumentKind::TensorMap;
  map.tensor = "x";
  map.box = {64, 32, 128};
  asks.when.align["x"] = 16;
  asks.when.strideMultiple["x"] = 4;
  asks.arguments.push_back(map);
  sample.add(asks);
  package::Manifest manifest = sample.manifest;
  manifest.contracts[0].sha256 = std::string(64, '0');
  manifest.variants[0].code.sha256 = std::string(64, '0');
  package::Manifest silent = manifest;
  std::string sealed = package::seal(silent);
  CHECK(silent.format == 3);
  CHECK(sealed.find("l2_promotion") == std::string::npos);
  manifest.variants[0].arguments.back().box.promotion = 128;
  sealed = package::seal(manifest);
  CHECK(manifest.format == 6);
  CHECK_THAT(sealed, Contains(R"("box":{"cols":32,"l2_promotion":128,"rows":64,)"
                              R"("swizzle":128})"));
  package::Manifest again = package::parseManifest(sealed, "manifest.json");
  CHECK(again.variants[0].arguments.back().box ==
        manifest.variants[0].arguments.back().box);
  CHECK(package::seal(again) == sealed);
  again.variants[0].arguments.back().box.promotion = 96;
  try {
    package::verify(again);
    FAIL("accepted");
  } catch (const package::FormatError &error) {
    CHECK_THAT(error.what(), Contains("tensor map of 'x': l2_promotion is 96; "
                                      "64, 128 and 256 are allowed"));
  }
}

TEST_CASE("on what costs were measured is format 5, and checked") {
  Package sample;
  sample.add(contract());
  sample.add(tiles("one", 64, 8, 1,
                   {"hidden", 1, 2, 3, package::Evidence::Measured}));
  sample.add(tiles("two", 64, 8, 1, {}));
  package::Manifest manifest = sample.manifest;
  manifest.contracts[0].sha256 = std::string(64, '0');
  for (package::Variant &variant : manifest.variants)
    variant.code.sha256 = std::string(64, '0');
  manifest.costs = {{"cuda:sm_90a", "NVIDIA H200", 132, "2026-11-30"}};
  std::string sealed = package::seal(manifest);
  CHECK(manifest.format == 5);
  CHECK_THAT(sealed,
             Contains(R"("costs":[{"date":"2026-11-30","device":"NVIDIA H200",)"
                      R"("target":"cuda:sm_90a","units":132}])") &&
                 Contains(R"("cost":{"dim":"hidden","element":3,)"
                          R"("evidence":"measured","start":1,"tile":2})"));
  package::Manifest again = package::parseManifest(sealed, "manifest.json");
  CHECK(again.costs == manifest.costs);
  CHECK(again.variants[0].cost == manifest.variants[0].cost);
  CHECK(package::seal(again) == sealed);

  auto refused = [&](auto edit) {
    nlohmann::json wrong = again;
    edit(wrong, wrong["costs"][0], wrong["variants"][0]["cost"]);
    wrong["sha256"] = package::manifestHash(wrong);
    try {
      package::parseManifest(package::canonicalText(wrong) + "\n", "m");
    } catch (const package::FormatError &error) {
      return std::string(error.what());
    }
    return std::string("accepted");
  };
  using json = nlohmann::json;
  CHECK(refused([](json &, json &, json &cost) {
          cost["evidence"] = "model";
        }) == "accepted");
  CHECK_THAT(
      refused([](json &m, json &, json &) { m["format"] = 4; }),
      Contains("format: is 4, its variants need 5"));
  CHECK_THAT(refused([](json &, json &, json &cost) {
               cost["evidence"] = "guessed";
             }),
             Contains("variants[0].cost.evidence: is 'guessed'; allowed: "
                      "model, measured"));
  CHECK_THAT(refused([](json &, json &, json &cost) {
               cost.erase("evidence");
             }),
             Contains("variants[0].cost: misses the key 'evidence', as costs "
                      "names the device for cuda:sm_90a"));
  CHECK_THAT(refused([](json &m, json &, json &) { m.erase("costs"); }),
             Contains("variants[0].cost.evidence: is measured, but costs does "
                      "not name the device for cuda:sm_90a"));
  CHECK_THAT(refused([](json &m, json &, json &) { m["costs"] = "H200"; }),
             Contains("costs: is \"H200\", must be an array"));
  CHECK_THAT(refused([](json &m, json &table, json &) {
               json one = table;
               m["costs"].push_back(one);
             }),
             Contains("costs[1].target: 'cuda:sm_90a' is there twice"));
  CHECK_THAT(refused([](json &m, json &table, json &) {
               json one = table;
               one["target"] = "cuda:sm_80";
               m["costs"].push_back(one);
             }),
             Contains("costs[1].target: is 'cuda:sm_80', of which no variant "
                      "has a cost"));
  for (const char *name : {"", "H\n200"})
    CHECK_THAT(refused([&](json &, json &table, json &) {
                 table["device"] = name;
               }),
               Contains("costs[0].device: is '") &&
                   Contains("1 to 200 printable characters"));
  for (json units : {json(0), json(1.5), json("132"), json((1 << 20) + 1)})
    CHECK_THAT(refused([&](json &, json &table, json &) {
                 table["units"] = units;
               }),
               Contains("costs[0].units: is " + units.dump()) &&
                   Contains("an integer from 1 to 1048576"));
  for (const char *date : {"", "30.11.2026", "2026-13-01", "2026-11-32",
                           "2026-00-10", "2026-11-3a", "2026-11-300"})
    CHECK_THAT(refused([&](json &, json &table, json &) {
                 table["date"] = date;
               }),
               Contains("costs[0].date: is '" + std::string(date) +
                        "', must be a date such as 2026-11-30"));
  CHECK_THAT(refused([](json &, json &table, json &) { table.erase("units"); }),
             Contains("costs[0]: misses the key 'units'"));
  CHECK_THAT(refused([](json &, json &table, json &) { table["watts"] = 700; }),
             Contains("costs[0]: has the unknown key 'watts'"));
}

TEST_CASE("costs of another device choose alike, and the log says so") {
  std::vector<std::string> lines;
  package::Cost large{"hidden", 1000000, 9000000, 1000,
                      package::Evidence::Measured},
      small{"hidden", 1000000, 3000000, 1000, package::Evidence::Model};
  auto chosenWith = [&](std::vector<package::CostTable> costs) {
    Scratch scratch;
    Package sample;
    sample.add(contract());
    for (package::Variant variant :
         {tiles("large", 64, 8, 1, large), tiles("small", 64, 4, 2, small)}) {
      if (costs.empty())
        variant.cost.evidence = package::Evidence::None;
      sample.add(variant, "\x7f"
                          "ELF of a fake");
    }
    sample.manifest.costs = costs;
    sample.write(scratch / "pkg");
    OpenPackage package = open(scratch / "pkg");
    OpenDevice cuda = device("cuda:0");
    lines.clear();
    bitpact_set_log(
        [](void *context, const char *message) {
          if (std::string(message).find("costs") != std::string::npos)
            static_cast<std::vector<std::string> *>(context)->push_back(
                message);
        },
        &lines);
    OpenKernel kernel = test::kernel(package, cuda);
    bitpact_set_log(nullptr, nullptr);
    std::string chosen;
    for (int64_t columns : {528, 529}) {
      Tensor from(Tiles::data, {64, columns}),
          to(Tiles::data + (1 << 19), {64, columns});
      from.tensor.device = to.tensor.device = {kDLCUDA, 0};
      chosen += Launch(from, to).select(package, kernel) + " ";
    }
    return chosen;
  };
  // The choices of the test before.
  CHECK(chosenWith({{"cuda:sm_90a", "Fake H200", 132, "2026-11-30"}}) ==
        "small large ");
  CHECK(lines.empty());
  CHECK(chosenWith({}) == "small large ");
  CHECK(lines.empty());
  CHECK(chosenWith({{"cuda:sm_90a", "Fake H20", 78, "2026-11-29"}}) ==
        "small large ");
  REQUIRE(lines.size() == 1);
  CHECK_THAT(lines[0], Contains("cuda:0") && Contains("cuda:sm_90a") &&
                           Contains("costs of another device: Fake H20, 78 "
                                    "units, measured 2026-11-29"));
}
