// ProbesTest.cpp - roundings, starts and fractions of boxes that are known
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tests/unit/reveal/Simulated.h"
#include "tools/evidence/reveal/Reveal.h"

#include <catch2/catch.hpp>

using namespace bitpact;
using namespace bitpact::reveal;
using namespace bitpact::reveal::test;
using algebra::Format;
using algebra::ReductionKind;
using algebra::Start;

namespace {

std::string finding(const Report &report, const std::string &what) {
  for (const Finding &one : report.findings)
    if (one.what == what)
      return one.determined ? one.value : "unknown";
  return "absent";
}

Report of(Simulated &box) {
  Report report = reveal::reveal(box, {});
  INFO(report.reason);
  REQUIRE(report.determined());
  CHECK(report.tree == box.tree());
  return report;
}

} // namespace

TEST_CASE("the start, the accumulator and its rounding", "[reveal][probes]") {
  for (Start start : {Start::Identity, Start::First})
    for (Format accumulator : {Format::F32, Format::F64}) {
      Simulated::Options options;
      options.accumulator = options.output = accumulator;
      options.told = false;
      Simulated box("sweep:* lane:8", "sweep chain, lane halving", start, 50,
                    options);
      Report report = of(box);
      CHECK(finding(report, "start") == algebra::name(start));
      CHECK(finding(report, "accumulator") == algebra::name(accumulator));
      CHECK(finding(report, "rounding") == "to nearest, ties to even");
      REQUIRE(report.recognised.reduction);
      CHECK(report.recognised.reduction->start == start);
      CHECK(report.recognised.reduction->partition.text() == "d0:* d1:8");
    }
}

TEST_CASE("additions toward zero hide no units, and no tree is claimed",
          "[reveal][probes]") {
  Simulated::Options options;
  options.towardZero = true;
  Simulated box("sweep:* lane:8", "sweep chain, lane halving", Start::First, 50,
                options);
  Report report = reveal::reveal(box, {});
  CHECK_FALSE(report.determined());
  CHECK(report.reason.find("fit no tree") != std::string::npos);
}

TEST_CASE("partials that are rounded", "[reveal][probes]") {
  for (const char *halving :
       {"d1 halving", "d1 halving from bf16", "d1 halving in bf16",
        "d1 halving from bf16 in f16", "d1 halving in f16"})
    for (Format output : {Format::F32, Format::F64}) {
      Simulated::Options options;
      options.output = output;
      Simulated box("d0:* d1:8", std::string("d0 chain, ") + halving,
                    Start::Identity, 50, options);
      Report report = of(box);
      CAPTURE(halving, report.method);
      REQUIRE(report.recognised.reduction);
      CHECK(report.recognised.reduction->order.text() ==
            std::string("d0 chain, ") + halving);
    }
}

TEST_CASE("subnormals that are flushed", "[reveal][probes]") {
  for (bool flush : {false, true}) {
    Simulated::Options options;
    options.flush = flush;
    Simulated box("all:*", "all chain", Start::First, 20, options);
    CHECK(finding(of(box), "subnormals") ==
          (flush ? "terms become zero, sums become zero" : "kept"));
  }
}

TEST_CASE("products of a dot", "[reveal][probes]") {
  for (bool rounded : {false, true}) {
    Simulated::Options options;
    options.kind = ReductionKind::Dot;
    options.roundedProduct = rounded;
    Simulated box("all:*", "all chain", Start::Identity, 20, options);
    CHECK(finding(of(box), "product") == (rounded ? "rounded" : "exact"));
  }
}

TEST_CASE("the fraction of a fused step", "[reveal][probes]") {
  for (const char *atom : {"dot.nv(16,25)", "dot.nv(16,24)", "dot.nv(8,25)"}) {
    Simulated::Options options;
    options.element = Format::BF16;
    options.kind = ReductionKind::Dot;
    std::string text = atom;
    std::string width = text.substr(7, text.find(',') - 7);
    Simulated box("d0:* d1:" + width, "d1 fused(" + text + "), d0 chain",
                  Start::Identity, 70, options);
    Report report = of(box);
    CHECK(finding(report, "fraction") ==
          text.substr(text.find(',') + 1, 2) + " bits");
    CHECK(finding(report, "rounding") == "toward zero");
    REQUIRE(report.recognised.reduction);
    CHECK(report.recognised.reduction->order.text() ==
          "d1 fused(" + text + "), d0 chain");
  }
}

TEST_CASE("matrix units are seen through outputs of few bits",
          "[reveal][probes]") {
  for (const char *atom :
       {"dot.nv(16,25)", "dot.nv(8,25)", "dot.nv(8,24)", "dot.cdna3"})
    for (Format format : {Format::BF16, Format::F16}) {
      Simulated::Options options;
      options.element = options.output = format;
      options.kind = ReductionKind::Dot;
      std::string text = atom;
      std::string width = text.find("(16") == text.npos ? "8" : "16";
      CAPTURE(text, name(format));
      Simulated box("d0:* d1:" + width, "d1 fused(" + text + "), d0 chain",
                    Start::Identity, 70, options);
      Report report = of(box);
      REQUIRE(report.determined());
      bool cdna3 = text == "dot.cdna3";
      CHECK(finding(report, "rounding") ==
            (cdna3 ? "to nearest, ties to even" : "toward zero"));
      CHECK(finding(report, "output") ==
            std::string(name(format)) + ", to nearest, ties to even");
      CHECK(report.fraction == (cdna3                           ? 24
                                : text.find(",25") != text.npos ? 25
                                                                : 24));
      REQUIRE(report.recognised.reduction);
      CHECK(report.recognised.reduction->order.text() ==
            "d1 fused(" + text + "), d0 chain");
    }
}

TEST_CASE("two parts of K that meet in f32", "[reveal][probes]") {
  Simulated::Options options;
  options.element = options.output = Format::BF16;
  options.kind = ReductionKind::Dot;
  Simulated box("half:2 step:6 k:16",
                "k fused(dot.nv(16,25)), step chain, half fold",
                Start::Identity, 192, options);
  Report report = of(box);
  REQUIRE(report.recognised.reduction);
  CHECK(report.recognised.reduction->partition.text() == "d0:* d1:6 d2:16");
  CHECK(report.recognised.reduction->order.text() ==
        "d2 fused(dot.nv(16,25)), d1 chain, d0 fold");
  // Only the tree, and what a step keeps, as for every further variant.
  Options how;
  how.treeOnly = true;
  Report tree = reveal::reveal(box, how);
  CHECK(tree.findings.empty());
  CHECK(tree.fraction == 25);
}

TEST_CASE("of a norm, what cannot be seen is said", "[reveal][probes]") {
  Simulated::Options options;
  options.element = options.output = Format::BF16;
  options.norm = true;
  Simulated box("sweep:* lane:8", "sweep chain, lane halving", Start::Identity,
                50, options);
  Report report = of(box);
  CHECK(finding(report, "start") == "makes no difference");
  CHECK(finding(report, "product") == "exact");
  CHECK(finding(report, "subnormals") == "unknown");
}
