// RowPlan.cpp - how the digits of one node meet loops, registers and lanes
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/Lowering/RowPlan.h"

#include "codegen/Lowering/SplitPlan.h"
#include "dialects/Pact/RowAxis.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>

using namespace mlir;
using namespace bitpact;
using namespace bitpact::lowering;
using algebra::Form;

namespace {

template <typename... Args>
llvm::Error refusal(const char *format, Args &&...args) {
  return llvm::createStringError(
      llvm::formatv(format, std::forward<Args>(args)...).str());
}

std::string inQuotes(std::string_view text) {
  return "'" + std::string(text) + "'";
}

std::vector<DigitShape> shapesOf(const algebra::Partition &partition,
                                 int64_t extent) {
  std::vector<DigitShape> shapes;
  const auto &digits = partition.digits();
  for (size_t i = 0; i < digits.size(); ++i) {
    DigitShape shape;
    shape.length = partition.length(i);
    shape.container = i == 0 || shapes[i - 1].isOffsets
                          ? (i == 0 ? extent : kDynamic)
                          : shapes[i - 1].length;
    if (digits[i].kind == algebra::DigitKind::Offsets) {
      shapes.push_back({kDynamic, 0, extent, true, true});
      continue;
    }
    if (digits[i].kind == algebra::DigitKind::Fixed)
      shape.radix = digits[i].radix;
    else if (shape.container == kDynamic)
      shape.radix = kDynamic;
    else
      shape.radix = llvm::divideCeil(shape.container, shape.length);
    shape.mayBeShort = shape.container == kDynamic ||
                       shape.radix * shape.length != shape.container;
    shapes.push_back(shape);
  }
  return shapes;
}

/// Blocks of a fixed digit that can have elements: a loop over the others would
/// find nothing, were they 2^60. Halving keeps its tree over the next power of
/// two, below which no pair changes.
void clamp(DigitShape &shape, Form form, int64_t least, int64_t extent) {
  if (shape.isOffsets || shape.radix == kDynamic || extent == kDynamic ||
      shape.container == kDynamic)
    return;
  int64_t elements = std::min(shape.container, extent);
  int64_t blocks =
      std::max<int64_t>(llvm::divideCeil(elements, shape.length), 1);
  if (form == Form::Halving)
    blocks = int64_t(llvm::PowerOf2Ceil(uint64_t(blocks)));
  blocks = std::max(blocks, least);
  if (blocks >= shape.radix)
    return;
  shape.radix = blocks;
  shape.mayBeShort = shape.container < blocks * shape.length;
}

/// The digit whose blocks neighbouring lanes take: a tree that exchanges can
/// merge, with enough blocks, the shortest blocks first since neighbours then
/// read neighbouring memory.
std::optional<unsigned>
laneDigit(const std::vector<algebra::BoundMerge> &merges,
          const std::vector<DigitShape> &shapes, int64_t lanes) {
  std::optional<unsigned> best;
  for (const algebra::BoundMerge &merge : merges) {
    const DigitShape &shape = shapes[merge.digit];
    bool fits =
        merge.form == Form::Halving
            ? shape.radix >= lanes
            : (merge.form == Form::Pairwise || merge.form == Form::Any) &&
                  (shape.radix == kDynamic || shape.radix >= lanes);
    if (fits && (!best || shape.length < shapes[*best].length))
      best = merge.digit;
  }
  return best;
}

void appendLaneDigit(std::vector<SubDigit> &order,
                     const algebra::BoundMerge &merge, int64_t radix,
                     int64_t lanes) {
  int64_t rest =
      radix == kDynamic ? kDynamic : int64_t(llvm::divideCeil(radix, lanes));
  Form form = merge.form == Form::Halving ? Form::Halving : Form::Pairwise;
  SubDigit across{
      unsigned(merge.digit), lanes, 1, Binding::Lanes, form, {}, merge.in};
  SubDigit within{
      unsigned(merge.digit), rest, lanes, Binding::Loop, form, {}, merge.in};
  SubDigit *first = form == Form::Halving ? &within : &across;
  first->from = merge.from;
  if (rest == 1) {
    across.from = merge.from;
    order.push_back(across);
    return;
  }
  order.push_back(*first);
  order.push_back(form == Form::Halving ? across : within);
}

/// Registers go to the innermost digits first: those share an access.
void chooseUnrolled(NodePlan &plan, int64_t budget) {
  std::vector<SubDigit *> bySize;
  for (SubDigit &sub : plan.order)
    if (sub.binding != Binding::Lanes)
      bySize.push_back(&sub);
  llvm::stable_sort(bySize, [&](SubDigit *a, SubDigit *b) {
    return a->weight * plan.digits[a->digit].length <
           b->weight * plan.digits[b->digit].length;
  });
  for (SubDigit *sub : bySize) {
    if (sub->radix == kDynamic || sub->radix > budget ||
        sub->binding == Binding::Split)
      break;
    sub->binding = Binding::Unroll;
    budget /= sub->radix;
  }
}

void choosePack(NodePlan &plan, kernel::ScheduleAttr schedule) {
  const DigitShape &last = plan.digits.back();
  if (schedule.getVectorBytes() == 0 || last.length != 1 || last.radix < 2 ||
      last.radix > 16 || !llvm::isPowerOf2_64(last.radix))
    return;
  unsigned lastIndex = plan.digits.size() - 1;
  for (const SubDigit &sub : plan.order)
    if (sub.digit == lastIndex &&
        (sub.binding != Binding::Unroll || sub.radix != last.radix))
      return;
  // Other digits must step by whole packs.
  for (size_t i = 0; i + 1 < plan.digits.size(); ++i)
    if (plan.digits[i].length % last.radix)
      return;
  plan.pack = last.radix;
  plan.packPresentAsWhole = true;
  for (const DigitShape &shape : plan.digits)
    if (shape.mayBeShort &&
        (shape.container == kDynamic || shape.container % plan.pack))
      plan.packPresentAsWhole = false;
}

/// Partials that a program may keep in scratch: at 16 lanes of f64 one MiB.
constexpr int64_t kMostCells = 8192;

/// The digit whose halving in a loop would need more scratch than that.
const SubDigit *tooManyCells(const NodePlan &plan) {
  int64_t batch = 1; // instances that the unrolled digits further out make
  for (const SubDigit &sub : llvm::reverse(plan.order)) {
    if (sub.binding == Binding::Unroll)
      batch *= sub.radix;
    else if (sub.binding == Binding::Loop && sub.form == Form::Halving &&
             sub.radix > kMostCells / batch)
      return &sub;
  }
  return nullptr;
}

/// Accumulators that share a running maximum are all kept at once, so each gets
/// a number.
llvm::Error numberSlots(NodePlan &plan, const algebra::Partition &partition) {
  for (size_t i = plan.plain; i < plan.merge; ++i) {
    SubDigit &sub = plan.order[i];
    if (sub.binding == Binding::Lanes)
      continue;
    std::string_view name = partition.digits()[sub.digit].name;
    if (sub.radix == kDynamic)
      return refusal("merge: {0} is merged above the carry, and every block of "
                     "it has an accumulator; how many there are is open. A "
                     "schedule of rows keeps them with a fixed radix, or below "
                     "the carry, or with '{1} fold merge'",
                     inQuotes(name), std::string(name));
    plan.slotsInLoops |= sub.binding == Binding::Loop;
    sub.slotStride = plan.slots;
    if (sub.radix > kMostCells / plan.slots)
      return refusal("merge: {0} is merged above the carry, and {1} "
                     "accumulators share a maximum; a schedule of rows keeps "
                     "at most {2}",
                     inQuotes(name), sub.radix * plan.slots, kMostCells);
    plan.slots *= sub.radix;
  }
  return llvm::Error::success();
}

} // namespace

