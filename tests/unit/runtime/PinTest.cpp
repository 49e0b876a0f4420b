// PinTest.cpp - what a library's variant is pinned to, and what is refused
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tests/unit/runtime/Products.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <cmath>
#include <cstring>
#include <functional>

using namespace bitpact;
using namespace bitpact::test;
using Catch::Contains;
using nlohmann::json;

static package::Pin attested() {
  package::Variant variant = libraryVariant("openblas");
  package::Pin pin = libraryPin("openblas");
  attest(variant, pin);
  return pin;
}

static std::string parseMessage(const std::string &bytes) {
  try {
    package::parsePin(bytes, "pin.json");
  } catch (const package::FormatError &error) {
    return error.what();
  }
  return "accepted";
}

TEST_CASE("a pin is its canonical text") {
  for (const package::Pin &pin :
       {attested(), libraryPin("openblas"), libraryPin("cublaslt")}) {
    std::string text = package::pinText(pin);
    CHECK(package::pinText(package::parsePin(text, "pin.json")) == text);
    CHECK_THAT(parseMessage(text + " "),
               Contains("pin.json: is not canonical"));
  }
  CHECK_THAT(parseMessage("{"), Contains("pin.json: is not JSON"));
  CHECK_THAT(parseMessage("[]"), Contains("must be an object"));
}

TEST_CASE("every bad field of a pin is named") {
  struct Bad {
    const char *pointer;
    json value; // discarded: the key goes
    const char *message;
  };
  json gone = json::value_t::discarded;
  for (const Bad &bad : std::vector<Bad>{
           {"/library", gone, "pin.json: misses the key 'library'"},
           {"/version", 3, "pin.json.version: is 3, must be a string"},
           {"/device", nullptr, "pin.json.device"},
           {"/heuristic", 1, "unknown key 'heuristic'"},
           {"/algorithm/settings/threads", -1,
            "pin.json.algorithm.settings.threads: is -1, must be an integer"},
           {"/algorithm/settings/threads", "1", "settings.threads"},
           {"/algorithm/stored", "0g", "algorithm.stored: must be bytes"},
           {"/algorithm/stored", "012", "algorithm.stored: must be bytes"},
           {"/algorithm/tile", 1, "unknown key 'tile'"},
           {"/product/rows/type", "i32",
            "product.rows.type: is 'i32'; allowed"},
           {"/product/depth_dim", gone, "misses the key 'depth_dim'"},
           {"/challenge/dims/tokens", 0, "challenge.dims.tokens: is 0"},
           {"/challenge/seed", -1, "challenge.seed"},
           {"/challenge/elements", 0, "challenge.elements: is 0"},
           {"/challenge/sha256", "AB", "challenge.sha256: must be 64"},
           {"/attestation/compared", 0, "attestation.compared: is 0"},
           {"/attestation/launches", 0, "attestation.launches: is 0"},
           {"/attestation/shapes", json::array(),
            "attestation.shapes: is empty"},
           {"/attestation/revealed", json::array(), "revealed: is empty"},
           {"/attestation/data", "normal", "attestation.data: is \"normal\""},
           {"/attestation/ranges/tokens/min", 0, "ranges.tokens.min: is 0"},
           {"/attestation/ranges/tokens/step", 1, "unknown key 'step'"},
       }) {
    json value = json::parse(package::pinText(attested()));
    json::json_pointer at(bad.pointer);
    if (bad.value.is_discarded())
      value.at(at.parent_pointer()).erase(at.back());
    else
      value[at] = bad.value;
    INFO(bad.pointer);
    CHECK_THAT(parseMessage(package::canonicalText(value) + "\n"),
               Contains(bad.message));
  }
}

// Written with every hash in place, so that only what is said can be wrong.
static std::string openMessage(
    const std::function<void(package::Variant &, package::Pin &)> &change) {
  package::Variant variant = libraryVariant("openblas");
  package::Pin pin = libraryPin("openblas");
  attest(variant, pin);
  change(variant, pin);
  Scratch scratch;
  bitpact_package *package = nullptr;
  try {
    productPackage(variant, pin).write(scratch / "pkg");
  } catch (const package::FormatError &error) {
    return error.what();
  }
  bitpact_status status =
      bitpact_package_open((scratch / "pkg").c_str(), &package);
  OpenPackage closes(package);
  return status == BITPACT_OK ? "accepted" : bitpact_last_error();
}

