// StatePropertyTest.cpp - random states against a second reading of the rules
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "contracts/algebra/TreeBuilder.h"
#include "tests/unit/reference/States.h"

#include <catch2/catch.hpp>

#include <cmath>
#include <functional>
#include <map>
#include <random>
#include <set>

using namespace bitpact::tests;
namespace algebra = bitpact::algebra;
using bitpact::algebra::Format;

namespace {

float maximumOf(float a, float b) {
  if (std::isnan(a) || std::isnan(b))
    return NAN;
  return a > b || (a == b && std::signbit(b)) ? a : b;
}

/// The primitives of the tests, written out.
float bell(float x, float m) {
  float d = x - m;
  return x == m ? 1 : 1 / std::fma(d, d, 1.0f);
}

float bf16(float value) {
  if (std::isnan(value))
    return value;
  uint32_t bits = std::bit_cast<uint32_t>(value);
  return std::bit_cast<float>((bits + 0x7fff + ((bits >> 16) & 1)) &
                              0xffff0000);
}

/// A digit as radix and length, and an entry as words.
struct Digit {
  std::string name;
  int radix, length;
};
struct Entry {
  int digit;
  std::string form;
  bool merge = false, from = false, in = false;
};
struct Case {
  std::vector<Digit> digits;
  std::vector<Entry> entries; // innermost first
  int extent = 0;
  bool first = false, fma = false;

  StateText text() const;
};

StateText Case::text() const {
  StateText result;
  result.partition.clear();
  for (const Digit &digit : digits)
    result.partition += (result.partition.empty() ? "" : " ") + digit.name +
                        ":" + std::to_string(digit.radix) + "@" +
                        std::to_string(digit.length);
  result.merge.clear();
  for (const Entry &entry : entries)
    result.merge.push_back(digits[entry.digit].name + " " + entry.form +
                           (entry.merge ? " merge" : "") +
                           (entry.from ? " from bf16" : "") +
                           (entry.in ? " in bf16" : ""));
  result.start = first ? "first" : "identity";
  result.weight = "bell.f32";
  result.combine = fma ? "combine.fma.f32" : "combine.mul_add.f32";
  return result;
}

/// What the specification says of states, read word by word: elements are kept
/// as sets and split by digit whenever a rule speaks of one.
class Naive {
public:
  Naive(const Case &c, const std::vector<float> &x) : c(c), x(x) {
    auto count = c.entries.size();
    while (merge < count && !c.entries[merge].merge)
      ++merge;
    while (carry < merge && c.entries[carry].form != "carry")
      ++carry;
    for (plain = carry; plain < merge && c.entries[plain].form == "carry";)
      ++plain;
  }

  float run() {
    Set all;
    for (int i = 0; i < c.extent; ++i)
      all.insert(i);
    return state(c.entries.size(), all).l;
  }

private:
  using Set = std::set<int>;
  struct State {
    float m, l;
  };
  template <class T> using Parts = std::map<int, T>;

  const Case &c;
  const std::vector<float> &x;
  size_t carry = 0, plain = 0, merge = 0;

  int digitOf(int position, int digit) const {
    for (int i = 0; i < digit; ++i)
      position %= c.digits[i].length;
    return position / c.digits[digit].length;
  }

  Parts<Set> split(const Set &set, size_t entry) const {
    Parts<Set> parts;
    for (int position : set)
      parts[digitOf(position, c.entries[entry].digit)].insert(position);
    return parts;
  }

  /// The parts numbered [low, low + span · step), step apart, merged by bit.
  template <class T, class Two>
  std::optional<T> tree(const Parts<T> &parts, int low, int span, int step,
                        bool neighbours, Two two) const {
    if (span == 1) {
      auto found = parts.find(low);
      return found == parts.end() ? std::nullopt : std::optional(found->second);
    }
    int half = span / 2;
    std::optional<T> a, b;
    if (neighbours) { // the last merge is of the lower and the upper half
      a = tree(parts, low, half, step, true, two);
      b = tree(parts, low + half, half, step, true, two);
    } else { // the last merge is of the even and the odd
      a = tree(parts, low, half, step * 2, false, two);
      b = tree(parts, low + step, half, step * 2, false, two);
    }
    return a && b ? std::optional(two(*a, *b)) : a ? a : b;
  }

  template <class T, class Two>
  T mergeAll(const Entry &entry, const Parts<T> &parts, Two two) const {
    if (entry.form == "fold") {
      std::optional<T> all;
      for (const auto &[block, part] : parts)
        all = all ? two(*all, part) : part;
      return *all;
    }
    int span = 1;
    while (span < c.digits[entry.digit].radix)
      span *= 2;
    return *tree(parts, 0, span, 1, entry.form == "pairwise", two);
  }

  float mergeSums(const Entry &entry, Parts<float> parts) const {
    if (entry.from)
      for (auto &[block, part] : parts)
        part = bf16(part);
    return mergeAll(entry, parts, [&](float a, float b) {
      return entry.in ? bf16(a + b) : a + b;
    });
  }

