// SchemaTest.cpp - schema.json and the reader accept the same structure
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tests/unit/reader/ReaderFixture.h"

#include <catch2/catch.hpp>
#include <valijson/adapters/nlohmann_json_adapter.hpp>
#include <valijson/schema.hpp>
#include <valijson/schema_parser.hpp>
#include <valijson/validator.hpp>

#include <fstream>
#include <regex>
#include <sstream>

using namespace bitpact::test;
using nlohmann::json;

static std::string contentsOf(const std::filesystem::path &path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

/// False also for a text that is no JSON.
static bool schemaAccepts(const std::string &text) {
  static const valijson::Schema &schema = [] -> valijson::Schema & {
    static valijson::Schema schema;
    json file = json::parse(
        contentsOf(std::string(BITPACT_CONTRACTS) + "/schema.json"));
    valijson::SchemaParser(valijson::SchemaParser::kDraft7)
        .populateSchema(valijson::adapters::NlohmannJsonAdapter(file), schema);
    return schema;
  }();
  json value = json::parse(text, nullptr, false, /*ignore_comments=*/true);
  if (value.is_discarded())
    return false;
  return valijson::Validator(valijson::Validator::kStrongTypes)
      .validate(schema, valijson::adapters::NlohmannJsonAdapter(value),
                nullptr);
}

TEST_CASE("every shipped contract is read, and the schema accepts it") {
  int count = 0;
  for (const auto &file : std::filesystem::recursive_directory_iterator(
           std::string(BITPACT_CONTRACTS) + "/library")) {
    if (file.path().extension() != ".json" ||
        file.path().filename() == "model.json") // a set of contracts
      continue;
    INFO(file.path());
    CHECK(schemaAccepts(contentsOf(file.path())));
    Outcome outcome = read(file.path().string());
    INFO(outcome.text());
    CHECK(outcome.canonical);
    ++count;
  }
  CHECK(count >= 5);
}

TEST_CASE("the schema and the reader refuse the same structure") {
  // Rules C2, C4, C5 and C6 are the structure; C3 is lost before a schema.
  const std::vector<std::string> bad{
      "[]",
      "{}",
      "{ \"bitpact\": 1 }",
      with(good, "\"bitpact\": 1", "\"bitpact\": 2"),
      with(good, "\"bitpact\": 1", "\"bitpact\": \"1\""),
      with(good, "  \"bitpact\": 1,\n", ""),
      with(good, "\"name\"", "\"nmae\""),
      with(good, "\"name\"", "\"title\": \"t\", \"name\""),
      with(good, "\"test/rms_norm\"", "null"),
      with(good, "\"test/rms_norm\"", "[]"),
      with(good, "\"rms_norm@1\"", "7"),
      with(good, "{ \"tokens\": \"*\", \"hidden\": 16 }", "[16]"),
      with(good, "\"hidden\": 16", "\"hidden\": true"),
      with(good, "\"x\": \"bf16\"", "\"x\": 16"),
      with(good, "\"eps\": \"1e-6 f32\"", "\"eps\": 1e-6"),
      with(good, "\"start\"", "\"begin\""),
      with(good, "\"start\": \"identity\"", "\"start\": false"),
      with(good, "[\"pack chain\"", "[1, \"pack chain\""),
      with(good, "[\"pack chain\", \"sweep chain\", \"lane halving\"]", "\"\""),
      with(good, "\"product\"", "\"produkt\""),
      with(good, "\"domain\": \"hidden\"", "\"domain\": 16"),
      with(good, "\"domain\": \"hidden\"", "\"domain\": {\"hidden\": 16}"),
      with(good, "\"domain\": \"hidden\"",
           "\"domain\": {\"hidden\": {\"extent\": 9}}"),
      with(good, "\"domain\": \"hidden\"",
           "\"domain\": {\"hidden\": {\"extent\": \"9\", \"stored\": 16}}"),
      with(good, "\"domain\": \"hidden\"",
           "\"domain\": {\"hidden\": {\"extent\": 9, \"stored\": 16, "
           "\"from\": 0}}"),
      with(good, "\"start\"", "\"state\": 1, \"start\""),
      with(good, "\"product\": \"exact\"", "\"product\": 1"),
      with(good, "      \"domain\": \"hidden\",\n", ""),
      with(good, "      \"start\": \"identity\",\n", ""),
      with(good, "\"normed\": \"f32 rne\"", "\"normed\": {}"),
      with(good, "\"op\"", "\"use\": \"row.serial@1\", \"op\""),
      with(good, "\"domain\"", "\"use\": 1, \"domain\""),
      with(good, "\"domain\"", "\"use\": [1], \"domain\""),
  };
  const std::regex structure("\\[C[2456]\\]");
  for (const std::string &text : bad) {
    INFO(text);
    CHECK_FALSE(schemaAccepts(text));
    Outcome outcome = readText(text);
    CHECK_FALSE(outcome.canonical);
    CHECK(std::regex_search(outcome.text(), structure));
  }

  const std::vector<std::string> fine{
      good,
      "// c\n" + good,
      with(good, "\"op\"", "\"doc\": \"words\", \"op\""),
      with(good, "\"domain\"", "\"use\": \"row.serial@1\", \"domain\""),
      with(good, "\"domain\"", "\"use\": [], \"domain\""),
      with(good, "\"domain\": \"hidden\"",
           "\"domain\": {\"hidden\": {\"extent\": 9, \"stored\": 16}}"),
  };
  for (const std::string &text : fine) {
    INFO(text);
    CHECK(schemaAccepts(text));
    CHECK(readText(text).canonical);
  }

  Folder folder;
  folder.write("base.json", good);
  auto variant = [&](const std::string &rest) {
    std::string text =
        "{ \"bitpact\": 1, \"extends\": \"base.json\"" + rest + " }";
    bool reads = read(folder.write("variant.json", text)).canonical.has_value();
    INFO(text);
    CHECK(schemaAccepts(text) == reads);
    return reads;
  };
  CHECK(variant(""));
  CHECK(variant(", \"doc\": null"));
  CHECK(variant(", \"nodes\": { \"sum_sq\": { \"start\": \"first\" } }"));
  CHECK(variant(", \"nodes\": { \"sum_sq\": { \"use\": null } }"));
  CHECK(variant(", \"nodes\": { \"sum_sq\": { \"domain\": { \"hidden\": "
                "{ \"extent\": 9, \"stored\": 16 } } } }"));
  CHECK_FALSE(variant(", \"nodes\": { \"sum_sq\": { \"domain\": { \"hidden\": "
                      "{ \"extant\": 9 } } } }"));
  CHECK_FALSE(variant(", \"nodse\": null"));
  CHECK_FALSE(variant(", \"nodes\": { \"sum_sq\": { \"strat\": null } }"));
  CHECK_FALSE(variant(", \"doc\": 1"));
}
