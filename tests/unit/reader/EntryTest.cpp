// EntryTest.cpp - the C interface: requests, answers, statuses
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/include/bitpact_compiler.h"
#include "contracts/algebra/Digest.h"
#include "tests/unit/reader/ReaderFixture.h"

#include <catch2/catch.hpp>

using namespace bitpact;
using namespace bitpact::test;
using nlohmann::json;

static json run(const json &request,
                bitpact_compiler_progress progress = nullptr,
                void *context = nullptr) {
  char *answer =
      bitpact_compiler_run(request.dump().c_str(), progress, context);
  json result = json::parse(answer);
  bitpact_compiler_free(answer);
  return result;
}

TEST_CASE("expand answers with canonical JSON and digest") {
  Folder folder;
  std::string path = folder.write("a.json", good);
  std::vector<std::string> seen;
  json answer = run(
      {{"command", "expand"}, {"contracts", {path}}},
      [](void *context, const char *what, int, int) {
        static_cast<std::vector<std::string> *>(context)->push_back(what);
      },
      &seen);
  INFO(answer.dump());
  CHECK(answer["status"] == 0);
  CHECK(answer["diagnostics"].empty());
  CHECK(seen == std::vector<std::string>{path});
  json contract = answer["contracts"].at(0);
  CHECK(contract["path"] == path);
  CHECK(contract["digest"] == algebra::digest(contract["canonical"]));
}

TEST_CASE("expand answers with the place of every error") {
  Folder folder;
  std::string path =
      folder.write("a.json", with(good, "\"weight\": \"bf16\"",
                                  "\"weight\": \"bf16\", \"weight\": \"f32\""));
  std::string fine = folder.write("b.json", good);
  json answer = run({{"command", "expand"}, {"contracts", {path, fine}}});
  CHECK(answer["status"] == 2);
  CHECK(answer["contracts"].size() == 1);
  json error = answer["diagnostics"].at(0);
  CHECK(error["severity"] == "error");
  CHECK(error["file"] == path);
  CHECK(error["line"] == 6);
  CHECK(error["column"] == 45);
  CHECK(error["message"] == "key 'weight' stands twice in one object [C3]");
  CHECK(error["notes"].at(0)["column"] == 27);
}

TEST_CASE("format answers with the canonical layout") {
  Folder folder;
  std::string line = good;
  std::erase(line, '\n');
  std::string path = folder.write("a.json", line);
  json answer = run({{"command", "format"}, {"contract", path}});
  CHECK(answer["status"] == 0);
  CHECK(answer["text"] == good);
  CHECK(run({{"command", "format"}, {"contract", "/nowhere"}})["status"] == 2);
}

TEST_CASE("a request that is none is a user error") {
  for (const json &request :
       {json("text"), json::object(), json{{"command", "dance"}},
        json{{"command", "expand"}},
        json{{"command", "expand"}, {"contracts", {1}}},
        json{{"command", "format"}, {"contract", 1}}}) {
    json answer = run(request);
    CHECK(answer["status"] == 2);
    CHECK_FALSE(
        answer["diagnostics"].at(0)["message"].get<std::string>().empty());
  }
  char *answer = bitpact_compiler_run("{", nullptr, nullptr);
  CHECK(json::parse(answer)["status"] == 2);
  bitpact_compiler_free(answer);
  CHECK(bitpact_compiler_abi() == BITPACT_COMPILER_ABI);
}
