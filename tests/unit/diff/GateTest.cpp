// GateTest.cpp - what makes two runs incomparable, and what may differ
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "contracts/diff/Gate.h"
#include "contracts/diff/RecordLine.h"

#include <catch2/catch.hpp>
#include <sstream>

using namespace bitpact::diff;
using Catch::Contains;
using nlohmann::json;

namespace {

const std::string w(64, 'a'), other(64, 'c');

struct Run {
  json head = {{"bitpact_run", 1},
               {"weights", {{"sha256", w}, {"version", 7}}},
               {"rope", {{"kind", "neox"}, {"base", 1000000}}},
               {"mask", {{"kind", "causal"}}},
               {"ownership",
                {{"heads", {{"extent", 8}, {"shards", "whole"}}},
                 {"kv_heads", {{"extent", 2}, {"shards", "whole"}}},
                 {"vocabulary", {{"extent", 100}, {"shards", "whole"}}}}},
               {"vocabulary", {0, 100}},
               {"logprob", {{"mode", "raw"}}},
               {"rng", {{"replay", true}}}};
  json sequence = {{"bitpact_sequence", 1},
                   {"sequence", "s"},
                   {"tokens", {11, 12, 13, 14}},
                   {"targets", {12, 13, 14, 15}},
                   {"active", {0, 1, 1, 1}},
                   {"positions", {0, 1, 2, 3}},
                   {"kv", nullptr},
                   {"ownership", {{"extent", 4}, {"shards", "whole"}}}};
  json launch = {{"bitpact_record", 1}, {"sequence", 0}, {"op", "sum@1"},
                 {"contract", w},       {"code", w},     {"site", 1}};
  std::string more;

  std::string text() const {
    return head.dump() + '\n' + sequence.dump() + '\n' + launch.dump() + '\n' +
           more;
  }
};

RunSummary summary(const std::string &text) {
  std::istringstream stream(text);
  RunSummary run;
  run.read(stream);
  return run;
}

GateReport compare(const Run &a, const Run &b) {
  return gate(summary(a.text()), summary(b.text()));
}

/// Only this field differs, with this text.
void differs(const Run &b, const std::string &text) {
  GateReport report = compare({}, b);
  INFO(b.text());
  REQUIRE(report.fields.size() == 1);
  CHECK(report.fields[0].text() == text);
  CHECK(report.digests.empty());
}

void holds(const Run &a, const Run &b) {
  GateReport report = compare(a, b);
  INFO((report.fields.empty() ? "" : report.fields[0].text()));
  INFO((report.incomplete.empty() ? "" : report.incomplete[0]));
  CHECK(report.comparable());
  CHECK(report.incomplete.empty());
  CHECK(report.digests.empty());
  CHECK(report.digestsIncomplete.empty());
}

json blocks(const std::vector<std::pair<int, int>> &cuts,
            const std::vector<int64_t> &tokens, int page) {
  json list = json::array();
  std::string content;
  for (auto [start, end] : cuts) {
    content = blockContent(content, tokens.data() + start, end - start);
    list.push_back({{"start", start},
                    {"end", end},
                    {"content", content},
                    {"page", page++}});
  }
  return {{"identity", "tokens"}, {"weights", w}, {"blocks", list}};
}

} // namespace

TEST_CASE("every field, and where it differs") {
  holds({}, {});
  Run b;
  b.head["weights"]["sha256"] = other;
  differs(b, "weights.sha256: " + w + " in A, " + other + " in B");
  b = {};
  b.head["weights"]["version"] = 8;
  differs(b, "weights.version: 7 in A, 8 in B");
  b = {};
  b.sequence["tokens"][2] = 99;
  GateReport tokens = compare({}, b);
  REQUIRE(!tokens.fields.empty());
  CHECK(tokens.fields[0].text() ==
        "tokens, sequence s, position 2: 13 in A, 99 in B");
  b = {};
  b.sequence["targets"].push_back(3);
  differs(b, "targets, sequence s, position 4: 4 of them in A, 5 of them in B");
  b = {};
  b.sequence["active"][0] = 1;
  differs(b, "active, sequence s, position 0: 0 in A, 1 in B");
  b = {};
  b.sequence["positions"] = {0, 1, 2, 4};
  differs(b, "positions, sequence s, position 3: 3 in A, 4 in B");
  b = {};
  b.head["rope"]["base"] = 10000;
  differs(b, "rope.base: 1000000 in A, 10000 in B");
  b = {};
  b.head["mask"]["kind"] = "window";
  differs(b, R"(mask.kind: "causal" in A, "window" in B)");
  b = {};
  b.head["vocabulary"] = {0, 104};
  differs(b, "vocabulary: [0, 100) in A, [0, 104) in B");
  b = {};
  b.head["logprob"] = {{"mode", "processed"},
                       {"temperature", 0.7},
                       {"top_k", nullptr},
                       {"top_p", nullptr}};
  CHECK(compare({}, b).fields.at(0).field == "logprob.mode");
  Run c = b;
  c.head["logprob"]["top_p"] = 0.9;
  CHECK(compare(b, c).fields.at(0).text() ==
        "logprob.top_p: null in A, 0.9 in B");
  // Processed with everything off is raw.
  b.head["logprob"]["temperature"] = 1.0;
  holds({}, b);
  b = {};
  b.sequence["sequence"] = "t";
  CHECK(compare({}, b).fields.at(0).text() ==
        "sequences, sequence s: there in A, not there in B");
}

