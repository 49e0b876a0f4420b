// TreeReader.cpp - the tree that a computed term has
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/Interpreter/TreeReader.h"

#include <algorithm>

using namespace bitpact;
using namespace bitpact::interpreter;
using algebra::TreeId;
using algebra::TreeKind;

TreeReader::TreeReader(TermStore &terms, NodeTerms &node)
    : terms(terms), node(node), store(*node.store),
      arguments(node.leaves.front().size()) {
  for (size_t position = 0; position < node.leaves.size(); ++position)
    for (size_t i = 0; i < arguments; ++i)
      positions.emplace(std::pair(i, node.leaves[position][i]),
                        int64_t(position));
  identity = identityTerm(terms, node);
  std::vector<TermId> holes;
  for (size_t i = 0; i < arguments; ++i)
    holes.push_back(terms.hole(int(i), terms[node.leaves.front()[i]].type));
  first = firstTerm(terms, node, holes);
  holes.push_back(terms.hole(int(arguments), node.accumulator));
  step = applyPrimitive(terms, node.step, holes);
}

TreeReader::Tree TreeReader::read(TermId term, Tree declared) {
  if (declared && *declared < TreeId(node.ofTree.size()) &&
      node.ofTree[*declared] == term)
    return declared;
  std::pair key(term, declared.value_or(-1));
  if (auto found = known.find(key); found != known.end())
    return found->second;
  if (depth == kDeepest)
    return std::nullopt;
  ++depth;
  Tree result = readAs(term, declared);
  --depth;
  known[key] = result;
  return result;
}

TreeReader::Tree TreeReader::readAs(TermId term, Tree declared) {
  if (term == identity)
    return store.identity();
  if (Tree round = readRound(term, declared))
    return round;
  bool mergeFirst = declared && store.node(*declared).kind == TreeKind::Merge;
  if (mergeFirst)
    if (Tree merge = readMerge(term, declared))
      return merge;
  if (Tree step = readStep(term, declared))
    return step;
  Bindings bindings(arguments + 1, -1);
  if (unify(first, term, bindings))
    if (Tree leaf = leafOf(bindings))
      return store.first(*leaf);
  return mergeFirst ? std::nullopt : readMerge(term, declared);
}

TreeReader::Tree TreeReader::readRound(TermId term, Tree declared) {
  TermId rounded =
      terms[term].op == Op::Extend ? terms[term].operands[0] : term;
  if (terms[rounded].op != Op::Narrow || terms[term].type != node.accumulator)
    return std::nullopt;
  Tree inside;
  if (declared && store.node(*declared).kind == TreeKind::Round)
    inside = store.node(*declared).children[0];
  TermId part = terms[rounded].operands[0];
  // bf16 and f16 meet in f32: the part is a value of the accumulator's format.
  if (terms[part].type != node.accumulator)
    return std::nullopt;
  Tree tree = read(part, inside);
  if (!tree)
    return std::nullopt;
  return store.round(formatOf(terms[rounded].type), *tree);
}

/// A chain is followed in a loop: it may be as long as the row.
TreeReader::Tree TreeReader::readStep(TermId term, Tree declared) {
  std::vector<TreeId> leaves;
  while (true) {
    if (declared && node.ofTree.size() > size_t(*declared) &&
        node.ofTree[*declared] == term)
      break;
    Bindings bindings(arguments + 1, -1);
    if (!unify(step, term, bindings))
      break;
    Tree leaf = leafOf(bindings);
    if (!leaf)
      break;
    leaves.push_back(*leaf);
    term = bindings[arguments];
    if (declared)
      declared = store.node(*declared).kind == TreeKind::Step
                     ? Tree(store.node(*declared).children[0])
                     : std::nullopt;
  }
  if (leaves.empty())
    return std::nullopt;
  Tree state = read(term, declared);
  for (auto leaf = leaves.rbegin(); state && leaf != leaves.rend(); ++leaf)
    state = store.step(*state, *leaf);
  return state;
}

TreeReader::Tree TreeReader::readMerge(TermId term, Tree declared) {
  Op merge = node.kind == algebra::ReductionKind::Max ? Op::Maximum : Op::Add;
  if (terms[term].op != merge || terms[term].type != node.accumulator)
    return std::nullopt;
  TermId a = terms[term].operands[0], b = terms[term].operands[1];
  Tree left, right;
  if (declared && store.node(*declared).kind == TreeKind::Merge) {
    left = store.node(*declared).children[0];
    right = store.node(*declared).children[1];
    if (node.ofTree.size() > size_t(std::max(*left, *right)) &&
        (node.ofTree[*left] == b || node.ofTree[*right] == a))
      std::swap(a, b);
  }
  Tree x = read(a, left);
  Tree y = x ? read(b, right) : std::nullopt;
  if (!x || !y)
    return std::nullopt;
  return store.merge(*x, *y);
}

