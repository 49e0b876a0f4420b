// FunctionBox.cpp - rows of terms as the tensors of foreign code
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/evidence/reveal/FunctionBox.h"
#include "contracts/reference/Arithmetic.h"
#include "tools/evidence/UserError.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <random>
#include <stdexcept>

using bitpact::algebra::Format;
using bitpact::algebra::ReductionKind;
using bitpact::evidence::UserError;
using bitpact::evidence::foreign::Formula;
using bitpact::evidence::foreign::Function;
using bitpact::evidence::foreign::TensorType;
using bitpact::reference::Tensor;

namespace bitpact::reveal {
namespace {

/// Of the inputs that are held at once.
constexpr int64_t BatchBytes = 64 << 20;

void put(Tensor &tensor, int64_t element, double value) {
  int width = algebra::bytes(tensor.format);
  uint64_t bits = reference::encode(tensor.format, value);
  if (reference::decode(tensor.format, bits) != value)
    throw std::logic_error("a term that the format cannot hold");
  std::memcpy(tensor.bytes.data() + element * width, &bits, width);
}

Tensor filled(const TensorType &type, double value) {
  Tensor tensor{type.format, type.shape, {}};
  tensor.bytes.resize(static_cast<size_t>(type.bytes()));
  for (int64_t i = 0; i < type.elements(); ++i)
    put(tensor, i, value);
  return tensor;
}

/// Values with full significands and exponents in a range of 2^8.
std::vector<double> randomRow(std::mt19937_64 &random, Format format, int64_t n,
                              bool positive) {
  std::vector<double> row;
  for (int64_t i = 0; i < n; ++i) {
    double fraction = 1 + std::ldexp(static_cast<double>(random() >> 12), -52);
    double value = std::ldexp(fraction, static_cast<int>(random() % 8) - 4);
    row.push_back(
        reference::roundTo(format, !positive && random() & 1 ? -value : value));
  }
  return row;
}

} // namespace

FunctionBox::FunctionBox(std::unique_ptr<Function> function,
                         const Coordinate &at)
    : code(std::move(function)) {
  place(at);
  describe();
  for (const TensorType &input : code->inputs())
    ones.push_back(filled(input, 1));

  std::mt19937_64 random(1);
  std::vector<std::vector<Tensor>> runs;
  for (int i = 0; i < 2; ++i) {
    std::vector<Tensor> run;
    for (const TensorType &input : code->inputs()) {
      Tensor tensor = filled(input, 1);
      std::vector<double> values =
          randomRow(random, input.format, input.elements(), false);
      for (int64_t j = 0; j < input.elements(); ++j)
        put(tensor, j, values[j]);
      run.push_back(std::move(tensor));
    }
    runs.push_back(std::move(run));
  }
  code->requireDeterministic(runs);
}

void FunctionBox::place(const Coordinate &at) {
  const TensorType &output = code->output();
  std::map<std::string, int64_t> extents;
  for (const TensorType &input : code->inputs())
    for (size_t i = 0; i < input.dims.size(); ++i)
      extents[input.dims[i]] = input.shape[i];
  bool norm = code->formula() == Formula::RmsNorm;
  std::vector<std::string> free = output.dims;
  if (norm) {
    reduced = output.dims.back();
    free.pop_back();
  } else {
    for (const auto &[dim, extent] : extents)
      if (!std::count(free.begin(), free.end(), dim))
        reduced = dim;
  }
  for (const auto &[dim, position] : at) {
    if (!std::count(free.begin(), free.end(), dim))
      throw UserError("--at",
                      fmt::format("'{}' is no dim of the output that is not "
                                  "reduced; there are [{}]",
                                  dim, fmt::join(free, " ")));
    if (position == everywhere) {
      if (!star.empty())
        throw UserError("--at", fmt::format("both {} and {} are *: questions "
                                            "are asked along one dim",
                                            star, dim));
      star = dim;
      across = extents[dim];
      continue;
    }
    if (position < 0 || position >= extents[dim])
      throw UserError("--at", fmt::format("{}={} is not in 0 … {}", dim,
                                          position, extents[dim] - 1));
  }
  about.n = extents[reduced];
  for (const TensorType &input : code->inputs())
    rows.push_back(rowOf(input, at));
  result = rowOf(output, at);
  // Of a product of matrices, the terms go where every question has a row.
  if (code->formula() == Formula::Dot && !star.empty() && rows[0].step == 0)
    carrier = 1;
}

FunctionBox::Row FunctionBox::rowOf(const TensorType &tensor,
                                    const Coordinate &at) const {
  Row row;
  int64_t stride = 1;
  for (size_t i = tensor.dims.size(); i-- > 0;) {
    auto position = at.find(tensor.dims[i]);
    if (tensor.dims[i] == reduced)
      row.stride = stride;
    else if (tensor.dims[i] == star)
      row.step = stride;
    else if (position != at.end())
      row.offset += position->second * stride;
    stride *= tensor.shape[i];
  }
  return row;
}

void FunctionBox::describe() {
  about.subject = code->name();
  about.kind = code->formula() == Formula::Max   ? ReductionKind::Max
               : code->formula() == Formula::Dot ? ReductionKind::Dot
                                                 : ReductionKind::Sum;
  about.element = code->inputs()[0].format;
  about.output = code->output().format;
  about.factors = code->formula() == Formula::Dot;
  about.terms = spaceOf(about.element, about.factors);
  if (code->formula() == Formula::RmsNorm) {
    // A term is the square of an element; an accumulator holds it too.
    about.kind = ReductionKind::Dot;
    about.terms.negative = false;
    about.terms.exponentStep = 2;
    about.readout = Readout::Monotone;
  }
}

void FunctionBox::putRow(Tensor &tensor, const Row &row, int64_t question,
                         const std::vector<double> &values) const {
  for (int64_t i = 0; i < about.n; ++i)
    put(tensor, row.offset + question * row.step + i * row.stride, values[i]);
}

uint64_t FunctionBox::bitsAt(const Tensor &output, int64_t question,
                             int64_t reader) const {
  int width = algebra::bytes(about.output);
  int64_t element = result.offset + question * result.step;
  if (code->formula() == Formula::RmsNorm)
    element += reader * result.stride;
  uint64_t bits = 0;
  std::memcpy(&bits, output.bytes.data() + element * width, width);
  return bits;
}

int64_t FunctionBox::runBytes() const {
  int64_t bytes = code->output().bytes();
  for (const TensorType &input : code->inputs())
    bytes += input.bytes();
  return bytes;
}

std::vector<uint64_t> FunctionBox::bits(const std::vector<Rows> &given) {
  return ask(given, std::vector<int64_t>(given.size()));
}

std::vector<uint64_t> FunctionBox::ask(const std::vector<Rows> &given,
                                       const std::vector<int64_t> &readers) {
  const int64_t most =
      std::clamp<int64_t>(BatchBytes / runBytes(), 1, 4096);
  std::vector<uint64_t> results;
  results.reserve(given.size());
  std::vector<std::vector<Tensor>> runs;
  std::vector<int64_t> counts;
  auto flush = [&] {
    std::vector<Tensor> answers = code->call(runs);
    for (size_t run = 0; run < answers.size(); ++run)
      for (int64_t question = 0; question < counts[run]; ++question)
        results.push_back(
            bitsAt(answers[run], question, readers[results.size()]));
    runs.clear();
    counts.clear();
  };
  for (size_t i = 0; i < given.size(); ++i) {
    auto factors = [&](size_t at) {
      return given[at].size() > 1 ? &given[at][1] : nullptr;
    };
    bool fits = !runs.empty() && counts.back() < across;
    if (fits && sharesFactors()) {
      const auto *mine = factors(i), *theirs = factors(i - 1);
      fits = mine == theirs || (mine && theirs && *mine == *theirs);
    }
    if (!fits) {
      if (static_cast<int64_t>(runs.size()) == most)
        flush();
      runs.push_back(ones);
      counts.push_back(0);
    }
    int64_t question = counts.back()++;
    putRow(runs.back()[carrier], rows[carrier], question, given[i][0]);
    if (given[i].size() > 1 && (question == 0 || !sharesFactors()))
      putRow(runs.back()[1 - carrier], rows[1 - carrier], question,
             given[i][1]);
  }
  flush();
  return results;
}

std::vector<double> FunctionBox::run(const std::vector<Query> &queries) {
  bool norm = code->formula() == Formula::RmsNorm;
  // Rows of doubles take more room than what they are written to.
  const size_t slice = std::max<int64_t>(
      across, (int64_t(1) << 23) / std::max<int64_t>(about.n, 2048));
  std::vector<double> results;
  results.reserve(queries.size());
  for (size_t begin = 0; begin < queries.size(); begin += slice) {
    size_t end = std::min(queries.size(), begin + slice);
    std::vector<Rows> given;
    std::vector<int64_t> readers;
    for (size_t q = begin; q < end; ++q) {
      Query query = queries[q];
      if (about.factors)
        for (Term &term : query.terms)
          term = shared(term, about.element);
      std::vector<double> values = valuesOf(query, about.n);
      if (norm)
        for (double &value : values)
          value = std::sqrt(value);
      given.push_back({std::move(values)});
      if (std::any_of(query.terms.begin(), query.terms.end(),
                      [](const Term &term) { return term.factor != 1; }))
        given.back().push_back(factorsOf(query, about.n));
      readers.push_back(query.reader);
    }
    for (uint64_t bits : ask(given, readers)) {
      double value = reference::decode(about.output, bits);
      // A norm falls as the sum of squares grows.
      results.push_back(norm ? -value : value);
    }
  }
  return results;
}

} // namespace bitpact::reveal