TEST_CASE("the order of the gate, and all of it") {
  Run b;
  b.head["rope"]["base"] = 1;
  b.sequence["active"][1] = 0;
  b.head["weights"]["version"] = 8;
  b.launch["contract"] = other;
  GateReport report = compare({}, b);
  REQUIRE(report.fields.size() == 3);
  CHECK(report.fields[0].field == "weights.version");
  CHECK(report.fields[1].field == "active");
  CHECK(report.fields[2].field == "rope.base");
  // Contracts are not compared where the objects differ.
  CHECK(report.digests.empty());
  CHECK(gateFields().front() == "weights.sha256");
  CHECK(gateFields().back() == "rng");
}

TEST_CASE("shards may differ that cover one axis") {
  Run a, b;
  json &heads = b.head["ownership"]["heads"];
  heads["shards"] = {{{"rank", 1}, {"ranges", {{4, 8}}}},
                     {{"rank", 0}, {"ranges", {{2, 4}, {0, 2}}}}};
  holds(a, b);
  // Each rank with a line of its own.
  Run ranks = b;
  heads["shards"].erase(1);
  ranks.head["ownership"]["heads"]["shards"].erase(0);
  b.more = ranks.head.dump() + '\n';
  holds(a, b);
  b.more = "";
  differs(b, "ownership.heads, position 0: [0, 8) of 8 in A, [4, 8) of 8 in B");
  heads["shards"] = {{{"rank", 0}, {"ranges", {{0, 8}}}},
                     {{"rank", 1}, {"ranges", {{6, 8}}}}};
  differs(b, "ownership.heads, position 6: [0, 8) of 8 in A, [0, 8) of 8, "
             "[6, 8) by several ranks in B");
  heads["replicated"] = true;
  holds(a, b);
  heads["shards"] = {{{"rank", 0}, {"ranges", {{0, 3}, {5, 8}}}}};
  differs(b, "ownership.heads, position 3: [0, 8) of 8 in A, [0, 3) [5, 8) of "
             "8 in B");
}

TEST_CASE("pages and blocks may differ that hold the same keys and values") {
  std::vector<int64_t> tokens{11, 12, 13, 14};
  Run a, b, c;
  b.sequence["kv"] = blocks({{0, 2}, {2, 4}}, tokens, 100);
  c.sequence["kv"] = blocks({{0, 3}, {3, 4}}, tokens, 7);
  holds(a, b);
  holds(b, c);
  // A block of another prefix.
  c.sequence["kv"] = blocks({{0, 3}, {3, 4}}, {11, 12, 99, 14}, 7);
  GateReport report = compare(b, c);
  REQUIRE(report.fields.size() == 1);
  CHECK_THAT(
      report.fields[0].text(),
      Contains("kv, sequence s, position 0: the sequence's own tokens") &&
          Contains("block"));
  // A block that older weights wrote.
  c = b;
  c.sequence["kv"]["blocks"][1]["weights"] = other;
  differs(c, "kv, sequence s, position 2: the sequence's own tokens, weights "
             "of the run in A, the sequence's own tokens, weights "
             "cccccccccccc in B");
  // A gap.
  c = b;
  c.sequence["kv"]["blocks"].erase(0);
  report = compare(a, c);
  CHECK(report.fields.empty());
  REQUIRE(report.incomplete.size() == 1);
  CHECK(report.incomplete[0] == "B: sequence s: kv: position 0 is in no block");
  // An engine's own identities: the same cut can be compared, others not.
  auto foreign = [&](const char *first, int cut) {
    Run run;
    run.sequence["kv"] = {{"identity", "engine"},
                          {"weights", w},
                          {"blocks",
                           {{{"start", 0}, {"end", cut}, {"content", first}},
                            {{"start", cut}, {"end", 4}, {"content", "y"}}}}};
    return run;
  };
  holds(foreign("x", 2), foreign("x", 2));
  CHECK(compare(foreign("x", 2), foreign("z", 2)).fields.at(0).position == 0);
  for (const Run &run : {foreign("x", 3), a, b}) {
    report = compare(foreign("x", 2), run);
    CHECK(report.fields.empty());
    REQUIRE(report.incomplete.size() == 1);
    CHECK_THAT(report.incomplete[0], Contains("cannot be compared"));
  }
}

