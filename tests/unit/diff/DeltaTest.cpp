// DeltaTest.cpp - each field of the contract, and functions that differ
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "contracts/diff/Delta.h"

#include "contracts/algebra/Digest.h"
#include "contracts/algebra/RuleError.h"
#include "tests/unit/reference/Contracts.h"

#include <catch2/catch.hpp>

using namespace bitpact;
using namespace bitpact::diff;
using namespace bitpact::tests;
using nlohmann::json;

namespace {

json norm() {
  return rmsNormContract({"sweep:* lane:8",
                          {"sweep chain", "lane halving"},
                          "identity",
                          "bf16",
                          "f32"},
                         "bf16");
}

json sum(const std::string &partition, std::vector<std::string> merge) {
  return reduceContract("sum", {partition, std::move(merge)});
}

/// "R rounding.normed; A primitives.rsqrt"
std::string entries(const Delta &delta) {
  std::string text;
  for (const Change &one : delta.changes)
    text += (text.empty() ? "" : "; ") + std::string(name(one.field)) + " " +
            one.path;
  return text;
}

} // namespace

TEST_CASE("what the digest leaves out makes no difference") {
  json a = norm(), b = norm();
  b["name"] = "another";
  b["doc"] = "in other words";
  b["nodes"]["sum_sq"]["partition"] = "s:* l:8";
  b["nodes"]["sum_sq"]["merge"] = {"s chain", "l halving"};
  REQUIRE(algebra::digest(a) == algebra::digest(b));
  Delta delta = compare(a, b);
  CHECK(delta.verdict() == "equal");
  CHECK(delta.changes.empty());
  CHECK(toJson(delta)["verdict"] == "equal");
}

TEST_CASE("one field after another") {
  struct Case {
    const char *pointer;
    json value;
    const char *entries;
  };
  const Case cases[] = {
      {"/dims/hidden", 512, "D dims.hidden"},
      {"/nodes/sum_sq/start", "first", "T nodes.sum_sq.start"},
      {"/nodes/sum_sq/merge",
       {"sweep chain", "lane fold"},
       "T nodes.sum_sq.merge"},
      {"/nodes/sum_sq/merge",
       {"sweep chain", "lane halving in bf16"},
       "P nodes.sum_sq.merge"},
      {"/nodes/sum_sq/partition", "sweep:* lane:16",
       "Π nodes.sum_sq.partition"},
      {"/nodes/sum_sq/precision/product", "f32",
       "P nodes.sum_sq.precision.product"},
      {"/types/x", "f32", "P types.x"},
      {"/rounding/normed",
       {{"format", "bf16"}, {"mode", "rne"}},
       "R rounding.normed"},
      {"/rounding/normed", "exact", "R rounding.normed"},
      {"/primitives/rsqrt", "rsqrt.div_sqrt.f64", "A primitives.rsqrt"},
      {"/definitions/rsqrt.div_sqrt.f32/body/0/op", "neg",
       "A primitives.rsqrt"},
      {"/anything/new", 1, "D anything"},
  };
  for (const Case &one : cases) {
    INFO(one.pointer);
    json a = norm(), b = norm();
    json::json_pointer at(one.pointer);
    if (b.contains(at) && b[at] == one.value)
      a[at] = json::object(); // it would say nothing
    b[at] = one.value;
    Delta delta = compare(a, b);
    CHECK(delta.comparable);
    CHECK(delta.verdict() == "different");
    CHECK(entries(delta) == one.entries);
    // Read backwards, it is the same with the sides exchanged.
    Delta back = compare(b, a);
    CHECK(entries(back) == one.entries);
    REQUIRE(back.changes.size() == 1);
    CHECK(back.changes[0].before == delta.changes[0].after);
    CHECK(back.changes[0].before != back.changes[0].after);
  }
}

TEST_CASE("a format of a merge that rounds nothing is no difference") {
  json a = sum("i:* l:2", {"i chain", "l fold"});
  json b = sum("i:* l:2", {"i chain", "l fold from f32"});
  Delta delta = compare(a, b);
  CHECK(delta.verdict() == "equivalent");
  REQUIRE(delta.equivalences.size() == 1);
  CHECK(delta.equivalences[0].rule.find("Q7 (") == 0);
}

