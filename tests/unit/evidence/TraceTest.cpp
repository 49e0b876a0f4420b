// TraceTest.cpp - the first site that differs, what is missing, the split
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/evidence/Trace.h"
#include "tools/evidence/UserError.h"

#include <algorithm>
#include <bit>
#include <catch2/catch.hpp>
#include <filesystem>
#include <fmt/format.h>
#include <random>
#include <unistd.h>

using namespace bitpact;
using namespace bitpact::evidence;
using Catch::Contains;

namespace {

struct Folder {
  Folder() {
    char name[] = "/tmp/bitpact-trace-XXXXXX";
    path = mkdtemp(name);
  }
  ~Folder() { std::filesystem::remove_all(path); }
  std::string write(const std::string &name, const std::string &text) const {
    std::string file = path + "/" + name;
    std::ofstream(file, std::ios::binary) << text;
    return file;
  }
  std::string path;
};

std::string row(const std::string &sequence, int position, int layer,
                const std::string &site, const std::string &value,
                const std::string &more = "") {
  return fmt::format(
      R"({{"bitpact_row":1,"sequence":"{}","position":{},"layer":{},)"
      R"("site":"{}","hash":"{}","dtype":"f32"{}}})"
      "\n",
      sequence, position, layer, site, diff::hexOf(diff::hashRow(value)), more);
}

std::string logprob(const std::string &sequence, int position, const char *role,
                    float value) {
  return fmt::format(
      R"({{"bitpact_logprob":1,"sequence":"{}","position":{},"role":"{}",)"
      R"("dtype":"f32","bits":"{:08x}"}})"
      "\n",
      sequence, position, role, std::bit_cast<uint32_t>(value));
}

TraceReport run(const std::string &a, const std::string &b,
                const TraceOptions &options = {}) {
  Folder folder;
  return trace(folder.write("a.jsonl", a), folder.write("b.jsonl", b), options);
}

} // namespace

TEST_CASE("the first site is the lowest layer, then A's order") {
  std::string a, b;
  // Layer 1 comes first in the files; B has the sites the other way round.
  for (int layer : {1, 0})
    for (const char *site : {"norm", "attention"})
      for (int position : {0, 1})
        a += row("s", position, layer, site, "same");
  for (int layer : {0, 1})
    for (const char *site : {"attention", "norm"})
      for (int position : {1, 0})
        b += row("s", position, layer, site,
                 layer == 1 && position == 1 ? "other" : "same");
  TraceReport report = run(a, b);
  REQUIRE(report.sites.size() == 4);
  CHECK(report.sites[0].text() == "layer 0 norm");
  CHECK(report.sites[3].text() == "layer 1 attention");
  const SiteTrace *first = report.firstDifference();
  REQUIRE(first);
  CHECK(first->text() == "layer 1 norm");
  CHECK(first->rows == 2);
  CHECK(first->differing == 1);
  CHECK(first->firstDiffering == "sequence s, position 1");
  CHECK(first->a.hash == diff::hexOf(diff::hashRow("same")));
  CHECK(first->b.hash == diff::hexOf(diff::hashRow("other")));
  CHECK(report.incomplete.empty());
  CHECK(report.differs());
  CHECK_FALSE(run(a, a).differs());
}

TEST_CASE("rows in any order, in memory or not, give one report") {
  std::vector<std::string> a, b;
  for (int s = 0; s < 3; ++s)
    for (int layer = 0; layer < 4; ++layer)
      for (int position = 0; position < 20; ++position) {
        std::string name = "s" + std::to_string(s);
        bool differs = layer >= 2 && (position * 7 + s) % 5 == 0;
        a.push_back(row(name, position, layer, "norm", "x"));
        if (layer != 3 || position != 4)
          b.push_back(row(name, position, layer, "norm", differs ? "y" : "x"));
      }
  auto join = [](const std::vector<std::string> &lines) {
    std::string text;
    for (const std::string &line : lines)
      text += line;
    return text;
  };
  std::string first = join(a), second = join(b);
  std::mt19937 random(3);
  for (size_t chunk : {size_t(1) << 20, size_t(13), size_t(1)}) {
    TraceOptions options;
    options.chunk = chunk;
    TraceReport report = run(first, second, options);
    REQUIRE(report.firstDifference());
    CHECK(report.firstDifference()->text() == "layer 2 norm");
    // Of 20 positions and 3 sequences, one in five.
    CHECK(report.sites[2].differing == 12);
    CHECK(report.sites[2].firstDiffering == "sequence s0, position 0");
    CHECK(report.sites[3].onlyA == 3);
    CHECK(report.sites[3].onlyB == 0);
    REQUIRE(report.incomplete.size() == 1);
    CHECK(report.incomplete[0] ==
          "layer 3 norm: 3 rows are only in A, 0 only in B; sequence s0, "
          "position 4 is only in A");
    std::shuffle(b.begin(), b.end(), random);
    second = join(b);
  }
  TraceOptions common;
  common.common = true;
  CHECK(run(first, second, common).incomplete.empty());
}

