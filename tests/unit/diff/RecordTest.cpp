// RecordTest.cpp - lines of a record file: taken, refused, or named as damaged
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "contracts/diff/RecordLine.h"
#include "contracts/diff/RecordReader.h"

#include <catch2/catch.hpp>
#include <sstream>

using namespace bitpact::diff;
using Catch::Contains;

namespace {

struct Read {
  ReadReport report;
  std::vector<AnyRecord> records;
};

Read read(const std::string &text) {
  std::istringstream stream(text);
  Read result;
  result.report = readRecords(stream, [&](AnyRecord &record, uint64_t) {
    result.records.push_back(std::move(record));
  });
  return result;
}

const std::string hash(32, 'a'), digest(64, 'b');

std::string row(const std::string &more = "") {
  return R"({"bitpact_row":1,"sequence":"s","position":4,"layer":3,"site":"norm","hash":")" +
         hash + R"(","dtype":"bf16")" + more + "}\n";
}

void refused(const std::string &text, const std::string &message,
             uint64_t line = 1) {
  try {
    read(text);
    FAIL("taken: " << text);
  } catch (const RecordError &error) {
    CHECK_THAT(error.what(), Contains(message));
    CHECK(error.line() == line);
  }
}

} // namespace

TEST_CASE("a row record") {
  Read result = read(row(R"(,"contract":")" + digest +
                         R"(","tensor":"t.npy","row":7,"note":{"step":1})"));
  REQUIRE(result.records.size() == 1);
  auto &one = std::get<RowRecord>(result.records[0]);
  CHECK(one.sequence == "s");
  CHECK(one.position == 4);
  CHECK(one.layer == 3);
  CHECK(one.site == "norm");
  CHECK(one.hash[0] == 0xaa);
  CHECK(one.contract == digest);
  CHECK(one.code.empty());
  CHECK(one.tensor == "t.npy");
  CHECK(one.row == 7);
  CHECK(result.report.rows == 1);
  CHECK(result.report.incomplete.empty());
  // What is written is read.
  CHECK(hexOf(one.hash) == hash);
  one.code = digest, one.device = "cpu";
  auto again = std::get<RowRecord>(parseRecord(parseRecordLine(rowLine(one))));
  CHECK(again.hash == one.hash);
  CHECK(again.row == 7);
}

TEST_CASE("hashes are SHA-256, cut; listings are hashed as 64-bit integers") {
  // python3 -c "import hashlib; print(hashlib.sha256(b'abc').hexdigest()[:32])"
  CHECK(hexOf(hashRow("abc")) == "ba7816bf8f01cfea414140de5dae2223");
  // hashlib.sha256(struct.pack('<3q', 1, 2, -1)).hexdigest()
  CHECK(listingHash({1, 2, -1}) ==
        "fcc4cc05323d8851a676a44e87879ee41dff197698e6054d955b561c2bf62df6");
}

TEST_CASE("a number and its digits name one sequence") {
  std::string text = row();
  Read named = read(text.replace(text.find("\"s\""), 3, "17"));
  CHECK(std::get<RowRecord>(named.records[0]).sequence == "17");
}

TEST_CASE("log-probs are bits") {
  Read result = read(R"({"bitpact_logprob":1,"sequence":"s","position":0,)"
                     R"("role":"decode","dtype":"f32","bits":"bf800000"})");
  auto &one = std::get<LogprobRecord>(result.records[0]);
  CHECK(one.bits == 0xbf800000u);
  CHECK(one.role == LogprobRole::Decode);
  refused(R"({"bitpact_logprob":1,"sequence":"s","position":0,)"
          R"("role":"decode","dtype":"f32","bits":"bf8000"})",
          "'bits' is \"bf8000\", must be 8 lower-case hexadecimal digits");
  refused(R"({"bitpact_logprob":1,"sequence":"s","position":0,)"
          R"("role":"rollout","dtype":"f32","bits":"bf800000"})",
          "must be training, prefill, decode or recorded");
}