size_t NodePlan::chainLength() const {
  size_t length = 0;
  while (length < order.size() && order[length].form == Form::Chain)
    ++length;
  return length;
}

llvm::Expected<NodePlan> lowering::planNode(pact::NodeAttr node, int64_t extent,
                                            kernel::ScheduleAttr schedule) {
  const algebra::Partition &partition = node.getPartition().getValue();
  NodePlan plan;
  plan.extent = extent;
  plan.digits = shapesOf(partition, extent);
  std::vector<algebra::BoundMerge> merges =
      node.getMerge().getValue().bind(partition);
  if (llvm::Error error = checkOffsets(partition, merges, schedule))
    return error;
  std::optional<unsigned> lanes;
  if (schedule.getKind() == "row_per_group") {
    lanes = laneDigit(merges, plan.digits, schedule.getLanes());
    if (!lanes)
      return refusal("merge: no digit with form halving or pairwise has at "
                     "least {0} blocks for the lanes of a row",
                     schedule.getLanes());
  }
  algebra::StateEntries entries = algebra::stateEntries(merges);
  for (auto [i, merge] : llvm::enumerate(merges)) {
    if (int(i) == entries.carry)
      plan.carry = plan.order.size();
    if (int(i) == entries.plain)
      plan.plain = plan.order.size();
    if (int(i) == entries.merge)
      plan.merge = plan.order.size();
    bool across = lanes && *lanes == unsigned(merge.digit);
    clamp(plan.digits[merge.digit], merge.form,
          across ? schedule.getLanes() : 1, extent);
    int64_t radix = plan.digits[merge.digit].radix;
    if (merge.form == Form::Fused)
      return refusal("merge: {0} is fused, and a reduction of rows has no "
                     "matrix unit to run it; write chain",
                     inQuotes(partition.digits()[merge.digit].name));
    if (across) {
      appendLaneDigit(plan.order, merge, radix, schedule.getLanes());
      // The last round of lanes may reach beyond the digit.
      if (radix % schedule.getLanes())
        plan.digits[merge.digit].mayBeShort = true;
      continue;
    }
    Form form = merge.form == Form::Any ? Form::Fold : merge.form;
    plan.order.push_back({unsigned(merge.digit), radix, 1, Binding::Loop, form,
                          merge.from, merge.in});
  }
  for (auto [entry, at] : {std::pair(entries.carry, &plan.carry),
                           std::pair(entries.plain, &plan.plain),
                           std::pair(entries.merge, &plan.merge)})
    if (entry == int(merges.size()))
      *at = plan.order.size();
  if (schedule.getSplit())
    if (llvm::Error error = cutOutermost(plan, schedule.getSplit()))
      return error;
  chooseUnrolled(plan, std::max<int64_t>(1, schedule.getUnroll() /
                                                schedule.getRowsPerLane()));
  if (schedule.getRowsPerLane() > 1)
    cutChain(plan, schedule.getUnroll() / schedule.getRowsPerLane());
  if (node.getState() == algebra::State::Online)
    if (llvm::Error error = numberSlots(plan, partition))
      return error;
  if (const SubDigit *sub = tooManyCells(plan))
    return refusal("merge: halving of {0} keeps {1} partials at once; a "
                   "schedule of rows keeps at most {2}",
                   inQuotes(partition.digits()[sub->digit].name), sub->radix,
                   kMostCells);
  choosePack(plan, schedule);
  for (const DigitShape &shape : plan.digits)
    plan.key += llvm::formatv("{0}x{1}/{2}{3} ", shape.radix, shape.length,
                              shape.container, shape.mayBeShort ? "?" : "");
  return plan;
}