TEST_CASE("several hashes of one key are no determinism") {
  std::string a = row("s", 0, 0, "norm", "x") + row("s", 1, 0, "norm", "x");
  // The same again, from another rank, says nothing new.
  CHECK_FALSE(run(a + a, a).differs());
  TraceReport report = run(a, a + row("s", 1, 0, "norm", "y"));
  CHECK(report.differs());
  CHECK(report.sites[0].unsteadyB == 1);
  CHECK(report.sites[0].unsteadyA == 0);
  CHECK(report.sites[0].firstUnsteady == "sequence s, position 1 in B");
}

TEST_CASE("ulps of rows that were kept") {
  CHECK(ulpsBetween(algebra::Format::F32, 0x3f800000, 0x3f800003) == 3);
  CHECK(ulpsBetween(algebra::Format::F32, 0x80000000, 0) == 1);
  CHECK(ulpsBetween(algebra::Format::BF16, 0x8001, 0x0001) == 3);
  Folder folder;
  auto keep = [&](const std::string &name, std::vector<float> values) {
    Tensor tensor{algebra::Format::F32, {2, 2}, {}};
    tensor.bytes.resize(16);
    std::memcpy(tensor.bytes.data(), values.data(), 16);
    folder.write(name, npyBytes(tensor));
    std::string lines;
    for (int r : {0, 1})
      lines += row("s", r, 0, "norm",
                   std::string(reinterpret_cast<char *>(&values[2 * r]), 8),
                   fmt::format(R"(,"tensor":"{}","row":{})", name, r));
    return lines;
  };
  std::string a = keep("a.npy", {1, 2, 3, 4}),
              b = keep("b.npy", {1, 2 + 0x1p-21f, 3, 4 - 0x1p-20f});
  std::string fileA = folder.write("a.jsonl", a),
              fileB = folder.write("b.jsonl", b);
  TraceReport report = trace(fileA, fileB, {});
  const UlpStatistics &ulps = report.sites.at(0).ulps;
  CHECK(ulps.rows == 2);
  CHECK(ulps.elements == 4);
  CHECK(ulps.differing == 2);
  // Above 2 an ulp is 2^-22, below 4 as well.
  CHECK(ulps.largest == 4);
  CHECK(ulps.text() == "0: 2, 2: 1, 3-4: 1");
  // A file that was written over is not what was recorded.
  keep("b.npy", {5, 6, 7, 8});
  report = trace(fileA, fileB, {});
  CHECK(report.sites.at(0).ulps.rows == 0);
  CHECK(report.differs());
  REQUIRE(report.incomplete.size() == 2);
  CHECK_THAT(report.incomplete[0], Contains("b.npy: row 0 is not what its"));
}

