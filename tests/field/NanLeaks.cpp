// NanLeaks.cpp - NaN in padding changes no bit
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Seen elsewhere: NaN or garbage in padding reaches real rows through 0 · NaN,
// or through a load that is wider than the row.
#include "tests/field/Fixture.h"

#include <catch2/catch.hpp>
#include <cstring>

using namespace bitpact::field;
using bitpact::evidence::Layout;

namespace {

constexpr int64_t kRows = 37;
constexpr uint16_t kNaN = 0x7FC0;

void poison(Tensor &tensor, int64_t row, int64_t column) {
  int64_t element = bitpact::algebra::bytes(tensor.format);
  std::memset(&tensor.bytes[(row * tensor.shape[1] + column) * element], 0xFF,
              element);
}

/// All bytes of the padding are NaN (0xFF…), and so is what lies before the
/// first row and behind the last.
void expectSame(const Compiled &compiled, const std::string &name,
                int64_t hidden) {
  const ContractSpec &contract = compiled.contract(name);
  Tensors inputs = normalInputs(contract, kRows, hidden);
  Tensor want = expected(contract, inputs);
  for (const Layout &layout :
       {Layout{"rows side by side", 0, 0}, Layout{"a row and one NaN", 1, 0},
        Layout{"a row and many NaNs", 64, 0}, Layout{"NaN in front", 3, 1}}) {
    Arena arena(contract, inputs, layout);
    for (const VariantSpec *variant : compiled.variants(contract)) {
      INFO(name << " as " << variant->id << ", rows of " << hidden << ", "
                << layout.name);
      CHECK(arena.launch(compiled, *variant, 0, kRows) == want.bytes);
      CHECK(arena.intact());
    }
  }
}

} // namespace

TEST_CASE("padding between rows") {
  Compiled compiled({"norm", "sum_identity", "sum_first", "sum_pairwise"});
  expectSame(compiled, "norm", 100);
  for (const char *name : {"sum_identity", "sum_first", "sum_pairwise"})
    for (int64_t hidden : {1, 3, 7, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127})
      expectSame(compiled, name, hidden);
}

TEST_CASE("rows beside those that are launched") {
  Compiled compiled({"norm", "sum_pairwise"});
  for (const char *name : {"norm", "sum_pairwise"}) {
    const ContractSpec &contract = compiled.contract(name);
    Tensors inputs = normalInputs(contract, kRows, 100);
    Tensor want = expected(contract, inputs);
    size_t pitch = want.bytes.size() / kRows;
    for (int64_t row = 0; row < kRows; ++row)
      if (row < 5 || row >= 9)
        for (int64_t column = 0; column < 100; ++column)
          poison(inputs["x"], row, column);
    Arena arena(contract, inputs);
    for (const VariantSpec *variant : compiled.variants(contract)) {
      INFO(name << " as " << variant->id);
      std::vector<uint8_t> got = arena.launch(compiled, *variant, 5, 4);
      CHECK(std::memcmp(&got[5 * pitch], &want.bytes[5 * pitch], 4 * pitch) ==
            0);
    }
  }
}

TEST_CASE("a NaN inside of a row does show, wherever it stands") {
  Compiled compiled({"norm"});
  const ContractSpec &contract = compiled.contract("norm");
  for (int64_t column : {0, 63, 64, 99}) {
    Tensors inputs = normalInputs(contract, kRows, 100);
    poison(inputs["x"], 20, column);
    Tensor want = expected(contract, inputs);
    Arena arena(contract, inputs);
    for (const VariantSpec *variant : compiled.variants(contract)) {
      INFO(variant->id << ", NaN at " << column);
      std::vector<uint8_t> got = arena.launch(compiled, *variant, 0, kRows);
      CHECK(got == want.bytes);
      std::vector<uint16_t> y(kRows * 100);
      std::memcpy(y.data(), got.data(), got.size());
      // The whole row, and no other, each NaN the canonical one.
      for (int64_t i = 0; i < kRows * 100; ++i)
        CHECK((y[i] == kNaN) == (i / 100 == 20));
    }
  }
}