NodePlan lowering::planAcross(int64_t lanes, int64_t extent, bool whole) {
  NodePlan plan;
  plan.extent = extent;
  int64_t steps = extent == kDynamic ? 1 : std::max<int64_t>(extent / lanes, 1);
  plan.digits = {{steps, lanes, extent, !whole}, {lanes, 1, lanes, false}};
  plan.order = {
      {1, lanes, 1, Binding::Lanes, Form::Any, {}, {}},
  };
  // A few steps a turn of the loop share its overhead.
  int64_t turn = whole ? llvm::MinAlign(steps, 4) : 1;
  plan.order.push_back({0, turn, 1, Binding::Unroll, Form::Any, {}, {}});
  if (whole && steps != turn)
    plan.order.push_back(
        {0, steps / turn, turn, Binding::Loop, Form::Any, {}, {}});
  plan.key = whole ? "across" : "across, last";
  return plan;
}

NodePlan lowering::planElements(int64_t extent, kernel::ScheduleAttr schedule) {
  NodePlan plan;
  plan.extent = extent;
  int64_t stretch = schedule.getSplit();
  int64_t pack = schedule.getVectorBytes() ? 8 : 1;
  int64_t lanes = schedule.rowsPerProgram() == 1 ? schedule.getLanes() : 1;
  int64_t block = lanes * pack;
  bool isOpen = extent == kDynamic && !stretch;
  int64_t blocks = isOpen ? kDynamic
                          : int64_t(llvm::divideCeil(
                                stretch ? stretch : extent, block));
  plan.digits = {{blocks, block, extent, isOpen || blocks * block != extent},
                 {lanes, pack, block, false},
                 {pack, 1, pack, false}};
  plan.order = {{2, pack, 1, Binding::Unroll, Form::Fold, {}, {}, 0},
                {1,
                 lanes,
                 1,
                 lanes > 1 ? Binding::Lanes : Binding::Unroll,
                 Form::Fold,
                 {},
                 {},
                 0},
                {0, blocks, 1, Binding::Loop, Form::Fold, {}, {}, 0}};
  if (stretch) {
    stretch = blocks * block;
    plan.digits.front().container = stretch;
    plan.digits.front().mayBeShort = false;
    if (blocks == 1)
      plan.order.back().binding = Binding::Unroll;
    int64_t parts = extent == kDynamic
                        ? kDynamic
                        : int64_t(llvm::divideCeil(extent, stretch));
    bool isShort = parts == kDynamic || parts * stretch != extent;
    plan.digits.insert(plan.digits.begin(), {parts, stretch, extent, isShort});
    for (SubDigit &sub : plan.order)
      ++sub.digit;
    plan.order.push_back(
        {0, parts, 1, Binding::Split, Form::Fold, {}, {}, 0});
  }
  plan.carry = plan.plain = plan.merge = plan.order.size();
  choosePack(plan, schedule);
  plan.key = llvm::formatv("elements {0}/{1}/{2}", block, pack, stretch);
  return plan;
}

