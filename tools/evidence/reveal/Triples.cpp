// Triples.cpp - the tree from which two of three leaves meet first
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/evidence/reveal/Triples.h"

#include <fmt/format.h>
#include <random>

namespace bitpact::reveal {
namespace {

/// Which pair of {a, b, x} meets first.
enum class First { AB, AX, BX };

/// A vertex of the tree while it grows: a leaf, two others, or another one.
struct Slot {
  int64_t position = -1;
  int one = -1, two = -1;
};

/// A leaf, or a subtree that one of its leaves stands for.
struct Item {
  int64_t position;
  int slot;
};

struct Task {
  std::vector<Item> items;
  int slot;
  Item a{}, b{};
};

[[noreturn]] void noTree(int64_t a, int64_t b, int64_t x, const char *why) {
  throw Undetermined(fmt::format("of x{}, x{} and x{} {}", a, b, x, why));
}

class Growing {
public:
  Growing(TripleOracle &asked, const std::vector<int64_t> &positions)
      : oracle(asked) {
    Task root{{}, newSlot(), {}, {}};
    for (int64_t position : positions)
      root.items.push_back({position, -1});
    tasks.push_back(std::move(root));
  }

  RevealedTree run() {
    while (!tasks.empty())
      round();
    return written();
  }

private:
  int newSlot() {
    slots.emplace_back();
    return static_cast<int>(slots.size()) - 1;
  }

  /// A leaf is put in its place; two leaves can only meet.
  bool isDone(Task &task) {
    if (task.items.size() > 2)
      return false;
    if (task.items.size() == 2) {
      int one = newSlot(), two = newSlot();
      put(one, task.items[0]);
      put(two, task.items[1]);
      slots[task.slot].one = one;
      slots[task.slot].two = two;
    } else {
      put(task.slot, task.items[0]);
    }
    return true;
  }

  void put(int slot, const Item &item) {
    if (item.slot < 0)
      slots[slot].position = item.position;
    else
      slots[slot].one = item.slot;
  }

  std::vector<First> firstPairs(const std::vector<Triple> &triples);
  void round();
  RevealedTree written() const;

  TripleOracle &oracle;
  std::vector<Slot> slots;
  std::vector<Task> tasks;
  std::mt19937_64 random{1};
};

/// Each is {x, a, b}. Two questions decide; the third is asked where both were
/// answered with no, so that a step of three leaves cannot pass for a tree.
std::vector<First> Growing::firstPairs(const std::vector<Triple> &triples) {
  std::vector<Triple> asked;
  for (auto [x, a, b] : triples) {
    asked.push_back({b, a, x});
    asked.push_back({a, b, x});
  }
  std::vector<bool> answers = oracle.ask(asked);
  std::vector<First> pairs(triples.size(), First::AB);
  std::vector<Triple> rest;
  std::vector<size_t> restOf;
  for (size_t i = 0; i < triples.size(); ++i) {
    auto [x, a, b] = triples[i];
    if (answers[2 * i] && answers[2 * i + 1])
      noTree(a, b, x, "two pairs meet first: they are in no one tree");
    if (answers[2 * i] || answers[2 * i + 1]) {
      pairs[i] = answers[2 * i] ? First::AX : First::BX;
    } else {
      rest.push_back(triples[i]);
      restOf.push_back(i);
    }
  }
  answers = oracle.ask(rest);
  for (size_t i = 0; i < rest.size(); ++i)
    if (!answers[i])
      noTree(rest[i].j, rest[i].k, rest[i].i,
             "no pair meets first: they meet in one step, or in no order that "
             "rounds");
  return pairs;
}

void Growing::round() {
  std::erase_if(tasks, [&](Task &task) { return isDone(task); });
  std::vector<Triple> triples;
  for (Task &task : tasks) {
    // Drawn without replacement, at the end of the list.
    for (Item *drawn : {&task.a, &task.b}) {
      std::swap(task.items[random() % task.items.size()], task.items.back());
      *drawn = task.items.back();
      task.items.pop_back();
    }
    for (const Item &x : task.items)
      triples.push_back({x.position, task.a.position, task.b.position});
  }
  std::vector<First> pairs = firstPairs(triples);
  std::vector<Task> next;
  size_t at = 0;
  for (Task &task : tasks) {
    int met = newSlot(), one = newSlot(), two = newSlot();
    slots[met].one = one;
    slots[met].two = two;
    Task outside{{{task.a.position, met}}, task.slot, {}, {}};
    Task left{{task.a}, one, {}, {}}, right{{task.b}, two, {}, {}};
    for (const Item &x : task.items) {
      First pair = pairs[at++];
      (pair == First::AB   ? outside
       : pair == First::AX ? left
                           : right)
          .items.push_back(x);
    }
    for (Task *part : {&outside, &left, &right})
      next.push_back(std::move(*part));
  }
  tasks = std::move(next);
}

/// Children first, without recursion: chains are as deep as they are long.
RevealedTree Growing::written() const {
  RevealedTree tree;
  std::vector<VertexId> vertexOf(slots.size(), -1);
  std::vector<std::pair<int, bool>> open{{0, false}};
  while (!open.empty()) {
    auto [id, childrenDone] = open.back();
    open.pop_back();
    const Slot &slot = slots[id];
    if (slot.position >= 0) {
      vertexOf[id] = tree.leaf(slot.position);
    } else if (!childrenDone) {
      open.push_back({id, true});
      for (int child : {slot.two, slot.one})
        if (child >= 0)
          open.push_back({child, false});
    } else {
      vertexOf[id] = slot.two < 0
                         ? vertexOf[slot.one]
                         : tree.meet({vertexOf[slot.one], vertexOf[slot.two]});
    }
  }
  return tree;
}

} // namespace

RevealedTree fromTriples(TripleOracle &oracle,
                         const std::vector<int64_t> &positions) {
  return Growing(oracle, positions).run();
}

void confirmTriples(TripleOracle &oracle, const RevealedTree &tree,
                    const std::vector<int64_t> &positions, int64_t count) {
  if (positions.size() < 3)
    return;
  std::mt19937_64 random(2);
  std::vector<Triple> triples;
  std::vector<std::pair<int64_t, int64_t>> pairs;
  for (int64_t trial = 0; trial < count; ++trial) {
    int64_t some[3];
    do {
      for (int64_t &one : some)
        one = positions[random() % positions.size()];
    } while (some[0] == some[1] || some[1] == some[2] || some[0] == some[2]);
    triples.push_back({some[0], some[1], some[2]});
    pairs.insert(pairs.end(), {{some[1], some[2]}, {some[0], some[1]}});
  }
  std::vector<VertexId> meetings = tree.meetings(pairs);
  std::vector<bool> answers = oracle.ask(triples);
  for (size_t t = 0; t < triples.size(); ++t)
    if (answers[t] != (meetings[2 * t] < meetings[2 * t + 1]))
      noTree(triples[t].i, triples[t].j, triples[t].k,
             "another pair meets first than in the tree of all the others");
}

} // namespace bitpact::reveal
