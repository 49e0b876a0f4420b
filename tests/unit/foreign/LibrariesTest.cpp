// LibrariesTest.cpp - OpenBLAS and NumPy against what is known of them
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "contracts/reference/Arithmetic.h"
#include "tools/evidence/UserError.h"
#include "tools/evidence/foreign/Command.h"
#include "tools/evidence/foreign/Symbol.h"
#include "tools/evidence/reveal/FunctionBox.h"
#include "tools/evidence/reveal/Reveal.h"

#include <catch2/catch.hpp>

#include <bit>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <random>

using namespace bitpact::reveal;
using namespace bitpact::evidence;

namespace {

RevealedTree revealed(BlackBox &box) {
  Options treeOnly;
  treeOnly.treeOnly = true;
  return reveal(box, treeOnly).tree;
}

/// The leaves `first`, `first + step` … added one after another.
VertexId chain(RevealedTree &tree, std::vector<int64_t> positions) {
  VertexId sum = tree.leaf(positions[0]);
  for (size_t i = 1; i < positions.size(); ++i)
    sum = tree.meet({sum, tree.leaf(positions[i])});
  return sum;
}

std::vector<int64_t> positions(int64_t first, int64_t end, int64_t step = 1) {
  std::vector<int64_t> list;
  for (; first < end; first += step)
    list.push_back(first);
  return list;
}

/// NumPy's pairwise summation (numpy/core/src/umath/loops_utils.h.src): fewer
/// than 8 elements one after another, up to 128 in 8 accumulators, and more in
/// halves cut at a multiple of 8.
VertexId numpySum(RevealedTree &tree, int64_t first, int64_t n) {
  if (n < 8)
    return chain(tree, positions(first, first + n));
  if (n > 128) {
    int64_t half = n / 2 - n / 2 % 8;
    VertexId left = numpySum(tree, first, half);
    return tree.meet({left, numpySum(tree, first + half, n - half)});
  }
  int64_t whole = n - n % 8;
  std::vector<VertexId> r;
  for (int64_t j = 0; j < 8; ++j)
    r.push_back(chain(tree, positions(first + j, first + whole, 8)));
  for (size_t width = 8; width > 1; width /= 2)
    for (size_t j = 0; j < width / 2; ++j)
      r[j] = tree.meet({r[2 * j], r[2 * j + 1]});
  for (int64_t i = first + whole; i < first + n; ++i)
    r[0] = tree.meet({r[0], tree.leaf(i)});
  return r[0];
}

/// OpenBLAS's sdot for Haswell on a multiple of 32: 32 lanes, and then lanes
/// 4, 8, 16, 1 and 2 apart are added.
RevealedTree haswellDot(int64_t n) {
  RevealedTree tree;
  std::map<int64_t, VertexId> lanes;
  for (int64_t lane = 0; lane < 32; ++lane)
    lanes[lane] = chain(tree, positions(lane, n, 32));
  for (int64_t apart : {4, 8, 16, 1, 2})
    for (int64_t lane = 0; lane < 32; ++lane)
      if (!(lane & apart) && lanes.count(lane)) {
        lanes[lane] = tree.meet({lanes[lane], lanes[lane + apart]});
        lanes.erase(lane + apart);
      }
  return tree;
}

/// f32: leaves that meet a sum or another leaf are steps, sums that meet are
/// added. With two factors a step is one fma.
float evaluate(const RevealedTree &tree,
               const std::vector<std::vector<double>> &rows) {
  auto factor = [&](size_t row, int64_t i) {
    return row < rows.size() ? static_cast<float>(rows[row][i]) : 1.0f;
  };
  std::vector<float> values;
  for (VertexId id = 0; id <= tree.root(); ++id) {
    const Vertex &vertex = tree.at(id);
    if (vertex.isLeaf()) {
      values.push_back(factor(0, vertex.position) * factor(1, vertex.position));
      continue;
    }
    if (vertex.children.size() != 2)
      return std::numeric_limits<float>::quiet_NaN();
    const Vertex &second = tree.at(vertex.children[1]);
    float sum = values[vertex.children[0]];
    values.push_back(second.isLeaf() ? std::fma(factor(0, second.position),
                                                factor(1, second.position), sum)
                                     : sum + values[vertex.children[1]]);
  }
  return values.back();
}

/// On 1,000 random inputs of mixed magnitude; and the same leaves in one chain
/// give other bytes for most of them.
void requireSameBytes(FunctionBox &box, const RevealedTree &tree,
                      size_t operands) {
  RevealedTree serial;
  chain(serial, positions(0, tree.leaves()));
  std::mt19937_64 random(7);
  std::normal_distribution<double> normal;
  std::vector<std::vector<std::vector<double>>> inputs(1000);
  for (auto &rows : inputs) {
    rows.resize(operands);
    for (auto &row : rows)
      for (int64_t i = 0; i < tree.leaves(); ++i)
        row.push_back(static_cast<float>(
            std::ldexp(normal(random), static_cast<int>(random() % 12))));
  }
  auto results = box.bits(inputs);
  int64_t equal = 0, serialEqual = 0;
  for (size_t i = 0; i < inputs.size(); ++i) {
    uint64_t bits = results[i];
    equal += std::bit_cast<uint32_t>(evaluate(tree, inputs[i])) == bits;
    serialEqual += std::bit_cast<uint32_t>(evaluate(serial, inputs[i])) == bits;
  }
  CHECK(equal == 1000);
  if (!(tree == serial))
    CHECK(serialEqual < 500);
}

/// OpenBLAS with one thread and the kernels of one processor; its own choice
/// differs between machines.
std::unique_ptr<FunctionBox> openBlas(const std::string &symbol,
                                      std::map<std::string, int64_t> dims,
                                      const FunctionBox::Coordinate &at = {}) {
  ::setenv("OPENBLAS_CORETYPE", "Haswell", 1);
  ::setenv("OPENBLAS_NUM_THREADS", "1", 1);
  return std::make_unique<FunctionBox>(
      std::make_unique<foreign::Symbol>(
          foreign::SymbolPath{"libopenblas.so.0", symbol},
          foreign::signatureFor(symbol, ""), dims),
      at);
}

bool haswellRuns() {
#if defined(__x86_64__)
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
#else
  return false;
#endif
}

} // namespace

