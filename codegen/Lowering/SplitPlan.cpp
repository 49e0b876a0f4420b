// SplitPlan.cpp - reductions cut over programs, and chains over registers
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/Lowering/SplitPlan.h"

#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace bitpact;
using namespace bitpact::lowering;
using algebra::Form;

template <typename... Args>
static llvm::Error refusal(const char *format, Args &&...args) {
  return llvm::createStringError(
      llvm::formatv(format, std::forward<Args>(args)...).str());
}

/// Pairwise merges low bits first, so that a program may have 2^k values of
/// the digit; halving merges high bits first, so that it has those that are
/// equal in their low bits. Of a fold each value is a part of its own.
llvm::Error lowering::cutOutermost(NodePlan &plan, int64_t elements) {
  SubDigit outer = plan.order.back();
  if (outer.form == Form::Chain)
    return refusal("merge: the outermost is a chain, which one accumulator "
                   "visits; several programs can share a row where it is fold, "
                   "pairwise or halving");
  if (outer.binding == Binding::Lanes)
    return refusal("merge: the outermost is the one over the lanes of a "
                   "program; several programs need one outside of it");
  int64_t span = plan.digits[outer.digit].length * outer.weight;
  int64_t each = 1; // values of the digit in a program
  bool single = outer.form == Form::Fold || plan.digits[outer.digit].isOffsets;
  while (!single && each * span < elements)
    each *= 2;
  int64_t parts = outer.radix == kDynamic
                      ? kDynamic
                      : int64_t(llvm::divideCeil(outer.radix, each));
  if (parts != kDynamic && parts < 2)
    return refusal("merge: the outermost has {0} parts of {1} elements; that "
                   "is a row for one program",
                   outer.radix, span);
  if (outer.digit == 0 && span && 4 * each * span < elements)
    return refusal("merge: the outermost has parts of {0} elements, too few "
                   "for a program each",
                   span);
  plan.order.pop_back();
  SubDigit inner = outer;
  if (each > 1) {
    inner.radix = each;
    if (outer.form == Form::Halving)
      inner.weight = outer.weight * parts;
    else
      outer.weight *= each;
    outer.from.reset();
    plan.order.push_back(inner);
    if (outer.radix == kDynamic || outer.radix % each)
      plan.digits[outer.digit].mayBeShort = true;
  }
  outer.radix = parts;
  outer.binding = Binding::Split;
  plan.order.push_back(outer);
  return llvm::Error::success();
}

void lowering::cutChain(NodePlan &plan, int64_t unroll) {
  SubDigit &chain = plan.order.front();
  unroll = int64_t(llvm::bit_floor(uint64_t(std::max<int64_t>(1, unroll))));
  if (chain.form != Form::Chain || chain.binding != Binding::Loop ||
      chain.digit + 1 != plan.digits.size() || unroll == 1)
    return;
  DigitShape &shape = plan.digits.back();
  SubDigit rest = chain;
  chain.radix = unroll;
  chain.binding = Binding::Unroll;
  rest.weight *= unroll;
  if (rest.radix != kDynamic) {
    shape.mayBeShort |= rest.radix % unroll != 0;
    rest.radix = int64_t(llvm::divideCeil(rest.radix, unroll));
  }
  plan.order.insert(plan.order.begin() + 1, rest);
}

int64_t lowering::rowPackOf(pact::ContractOp contract,
                            kernel::ScheduleAttr schedule) {
  int64_t narrowest = 8;
  for (NamedAttribute type : contract.getTypes())
    narrowest = std::min<int64_t>(
        narrowest,
        cast<TypeAttr>(type.getValue()).getValue().getIntOrFloatBitWidth() / 8);
  return schedule.rowPack(narrowest);
}

NodePlan lowering::planOfBrokenPacks(const NodePlan &plan, int64_t rowPack) {
  NodePlan result = plan;
  if (plan.order.size() < 2)
    return result;
  // As cutChain() leaves them.
  SubDigit &steps = result.order[0], &rest = result.order[1];
  if (steps.form != Form::Chain || steps.binding != Binding::Unroll ||
      rest.form != Form::Chain || rest.binding != Binding::Loop ||
      rest.digit != steps.digit || rest.weight != steps.radix)
    return result;
  int64_t fewer = std::min(rowPack, steps.radix);
  steps.radix /= fewer;
  rest.weight /= fewer;
  if (rest.radix != kDynamic)
    rest.radix *= fewer;
  return result;
}

