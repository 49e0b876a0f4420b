// Places.cpp - where many outputs are compared with the reference evaluator
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/evidence/Places.h"

#include <algorithm>
#include <random>
#include <set>

namespace bitpact::evidence {
namespace {

/// Of warps, lanes and tiles that kernels have.
constexpr int64_t tileLengths[] = {8, 16, 32, 48, 64, 96, 128, 192, 256};
/// Beside both ends of each axis.
constexpr int besideEnds = 8;

} // namespace

std::vector<int64_t> edgesOf(int64_t extent) {
  std::set<int64_t> edges{0, extent - 1};
  for (int64_t length : tileLengths)
    for (int64_t boundary : {length, (extent - 1) / length * length})
      for (int64_t at : {boundary - 1, boundary})
        if (at >= 0 && at < extent)
          edges.insert(at);
  return {edges.begin(), edges.end()};
}

std::vector<Place> choosePlaces(const std::vector<int64_t> &extents,
                                int64_t count, uint64_t seed) {
  int64_t all = 1;
  for (int64_t extent : extents)
    all = std::min(all * extent, int64_t(1) << 40);
  // The standard fixes the generator, but no distribution.
  std::mt19937_64 random(seed);
  auto below = [&](int64_t bound) {
    return static_cast<int64_t>(random() % static_cast<uint64_t>(bound));
  };
  auto anywhere = [&] {
    Place place;
    for (int64_t extent : extents)
      place.push_back(below(extent));
    return place;
  };
  std::set<Place> places;
  if (all <= count) {
    Place place(extents.size());
    for (int64_t number = 0; number < all; ++number) {
      int64_t rest = number;
      for (size_t axis = extents.size(); axis-- > 0; rest /= extents[axis])
        place[axis] = rest % extents[axis];
      places.insert(place);
    }
    return {places.begin(), places.end()};
  }
  for (size_t corner = 0; corner < size_t(1) << extents.size(); ++corner) {
    Place place;
    for (size_t axis = 0; axis < extents.size(); ++axis)
      place.push_back(corner >> axis & 1 ? extents[axis] - 1 : 0);
    places.insert(place);
  }
  for (size_t axis = 0; axis < extents.size(); ++axis) {
    size_t next = (axis + 1) % extents.size();
    std::vector<int64_t> others = edgesOf(extents[next]);
    for (int64_t edge : edgesOf(extents[axis]))
      for (bool beside : {false, true}) {
        Place place = anywhere();
        if (beside)
          place[next] = others[below(static_cast<int64_t>(others.size()))];
        place[axis] = edge;
        places.insert(place);
      }
    for (int64_t end : {int64_t(0), extents[axis] - 1})
      for (int i = 0; i < besideEnds; ++i) {
        Place place = anywhere();
        place[axis] = end;
        places.insert(place);
      }
  }
  while (static_cast<int64_t>(places.size()) < count)
    places.insert(anywhere());
  return {places.begin(), places.end()};
}

} // namespace bitpact::evidence