  void chain(size_t level, const Set &set, float m, std::optional<float> &l) {
    if (level > 0) {
      for (const auto &[block, inside] : split(set, level - 1))
        chain(level - 1, inside, m, l);
      return;
    }
    float w = bell(x[*set.begin()], m);
    l = l ? w + *l : c.first ? w : w + 0.0f;
  }

  /// A complete partial of the entries below the carries.
  float partial(size_t level, const Set &set, float m) {
    bool chains = true;
    for (size_t i = 0; i < level; ++i)
      chains &= c.entries[i].form == "chain";
    if (chains) {
      std::optional<float> l;
      chain(level, set, m, l);
      return *l;
    }
    Parts<float> parts;
    for (const auto &[block, inside] : split(set, level - 1))
      parts[block] = partial(level - 1, inside, m);
    return mergeSums(c.entries[level - 1], parts);
  }

  using Accumulators = std::map<std::vector<int>, std::optional<float>>;

  std::vector<int> keyOf(int position) const {
    std::vector<int> key;
    for (size_t i = plain; i < merge; ++i)
      key.push_back(digitOf(position, c.entries[i].digit));
    return key;
  }

  void step(const Set &set, std::optional<float> &m, Accumulators &all) {
    float next = m ? *m : -INFINITY;
    for (int position : set)
      next = maximumOf(next, x[position]);
    for (auto &[key, l] : all)
      if (l)
        l = *l * bell(*m, next);
    m = next;
    std::map<std::vector<int>, Set> inside;
    for (int position : set)
      inside[keyOf(position)].insert(position);
    bool chains = true;
    for (size_t i = 0; i < carry; ++i)
      chains &= c.entries[i].form == "chain";
    for (const auto &[key, elements] : inside) {
      std::optional<float> &l = all[key];
      if (chains) {
        chain(carry, elements, next, l);
      } else {
        float p = partial(carry, elements, next);
        l = l ? *l + p : p;
      }
    }
  }

  void steps(size_t level, const Set &set, std::optional<float> &m,
             Accumulators &all) {
    if (level == carry)
      return step(set, m, all);
    for (const auto &[block, inside] : split(set, level - 1))
      steps(level - 1, inside, m, all);
  }

  float accumulators(size_t level, const Set &set, const Accumulators &all) {
    if (level == plain)
      return *all.at(keyOf(*set.begin()));
    Parts<float> parts;
    for (const auto &[block, inside] : split(set, level - 1))
      parts[block] = accumulators(level - 1, inside, all);
    return mergeSums(c.entries[level - 1], parts);
  }

