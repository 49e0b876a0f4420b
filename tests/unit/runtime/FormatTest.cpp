// FormatTest.cpp - each field of a manifest, refused by name
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/package/Formula.h"
#include "tests/unit/runtime/Fixture.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <functional>

using namespace bitpact;
using namespace bitpact::test;
using Catch::Contains;
using nlohmann::json;

// The bytes of a manifest whose JSON was edited, with a hash that fits.
static std::string edited(const std::function<void(json &)> &edit) {
  Package sample = rowSumPackage();
  for (auto &contract : sample.manifest.contracts)
    contract.sha256 = package::sha256Hex(contractText(contract));
  sample.manifest.variants[0].code.sha256 = package::sha256Hex("");
  json value = sample.manifest;
  edit(value);
  value["sha256"] = package::manifestHash(value);
  return package::canonicalText(value) + "\n";
}

static std::string messageOf(const std::string &bytes) {
  try {
    package::parseManifest(bytes, "manifest.json");
    return "accepted";
  } catch (const package::FormatError &error) {
    return error.what();
  }
}

TEST_CASE("SHA-256 is that of FIPS 180-4") {
  // The standard's example for "abc".
  CHECK(package::sha256Hex("abc") == "ba7816bf8f01cfea414140de5dae2223"
                                     "b00361a396177a9cb410ff61f20015ad");
}

TEST_CASE("a manifest survives the round trip, byte for byte") {
  std::string bytes = edited([](json &) {});
  package::Manifest manifest = package::parseManifest(bytes, "manifest.json");
  CHECK(manifest.variants[0].roles ==
        std::vector<std::string>{"train", "rollout"});
  CHECK(manifest.contracts[0].dims.at("tokens") == package::dynamicExtent);
  CHECK(package::seal(manifest) == bytes);
}