/// Holes bind to any term, those of elements only to an element's.
bool TreeReader::unify(TermId pattern, TermId term, Bindings &bindings) {
  const Term &p = terms[pattern], &t = terms[term];
  if (p.op == Op::Hole) {
    size_t number = size_t(p.attribute);
    if (p.type != t.type ||
        (bindings[number] >= 0 && bindings[number] != term) ||
        (number < arguments && !positions.count({number, term})))
      return false;
    bindings[number] = term;
    return true;
  }
  if (p.op != t.op || p.type != t.type || p.attribute != t.attribute)
    return false;
  int count = terms.operandCount(pattern);
  if (count == 0)
    return pattern == term;
  for (bool swapped : {false, true}) {
    Bindings attempt = bindings;
    bool all = true;
    for (int i = 0; i < count && all; ++i) {
      int other = swapped && i < 2 ? 1 - i : i;
      all = unify(p.operands[i], t.operands[other], attempt);
    }
    if (all) {
      bindings = attempt;
      return true;
    }
    if (!isCommutative(p.op))
      break;
  }
  return false;
}

TreeReader::Tree TreeReader::leafOf(const Bindings &bindings) {
  // Equal elements of one argument are told apart by nothing: any will do.
  auto found = positions.find({0, bindings[0]});
  if (found == positions.end())
    return std::nullopt;
  for (size_t i = 1; i < arguments; ++i)
    if (node.leaves[found->second][i] != bindings[i])
      return std::nullopt;
  return store.leaf(found->second);
}

std::pair<TreeId, TreeId>
interpreter::firstDifference(const algebra::TreeStore &store, TreeId a,
                             TreeId b) {
  while (true) {
    const algebra::TreeNode &x = store.node(a), &y = store.node(b);
    if (x.kind != y.kind || x.children.size() != y.children.size() ||
        x.format != y.format || x.children.empty())
      return {a, b};
    std::vector<TreeId> left = x.children, right = y.children;
    if (x.kind == TreeKind::Merge &&
        (left[0] == right[1] || left[1] == right[0]))
      std::swap(right[0], right[1]);
    size_t differing = 0, at = 0;
    for (size_t i = 0; i < left.size(); ++i)
      if (left[i] != right[i]) {
        ++differing;
        at = i;
      }
    if (differing != 1 || store.node(left[at]).kind == TreeKind::Leaf)
      return {a, b};
    a = left[at];
    b = right[at];
  }
}

namespace {

void brief(const algebra::TreeStore &store, TreeId id, size_t limit,
           std::string &out) {
  const algebra::TreeNode &tree = store.node(id);
  if (out.size() > limit)
    return;
  auto rest = [&](const char *open, const char *between) {
    out += open;
    for (size_t i = 0; i < tree.children.size() && out.size() <= limit; ++i) {
      out += i ? between : "";
      brief(store, tree.children[i], limit, out);
    }
    out += ")";
  };
  switch (tree.kind) {
  case TreeKind::Merge:
    return rest("(", " + ");
  case TreeKind::Any:
    return rest("any(", ", ");
  case TreeKind::Round:
    return rest((std::string(algebra::name(tree.format)) + "(").c_str(), "");
  case TreeKind::Step: {
    std::vector<TreeId> states{id};
    while (store.node(states.back()).kind == TreeKind::Step)
      states.push_back(store.node(states.back()).children[0]);
    const algebra::TreeNode &start = store.node(states.back());
    out += "chain(";
    if (start.kind == TreeKind::First)
      out += store.expression(start.children[0]);
    else
      brief(store, states.back(), limit, out);
    for (size_t i = states.size() - 1; i-- > 0 && out.size() <= limit;)
      out += ", " + store.expression(store.node(states[i]).children[1]);
    out += ")";
    return;
  }
  default:
    out += store.expression(id);
  }
}

} // namespace

std::string interpreter::briefText(const algebra::TreeStore &store, TreeId id) {
  constexpr size_t limit = 160;
  std::string out;
  brief(store, id, limit, out);
  if (out.size() > limit)
    out = out.substr(0, limit) + "…";
  return out;
}
