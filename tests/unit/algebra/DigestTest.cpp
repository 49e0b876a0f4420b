// DigestTest.cpp - canonical text, SHA-256, and what a digest covers
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "contracts/algebra/Digest.h"
#include "contracts/algebra/CanonicalJson.h"
#include "tests/unit/algebra/ExpectRule.h"

#include <nlohmann/json.hpp>

#include <functional>

using namespace bitpact::algebra;
using nlohmann::json;

static json contract() {
  return json::parse(R"({
    "bitpact":1, "name":"qwen3-8b/rms_norm", "doc":"one rounding",
    "op":{"name":"rms_norm","version":1,"dims":["tokens","hidden"],
      "params":["eps"], "doc":"the operator",
      "tensors":[{"name":"x","kind":"in","dims":["tokens","hidden"],"doc":"d"},
                 {"name":"y","kind":"out","dims":["tokens","hidden"]}],
      "body":[{"id":"v0","op":"input","tensor":"x"},
              {"id":"v3","op":"reduce","node":"sum_sq","kind":"dot",
               "over":"hidden","args":["v0","v0"]}]},
    "dims":{"tokens":"*","hidden":4096}, "types":{"x":"bf16","y":"bf16"},
    "params":{"eps":{"format":"f32","bits":"358637bd"}},
    "nodes":{"sum_sq":{"domain":"hidden","partition":"sweep:* lane:512 pack:8",
      "merge":["pack chain","sweep chain","lane halving"],"start":"identity",
      "precision":{"product":"exact","accumulator":"f32"}}},
    "rounding":{"y":{"format":"bf16","mode":"rne"}},
    "primitives":{"sum_sq.step":"dot.fma.f32"},
    "definitions":{"dot.fma.f32":{"kind":"step","reduction":"dot",
      "product":"exact","args":["f32","f32","f32"],"result":"f32",
      "body":[{"id":"v0","op":"fma","type":"f32","args":["a0","a1","a2"]}],
      "yield":"v0"}}})");
}

static std::string changed(const std::function<void(json &)> &change) {
  json c = contract();
  change(c);
  return digest(c);
}

TEST_CASE("canonical text") {
  CHECK(
      canonicalText(json::parse(R"( {"b": [1, 2 ], "a" : true, "A":null} )")) ==
      R"({"A":null,"a":true,"b":[1,2]})");
  // Keys by bytes: capitals first, UTF-8 after ASCII, a prefix first.
  CHECK(canonicalText(json::parse(R"({"é":1,"z":2,"ab":3,"a":4,"Z":5})")) ==
        R"({"Z":5,"a":4,"ab":3,"z":2,"é":1})");
  CHECK(canonicalText(json::parse(R"({"b":1,"a":2})")) ==
        canonicalText(json::parse(R"({"a":2,"b":1})")));
  CHECK(canonicalText(json::parse(R"(["\u00e9\u0041\n\"\\\u0001"])")) ==
        "[\"éA\\n\\\"\\\\\\u0001\"]");
  CHECK(canonicalText(json::parse("[]")) == "[]");
  CHECK(canonicalText(json::parse("{}")) == "{}");
  CHECK(canonicalText(json::parse("\"\"")) == "\"\"");
  CHECK(canonicalText(json::parse("[-0,9223372036854775807,-5]")) ==
        "[0,9223372036854775807,-5]");
  CHECK(canonicalText(json(5u)) == canonicalText(json(5)));
}

TEST_CASE("C4, C1: values without a canonical text") {
  expectRule("C4", "a.1.b: number 1.5 is no integer",
             [] { canonicalText(json::parse(R"({"a":[0,{"b":1.5}]})")); });
  expectRule("C4", "is no integer", [] { canonicalText(json(1e3)); });
  expectRule("C1", "not UTF-8", [] { canonicalText(json("\xff\xfe")); });
}

