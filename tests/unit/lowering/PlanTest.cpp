// PlanTest.cpp - how digits meet loops, registers, lanes and packs
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/Lowering/RowPlan.h"
#include "mlir/AsmParser/AsmParser.h"
#include "tests/unit/lowering/KernelProgram.h"

#include <catch2/catch.hpp>

using namespace bitpact;
using namespace bitpact::tests;
using namespace bitpact::lowering;

namespace {

struct Shape {
  const char *kind = "row_per_group";
  int64_t lanes = 8, vectorBytes = 16, unroll = 64;
  const char *state = "";
};

llvm::Expected<NodePlan> tryPlan(const std::string &partition,
                                 const std::string &merge, int64_t extent,
                                 Shape shape = {}) {
  mlir::MLIRContext &context = compilerContext();
  auto node = llvm::cast_if_present<pact::NodeAttr>(mlir::parseAttribute(
      "#pact.node<domain \"hidden\" partition \"" + partition + "\" merge [" +
          merge + "] start identity " + shape.state + " accumulator f32>",
      &context));
  REQUIRE(node);
  auto schedule =
      kernel::ScheduleAttr::get(&context, shape.kind, shape.lanes, shape.lanes,
                                1, shape.vectorBytes, shape.unroll);
  return planNode(node, extent, schedule);
}

NodePlan plan(const std::string &partition, const std::string &merge,
              int64_t extent, Shape shape = {}) {
  llvm::Expected<NodePlan> result = tryPlan(partition, merge, extent, shape);
  if (!result)
    FAIL(llvm::toString(result.takeError()));
  return *result;
}

std::string whyNot(const std::string &partition, const std::string &merge,
                   int64_t extent, Shape shape = {}) {
  llvm::Expected<NodePlan> result = tryPlan(partition, merge, extent, shape);
  REQUIRE_FALSE(bool(result));
  return llvm::toString(result.takeError());
}

/// `digit:radix*weight binding form`, innermost merge first.
std::string textOf(const NodePlan &plan) {
  std::string text;
  for (const SubDigit &sub : plan.order) {
    static const char *const bindings[] = {"loop", "registers", "lanes"};
    text += (text.empty() ? "" : ", ") + std::to_string(sub.digit) + ":" +
            (sub.radix == kDynamic ? "?" : std::to_string(sub.radix)) + "*" +
            std::to_string(sub.weight) + " " + bindings[int(sub.binding)] +
            " " + std::string(algebra::name(sub.form));
    if (sub.from)
      text += " from " + std::string(algebra::name(*sub.from));
    if (sub.in)
      text += " in " + std::string(algebra::name(*sub.in));
  }
  return text;
}

const char *const kChained = R"("pack chain", "sweep chain", "lane halving")";

} // namespace

TEST_CASE("lanes take a halving digit's low bits, registers its high bits") {
  CHECK(textOf(plan("sweep:* lane:32 pack:4", kChained, 256)) ==
        "2:4*1 registers chain, 0:2*1 registers chain, "
        "1:4*8 registers halving, 1:8*1 lanes halving");
}

TEST_CASE("of a pairwise digit, lanes merge first") {
  CHECK(textOf(plan("k:*", R"("k pairwise")", 64)) ==
        "0:8*1 lanes pairwise, 0:8*8 registers pairwise");
  // An open extent: nobody knows how many rounds.
  CHECK(textOf(plan("k:*", R"("k pairwise")", kDynamic)) ==
        "0:8*1 lanes pairwise, 0:?*8 loop pairwise");
}

TEST_CASE("a digit with as many blocks as lanes is not cut") {
  CHECK(textOf(plan("a:2 lane:8", R"("lane halving", "a fold")", 16)) ==
        "1:8*1 lanes halving, 0:2*1 registers fold");
}

TEST_CASE("lanes take the shortest blocks that a tree of exchanges merges") {
  CHECK(textOf(plan("a:8 b:2 c:8", R"("c pairwise", "b fold", "a halving")",
                    128)) ==
        "2:8*1 lanes pairwise, 1:2*1 registers fold, 0:8*1 registers halving");
  // A fold is no such tree, however many blocks it has.
  CHECK(textOf(plan("a:8 b:16", R"("b fold", "a halving")", 128)) ==
        "1:16*1 registers fold, 0:8*1 lanes halving");
  // `any` may be merged in any tree.
  CHECK(textOf(plan("a:16", R"("a any")", 16)) ==
        "0:8*1 lanes pairwise, 0:2*8 registers pairwise");
}

TEST_CASE("a row a lane binds no digit to lanes") {
  CHECK(textOf(plan("sweep:* lane:32 pack:4", kChained, 256,
                    {"row_per_lane", 8, 0, 16})) ==
        "2:4*1 registers chain, 0:2*1 loop chain, 1:32*1 loop halving");
  CHECK(textOf(plan("a:8", R"("a any")", 8, {"row_per_lane", 8, 0, 4})) ==
        "0:8*1 loop fold");
}

