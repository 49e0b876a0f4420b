// TermTest.cpp - the laws of the normal form, on bits
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/Interpreter/Term.h"
#include "contracts/reference/Arithmetic.h"

#include <catch2/catch.hpp>
#include <cmath>

using namespace bitpact;
using namespace bitpact::interpreter;

namespace {

/// Values of a format that tell roundings, signs and infinities apart.
std::vector<uint64_t> samples(Scalar type) {
  std::vector<uint64_t> bits;
  for (double value :
       {0.0, -0.0, 1.0, -1.0, 1.0 + 0x1p-7, 3.0, -1.0 / 3, 0x1p-24, 0x1p-133,
        -0x1p-149, 0x1.fffffep127, 65504.0, 0x1p16, double(INFINITY),
        -double(INFINITY), double(NAN)})
    bits.push_back(reference::encode(formatOf(type), value));
  return bits;
}

uint64_t value(const Action &action, std::vector<uint64_t> operands) {
  return *evaluate(action, operands.data());
}

uint64_t f32(double number) {
  return reference::encode(algebra::Format::F32, number);
}

constexpr Scalar F32 = Scalar::F32, F64 = Scalar::F64, BF16 = Scalar::BF16,
                 F16 = Scalar::F16;
constexpr Action kAdd{Op::Add, F32, F32}, kMul{Op::Mul, F32, F32},
    kFma{Op::Fma, F32, F32}, kNeg{Op::Neg, F32, F32},
    kMax{Op::Maximum, F32, F32};

} // namespace

TEST_CASE("a neutral element is gone, a zero that is not neutral stays") {
  TermStore terms;
  TermId x = terms.element(0, 0, F32);
  CHECK(terms.apply(kAdd, {x, terms.constant(F32, f32(-0.0))}) == x);
  CHECK(terms.apply(kAdd, {x, terms.constant(F32, f32(0.0))}) != x);
  CHECK(terms.apply(kMax, {terms.constant(F32, f32(-INFINITY)), x}) == x);
  for (uint64_t bits : samples(F32)) {
    CHECK(value(kAdd, {bits, f32(-0.0)}) == bits);
    CHECK(value(kMax, {bits, f32(-INFINITY)}) == bits);
  }
  CHECK(value(kAdd, {f32(-0.0), f32(0.0)}) == f32(0.0));
}

TEST_CASE("operands of commutative operations may be swapped, no others") {
  TermStore terms;
  TermId x = terms.element(0, 0, F32), y = terms.element(0, 1, F32);
  CHECK(terms.apply(kAdd, {x, y}) == terms.apply(kAdd, {y, x}));
  CHECK(terms.apply({Op::Sub, F32, F32}, {x, y}) !=
        terms.apply({Op::Sub, F32, F32}, {y, x}));
  CHECK(terms.apply(kFma, {x, y, x}) == terms.apply(kFma, {y, x, x}));
  CHECK(terms.apply(kFma, {x, x, y}) != terms.apply(kFma, {x, y, x}));
  TermId z = terms.element(0, 2, F32);
  CHECK(terms.apply(kAdd, {terms.apply(kAdd, {x, y}), z}) !=
        terms.apply(kAdd, {x, terms.apply(kAdd, {y, z})}));
}

TEST_CASE("an fma with -0 is a product, signs move out of products") {
  TermStore terms;
  TermId x = terms.element(0, 0, F32), y = terms.element(0, 1, F32);
  TermId minus = terms.constant(F32, f32(-0.0));
  TermId zero = terms.constant(F32, f32(0.0));
  CHECK(terms.apply(kFma, {x, y, minus}) == terms.apply(kMul, {x, y}));
  CHECK(terms.apply(kFma, {x, y, zero}) != terms.apply(kMul, {x, y}));
  TermId z = terms.element(0, 2, F32);
  CHECK(terms.apply(kFma, {terms.apply(kNeg, {x}), y, z}) ==
        terms.apply(kFma, {x, terms.apply(kNeg, {y}), z}));
  CHECK(terms.apply(kFma, {terms.apply(kNeg, {x}), terms.apply(kNeg, {y}),
                           z}) == terms.apply(kFma, {x, y, z}));
  for (uint64_t a : samples(F32))
    for (uint64_t b : samples(F32))
      CHECK(value(kFma, {a, b, f32(-0.0)}) == value(kMul, {a, b}));
}

