// TreeReader.h - the tree that a computed term has
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef BITPACT_COMPILER_INTERPRETER_TREEREADER_H
#define BITPACT_COMPILER_INTERPRETER_TREEREADER_H

#include "compiler/Interpreter/Declared.h"

namespace bitpact::interpreter {

/// Reads terms of a node as trees, by matching the step primitive, merges and
/// roundings. Where several trees give the same bits (a chain that goes on with
/// an element, or a merge with the partial of one element) the declared one is
/// read if it is among them; so the tree is the declared one exactly if the
/// terms are equal.
class TreeReader {
public:
  TreeReader(TermStore &terms, NodeTerms &node);

  /// Nothing for a term that is no tree over the elements, or one whose merges
  /// are nested more than `kDeepest` levels deep.
  std::optional<algebra::TreeId> read(TermId term) {
    return read(term, node.tree);
  }

private:
  using Tree = std::optional<algebra::TreeId>;
  using Bindings = std::vector<TermId>;

  Tree read(TermId term, Tree declared);
  Tree readAs(TermId term, Tree declared);
  Tree readStep(TermId term, Tree declared);
  Tree readMerge(TermId term, Tree declared);
  Tree readRound(TermId term, Tree declared);
  bool unify(TermId pattern, TermId term, Bindings &bindings);
  Tree leafOf(const Bindings &bindings);

  static constexpr int kDeepest = 2000;

  TermStore &terms;
  NodeTerms &node;
  algebra::TreeStore &store;
  size_t arguments;
  TermId identity, step, first;
  int depth = 0;
  std::map<std::pair<size_t, TermId>, int64_t> positions;
  std::map<std::pair<TermId, algebra::TreeId>, Tree> known;
};

/// As TreeStore::expression writes it, but cut off.
std::string briefText(const algebra::TreeStore &store, algebra::TreeId id);

/// Where two trees of one store first differ, top down: a part of each.
std::pair<algebra::TreeId, algebra::TreeId>
firstDifference(const algebra::TreeStore &store, algebra::TreeId a,
                algebra::TreeId b);

} // namespace bitpact::interpreter

#endif
