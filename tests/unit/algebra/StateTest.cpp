// StateTest.cpp - merge orders and trees of states: S2-S5
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "contracts/algebra/TreeBuilder.h"
#include "tests/unit/algebra/ExpectRule.h"

using namespace bitpact::algebra;

static Reduction state(const std::string &partition, const std::string &order,
                       State state = State::Online) {
  return {Partition::parse(partition),
          MergeOrder::parse(order),
          ReductionKind::ExpSum,
          Start::Identity,
          Format::F32,
          state};
}

static std::string tree(const Reduction &r, int64_t extent) {
  TreeStore store;
  return store.expression(*buildTree(store, r, {extent}));
}

/// The first extent up to 20 on which the trees differ, or 0.
static int64_t differ(const Reduction &a, const Reduction &b) {
  std::vector<Elements> extents;
  for (int64_t i = 1; i <= 20; ++i)
    extents.push_back({i});
  std::optional<Elements> found = firstDifference(a, b, extents);
  return found ? found->extent : 0;
}

TEST_CASE("words of a state's merge order") {
  MergeEntry entry = MergeEntry::parse(" lane  halving merge from bf16 in f32");
  CHECK(entry.merge);
  CHECK(entry.form == Form::Halving);
  CHECK(entry.text() == "lane halving merge from bf16 in f32");
  CHECK(MergeEntry::parse("merge fold").digit == "merge");
  CHECK(MergeEntry::parse("s carry").form == Form::Carry);
  CHECK(MergeEntry::parse("s carry") != MergeEntry::parse("s chain"));
  expectRule("T8", "'merge' is out of place",
             [] { MergeEntry::parse("lane fold in f32 merge"); });
  expectRule("T8", "'carry' takes elements through the step primitive",
             [] { MergeEntry::parse("s carry in f32"); });
  CHECK(name(ReductionKind::ExpSum) == "exp_sum");
  CHECK(operandCount(ReductionKind::ExpSum) == 2);
  CHECK(stepKind(ReductionKind::ExpSum) == ReductionKind::Sum);
  CHECK(parseState("online") == State::Online);
  CHECK(name(State::TwoPass) == "two_pass");
  CHECK_FALSE(parseState("").has_value());
  CHECK_FALSE(parseState("offline").has_value());

  // c chain, j chain | tile carry | t halving | split fold merge
  Partition p = Partition::parse("split:2@32 tile:* t:4 j:2 c:2");
  StateEntries at = stateEntries(
      MergeOrder::parse("c chain, j chain, tile carry, t halving, split fold "
                        "merge")
          .bind(p));
  CHECK(at.carry == 2);
  CHECK(at.plain == 3);
  CHECK(at.merge == 4);
}

TEST_CASE("S2 to S5: where states may be merged") {
  auto refuses = [](const std::string &rule, const std::string &text,
                    const std::string &order, State s = State::Online,
                    ReductionKind kind = ReductionKind::ExpSum) {
    MergeOrder t = MergeOrder::parse(order);
    Partition p = Partition::parse("a:* b:4 c:2");
    expectRule(rule, text, [&] { t.validate(p, kind, Start::Identity, s); });
  };
  const std::string chains = "c chain, b chain, a chain";
  refuses("S2", "an exp_sum says how it meets its maximum", chains,
          State::None);
  refuses("S2", "the state is online, a sum has none", chains, State::Online,
          ReductionKind::Sum);
  refuses("S3", "an online exp_sum has a carry or a merge of states", chains);
  refuses("S3", "carry is for states whose maximum runs, this is a sum",
          "c chain, b chain, a carry", State::None, ReductionKind::Sum);
  refuses("S3", "merge is for states whose maximum runs, this is a two_pass",
          "c chain, b chain, a fold merge", State::TwoPass);
  refuses("S4", "below it is fold, and below that another carry",
          "c carry, b fold, a carry");
  refuses("S5", "every merge is one of states",
          "c chain, b fold merge, a fold");
  refuses("S5", "states meet by fold, pairwise or halving, not by carry",
          "c chain, b carry merge, a carry");
  refuses("S5", "not by any", "c chain, b carry, a any merge");
  refuses("T3", "admits chain, carry, fold, pairwise, any",
          "c chain, b carry, a halving merge");
  refuses("T4", "the merge of a sum rounds", "c any, b carry, a carry");
  refuses("T5", "below it is carry", "c chain, b carry, a chain");
  for (const char *order :
       {"c chain, b carry, a carry", "c carry, b halving, a fold merge",
        "a carry, b halving merge, c pairwise merge", "c fold, a carry, b fold",
        "c chain, b halving, a pairwise merge"})
    CHECK_NOTHROW(state("a:* b:4 c:2", order).validate());
  CHECK_NOTHROW(state("a:* b:4 c:2", chains, State::TwoPass).validate());
}