TEST_CASE("each bad field is named, with its value and what is allowed") {
  struct Case {
    std::function<void(json &)> edit;
    std::vector<std::string> words;
  };
  auto v = [](json &m) -> json & { return m["variants"][0]; };
  auto c = [](json &m) -> json & { return m["contracts"][0]; };
  const std::vector<Case> cases = {
      {[](json &m) { m["format"] = 7; }, {"format: is 7", "formats 1 to 6"}},
      {[](json &m) { m["format"] = "1"; }, {"format: is \"1\"", "integer"}},
      {[](json &m) { m["format"] = -1; }, {"format: is -1"}},
      {[](json &m) { m.erase("variants"); }, {"misses the key 'variants'"}},
      {[](json &m) { m["color"] = 1; }, {"unknown key 'color'", "allowed: "}},
      {[](json &m) { m["producer"] = json::object(); },
       {"producer", "bitpact"}},
      {[&](json &m) { v(m)["launch"]["threads"] = 0; },
       {"variants[0].launch.threads: is 0", "from 1 to 1024"}},
      {[&](json &m) { v(m)["launch"]["threads"] = 1e300; },
       {"launch.threads: is 1e+300", "integer"}},
      {[&](json &m) { v(m)["launch"]["shared_bytes"] = -5; },
       {"shared_bytes: is -5"}},
      {[&](json &m) { v(m)["code"]["bytes"] = 18446744073709551615u; },
       {"code.bytes: is 18446744073709551615"}},
      {[&](json &m) { v(m)["code"]["file"] = "code/../../../etc/passwd"; },
       {"code.file: is 'code/../../../etc/passwd'", "code/NAME"}},
      {[&](json &m) { v(m)["code"]["file"] = "/etc/passwd"; },
       {"code.file: is '/etc/passwd'"}},
      {[&](json &m) { v(m)["code"]["file"] = "code/other.so"; },
       {"code.file: is 'code/other.so'", "code/only."}},
      {[&](json &m) { v(m)["code"]["sha256"] = "ABC"; },
       {"code.sha256: is 'ABC'", "64 lower-case"}},
      {[&](json &m) { v(m)["id"] = "../x"; }, {"id: is '../x'"}},
      {[&](json &m) { v(m)["entry"] = "a b"; }, {"entry: is 'a b'"}},
      {[&](json &m) { v(m)["roles"] = {"serve"}; },
       {"roles: 'serve'", "train, rollout, prefill, decode"}},
      {[&](json &m) {
         v(m)["roles"] = {"train", "train"};
       },
       {"roles: 'train' is there twice"}},
      {[&](json &m) { v(m)["target"]["kind"] = "tpu"; },
       {"target.kind: is 'tpu'", "cpu, cuda, hip"}},
      {[&](json &m) { v(m)["contract"] = std::string(64, '0'); },
       {"contract: '000", "not a contract of the package"}},
      {[&](json &m) { v(m)["arguments"][1]["axis"] = 1; },
       {"arguments[1]: is stride 1 of x, must be stride 0 of x"}},
      {[&](json &m) { v(m)["arguments"].erase(2); },
       {"arguments[2]: is dim tokens, must be pointer of y"}},
      {[&](json &m) { v(m)["arguments"].erase(4); },
       {"arguments: the dims are", "each dim of the contract once"}},
      {[&](json &m) {
         v(m)["arguments"].push_back({{"kind", "workspace"}});
       },
       {"has a workspace pointer, but workspace is '0'"}},
      {[&](json &m) { v(m)["workspace"] = "tokens*(3)"; },
       {"workspace", "'tokens*(3)'"}},
      {[&](json &m) {
         v(m)["when"]["dims"]["rows"] = {{"min", 1}, {"max", 2}};
       },
       {"when.dims: 'rows' is not a dim"}},
      {[&](json &m) {
         v(m)["when"]["dims"]["tokens"] = {{"min", 3}, {"max", 2}};
       },
       {"min 3 is above max 2"}},
      {[&](json &m) { v(m)["when"]["align"]["x"] = 12; },
       {"align.x: is 12", "power of two"}},
      {[&](json &m) { v(m)["tensors"][0]["mutable"] = true; },
       {"tensors[0].mutable: is true"}},
      {[&](json &m) { v(m)["tensors"][0]["alias"] = {"y"}; },
       {"only an output may be the same as an input"}},
      {[&](json &m) { v(m)["evidence"]["bits"] = "sure"; },
       {"evidence.bits: is 'sure'", "none, model, measured"}},
      {[&](json &m) { v(m)["inspect"] = 3; }, {"inspect: is 3", "an array"}},
      {[&](json &m) { c(m)["dims"]["hidden"] = 0; },
       {"contracts[0].dims.hidden: is 0"}},
      {[&](json &m) { c(m)["digest"] = "x"; }, {"digest: is 'x'"}},
      {[&](json &m) {
         c(m)["tensors"][0]["dims"] = {"tokens", "depth"};
       },
       {"tensors[0].dims: 'depth' is not a dim"}},
      {[&](json &m) { c(m)["tensors"][0]["type"] = "fp8"; },
       {"type: is 'fp8'", "bf16, f16, f32, f64, i32"}},
      {[&](json &m) { m["contracts"].push_back(c(m)); }, {"is there twice"}},
      {[&](json &m) { m["variants"].push_back(v(m)); },
       {"variants[1].id: 'only' is there twice"}},
  };
  for (const Case &test : cases) {
    std::string message = messageOf(edited(test.edit));
    INFO(message);
    CHECK_THAT(message, Contains("manifest.json: "));
    for (const std::string &word : test.words)
      CHECK_THAT(message, Contains(word));
  }
}

TEST_CASE("bytes that are not the canonical text are refused") {
  std::string good = edited([](json &) {});
  REQUIRE(messageOf(good) == "accepted");
  CHECK_THAT(messageOf(good + "\n"), Contains("canonical text"));
  CHECK_THAT(messageOf(good.substr(0, good.size() - 1)),
             Contains("canonical text"));
  // The same value, differently spelt: a key twice, and a space.
  std::string twice = good, spaced = good;
  twice.insert(1, "\"contracts\":[],");
  spaced.insert(1, " ");
  CHECK_THAT(messageOf(twice), Contains("canonical text"));
  CHECK_THAT(messageOf(spaced), Contains("canonical text"));
}

