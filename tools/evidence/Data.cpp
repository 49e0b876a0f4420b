// Data.cpp - generated test data: recipes that are the same on every machine
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/evidence/Data.h"

#include "tools/evidence/Elements.h"
#include "tools/evidence/UserError.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <random>
#include <thread>

using bitpact::algebra::Format;
using bitpact::reference::Tensor;

namespace bitpact::evidence {
namespace {

constexpr std::pair<Recipe, std::string_view> recipeNames[] = {
    {Recipe::Normal, "normal"},     {Recipe::Dense, "dense"},
    {Recipe::Wide, "wide"},         {Recipe::Subnormal, "subnormal"},
    {Recipe::Special, "special"},   {Recipe::Zeros, "zeros"},
    {Recipe::Constant, "constant"}, {Recipe::Cancellation, "cancellation"},
};

/// Fewer are not worth a thread.
constexpr int64_t elementsOfThread = 1 << 17;

/// FNV-1a, so that tensors of one seed differ.
uint64_t hashOf(std::string_view text) {
  uint64_t hash = 14695981039346656037ull;
  for (unsigned char c : text)
    hash = (hash ^ c) * 1099511628211ull;
  return hash;
}

/// The standard fixes the generator but no distribution, and libm's log and
/// cos differ between machines: values are made from integers alone.
class Source {
public:
  Source(uint64_t seed, Recipe recipe, std::string_view tensor, uint64_t row) {
    uint64_t name = hashOf(tensor);
    std::seed_seq sequence{
        static_cast<uint32_t>(seed),  static_cast<uint32_t>(seed >> 32),
        static_cast<uint32_t>(name),  static_cast<uint32_t>(name >> 32),
        static_cast<uint32_t>(row),   static_cast<uint32_t>(row >> 32),
        static_cast<uint32_t>(recipe)};
    engine.seed(sequence);
  }
  uint64_t bits() { return engine(); }
  int64_t below(int64_t bound) {
    return static_cast<int64_t>(engine() % static_cast<uint64_t>(bound));
  }
  int between(int low, int high) {
    return low + static_cast<int>(below(high - low + 1));
  }
  double sign() { return engine() & 1 ? -1.0 : 1.0; }
  /// Nearly normal, every bit of a double in use: the sum of four uniform
  /// values on 51-bit steps, variance 1.
  double normal() {
    int64_t sum = 0;
    for (int i = 0; i < 4; ++i)
      sum += static_cast<int64_t>(engine() >> 13) - (1ll << 50);
    return static_cast<double>(sum) * 0x1.bb67ae8584caap-1 * 0x1p-50;
  }

private:
  std::mt19937_64 engine;
};

double roundedTo(Format format, double value) {
  return decode(format, encode(format, value));
}

/// One row (of `shared` tensors: the only one) under construction.
class Row {
public:
  Row(Recipe recipe, Format format, bool shared, int64_t index,
      std::vector<uint64_t> &elements, Source source)
      : recipe(recipe), format(format), facts(factsOf(format)), shared(shared),
        index(index), elements(elements), source(std::move(source)) {}

  void fill() {
    switch (recipe) {
    case Recipe::Normal:
      return each([&] { return roundedTo(Format::BF16, source.normal()); });
    case Recipe::Dense:
      return each([&] { return source.normal(); });
    case Recipe::Wide:
      return wide();
    case Recipe::Subnormal:
      return subnormal();
    case Recipe::Special:
      return special();
    case Recipe::Zeros:
      return zeros();
    case Recipe::Constant: {
      double value = source.normal();
      return each([&] { return value; });
    }
    case Recipe::Cancellation:
      return cancellation();
    }
  }

private:
  template <typename Make> void each(Make make) {
    for (uint64_t &bits : elements)
      bits = encode(format, make());
  }
  int64_t size() const { return static_cast<int64_t>(elements.size()); }
  uint64_t infinity() const {
    return ((1ull << facts.exponentBits) - 1) << facts.fractionBits;
  }
  uint64_t signBit() const {
    return 1ull << (facts.exponentBits + facts.fractionBits);
  }
  uint64_t &anywhere() { return elements[source.below(size())]; }

  void wide() {
    // Two bits of headroom for the normal factor itself.
    int low = std::max(-40, facts.minExponent() + 2);
    int high = std::min(40, facts.maxExponent() - 3);
    each([&] {
      double value = source.normal();
      return std::ldexp(value, source.between(low, high));
    });
  }

  void subnormal() {
    uint64_t fraction = (1ull << facts.fractionBits) - 1;
    for (uint64_t &bits : elements) {
      int64_t kind = source.below(8);
      bits = source.bits() & fraction;
      if (kind == 0)
        bits = 0;
      else if (kind == 1)
        bits |= 1ull << facts.fractionBits;
      else if (kind == 2)
        bits = 1 + static_cast<uint64_t>(source.below(3));
      if (source.bits() & 1)
        bits |= signBit();
    }
  }

