// DeclaredState.h - the terms of an online exp_sum
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef BITPACT_COMPILER_INTERPRETER_DECLAREDSTATE_H
#define BITPACT_COMPILER_INTERPRETER_DECLAREDSTATE_H

#include "compiler/Interpreter/Term.h"
#include "compiler/Interpreter/Whole.h"
#include "dialects/Pact/Pact.h"

#include <functional>

namespace bitpact::interpreter {

/// Expands the states that a node declares, from the digits of every element:
/// written without a look at how kernels are lowered.
class DeclaredState {
public:
  struct Primitives {
    pact::PrimitiveOp step, weight, rescale, combine; ///< the last may be null
  };

  /// `elements`: the values to be weighed, by position. `accumulator` and
  /// `maximum` are the formats of the sum and of the running maximum.
  DeclaredState(TermStore &terms, const WholePrimitives &whole,
                pact::NodeAttr node, Primitives primitives,
                std::vector<TermId> elements, Scalar accumulator,
                Scalar maximum);

  /// The sum of the state of all elements.
  TermId sum();

private:
  using Positions = std::vector<int64_t>;
  /// A value that may be missing; with states both terms are set.
  struct Part {
    TermId sum = -1, most = -1;
    bool empty() const { return sum < 0; }
  };

  Part states(int levels, const Positions &of);
  Part run(const Positions &of);
  Part partial(int levels, int base, const Positions &of,
               const std::function<Part(const Positions &)> &leaf);
  TermId chain(TermId accumulator, const Positions &of, TermId most);
  Part merged(const algebra::BoundMerge &entry, std::map<int64_t, Part> parts);
  Part meet(const algebra::BoundMerge &entry, const Part &left,
            const Part &right);
  /// The positions by the value of the digit that an entry merges.
  std::map<int64_t, Positions> split(int entry, const Positions &of) const;
  int64_t orderOf(int64_t position, int from, int to) const;
  TermId apply(pact::PrimitiveOp primitive, llvm::ArrayRef<TermId> arguments);
  TermId rounded(TermId value, std::optional<algebra::Format> format);
  TermId maximum(TermId a, TermId b);

  TermStore &terms;
  const WholePrimitives &whole;
  pact::NodeAttr node;
  Primitives primitives;
  std::vector<TermId> elements;
  Scalar accumulator, format;
  std::vector<algebra::BoundMerge> entries;
  algebra::StateEntries levels;
  int chains = 0;
  std::vector<std::vector<int64_t>> digits; ///< by position
  std::vector<int64_t> sizes; ///< of each digit one more than its greatest
};

} // namespace bitpact::interpreter

#endif