TEST_CASE("division by a power of two is the product with its inverse") {
  TermStore terms;
  TermId x = terms.element(0, 0, F32);
  Action div{Op::Div, F32, F32};
  auto by = [&](double value) {
    return terms.apply(div, {x, terms.constant(F32, f32(value))});
  };
  auto times = [&](double value) {
    return terms.apply(kMul, {x, terms.constant(F32, f32(value))});
  };
  CHECK(by(1) == x);
  CHECK(times(1) == x);
  CHECK(by(2) == times(0.5));
  CHECK(by(-0.25) == times(-4));
  CHECK(by(0x1p127) == times(0x1p-127)); // a subnormal number
  CHECK(by(-1) != x);
  // 1/3 is rounded, 2^128 is no f32, and 0, Inf and NaN have no inverse.
  for (double value : {3.0, 0x1p-128, 0.0, double(INFINITY), double(NAN)})
    CHECK(terms[by(value)].op == Op::Div);

  // The law on numbers: every power, and what rounds, overflows and vanishes.
  for (int power = -127; power <= 127; ++power) {
    float divisor = std::ldexp(1.0f, power), inverse = std::ldexp(1.0f, -power);
    for (uint64_t bits : {0x00000000u, 0x80000001u, 0x00000003u, 0x007fffffu,
                          0x00800001u, 0x3f800001u, 0x40490fdbu, 0xff7fffffu,
                          0x7f000001u, 0x7f800000u, 0x00ffffffu, 0x01234567u}) {
      uint64_t operands[] = {bits, f32(divisor)};
      uint64_t factors[] = {bits, f32(inverse)};
      REQUIRE(evaluate(div, operands) == evaluate(kMul, factors));
    }
  }
}

TEST_CASE("conversions that round nothing are gone, roundings stay") {
  TermStore terms;
  auto to = [&](Scalar format, TermId x) {
    Op op = widthOf(format) > widthOf(terms[x].type) ? Op::Extend : Op::Narrow;
    return terms.apply({op, format, terms[x].type}, {x});
  };
  TermId x = terms.element(0, 0, F32), b = terms.element(1, 0, BF16);
  CHECK(to(F64, to(F32, b)) == to(F64, b));
  // Rounded twice to bf16 is rounded once; f16 and bf16 differ.
  TermId once = to(F32, to(BF16, x));
  CHECK(to(F32, to(BF16, once)) == once);
  CHECK(once != x);
  CHECK(to(F32, to(F16, once)) != once);
  // A value of bf16 is one of f32.
  TermId wide = to(F64, to(BF16, x));
  CHECK(to(F64, to(F32, wide)) == wide);
  // Storing makes NaN canonical, which an element need not be.
  TermId stored = terms.apply({Op::Narrow, BF16, BF16}, {b});
  CHECK(stored != b);
  CHECK(terms.apply({Op::Narrow, BF16, BF16}, {stored}) == stored);
  for (uint64_t bits : samples(BF16)) {
    uint64_t extended = value({Op::Extend, F32, BF16}, {bits});
    CHECK(value({Op::Narrow, BF16, F32}, {extended}) == bits);
  }
}

TEST_CASE("a select with a known condition is one of its operands") {
  TermStore terms;
  TermId x = terms.element(0, 0, F32), y = terms.element(0, 1, F32);
  Action select{Op::Select, F32, F32};
  Cell chosen = terms.apply(
      select, {Cell::of(1), Cell::symbol(x), Cell()}); // the other: unspecified
  CHECK(chosen.term == x);
  CHECK(terms.apply(select, {Cell::of(0), Cell::symbol(x), Cell::symbol(y)})
            .term == y);
  CHECK(terms.apply(kAdd, {Cell::symbol(x), Cell()}).isUnspecified());
}

TEST_CASE("maxima in an open order are equal as sets") {
  TermStore terms;
  TermId x = terms.element(0, 0, F32), y = terms.element(0, 1, F32),
         z = terms.element(0, 2, F32);
  TermId left = terms.apply(kMax, {terms.apply(kMax, {x, y}), z});
  TermId right = terms.apply(kMax, {x, terms.apply(kMax, {z, y})});
  CHECK(left != right);
  CHECK(terms.withSets(left) == terms.withSets(right));
  CHECK(terms.withSets(left) != terms.withSets(terms.apply(kMax, {x, y})));
  CHECK(terms.withSets(terms.apply(kNeg, {left})) ==
        terms.withSets(terms.apply(kNeg, {right})));
}

TEST_CASE("integers become floats with one rounding") {
  Action toF32{Op::FromInt, F32, Scalar::I64};
  // 2^24 + 1 is a tie; 2^60 + 2^36 + 1 is above one that f64 would make it.
  CHECK(value(toF32, {(1u << 24) + 1}) == f32(0x1p24));
  CHECK(value(toF32, {(uint64_t(1) << 60) + (uint64_t(1) << 36) + 1}) ==
        f32(0x1.000002p60));
  CHECK(value(toF32, {uint64_t(-3)}) == f32(-3));
}

TEST_CASE("what LLVM leaves unspecified has no value") {
  uint64_t operands[] = {1, 32};
  CHECK(!evaluate({Op::Shl, Scalar::I32, Scalar::I32}, operands));
  operands[1] = 31;
  CHECK(*evaluate({Op::Shl, Scalar::I32, Scalar::I32}, operands) == uint64_t(1)
                                                                        << 31);
  operands[1] = 0;
  CHECK(!evaluate({Op::DivU, Scalar::I64, Scalar::I64}, operands));
}
