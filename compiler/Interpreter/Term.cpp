// Term.cpp - hash-consed terms in a normal form
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/Interpreter/Term.h"

#include "contracts/reference/Arithmetic.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>

using namespace bitpact;
using namespace bitpact::interpreter;
using llvm::ArrayRef;
using llvm::SmallVector;

//===----------------------------------------------------------------------===//
// Interning
//===----------------------------------------------------------------------===//

static size_t hashOf(const Term &term) {
  uint64_t hash = uint64_t(term.op) << 8 | uint64_t(term.type);
  for (uint64_t part :
       {uint64_t(uint32_t(term.operands[0])) << 32 | uint32_t(term.operands[1]),
        uint64_t(uint32_t(term.operands[2])), uint64_t(term.attribute)}) {
    hash = (hash ^ part) * 0x9e3779b97f4a7c15;
    hash ^= hash >> 29;
  }
  return hash;
}

TermId TermStore::intern(const Term &term) {
  if (terms.size() * 2 >= table.size()) {
    std::vector<Entry> before(std::max<size_t>(1024, table.size() * 4));
    before.swap(table);
    for (const Entry &entry : before) {
      if (entry.id < 0)
        continue;
      size_t at = hashOf(terms[entry.id]) & (table.size() - 1);
      while (table[at].id >= 0)
        at = (at + 1) & (table.size() - 1);
      table[at] = entry;
    }
  }
  uint64_t hash = hashOf(term);
  uint32_t tag = uint32_t(hash >> 32);
  size_t at = hash & (table.size() - 1);
  for (; table[at].id >= 0; at = (at + 1) & (table.size() - 1))
    if (table[at].tag == tag && terms[table[at].id] == term)
      return table[at].id;
  table[at] = {TermId(terms.size()), tag};
  terms.push_back(term);
  return table[at].id;
}

TermId TermStore::constant(Scalar type, uint64_t bits) {
  return intern({Op::Constant, type, {-1, -1, -1}, int64_t(bits)});
}

TermId TermStore::element(int tensor, int64_t index, Scalar type) {
  return intern({Op::Element, type, {tensor, -1, -1}, index});
}

TermId TermStore::hole(int number, Scalar type) {
  return intern({Op::Hole, type, {-1, -1, -1}, number});
}

TermId TermStore::whole(int primitive, ArrayRef<TermId> arguments,
                        Scalar type) {
  Term term{Op::Whole, type, {-1, -1, -1}, primitive};
  std::copy(arguments.begin(), arguments.end(), term.operands);
  return intern(term);
}

int TermStore::operandCount(TermId id) const {
  const Term &term = terms[id];
  if (term.op <= Op::Hole)
    return 0;
  return int(std::count_if(std::begin(term.operands), std::end(term.operands),
                           [](TermId operand) { return operand >= 0; }));
}

//===----------------------------------------------------------------------===//
// The normal form
//===----------------------------------------------------------------------===//

bool TermStore::isConstant(TermId id, double value, bool negative) const {
  const Term &term = terms[id];
  if (term.op != Op::Constant || !isFloat(term.type))
    return false;
  double held =
      reference::decode(formatOf(term.type), uint64_t(term.attribute));
  return held == value && std::signbit(held) == negative;
}

/// Whether a NaN that the term gives is the canonical one of its format.
bool TermStore::isCanonical(TermId id) const {
  while (terms[id].op == Op::Extend)
    id = terms[id].operands[0];
  return terms[id].op == Op::Narrow || terms[id].op == Op::Constant;
}

/// Of a constant that is a power of two, if its inverse is a number too.
std::optional<TermId> TermStore::exactInverse(TermId id) {
  const Term &term = terms[id];
  if (term.op != Op::Constant || !isFloat(term.type))
    return std::nullopt;
  algebra::Format format = formatOf(term.type);
  double value = reference::decode(format, uint64_t(term.attribute));
  int exponent;
  if (std::abs(std::frexp(value, &exponent)) != 0.5)
    return std::nullopt;
  uint64_t inverse = reference::encode(format, 1 / value);
  if (reference::decode(format, inverse) * value != 1)
    return std::nullopt;
  return constant(term.type, inverse);
}

