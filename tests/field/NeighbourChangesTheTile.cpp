// NeighbourChangesTheTile.cpp - a row's bits depend on that row alone
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Seen elsewhere: an unrelated prefill in the batch changes the tile of a
// decode row; where a sequence is cut into chunks changes its bits. Here the
// rows beside one are others, or infinite, or NaN, and a sequence is cut one
// below, at and one above every number of rows that a program or a block takes.
#include "tests/field/Fixture.h"

#include <catch2/catch.hpp>
#include <cstring>
#include <random>

using namespace bitpact::field;

namespace {

constexpr int64_t kRows = 67, kHidden = 100;

size_t pitchOf(const Tensor &tensor) {
  return tensor.bytes.size() / size_t(tensor.shape[0]);
}

Tensor rowOf(const Tensor &tensor, int64_t row) {
  Tensor result = tensor;
  size_t pitch = pitchOf(tensor);
  result.shape[0] = 1;
  result.bytes.assign(&tensor.bytes[row * pitch],
                      &tensor.bytes[row * pitch] + pitch);
  return result;
}

/// What stands in the rows beside the one that is looked at.
enum class Beside { Others, Infinities, NaNs, Huge };

/// Batches of `kRows` rows that all have `lone` somewhere among others.
void expectSame(const Compiled &compiled, const std::string &name,
                Beside beside, int64_t &differentNeighbours) {
  const ContractSpec &contract = compiled.contract(name);
  Tensors alone = normalInputs(contract, 1, kHidden, 7);
  Tensor want = expected(contract, alone);
  for (int64_t at : {int64_t(0), int64_t(1), int64_t(7), int64_t(8),
                     int64_t(31), int64_t(32), kRows - 1}) {
    Tensors batch = normalInputs(contract, kRows, kHidden, 100 + at);
    Tensor &x = batch.at("x");
    size_t pitch = pitchOf(x);
    if (beside == Beside::Infinities || beside == Beside::Huge)
      for (size_t i = 0; i < x.bytes.size(); i += 2) {
        x.bytes[i] = beside == Beside::Huge ? 0x7F : 0x80;
        x.bytes[i + 1] = uint8_t(0x7F | i % 3 << 7);
      }
    if (beside == Beside::NaNs)
      std::memset(x.bytes.data(), 0xFF, x.bytes.size());
    std::memcpy(&x.bytes[at * pitch], alone.at("x").bytes.data(), pitch);
    for (const auto &[tensor, value] : alone)
      if (tensor != "x")
        batch[tensor] = value;
    Arena arena(contract, batch);
    for (const VariantSpec *variant : compiled.variants(contract)) {
      INFO(name << " as " << variant->id << ", row " << at);
      Tensor got = expected(contract, batch);
      got.bytes = arena.launch(compiled, *variant, 0, kRows);
      CHECK(rowOf(got, at).bytes == want.bytes);
      differentNeighbours +=
          rowOf(got, at == 0 ? 1 : at - 1).bytes != want.bytes;
    }
  }
}

} // namespace

TEST_CASE("whatever lies beside a row") {
  Compiled compiled({"norm", "layer"});
  for (const char *name : {"norm", "layer"})
    for (Beside beside :
         {Beside::Others, Beside::Infinities, Beside::NaNs, Beside::Huge}) {
      int64_t different = 0;
      expectSame(compiled, name, beside, different);
      // Or the rows beside it would show nothing.
      CHECK(different >= 14);
    }
}

TEST_CASE("wherever a sequence is cut") {
  Compiled compiled({"norm"});
  const ContractSpec &contract = compiled.contract("norm");
  Tensors inputs = normalInputs(contract, kRows, kHidden);
  Tensor want = expected(contract, inputs);
  size_t pitch = pitchOf(want);
  Arena arena(contract, inputs);
  for (const VariantSpec *variant : compiled.variants(contract))
    for (int64_t chunk :
         {1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65}) {
      INFO(variant->id << ", chunks of " << chunk << " rows");
      std::vector<uint8_t> whole;
      for (int64_t first = 0; first < kRows; first += chunk) {
        int64_t count = std::min(chunk, kRows - first);
        std::vector<uint8_t> bytes =
            arena.launch(compiled, *variant, first, count);
        whole.insert(whole.end(), bytes.begin() + first * pitch,
                     bytes.begin() + (first + count) * pitch);
      }
      CHECK(whole == want.bytes);
    }
}