TEST_CASE("trees of states") {
  CHECK(tree(state("t:* c:2", "c chain, t chain", State::TwoPass), 4) ==
        "chain(id, x0, x1, x2, x3)");
  CHECK(tree(state("t:* c:2", "c chain, t carry"), 5) ==
        "chain(carry(chain(carry(chain(id, x0, x1)), x2, x3)), x4)");
  CHECK(tree(state("t:* c:2", "c halving, t carry"), 4) ==
        "(carry((chain(id, x0) + chain(id, x1))) + (chain(id, x2) + "
        "chain(id, x3)))");
  CHECK(tree(state("j:* t:2", "j carry, t halving"), 4) ==
        "(chain(carry(chain(id, x0)), x2) + chain(carry(chain(id, x1)), x3))");
  // An accumulator without an element in a step is rescaled all the same.
  CHECK(tree(state("j:* t:2", "j carry, t halving"), 3) ==
        "(chain(carry(chain(id, x0)), x2) + carry(chain(id, x1)))");
  CHECK(tree(state("j:* t:2", "j carry, t halving merge"), 3) ==
        "(chain(carry(chain(id, x0)), x2) ⊕ chain(id, x1))");
  CHECK(tree(state("s:2@2 k:2", "k chain, s fold merge from bf16"), 4) ==
        "(bf16(chain(id, x0, x1)) ⊕ bf16(chain(id, x2, x3)))");
  CHECK(tree(state("a:2 b:2 c:1", "c chain, a carry, b carry"), 4) ==
        "chain(carry(chain(carry(chain(carry(chain(id, x0)), x2)), x1)), x3)");
  TreeStore store;
  CHECK(store.expression(store.bound(std::nullopt, {5, 0, 2, 1})) ==
        "max(x0…x2, x5)");
  CHECK(store.bound(store.bound(std::nullopt, {0, 3}), {2, 1}) ==
        store.bound(std::nullopt, {0, 1, 2, 3}));
  TreeId root =
      *buildTree(store, state("s:2@2 k:2", "k carry, s fold merge"), {3});
  CHECK(store.draw(root) == "⊕\n"
                            "├─ chain(carry(chain(id, x0)), x1)\n"
                            "└─ chain(id, x2)\n");
  CHECK(store.leaves(root) == std::vector<int64_t>{0, 1, 2});
}

TEST_CASE("states are equal exactly if their trees are") {
  // A carry in two digits is one carry.
  CHECK(differ(state("t:* c:2", "c chain, t carry"),
               state("a:* b:2 c:2", "c chain, b carry, a carry")) == 0);
  // One step, or none, is two passes.
  CHECK(differ(state("t:1@32 c:32", "c chain, t carry"),
               state("t:1@32 c:32", "c chain, t chain", State::TwoPass)) == 0);
  // Visiting the steps in another order differs once there are two of each.
  CHECK(differ(state("a:5 b:4", "b carry, a carry"),
               state("a:5 b:4", "a carry, b carry")) == 5);
  // Larger steps: from the second element on.
  CHECK(differ(state("t:* c:2", "c chain, t carry"), state("t:*", "t carry")) ==
        2);
  CHECK(differ(state("t:* c:2", "c chain, t carry"),
               state("t:* c:2", "c chain, t chain", State::TwoPass)) == 3);
  // Lanes that share a maximum and lanes that do not: the same shape of sums,
  // under other bounds.
  CHECK(differ(state("j:* t:2", "j carry, t fold"),
               state("j:* t:2", "j carry, t fold merge")) == 2);
  // A combine is not commutative.
  CHECK(differ(state("s:2@10 k:10", "k chain, s fold merge"),
               state("s:2@10 k:10", "k chain, s halving merge")) == 0);
  TreeStore store;
  TreeId a = store.leaf(0), b = store.leaf(1), m = store.bound({}, {0, 1});
  CHECK(store.combine(a, m, b, m, m) != store.combine(b, m, a, m, m));
  CHECK(store.merge(a, b) == store.merge(b, a));
}
