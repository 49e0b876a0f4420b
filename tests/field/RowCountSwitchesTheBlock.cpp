// RowCountSwitchesTheBlock.cpp - a row's bits depend on that row alone
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Seen elsewhere: a norm that takes another block size from 256 rows on, and
// one whose bits depend on the number of rows mod 32, so that rescoring a
// sequence disagrees with decoding it.
#include "tests/field/Fixture.h"

#include <catch2/catch.hpp>
#include <cstring>

using namespace bitpact::field;

namespace {

constexpr int64_t kRows = 1025, kHidden = 100;

/// Rows [first, first + count) are right, and no other row is touched.
/// Compared with memcmp: a test that looks at each byte takes minutes.
bool right(const std::vector<uint8_t> &got, const Tensor &want, int64_t first,
           int64_t count) {
  size_t pitch = want.bytes.size() / kRows;
  std::vector<uint8_t> image(want.bytes.size(), Arena::canary);
  std::memcpy(&image[first * pitch], &want.bytes[first * pitch], count * pitch);
  return got == image;
}

void expectRowsAlone(const Compiled &compiled, const std::string &name) {
  const ContractSpec &contract = compiled.contract(name);
  Tensors inputs = normalInputs(contract, kRows, kHidden);
  Tensor want = expected(contract, inputs);
  Arena arena(contract, inputs);
  for (const VariantSpec *variant : compiled.variants(contract)) {
    INFO(name << " as " << variant->id << ", " << variant->schedule);
    int64_t wrong = 0;
    auto launch = [&](int64_t first, int64_t count) {
      if (right(arena.launch(compiled, *variant, first, count), want, first,
                count))
        return;
      if (++wrong <= 3)
        UNSCOPED_INFO("rows " << first << " to " << first + count - 1
                              << " launched together differ");
    };
    // The first rows of a batch of every size, and the last ones, which then
    // stand at every place of a group of rows.
    for (int64_t count = 1; count <= kRows; ++count) {
      launch(0, count);
      launch(kRows - count, count);
    }
    for (int64_t row = 0; row < kRows; ++row)
      launch(row, 1);
    CHECK(wrong == 0);
  }
}

} // namespace

TEST_CASE("1 to 1025 rows, each row alone and in any batch") {
  Compiled compiled({"norm", "sum_pairwise"});
  expectRowsAlone(compiled, "norm");
  expectRowsAlone(compiled, "sum_pairwise");
}

TEST_CASE("rows are told apart, or the test above would see nothing") {
  Compiled compiled({"norm"});
  const ContractSpec &contract = compiled.contract("norm");
  Tensors inputs = normalInputs(contract, kRows, kHidden);
  Tensor want = expected(contract, inputs);
  size_t pitch = want.bytes.size() / kRows;
  for (int64_t row = 1; row < kRows; ++row)
    CHECK(std::memcmp(&want.bytes[0], &want.bytes[row * pitch], pitch) != 0);
}
