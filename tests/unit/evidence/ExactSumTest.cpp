// ExactSumTest.cpp - sums and differences without a rounding
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/evidence/ExactSum.h"
#include "tools/evidence/SpillSort.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <random>

using namespace bitpact::evidence;

TEST_CASE("what a double sum loses is kept") {
  ExactSum sum;
  bool exact = false;
  CHECK(sum.isZero());
  CHECK(sum.rounded(exact) == 0);
  for (double value : {0x1p1000, 1.0, -0x1p1000, 0x1p-1074})
    sum.add(value);
  CHECK(sum.rounded(exact) == 1);
  CHECK_FALSE(exact);
  sum.subtract(1);
  CHECK(sum.rounded(exact) == 0x1p-1074);
  CHECK(exact);
  sum.subtract(0x1p-1073);
  CHECK(sum.rounded(exact) == -0x1p-1074);
  sum.add(0x1p-1074);
  CHECK(sum.isZero());
}

TEST_CASE("rounded to nearest, ties to even") {
  auto of = [](std::initializer_list<double> values) {
    ExactSum sum;
    for (double value : values)
      sum.add(value);
    bool exact;
    return sum.rounded(exact);
  };
  CHECK(of({1, 0x1p-53}) == 1);
  CHECK(of({1, 0x1p-53, 0x1p-1074}) == 1 + 0x1p-52);
  CHECK(of({1 + 0x1p-52, 0x1p-53}) == 1 + 0x1p-51);
  CHECK(of({-1, -0x1p-53, -0x1p-1074}) == -1 - 0x1p-52);
  double most = std::numeric_limits<double>::max();
  CHECK(of({most, most}) == std::numeric_limits<double>::infinity());
  CHECK(of({most, most, -most}) == most);
  CHECK(of({0x1p-1022, -0x1p-1074}) == 0x1p-1022 - 0x1p-1074);
}

TEST_CASE("sums of sums, in any order") {
  std::mt19937_64 random(1);
  auto draw = [&] {
    return std::ldexp(double(int64_t(random())), int(random() % 200) - 100);
  };
  ExactSum all, parts[3], backwards;
  std::vector<double> values(3000);
  for (double &value : values)
    value = draw();
  for (size_t i = 0; i < values.size(); ++i) {
    all.add(values[i]);
    parts[i % 3].add(values[i]);
    backwards.subtract(values[values.size() - 1 - i]);
  }
  ExactSum together;
  for (const ExactSum &part : parts)
    together.add(part);
  CHECK(together == all);
  together.add(backwards);
  CHECK(together.isZero());
  together.add(0x1p-1074);
  CHECK_FALSE(together.isZero());
}

TEST_CASE("a difference that one double does not hold") {
  ExactDifference one(1, 0x1p-80), same(0.1, 0.1), other(1, 0x1p-81);
  CHECK(one.high == 1);
  CHECK(one.low == -0x1p-80);
  CHECK(same.isZero());
  CHECK(other.larger(one));
  CHECK_FALSE(one.larger(other));
  CHECK(ExactDifference(-3, 0).larger(ExactDifference(2, 0)));
}

TEST_CASE("sorting in pieces is sorting") {
  struct Item {
    int value;
    bool operator<(const Item &other) const { return value < other.value; }
  };
  std::mt19937 random(2);
  for (size_t count : {0, 1, 7, 8, 1000}) {
    SpillSort<Item> whole(5000), pieces(7);
    for (size_t i = 0; i < count; ++i) {
      Item item{int(random() % 500)};
      whole.add(item);
      pieces.add(item);
    }
    CHECK(pieces.pieces() == count / 7);
    CHECK(whole.pieces() == 0);
    whole.sort();
    pieces.sort();
    Item a, b;
    size_t seen = 0;
    int last = -1;
    while (pieces.next(a)) {
      REQUIRE(whole.next(b));
      CHECK(a.value == b.value);
      CHECK(a.value >= last);
      last = a.value;
      ++seen;
    }
    CHECK_FALSE(whole.next(b));
    CHECK(seen == count);
  }
}