TEST_CASE("listings and their hashes stand for the same") {
  Run b;
  b.sequence["tokens"] = {{"sha256", listingHash({11, 12, 13, 14})},
                          {"count", 4}};
  holds({}, b);
  b.sequence["tokens"]["sha256"] = other;
  CHECK_THAT(compare({}, b).fields.at(0).text(),
             Contains("tokens, sequence s: sha256 "));
}

TEST_CASE("random state counts where both runs sampled") {
  Run a, b;
  b.head["rng"] = {{"replay", false}, {"state", {{"seed", 1}}}};
  holds(a, b);
  a.head["rng"] = {{"replay", false}, {"state", {{"seed", 2}}}};
  GateReport report = compare(a, b);
  CHECK(report.fields.at(0).text() == "rng.state.seed: 2 in A, 1 in B");
  a.head["rng"].erase("state");
  report = compare(a, b);
  CHECK(report.fields.empty());
  CHECK(report.incomplete.at(0) == "A: rng.state is missing");
}

TEST_CASE("what is missing is never taken for equal") {
  for (const char *key : {"weights", "rope", "mask", "vocabulary", "logprob",
                          "rng", "ownership"}) {
    Run a, b;
    a.head.erase(key);
    b.head.erase(key);
    GateReport report = compare(a, b);
    CHECK(report.comparable());
    CHECK(report.incomplete.size() >= 2);
    CHECK_THAT(report.incomplete.at(0), Contains("A: " + std::string(key)));
  }
  for (const char *key :
       {"tokens", "targets", "active", "positions", "kv", "ownership"}) {
    Run b;
    b.sequence.erase(key);
    GateReport report = compare({}, b);
    CHECK(report.comparable());
    REQUIRE(report.incomplete.size() == 1);
    CHECK(report.incomplete[0] ==
          "B: sequence s: " + std::string(key) + " is missing");
  }
  Run b;
  b.head["rope"].erase("base");
  CHECK(compare({}, b).incomplete.at(0) == "B: rope.base is missing");
  CHECK(gate(summary(""), summary(Run().text())).incomplete.size() >= 3);
}

TEST_CASE("contracts and code at each site") {
  Run a, b;
  b.launch["code"] = other;
  GateReport report = compare(a, b);
  REQUIRE(report.digests.size() == 1);
  CHECK(report.digests[0].code);
  CHECK(report.digests[0].site.text() == "sum@1 at site 1");
  b.launch["contract"] = other;
  report = compare(a, b);
  REQUIRE(report.digests.size() == 2);
  CHECK(!report.digests[0].code);
  CHECK(report.digests[0].a == std::set{w});
  CHECK(report.digests[0].b == std::set{other});
  b = {};
  b.launch["site"] = 2;
  report = compare(a, b);
  CHECK(report.incomplete.empty());
  REQUIRE(report.digestsIncomplete.size() == 2);
  CHECK(report.digestsIncomplete[0] ==
        "A: nothing recorded for sum@1 at site 2");
}

TEST_CASE("a run that contradicts itself") {
  Run a;
  Run more;
  more.head["weights"]["version"] = 8;
  a.more = more.head.dump() + '\n';
  CHECK_THROWS_WITH(summary(a.text()),
                    "weights.version is not what an earlier record of this run "
                    "says");
  more = {};
  more.sequence["targets"][0] = 1;
  a.more = more.sequence.dump() + '\n';
  CHECK_THROWS_WITH(summary(a.text()),
                    Contains("sequence s: targets is not what"));
}
