// PartitionTest.cpp - digits: syntax, lengths, ragged ends, PI1-PI7
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "contracts/algebra/Partition.h"
#include "contracts/algebra/Format.h"
#include "tests/unit/algebra/ExpectRule.h"

using namespace bitpact::algebra;
using Numbers = std::vector<int64_t>;

static void refuses(const std::string &rule, const std::string &text,
                    const std::string &partition) {
  expectRule(rule, text, [&] { Partition::parse(partition); });
}

static void refuses(const std::string &rule, const std::string &text,
                    const std::string &partition, int64_t extent) {
  Partition parsed = Partition::parse(partition);
  expectRule(rule, text, [&] { parsed.resolve(extent); });
}

TEST_CASE("a partition's text is canonical") {
  Partition a = Partition::parse("  sweep:*\tlane:0512  pack:8 ");
  CHECK(a.text() == "sweep:* lane:512 pack:8");
  CHECK(a == Partition::parse("sweep:* lane:512 pack:8"));
  CHECK_FALSE(a == Partition::parse("sweep:* lane:512 pack:4"));
  CHECK(a.renamed().text() == "d0:* d1:512 d2:8");
  CHECK(Partition::parse("rank:8@18992 t:*@128 c:128").text() ==
        "rank:8@18992 t:*@128 c:128");
  CHECK(Partition::parse("seq:@offsets k:*").text() == "seq:@offsets k:*");
  CHECK(a.find("lane") == 1);
  CHECK_FALSE(a.find("warp").has_value());
  CHECK_FALSE(a.offsetsDigit().has_value());
  CHECK(Partition::parse("r:2@64 seq:@offsets k:*").offsetsDigit() == 1);
}

TEST_CASE("lengths are products of what is to the right") {
  Partition p = Partition::parse("sweep:* warp:16 lane:32 pack:8");
  CHECK(p.length(3) == 1);
  CHECK(p.length(2) == 8);
  CHECK(p.length(1) == 256);
  CHECK(p.length(0) == 4096);
  CHECK_FALSE(p.capacity().has_value());
  // 12288 = 3 * 4096; one element more takes a fourth block.
  CHECK(p.resolve(12288) ==
        std::vector<ResolvedDigit>{{3, 4096}, {16, 256}, {32, 8}, {8, 1}});
  CHECK(p.resolve(12289)[0].radix == 4);
  CHECK(p.resolve(1)[0].radix == 1);
  CHECK(Partition::parse("lane:4 pack:8").capacity() == 32);
  // Left of a stated length the product goes on: 4 blocks of 100.
  CHECK(Partition::parse("a:2 b:4@100 t:* c:8").length(0) == 400);
}

TEST_CASE("a stated length cuts a vocabulary over ranks") {
  Partition p = Partition::parse("rank:8@18992 tile:* col:128");
  // 18992 = 148 * 128 + 48: every rank has 149 tiles, its last with 48.
  CHECK(p.resolve(151936) ==
        std::vector<ResolvedDigit>{{8, 18992}, {149, 128}, {128, 1}});
  CHECK(p.digitsOf(18991) == Numbers{0, 148, 47});
  CHECK(p.digitsOf(18992) == Numbers{1, 0, 0});
  CHECK(p.digitsOf(151935) == Numbers{7, 148, 47});
  CHECK(p.digitsOf(18992 + 128) == Numbers{1, 1, 0});
}

TEST_CASE("a * digit stands anywhere") {
  CHECK(Partition::parse("k:*").resolve(7) ==
        std::vector<ResolvedDigit>{{7, 1}});
  CHECK(Partition::parse("a:3@5 k:*").resolve(11) ==
        std::vector<ResolvedDigit>{{3, 5}, {5, 1}});
  CHECK(Partition::parse("a:2@6 b:* c:4").resolve(12)[1].radix == 2);
  CHECK(Partition::parse("a:*@100 c:128").resolve(250) ==
        std::vector<ResolvedDigit>{{3, 100}, {128, 1}});
  CHECK(Partition::parse("a:*@100 c:128").digitsOf(199) == Numbers{1, 99});
}

TEST_CASE("offsets are absolute, and clipped to the block that contains them") {
  Partition p = Partition::parse("seq:@offsets tile:* k:2");
  Numbers offsets{0, 3, 3, 8};
  CHECK(p.digitsOf(2, offsets) == Numbers{0, 1, 0});
  // Block 1 is empty: position 3 is the first of block 2.
  CHECK(p.digitsOf(3, offsets) == Numbers{2, 0, 0});
  CHECK(p.digitsOf(7, offsets) == Numbers{2, 2, 0});
  CHECK(p.resolve(8)[1].radix == 4); // the longest block there may be
  Partition inner = Partition::parse("r:2@4 seq:@offsets k:*");
  // Block 2 is cut by the rank: in rank 1 it begins at 4.
  CHECK(inner.digitsOf(3, offsets) == Numbers{0, 2, 0});
  CHECK(inner.digitsOf(5, offsets) == Numbers{1, 2, 1});
  CHECK_NOTHROW(checkOffsets(offsets, 8));
  CHECK_THROWS_WITH(checkOffsets({0, 4, 3, 8}, 8),
                    "offsets must ascend from 0 to the extent 8");
  CHECK_THROWS_AS(checkOffsets({1, 8}, 8), std::invalid_argument);
  CHECK_THROWS_AS(checkOffsets({0, 7}, 8), std::invalid_argument);
  CHECK_THROWS_AS(checkOffsets({0}, 0), std::invalid_argument);
}

