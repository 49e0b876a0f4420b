// DataTest.cpp - the data recipes have the properties they claim
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/evidence/Data.h"
#include "tools/evidence/Elements.h"
#include "tools/evidence/UserError.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <numeric>
#include <set>

using namespace bitpact::evidence;
using bitpact::algebra::Format;
using bitpact::reference::Tensor;

namespace {

const Format floats[] = {Format::BF16, Format::F16, Format::F32, Format::F64};

std::vector<uint64_t> bitsOf(const Tensor &tensor) {
  int64_t width = bitpact::algebra::bytes(tensor.format);
  std::vector<uint64_t> bits;
  for (size_t at = 0; at < tensor.bytes.size(); at += width)
    bits.push_back(loadBits(tensor.format, &tensor.bytes[at]));
  return bits;
}

std::vector<double> valuesOf(const Tensor &tensor) {
  std::vector<double> values;
  for (uint64_t bits : bitsOf(tensor))
    values.push_back(decode(tensor.format, bits));
  return values;
}

Tensor rows(Recipe recipe, Format format, int64_t count, int64_t width) {
  return generate(recipe, 7, "x", format, {count, width}, false);
}

std::vector<double> row(const std::vector<double> &all, int64_t index,
                        int64_t width) {
  return {all.begin() + index * width, all.begin() + (index + 1) * width};
}

} // namespace

TEST_CASE("seed, tensor and recipe decide; nothing else does") {
  for (Recipe recipe : allRecipes())
    for (Format format : floats) {
      INFO(nameOf(recipe));
      Tensor tensor = rows(recipe, format, 9, 33);
      CHECK(rows(recipe, format, 9, 33) == tensor);
      // Fewer rows are a prefix.
      Tensor fewer = rows(recipe, format, 4, 33);
      CHECK(std::equal(fewer.bytes.begin(), fewer.bytes.end(),
                       tensor.bytes.begin()));
      if (recipe == Recipe::Zeros)
        continue;
      CHECK_FALSE(generate(recipe, 8, "x", format, {9, 33}, false) == tensor);
      CHECK_FALSE(generate(recipe, 7, "w", format, {9, 33}, false) == tensor);
    }
}

TEST_CASE("the generator's bytes are fixed") {
  // std::mt19937_64 seeded by std::seed_seq is the same everywhere; so are
  // four draws of it, added as integers and scaled.
  auto values = valuesOf(rows(Recipe::Dense, Format::F64, 1, 1000));
  double mean = std::accumulate(values.begin(), values.end(), 0.0) / 1000;
  double square = 0;
  for (double value : values) {
    square += value * value / 1000;
    CHECK(std::fabs(value) <= 4 * 0x1.bb67ae8584caap-1);
  }
  CHECK(std::fabs(mean) < 0.1);
  CHECK(square == Approx(1).margin(0.15));
}

TEST_CASE("normal values are held by bf16, dense ones are not") {
  auto inBf16 = [](double value) {
    return decode(Format::BF16, encode(Format::BF16, value)) == value;
  };
  int dense = 0;
  for (double value : valuesOf(rows(Recipe::Normal, Format::F32, 4, 100)))
    CHECK(inBf16(value));
  for (double value : valuesOf(rows(Recipe::Dense, Format::F32, 4, 100)))
    dense += !inBf16(value);
  CHECK(dense > 380);
}

TEST_CASE("wide values are finite and span many powers of two") {
  for (Format format : floats) {
    int least = 10000, most = -10000;
    for (double value : valuesOf(rows(Recipe::Wide, format, 4, 1000))) {
      REQUIRE(std::isfinite(value));
      if (value == 0)
        continue;
      least = std::min(least, std::ilogb(value));
      most = std::max(most, std::ilogb(value));
    }
    CHECK(most - least >= (format == Format::F16 ? 20 : 75));
    CHECK(most <= 42);
  }
}

