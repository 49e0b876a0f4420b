// SweepRangeTest.cpp - ranges of extents, as they are typed
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/evidence/reveal/SweepRange.h"
#include "tools/evidence/UserError.h"

#include <catch2/catch.hpp>

using namespace bitpact::reveal;
using Catch::Contains;
using Extents = std::vector<int64_t>;

TEST_CASE("ranges, lists and strides", "[sweep]") {
  SweepRange range = parseSweep("tokens=1..5");
  CHECK(range.dim == "tokens");
  CHECK(range.extents == Extents{1, 2, 3, 4, 5});
  CHECK(parseSweep("n=7,1,7,3").extents == Extents{1, 3, 7});
  // The last extent of a range is always asked.
  CHECK(parseSweep("n=1..10:4").extents == Extents{1, 5, 9, 10});
  CHECK(parseSweep("n=1..10,64", 4).extents == Extents{1, 5, 9, 10, 64});
  CHECK(parseSweep("n=1..3,2..4").extents == Extents{1, 2, 3, 4});
  CHECK_THROWS_WITH(parseSweep("1..5"), Contains("DIM=FIRST..LAST"));
  CHECK_THROWS_WITH(parseSweep("n=5..1"), Contains("5..1 is empty"));
  CHECK_THROWS_WITH(parseSweep("n=0..1"), Contains("an extent in 1"));
  CHECK_THROWS_WITH(parseSweep("n=1..2x"), Contains("'x' is left over"));
  CHECK_THROWS_WITH(parseSweep("n=1..2000000"), Contains("more than 1048576"));
  CHECK_THROWS_WITH(parseSweep("n=1..2000000:2000001,1..2000000"),
                    Contains("more than 1048576"));
  CHECK_THROWS_WITH(parseSweep("n=1..2", 0), Contains("0 is below 1"));
}
