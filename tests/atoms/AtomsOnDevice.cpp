// AtomsOnDevice.cpp - bitpact_atoms: dot.nv beside a GPU's matrix units
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "contracts/reference/DotAtom.h"
#include "tests/atoms/Steps.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <random>
#include <string>
#include <thread>
#include <vector>

using namespace bitpact::tests;
using bitpact::algebra::Atom;
using bitpact::algebra::Format;
using bitpact::reference::dotStep;

namespace {

constexpr const char *instructionNames[] = {
    "mma.sync m16n8k16", "mma.sync m16n8k8, twice", "wgmma, shared A",
    "wgmma, register A", "wgmma, transposed B",     "wgmma, transposed A, B"};
constexpr const char *kindNames[] = {"normal", "wide", "special", "subnormal",
                                     "cancelling"};

double decode(Format format, uint16_t bits) {
  if (format == Format::BF16)
    return std::bit_cast<float>(uint32_t(bits) << 16);
  int exponent = bits >> 10 & 31;
  double magnitude = exponent == 31 ? (bits & 1023 ? NAN : INFINITY)
                     : exponent == 0
                         ? std::ldexp(bits & 1023, -24)
                         : std::ldexp((bits & 1023) + 1024, exponent - 25);
  return bits >> 15 ? -magnitude : magnitude;
}

/// Truncates: the data only has to be spread, not rounded.
uint16_t encode(Format format, double value) {
  if (format == Format::BF16)
    return std::bit_cast<uint32_t>(static_cast<float>(value)) >> 16;
  uint16_t sign = std::signbit(value) ? 0x8000 : 0;
  double magnitude = std::fabs(value);
  if (magnitude >= 65504)
    return sign | 0x7bff;
  if (magnitude < 0x1p-14)
    return sign | static_cast<uint16_t>(std::ldexp(magnitude, 24));
  int exponent = std::ilogb(magnitude);
  return sign | (exponent + 15) << 10 |
         (static_cast<uint16_t>(std::ldexp(magnitude, 10 - exponent)) & 1023);
}

class Generator {
public:
  Generator(Format format, int kind, uint64_t seed)
      : format(format), kind(kind), random(seed) {}

  uint16_t element() {
    bool half = format == Format::F16;
    switch (kind) {
    case 0:
      return encode(format, normal(random));
    case 1:
      return encode(format,
                    std::ldexp(normal(random), int(random() % 24) - 12));
    case 2: // every pattern of bits, many of them not finite
      if (random() % 4)
        return encode(format, normal(random));
      return random() % 3 ? static_cast<uint16_t>(random())
                          : (half ? 0x7c00 : 0x7f80) | (random() % 2) << 15 |
                                (random() % 4 == 0);
    case 3: // products down to 2^-266, where f32 ends at 2^-149
      return half ? static_cast<uint16_t>(random() % 0x1000 | (random() % 2)
                                                                  << 15)
                  : encode(format, std::ldexp(normal(random),
                                              -60 - int(random() % 74)));
    default:
      return encode(format, std::ldexp(double(int(random() % 5) - 2),
                                       int(random() % 16) - 8));
    }
  }
  uint32_t accumulator() {
    if (random() % 8 == 0)
      return random() % 2 ? 0 : 0x80000000u;
    float value = normal(random);
    switch (kind) {
    case 1:
      value = std::ldexp(value, int(random() % 60) - 30);
      break;
    case 2:
      return random() % 3 ? std::bit_cast<uint32_t>(value)
                          : static_cast<uint32_t>(random());
    case 3:
      value = std::ldexp(value, -90 - int(random() % 62));
      break;
    case 4:
      value = std::ldexp(float(int(random() % 5) - 2), int(random() % 32) - 16);
      break;
    }
    return std::bit_cast<uint32_t>(value);
  }

private:
  Format format;
  int kind;
  std::mt19937_64 random;
  std::normal_distribution<float> normal;
};

struct Batch {
  std::vector<uint16_t> a, b;
  std::vector<uint32_t> c, expected16, expected8;
};

uint32_t bitsOf(double value) {
  return std::isnan(value) ? 0x7fffffffu
                           : std::bit_cast<uint32_t>(static_cast<float>(value));
}

/// Calls body(first, last) over [0, count) on every core.
template <typename Body> void inParallel(int count, Body body) {
  int workers = std::max(1u, std::thread::hardware_concurrency());
  std::vector<std::thread> threads;
  for (int w = 0; w < workers; ++w)
    threads.emplace_back(body, int64_t(count) * w / workers,
                         int64_t(count) * (w + 1) / workers);
  for (std::thread &thread : threads)
    thread.join();
}

Batch makeBatch(Format format, int kind, int tiles, uint64_t seed) {
  Batch batch;
  batch.a.resize(size_t(tiles) * aElements);
  batch.b.resize(size_t(tiles) * bElements);
  batch.c.resize(size_t(tiles) * cElements);
  batch.expected16.resize(batch.c.size());
  batch.expected8.resize(batch.c.size());
  const Atom k16 = Atom::parse("dot.nv(16,25)"),
             k8 = Atom::parse("dot.nv(8,25)");
  inParallel(tiles, [&](int64_t first, int64_t last) {
    for (int64_t tile = first; tile < last; ++tile) {
      Generator generator(format, kind, seed * 1000003 + tile);
      uint16_t *a = &batch.a[tile * aElements], *b = &batch.b[tile * bElements];
      uint32_t *c = &batch.c[tile * cElements];
      std::generate(a, a + aElements, [&] { return generator.element(); });
      std::generate(b, b + bElements, [&] { return generator.element(); });
      std::generate(c, c + cElements, [&] { return generator.accumulator(); });
      double rows[aElements], columns[bElements];
      std::transform(a, a + aElements, rows,
                     [&](uint16_t bits) { return decode(format, bits); });
      std::transform(b, b + bElements, columns,
                     [&](uint16_t bits) { return decode(format, bits); });
      for (int i = 0; i < cElements; ++i) {
        const double *row = rows + i / tileColumns * tileDepth;
        const double *column = columns + i % tileColumns * tileDepth;
        double start = std::bit_cast<float>(c[i]);
        size_t at = tile * cElements + i;
        batch.expected16[at] =
            bitsOf(dotStep(k16, format, row, column, 16, start));
        double half = dotStep(k8, format, row, column, 8, start);
        batch.expected8[at] =
            bitsOf(dotStep(k8, format, row + 8, column + 8, 8, half));
      }
    }
  });
  return batch;
}

/// Terms a second and core that the evaluator's step takes, on normal data.
double evaluatorSpeed() {
  Generator generator(Format::BF16, 0, 7);
  std::array<double, 4096> a, b;
  for (size_t i = 0; i < a.size(); ++i) {
    a[i] = decode(Format::BF16, generator.element());
    b[i] = decode(Format::BF16, generator.element());
  }
  const Atom k16 = Atom::parse("dot.nv(16,25)");
  double state = 0, best = 0;
  for (int trial = 0; trial < 5; ++trial) {
    auto start = std::chrono::steady_clock::now();
    for (int repeat = 0; repeat < 500; ++repeat) {
      state = 0;
      for (size_t i = 0; i < a.size(); i += 16)
        state = dotStep(k16, Format::BF16, &a[i], &b[i], 16, state);
    }
    std::chrono::duration<double> took =
        std::chrono::steady_clock::now() - start;
    best = std::max(best, 500.0 * a.size() / took.count());
  }
  return state == 12345 ? 0 : best; // the sums must not be optimised away
}

} // namespace

