// Simulated.cpp - a black box whose tree is known: it is evaluated as written
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tests/unit/reveal/Simulated.h"

#include "contracts/reference/Arithmetic.h"
#include "contracts/reference/DotAtom.h"

#include <cmath>
#include <numeric>
#include <stdexcept>

using namespace bitpact::algebra;

namespace bitpact::reveal::test {

Simulated::Simulated(TreeStore treeStore, TreeId treeRoot, int64_t n,
                     const Options &boxOptions)
    : store(std::move(treeStore)), root(treeRoot), options(boxOptions) {
  signatureOf.subject = "a simulated tree";
  signatureOf.kind = options.norm ? ReductionKind::Dot : options.kind;
  signatureOf.n = n;
  signatureOf.element = options.element;
  signatureOf.output = options.output;
  if (options.told)
    signatureOf.accumulator = options.accumulator;
  signatureOf.terms =
      spaceOf(options.element, options.kind == ReductionKind::Dot);
  signatureOf.factors = options.kind == ReductionKind::Dot && !options.norm;
  if (options.norm) {
    signatureOf.terms = spaceOf(options.element, true);
    signatureOf.terms.negative = false;
    signatureOf.terms.exponentStep = 2;
    signatureOf.readout = Readout::Monotone;
  }
}

Simulated::Simulated(const std::string &partition, const std::string &merge,
                     Start start, int64_t n, const Options &boxOptions)
    : Simulated(TreeStore(), 0, n, boxOptions) {
  Reduction reduction;
  reduction.partition = Partition::parse(partition);
  reduction.order = MergeOrder::parse(merge);
  reduction.kind = signatureOf.kind;
  reduction.start = start;
  reduction.accumulator = options.accumulator;
  root = *buildTree(store, reduction, {n, {}, {}});
}

double Simulated::round(double value) const {
  double rounded = reference::roundTo(options.accumulator, value);
  if (options.towardZero && std::fabs(rounded) > std::fabs(value))
    rounded = std::nextafter(static_cast<float>(rounded), 0.0f);
  if (options.flush && std::fabs(rounded) < 0x1p-126)
    rounded = std::copysign(0.0, rounded);
  return rounded;
}

double Simulated::sum(const Query &query) const {
  int64_t n = signatureOf.n;
  std::vector<double> terms = valuesOf(query, n), factors(n, 1);
  if (signatureOf.factors) {
    Query split = query;
    for (Term &term : split.terms)
      term = shared(term, options.element);
    terms = valuesOf(split, n);
    factors = factorsOf(split, n);
  }
  for (double term : terms) {
    double root = options.norm ? std::sqrt(term) : term;
    if (reference::roundTo(options.element, root) != root)
      throw std::logic_error("a term that the element's format does not hold");
  }
  if (options.exact) {
    long double all = 0;
    for (int64_t i = 0; i < n; ++i)
      all += static_cast<long double>(terms[i]) * factors[i];
    return static_cast<double>(all);
  }
  auto product = [&](int64_t i) { return terms[i] * factors[i]; };
  std::vector<double> values(root + 1);
  for (TreeId id = 0; id <= root; ++id) {
    const TreeNode &node = store.node(id);
    const std::vector<TreeId> &children = node.children;
    double &value = values[id];
    // Sums in f32 of products of 24 bits are rounded once from long double.
    auto add = [&](double a, int64_t leaf) {
      double term = product(leaf);
      if (options.roundedProduct)
        term = round(term);
      if (options.accumulator == Format::F64)
        return round(a + term);
      return round(reference::addToOdd(term, a));
    };
    switch (node.kind) {
    case TreeKind::Identity:
      value = 0;
      break;
    case TreeKind::Leaf:
      value = round(product(node.position));
      break;
    case TreeKind::First:
    case TreeKind::Rescale:
      value = values[children[0]];
      break;
    case TreeKind::Step:
      value = add(values[children[0]], store.node(children[1]).position);
      break;
    case TreeKind::Merge:
      value = round(values[children[0]] + values[children[1]]);
      break;
    case TreeKind::Round:
      value = reference::roundTo(node.format, values[children[0]]);
      break;
    case TreeKind::Fused: {
      std::vector<double> a, b;
      for (size_t i = 1; i < children.size(); ++i) {
        a.push_back(terms[store.node(children[i]).position]);
        b.push_back(factors[store.node(children[i]).position]);
      }
      value =
          reference::dotStep(node.atom, options.element, a.data(), b.data(),
                             static_cast<int>(a.size()), values[children[0]]);
      break;
    }
    default:
      throw std::logic_error("no such vertex is simulated");
    }
  }
  return values[root];
}

std::vector<double> Simulated::run(const std::vector<Query> &queries) {
  std::vector<double> results;
  for (const Query &query : queries) {
    double result = sum(query);
    if (options.norm) {
      auto n = static_cast<float>(signatureOf.n);
      float x = 0;
      for (const Term &term : query.terms)
        if (term.position == query.reader)
          x = static_cast<float>(std::sqrt(term.value));
      float mean = static_cast<float>(result) / n;
      result = x * (1.0f / std::sqrt(mean + 1e-6f));
    }
    result = reference::roundTo(options.output, result);
    if (disturb)
      disturb(rows, result);
    ++rows;
    results.push_back(result);
  }
  return results;
}

TreeId randomTree(TreeStore &store, int64_t n, std::mt19937_64 &random) {
  std::vector<TreeId> parts(n);
  for (int64_t i = 0; i < n; ++i)
    parts[i] = store.first(store.leaf(i));
  while (parts.size() > 1) {
    std::swap(parts[random() % parts.size()], parts.back());
    TreeId one = parts.back();
    parts.pop_back();
    size_t other = random() % parts.size();
    parts[other] = store.merge(parts[other], one);
  }
  return parts.front();
}

} // namespace bitpact::reveal::test
