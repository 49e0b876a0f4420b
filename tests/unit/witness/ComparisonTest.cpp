// ComparisonTest.cpp - distances of elements and classes of ulps
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "contracts/diff/TensorComparison.h"
#include "tests/unit/reference/Contracts.h"

#include <catch2/catch.hpp>

using namespace bitpact;
using namespace bitpact::tests;
using diff::Distance;
using diff::Element;

namespace {

Element of(Format format, uint64_t bits) {
  return diff::elementAt(tensorOfBits(format, {1}, {bits}), 0);
}
Distance apart(Format format, uint64_t a, uint64_t b) {
  return diff::distance(of(format, a), of(format, b));
}

} // namespace

TEST_CASE("ulps count the values between, across zero and across formats") {
  CHECK(apart(Format::F32, 0x3f800000, 0x3f800000).kind == Distance::Equal);
  CHECK(apart(Format::F32, 0x3f800000, 0x3f800001).ulps == 1);
  // 2 and the value below it: the exponent differs.
  CHECK(apart(Format::F32, 0x40000000, 0x3fffffff).ulps == 1);
  // The smallest subnormals of both signs: zero lies between.
  CHECK(apart(Format::F32, 0x00000001, 0x80000001).ulps == 2);
  CHECK(apart(Format::BF16, 0x3f80, 0x3f85).ulps == 5);
  CHECK(apart(Format::F32, 0, 0x80000000).kind == Distance::ZeroSign);
  CHECK(apart(Format::F32, 0x7f800000, 0x7f7fffff).kind == Distance::Class);
  CHECK(apart(Format::F32, 0x7fc00000, 0x3f800000).kind == Distance::Class);
  // 1 + 2^-23 in f32 is 1 to bf16, and no bf16.
  Distance below =
      diff::distance(of(Format::F32, 0x3f800001), of(Format::BF16, 0x3f80));
  CHECK(below.kind == Distance::Below);
  // 1 + 2^-7 is one bf16 ulp above 1.
  Distance one =
      diff::distance(of(Format::F32, 0x3f810000), of(Format::BF16, 0x3f80));
  CHECK(one.kind == Distance::Ulps);
  CHECK(one.ulps == 1);
  CHECK(diff::same(of(Format::F32, 0x3f800000), of(Format::BF16, 0x3f80)));
  CHECK(diff::same(of(Format::F32, 0x7fc00000), of(Format::BF16, 0x7fc0)));
  CHECK_FALSE(diff::same(of(Format::F32, 0x80000000), of(Format::BF16, 0)));
}

TEST_CASE("a histogram has classes 1, 2, 3-4, 5-8") {
  Tensor a = tensorOfBits(Format::BF16, {8}, std::vector<uint64_t>(8, 0x3f80));
  Tensor b = tensorOfBits(
      Format::BF16, {8},
      {0x3f80, 0x3f81, 0x3f7f, 0x3f82, 0x3f83, 0x3f84, 0x3f85, 0x7fc0});
  diff::TensorComparison all = diff::compareTensors(a, b);
  CHECK(all.elements == 8);
  CHECK(all.differing == 7);
  CHECK(all.first->coordinate == std::vector<int64_t>{1});
  CHECK(all.histogram.equal == 1);
  CHECK(all.histogram.ulps == std::vector<int64_t>{2, 1, 2, 1});
  CHECK(all.histogram.classChanges == 1);
  CHECK(all.histogram.largest == 5);
  CHECK(diff::UlpHistogram::label(0) == "1");
  CHECK(diff::UlpHistogram::label(1) == "2");
  CHECK(diff::UlpHistogram::label(2) == "3-4");
  CHECK(diff::UlpHistogram::label(3) == "5-8");
}

TEST_CASE("tensors of different extents are compared where both are") {
  Tensor a = tensorOf(Format::F32, {2, 3}, {1, 2, 3, 4, 5, 6});
  Tensor b = tensorOf(Format::F32, {2, 2}, {1, 2, 4, 7});
  diff::TensorComparison all = diff::compareTensors(a, b);
  CHECK(all.elements == 4);
  CHECK(all.differing == 1);
  CHECK(all.first->coordinate == std::vector<int64_t>{1, 1});
  CHECK(diff::firstDifference(a, b)->a.value == 5);
}
