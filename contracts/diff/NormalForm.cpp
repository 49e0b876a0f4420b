// NormalForm.cpp - one form for many texts of a tree (rules Q1-Q10)
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "contracts/diff/NormalForm.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

namespace bitpact::diff {
namespace {

using algebra::Form;

// A length at the limit stands for everything, as in the algebra.
constexpr int64_t everything = int64_t(1) << 62;

int64_t ceilDiv(int64_t a, int64_t b) { return a / b + (a % b != 0); }

int64_t saturatingMul(int64_t a, int64_t b) {
  return a > everything / b ? everything : a * b;
}

} // namespace

RuleSet allRules() { return {1, 2, 3, 4, 5, 6, 7, 8, 9, 10}; }

std::string ruleText(int rule) {
  switch (rule) {
  case 1:
    return "a length may be stated or follow from the digits to the right";
  case 2:
    return "blocks that never hold an element do not count";
  case 3:
    return "a digit with one block merges nothing";
  case 4:
    return "neighbouring digits that one accumulator visits in their order "
           "are one digit";
  case 5:
    return "merges of blocks by the bits of their number are merges of two, "
           "bit by bit";
  case 6:
    return "two or three blocks have one tree by fold and pairwise, two by "
           "halving";
  case 7:
    return "rounding to a format that holds the value is no operation";
  case 8:
    return "an online state of one step knows its maximum first";
  case 9:
    return "a maximum that does not round is one value in any order";
  default:
    return "where the step is an addition, a chain of one digit is a fold";
  }
}

NormalForm::NormalForm(const Shape &shape, std::optional<int64_t> extent,
                       const RuleSet &rules)
    : start(shape.reduction.start), state(shape.reduction.state),
      kind(shape.reduction.kind), accumulator(shape.reduction.accumulator),
      plainStep(shape.plainStep), extent(extent), rules(rules) {
  const algebra::Partition &partition = shape.reduction.partition;
  bool stated = false;
  for (int i = 0; i < partition.size(); ++i) {
    const algebra::Digit &digit = partition.digits()[i];
    bool open = digit.kind != algebra::DigitKind::Fixed;
    digits.push_back({i, digit.kind == algebra::DigitKind::Offsets,
                      open ? 0 : digit.radix, partition.length(i)});
    digits.back().stated = digit.stated.has_value() && !has(1);
    stated |= digit.stated.has_value();
  }
  apply(1, stated && has(1));
  nextId = partition.size();
  for (const algebra::BoundMerge &entry :
       shape.reduction.order.bind(partition)) {
    Piece &piece = digits[entry.digit];
    piece.form = entry.form;
    piece.from = entry.from;
    piece.in = entry.in;
    piece.atom = entry.atom;
    piece.merge = entry.merge;
    order.push_back(entry.digit);
  }
  bool changed = true;
  while (changed) {
    changed = has(7) && apply(7, dropFormats());
    changed |= has(2) && apply(2, clip());
    changed |= has(3) && apply(3, dropSingles());
    changed |= fuse();
    changed |= has(8) && apply(8, settleState());
    if (!changed && has(10))
      chainToFold();
    changed |= has(6) && apply(6, toPairwise());
    changed |= has(5) && apply(5, toBits());
  }
  if (has(9) && kind == algebra::ReductionKind::Max && plainStep &&
      std::none_of(digits.begin(), digits.end(),
                   [](const Piece &piece) { return piece.from || piece.in; })) {
    apply(9, true);
    digits.clear();
    order.clear();
    start = algebra::Start::Identity;
  }
}

bool NormalForm::apply(int rule, bool changed) {
  if (changed)
    used.insert(rule);
  return changed;
}

int NormalForm::place(int id) const {
  for (size_t i = 0; i < digits.size(); ++i)
    if (digits[i].id == id)
      return static_cast<int>(i);
  return -1;
}

bool NormalForm::hasCarry() const {
  return std::any_of(digits.begin(), digits.end(), [](const Piece &piece) {
    return piece.form == Form::Carry;
  });
}

/// Q7. A value is one of the accumulator's format wherever it is rounded.
bool NormalForm::dropFormats() {
  bool changed = false;
  for (Piece &piece : digits)
    for (auto *format : {&piece.from, &piece.in})
      if (*format && algebra::widensExactly(accumulator, **format)) {
        format->reset();
        changed = true;
      }
  return changed;
}

/// Q2. Beyond `need` blocks all are empty. Halving by the highest bit does
/// nothing while the upper half is empty.
bool NormalForm::clip() {
  bool changed = false;
  int64_t containing = extent.value_or(everything);
  for (Piece &piece : digits) {
    if (piece.offsets)
      continue; // a block of offsets may be as long as what contains it
    if (containing < everything) {
      int64_t need = ceilDiv(containing, piece.length), before = piece.radix;
      if (piece.form == Form::Halving)
        while (piece.radix / 2 >= need && piece.radix > 1)
          piece.radix /= 2;
      else if (piece.radix == 0 || piece.radix > need)
        piece.radix = need;
      changed |= piece.radix != before;
    }
    containing = std::min(containing, piece.length);
  }
  return changed;
}

/// In an online state, the entries below the carries decide whether a chain
/// goes on or a partial is added: that must not change.
bool NormalForm::isLastAboveChains(int entry) const {
  if (state != algebra::State::Online || !hasCarry())
    return false;
  int carry = 0, others = 0;
  auto formOf = [&](int i) { return digits[place(order[i])].form; };
  while (formOf(carry) != Form::Carry)
    ++carry;
  for (int i = 0; i < carry; ++i)
    others += formOf(i) != Form::Chain;
  return entry < carry && formOf(entry) != Form::Chain && others == 1;
}

/// Q3. An atom is a step even of one element; what `from` rounds on the way
/// into a merge with one block, the merge above rounds on its way in.
bool NormalForm::dropSingles() {
  for (size_t i = 0; i < order.size(); ++i) {
    int at = place(order[i]);
    const Piece &piece = digits[at];
    if (piece.offsets || piece.radix != 1 || piece.form == Form::Fused ||
        isLastAboveChains(static_cast<int>(i)))
      continue;
    if (piece.from) {
      if (i + 1 == order.size())
        continue;
      Piece &above = digits[place(order[i + 1])];
      if (above.form == Form::Carry ||
          (above.from && !algebra::widensExactly(*piece.from, *above.from)))
        continue;
      above.from = piece.from;
    }
    order.erase(order.begin() + static_cast<long>(i));
    digits.erase(digits.begin() + at);
    return true;
  }
  return false;
}

/// Q4; and Q5, for an open digit above a digit of two blocks.
bool NormalForm::fuse() {
  for (size_t i = 0; i + 1 < digits.size(); ++i) {
    Piece &outer = digits[i], &inner = digits[i + 1];
    if (outer.offsets || inner.offsets || inner.radix == 0 ||
        outer.form != inner.form || outer.merge != inner.merge ||
        outer.length == everything ||
        outer.length != saturatingMul(inner.radix, inner.length))
      continue;
    auto below = std::find(order.begin(), order.end(), inner.id);
    if (below + 1 == order.end() || *(below + 1) != outer.id)
      continue;
    bool visits = outer.form == Form::Chain || outer.form == Form::Carry;
    bool pairs = has(5) && outer.form == Form::Pairwise && outer.radix == 0 &&
                 inner.radix == 2 && !outer.from && outer.in == inner.in;
    if (!(visits && has(4)) && !pairs)
      continue;
    apply(visits ? 4 : 5, true);
    inner.radix = outer.radix ? saturatingMul(outer.radix, inner.radix) : 0;
    order.erase(below + 1);
    digits.erase(digits.begin() + static_cast<long>(i));
    return true;
  }
  return false;
}

/// Q6.
bool NormalForm::toPairwise() {
  bool changed = false;
  for (Piece &piece : digits)
    if (!piece.offsets &&
        ((piece.form == Form::Fold && (piece.radix == 2 || piece.radix == 3)) ||
         (piece.form == Form::Halving && piece.radix == 2))) {
      piece.form = Form::Pairwise;
      changed = true;
    }
  return changed;
}

/// Q5. The number of a block is written in bits, and each bit is a digit.
bool NormalForm::toBits() {
  for (size_t i = 0; i < digits.size(); ++i) {
    Piece piece = digits[i];
    bool halving = piece.form == Form::Halving;
    if (piece.offsets || piece.radix <= 2 ||
        (piece.form != Form::Pairwise && !halving))
      continue;
    int bits = std::bit_width(static_cast<uint64_t>(piece.radix - 1));
    std::vector<Piece> pieces; // the highest bit first, as in Π
    std::vector<int> ids;
    for (int bit = bits - 1; bit >= 0; --bit) {
      Piece one = piece;
      one.id = nextId++;
      one.form = Form::Pairwise;
      one.radix = 2;
      one.length = saturatingMul(piece.length, int64_t(1) << bit);
      if (bit != (halving ? bits - 1 : 0))
        one.from.reset(); // parts enter once
      pieces.push_back(one);
      ids.push_back(one.id);
    }
    if (!halving)
      std::reverse(ids.begin(), ids.end());
    auto entry = std::find(order.begin(), order.end(), piece.id);
    entry = order.erase(entry);
    order.insert(entry, ids.begin(), ids.end());
    digits.erase(digits.begin() + static_cast<long>(i));
    digits.insert(digits.begin() + static_cast<long>(i), pieces.begin(),
                  pieces.end());
    return true;
  }
  return false;
}

/// Q8. One step, and no other state to meet.
bool NormalForm::settleState() {
  if (state != algebra::State::Online || hasCarry() ||
      std::any_of(digits.begin(), digits.end(),
                  [](const Piece &piece) { return piece.merge; }))
    return false;
  state = algebra::State::TwoPass;
  return true;
}

/// Q10. From +0, a sum is never -0; so whether -0 or +0 is added to it, or the
/// element itself, is one.
void NormalForm::chainToFold() {
  if (!plainStep || state == algebra::State::Online ||
      algebra::stepKind(kind) != algebra::ReductionKind::Sum || order.empty())
    return;
  Piece &first = digits[place(order[0])];
  bool alone = order.size() == 1 || digits[place(order[1])].form != Form::Chain;
  if (first.form != Form::Chain || !alone)
    return;
  first.form = Form::Fold;
  apply(10, true);
}

std::string NormalForm::text() const {
  std::string text =
      fmt::format("{} {}", algebra::name(start), algebra::name(state));
  for (const Piece &piece : digits) {
    auto entry = std::find(order.begin(), order.end(), piece.id);
    text += fmt::format("; {}{} {} {}", piece.offsets ? "offsets " : "",
                        piece.length, entry - order.begin(),
                        algebra::name(piece.form));
    // Of the other forms, no tree depends on the number of blocks.
    if (piece.form == Form::Pairwise || piece.form == Form::Halving ||
        piece.radix == 1)
      text += fmt::format(" {}", piece.radix);
    if (piece.stated)
      text += " stated";
    if (piece.atom)
      text += " " + piece.atom->text();
    if (piece.merge)
      text += " merge";
    if (piece.from)
      text += fmt::format(" from {}", algebra::name(*piece.from));
    if (piece.in)
      text += fmt::format(" in {}", algebra::name(*piece.in));
  }
  return text;
}

} // namespace bitpact::diff
