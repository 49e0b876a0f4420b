// PackedSequences.cpp - a sequence's sum, whatever it is packed with
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Seen elsewhere: the order in which the outputs of experts are added, or the
// tokens of packed sequences, follows who else is in the batch.
#include "tests/field/Fixture.h"
#include "tools/evidence/Data.h"
#include "tools/evidence/Launch.h"

#include <catch2/catch.hpp>
#include <cstring>

using namespace bitpact::field;
namespace evidence = bitpact::evidence;

namespace {

constexpr int64_t kHidden = 70;

Tensor offsets(const std::vector<int64_t> &lengths) {
  std::vector<int32_t> at{0};
  for (int64_t length : lengths)
    at.push_back(at.back() + int32_t(length));
  Tensor tensor{bitpact::algebra::Format::I32, {int64_t(at.size())}, {}};
  tensor.bytes.resize(4 * at.size());
  std::memcpy(tensor.bytes.data(), at.data(), tensor.bytes.size());
  return tensor;
}

/// Tokens from `first` on.
Tensor slice(const Tensor &x, int64_t first, int64_t count) {
  size_t pitch = x.bytes.size() / size_t(x.shape[0]);
  Tensor part{x.format, {count, kHidden}, {}};
  part.bytes.assign(x.bytes.begin() + first * int64_t(pitch),
                    x.bytes.begin() + (first + count) * int64_t(pitch));
  return part;
}

/// By that variant; by the one that the runtime takes if there is no name.
std::vector<float> sums(const Compiled &compiled, const std::string &variant,
                        const Tensor &x, const std::vector<int64_t> &lengths) {
  evidence::LaunchRequest request;
  request.package = &compiled.package();
  request.contract = &compiled.contract("packed");
  request.role = "train";
  request.device = "cpu";
  request.variant = variant;
  request.inputs = {{"x", x}, {"offsets", offsets(lengths)}};
  Tensor y = evidence::launch(request).outputs.at("y");
  std::vector<float> values(kHidden);
  std::memcpy(values.data(), y.bytes.data(), y.bytes.size());
  return values;
}

bool same(const std::vector<float> &a, const std::vector<float> &b) {
  return std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

} // namespace

TEST_CASE("a packed batch is the fold of its sequences alone") {
  Compiled compiled({"packed"});
  const ContractSpec &contract = compiled.contract("packed");
  const std::vector<std::vector<int64_t>> batches = {
      {300, 1, 255, 257}, {1, 0, 600, 256, 0, 64}, {512, 100}, {137, 37, 400}};
  for (const VariantSpec *variant : compiled.variants(contract)) {
    INFO(variant->id << ", " << variant->schedule);
    for (const std::vector<int64_t> &lengths : batches) {
      int64_t tokens = 0;
      for (int64_t length : lengths)
        tokens += length;
      Tensor x = evidence::generate(evidence::Recipe::Wide, 1, "x",
                                    bitpact::algebra::Format::BF16,
                                    {tokens, kHidden}, false);
      // The contract's last merge: one addition a sequence, in order. A
      // sequence of no tokens merges nothing.
      std::vector<float> expected;
      int64_t first = 0;
      for (int64_t length : lengths) {
        if (!length)
          continue;
        std::vector<float> alone =
            sums(compiled, "", slice(x, first, length), {length});
        first += length;
        if (expected.empty())
          expected = alone;
        else
          for (int64_t i = 0; i < kHidden; ++i)
            expected[i] += alone[i];
      }
      CHECK(same(expected, sums(compiled, variant->id, x, lengths)));
    }
  }
}

TEST_CASE("where sequences are cut is seen in the bits") {
  Compiled compiled({"packed"});
  Tensor x = evidence::generate(evidence::Recipe::Wide, 1, "x",
                                bitpact::algebra::Format::BF16, {600, kHidden},
                                false);
  CHECK_FALSE(same(sums(compiled, "", x, {600}),
                   sums(compiled, "", x, {100, 500})));
}
