// FunctionBoxTest.cpp - the terms that foreign code is given, and read back
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/evidence/reveal/FunctionBox.h"
#include "contracts/reference/Arithmetic.h"
#include "tools/evidence/UserError.h"

#include <catch2/catch.hpp>

#include <cmath>
#include <cstring>

using namespace bitpact::reveal;
using namespace bitpact::evidence;
using bitpact::algebra::Format;
using bitpact::algebra::ReductionKind;
using bitpact::reference::Tensor;
using Catch::Contains;
using foreign::Formula;
using foreign::TensorType;

namespace {

double at(const Tensor &tensor, int64_t element) {
  int width = bitpact::algebra::bytes(tensor.format);
  uint64_t bits = 0;
  std::memcpy(&bits, tensor.bytes.data() + element * width, width);
  return bitpact::reference::decode(tensor.format, bits);
}

/// A function given by what it makes of its inputs, in doubles.
class Fake : public foreign::Function {
public:
  using Body = std::vector<double> (*)(const std::vector<Tensor> &);
  Fake(Formula formula, std::vector<TensorType> inputs, TensorType output,
       Body body)
      : kind(formula), types(std::move(inputs)), out(std::move(output)),
        body(body) {}

  Formula formula() const override { return kind; }
  const std::vector<TensorType> &inputs() const override { return types; }
  const TensorType &output() const override { return out; }
  const std::string &name() const override { return label; }
  std::vector<std::string> notes() const override { return {}; }
  std::vector<Tensor>
  call(const std::vector<std::vector<Tensor>> &runs) override {
    std::vector<Tensor> outputs;
    for (const auto &run : runs) {
      Tensor tensor{out.format, out.shape, {}};
      for (double value : body(run)) {
        uint64_t bits = bitpact::reference::encode(out.format, value);
        auto *bytes = reinterpret_cast<const uint8_t *>(&bits);
        tensor.bytes.insert(tensor.bytes.end(), bytes,
                            bytes + bitpact::algebra::bytes(out.format));
      }
      outputs.push_back(tensor);
    }
    return outputs;
  }

private:
  Formula kind;
  std::vector<TensorType> types;
  TensorType out;
  Body body;
  std::string label = "fake";
};

Query query(double fill, std::vector<Term> terms, int64_t reader = 0) {
  Query query;
  query.fill = fill;
  query.terms = std::move(terms);
  query.reader = reader;
  return query;
}

std::unique_ptr<Fake> columnSum() {
  return std::make_unique<Fake>(
      Formula::Sum,
      std::vector<TensorType>{{"x", Format::BF16, {"m", "n"}, {3, 2}}},
      TensorType{"y", Format::F32, {"n"}, {2}},
      [](const std::vector<Tensor> &in) {
        std::vector<double> y(2);
        for (int i = 0; i < 6; ++i)
          y[i % 2] += at(in[0], i);
        return y;
      });
}

} // namespace

TEST_CASE("a column of a matrix, and the other one is ones", "[box]") {
  int64_t column = GENERATE(0, 1);
  FunctionBox box(columnSum(), {{"n", column}});
  CHECK(box.signature().n == 3);
  CHECK(box.signature().element == Format::BF16);
  CHECK(box.signature().output == Format::F32);
  CHECK(box.signature().terms.negative);
  Query some = query(1, {{0, 256}, {2, -3}});
  CHECK(box.run({some, query(0, {})}) == std::vector<double>{254, 0});
  CHECK(box.bits({{{5, 6, 7}}, {{1, 1, 1}}}) ==
        std::vector<uint64_t>{0x41900000, 0x40400000}); // 18, 3
}

TEST_CASE("a product of matrices is a dot of a row and a column", "[box]") {
  auto product = std::make_unique<Fake>(
      Formula::Dot,
      std::vector<TensorType>{{"a", Format::F32, {"m", "k"}, {2, 2}},
                              {"b", Format::F32, {"k", "n"}, {2, 3}}},
      TensorType{"c", Format::F32, {"m", "n"}, {2, 3}},
      [](const std::vector<Tensor> &in) {
        std::vector<double> c;
        for (int i = 0; i < 6; ++i)
          c.push_back(at(in[0], i / 3 * 2) * at(in[1], i % 3) +
                      at(in[0], i / 3 * 2 + 1) * at(in[1], i % 3 + 3));
        return c;
      });
  FunctionBox box(std::move(product), {{"m", 1}, {"n", 2}});
  CHECK(box.signature().kind == ReductionKind::Dot);
  CHECK(box.signature().factors);
  // 2^200 is a product of two floats, and no float.
  CHECK(box.run({query(1, {{0, 0x1p200}, {1, -0x1p200}}),
                 query(0, {{1, 3, 5}})}) == std::vector<double>{0, 15});
}