TermId TermStore::product(Term term) {
  bool negative = false;
  for (TermId &factor : llvm::MutableArrayRef(term.operands, 2))
    while (terms[factor].op == Op::Neg) {
      factor = terms[factor].operands[0];
      negative = !negative;
    }
  if (term.op == Op::Fma && isConstant(term.operands[2], 0, true)) {
    term.op = Op::Mul;
    term.operands[2] = -1;
  }
  for (int one : {0, 1})
    if (term.op == Op::Mul && isConstant(term.operands[one], 1, false)) {
      TermId same = term.operands[1 - one];
      return negative ? normal({Op::Neg, term.type, {same, -1, -1}, 0}) : same;
    }
  if (term.operands[0] > term.operands[1])
    std::swap(term.operands[0], term.operands[1]);
  if (negative)
    term.operands[0] =
        normal({Op::Neg, term.type, {term.operands[0], -1, -1}, 0});
  return intern(term);
}

TermId TermStore::narrowed(const Term &term) {
  TermId inner = term.operands[0];
  if (terms[inner].type == term.type)
    return isCanonical(inner) ? inner : intern(term);
  if (terms[inner].op != Op::Extend)
    return intern(term);
  TermId source = terms[inner].operands[0];
  if (!algebra::widensExactly(formatOf(terms[source].type),
                              formatOf(term.type)))
    return intern(term);
  TermId same = normal({Op::Extend, term.type, {source, -1, -1}, 0});
  return isCanonical(same) ? same
                           : intern({Op::Narrow, term.type, {same, -1, -1}, 0});
}

TermId TermStore::normal(Term term) {
  TermId *v = term.operands;
  switch (term.op) {
  case Op::Fma:
  case Op::Mul:
    return product(term);
  case Op::Add:
  case Op::Maximum: {
    double neutral =
        term.op == Op::Add ? 0 : -std::numeric_limits<double>::infinity();
    if (isConstant(v[0], neutral, true))
      return v[1];
    if (isConstant(v[1], neutral, true))
      return v[0];
    break;
  }
  case Op::Div:
    if (std::optional<TermId> inverse = exactInverse(v[1]))
      return product({Op::Mul, term.type, {v[0], *inverse, -1}, 0});
    break;
  case Op::Neg:
    if (terms[v[0]].op == Op::Neg)
      return terms[v[0]].operands[0];
    break;
  case Op::Extend:
    if (terms[v[0]].op == Op::Extend)
      v[0] = terms[v[0]].operands[0];
    if (terms[v[0]].type == term.type)
      return v[0];
    break;
  case Op::Narrow:
    return narrowed(term);
  case Op::Select:
    if (v[1] == v[2])
      return v[1];
    break;
  default:
    break;
  }
  if (isCommutative(term.op) && v[0] > v[1])
    std::swap(v[0], v[1]);
  return intern(term);
}

TermId TermStore::termOf(const Cell &cell, Scalar type) {
  return cell.isConcrete() ? constant(type, cell.bits) : cell.term;
}

Cell TermStore::apply(const Action &action, ArrayRef<Cell> operands) {
  if (action.op == Op::Select && operands[0].isConcrete())
    return operands[operands[0].bits ? 1 : 2];
  bool symbolic = false;
  for (const Cell &cell : operands) {
    if (cell.isUnspecified())
      return {};
    symbolic |= cell.isSymbolic();
  }
  if (!symbolic) {
    uint64_t bits[3] = {0, 0, 0};
    for (size_t i = 0; i < operands.size(); ++i)
      bits[i] = operands[i].bits;
    std::optional<uint64_t> result = evaluate(action, bits);
    return result ? Cell::of(*result) : Cell();
  }
  Term term{action.op, action.type, {-1, -1, -1}, action.attribute};
  for (size_t i = 0; i < operands.size(); ++i) {
    bool isCondition = action.op == Op::Select && i == 0;
    term.operands[i] =
        termOf(operands[i], isCondition ? Scalar::I1 : action.from);
  }
  TermId id = normal(term);
  return terms[id].op == Op::Constant ? Cell::of(uint64_t(terms[id].attribute))
                                      : Cell::symbol(id);
}

TermId TermStore::apply(const Action &action, ArrayRef<TermId> operands) {
  SmallVector<Cell, 3> cells;
  for (TermId id : operands)
    cells.push_back(terms[id].op == Op::Constant
                        ? Cell::of(uint64_t(terms[id].attribute))
                        : Cell::symbol(id));
  Cell result = apply(action, cells);
  assert(!result.isUnspecified() && "primitives are total");
  return termOf(result, action.type);
}

//===----------------------------------------------------------------------===//
// Maxima as sets
//===----------------------------------------------------------------------===//