TEST_CASE("SHA-256 of FIPS 180") {
  CHECK(sha256Hex("abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb4"
                            "10ff61f20015ad");
  CHECK(sha256Hex("") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495"
                         "991b7852b855");
  CHECK(sha256Hex("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq") ==
        "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
}

TEST_CASE("the digest form") {
  json form = digestForm(contract());
  CHECK_FALSE(form.contains("name"));
  CHECK_FALSE(form.contains("doc"));
  CHECK_FALSE(form.contains("definitions"));
  CHECK(form.at("dims") == json{{"hidden", 4096}});
  CHECK(form.at("nodes").at("sum_sq").at("partition") == "d0:* d1:512 d2:8");
  CHECK(form.at("nodes").at("sum_sq").at("merge") ==
        json{"d2 chain", "d0 chain", "d1 halving"});
  CHECK(form.at("op").at("body") == contract().at("op").at("body"));
  CHECK_FALSE(form.at("op").contains("doc"));
  json definition = contract().at("definitions").at("dot.fma.f32");
  CHECK(form.at("primitives").at("sum_sq.step") ==
        sha256Hex(canonicalText(definition)));
  CHECK(digest(contract()) == sha256Hex(canonicalText(form)));
  CHECK(digest(contract()).size() == 64);
}

TEST_CASE("two spellings of one contract have one digest") {
  std::string original = digest(contract());
  CHECK(original == changed([](json &c) { c["name"] = "other"; }));
  CHECK(original == changed([](json &c) { c.erase("doc"); }));
  CHECK(original == changed([](json &c) { c["op"]["doc"] = "said again"; }));
  CHECK(original ==
        changed([](json &c) { c["op"]["tensors"][0]["doc"] = "again"; }));
  CHECK(original == changed([](json &c) { c["dims"]["tokens"] = 17; }));
  CHECK(original == changed([](json &c) {
          c["nodes"]["sum_sq"]["partition"] = "  s:*  warp:512 v:08";
          c["nodes"]["sum_sq"]["merge"] = {"v  chain", "s chain",
                                           " warp halving "};
        }));
  // A primitive is what it does, not what it is called.
  CHECK(original == changed([](json &c) {
          c["primitives"]["sum_sq.step"] = "mine";
          c["definitions"]["mine"] = c["definitions"]["dot.fma.f32"];
          c["definitions"].erase("dot.fma.f32");
        }));
  CHECK(original == changed([](json &c) {
          c["definitions"]["dot.fma.f32"]["doc"] = "an IEEE fma";
          c["definitions"]["unused"] = json::object();
        }));
}

TEST_CASE("every change of meaning changes the digest") {
  std::vector<std::string> digests{digest(contract())};
  auto differs = [&](const std::function<void(json &)> &change) {
    std::string other = changed(change);
    CHECK(std::count(digests.begin(), digests.end(), other) == 0);
    digests.push_back(other);
  };
  differs([](json &c) { c["op"]["version"] = 2; });
  differs([](json &c) { c["op"]["name"] = "sum"; });
  differs([](json &c) { c["op"]["body"][1]["kind"] = "sum"; });
  differs([](json &c) { c["dims"]["hidden"] = 4097; });
  differs([](json &c) { c["dims"]["hidden"] = "*"; });
  differs([](json &c) { c["types"]["x"] = "f16"; });
  differs([](json &c) { c["params"]["eps"]["bits"] = "358637be"; });
  differs([](json &c) { c["params"]["eps"]["format"] = "f64"; });
  auto node = [](json &c) -> json & { return c["nodes"]["sum_sq"]; };
  differs([&](json &c) {
    node(c)["partition"] = "s:* lane:256 pack:8";
    node(c)["merge"][1] = "s chain";
  });
  differs(
      [&](json &c) { node(c)["partition"] = "sweep:*@4096 lane:512 pack:8"; });
  differs([&](json &c) { node(c)["merge"][2] = "lane pairwise"; });
  differs([&](json &c) { node(c)["merge"][2] = "lane halving in bf16"; });
  differs([&](json &c) { node(c)["merge"][2] = "lane halving from bf16"; });
  differs(
      [&](json &c) { std::swap(node(c)["merge"][0], node(c)["merge"][1]); });
  differs([&](json &c) { node(c)["start"] = "first"; });
  differs([&](json &c) { node(c)["precision"]["accumulator"] = "f64"; });
  differs([&](json &c) { node(c)["precision"]["product"] = "f32"; });
  differs([](json &c) { c["rounding"]["y"]["format"] = "f16"; });
  differs([](json &c) { c["rounding"]["y"] = "exact"; });
  differs([](json &c) {
    c["definitions"]["dot.fma.f32"]["body"][0]["args"] = {"a1", "a0", "a2"};
  });
}

TEST_CASE("a contract without its parts has no digest") {
  auto without = [](const char *key) {
    json c = contract();
    c.erase(key);
    expectRule("C4", std::string("key '") + key + "' not found",
               [&] { digest(c); });
  };
  without("op");
  without("nodes");
  without("dims");
  without("primitives");
  expectRule("C4", "no canonical contract", [] { digest(json(3)); });
  json c = contract();
  c["nodes"]["sum_sq"]["partition"] = "lane:512 lane:8";
  expectRule("PI2", "nodes.sum_sq: two digits are named 'lane'",
             [&] { digest(c); });
}