TEST_CASE("registers go to the innermost blocks as far as they last") {
  // 4 · 4 · 2 = 32 values in flight; one less and the sweep is a loop.
  CHECK(textOf(plan("sweep:* lane:32 pack:4", kChained, 256,
                    {"row_per_group", 8, 16, 32})) ==
        "2:4*1 registers chain, 0:2*1 registers chain, "
        "1:4*8 registers halving, 1:8*1 lanes halving");
  CHECK(textOf(plan("sweep:* lane:32 pack:4", kChained, 256,
                    {"row_per_group", 8, 16, 31})) ==
        "2:4*1 registers chain, 0:2*1 loop chain, "
        "1:4*8 registers halving, 1:8*1 lanes halving");
  CHECK(textOf(plan("sweep:* lane:32 pack:4", kChained, 256,
                    {"row_per_group", 8, 16, 3})) ==
        "2:4*1 loop chain, 0:2*1 loop chain, "
        "1:4*8 loop halving, 1:8*1 lanes halving");
  CHECK(plan("sweep:* lane:32 pack:4", kChained, kDynamic).order[1].binding ==
        Binding::Loop);
}

TEST_CASE("a fixed digit ends where the row does") {
  auto radixOf = [](const std::string &partition, const std::string &merge,
                    int64_t extent, Shape shape) {
    return plan(partition, merge, extent, shape).order.back().radix;
  };
  Shape lane{"row_per_lane", 8, 0, 16};
  std::string huge = std::to_string(int64_t(1) << 60);
  CHECK(radixOf("a:" + huge + " k:4", R"("k chain", "a fold")", 21, lane) == 6);
  CHECK(radixOf("a:" + huge + " k:4", R"("k chain", "a pairwise")", 21, lane) ==
        6);
  // The pairs of halving are those of the next power of two.
  CHECK(radixOf("a:" + huge + " k:4", R"("k chain", "a halving")", 21, lane) ==
        8);
  CHECK(radixOf("a:4 k:4", R"("k chain", "a fold")", 16, lane) == 4);
  // Inner digits too: the row is shorter than one tile.
  NodePlan inner = plan("tile:* a:100000000000000 k:4",
                        R"("k chain", "a chain", "tile fold")", 21, lane);
  CHECK(inner.digits[1].radix == 6);
  CHECK_FALSE(inner.digits[1].mayBeShort);
  CHECK(inner.digits[0].mayBeShort);
  // Lanes stay as many as the schedule has, whose parts may be empty.
  CHECK(textOf(plan("l:64", R"("l halving")", 5,
                    {"row_per_group", 8, 0, 16})) == "0:8*1 lanes halving");
}

TEST_CASE("lanes on neighbouring elements") {
  NodePlan steps = planAcross(8, 100, true), rest = planAcross(8, 100, false);
  CHECK(textOf(steps) ==
        "1:8*1 lanes any, 0:4*1 registers any, 0:3*4 loop any");
  CHECK_FALSE(steps.digits[0].mayBeShort);
  CHECK(textOf(rest) == "1:8*1 lanes any, 0:1*1 registers any");
  CHECK(rest.digits[0].mayBeShort);
  CHECK(steps.key != rest.key);
}

TEST_CASE("roundings of parts stay where parts enter") {
  // Parts enter a digit once, at the sub-digit that is merged first; every
  // merge rounds.
  CHECK(textOf(plan("l:32", R"("l halving from bf16 in f16")", 32)) ==
        "0:4*8 registers halving from bf16 in f16, 0:8*1 lanes halving in f16");
  CHECK(textOf(plan("l:32", R"("l pairwise from bf16 in f16")", 32)) ==
        "0:8*1 lanes pairwise from bf16 in f16, "
        "0:4*8 registers pairwise in f16");
  CHECK(textOf(plan("l:8", R"("l halving from bf16 in f16")", 8)) ==
        "0:8*1 lanes halving from bf16 in f16");
}

TEST_CASE("a chain stands in front") {
  CHECK(plan("sweep:* lane:32 pack:4", kChained, 256).chainLength() == 2);
  CHECK(plan("l:32", R"("l halving")", 32).chainLength() == 0);
}

TEST_CASE("packs") {
  auto packOf = [](const char *partition, const char *merge, int64_t extent,
                   Shape shape = {}) {
    return plan(partition, merge, extent, shape).pack;
  };
  CHECK(packOf("sweep:* lane:8 pack:4", kChained, 64) == 4);
  CHECK(packOf("sweep:* lane:8 pack:16", kChained, 256) == 16);
  // Longer than any access, not a power of two, or element by element.
  CHECK(packOf("sweep:* lane:8 pack:32", kChained, 256) == 1);
  CHECK(packOf("sweep:* lane:8 pack:6", kChained, 96) == 1);
  CHECK(packOf("sweep:* lane:8 pack:4", kChained, 64,
               {"row_per_group", 8, 0, 64}) == 1);
  // Elements in a loop, or on lanes, are not together in a lane.
  CHECK(packOf("sweep:* lane:8 pack:4", kChained, 64,
               {"row_per_group", 8, 16, 2}) == 1);
  CHECK(packOf("sweep:* lane:8", R"("sweep chain", "lane halving")", 64) == 1);
  // Blocks of 10 would begin in the middle of an access of 4.
  CHECK(packOf("lane:8@10 sweep:3@4 pack:4", kChained, 80) == 1);
  CHECK(packOf("lane:8@12 sweep:3@4 pack:4", kChained, 96) == 4);
}

