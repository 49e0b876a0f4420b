// MergeOrderTest.cpp - merge orders: syntax and T1-T8
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "contracts/algebra/MergeOrder.h"
#include "tests/unit/algebra/ExpectRule.h"

using namespace bitpact::algebra;

static void refuses(const std::string &rule, const std::string &text,
                    const std::string &entry) {
  expectRule(rule, text, [&] { MergeEntry::parse(entry); });
}

static void refuses(const std::string &rule, const std::string &text,
                    const std::string &partition, const std::string &order,
                    ReductionKind kind = ReductionKind::Sum,
                    Start start = Start::Identity) {
  Partition p = Partition::parse(partition);
  MergeOrder t = MergeOrder::parse(order);
  expectRule(rule, text, [&] { t.validate(p, kind, start); });
}

static void accepts(const std::string &partition, const std::string &order,
                    ReductionKind kind = ReductionKind::Sum,
                    Start start = Start::Identity) {
  CHECK_NOTHROW(MergeOrder::parse(order).validate(Partition::parse(partition),
                                                  kind, start));
}

TEST_CASE("a merge order's text is canonical") {
  MergeOrder t = MergeOrder::parse(
      std::vector<std::string>{" k  fused( dot.nv( 16, 25 ) )", "step chain",
                               "lane  halving from bf16  in f32"});
  CHECK(t.text() ==
        "k fused(dot.nv(16,25)), step chain, lane halving from bf16 in f32");
  // A comma inside an atom does not end an entry.
  CHECK(MergeOrder::parse(t.text()) == t);
  CHECK(t.texts()[2] == "lane halving from bf16 in f32");
  CHECK_FALSE(t == MergeOrder::parse("k chain, step chain, lane halving"));

  const std::vector<MergeEntry> &entries = t.entries();
  REQUIRE(entries.size() == 3);
  CHECK(entries[0].form == Form::Fused);
  CHECK(entries[0].atom->terms == 16);
  CHECK(entries[0].atom->fraction == 25);
  CHECK(entries[2].from == Format::BF16);
  CHECK(entries[2].in == Format::F32);
  CHECK_FALSE(entries[1].from.has_value());
  CHECK(MergeEntry::parse("a fold in bf16").text() == "a fold in bf16");
  CHECK(MergeEntry::parse("a any").form == Form::Any);
  CHECK(MergeEntry::parse("a pairwise from f16").from == Format::F16);
}

TEST_CASE("binding gives digit indices") {
  Partition p = Partition::parse("sweep:* lane:512 pack:8");
  MergeOrder t = MergeOrder::parse("pack chain, sweep chain, lane halving");
  std::vector<BoundMerge> bound = t.bind(p);
  REQUIRE(bound.size() == 3);
  CHECK(bound[0].digit == 2);
  CHECK(bound[1].digit == 0);
  CHECK(bound[2].digit == 1);
  CHECK(accumulatorEntries(bound) == 2);
  CHECK(t.renamed(p).text() == "d2 chain, d0 chain, d1 halving");
  CHECK(accumulatorEntries(
            MergeOrder::parse("pack fold, lane fold, sweep fold").bind(p)) ==
        0);
}

TEST_CASE("names of kinds, starts and forms") {
  CHECK(name(ReductionKind::Dot) == "dot");
  CHECK(parseReductionKind("max") == ReductionKind::Max);
  CHECK_FALSE(parseReductionKind("mean").has_value());
  CHECK(operandCount(ReductionKind::Dot) == 2);
  CHECK(operandCount(ReductionKind::Sum) == 1);
  CHECK(parseStart("first") == Start::First);
  CHECK(name(Start::Identity) == "identity");
  CHECK_FALSE(parseStart("zero").has_value());
  CHECK(name(Form::Pairwise) == "pairwise");
}