  void special() {
    each([&] { return source.normal(); });
    uint64_t quiet = infinity() | 1ull << (facts.fractionBits - 1);
    uint64_t largest = infinity() - 1;
    if (shared) {
      // One column in 61 of a kind; most columns show the rows themselves.
      const uint64_t kinds[] = {
          infinity(), infinity() | signBit(), quiet, largest, 0, signBit()};
      for (int64_t at = 17; at < size(); at += 61)
        elements[at] = kinds[source.below(6)];
      return;
    }
    switch (index % 8) {
    case 0: // A row without, between others: specials must not leak.
      return;
    case 1:
      anywhere() = infinity();
      return;
    case 2:
      anywhere() = infinity() | signBit();
      return;
    case 3:
      anywhere() = infinity();
      anywhere() = infinity() | signBit();
      return;
    case 4: // NaNs: quiet and signalling, of both signs, with payload.
      anywhere() = quiet | 1;
      return;
    case 5:
      anywhere() = infinity() | 1 | (source.bits() & 1 ? signBit() : 0);
      return;
    case 6: // Overflow on the way.
      for (int i = 0; i < 3; ++i)
        anywhere() = largest;
      return;
    default: // The last element, where tails are.
      elements.back() = source.bits() & 1 ? quiet : infinity();
      return;
    }
  }

  void zeros() {
    int64_t kind = shared ? 2 : index % 4;
    for (uint64_t &bits : elements)
      bits = kind == 0 || (kind != 1 && (source.bits() & 1)) ? signBit() : 0;
    if (kind == 3)
      anywhere() = encode(format, source.normal());
    if (shared)
      for (int64_t at = 0; at < size(); at += 2)
        elements[at] = encode(format, source.normal());
  }

  void cancellation() {
    std::vector<double> values;
    for (uint64_t i = 0; i + 1 < elements.size(); i += 2) {
      double value =
          std::ldexp(roundedTo(format, source.normal()), source.between(0, 9));
      values.push_back(value);
      // One pair in eight leaves a remainder.
      values.push_back(source.below(8) ? -value
                                       : -value + source.normal() * 0x1p-9);
    }
    values.resize(elements.size(), 0x1p-10);
    for (int64_t i = size() - 1; i > 0; --i)
      std::swap(values[i], values[source.below(i + 1)]);
    int64_t at = 0;
    each([&] { return values[at++]; });
  }

  Recipe recipe;
  Format format;
  FormatFacts facts;
  bool shared;
  int64_t index;
  std::vector<uint64_t> &elements;
  Source source;
};

} // namespace

const std::vector<Recipe> &allRecipes() {
  static const std::vector<Recipe> recipes = [] {
    std::vector<Recipe> recipes;
    for (const auto &[recipe, name] : recipeNames)
      recipes.push_back(recipe);
    return recipes;
  }();
  return recipes;
}

std::string_view nameOf(Recipe recipe) {
  for (const auto &[one, name] : recipeNames)
    if (one == recipe)
      return name;
  return "";
}

Recipe parseRecipe(std::string_view name) {
  std::vector<std::string_view> names;
  for (const auto &[recipe, one] : recipeNames) {
    if (one == name)
      return recipe;
    names.push_back(one);
  }
  throw UserError(fmt::format("unknown data recipe '{}'; there are {}", name,
                              fmt::join(names, ", ")));
}

Tensor generate(Recipe recipe, uint64_t seed, std::string_view tensorName,
                Format format, const std::vector<int64_t> &shape, bool shared) {
  int64_t width = shape.empty() ? 1 : shape.back(), elements = 1;
  for (int64_t extent : shape)
    elements *= extent;
  int64_t size = algebra::bytes(format);
  Tensor tensor{format, shape, std::vector<uint8_t>(elements * size)};
  const int64_t rows = width ? elements / width : 0;
  auto fill = [&](int64_t from, int64_t to) {
    std::vector<uint64_t> bits(width);
    for (int64_t row = from; row < to; ++row) {
      Row(recipe, format, shared, row, bits,
          Source(seed, recipe, tensorName, static_cast<uint64_t>(row)))
          .fill();
      for (int64_t i = 0; i < width; ++i)
        storeBits(format, tensor.bytes.data() + (row * width + i) * size,
                  bits[i]);
    }
  };
  // Each row has a source of its own.
  int64_t workers =
      std::clamp<int64_t>(elements / elementsOfThread, 1,
                          std::max(1u, std::thread::hardware_concurrency()));
  std::vector<std::thread> threads;
  for (int64_t i = 1; i < workers; ++i)
    threads.emplace_back(fill, rows * i / workers, rows * (i + 1) / workers);
  fill(0, rows / workers);
  for (std::thread &thread : threads)
    thread.join();
  return tensor;
}

} // namespace bitpact::evidence