TEST_CASE("OpenBLAS sdot", "[libraries]") {
  if (!haswellRuns())
    return;
  int64_t n = GENERATE(64, 96, 1024);
  std::string symbol = n == 64 ? "sdot_" : "cblas_sdot";
  auto box = openBlas(symbol, {{"n", n}});
  RevealedTree tree = revealed(*box);
  CHECK(tree.difference(haswellDot(n)).value_or("") == "");
  requireSameBytes(*box, tree, 2);
}

TEST_CASE("OpenBLAS sgemm", "[libraries]") {
  if (!haswellRuns())
    return;
  auto box = openBlas("cblas_sgemm", {{"m", 4}, {"n", 5}, {"k", 96}},
                      {{"m", 3}, {"n", 4}});
  RevealedTree tree = revealed(*box), serial;
  chain(serial, positions(0, 96));
  CHECK(tree.difference(serial).value_or("") == "");
  requireSameBytes(*box, tree, 2);
}

TEST_CASE("OpenBLAS sgemm in blocks of k", "[libraries]") {
  if (!haswellRuns())
    return;
  std::string symbol = GENERATE("cblas_sgemm", "sgemm_");
  auto box = openBlas(symbol, {{"m", 4}, {"n", 4}, {"k", 1000}});
  RevealedTree tree = revealed(*box);
  RevealedTree serial;
  chain(serial, positions(0, 1000));
  CHECK(!(tree == serial));
  requireSameBytes(*box, tree, 2);
}

TEST_CASE("NumPy's pairwise sum", "[libraries]") {
  int64_t n = GENERATE(7, 100, 128, 1000);
  auto signature =
      foreign::parseTensorSignature("f32[rows] sum(f32[rows, n] x)");
  auto python = std::make_shared<foreign::Conversation>(
      BITPACT_TEST_NUMPY " " BITPACT_TEST_SCRIPTS "/numpy_sum.py",
      signature.text, 60);
  std::map<std::string, int64_t> dims{{"rows", 2}, {"n", n}};
  auto box = std::make_unique<FunctionBox>(
      std::make_unique<foreign::Command>(python, signature, dims),
      FunctionBox::Coordinate{{"rows", 1}});
  RevealedTree tree = revealed(*box), expected;
  numpySum(expected, 0, n);
  CHECK(tree.difference(expected).value_or("") == "");
  requireSameBytes(*box, tree, 1);
}
