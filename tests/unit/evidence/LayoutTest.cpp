// LayoutTest.cpp - tensors at any stride, and what is written beside them
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/evidence/Layout.h"

#include <catch2/catch.hpp>

#include <cstring>
#include <numeric>

using namespace bitpact::evidence;
using bitpact::algebra::Format;

namespace {

TensorSpec cube() {
  TensorSpec spec;
  spec.name = "weight";
  spec.type = "f32";
  spec.format = Format::F32;
  spec.dims = {"experts", "out", "in"};
  return spec;
}

} // namespace

TEST_CASE("matrices of a tensor of three dims lie apart where rows do") {
  Device cpu("cpu");
  const TensorSpec spec = cube();
  std::vector<float> values(2 * 3 * 5);
  std::iota(values.begin(), values.end(), 1.f);
  const auto *bytes = reinterpret_cast<const uint8_t *>(values.data());
  int apart = 0;
  for (const Layout &layout : allLayouts()) {
    INFO(layout.name);
    Placed placed(spec, cpu, layout, {2, 3, 5});
    placed.put(Placed::inputPoison, bytes);
    View view = placed.view();
    const DLTensor tensor = view.get();
    const auto *base = static_cast<const char *>(tensor.data);
    for (int64_t e = 0; e < 2; ++e)
      for (int64_t o = 0; o < 3; ++o)
        for (int64_t i = 0; i < 5; ++i) {
          float value;
          std::memcpy(&value,
                      base +
                          4 * (e * tensor.strides[0] + o * tensor.strides[1] +
                               i * tensor.strides[2]),
                      4);
          CHECK(value == 1 + (e * 3 + o) * 5 + i);
        }
    apart += tensor.strides[0] != 3 * tensor.strides[1];
    std::vector<uint8_t> back = placed.rows();
    CHECK(std::memcmp(back.data(), bytes, back.size()) == 0);
    CHECK(placed.surroundIntact());
    // A write between the matrices, and behind the last one.
    for (int64_t e : {0, 1}) {
      if (e == 0 && tensor.strides[0] == 3 * 5)
        continue; // there is nothing between them
      placed.put(Placed::inputPoison, bytes);
      const_cast<char *>(
          base)[4 * (e * tensor.strides[0] + 2 * tensor.strides[1] + 5)] = 0;
      placed.rows();
      CHECK_FALSE(placed.surroundIntact());
    }
  }
  CHECK(apart == 1);
}
