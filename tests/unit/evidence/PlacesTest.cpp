// PlacesTest.cpp - chosen outputs hold every edge of every axis
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/evidence/Places.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <set>

using namespace bitpact::evidence;

TEST_CASE("edges are ends and both sides of boundaries") {
  CHECK(edgesOf(1) == std::vector<int64_t>{0});
  CHECK(edgesOf(9) == std::vector<int64_t>{0, 7, 8});
  std::vector<int64_t> edges = edgesOf(520);
  for (int64_t edge : {0, 7, 8, 63, 64, 127, 128, 255, 256, 511, 512, 519})
    CHECK(std::count(edges.begin(), edges.end(), edge) == 1);
  CHECK(std::count(edges.begin(), edges.end(), 300) == 0);
}

TEST_CASE("few places are all of them") {
  CHECK(choosePlaces({2, 3}, 256, 1) ==
        std::vector<Place>{{0, 0}, {0, 1}, {0, 2}, {1, 0}, {1, 1}, {1, 2}});
}

TEST_CASE("many places hold corners, edges and ends, and depend on the seed") {
  const std::vector<int64_t> extents{4096, 6144};
  std::vector<Place> places = choosePlaces(extents, 256, 1);
  CHECK(places.size() >= 256);
  CHECK(std::set<Place>(places.begin(), places.end()).size() == places.size());
  auto has = [&](const Place &place) {
    return std::binary_search(places.begin(), places.end(), place);
  };
  for (int64_t row : {0, 4095})
    for (int64_t column : {0, 6143})
      CHECK(has({row, column}));
  for (size_t axis : {0, 1})
    for (int64_t edge : edgesOf(extents[axis])) {
      auto at = [&](const Place &place) { return place[axis] == edge; };
      bool end = edge == 0 || edge + 1 == extents[axis];
      CHECK(std::count_if(places.begin(), places.end(), at) >= (end ? 8 : 1));
    }
  for (const Place &place : places)
    CHECK(
        (place[0] >= 0 && place[0] < 4096 && place[1] >= 0 && place[1] < 6144));
  CHECK(places == choosePlaces(extents, 256, 1));
  CHECK(places != choosePlaces(extents, 256, 2));
  CHECK(choosePlaces(extents, 4096, 1).size() == 4096);
}