int main(int argc, char **argv) {
  int tiles = argc > 1 ? std::atoi(argv[1]) : 2000;
  uint64_t seed = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1;
  if (tiles < 1 || argc > 4) {
    fmt::print(stderr, "usage: bitpact_atoms [TILES a kind] [SEED] [FILE for "
                       "the first tile of each kind]\n");
    return 2;
  }
  std::ofstream file;
  if (argc > 3)
    file.open(argv[3], std::ios::binary);
  fmt::print("evaluator: {:.0f} million terms a second and core\n",
             evaluatorSpeed() / 1e6);
  const char *why = nullptr;
  const char *device = deviceName(&why);
  if (!device) {
    fmt::print("skipped: {}\n", why);
    return 77;
  }
  fmt::print("device: {}; seed {}\n{:<24} {:<5} {:<11} {:>11} {:>9} {:>9}\n",
             device, seed, "instruction", "type", "data", "steps", "differing",
             "-0 there");
  int64_t total = 0, differing = 0;
  for (Format format : {Format::BF16, Format::F16})
    for (int kind = 0; kind < 5; ++kind) {
      Batch batch = makeBatch(format, kind, tiles, seed + kind);
      std::vector<uint32_t> d(batch.c.size());
      std::array<std::vector<uint32_t>, instructionCount> first;
      for (int i = 0; i < instructionCount; ++i) {
        auto instruction = static_cast<Instruction>(i);
        if (const char *error = runTiles(instruction, format == Format::F16,
                                         tiles, batch.a.data(), batch.b.data(),
                                         batch.c.data(), d.data())) {
          fmt::print("{}: {}\n", instructionNames[i], error);
          return 1;
        }
        const std::vector<uint32_t> &expected =
            instruction == MmaK8 ? batch.expected8 : batch.expected16;
        first[i].assign(d.begin(), d.begin() + cElements);
        int64_t wrong = 0, negativeZeros = 0;
        size_t at = d.size();
        for (size_t j = 0; j < d.size(); ++j) {
          negativeZeros += d[j] == 0x80000000u;
          if (d[j] != expected[j] && wrong++ == 0)
            at = j;
        }
        int64_t steps = int64_t(d.size()) * (instruction == MmaK8 ? 2 : 1);
        fmt::print("{:<24} {:<5} {:<11} {:>11} {:>9} {:>9}\n",
                   instructionNames[i], format == Format::F16 ? "f16" : "bf16",
                   kindNames[kind], steps, wrong, negativeZeros);
        if (wrong)
          fmt::print("  first: tile {}, row {}, column {}: expected {:#010x}, "
                     "got {:#010x}, accumulator {:#010x}\n",
                     at / cElements, at % cElements / tileColumns,
                     at % tileColumns, expected[at], d[at], batch.c[at]);
        total += steps;
        differing += wrong;
      }
      int32_t header[] = {format == Format::F16, kind};
      auto save = [&](const auto *values, size_t count) {
        file.write(reinterpret_cast<const char *>(values),
                   std::streamsize(count * sizeof(*values)));
      };
      save(header, 2);
      save(batch.a.data(), aElements);
      save(batch.b.data(), bElements);
      save(batch.c.data(), cElements);
      save(first[MmaK16].data(), cElements);
      save(first[MmaK8].data(), cElements);
    }
  if (argc > 3 && !file) {
    fmt::print(stderr, "{}: cannot be written\n", argv[3]);
    return 2;
  }
  fmt::print("{} steps, {} differing\n", total, differing);
  return differing ? 1 : 0;
}
