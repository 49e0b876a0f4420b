// HostileTest.cpp - no input, however bad, gets past an error message
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tests/unit/reader/ReaderFixture.h"

#include <catch2/catch.hpp>

using namespace bitpact::test;
using Catch::Matchers::Contains;

static void refuses(const std::string &text, const std::string &message) {
  Outcome outcome = readText(text);
  CHECK_FALSE(outcome.canonical);
  CHECK_THAT(outcome.text(), Contains(message));
}

TEST_CASE("files that are no text") {
  refuses("", "test.json:1:1: the file is empty [C1]");
  refuses(" \n\t", "the file is empty [C1]");
  refuses("// only a comment", "[C1]");
  refuses(std::string(1, '\0'), "[C1]");
  refuses(with(good, "test/", std::string(1, '\0')), "test.json:3:11: ");
  refuses(with(good, "test/", "\xff"),
          "test.json:3:12: this byte is not UTF-8");
  refuses(with(good, "test/", "\xed\xa0\x80"), "this byte is not UTF-8");
  refuses("{\n// \xc3\n}", "test.json:2:4: this byte is not UTF-8 [C1]");
  refuses(std::string(10 << 20, ' '), "a contract has at most 1048576 [C1]");
}

TEST_CASE("texts with control characters, and a byte order mark") {
  for (const char *escape : {"\\u0000", "\\u001b[2J", "\\n", "\\u007f"})
    refuses(with(good, "test/", escape),
            "test.json:3:11: the text holds a control character");
  refuses("\xEF\xBB\xBF" + good,
          "test.json:1:1: the file begins with a byte order mark");
}

TEST_CASE("only regular files are read") {
  Outcome outcome = readText("{ \"bitpact\": 1, \"extends\": \"/dev/zero\" }");
  CHECK_FALSE(outcome.canonical);
  CHECK_THAT(outcome.text(), Contains("it is no regular file [C8]"));
}

TEST_CASE("a file cut anywhere is an error with a place") {
  for (size_t length = 0; length + 2 < good.size(); length += 7) {
    Outcome outcome = readText(good.substr(0, length));
    CHECK_FALSE(outcome.canonical);
    CHECK_THAT(outcome.text(), Contains("test.json:") && Contains("[C1]"));
  }
}

TEST_CASE("a file with one byte changed is read or refused") {
  for (size_t at = 0; at < good.size(); at += 5)
    for (char byte : {'\0', '"', '{', ']', '\\', '9', '/'}) {
      std::string text = good;
      text[at] = byte;
      Outcome outcome = readText(text);
      CHECK(outcome.canonical.has_value() == outcome.messages.empty());
    }
}

TEST_CASE("values of absurd size") {
  refuses(std::string(100000, '['), "nested more than 64 deep [C1]");
  std::string objects;
  for (int i = 0; i < 1000; ++i)
    objects += "{\"a\":";
  refuses(objects, "nested more than 64 deep [C1]");
  refuses(with(good, "1e-6", "1e999999999"), "is no decimal number [P1]");
  refuses(with(good, "1e-6", std::string(100000, '9')),
          "is no decimal number [P1]");
  refuses(with(good, "\"hidden\": 16", "\"hidden\": 1e400"), "[C1]");
  refuses(with(good, "\"hidden\": 16", "\"hidden\": 1.5"), "[C4]");
  refuses(with(good, "lane:4", "lane:99999999999999999999"), "[PI");
  refuses(with(good, "lane:4", "lane:4611686018427387905"), "[PI");
  refuses(with(good, "lane:4", std::string(50000, 'a') + ":4"), "[T1]");
  refuses("[1, 2]", "the contract must be an object, not a list [C4]");
  refuses("null", "the contract must be an object, not null [C4]");
}

TEST_CASE("an input that stays open is still checked as a whole") {
  // The largest extents pass through without overflow.
  Outcome outcome =
      readText(with(good, "\"hidden\": 16", "\"hidden\": 9223372036854775807"));
  CHECK(outcome.canonical.has_value() == outcome.messages.empty());
}
