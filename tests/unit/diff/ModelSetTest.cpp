// ModelSetTest.cpp - model sets: structure as in the schema, and matching
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "contracts/algebra/RuleError.h"
#include "contracts/diff/SetMatch.h"

#include <catch2/catch.hpp>
#include <fstream>
#include <sstream>
#include <valijson/adapters/nlohmann_json_adapter.hpp>
#include <valijson/schema.hpp>
#include <valijson/schema_parser.hpp>
#include <valijson/validator.hpp>

using namespace bitpact;
using namespace bitpact::diff;
using nlohmann::json;

namespace {

std::string contents(const std::string &file) {
  std::ostringstream text;
  text << std::ifstream(std::string(BITPACT_CONTRACTS) + "/" + file).rdbuf();
  return text.str();
}

const std::string good = R"({
  "bitpact_model": 1, "name": "m",
  "contracts": { "a": "a.json", "b": "b.json" },
  "tensors": { "t": { "from": "a.y", "to": ["b.x"] } },
  "cut": { "b": ["tokens"] }
})";

std::string with(const std::string &from, const std::string &to) {
  std::string text = good;
  text.replace(text.find(from), from.size(), to);
  return text;
}

bool schemaAccepts(const std::string &text) {
  static const valijson::Schema &schema = []() -> valijson::Schema & {
    static valijson::Schema schema;
    json file = json::parse(contents("model.schema.json"));
    valijson::SchemaParser(valijson::SchemaParser::kDraft7)
        .populateSchema(valijson::adapters::NlohmannJsonAdapter(file), schema);
    return schema;
  }();
  json value = json::parse(text, nullptr, false, true);
  return !value.is_discarded() &&
         valijson::Validator(valijson::Validator::kStrongTypes)
             .validate(schema, valijson::adapters::NlohmannJsonAdapter(value),
                       nullptr);
}

std::string errorOf(const std::string &text) {
  try {
    ModelSet::parse(text, "m.json");
    return "";
  } catch (const algebra::RuleError &error) {
    return error.what();
  }
}

SetMember member(const char *site, const char *name, const char *op,
                 const char *digest) {
  return {site, name, op, digest};
}

/// "0-1 1-" : a's first with b's second, a's second alone.
std::string text(const std::vector<SetPair> &pairs) {
  std::string result;
  for (const SetPair &pair : pairs)
    result += (pair.a ? std::to_string(*pair.a) : "") + "-" +
              (pair.b ? std::to_string(*pair.b) : "") + " ";
  return result;
}

} // namespace

TEST_CASE("the shipped model set is read, and the schema accepts it") {
  std::string shipped = contents("library/qwen3-8b/model.json");
  CHECK(schemaAccepts(shipped));
  ModelSet set = ModelSet::parse(shipped, "model.json");
  CHECK(set.name == "qwen3-8b");
  CHECK(set.sites.size() == 5);
  CHECK(set.tensors.size() == 3);
}

TEST_CASE("the schema and the reader refuse the same structure") {
  CHECK(errorOf(good).empty());
  CHECK(schemaAccepts(good));
  struct Case {
    std::string text;
    const char *rule;
  };
  const Case cases[] = {
      {"[]", "M1"},
      {"{}", "M1"},
      {"{ \"bitpact_model\": 1", "M1"},
      {with("\"bitpact_model\": 1", "\"bitpact_model\": 2"), "M1"},
      {with("\"bitpact_model\": 1", "\"bitpact_model\": \"1\""), "M1"},
      {with("\"name\": \"m\"", "\"name\": 1"), "M1"},
      {with("\"name\": \"m\",", "\"name\": \"m\", \"layers\": 36,"), "M1"},
      {with("\"a\": \"a.json\", \"b\": \"b.json\"", ""), "M2"},
      {with("\"a\": \"a.json\"", "\"a\": 1"), "M2"},
      {with("\"a\": \"a.json\"", "\"a.a\": \"a.json\""), "M2"},
      {with("\"from\": \"a.y\", ", ""), "M3"},
      {with("[\"b.x\"]", "[]"), "M3"},
      {with("[\"b.x\"]", "\"b.x\""), "M3"},
      {with("\"a.y\"", "\"y\""), "M3"},
      {with("[\"b.x\"]", "[\"b.x\"], \"next\": \"token\""), "M3"},
      {with("[\"b.x\"]", "[\"b.x\"], \"via\": \"tcp\""), "M3"},
      {with("[\"tokens\"]", "\"tokens\""), "M6"},
  };
  for (const Case &one : cases) {
    INFO(one.text);
    std::string error = errorOf(one.text);
    INFO(error);
    CHECK(error.find("[" + std::string(one.rule) + "]") != error.npos);
    CHECK(error.find("m.json") == 0);
    CHECK_FALSE(schemaAccepts(one.text));
  }
}

TEST_CASE("names and circles are for the reader alone") {
  CHECK(errorOf(with("\"a.y\"", "\"c.y\"")) ==
        "m.json:4:31: 'c.y' is no tensor of a site; one is written "
        "site.tensor [M3]");
  CHECK(errorOf(with("\"b\": [\"tokens\"]", "\"c\": [\"tokens\"]"))
            .find("there is no site 'c' [M6]") != std::string::npos);
  CHECK(errorOf(with("[\"b.x\"]", "[\"b.x\", \"b.x\"]"))
            .find("'b.x' takes two tensors [M4]") != std::string::npos);
  CHECK(errorOf(with("\"to\": [\"b.x\"] }",
                     "\"to\": [\"b.x\"] }, \"u\": { \"from\": \"b.y\", "
                     "\"to\": [\"a.x\"] }"))
            .find("a → b → a") != std::string::npos);
  CHECK(errorOf(with("\"to\": [\"b.x\"] }",
                     "\"to\": [\"b.x\"] }, \"u\": { \"from\": \"b.y\", "
                     "\"to\": [\"a.x\"], \"next\": \"layer\" }"))
            .empty());
  CHECK(errorOf(with("\"name\"", "\"doc\": \"\", \"doc\": \"\", \"name\""))
            .find("m.json:2:34: the key 'doc' stands twice [M1]") !=
        std::string::npos);
}

TEST_CASE("contracts of two sets are matched by what they have in common") {
  // Sites, where both have them: names do not matter.
  CHECK(text(matchSets({member("s", "x", "f", "1"), member("t", "x", "f", "1")},
                       {member("t", "y", "f", "2"),
                        member("u", "x", "f", "1")})) == "0- 1-0 -1 ");
  // Names first, then digests, then the last ones of an operator.
  CHECK(text(matchSets({member("", "x", "f", "1"), member("", "y", "f", "2"),
                        member("", "z", "g", "3"), member("", "w", "h", "4")},
                       {member("", "v", "g", "5"), member("", "u", "f", "2"),
                        member("", "x", "f", "6"), member("", "t", "h", "7"),
                        member("", "r", "h", "8")})) ==
        "0-2 1-1 2-0 3- -3 -4 ");
  // One beside one: whatever they are.
  CHECK(text(matchSets({member("", "x", "f", "1")},
                       {member("", "y", "g", "2")})) == "0-0 ");
}