TEST_CASE("hostile JSON is refused without a crash") {
  CHECK_THAT(messageOf(std::string(1 << 20, '[')), Contains("nested deeper"));
  CHECK_THAT(messageOf(""), Contains("is not JSON"));
  CHECK_THAT(messageOf("\xff\xfe{}"), Contains("is not JSON"));
  CHECK_THAT(messageOf("[]\n"), Contains("must be an object"));
  CHECK_THAT(messageOf("{\"format\":1e99999}\n"), Contains("is not JSON"));
}

TEST_CASE("a workspace formula is sums of products") {
  auto formula = package::Formula::parse("4*tokens * hidden + 256 + 2*3");
  REQUIRE(formula.terms.size() == 3);
  CHECK(formula.terms[0].coefficient == 4);
  REQUIRE(formula.terms[0].factors.size() == 2);
  CHECK(formula.terms[0].factors[0].dim == "tokens");
  CHECK(formula.terms[0].factors[1].dim == "hidden");
  CHECK(formula.terms[0].factors[1].divisor == 1);
  CHECK(formula.terms[2].coefficient == 6);
  CHECK(package::Formula::parse("0").isZero());
  auto rounded = package::Formula::parse("4*ceil(tokens/256)*hidden");
  REQUIRE(rounded.terms.size() == 1);
  REQUIRE(rounded.terms[0].factors.size() == 2);
  CHECK(rounded.terms[0].factors[0].dim == "tokens");
  CHECK(rounded.terms[0].factors[0].divisor == 256);
  for (const char *bad : {"", "+", "4*", "tokens-1", "3x", "4 4",
                          "99999999999999999999", "9999999999*9999999999",
                          "ceil(tokens)", "ceil(tokens/0)", "ceil(/2)",
                          "ceil(tokens/x)", "ceil(3/2)", "ceil(tokens/2"})
    CHECK_THROWS_AS(package::Formula::parse(bad), package::FormatError);
}

TEST_CASE("several steps and split launches are format 2") {
  std::string bytes = edited([](json &) {});
  package::Manifest manifest = package::parseManifest(bytes, "manifest.json");
  CHECK(manifest.format == 1);
  package::Variant &variant = manifest.variants[0];
  variant.launch.split = {"hidden", 4, 0};
  variant.then.push_back({"merge", {}});
  variant.then[0].launch.parallelDims = {"tokens"};
  std::string sealed = package::seal(manifest);
  CHECK(manifest.format == 2);
  package::Manifest again = package::parseManifest(sealed, "manifest.json");
  REQUIRE(again.variants[0].then.size() == 1);
  CHECK(again.variants[0].then[0].entry == "merge");
  CHECK(again.variants[0].then[0].launch.parallelDims ==
        std::vector<std::string>{"tokens"});
  CHECK(again.variants[0].launch.split == package::Split{"hidden", 4, 0});
  CHECK(package::seal(again) == sealed);

  auto refused = [&](auto edit) {
    package::Manifest wrong = again;
    edit(wrong);
    try {
      package::verify(wrong);
    } catch (const package::FormatError &error) {
      return std::string(error.what());
    }
    return std::string("accepted");
  };
  CHECK_THAT(refused([](auto &m) { m.format = 1; }),
             Contains("format: is 1, its variants need 2"));
  CHECK_THAT(
      refused([](auto &m) { m.variants[0].then[0].entry = "9"; }),
      Contains("variants[0].then[0].entry: is '9'"));
  CHECK_THAT(refused([](auto &m) { m.variants[0].launch.split.dim = "z"; }),
             Contains("variants[0].launch.split.dim: 'z' is not a dim"));
  CHECK_THAT(refused([](auto &m) {
               m.variants[0].then[0].launch.parallelDims = {"z"};
             }),
             Contains("variants[0].then[0].launch.parallel_dims: 'z'"));
  CHECK_THAT(refused([](auto &m) {
               m.variants[0].then.resize(8, m.variants[0].then[0]);
             }),
             Contains("variants[0].then: 8 steps, at most 7 are allowed"));
}
