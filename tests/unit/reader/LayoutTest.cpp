// LayoutTest.cpp - layout keeps every word and is its own fixed point
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/Reader/Layout.h"
#include "tests/unit/reader/ReaderFixture.h"

#include <catch2/catch.hpp>

#include <fstream>
#include <sstream>

using namespace bitpact;
using namespace bitpact::test;

static std::string layout(const std::string &text) {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  auto document = reader::parseDocument("test.json", text, &context);
  REQUIRE(mlir::succeeded(document));
  return reader::layoutDocument(*document);
}

TEST_CASE("a contract in one line is laid out in full") {
  std::string line = good;
  std::erase(line, '\n');
  CHECK(layout(line) == good);
  CHECK(layout(good) == good);
}

TEST_CASE("keys take the order of the specification, comments stay with them") {
  CHECK(layout(R"(// head
// of the file
{ // first
"op":"sum@1",   // which
// why one
"bitpact":1, "zzz" : [ 1,
 // two
 2 // end
 // rest
 ], "nodes":{"s":{"start":"first","domain":"k"}} // last
 // tail
}
// foot
)") == R"(// head
// of the file
{
  // why one
  "bitpact": 1,
  // first
  "op": "sum@1", // which
  "nodes": {
    "s": {
      "domain": "k",
      "start": "first"
    }
  }, // last
  "zzz": [
    1,
    // two
    2 // end
    // rest
  ]
  // tail
}
// foot
)");
}

TEST_CASE("layout is idempotent and keeps the digest") {
  for (const std::string &text :
       {good, "// c\n" + good + "// d\n", with(good, "{", "{ // a\n // b\n"),
        with(good, "\"dims\"", "// x\n// y\n\"dims\""),
        with(good, "16 }", "16 // z\n }"), with(good, "[", "[ // v\n"),
        with(good, "test/", "t\\u00e9st/")}) {
    std::string once = layout(text);
    CHECK(layout(once) == once);
    CHECK(readText(once).digest == readText(good).digest);
    CHECK(std::count(once.begin(), once.end(), '/') ==
          std::count(text.begin(), text.end(), '/'));
  }
}

TEST_CASE("every shipped contract and preset has the canonical layout") {
  int count = 0;
  for (const char *folder : {"/library", "/presets"})
    for (const auto &file : std::filesystem::recursive_directory_iterator(
             std::string(BITPACT_CONTRACTS) + folder)) {
      if (file.path().extension() != ".json" ||
          file.path().filename() == "model.json") // a set of contracts
        continue;
      std::ostringstream text;
      text << std::ifstream(file.path()).rdbuf();
      INFO(file.path());
      CHECK(layout(text.str()) == text.str());
      ++count;
    }
  CHECK(count >= 10);
}