TEST_CASE("equivalent texts name the rule, different ones the extent") {
  Delta same =
      compare(sum("i:* p:8", {"p chain", "i chain"}), sum("k:*", {"k chain"}));
  CHECK(same.verdict() == "equivalent");
  REQUIRE(same.equivalences.size() == 1);
  CHECK(same.equivalences[0].node == "total");
  CHECK(same.equivalences[0].rule.find("Q4 (") == 0);

  // Neighbours in pairs against one after another: ((x0+x1)+x2)+x3 and
  // (x0+x1)+(x2+x3) part with the fourth element.
  Delta other = compare(sum("k:*", {"k pairwise"}), sum("k:*", {"k chain"}));
  CHECK(entries(other) == "T nodes.total.merge");
  CHECK(other.changes[0].note == "trees differ from extent 4 on");

  // A maximum is one value in whatever order.
  json chain = reduceContract("max", {"k:*", {"k chain"}});
  json first = reduceContract("max", {"i:* l:4", {"l halving", "i fold"}});
  CHECK(compare(chain, first).verdict() == "equivalent");
}

TEST_CASE("where only the start matters, nothing else is listed") {
  json a = sum("k:*", {"k chain"}), b = sum("i:* p:4", {"p chain", "i chain"});
  b["nodes"]["total"]["start"] = "first";
  Delta delta = compare(a, b);
  CHECK(entries(delta) == "T nodes.total.start");
  CHECK(delta.changes[0].note == "trees differ from extent 1 on");
  REQUIRE(delta.equivalences.size() == 1);
  CHECK(delta.equivalences[0].rule.find("Q4 (") == 0);
  CHECK(delta.equivalences[0].rule.ends_with("), but for the start"));
}

TEST_CASE("what is not decided is said, and counts as different") {
  json a = sum("t:*@300000 i:300000", {"i fold", "t fold"});
  json b = sum("t:*@400000 i:400000", {"i fold", "t fold"});
  Delta delta = compare(a, b);
  CHECK(delta.verdict() == "different");
  REQUIRE(delta.changes.size() == 1);
  CHECK(delta.changes[0].note == "not decided beyond extent 65536");
}

TEST_CASE("digits of another extent are another partition") {
  json a = sum("a:4 b:8", {"b chain", "a fold"}), b = a;
  a["dims"]["hidden"] = 32;
  b["dims"]["hidden"] = 64;
  b["nodes"]["total"]["partition"] = "a:8 b:8";
  Delta delta = compare(a, b);
  CHECK(entries(delta) == "D dims.hidden; Π nodes.total.partition");
  CHECK(delta.changes[1].note.empty());
  // Where both cover both extents, the trees say what the texts do not.
  a["nodes"]["total"]["partition"] = "a:* b:8";
  CHECK(entries(compare(a, b)) == "D dims.hidden");
}

TEST_CASE("functions are compared first") {
  Delta operators = compare(sum("k:*", {"k chain"}), norm());
  CHECK_FALSE(operators.comparable);
  CHECK(operators.verdict() == "not comparable");
  CHECK(operators.reason.find("B computes rms_norm@1: operation ") !=
        std::string::npos);

  Delta eps = compare(norm(), rmsNormContract({"sweep:* lane:8",
                                               {"sweep chain", "lane halving"},
                                               "identity",
                                               "bf16",
                                               "f32"},
                                              "bf16", "3727c5ac"));
  CHECK_FALSE(eps.comparable);
  CHECK(eps.reason == "the param eps is 1e-06 f32 in A, 1e-05 f32 in B");

  // The same number in another format is the same function.
  json wide = norm();
  wide["params"]["eps"] = {{"format", "f64"}, {"bits", "3eb0c6f7a0000000"}};
  CHECK(entries(compare(norm(), wide)) == "P params.eps");

  json renamed = norm();
  renamed["op"]["name"] = "root_mean_square";
  Delta name = compare(norm(), renamed);
  CHECK(name.verdict() == "equivalent");
  CHECK(name.equivalences[0].node == "op");
}

TEST_CASE("what is no contract is a user's error") {
  for (const char *text : {"{}", "[]", R"({"op": {}})"}) {
    INFO(text);
    CHECK_THROWS_AS(compare(json::parse(text), norm()), algebra::RuleError);
    CHECK_THROWS_AS(compare(norm(), json::parse(text)), algebra::RuleError);
  }
  json broken = norm();
  broken["nodes"]["sum_sq"]["merge"] = {"sweep chain"};
  CHECK_THROWS_WITH(compare(norm(), broken), Catch::Contains("[T1]"));
}