TEST_CASE("a pack is present as a whole where rows end between packs") {
  auto whole = [](int64_t extent) {
    return plan("sweep:* lane:8 pack:4", kChained, extent).packPresentAsWhole;
  };
  CHECK(whole(64));
  CHECK(whole(60));
  CHECK_FALSE(whole(61));
  CHECK_FALSE(whole(kDynamic));
}

TEST_CASE("which blocks may be short") {
  auto shortDigits = [](const char *partition, const char *merge,
                        int64_t extent) {
    std::string text;
    for (const DigitShape &shape : plan(partition, merge, extent).digits)
      text += shape.mayBeShort ? "s" : "-";
    return text;
  };
  CHECK(shortDigits("sweep:* lane:8 pack:4", kChained, 64) == "---");
  CHECK(shortDigits("sweep:* lane:8 pack:4", kChained, 63) == "s--");
  CHECK(shortDigits("sweep:* lane:8 pack:4", kChained, kDynamic) == "s--");
  // Lanes do not divide the digit: the last of them own no block of it.
  CHECK(shortDigits("k:*", R"("k pairwise")", 64) == "-");
  CHECK(shortDigits("k:*", R"("k pairwise")", 63) == "s");
  CHECK(shortDigits("a:2 k:12", R"("k pairwise", "a fold")", 24) == "-s");
}

TEST_CASE("states: where the carry is, and how many accumulators there are") {
  Shape online;
  online.state = "state online";
  online.unroll = 32; // packs take 4, lanes' own blocks 4, and 2 are left
  NodePlan shared =
      plan("sweep:* step:4 lane:32 pack:4",
           R"("pack chain", "sweep carry", "step halving", "lane halving")",
           5120, online);
  CHECK(textOf(shared) ==
        "3:4*1 registers chain, 0:10*1 loop carry, 1:4*1 loop halving, "
        "2:4*8 registers halving, 2:8*1 lanes halving");
  CHECK(shared.carry == 1);
  CHECK(shared.plain == 2);
  CHECK(shared.merge == 5);
  CHECK(shared.slots == 16);
  CHECK(shared.slotsInLoops);
  CHECK(shared.order[2].slotStride == 1);
  CHECK(shared.order[3].slotStride == 4);
  NodePlan own = plan("sweep:* lane:8 pack:4",
                      R"("pack chain", "sweep carry", "lane halving merge")",
                      5120, online);
  CHECK(own.merge == 2);
  CHECK(own.order.size() == 3);
  CHECK(own.slots == 1);
  CHECK_FALSE(own.slotsInLoops);
  // Without a carry, all elements of a state are one step.
  NodePlan once =
      plan("part:* lane:8", R"("lane halving", "part fold merge")", 64, online);
  CHECK(once.carry == 1);
  CHECK(once.plain == 1);
  CHECK(once.merge == 1);

  // Accumulators that share a maximum are kept all at once.
  CHECK(whyNot("part:* step:4 lane:8",
               R"("step carry", "lane halving", "part fold")", 64 * 16384,
               online) ==
        "merge: 'part' is merged above the carry, and 32768 accumulators share "
        "a maximum; a schedule of rows keeps at most 8192");
  CHECK(whyNot("part:* step:4 lane:8",
               R"("step carry", "lane halving", "part fold")", kDynamic,
               online) ==
        "merge: 'part' is merged above the carry, and every block of it has an "
        "accumulator; how many there are is open. A schedule of rows keeps "
        "them with a fixed radix, or below the carry, or with 'part fold "
        "merge'");
}

TEST_CASE("refusals name the field") {
  CHECK(whyNot("k:*", R"("k chain")", 64) ==
        "merge: no digit with form halving or pairwise has at least 8 blocks "
        "for the lanes of a row");
  CHECK(whyNot("a:* l:4", R"("a chain", "l halving")", 64) ==
        "merge: no digit with form halving or pairwise has at least 8 blocks "
        "for the lanes of a row");
  CHECK(whyNot("step:* k:16", R"m("k fused(dot.nv(16,25))", "step chain")m", 64,
               {"row_per_lane"}) ==
        "merge: 'k' is fused, and a reduction of rows has no matrix unit to "
        "run it; write chain");
  // Scratch is finite, for all the instances that are in flight.
  CHECK(whyNot("l:16384", R"("l halving")", 16384, {"row_per_lane"}) ==
        "merge: halving of 'l' keeps 16384 partials at once; a schedule of "
        "rows keeps at most 8192");
  CHECK(plan("l:8192", R"("l halving")", 8192, {"row_per_lane"}).order.size() ==
        1);
  CHECK(whyNot("seq:@offsets k:*", R"("k chain", "seq fold")", 64,
               {"row_per_lane"}) ==
        "partition: digit 'seq' has blocks given by offsets; schedules accept "
        "it down columns, where lanes have several rows");
}