TEST_CASE("PI1: syntax of a digit") {
  refuses("PI1", "the partition has no digit", "");
  refuses("PI1", "the partition has no digit", "   ");
  refuses("PI1", "digit 'pack': there is no ':'", "pack");
  refuses("PI1", "'8' is no name", "8:8");
  refuses("PI1", "'' is no name", ":8");
  refuses("PI1", "the radix is missing", "pack:");
  refuses("PI1", "the radix '-8' is not a decimal number", "pack:-8");
  refuses("PI1", "the radix '8x' is not a decimal number", "pack:8x");
  refuses("PI1", "the length is missing", "pack:8@");
  refuses("PI1", "the length 'offset' is not a decimal number",
          "pack:8@offset");
  refuses("PI1", "name:radix@length", "pack:@");
}

TEST_CASE("PI2 to PI4, PI7: digits of one partition") {
  refuses("PI2", "two digits are named 'a'", "a:* a:8");
  refuses("PI3", "'a' and 'b' both have the radix *", "a:*@8 b:*");
  refuses("PI4", "digit 'a:2' needs a length, a:2@length", "a:2 b:* c:8");
  refuses("PI4", "digit 'a:2' needs a length", "a:2 b:@offsets c:*");
  refuses("PI7", "'a' and 'b' both are cut at @offsets",
          "a:@offsets b:@offsets k:*");
  CHECK_NOTHROW(Partition::parse("a:@offsets b:* c:8"));
}

TEST_CASE("PI5, D3: digits cover the extent") {
  refuses("PI5",
          "the digits 'lane:4 pack:8' cover 32 elements, the extent is "
          "33",
          "lane:4 pack:8", 33);
  CHECK_NOTHROW(Partition::parse("lane:4 pack:8").validate(32));
  refuses("PI5",
          "digit 'k:8' covers 8 elements, a block of 'seq:@offsets' may "
          "have 9",
          "seq:@offsets k:8", 9);
  refuses("PI5", "cover 151928 elements, the extent is 151936",
          "rank:8@18991 tile:* col:128", 151936);
  refuses("D3", "the extent is 0, it must be positive", "k:*", 0);
  refuses("D3", "the extent is -4", "k:*", -4);
}

TEST_CASE("PI6: positive numbers that cover the block to the left") {
  refuses("PI6", "digit 'a:0': the radix is 0", "a:0");
  refuses("PI6", "the length is 0", "a:2@0 k:*");
  refuses("PI6",
          "digit 'tile:64' covers 8192 elements of a block of 18992 of "
          "digit 'rank:8@18992'",
          "rank:8@18992 tile:64 col:128");
  refuses("PI6", "the last digit, 'a:2@4', must have blocks of one element",
          "a:2@4");
  refuses("PI6", "the last digit", "a:@offsets");
  refuses("PI6", "the radix is above 2^62", "a:99999999999999999999");
  refuses("PI6", "the radix is above 2^62", "a:4611686018427387905");
  CHECK(Partition::parse("a:4611686018427387904").size() == 1);
  // Lengths that overflow are more than any axis has, not a wrong number.
  Partition huge = Partition::parse(
      "a:4000000000000000000 b:4000000000000000000 c:4000000000000000000");
  CHECK(huge.resolve(5)[2].length == 1);
  CHECK(huge.digitsOf(4) == Numbers{0, 0, 4});
}

TEST_CASE("formats contain each other exactly") {
  auto in = [](const char *from, const char *to) {
    return widensExactly(*parseFormat(from), *parseFormat(to));
  };
  CHECK(in("bf16", "f32"));
  CHECK(in("f16", "f32"));
  CHECK(in("bf16", "f64"));
  CHECK(in("f32", "f64"));
  CHECK(in("f16", "f16"));
  CHECK_FALSE(in("bf16", "f16")); // 2^100
  CHECK_FALSE(in("f16", "bf16")); // 1 + 2^-10
  CHECK_FALSE(in("f32", "bf16"));
  CHECK_FALSE(in("f64", "f32"));
  CHECK_FALSE(in("i32", "f64"));
  CHECK(bits(Format::F16) == 16);
  CHECK(bytes(Format::F64) == 8);
  CHECK(precision(Format::BF16) == 8);
  CHECK(name(Format::I32) == "i32");
  CHECK_FALSE(parseFormat("fp8").has_value());
  CHECK(floatFormatNames() == "bf16 f16 f32 f64");
}