kernel::SplitAttr lowering::splitOf(MLIRContext *context, const NodePlan &plan,
                                    const RowFamily &family) {
  const SubDigit &split = *plan.split();
  const DigitShape &shape = plan.digits[split.digit];
  if (shape.isOffsets)
    return kernel::SplitAttr::get(context, family.offsetsDim, 1, 1);
  if (split.radix == kDynamic)
    return kernel::SplitAttr::get(context, family.reducedDim,
                                  shape.length * split.weight, 0);
  return kernel::SplitAttr::get(context, "", split.radix, 0);
}

NodePlan lowering::planOfMerge(const NodePlan &plan) {
  NodePlan result = plan;
  SubDigit parts = *plan.split();
  parts.binding = Binding::Loop;
  if (plan.digits[parts.digit].isOffsets) {
    // Any number of blocks becomes a digit of its own.
    parts.digit = 0;
    result.digits = {{kDynamic, 1, kDynamic, true}};
  }
  result.partWeight = parts.weight;
  result.order = {parts};
  DigitShape &shape = result.digits[parts.digit];
  if (parts.radix != kDynamic && parts.radix <= 2 * kPartsAtOnce &&
      parts.form != Form::Fold) {
    result.order[0].binding = Binding::Unroll;
  } else if (parts.form == Form::Pairwise) {
    SubDigit rest = parts;
    result.order[0].radix = kPartsAtOnce;
    result.order[0].binding = Binding::Unroll;
    rest.weight *= kPartsAtOnce;
    rest.from.reset();
    if (rest.radix != kDynamic)
      rest.radix = int64_t(llvm::divideCeil(rest.radix, kPartsAtOnce));
    result.order.push_back(rest);
    shape.mayBeShort = true;
  } else if (parts.form == Form::Fold) {
    shape.mayBeShort = true; // read in groups, of which the last may be short
  }
  result.pack = 1;
  return result;
}

llvm::Error
lowering::checkOffsets(const algebra::Partition &partition,
                       const std::vector<algebra::BoundMerge> &merges,
                       kernel::ScheduleAttr schedule) {
  std::optional<int> offsets = partition.offsetsDigit();
  if (!offsets)
    return llvm::Error::success();
  const std::string &name = partition.digits()[*offsets].name;
  if (*offsets != 0)
    return refusal("partition: digit '{0}' has blocks given by offsets and is "
                   "not the first; schedules of rows accept it there alone",
                   name);
  if (merges.back().digit != 0)
    return refusal("merge: digit '{0}' has blocks given by offsets and is not "
                   "merged last; schedules of rows accept it there alone",
                   name);
  if (merges.back().in && schedule.getSplit())
    return refusal("merge: results of digit '{0}' are rounded, and which of "
                   "its blocks are empty is known to one program alone",
                   name);
  if (merges.back().in && merges.back().form != Form::Fold)
    return refusal("merge: results of digit '{0}', with blocks given by "
                   "offsets, are rounded; schedules of rows can do so in a "
                   "fold alone",
                   name);
  if (schedule.getKind() != "row_per_lane" || schedule.getRowsPerLane() == 1)
    return refusal("partition: digit '{0}' has blocks given by offsets; "
                   "schedules accept it down columns, where lanes have several "
                   "rows",
                   name);
  return llvm::Error::success();
}

bool lowering::isOffsetsDim(pact::ContractOp contract, pact::OperatorOp op,
                            StringRef dim) {
  auto has = [&](pact::RealType type) {
    return llvm::any_of(type.getDims(),
                        [&](StringAttr each) { return each == dim; });
  };
  bool found = false;
  for (Operation &each : op.getBody().front())
    for (OpResult result : each.getResults()) {
      auto type = dyn_cast<pact::RealType>(result.getType());
      if (!type || !has(type))
        continue;
      if (!isa<pact::InputOp>(each) || !result.use_empty())
        return false;
      found = true;
    }
  return found;
}