llvm::Expected<RowFamily> lowering::rowFamily(pact::ContractOp contract,
                                              pact::OperatorOp op) {
  RowFamily family;
  if (!op.getOps<pact::SegmentOp>().empty())
    return refusal("operator {0} has pact.segment; rows take at a pact.index",
                   op.getSymName());
  for (pact::ReduceOp reduce : op.getOps<pact::ReduceOp>()) {
    StringRef over = reduce.getOver();
    if (!family.reducedDim.empty() && family.reducedDim != over)
      return refusal("operator {0} reduces over '{1}' and over '{2}'; a "
                     "schedule of rows accepts one reduced dim",
                     op.getSymName(), family.reducedDim, over);
    family.reducedDim = over.str();
  }
  StringAttr axis = pact::rowAxis(op);
  if (!axis)
    return refusal("operator {0} has no dim", op.getSymName());
  family.reducedDim = axis.str();
  for (Attribute attr : op.getDims()) {
    StringRef dim = cast<StringAttr>(attr).getValue();
    if (dim == family.reducedDim)
      continue;
    if (isOffsetsDim(contract, op, dim)) {
      family.offsetsDim = dim.str();
      continue;
    }
    if (!family.rowDim.empty())
      return refusal("operator {0} has the dims '{1}' and '{2}' beside the "
                     "{3} one; a schedule of rows accepts one",
                     op.getSymName(), family.rowDim, dim,
                     pact::isElementwise(op) ? "last" : "reduced");
    family.rowDim = dim.str();
  }
  family.extent =
      cast<IntegerAttr>(contract.getDims().get(family.reducedDim)).getInt();
  family.domain = family.extent;
  for (pact::ReduceOp reduce : op.getOps<pact::ReduceOp>())
    family.domain =
        cast<pact::NodeAttr>(contract.getNodes().get(reduce.getNode()))
            .extentOf(family.extent);
  return family;
}