TEST_CASE("questions side by side along one dim of a product", "[box]") {
  static int calls;
  calls = 0;
  auto product = [] {
    return std::make_unique<Fake>(
        Formula::Dot,
        std::vector<TensorType>{{"x", Format::F32, {"m", "k"}, {2, 2}},
                                {"w", Format::F32, {"n", "k"}, {3, 2}}},
        TensorType{"y", Format::F32, {"m", "n"}, {2, 3}},
        [](const std::vector<Tensor> &in) {
          ++calls;
          std::vector<double> y;
          for (int i = 0; i < 6; ++i)
            y.push_back(at(in[0], i / 3 * 2) * at(in[1], i % 3 * 2) +
                        at(in[0], i / 3 * 2 + 1) * at(in[1], i % 3 * 2 + 1));
          return y;
        });
  };
  for (const char *dim : {"m", "n"}) {
    FunctionBox box(product(), {{dim, FunctionBox::everywhere}});
    bool columns = dim[0] == 'n';
    CHECK(box.sideBySide() == (columns ? 3 : 2));
    calls = 0;
    CHECK(box.run({query(1, {}), query(0, {{0, 4}}), query(0, {{1, 5}}),
                   query(2, {})}) == std::vector<double>{2, 4, 5, 4});
    CHECK(calls == 2);
    // Factors that differ need calls of their own.
    calls = 0;
    CHECK(box.run({query(0, {{1, 3, 5}}), query(0, {{1, 3, 5}, {0, 1}}),
                   query(0, {{1, 3, 7}}), query(1, {})}) ==
          std::vector<double>{15, 16, 21, 2});
    CHECK(calls == 3);
  }
  CHECK_THROWS_WITH(FunctionBox(product(), {{"m", FunctionBox::everywhere},
                                            {"n", FunctionBox::everywhere}}),
                    Contains("both m and n are *"));
}

TEST_CASE("a norm is read at the largest term, turned round", "[box]") {
  auto norm = std::make_unique<Fake>(
      Formula::RmsNorm,
      std::vector<TensorType>{{"x", Format::F32, {"t", "h"}, {2, 4}},
                              {"w", Format::F32, {"h"}, {4}}},
      TensorType{"y", Format::F32, {"t", "h"}, {2, 4}},
      [](const std::vector<Tensor> &in) {
        std::vector<double> y;
        for (int i = 0; i < 8; ++i) {
          double sum = 0;
          for (int j = 0; j < 4; ++j)
            sum += std::pow(at(in[0], i / 4 * 4 + j), 2);
          y.push_back(at(in[0], i) / std::sqrt(sum / 4) * at(in[1], i % 4));
        }
        return y;
      });
  FunctionBox box(std::move(norm), {{"t", 1}});
  CHECK(box.signature().readout == Readout::Monotone);
  CHECK(!box.signature().terms.negative);
  CHECK(box.signature().terms.exponentStep == 2);
  // x = 0 0 8 0: 8 / sqrt(16) = 2, and 8 / sqrt(64 * 2 / 4) is below it.
  auto results =
      box.run({query(0, {{2, 64}}, 2), query(0, {{0, 64}, {2, 64}}, 2)});
  CHECK(results[0] == -2);
  CHECK(results[1] > -2);
}

TEST_CASE("elements that there are not", "[box]") {
  CHECK_THROWS_WITH(FunctionBox(columnSum(), {{"n", 2}}),
                    Contains("n=2 is not in 0 … 1"));
  CHECK_THROWS_WITH(FunctionBox(columnSum(), {{"m", 0}}),
                    Contains("'m' is no dim of the output"));
}

TEST_CASE("a function that remembers", "[box]") {
  auto drifting = std::make_unique<Fake>(
      Formula::Sum, std::vector<TensorType>{{"x", Format::F32, {"n"}, {3}}},
      TensorType{"y", Format::F32, {}, {}}, [](const std::vector<Tensor> &) {
        static double calls = 0;
        return std::vector<double>{calls++};
      });
  CHECK_THROWS_WITH(FunctionBox(std::move(drifting)),
                    Contains("is not deterministic"));
}
