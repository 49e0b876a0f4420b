// RecordSchemaTest.cpp - records.schema.json and the reader take the same lines
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "contracts/diff/RecordLine.h"
#include "contracts/diff/RunRecords.h"

#include <catch2/catch.hpp>
#include <valijson/adapters/nlohmann_json_adapter.hpp>
#include <valijson/schema.hpp>
#include <valijson/schema_parser.hpp>
#include <valijson/validator.hpp>

#include <filesystem>
#include <fstream>
#include <set>

using namespace bitpact::diff;
using nlohmann::json;

static bool schemaTakes(const json &value) {
  static const valijson::Schema &schema = []() -> valijson::Schema & {
    static valijson::Schema schema;
    std::ifstream stream(BITPACT_CONTRACTS "/records.schema.json");
    json file = json::parse(stream);
    valijson::SchemaParser(valijson::SchemaParser::kDraft7)
        .populateSchema(valijson::adapters::NlohmannJsonAdapter(file), schema);
    return schema;
  }();
  return valijson::Validator(valijson::Validator::kStrongTypes)
      .validate(schema, valijson::adapters::NlohmannJsonAdapter(value),
                nullptr);
}

static bool readerTakes(const json &value) {
  try {
    parseRecord(parseRecordLine(value.dump()));
    return true;
  } catch (const RecordError &) {
    return false;
  }
}

TEST_CASE("schema and reader take the same records, and refuse the same") {
  std::set<std::string> kinds;
  int refused = 0;
  for (const auto &file :
       std::filesystem::directory_iterator(BITPACT_RECORD_CORPUS)) {
    std::ifstream stream(file.path());
    for (std::string line; std::getline(stream, line);) {
      json record = json::parse(line, nullptr, false);
      if (record.is_discarded())
        continue; // the one that is cut
      INFO(line);
      CHECK(schemaTakes(record));
      CHECK(readerTakes(record));
      for (const auto &[key, value] : record.items()) {
        if (key.starts_with("bitpact_"))
          kinds.insert(key);
        // A key less, another key, values of other types: the same answer.
        std::vector<json> variants;
        json less = record;
        less.erase(key);
        variants.push_back(less);
        less["x" + key] = value;
        variants.push_back(less);
        for (const json &other :
             {json(-2), json(1.5), json("x"), json(true), json::array({1, 0}),
              json::object(), json(nullptr)}) {
          json changed = record;
          changed[key] = other;
          variants.push_back(changed);
        }
        for (const json &variant : variants) {
          // What the reader knows beyond structure: intervals ascend.
          if (variant.value("vocabulary", json()) == json::array({1, 0}))
            continue;
          INFO(variant.dump());
          bool taken = readerTakes(variant);
          CHECK(schemaTakes(variant) == taken);
          refused += !taken;
        }
      }
    }
  }
  CHECK(kinds.size() == 6);
  CHECK(refused > 100);
}
