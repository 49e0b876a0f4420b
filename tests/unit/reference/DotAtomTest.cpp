// DotAtomTest.cpp - dot.nv against an H200 and against hand arithmetic
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "contracts/reference/DotAtom.h"
#include "tests/unit/reference/Contracts.h"

#include <catch2/catch.hpp>

#include <cmath>
#include <cstring>
#include <fstream>
#include <iterator>

using namespace bitpact::tests;
using bitpact::algebra::Atom;
using bitpact::algebra::Format;
using bitpact::reference::dotStep;
using bitpact::reference::Evaluator;

static double step(const std::vector<double> &a, const std::vector<double> &b,
                   double accumulator, const char *atom = "dot.nv(16,25)",
                   Format element = Format::BF16) {
  return dotStep(Atom::parse(atom), element, a.data(), b.data(),
                 static_cast<int>(a.size()), accumulator);
}

/// n products of u * u', and the ones that `more` names.
static double sumOf(int n, double u, double v, double accumulator,
                    const char *atom = "dot.nv(16,25)") {
  return step(std::vector<double>(n, u), std::vector<double>(n, v), accumulator,
              atom);
}

struct Case {
  int32_t rowsA = 0, rowsB = 0, k = 0;
  Tensor a, b;
  std::vector<uint64_t> wgmma, mma16, mma8; ///< rowsA by rowsB
};

static Case load(const std::string &name) {
  std::ifstream file(std::string(BITPACT_TEST_DATA) + "/hopper-mma/" + name,
                     std::ios::binary);
  std::vector<char> bytes((std::istreambuf_iterator<char>(file)), {});
  Case c;
  REQUIRE(bytes.size() > 12);
  std::memcpy(&c.rowsA, bytes.data(), 4);
  std::memcpy(&c.rowsB, bytes.data() + 4, 4);
  std::memcpy(&c.k, bytes.data() + 8, 4);
  size_t sizeA = size_t(2) * c.rowsA * c.k, sizeB = size_t(2) * c.rowsB * c.k;
  size_t results = size_t(c.rowsA) * c.rowsB;
  REQUIRE(bytes.size() == 12 + sizeA + sizeB + 3 * 4 * results);
  const char *at = bytes.data() + 12;
  c.a = {Format::BF16, {c.rowsA, c.k}, {at, at + sizeA}};
  at += sizeA;
  c.b = {Format::BF16, {c.rowsB, c.k}, {at, at + sizeB}};
  at += sizeB;
  for (std::vector<uint64_t> *matrix : {&c.wgmma, &c.mma16, &c.mma8}) {
    for (size_t i = 0; i < results; ++i, at += 4) {
      uint32_t bits;
      std::memcpy(&bits, at, 4);
      matrix->push_back(bits);
    }
  }
  return c;
}

/// A dot contract over one undivided chain of atom steps, on the case's data.
static std::vector<uint64_t> byContract(const Case &c, int terms,
                                        int fraction) {
  std::string atom =
      "dot.nv(" + std::to_string(terms) + "," + std::to_string(fraction) + ")";
  NodeText node;
  node.partition = "step:* k:" + std::to_string(terms);
  node.merge = {"k fused(" + atom + ")", "step chain"};
  node.input = "bf16";
  node.step = atom + ".bf16";
  return bitsOf(
      Evaluator(dotContract(node)).run({{"a", c.a}, {"b", c.b}}).at("y"));
}