TEST_CASE("a pin that does not fit its variant or contract is refused") {
  using V = package::Variant &;
  using P = package::Pin &;
  CHECK(openMessage([](V, P) {}) == "accepted");
  auto refused = [](const char *message,
                    const std::function<void(V, P)> &change) {
    CHECK_THAT(openMessage(change), Contains(message));
  };
  refused("attestation.ranges are {",
          [](V variant, P) { variant.when.dims["tokens"].max = 200; });
  refused("attestation.ranges are {",
          [](V, P pin) { pin.attestation->ranges["out"].min = 2; });
  refused("misses 'out', which is open", [](V variant, P pin) {
    variant.when.dims.erase("out");
    pin.attestation->ranges.erase("out");
  });
  refused("attestation.ranges: 'tokens' is 2 to 200, which is not what "
          "attestation.shapes reach",
          [](V variant, P pin) {
            variant.when.dims["tokens"].max = 200;
            pin.attestation->ranges["tokens"].max = 200;
          });
  refused("attestation.ranges: 'out' is 1 to 64, which is not what",
          [](V, P pin) {
            pin.attestation->shapes = {"hidden=8 tokens=2", "tokens=100"};
          });
  for (const char *bad : {"tokens", "tokens=", "tokens=x", "tokens=0", " "})
    refused("is no shape", [&](V, P pin) {
      pin.attestation->shapes.push_back(bad);
    });
  refused("attestation.revealed: 'hidden=8 out=2 tokens=2' is none of",
          [](V, P pin) {
            pin.attestation->revealed = {"hidden=8 out=2 tokens=2"};
          });
  refused("attestation.launches: 1 for 2 shapes",
          [](V, P pin) { pin.attestation->launches = 1; });
  refused("challenge.dims: must say 'tokens'",
          [](V, P pin) { pin.challenge->dims["tokens"] = 101; });
  refused("challenge.dims: must say 'hidden'",
          [](V, P pin) { pin.challenge->dims["hidden"] = 9; });
  refused("challenge.dims: 4 dims, the contract has 3",
          [](V, P pin) { pin.challenge->dims["heads"] = 9; });
  refused("evidence is measured, so there must be a challenge",
          [](V, P pin) { pin.challenge.reset(); });
  refused("evidence is none, so there must be no challenge",
          [](V variant, P) { variant.evidence = package::Evidence::None; });
  refused("library is 'cublaslt', the manifest says 'openblas'",
          [](V, P pin) { pin.library = "cublaslt"; });
  refused("product.rows: is f64 [tokens, hidden], but 'x' of the contract is "
          "f32",
          [](V, P pin) { pin.product.rows.type = package::ElementType::F64; });
  refused("product.columns.tensor: 'w' is not a tensor",
          [](V, P pin) { pin.product.columns.tensor = "w"; });
  refused(
      "product.rows: is f32 [hidden, tokens], but 'x' of the contract is",
      [](V, P pin) { std::swap(pin.product.rowDim, pin.product.depthDim); });
  refused("product.result: is f32 [tokens, out], but 'x' of the contract is",
          [](V, P pin) { pin.product.result.tensor = "x"; });
  refused(".library: is 'mkl'; allowed: cublaslt, openblas",
          [](V variant, P) { variant.library = "mkl"; });
  refused(".entry: is 'sgemm', must be cblas_sgemm",
          [](V variant, P) { variant.entry = "sgemm"; });
  refused(".target.kind: is cuda, must be cpu", [](V variant, P) {
    variant.target = {package::TargetKind::Cuda, "sm_90a", ""};
  });
  refused(".then: a library's variant is one step", [](V variant, P) {
    variant.then.push_back({"more", {}});
  });
}

TEST_CASE("a library's variants need format 3") {
  Package package =
      productPackage(libraryVariant("openblas"), libraryPin("openblas"));
  CHECK(package::formatOf(package.manifest) == 3);
  package.manifest.variants[0].library.clear();
  CHECK(package::formatOf(package.manifest) == 1);
}

TEST_CASE("the challenge's data are the same everywhere") {
  std::string bytes =
      package::challengeData(7, 1, package::ElementType::F32, 4096);
  CHECK(package::challengeData(7, 1, package::ElementType::F32, 9) ==
        bytes.substr(0, 36));
  CHECK(package::challengeData(8, 1, package::ElementType::F32, 9) !=
        bytes.substr(0, 36));
  int negative = 0;
  for (size_t i = 0; i < 4096; ++i) {
    float value = 0;
    std::memcpy(&value, &bytes[4 * i], 4);
    negative += value < 0;
    REQUIRE(std::fabs(value) >= 1.0f / 64);
    REQUIRE(std::fabs(value) < 4);
  }
  CHECK(negative > 1900);
  CHECK(negative < 2200);
}

TEST_CASE("a short challenge's seed is its pin's text without the hash") {
  package::Pin pin = attested();
  CHECK(package::challengeSeed(pin) == 7);
  pin.challenge->elements = 5;
  int64_t seed = package::challengeSeed(pin);
  CHECK(seed >= 0);
  pin.challenge->sha256 = std::string(64, '0');
  CHECK(package::challengeSeed(pin) == seed);
  pin.version += "0";
  CHECK(package::challengeSeed(pin) != seed);
  // And what is hashed of 100 outputs.
  auto spans = package::hashedSpans(*pin.challenge, 100);
  REQUIRE(spans.size() == 2);
  CHECK((spans[0].first == 0 && spans[0].count == 5));
  CHECK((spans[1].first == 95 && spans[1].count == 5));
  spans = package::hashedSpans(*pin.challenge, 10);
  REQUIRE(spans.size() == 1);
  CHECK((spans[0].first == 0 && spans[0].count == 10));
}

TEST_CASE("of a NaN only that it is one is kept") {
  const uint16_t before[] = {0x7f80, 0xff80, 0x7f81, 0xffff, 0x7fc0, 0x0001};
  const uint16_t after[] = {0x7f80, 0xff80, 0x7fc0, 0x7fc0, 0x7fc0, 0x0001};
  uint16_t data[6];
  std::memcpy(data, before, sizeof data);
  package::canonicalizeNans(package::ElementType::BF16, data, 6);
  CHECK(std::memcmp(data, after, sizeof data) == 0);
  uint64_t wide = 0xfff0000000000001;
  package::canonicalizeNans(package::ElementType::F64, &wide, 1);
  CHECK(wide == 0x7ff8000000000000);
}
