// Term.h - what a lane holds: bits, a term over elements, or nothing stated
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef BITPACT_COMPILER_INTERPRETER_TERM_H
#define BITPACT_COMPILER_INTERPRETER_TERM_H

#include "compiler/Interpreter/Scalar.h"
#include "llvm/ADT/ArrayRef.h"

#include <string>
#include <unordered_map>
#include <vector>

namespace bitpact::interpreter {

using TermId = int32_t;

/// A scalar operation applied to terms, or a leaf.
struct Term {
  Op op;
  Scalar type;
  TermId operands[3] = {-1, -1, -1};
  /// Bits of a constant, predicate of a comparison, index of an element (whose
  /// tensor is operands[0]), number of a hole or of a set.
  int64_t attribute = 0;
  bool operator==(const Term &) const = default;
};

/// What a lane holds.
struct Cell {
  enum State : int32_t { Concrete = -1, Unspecified = -2 };
  uint64_t bits = 0;
  TermId term = Unspecified;

  bool operator==(const Cell &) const = default;
  static Cell of(uint64_t bits) { return {bits, Concrete}; }
  static Cell symbol(TermId term) { return {0, term}; }
  bool isConcrete() const { return term == Concrete; }
  bool isSymbolic() const { return term >= 0; }
  bool isUnspecified() const { return term == Unspecified; }
};

/// Hash-consed terms in a normal form: terms of one id have the same bits on
/// every input, but for what a NaN carries until it is stored. The laws used:
/// −0 + x = x, max(−Inf, x) = x, 1·x = x, x / 2^k = 2^−k·x where 2^−k is a
/// number, fma(a, b, −0) = a·b, a sign moves out of a product, operands of
/// commutative operations may be swapped, and converting to a wider format and
/// on or back rounds nothing.
class TermStore {
public:
  TermId constant(Scalar type, uint64_t bits);
  TermId element(int tensor, int64_t index, Scalar type);
  TermId hole(int number, Scalar type);
  /// A primitive applied to symbols, its operations unseen: equal where the
  /// primitive and the symbols are.
  TermId whole(int primitive, llvm::ArrayRef<TermId> arguments, Scalar type);

  /// Concrete operands give a concrete result.
  Cell apply(const Action &action, llvm::ArrayRef<Cell> operands);
  TermId apply(const Action &action, llvm::ArrayRef<TermId> operands);
  TermId termOf(const Cell &cell, Scalar type);

  const Term &operator[](TermId id) const { return terms[id]; }
  int operandCount(TermId id) const;
  int64_t size() const { return int64_t(terms.size()); }

  /// The term in which nested maxima are sets: for merges in an open order.
  TermId withSets(TermId root);

  /// `add(x[3], mul(x[4], 1.0))`, cut off after about `limit` characters.
  std::string text(TermId id, size_t limit = 160) const;
  std::vector<std::string> tensors; ///< names for texts

private:
  TermId intern(const Term &term);
  TermId normal(Term term);
  TermId product(Term term);
  TermId narrowed(const Term &term);
  std::optional<TermId> exactInverse(TermId id);
  bool isCanonical(TermId id) const;
  bool isConstant(TermId id, double value, bool negative) const;
  void write(TermId id, std::string &out, size_t limit) const;
  TermId set(std::vector<TermId> members, Scalar type);
  void collect(TermId top, std::vector<TermId> &found);

  std::vector<Term> terms;
  /// Of the hash table: the term, and a part of the hash that places leave
  /// open, so that a term that is another need not be looked at.
  struct Entry {
    TermId id = -1;
    uint32_t tag = 0;
  };
  std::vector<Entry> table;
  std::vector<std::vector<TermId>> sets;              ///< by number, ascending
  std::unordered_multimap<uint64_t, TermId> setIndex; ///< by hash
  std::vector<TermId> inSets; ///< what `withSets` has given, or -1
  std::vector<uint32_t> visited;
  uint32_t visit = 0;
};

} // namespace bitpact::interpreter

#endif