/// Tiles of one step each, as tests/atoms/AtomsOnDevice.cpp saved them.
TEST_CASE("single steps of an H200 with accumulators and special values") {
  std::ifstream file(std::string(BITPACT_TEST_DATA) + "/hopper-mma/steps.bin",
                     std::ios::binary);
  constexpr int rows = 64, columns = 8, depth = 16;
  int tiles = 0, differing = 0, otherAtom = 0;
  for (int32_t header[2]; file.read(reinterpret_cast<char *>(header), 8);) {
    Format format = header[0] ? Format::F16 : Format::BF16;
    std::vector<uint8_t> a(2 * rows * depth), b(2 * columns * depth);
    std::vector<uint32_t> c(rows * columns), k16(c.size()), k8(c.size());
    auto read = [&](auto &values) {
      file.read(reinterpret_cast<char *>(values.data()),
                values.size() * sizeof(values[0]));
    };
    read(a), read(b), read(c), read(k16), read(k8);
    REQUIRE(file);
    ++tiles;
    std::vector<double> left = valuesOf({format, {rows, depth}, a});
    std::vector<double> right = valuesOf({format, {columns, depth}, b});
    for (int i = 0; i < rows * columns; ++i) {
      auto part = [&](const std::vector<double> &all, int row, int first,
                      int count) {
        return std::vector<double>(all.begin() + row * depth + first,
                                   all.begin() + row * depth + first + count);
      };
      float start;
      std::memcpy(&start, &c[i], 4);
      auto bits = [](double value) {
        float single = static_cast<float>(value);
        uint32_t result;
        std::memcpy(&result, &single, 4);
        return std::isnan(value) ? 0x7fffffffu : result;
      };
      int m = i / columns, n = i % columns;
      differing += bits(step(part(left, m, 0, 16), part(right, n, 0, 16), start,
                             "dot.nv(16,25)", format)) != k16[i];
      double half = step(part(left, m, 0, 8), part(right, n, 0, 8), start,
                         "dot.nv(8,25)", format);
      differing += bits(step(part(left, m, 8, 8), part(right, n, 8, 8), half,
                             "dot.nv(8,25)", format)) != k8[i];
      otherAtom += bits(step(part(left, m, 0, 16), part(right, n, 0, 16), start,
                             "dot.nv(16,24)", format)) != k16[i];
    }
  }
  CHECK(tiles == 10);
  CHECK(differing == 0);
  CHECK(otherAtom > 500); // the witness: one fraction bit less
}

static int differences(const std::vector<uint64_t> &a,
                       const std::vector<uint64_t> &b) {
  int count = 0;
  for (size_t i = 0; i < a.size(); ++i)
    count += a[i] != b[i];
  return count;
}

TEST_CASE("the atoms of an H200, bit for bit") {
  for (const char *name : {"case0.bin", "case1.bin", "case2.bin"}) {
    INFO(name);
    Case c = load(name);
    std::vector<uint64_t> k16 = byContract(c, 16, 25);
    CHECK(differences(k16, c.wgmma) == 0);
    CHECK(differences(k16, c.mma16) == 0);
    CHECK(differences(byContract(c, 8, 25), c.mma8) == 0);
    // Witnesses: one fraction bit less or more, or the other block length.
    int many = static_cast<int>(c.wgmma.size()) / 8;
    CHECK(differences(byContract(c, 16, 24), c.wgmma) > many);
    CHECK(differences(byContract(c, 16, 26), c.wgmma) > many);
    CHECK(differences(byContract(c, 8, 24), c.mma8) > many);
    CHECK(differences(byContract(c, 8, 25), c.wgmma) > 0);
  }
}

TEST_CASE("terms are cut to F bits below the largest exponent, one by one") {
  // Beside 1, units are 2^-25: 2^-26 is lost, however often it comes.
  CHECK(sumOf(15, 0x1p-13, 0x1p-13, 1) == 1);
  // 2^-25 is kept; four of them reach f32's last bit, three are cut off it.
  CHECK(sumOf(4, 0x1p-12, 0x1p-13, 1) == 1 + 0x1p-23);
  CHECK(sumOf(3, 0x1p-12, 0x1p-13, 1) == 1);
  CHECK(sumOf(4, 0x1p-12, 0x1p-13, 1, "dot.nv(16,24)") == 1);
  // Truncation is toward zero on both sides: 1 - 2^-25 and its negative.
  CHECK(step({0x1p-12}, {-0x1p-13}, 1) == 1 - 0x1p-24);
  CHECK(step({0x1p-12}, {0x1p-13}, -1) == -(1 - 0x1p-24));
  // 1.5 * 1.5 = 2.25 counts with exponent 0, so 8 * 2^-25 = 2^-22 survives.
  std::vector<double> a(9, 0x1p-12), b(9, 0x1p-13);
  a[0] = b[0] = 1.5;
  CHECK(step(a, b, 0) == 2.25 + 0x1p-22);
  // An accumulator far below the products is cut as well.
  CHECK(step({1}, {1}, 0x1p-26) == 1);
  // Its last bits count as long as they are within F of the largest.
  CHECK(step({1}, {1}, 0x1.000002p-2) == 1.25);
}

