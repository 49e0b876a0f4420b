// BlackBox.h - something that adds n terms in an order that nobody told
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef BITPACT_EVIDENCE_REVEAL_BLACKBOX_H
#define BITPACT_EVIDENCE_REVEAL_BLACKBOX_H

#include "contracts/algebra/Format.h"
#include "contracts/algebra/MergeOrder.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace bitpact::reveal {

/// The term at a position is value * factor. A factor other than 1 is for
/// boxes that say `factors`.
struct Term {
  int64_t position = 0;
  double value = 0;
  double factor = 1;
};

/// One row of n terms: those listed; of the others, those at positions of
/// `filled` (all, if it is not set) are `fill`, and the rest is +0.
struct Query {
  double fill = 0;
  /// Ascending; shared between the queries of a batch, since it may be long.
  std::shared_ptr<const std::vector<int64_t>> filled;
  /// Distinct positions, in any order.
  std::vector<Term> terms;
  /// A Monotone output that has one element a position is read at this one.
  int64_t reader = 0;
};

/// The terms that a box can make.
struct TermSpace {
  /// False for squares and for weights e^(x - m).
  bool negative = true;
  /// Powers of two 2^e, minExponent <= e <= maxExponent, e a multiple of
  /// `exponentStep` (2 for squares), are made exactly, and so is 0.
  int minExponent = 0, maxExponent = 0, exponentStep = 1;
  /// Significant bits that one factor (for squares: the root) may have.
  int precision = 0;
  /// False for weights: a term is made to within a seventh of itself, but 0
  /// and 1 exactly, and each row has a 1.
  bool exact = true;
};

enum class Readout : uint8_t {
  /// The result is the sum, rounded once to the output's format.
  Sum,
  /// The result is a monotone function of the sum and of the term at `reader`.
  /// Nothing else is known of it.
  Monotone
};

struct Signature {
  /// For people: "sum of cpu:x86-64-v3/train", "libblas.so:cblas_sdot".
  std::string subject;
  algebra::ReductionKind kind = algebra::ReductionKind::Sum;
  /// The number of terms.
  int64_t n = 0;
  algebra::Format element = algebra::Format::F32;
  algebra::Format output = algebra::Format::F32;
  /// If it is known; probes find it out where it is not.
  std::optional<algebra::Format> accumulator;
  TermSpace terms;
  /// The two factors of a term may be chosen each for itself (a dot product).
  bool factors = false;
  Readout readout = Readout::Sum;
};

/// What reveal asks questions of. A box makes the terms it is asked for exactly
/// (see TermSpace) or throws evidence::UserError.
class BlackBox {
public:
  virtual ~BlackBox() = default;
  virtual const Signature &signature() const = 0;

  /// One result a query, in their order. Many come at once: a launch takes many
  /// rows, and a process is asked once for all of them.
  virtual std::vector<double> run(const std::vector<Query> &queries) = 0;
};

/// The space of values of one format, or of products of two.
TermSpace spaceOf(algebra::Format element, bool product = false);

/// All n values of a query (the first factors).
std::vector<double> valuesOf(const Query &query, int64_t n);
/// All n second factors.
std::vector<double> factorsOf(const Query &query, int64_t n);

/// The term as two factors that `element` holds: a power of two beyond its
/// range is shared out over both. Throws std::logic_error if it cannot be.
Term shared(const Term &term, algebra::Format element);

} // namespace bitpact::reveal

#endif // BITPACT_EVIDENCE_REVEAL_BLACKBOX_H
