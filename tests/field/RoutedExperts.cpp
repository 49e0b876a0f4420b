// RoutedExperts.cpp - a token's experts, whoever else is routed to them
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Seen elsewhere: how long an expert's block is decides which kernel, or how
// many parts of K, its rows get, and that depends on who else is routed.
#include "tests/field/Fixture.h"
#include "tools/evidence/Data.h"
#include "tools/evidence/Launch.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstring>
#include <numeric>
#include <random>

using namespace bitpact::field;
namespace evidence = bitpact::evidence;
using bitpact::algebra::Format;
using Bytes = std::vector<uint8_t>;

namespace {

constexpr int64_t kExperts = 9, kChosen = 3, kHidden = 150, kOut = 70;
/// Rows of f32, in which another order of a sum shows.
constexpr size_t kPitch = 4 * kOut;

Tensor integers(const std::vector<int32_t> &values) {
  Tensor tensor{Format::I32, {int64_t(values.size())}, {}};
  tensor.bytes.resize(4 * values.size());
  std::memcpy(tensor.bytes.data(), values.data(), tensor.bytes.size());
  return tensor;
}

/// What tokens are, and which experts each of them goes to.
struct Model {
  int64_t tokens;
  Tensor x = evidence::generate(evidence::Recipe::Normal, 1, "x", Format::F32,
                                {tokens, kHidden}, false);
  Tensor weight =
      evidence::generate(evidence::Recipe::Dense, 1, "weight", Format::F32,
                         {kExperts, kOut, kHidden}, false);
  std::vector<std::vector<int64_t>> experts{};

  explicit Model(int64_t count) : tokens(count) {
    std::mt19937 random(7);
    for (int64_t token = 0; token < tokens; ++token) {
      std::vector<int64_t> all(kExperts);
      std::iota(all.begin(), all.end(), 0);
      // Expert 4 has nobody, expert 0 has everybody.
      std::swap(all[4], all.back());
      all.pop_back();
      for (size_t i = all.size() - 1; i > 1; --i)
        std::swap(all[i], all[1 + random() % i]);
      all.resize(kChosen);
      std::sort(all.begin(), all.end());
      experts.push_back(all);
    }
  }
};

/// The outputs of these tokens' experts, in the order of each token's experts:
/// sorted by expert, launched, and put back, as an engine does.
std::vector<Bytes> outputsOf(const Compiled &compiled, const Model &model,
                             const std::vector<int64_t> &batch,
                             const std::string &variant,
                             const std::string &contract = "experts") {
  struct Row {
    int64_t expert, token;
    size_t place;
  };
  std::vector<Row> rows;
  for (int64_t token : batch)
    for (int64_t expert : model.experts[token])
      rows.push_back({expert, token, rows.size()});
  std::stable_sort(rows.begin(), rows.end(), [](const Row &a, const Row &b) {
    return a.expert < b.expert;
  });
  Tensor x{Format::F32, {int64_t(rows.size()), kHidden}, {}};
  std::vector<int32_t> offsets(kExperts + 1, 0);
  for (const Row &row : rows) {
    auto from = model.x.bytes.begin() + row.token * kHidden * 4;
    x.bytes.insert(x.bytes.end(), from, from + kHidden * 4);
    for (int64_t after = row.expert + 1; after <= kExperts; ++after)
      ++offsets[after];
  }
  evidence::LaunchRequest request;
  request.package = &compiled.package();
  request.contract = &compiled.contract(contract);
  request.role = "train";
  request.device = "cpu";
  request.variant = variant;
  request.inputs = {
      {"x", x}, {"weight", model.weight}, {"offsets", integers(offsets)}};
  Bytes y = evidence::launch(request).outputs.at("y").bytes;
  std::vector<Bytes> result(rows.size());
  for (size_t i = 0; i < rows.size(); ++i)
    result[rows[i].place] =
        Bytes(y.begin() + i * kPitch, y.begin() + (i + 1) * kPitch);
  return result;
}

/// What the oracle says of a token alone, expert by expert.
std::vector<Bytes> oracleOf(const Compiled &compiled, const Model &model,
                            int64_t token) {
  std::vector<Bytes> result;
  for (int64_t expert : model.experts[token]) {
    std::vector<int32_t> offsets(kExperts + 1, 0);
    std::fill(offsets.begin() + expert + 1, offsets.end(), 1);
    Tensor x{Format::F32, {1, kHidden}, {}};
    auto from = model.x.bytes.begin() + token * kHidden * 4;
    x.bytes.assign(from, from + kHidden * 4);
    result.push_back(
        expected(compiled.contract("experts"), {{"x", x},
                                                {"weight", model.weight},
                                                {"offsets", integers(offsets)}})
            .bytes);
  }
  return result;
}

/// Does the variant take a launch of so many rows?
bool takes(const VariantSpec &variant, size_t rows) {
  auto dims = variant.conditions.value("dims", nlohmann::json::object());
  auto range = dims.value("tokens", nlohmann::json::object());
  return int64_t(rows) <= range.value("max", INT64_MAX) &&
         int64_t(rows) >= range.value("min", int64_t(0));
}

} // namespace

TEST_CASE("a token's experts do not hear of other tokens") {
  Compiled compiled({"experts"});
  const Model model(40);
  std::vector<std::vector<Bytes>> alone;
  for (int64_t token = 0; token < model.tokens; ++token)
    alone.push_back(outputsOf(compiled, model, {token}, ""));
  for (int64_t token : {0, 17, 39})
    CHECK(alone[token] == oracleOf(compiled, model, token));

  std::vector<int64_t> all(model.tokens);
  std::iota(all.begin(), all.end(), 0);
  std::vector<std::vector<int64_t>> batches{all, {3}, {39, 0}, {5, 6, 7, 8, 9}};
  std::reverse(all.begin(), all.end());
  batches.push_back(all);
  std::mt19937 random(3);
  for (size_t size : {17, 31}) {
    for (size_t i = all.size() - 1; i > 0; --i)
      std::swap(all[i], all[random() % (i + 1)]);
    batches.emplace_back(all.begin(), all.begin() + size);
  }
  int variants = 0;
  for (const VariantSpec *variant :
       compiled.package().variantsOf(compiled.contract("experts"))) {
    if (!cpu().runs(*variant))
      continue;
    ++variants;
    INFO(variant->id);
    for (const std::vector<int64_t> &batch : batches) {
      if (!takes(*variant, batch.size() * kChosen))
        continue;
      std::vector<Bytes> together =
          outputsOf(compiled, model, batch, variant->id);
      for (size_t i = 0; i < batch.size(); ++i) {
        std::vector<Bytes> own(together.begin() + i * kChosen,
                               together.begin() + (i + 1) * kChosen);
        CHECK(own == alone[batch[i]]);
      }
    }
  }
  CHECK(variants > 0);
}

TEST_CASE("K cut where an expert's block is long would be heard") {
  Compiled compiled({"experts", "experts_halves"});
  const Model model(40);
  std::vector<int64_t> all(model.tokens);
  std::iota(all.begin(), all.end(), 0);
  std::vector<Bytes> whole = outputsOf(compiled, model, all, ""),
                     cut =
                         outputsOf(compiled, model, all, "", "experts_halves");
  int64_t differ = 0;
  for (size_t i = 0; i < whole.size(); ++i)
    differ += whole[i] != cut[i];
  CHECK(differ > int64_t(whole.size()) / 2);
}
