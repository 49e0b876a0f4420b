// Simulated.h - a black box whose tree is known: it is evaluated as written
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef BITPACT_TESTS_REVEAL_SIMULATED_H
#define BITPACT_TESTS_REVEAL_SIMULATED_H

#include "contracts/algebra/TreeBuilder.h"
#include "tools/evidence/reveal/BlackBox.h"
#include "tools/evidence/reveal/RevealedTree.h"

#include <functional>
#include <random>

namespace bitpact::reveal::test {

/// Adds the terms of a query in the order of a tree, in the arithmetic of a
/// format, with this file's own few lines and not with the oracle's.
class Simulated : public BlackBox {
public:
  struct Options {
    algebra::Format element = algebra::Format::F32;
    algebra::Format accumulator = algebra::Format::F32;
    algebra::Format output = algebra::Format::F32;
    algebra::ReductionKind kind = algebra::ReductionKind::Sum;
    /// Terms are squares, and the output is x[reader] / sqrt(sum / n + eps).
    bool norm = false;
    /// The accumulator is told.
    bool told = true;
    /// The sum is exact, whatever the tree.
    bool exact = false;
    /// The product of a dot is rounded before it is added.
    bool roundedProduct = false;
    /// Subnormal results of a step become zero.
    bool flush = false;
    /// Steps round toward zero.
    bool towardZero = false;
  };

  Simulated(algebra::TreeStore store, algebra::TreeId root, int64_t n,
            const Options &options);
  /// The tree that texts of the language declare.
  Simulated(const std::string &partition, const std::string &merge,
            algebra::Start start, int64_t n, const Options &options);

  const Signature &signature() const override { return signatureOf; }
  std::vector<double> run(const std::vector<Query> &queries) override;

  RevealedTree tree() const { return RevealedTree::of(store, root); }
  /// Called with the number of the row, for boxes that change their mind.
  std::function<void(int64_t row, double &result)> disturb;
  int64_t rows = 0;

private:
  double sum(const Query &query) const;
  double round(double value) const;

  algebra::TreeStore store;
  algebra::TreeId root;
  Options options;
  Signature signatureOf;
};

/// Any binary tree over n leaves, or with steps of up to `widest` parts.
algebra::TreeId randomTree(algebra::TreeStore &store, int64_t n,
                           std::mt19937_64 &random);

} // namespace bitpact::reveal::test

#endif // BITPACT_TESTS_REVEAL_SIMULATED_H