TEST_CASE("zeros count for the largest exponent as 2^-133 does") {
  // 2^-149 - 2^-159: units are 2^-158, so the small one is lost. With units
  // 2^-25 below the larger product it would take the sum below 2^-149.
  CHECK(step({0x1p-75, -0x1p-80}, {0x1p-74, 0x1p-79}, 0) == 0x1p-149);
  CHECK(step({0x1p-75, -0x1p-79}, {0x1p-74, 0x1p-79}, 0) == 0);
  CHECK(step({0x1p-75, -0x1p-79}, {0x1p-74, 0x1p-78}, 0, "dot.nv(16,24)") ==
        0x1p-149);
  CHECK(step({0x1p-100, 0}, {0x1p-20, 0x1p127}, 0) == 0x1p-120);
  CHECK(step({0, 1}, {1, 0x1p-60}, 0) == 0x1p-60);
  auto positiveZero = [](double value) {
    return value == 0 && !std::signbit(value);
  };
  CHECK(positiveZero(step({-0.0}, {1}, -0.0)));
  CHECK(positiveZero(step({1, -1}, {1, 1}, 0)));
  CHECK(positiveZero(step({0}, {0}, 0)));
}

TEST_CASE("subnormals keep their value and the smallest exponent") {
  CHECK(step({0x1p-133}, {1}, 0) == 0x1p-133); // a bf16 subnormal
  CHECK(step({1}, {0x1p-133}, 0x1p-149) == 0x1p-133 + 0x1p-149);
  // f32 subnormals come out truncated to units of 2^-149.
  CHECK(step({0x1.8p-75}, {0x1p-74}, 0) == 0x1p-149);
  CHECK(step({0x1.cp-75}, {0x1p-73}, 0) == 0x1.8p-148);
  CHECK(step({0x1p-80}, {0x1p-80}, 0) == 0);
  CHECK(step({0x1p-24}, {1}, 0, "dot.nv(16,25)", Format::F16) == 0x1p-24);
  // Both f16 factors subnormal: exponents -14 each, so units are 2^-53.
  CHECK(step({0x1p-24, 0x1p-24}, {0x1p-24, 0x1p-14}, 0, "dot.nv(16,25)",
             Format::F16) == 0x1p-38 + 0x1p-48);
}

TEST_CASE("infinities and NaN") {
  CHECK(step({INFINITY}, {2}, 1) == INFINITY);
  CHECK(step({-1}, {2}, INFINITY) == INFINITY);
  CHECK(std::isnan(step({INFINITY, 1}, {0, 1}, 1)));
  CHECK(std::isnan(step({INFINITY, INFINITY}, {1, -1}, 1)));
  CHECK(std::isnan(step({INFINITY}, {1}, -INFINITY)));
  CHECK(std::isnan(step({1}, {1}, NAN)));
  // A finite sum above f32 is infinite; one that comes back is not.
  CHECK(step({0x1p100}, {0x1p28}, 0) == INFINITY);
  CHECK(step({0x1p100, 0x1p100}, {0x1p28, -0x1p28}, 0) == 0);
  CHECK(sumOf(16, 0x1p62, -0x1p62, 0) == -INFINITY);
}

TEST_CASE("f16 products keep twenty-two bits") {
  double x = 1 + 0x1p-10; // x * x = 1 + 2^-9 + 2^-20
  CHECK(step({x}, {x}, 0, "dot.nv(16,25)", Format::F16) ==
        1 + 0x1p-9 + 0x1p-20);
  CHECK(step({65504}, {65504}, 0, "dot.nv(16,25)", Format::F16) ==
        65504.0 * 65504.0);
}