TEST_CASE("three terms add up to the total") {
  // Differences that no one double sum gets right.
  float values[3][4] = {{-1, -1.25f, -1.25f, -0x1p-100f},
                        {-0x1p-60f, -2, -2, -0x1p-60f},
                        {-3, -3, -3, -3}};
  const char *roles[] = {"training", "prefill", "decode", "recorded"};
  std::string a, b;
  for (int position = 0; position < 3; ++position)
    for (int role = 0; role < 4; ++role)
      (role ? b : a) +=
          logprob("s", position, roles[role], values[position][role]);
  TraceOptions options;
  options.clip = {0.2, 0.28};
  int tokens = 0;
  options.eachToken = [&](const TokenSplit &token) {
    REQUIRE(token.differences.size() == 4);
    tokens += token.position == 2 && token.differences[3].isZero();
  };
  LogprobSplit split = run(a, b, options).logprobs;
  CHECK(tokens == 1);
  CHECK(split.tokens == 3);
  REQUIRE(split.terms.size() == 3);
  CHECK(split.terms[0].name() == "training - prefill");
  CHECK(split.terms[0].nonzero == 2);
  CHECK(split.terms[1].nonzero == 0);
  CHECK(split.terms[2].nonzero == 2);
  CHECK(split.total.nonzero == 1);
  CHECK(split.total.name() == "training - recorded");
  CHECK(split.terms[0].largest.high == 2);
  CHECK(split.terms[0].largestPosition == 1);
  ExactSum sum, expected;
  for (const SplitTerm &term : split.terms)
    sum.add(term.sum);
  CHECK(sum == split.total.sum);
  // -1 + 2^-100, and -2^-60 + 2^-60.
  expected.add(-1);
  expected.add(0x1p-100);
  CHECK(split.total.sum == expected);
  // exp(-1) is below 0.8.
  CHECK(split.clippedLow == 1);
  CHECK(split.clippedHigh == 0);
  CHECK(split.firstClipped == "sequence s, position 0");
  CHECK(split.differs());
}

TEST_CASE("roles that are missing, everywhere or here and there") {
  std::string a = logprob("s", 0, "training", -1) +
                  logprob("s", 1, "training", -1),
              b = logprob("s", 0, "recorded", -1) +
                  logprob("s", 1, "recorded", -2);
  TraceReport report = run(a, b);
  CHECK(report.incomplete.empty());
  REQUIRE(report.logprobs.terms.size() == 1);
  CHECK(report.logprobs.terms[0].name() == "training - recorded");
  CHECK(report.logprobs.terms[0].nonzero == 1);
  report = run(a, b + logprob("s", 0, "decode", -1));
  REQUIRE(report.incomplete.size() == 1);
  CHECK_THAT(report.incomplete[0],
             Contains("1 tokens without a decode log-prob; sequence s, "
                      "position 1 has no decode log-prob"));
  CHECK(report.logprobs.tokens == 1);
  // The value that training took is not the one that rollout recorded.
  report = run(a + logprob("s", 0, "recorded", -4), b);
  REQUIRE(report.logprobs.contradictions.size() == 1);
  CHECK(report.logprobs.contradictions[0] ==
        "sequence s, position 0: two recorded log-probs, 0xbf800000 and "
        "0xc0800000");
  CHECK(report.differs());
  report = run(a, logprob("s", 0, "recorded", -INFINITY) +
                      logprob("s", 1, "recorded", -1));
  CHECK(report.logprobs.notFinite == 1);
  CHECK(report.logprobs.notFiniteDiffering == 1);
  CHECK(report.differs());
}

TEST_CASE("files that are no evidence, and mistakes with their line") {
  std::string good = row("s", 0, 0, "norm", "x");
  CHECK(run("", "").incomplete.size() == 3);
  CHECK_THAT(run(good, good + good.substr(0, 30)).incomplete.at(0),
             Contains("B: line 2, the last one, is cut after 30 bytes"));
  Folder folder;
  try {
    trace(folder.write("a.jsonl", good),
          folder.write("b.jsonl", good + R"({"bitpact_row":9})"), {});
    FAIL("taken");
  } catch (const UserError &error) {
    CHECK_THAT(error.text(), Contains("/b.jsonl:2:1: error: bitpact_row has "
                                      "version 9; this tool reads 1"));
  }
  CHECK_THROWS_AS(trace(folder.path + "/none", folder.path + "/none", {}),
                  UserError);
  std::string head = R"({"bitpact_run":1,"weights":{"sha256":")" +
                     std::string(64, 'a') +
                     R"(","version":1}})"
                     "\n",
              other = head;
  other.replace(other.find(":1}"), 3, ":2}");
  TraceReport report = run(head + good, other + good);
  REQUIRE(report.gate);
  CHECK_FALSE(report.gate->comparable());
  CHECK_THAT(run(head + good, good).incomplete.at(0),
             Contains("B: no bitpact_run record, which the other run has"));
}