TEST_CASE("mistakes of a writer name line and field") {
  refused("\n" + row(R"(,"tensr":"t")"), "unknown key 'tensr'; it has", 2);
  refused(R"({"bitpact_row":2})",
          "bitpact_row has version 2; this tool reads 1");
  refused(R"({"bitpact_row":1.0})", "has version 1.0");
  refused(R"({"bitpact_line":1})", "none of the keys bitpact_run");
  refused(R"({"bitpact_row":1,"bitpact_end":1})", "is both");
  refused(row() + R"({"bitpact_end":1,"rows":-1})", "'rows' is -1, must be", 2);
  refused(R"({"bitpact_end":1,"rows":1.5})", "'rows' is 1.5, must be");
  refused(R"({"bitpact_end":1,"rows":18446744073709551615})",
          "must be an integer from 0 to");
  refused(R"({"bitpact_end":1,"rows":99999999999999999999999})",
          "the integer 99999999999999999999999 does not fit in 64 bits");
  refused(R"({"bitpact_end":1,"rows":1,"rows":1})", "key 'rows' stands twice");
  refused(R"({"bitpact_end":1,"note":1e999})", "number overflow");
  refused("{\"bitpact_end\":1,\"note\":\"\xff\"}\n", "not UTF-8");
  refused("[1]\n", "a record is a JSON object");
  refused("PK\x03\x04 not a record\n", "not a whole JSON object");
  refused("{\"bitpact_end\":1,\"note\":" + std::string(100, '[') +
              std::string(100, ']') + "}\n",
          "nested deeper than 32");
  refused(R"({"bitpact_sequence":1,"sequence":"s","active":[0,2]})",
          "element 1 is 2, must be 0 or 1");
  refused(R"({"bitpact_run":1,"vocabulary":[5,5]})", "0 <= START < END");
  refused(R"({"bitpact_run":1,"logprob":{"mode":"processed","temperature":1,)"
          R"("top_k":null}})",
          "'top_p' is missing");
}

TEST_CASE("cut and mixed lines are lost evidence, not mistakes") {
  std::string whole = row();
  Read cut = read(whole + whole.substr(0, 60));
  CHECK(cut.report.rows == 1);
  CHECK(cut.report.damaged == 1);
  REQUIRE(cut.report.incomplete.size() == 1);
  CHECK(cut.report.incomplete[0] ==
        "line 2, the last one, is cut after 60 bytes");
  // A cut within a character.
  CHECK(read(whole + "{\"bitpact_row\":1,\"sequence\":\"\xc3").report.damaged ==
        1);
  // Complete but for its newline: nothing is lost.
  CHECK(read(whole.substr(0, whole.size() - 1)).report.incomplete.empty());
  // Another process wrote within the line.
  Read mixed = read(whole + whole.substr(0, 40) + whole + whole);
  CHECK(mixed.report.rows == 2);
  REQUIRE(mixed.report.incomplete.size() == 1);
  CHECK_THAT(mixed.report.incomplete[0], Contains("line 2:43: not a whole"));
  Read zeros = read(whole + std::string(20, '\0') + "\n" + whole);
  CHECK(zeros.report.rows == 2);
  CHECK_THAT(zeros.report.incomplete[0], Contains("line 2:1: a zero byte"));
  Read empty = read("");
  REQUIRE(empty.report.incomplete.size() == 1);
  CHECK(empty.report.incomplete[0] == "no record in the file");
}

TEST_CASE("launches that were dropped or not written down") {
  auto launch = [](int number, int dropped, int site = 0) {
    return R"({"bitpact_record":1,"sequence":)" + std::to_string(number) +
           R"(,"dropped":)" + std::to_string(dropped) + R"(,"site":)" +
           std::to_string(site) + R"(,"op":"sum@1","contract":")" + digest +
           R"(","code":")" + digest + "\"}\n";
  };
  auto why = [](const std::string &text) {
    std::vector<std::string> all = read(text).report.incomplete;
    return all.empty() ? std::string() : all[0];
  };
  CHECK(why(launch(0, 0) + launch(1, 0)) == "");
  // Two processes, and one that recorded from its fifth launch on.
  CHECK(why(launch(0, 0) + launch(0, 0) + launch(1, 0)) == "");
  CHECK(why(launch(5, 0) + launch(6, 0)) == "");
  CHECK_THAT(why(launch(0, 0) + launch(2, 0)),
             Contains("launch record 1 is missing: after 0 comes 2"));
  CHECK(why(launch(3, 0) + launch(1, 0) + launch(2, 0) + launch(0, 0)) == "");
  CHECK_THAT(why(launch(4, 0) + launch(1, 0) + launch(3, 0) + launch(0, 0) +
                 launch(4, 0)),
             Contains("launch record 2 is missing: after 1 comes 3"));
  CHECK_THAT(why(launch(0, 0) + launch(1, 3)),
             Contains("3 launch records were dropped"));
  std::string end = R"({"bitpact_end":1,"launches":2,"sites":{"7":2}})";
  CHECK(why(launch(0, 0, 7) + launch(1, 0, 7) + end) == "");
  CHECK_THAT(why(launch(0, 0, 7) + end),
             Contains("counts 2 launch records, the file has 1"));
  CHECK_THAT(why(launch(0, 0, 7) + launch(1, 0, 8) + end),
             Contains("site 7: the device counted 2 launches, the file has 1"));
  CHECK_THAT(why(launch(0, 0) + R"({"bitpact_end":1,"dropped":4})"),
             Contains("4 launch records were dropped"));
}