/// `members` ascend; a set of one is its member.
TermId TermStore::set(std::vector<TermId> members, Scalar type) {
  if (members.size() == 1)
    return members.front();
  uint64_t hash = uint64_t(type);
  for (TermId member : members) {
    hash = (hash ^ uint64_t(uint32_t(member))) * 0x9e3779b97f4a7c15;
    hash ^= hash >> 29;
  }
  auto [first, last] = setIndex.equal_range(hash);
  for (auto each = first; each != last; ++each)
    if (terms[each->second].type == type &&
        sets[size_t(terms[each->second].attribute)] == members)
      return each->second;
  TermId id = intern({Op::Set, type, {-1, -1, -1}, int64_t(sets.size())});
  sets.push_back(std::move(members));
  setIndex.emplace(hash, id);
  return id;
}

/// What nested maxima are taken of. Of a maximum that was made a set the set is
/// found, not the members.
void TermStore::collect(TermId top, std::vector<TermId> &found) {
  visited.resize(terms.size(), 0);
  ++visit;
  found.clear();
  std::vector<TermId> open{terms[top].operands[1], terms[top].operands[0]};
  while (!open.empty()) {
    TermId id = open.back();
    open.pop_back();
    if (visited[id] == visit)
      continue;
    visited[id] = visit;
    if (terms[id].op != Op::Maximum || inSets[id] >= 0) {
      found.push_back(id);
      continue;
    }
    open.push_back(terms[id].operands[0]);
    open.push_back(terms[id].operands[1]);
  }
}

TermId TermStore::withSets(TermId root) {
  // A term is finished once those it needs are. New terms are not looked into:
  // sets of them are there already.
  inSets.resize(terms.size(), -1);
  std::vector<TermId> open{root}, needs, single, joined;
  while (!open.empty()) {
    TermId id = open.back();
    if (inSets[id] >= 0) {
      open.pop_back();
      continue;
    }
    Term term = terms[id];
    bool isMaximum = term.op == Op::Maximum;
    if (isMaximum)
      collect(id, needs);
    else
      needs.assign(term.operands, term.operands + operandCount(id));
    size_t before = open.size();
    for (TermId need : needs)
      if (inSets[need] < 0)
        open.push_back(need);
    if (open.size() != before)
      continue;
    open.pop_back();
    for (TermId &need : needs)
      need = inSets[need];
    if (!isMaximum) {
      if (std::equal(needs.begin(), needs.end(), term.operands)) {
        inSets[id] = id;
        continue;
      }
      std::copy(needs.begin(), needs.end(), term.operands);
      inSets[id] = normal(term);
      continue;
    }
    single.clear();
    std::vector<TermId> all;
    for (TermId need : needs) {
      if (terms[need].op != Op::Set) {
        single.push_back(need);
        continue;
      }
      const std::vector<TermId> &more = sets[size_t(terms[need].attribute)];
      joined.clear();
      std::set_union(all.begin(), all.end(), more.begin(), more.end(),
                     std::back_inserter(joined));
      all.swap(joined);
    }
    llvm::sort(single);
    single.erase(std::unique(single.begin(), single.end()), single.end());
    joined.clear();
    std::set_union(all.begin(), all.end(), single.begin(), single.end(),
                   std::back_inserter(joined));
    inSets[id] = set(joined, term.type);
  }
  return inSets[root];
}

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

void TermStore::write(TermId id, std::string &out, size_t limit) const {
  const Term &term = terms[id];
  if (out.size() > limit)
    return;
  switch (term.op) {
  case Op::Constant:
    if (isFloat(term.type))
      llvm::raw_string_ostream(out)
          << llvm::format("%.9g", reference::decode(formatOf(term.type),
                                                    uint64_t(term.attribute)));
    else
      out += std::to_string(term.attribute);
    return;
  case Op::Element:
    out +=
        tensors[term.operands[0]] + "[" + std::to_string(term.attribute) + "]";
    return;
  case Op::Hole:
    out += "?" + std::to_string(term.attribute);
    return;
  case Op::Set: {
    out += nameOf(term.op);
    const char *before = "(";
    for (TermId member : sets[size_t(term.attribute)]) {
      if (out.size() > limit)
        return;
      out += before;
      write(member, out, limit);
      before = ", ";
    }
    out += ")";
    return;
  }
  default:
    break;
  }
  out += nameOf(term.op);
  if (term.op == Op::Narrow || term.op == Op::Extend)
    out += " " + std::string(algebra::name(formatOf(term.type)));
  out += "(";
  for (int i = 0, n = operandCount(id); i < n && out.size() <= limit; ++i) {
    if (i)
      out += ", ";
    write(term.operands[i], out, limit);
  }
  out += out.size() > limit ? "" : ")";
}

std::string TermStore::text(TermId id, size_t limit) const {
  std::string out;
  write(id, out, limit);
  if (out.size() > limit) {
    out.resize(limit);
    out += "…";
  }
  return out;
}