TEST_CASE("T8, P1, A2: syntax of a merge") {
  refuses("T8", "merge 'pack': it has no form", "pack");
  refuses("T8", "'tree' is no form", "pack tree");
  refuses("T8", "chain carry fold pairwise halving fused(atom) any",
          "pack tree");
  refuses("T8", "'chain' takes no argument", "pack chain(2)");
  refuses("T8", "fused names its atom", "k fused");
  refuses("T8", "'dot.nv' is no atom", "k fused(dot.nv)");
  refuses("T8", "the number of terms must be from 1 to 64",
          "k fused(dot.nv(0,25))");
  refuses("T8", "the number of fraction bits must be from 8 to 48",
          "k fused(dot.nv(16))");
  refuses("T8", "the number of fraction bits", "k fused(dot.nv(16,25x))");
  refuses("A2", "there is no atom 'dot.tpu'; there are: dot.nv(terms,fraction bits) "
                "and dot.cdna3",
          "k fused(dot.tpu(16,25))");
  refuses("T8", "dot.cdna3 takes no argument", "k fused(dot.cdna3(8))");
  refuses("T8", "'from' has no format", "lane fold from");
  refuses("T8", "'from' is out of place", "lane fold in f32 from bf16");
  refuses("T8", "'f32' is out of place", "lane fold f32");
  refuses("T8", "'chain' takes elements through the step primitive",
          "lane chain in bf16");
  refuses("T8", "'fused' takes elements", "k fused(dot.nv(16,25)) from f32");
  refuses("P1", "unknown format 'fp8'; formats are bf16 f16 f32 f64",
          "lane fold in fp8");
  refuses("P1", "unknown format 'i32'", "lane fold in i32");
  expectRule("T8", "merge '': it has no form", [] { MergeOrder::parse(""); });
}

TEST_CASE("T1: every digit is merged exactly once") {
  refuses("T1", "there is no digit 'warp' in 'lane:4 pack:8'", "lane:4 pack:8",
          "pack chain, warp fold");
  refuses("T1", "digit 'pack' is merged twice", "lane:4 pack:8",
          "pack chain, pack fold, lane fold");
  refuses("T1", "digit 'lane' is never merged", "lane:4 pack:8", "pack chain");
}

TEST_CASE("T2, T3: radices that a form admits") {
  refuses("T2",
          "merge 'a halving' of digit 'a:6': the radix 6 is no power of "
          "two",
          "a:6", "a halving");
  accepts("a:1", "a halving");
  accepts("a:4096", "a halving");
  refuses("T3", "admits chain, carry, fold, pairwise, any", "a:* b:8",
          "b chain, a halving");
  refuses("T3", "merge 'k fused(dot.nv(16,25))' of digit 'k:*'", "k:*",
          "k fused(dot.nv(16,25))", ReductionKind::Dot);
  refuses("T3", "digit 's:@offsets'", "s:@offsets k:*", "k chain, s halving");
  accepts("a:* b:8", "b chain, a pairwise");
  accepts("a:* b:8", "b chain, a fold");
  accepts("a:* b:8", "b chain, a any", ReductionKind::Max);
}

TEST_CASE("T4: any is for exact merges") {
  refuses("T4", "the merge of a sum rounds", "a:4 b:4", "b chain, a any");
  refuses("T4", "the merge of a dot rounds", "a:4 b:4", "b any, a any",
          ReductionKind::Dot);
  accepts("a:4 b:4", "b any, a any", ReductionKind::Max);
}

TEST_CASE("T5: a chain takes elements") {
  refuses("T5",
          "merge 'a chain' of digit 'a:4': a chain takes elements, below "
          "it is pairwise; over partials write fold",
          "a:4 b:4", "b pairwise, a chain");
  refuses("T5", "below it is fold", "a:4 b:4 c:4", "c chain, b fold, a chain");
  accepts("a:4 b:4", "b chain, a chain");
  accepts("a:4 b:4", "a chain, b fold");
  accepts("s:* k:16", "k fused(dot.nv(16,25)), s chain", ReductionKind::Dot);
  accepts("s:* k:8", "k fused(dot.cdna3), s chain", ReductionKind::Dot);
}

TEST_CASE("T6, T7: where an atom fits") {
  const std::string atom = "fused(dot.nv(16,25))";
  refuses("T6", "fused must be the first merge", "s:4 k:16",
          "s chain, k " + atom, ReductionKind::Dot);
  refuses("T6", "fused must merge single elements, its blocks have 16",
          "s:4 k:16", "s " + atom + ", k chain", ReductionKind::Dot);
  refuses("T6", "the radix 32 is above the 16 terms of the atom", "s:* k:32",
          "k " + atom + ", s chain", ReductionKind::Dot);
  refuses("T6", "an atom takes products, this is a sum", "s:* k:16",
          "k " + atom + ", s chain");
  refuses("T7", "the start is first, an atom needs identity", "s:* k:16",
          "k " + atom + ", s chain", ReductionKind::Dot, Start::First);
  accepts("s:* k:8", "k " + atom + ", s chain", ReductionKind::Dot);
  accepts("s:* k:16", "k " + atom + ", s fold", ReductionKind::Dot);
}
