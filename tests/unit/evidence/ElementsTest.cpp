// ElementsTest.cpp - encoding and decoding single elements
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/evidence/Elements.h"

#include <bit>
#include <catch2/catch.hpp>
#include <cmath>
#include <vector>

using namespace bitpact::evidence;
using bitpact::algebra::Format;

TEST_CASE("every 16-bit pattern survives decoding and encoding") {
  for (Format format : {Format::BF16, Format::F16})
    for (uint32_t bits = 0; bits < 0x10000; ++bits) {
      double value = decode(format, bits);
      if (std::isnan(value))
        continue;
      INFO("bits " << bits);
      REQUIRE(encode(format, value) == bits);
    }
}

TEST_CASE("values halfway between two go to the even one") {
  // 1 + 2^-8 lies between 0x3f80 and 0x3f81, 1 + 3*2^-8 between 81 and 82.
  CHECK(encode(Format::BF16, 1 + 0x1p-8) == 0x3f80);
  CHECK(encode(Format::BF16, 1 + 0x3p-8) == 0x3f82);
  CHECK(encode(Format::BF16, 1 + 0x1p-8 + 0x1p-40) == 0x3f81);
  CHECK(encode(Format::F16, 1 + 0x1p-11) == 0x3c00);
  CHECK(encode(Format::F16, 1 + 0x3p-11) == 0x3c02);
  CHECK(encode(Format::F32, 1 + 0x1p-24) == 0x3f800000);
}

TEST_CASE("the ends of the range") {
  CHECK(encode(Format::F16, 65504.0) == 0x7bff);
  CHECK(encode(Format::F16, 65519.0) == 0x7bff);
  CHECK(encode(Format::F16, 65520.0) == 0x7c00);
  CHECK(encode(Format::F16, 0x1p-24) == 0x0001);
  CHECK(encode(Format::F16, 0x1p-25) == 0x0000);
  CHECK(encode(Format::F16, -0x1.8p-25) == 0x8001);
  // The largest subnormal; halfway to the smallest normal, which is even.
  CHECK(encode(Format::F16, 0x1.ff8p-15) == 0x03ff);
  CHECK(encode(Format::F16, 0x1.ffbp-15) == 0x03ff);
  CHECK(encode(Format::F16, 0x1.ffcp-15) == 0x0400);
  CHECK(encode(Format::BF16, 0x1p-133) == 0x0001);
  CHECK(encode(Format::BF16, HUGE_VAL) == 0x7f80);
  CHECK(encode(Format::BF16, -HUGE_VAL) == 0xff80);
  CHECK(encode(Format::BF16, -0.0) == 0x8000);
}

TEST_CASE("a NaN is the canonical one") {
  CHECK(encode(Format::BF16, std::nan("")) == 0x7fc0);
  CHECK(encode(Format::F16, -std::nan("1")) == 0x7e00);
  CHECK(encode(Format::F32, std::nan("")) == 0x7fc00000);
  CHECK(encode(Format::F64, std::nan("7")) == 0x7ff8000000000000);
}

TEST_CASE("f32 equals the processor's conversion") {
  uint64_t state = 1;
  for (int i = 0; i < 100000; ++i) {
    state = state * 6364136223846793005 + 1442695040888963407;
    // Exponents around the whole range of f32.
    double value = std::ldexp(static_cast<double>(state >> 11) * 0x1p-53,
                              static_cast<int>(state % 300) - 155);
    REQUIRE(encode(Format::F32, value) ==
            std::bit_cast<uint32_t>(static_cast<float>(value)));
  }
}

TEST_CASE("every NaN becomes the canonical one, and nothing else changes") {
  auto changed = [](Format format, std::vector<uint8_t> bytes) {
    canonicalizeNans(format, bytes);
    return bytes;
  };
  // Infinity, a signalling and a negative NaN, a subnormal.
  CHECK(changed(Format::BF16,
                {0x80, 0xff, 0x81, 0x7f, 0xff, 0xff, 0x01, 0x00}) ==
        std::vector<uint8_t>{0x80, 0xff, 0xc0, 0x7f, 0xc0, 0x7f, 0x01, 0x00});
  CHECK(changed(Format::F16, {0x00, 0x7c, 0x01, 0xfc}) ==
        std::vector<uint8_t>{0x00, 0x7c, 0x00, 0x7e});
  CHECK(changed(Format::F32, {0x01, 0x00, 0x80, 0xff}) ==
        std::vector<uint8_t>{0x00, 0x00, 0xc0, 0x7f});
  CHECK(changed(Format::F64, {0, 0, 0, 0, 0, 0, 0xf8, 0xff}) ==
        std::vector<uint8_t>{0, 0, 0, 0, 0, 0, 0xf8, 0x7f});
  CHECK(changed(Format::I32, {0xff, 0xff, 0xff, 0xff}) ==
        std::vector<uint8_t>{0xff, 0xff, 0xff, 0xff});
}