TEST_CASE("subnormal values are, nearly all, and of both signs") {
  for (Format format : floats) {
    int subnormal = 0, zero = 0, negative = 0;
    auto values = valuesOf(rows(Recipe::Subnormal, format, 4, 256));
    double smallest = std::ldexp(1.0, factsOf(format).minExponent());
    for (double value : values) {
      CHECK(std::fabs(value) < 2 * smallest);
      subnormal += value != 0 && std::fabs(value) < smallest;
      zero += value == 0;
      negative += std::signbit(value);
    }
    CHECK(subnormal > 700);
    CHECK(zero > 50);
    CHECK(negative > 400);
  }
}

TEST_CASE("special rows hold NaN, Inf of both signs, largest values, or none") {
  for (Format format : floats) {
    int nan = 0, positive = 0, negative = 0, both = 0, plain = 0;
    auto all = valuesOf(rows(Recipe::Special, format, 64, 40));
    for (int64_t r = 0; r < 64; ++r) {
      bool hasNan = false, up = false, down = false;
      for (double value : row(all, r, 40)) {
        hasNan |= std::isnan(value);
        up |= value == HUGE_VAL;
        down |= value == -HUGE_VAL;
      }
      nan += hasNan;
      both += up && down;
      positive += up && !down;
      negative += down && !up;
      plain += !hasNan && !up && !down;
    }
    CHECK(nan >= 16);
    CHECK(positive >= 8);
    CHECK(negative >= 8);
    CHECK(both >= 4);
    CHECK(plain >= 8);
    // Signalling and quiet NaNs, with payloads.
    std::set<uint64_t> patterns;
    auto bits = bitsOf(rows(Recipe::Special, format, 64, 40));
    for (size_t i = 0; i < bits.size(); ++i)
      if (std::isnan(all[i]))
        patterns.insert(bits[i]);
    CHECK(patterns.size() >= 3);
    // A weight keeps most of its columns.
    int finite = 0;
    for (double value :
         valuesOf(generate(Recipe::Special, 7, "w", format, {610}, true)))
      finite += std::isfinite(value);
    CHECK(finite >= 600);
    CHECK(finite < 610);
  }
}

TEST_CASE("rows of -0, of +0, of both, and with one element") {
  auto all = valuesOf(rows(Recipe::Zeros, Format::F32, 8, 50));
  auto negatives = [](const std::vector<double> &values) {
    int64_t count = 0;
    for (double value : values)
      count += std::signbit(value);
    return count;
  };
  auto nonzero = [](const std::vector<double> &values) {
    int64_t count = 0;
    for (double value : values)
      count += value != 0;
    return count;
  };
  CHECK(negatives(row(all, 0, 50)) == 50);
  CHECK(negatives(row(all, 1, 50)) == 0);
  CHECK(negatives(row(all, 2, 50)) > 5);
  CHECK(negatives(row(all, 2, 50)) < 45);
  for (int64_t r : {0, 1, 2})
    CHECK(nonzero(row(all, r, 50)) == 0);
  CHECK(nonzero(row(all, 3, 50)) == 1);
}

TEST_CASE("constant rows are constant, and differ from each other") {
  auto all = valuesOf(rows(Recipe::Constant, Format::F32, 3, 20));
  std::set<double> constants;
  for (int64_t r = 0; r < 3; ++r) {
    auto values = row(all, r, 20);
    constants.insert(values[0]);
    CHECK(std::set<double>(values.begin(), values.end()).size() == 1);
  }
  CHECK(constants.size() == 3);
}

TEST_CASE("cancelling rows sum to far less than they hold") {
  auto all = valuesOf(rows(Recipe::Cancellation, Format::F32, 8, 1000));
  for (int64_t r = 0; r < 8; ++r) {
    double sum = 0, magnitude = 0;
    for (double value : row(all, r, 1000)) {
      sum += value;
      magnitude += std::fabs(value);
    }
    CHECK(std::fabs(sum) < magnitude * 1e-3);
    CHECK(sum != 0);
  }
}

TEST_CASE("an unknown recipe is answered with the known ones") {
  CHECK(parseRecipe("wide") == Recipe::Wide);
  CHECK_THROWS_WITH(parseRecipe("nice"),
                    Catch::Contains("unknown data recipe 'nice'; there are "
                                    "normal, dense, wide"));
}
