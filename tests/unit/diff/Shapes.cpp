// Shapes.cpp - reductions from texts, and random ones
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tests/unit/diff/Shapes.h"

#include "contracts/algebra/RuleError.h"

#include <algorithm>

namespace bitpact::tests {

using algebra::Form;
using algebra::Format;
using algebra::MergeEntry;
using algebra::ReductionKind;
using algebra::State;
using diff::Shape;

namespace {

struct Texts {
  std::vector<std::string> digits;
  std::vector<MergeEntry> entries;
};

int64_t upTo(std::mt19937_64 &random, int64_t most) {
  return static_cast<int64_t>(random() % static_cast<uint64_t>(most));
}

/// The shape of these texts, or nothing where a rule forbids it.
std::optional<Shape> shapeFrom(const Texts &texts, const Shape &like,
                               int64_t extent) {
  std::string partition;
  for (const std::string &digit : texts.digits)
    partition += digit + " ";
  try {
    Shape shape = like;
    shape.reduction.partition = algebra::Partition::parse(partition);
    shape.reduction.order = algebra::MergeOrder(texts.entries);
    shape.reduction.validate();
    if (extent)
      shape.reduction.partition.validate(extent);
    else if (shape.reduction.partition.capacity())
      return std::nullopt;
    return shape;
  } catch (const algebra::RuleError &) {
    return std::nullopt;
  }
}

Texts textsOf(const Shape &shape) {
  Texts texts;
  for (const algebra::Digit &digit : shape.reduction.partition.digits())
    texts.digits.push_back(digit.text());
  texts.entries = shape.reduction.order.entries();
  return texts;
}

std::string nameOf(const std::string &digit) {
  return digit.substr(0, digit.find(':'));
}

} // namespace

Shape shapeOf(const std::string &partition, const std::string &order,
              ReductionKind kind, State state) {
  Shape shape;
  shape.reduction.partition = algebra::Partition::parse(partition);
  shape.reduction.order = algebra::MergeOrder::parse(order);
  shape.reduction.kind = kind;
  shape.reduction.state = state;
  shape.reduction.validate();
  return shape;
}

std::string describe(const Shape &shape) {
  const algebra::Reduction &r = shape.reduction;
  return r.partition.text() + " | " + r.order.text() + " | " +
         std::string(algebra::name(r.start)) + " " +
         std::string(algebra::name(r.kind)) + " " +
         std::string(algebra::name(r.state));
}

Shape randomShape(std::mt19937_64 &random, int64_t extent, bool states) {
  for (;;) {
    Shape like;
    like.reduction.start =
        random() % 2 ? algebra::Start::First : algebra::Start::Identity;
    switch (upTo(random, states ? 5 : 2)) {
    case 0:
    case 1:
      like.reduction.kind = ReductionKind::Sum;
      break;
    case 2:
      like.reduction.kind = ReductionKind::Dot;
      break;
    case 3:
      like.reduction.kind = ReductionKind::Max;
      break;
    default:
      like.reduction.kind = ReductionKind::ExpSum;
      like.reduction.state = random() % 3 ? State::Online : State::TwoPass;
    }
    Texts texts;
    int count = 1 + static_cast<int>(upTo(random, 4));
    for (int i = 0; i < count; ++i) {
      std::string digit(1, static_cast<char>('a' + i));
      MergeEntry entry;
      entry.digit = digit;
      bool open = random() % (extent ? 5 : 3) == 0;
      digit += ":" + (random() % 12 == 0 ? "@offsets"
                      : open             ? "*"
                                         : std::to_string(1 + upTo(random, 8)));
      if (i + 1 < count && random() % 3 == 0 && !digit.ends_with("offsets"))
        digit += "@" + std::to_string(1 + upTo(random, 16));
      texts.digits.push_back(digit);
      constexpr Form forms[] = {Form::Chain, Form::Chain,    Form::Chain,
                                Form::Fold,  Form::Pairwise, Form::Halving,
                                Form::Any,   Form::Carry,    Form::Fused};
      entry.form = forms[upTo(random, 9)];
      if (entry.form == Form::Fused)
        entry.atom = algebra::Atom{"dot.nv", 16, 25};
      bool partials = entry.form != Form::Chain && entry.form != Form::Carry &&
                      entry.form != Form::Fused;
      if (partials && random() % 6 == 0)
        entry.from = random() % 2 ? Format::BF16 : Format::F32;
      if (partials && random() % 6 == 0)
        entry.in = random() % 2 ? Format::BF16 : Format::F16;
      entry.merge = partials && random() % 4 == 0;
      texts.entries.push_back(entry);
    }
    std::shuffle(texts.entries.begin(), texts.entries.end(), random);
    if (auto shape = shapeFrom(texts, like, extent))
      return *shape;
  }
}

Shape reworded(std::mt19937_64 &random, const Shape &shape, int64_t extent) {
  Shape result = shape;
  int wanted = 1 + static_cast<int>(upTo(random, 3));
  for (int done = 0, tries = 0; done < wanted && tries < 60; ++tries) {
    Texts texts = textsOf(result);
    size_t at = static_cast<size_t>(upTo(random, texts.digits.size()));
    std::string &digit = texts.digits[at];
    std::string name = nameOf(digit), fresh = "n" + std::to_string(tries);
    auto entry =
        std::find_if(texts.entries.begin(), texts.entries.end(),
                     [&](const MergeEntry &one) { return one.digit == name; });
    const algebra::Digit &parsed = result.reduction.partition.digits()[at];
    switch (upTo(random, 6)) {
    case 0: { // a digit of one block, anywhere
      int64_t length = result.reduction.partition.length(static_cast<int>(at));
      int64_t whole = parsed.radix ? parsed.radix * length : 64;
      MergeEntry one = *entry;
      one.digit = fresh;
      texts.digits.insert(texts.digits.begin() + static_cast<long>(at),
                          fresh + ":1@" + std::to_string(whole));
      texts.entries.insert(
          texts.entries.begin() + upTo(random, texts.entries.size() + 1), one);
      break;
    }
    case 1: { // split in two
      int64_t length = result.reduction.partition.length(static_cast<int>(at));
      int64_t inner = random() % 2 ? 2 : 1 + upTo(random, 4);
      MergeEntry below = *entry;
      below.digit = fresh;
      std::string outer =
          parsed.radix ? std::to_string((parsed.radix + inner - 1) / inner)
                       : "*";
      digit = name + ":" + outer;
      if (random() % 2)
        digit += "@" + std::to_string(inner * length);
      std::string right = fresh + ":" + std::to_string(inner);
      if (parsed.stated)
        right += "@" + std::to_string(length);
      texts.digits.insert(texts.digits.begin() + static_cast<long>(at) + 1,
                          right);
      bool under = random() % 2;
      if (under)
        entry->from.reset();
      else
        below.from.reset();
      texts.entries.insert(under ? entry : entry + 1, below);
      break;
    }
    case 2: // other blocks, perhaps more than are needed
      if (parsed.kind == algebra::DigitKind::Offsets)
        continue;
      digit = name + ":" +
              (random() % 2 ? "*" : std::to_string(1 + upTo(random, 70)));
      if (parsed.stated)
        digit += "@" + std::to_string(*parsed.stated);
      break;
    case 3: // the same length, stated
      if (parsed.stated || parsed.kind == algebra::DigitKind::Offsets)
        continue;
      digit += "@" + std::to_string(result.reduction.partition.length(
                         static_cast<int>(at)));
      break;
    case 4: { // another form
      constexpr Form forms[] = {Form::Chain, Form::Fold, Form::Pairwise,
                                Form::Halving, Form::Carry};
      entry->form = forms[upTo(random, 5)];
      if (entry->form == Form::Chain || entry->form == Form::Carry) {
        entry->from.reset();
        entry->in.reset();
        entry->merge = false;
      }
      break;
    }
    default:
      if (random() % 2)
        entry->from = Format::F32;
      else
        result.reduction.state = result.reduction.state == State::Online
                                     ? State::TwoPass
                                     : result.reduction.state;
    }
    if (auto next = shapeFrom(texts, result, extent)) {
      result = *next;
      ++done;
    }
  }
  try {
    result.reduction.validate();
  } catch (const algebra::RuleError &) {
    return shape;
  }
  return result;
}

} // namespace bitpact::tests
