// Counting.cpp - the tree of a sum of terms of either sign, by counting units
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/evidence/reveal/Counting.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <map>
#include <numeric>

namespace bitpact::reveal {
namespace {

/// Queries that are built before they are asked.
constexpr size_t slice = 32768;

[[noreturn]] void noTree(int64_t i, int64_t j, const std::string &why) {
  throw Undetermined(
      fmt::format("the counts fit no tree: x{} and x{}: {}", i, j, why));
}

} // namespace

/// How many leaves of `within` lie below the vertex at which each pair meets.
std::vector<int64_t> Counting::count(const std::vector<Question> &asked,
                                     const std::vector<Positions> &withinOf) {
  // Chunks of a set, each with no more units than are counted exactly.
  std::vector<std::vector<Positions>> chunks(withinOf.size());
  for (size_t task = 0; task < withinOf.size(); ++task) {
    if (!withinOf[task])
      continue;
    const std::vector<int64_t> &all = *withinOf[task];
    auto size = static_cast<size_t>(masks.capacity);
    if (all.size() <= size)
      chunks[task] = {withinOf[task]};
    else
      for (size_t begin = 0; begin < all.size(); begin += size)
        chunks[task].push_back(std::make_shared<const std::vector<int64_t>>(
            all.begin() + begin,
            all.begin() + std::min(all.size(), begin + size)));
  }
  std::vector<int64_t> inside(asked.size());
  for (size_t i = 0; i < asked.size(); ++i)
    inside[i] = static_cast<int64_t>(withinOf[asked[i].task]->size());
  std::vector<Query> queries;
  std::vector<size_t> of;
  auto flush = [&] {
    std::vector<double> results = questions.ask(queries);
    for (size_t k = 0; k < results.size(); ++k) {
      double units = results[k] / masks.unit;
      const Question &question = asked[of[k]];
      if (units != std::floor(units) || units < 0 ||
          units > static_cast<double>(masks.capacity))
        noTree(
            question.i, question.j,
            fmt::format("{:.17g} units are outside of where they meet", units));
      inside[of[k]] -= static_cast<int64_t>(units);
    }
    queries.clear();
    of.clear();
  };
  for (size_t i = 0; i < asked.size(); ++i)
    for (const Positions &chunk : chunks[asked[i].task]) {
      Query query;
      query.fill = masks.unit;
      query.filled = chunk;
      query.terms = cancelling(masks, asked[i].i, asked[i].j);
      queries.push_back(std::move(query));
      of.push_back(i);
      if (queries.size() == slice)
        flush();
    }
  flush();
  return inside;
}

std::vector<int64_t>
Counting::leavesAt(const std::vector<std::pair<int64_t, int64_t>> &pairs,
                   const Positions &within) {
  std::vector<Question> asked;
  for (auto [i, j] : pairs)
    asked.push_back({0, i, j});
  return count(asked, {within});
}

void Counting::choosePivot(Task &task) {
  // The least position is the deepest leaf of most trees that people write; a
  // tree that runs the other way is halved by any leaf.
  task.pivot = task.anyPivot ? task.positions[random() % task.positions.size()]
                             : task.positions.front();
}

RevealedTree Counting::recursive(std::vector<int64_t> positions) {
  tasks.clear();
  orderFree = false;
  Task root;
  root.positions = std::move(positions);
  tasks.push_back(std::move(root));
  for (size_t begin = 0, end = 1; begin < end && !orderFree;
       begin = end, end = tasks.size()) {
    questions.say("counting");
    std::vector<Question> asked;
    std::vector<Positions> withinOf(end - begin);
    for (size_t t = begin; t < end; ++t) {
      Task &task = tasks[t];
      choosePivot(task);
      if (task.positions.size() == 1)
        continue;
      auto within = std::make_shared<std::vector<int64_t>>(task.positions);
      if (task.witness >= 0)
        within->insert(
            std::lower_bound(within->begin(), within->end(), task.witness),
            task.witness);
      withinOf[t - begin] = std::move(within);
      for (int64_t j : task.positions)
        if (j != task.pivot)
          asked.push_back({t - begin, task.pivot, j});
    }
    std::vector<int64_t> leaves = count(asked, withinOf);
    size_t at = 0;
    for (size_t t = begin; t < end && !orderFree; ++t) {
      size_t pairs = tasks[t].positions.size() - 1;
      divide(t, {leaves.begin() + at, leaves.begin() + at + pairs});
      at += pairs;
    }
  }
  return assemble();
}

void Counting::divide(size_t at, const std::vector<int64_t> &leaves) {
  std::map<int64_t, std::vector<int64_t>> groups;
  std::vector<int64_t> beside;
  const Task task = tasks[at];
  auto size = static_cast<int64_t>(task.positions.size());
  size_t k = 0;
  for (int64_t j : task.positions) {
    if (j == task.pivot)
      continue;
    int64_t below = leaves[k++];
    if (below < 2 || (below == size + 1 && task.witness < 0))
      noTree(task.pivot, j, fmt::format("{} leaves are below", below));
    (below == size + 1 ? beside : groups[below]).push_back(j);
  }
  if (at == 0 && size > 2 && groups.size() == 1 && groups.count(2)) {
    orderFree = true;
    return;
  }
  // Each group is what its vertex has beyond the last one.
  int64_t below = 1;
  for (auto &[leavesBelow, group] : groups) {
    below += static_cast<int64_t>(group.size());
    if (below != leavesBelow)
      noTree(task.pivot, group.front(),
             fmt::format("{} leaves are below where they meet, but {} meet "
                         "there or before",
                         leavesBelow, below));
    Task inner;
    inner.witness = task.pivot;
    inner.anyPivot =
        4 * static_cast<int64_t>(group.size()) > 3 * size && size > 8;
    inner.positions = std::move(group);
    tasks[at].groups.push_back(tasks.size());
    tasks.push_back(std::move(inner));
  }
  if (!beside.empty()) {
    Task inner;
    inner.witness = task.witness;
    inner.positions = std::move(beside);
    tasks[at].beside = tasks.size();
    tasks.push_back(std::move(inner));
  }
}

/// Tasks are written after those that they are part of.
RevealedTree Counting::assemble() const {
  RevealedTree tree;
  if (orderFree) {
    std::vector<VertexId> all;
    for (int64_t position : tasks.front().positions)
      all.push_back(tree.leaf(position));
    tree.meet(std::move(all), true);
    return tree;
  }
  std::vector<std::vector<VertexId>> partsOf(tasks.size());
  for (size_t t = tasks.size(); t-- > 0;) {
    const Task &task = tasks[t];
    VertexId spine = tree.leaf(task.pivot);
    for (size_t group : task.groups) {
      std::vector<VertexId> parts = std::move(partsOf[group]);
      parts.push_back(spine);
      spine = tree.meet(std::move(parts));
    }
    partsOf[t] = {spine};
    if (task.beside)
      partsOf[t].insert(partsOf[t].end(), partsOf[*task.beside].begin(),
                        partsOf[*task.beside].end());
  }
  return tree;
}

RevealedTree Counting::allPairs() {
  int64_t n = questions.n();
  auto all = std::make_shared<std::vector<int64_t>>(n);
  std::iota(all->begin(), all->end(), 0);
  std::vector<std::pair<int64_t, int64_t>> pairs;
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = i + 1; j < n; ++j)
      pairs.emplace_back(i, j);
  questions.say("all pairs");
  std::vector<int64_t> leaves = leavesAt(pairs, all);
  if (n > 2 && std::all_of(leaves.begin(), leaves.end(),
                           [](int64_t below) { return below == 2; })) {
    tasks = {Task{*all, -1, 0, false, {}, {}}};
    orderFree = true;
    return assemble();
  }
  // Vertices from small to large: joining all pairs with few leaves gives the
  // subtrees; equal numbers within one subtree are one vertex.
  std::vector<size_t> order(pairs.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return leaves[a] < leaves[b]; });
  RevealedTree tree;
  std::vector<VertexId> top(n);
  std::vector<int64_t> owner(n);
  std::iota(owner.begin(), owner.end(), 0);
  auto find = [&](int64_t i) {
    while (owner[i] != i)
      i = owner[i];
    return i;
  };
  for (int64_t i = 0; i < n; ++i)
    top[i] = tree.leaf(i);
  for (size_t begin = 0; begin < order.size();) {
    size_t end = begin;
    int64_t size = leaves[order[begin]];
    std::map<int64_t, int64_t> joined;
    std::map<int64_t, std::vector<VertexId>> parts;
    for (int64_t i = 0; i < n; ++i)
      if (find(i) == i)
        joined[i] = i;
    for (; end < order.size() && leaves[order[end]] == size; ++end) {
      auto [i, j] = pairs[order[end]];
      int64_t a = find(i), b = find(j);
      if (a != b)
        owner[std::max(a, b)] = std::min(a, b);
    }
    for (auto [root, same] : joined)
      parts[find(root)].push_back(top[root]);
    for (auto &[root, list] : parts) {
      if (list.size() < 2)
        continue;
      top[root] = tree.meet(list);
      if (tree.at(top[root]).leaves != size && n > 2)
        noTree(root, pairs[order[begin]].second,
               fmt::format("{} leaves are below where they meet, but {} meet "
                           "there or before",
                           size, tree.at(top[root]).leaves));
    }
    begin = end;
  }
  return tree;
}

} // namespace bitpact::reveal