  State state(size_t level, const Set &set) {
    if (level == merge) {
      std::optional<float> m;
      Accumulators all;
      steps(plain, set, m, all);
      return {*m, accumulators(merge, set, all)};
    }
    const Entry &entry = c.entries[level - 1];
    Parts<State> parts;
    for (const auto &[block, inside] : split(set, level - 1)) {
      parts[block] = state(level - 1, inside);
      if (entry.from)
        parts[block].l = bf16(parts[block].l);
    }
    return mergeAll(entry, parts, [&](const State &a, const State &b) {
      float m = maximumOf(a.m, b.m);
      float right = b.l * bell(b.m, m);
      float l = c.fma ? std::fma(a.l, bell(a.m, m), right)
                      : a.l * bell(a.m, m) + right;
      return State{m, entry.in ? bf16(l) : l};
    });
  }
};

/// The declared tree, evaluated node by node.
float treeValue(const Case &c, const std::vector<float> &x) {
  StateText text = c.text();
  algebra::Reduction r{algebra::Partition::parse(text.partition),
                       algebra::MergeOrder::parse(text.merge),
                       algebra::ReductionKind::ExpSum,
                       *algebra::parseStart(text.start),
                       Format::F32,
                       algebra::State::Online};
  algebra::TreeStore store;
  algebra::TreeId root = *algebra::buildTree(store, r, {c.extent});
  std::vector<float> value(root + 1);
  for (algebra::TreeId id = 0; id <= root; ++id) {
    const algebra::TreeNode &node = store.node(id);
    auto child = [&](size_t i) { return value[node.children[i]]; };
    switch (node.kind) {
    case algebra::TreeKind::Identity:
      value[id] = 0;
      break;
    case algebra::TreeKind::Leaf:
      value[id] = x[node.position];
      break;
    case algebra::TreeKind::Bound:
      value[id] = -INFINITY;
      for (size_t i = 0; i < node.ranges.size(); i += 2)
        for (int64_t k = node.ranges[i]; k < node.ranges[i + 1]; ++k)
          value[id] = maximumOf(value[id], x[k]);
      break;
    case algebra::TreeKind::Weight:
      value[id] = bell(child(0), child(1));
      break;
    case algebra::TreeKind::First:
      value[id] = child(0);
      break;
    case algebra::TreeKind::Step:
    case algebra::TreeKind::Merge:
      value[id] = child(0) + child(1);
      break;
    case algebra::TreeKind::Rescale:
      value[id] = child(0) * bell(child(1), child(2));
      break;
    case algebra::TreeKind::Combine: {
      float right = child(1) * bell(child(3), child(4));
      float left = bell(child(2), child(4));
      value[id] =
          c.fma ? std::fma(child(0), left, right) : child(0) * left + right;
      break;
    }
    case algebra::TreeKind::Round:
      value[id] = bf16(child(0));
      break;
    default:
      FAIL("no node of a state");
    }
  }
  return value[root];
}

/// A partition of one to four digits with stated lengths, ragged at times, and
/// an order that the rules admit.
Case draw(std::mt19937 &random) {
  auto pick = [&](int low, int high) {
    return std::uniform_int_distribution<int>(low, high)(random);
  };
  Case c;
  int count = pick(1, 4), length = 1;
  std::vector<Digit> inner;
  for (int i = 0; i < count; ++i) {
    int radix = pick(1, 5);
    inner.push_back({std::string(1, char('a' + i)), radix, length});
    length *= radix;
    if (i + 1 < count && length > 1 && pick(0, 2) == 0)
      length -= pick(0, length - 1) / 2; // blocks end raggedly inside
  }
  // Each digit covers the block to its left, whose length is stated.
  c.digits.assign(inner.rbegin(), inner.rend());
  c.extent = pick(1, c.digits[0].radix * c.digits[0].length);
  c.first = pick(0, 1);
  c.fma = pick(0, 1);
  std::vector<int> order(count);
  for (int i = 0; i < count; ++i)
    order[i] = i;
  std::shuffle(order.begin(), order.end(), random);
  // Cut the order into below, carries, plain merges and merges of states.
  int carry, plain, merge;
  do {
    carry = pick(0, count);
    plain = pick(carry, count);
    merge = pick(plain, count);
  } while (carry == plain && merge == count);
  // Without a carry there is no telling below from plain above.
  if (carry == plain)
    carry = plain = merge;
  for (int i = 0; i < count; ++i) {
    Entry entry{order[i], "carry"};
    bool power =
        (c.digits[order[i]].radix & (c.digits[order[i]].radix - 1)) == 0;
    bool chains = i < carry;
    for (int k = 0; k < i; ++k)
      chains &= c.entries[k].form == "chain";
    const char *forms[] = {"fold", "pairwise", power ? "halving" : "fold"};
    if (i < carry)
      entry.form = chains && pick(0, 1) ? "chain" : forms[pick(0, 2)];
    else if (i >= plain)
      entry.form = forms[pick(0, 2)];
    entry.merge = i >= merge;
    if (entry.form != "chain" && entry.form != "carry") {
      entry.from = pick(0, 3) == 0;
      entry.in = pick(0, 3) == 0;
    }
    c.entries.push_back(entry);
  }
  return c;
}

} // namespace

TEST_CASE("random states are what the rules say, element by element") {
  std::mt19937 random(20);
  std::normal_distribution<float> normal(0, 3);
  std::set<std::string> seen;
  int differing = 0, distinct = 0;
  for (int trial = 0; trial < 3000; ++trial) {
    Case c = draw(random);
    StateText text = c.text();
    std::string what = text.partition + " /";
    for (const std::string &entry : text.merge)
      what += " " + entry + ",";
    INFO(what << " extent " << c.extent << " start " << text.start);
    seen.insert(what);
    std::vector<float> x(c.extent);
    for (float &value : x) {
      value = normal(random);
      if (trial % 4 == 1 && random() % 3 == 0)
        value = random() % 2 ? -INFINITY : INFINITY;
      if (trial % 16 == 2 && random() % 8 == 0)
        value = NAN;
      if (trial % 4 == 3)
        value = std::copysign(float(random() % 2), value);
    }
    float expected = Naive(c, x).run();
    float got = float(stateRow(text, std::vector<double>(x.begin(), x.end())));
    float tree = treeValue(c, x);
    if (std::isnan(expected)) {
      differing += !std::isnan(got) || !std::isnan(tree);
    } else {
      CHECK(std::bit_cast<uint32_t>(got) == std::bit_cast<uint32_t>(expected));
      CHECK(std::bit_cast<uint32_t>(tree) == std::bit_cast<uint32_t>(expected));
    }
    // The witness: the same elements under the final maximum, in a chain.
    StateText other = text;
    other.state = "two_pass";
    other.partition = "k:*";
    other.merge = {"k chain"};
    distinct += stateRow(other, std::vector<double>(x.begin(), x.end())) != got;
  }
  CHECK(differing == 0);
  CHECK(distinct > 500);
  CHECK(seen.size() > 1000);
}
