// StateRun.cpp - the steps of states whose maximum runs
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/Lowering/StateRun.h"

using namespace mlir;
using namespace bitpact;
using namespace bitpact::lowering;

static FloatType formatOfMaximum(RowContext &context, pact::ReduceOp reduce) {
  auto max = reduce.getArgs()[1].getDefiningOp<pact::ReduceOp>();
  auto node =
      cast<pact::NodeAttr>(context.contract.getNodes().get(max.getNode()));
  return cast<FloatType>(node.getAccumulator());
}

StateRun::StateRun(RowContext &context, ElementEmitter &elements,
                   pact::ReduceOp reduce, const NodePlan &plan,
                   const Instances &blocks)
    : context(context), elements(elements), reduce(reduce), plan(plan),
      blocks(blocks), tree(context, elements, reduce, plan),
      format(formatOfMaximum(context, reduce)) {}

//===----------------------------------------------------------------------===//
// Accumulators
//===----------------------------------------------------------------------===//

void StateRun::eachSlot(const Instance &block,
                        llvm::function_ref<void(const Instances &)> body) {
  eachSlot(plan.merge, {block}, body);
}

void StateRun::eachSlot(size_t level, const Instances &batch,
                        llvm::function_ref<void(const Instances &)> body) {
  if (level == plan.plain)
    return body(batch);
  const SubDigit &sub = plan.order[level - 1];
  Instances next;
  switch (sub.binding) {
  case Binding::Lanes:
    for (const Instance &block : batch)
      next.push_back(block.at(sub, context.lane()));
    return eachSlot(level - 1, next, body);
  case Binding::Unroll:
    for (const Instance &block : batch)
      for (int64_t v = 0; v < sub.radix; ++v)
        if (Instance one = block.at(sub, v);
            !context.present(plan, one).never())
          next.push_back(one);
    return eachSlot(level - 1, next, body);
  case Binding::Loop:
    context.loop(context.tripCount(plan, sub), {},
                 [&](Value index, ValueRange) {
                   for (const Instance &block : batch)
                     next.push_back(block.at(sub, index));
                   eachSlot(level - 1, next, body);
                   return Values();
                 });
    break;
  case Binding::Split:
    llvm_unreachable("programs do not share a state");
  }
}

/// A slot of the first step, moved to another step.
Instance StateRun::onStep(const Instance &slot, const Instance &at) const {
  Instance result = slot;
  result.guard = at.guard;
  for (size_t i = plan.carry; i < plan.plain; ++i)
    result.digits[plan.order[i].digit] = at.digits[plan.order[i].digit];
  return result;
}

Value StateRun::initial(const Instance &slot) {
  return chains() ? tree.initial(slot) : tree.neutral();
}

Value StateRun::accumulator(size_t block, const Instance &slot) {
  if (cells.empty())
    return held[block][slot.slot.constant];
  Value cell = cells[block][0];
  return kernel::PeekOp::create(
      context.builder, context.loc,
      cast<kernel::ScratchType>(cell.getType()).getCellType(), cell,
      context.materialize(slot.slot));
}

StateRun::Values StateRun::advance(const Instances &slots, const Instance &at,
                                   Value factor, ValueRange old, First first) {
  OpBuilder &builder = context.builder;
  Presence stepHasElements = context.present(plan, at);
  Values result;
  Instances present;
  SmallVector<size_t> origin;
  for (auto [slot, accumulator] : llvm::zip(slots, old)) {
    Value scaled = accumulator;
    if (factor) {
      scaled = arith::MulFOp::create(builder, context.loc, accumulator, factor);
      // An accumulator without any element stays what it is.
      if (Value happens = context.both(stepHasElements.mask,
                                       context.present(plan, slot).mask))
        scaled = arith::SelectOp::create(builder, context.loc, happens, scaled,
                                         accumulator);
      if (first.when)
        scaled = arith::SelectOp::create(builder, context.loc,
                                         context.splat(first.when),
                                         initial(slot), scaled);
    }
    if (Instance now = onStep(slot, at); !context.present(plan, now).never()) {
      present.push_back(now);
      origin.push_back(result.size());
    }
    result.push_back(scaled);
  }
  if (present.empty())
    return result;
  if (chains()) {
    Values taken;
    for (size_t i : origin)
      taken.push_back(result[i]);
    for (auto [i, value] :
         llvm::zip(origin, tree.visit(plan.carry, present, taken)))
      result[i] = value;
    return result;
  }
  for (auto [i, part] : llvm::zip(origin, tree.parts(plan.carry, present)))
    if (!part.empty())
      result[i] =
          arith::AddFOp::create(builder, context.loc, result[i], part[0]);
  return result;
}

//===----------------------------------------------------------------------===//
// Maxima
//===----------------------------------------------------------------------===//

Value StateRun::least() {
  return context.laneConstant(FloatAttr::get(
      format, llvm::APFloat::getInf(format.getFloatSemantics(), true)));
}

Value StateRun::maximumOf(Value a, Value b) {
  if (!a || !b)
    return a ? a : b;
  return arith::MaximumFOp::create(context.builder, context.loc, a, b);
}

Value StateRun::maximumOf(const Instance &block) {
  SmallVector<const SubDigit *> digits;
  bool crossesLanes = false;
  for (size_t i = plan.merge; i-- > 0;)
    if (i < plan.carry || i >= plan.plain) {
      digits.push_back(&plan.order[i]);
      crossesLanes |= plan.order[i].binding == Binding::Lanes;
    }
  Value most = maximumOf(digits, {block});
  return crossesLanes ? maximumAcrossLanes(most) : most;
}

Value StateRun::maximumOf(ArrayRef<const SubDigit *> digits,
                          const Instances &batch) {
  OpBuilder &builder = context.builder;
  Instances next;
  if (digits.empty()) {
    Values values;
    for (const Instance &instance : batch) {
      Value x = elements.valueAs(reduce.getArgs()[0], format, &plan, &instance);
      if (Presence presence = context.present(plan, instance);
          !presence.always())
        x = arith::SelectOp::create(builder, context.loc, presence.mask, x,
                                    least());
      values.push_back(x);
    }
    while (values.size() > 1) {
      size_t half = (values.size() + 1) / 2;
      for (size_t i = 0; i + half < values.size(); ++i)
        values[i] = maximumOf(values[i], values[i + half]);
      values.truncate(half);
    }
    return values.front();
  }
  const SubDigit &sub = *digits.front();
  switch (sub.binding) {
  case Binding::Lanes:
    for (const Instance &block : batch)
      next.push_back(block.at(sub, context.lane()));
    return maximumOf(digits.drop_front(), next);
  case Binding::Unroll:
    for (const Instance &block : batch)
      for (int64_t v = 0; v < sub.radix; ++v)
        if (Instance one = block.at(sub, v);
            !context.present(plan, one).never())
          next.push_back(one);
    return maximumOf(digits.drop_front(), next);
  case Binding::Loop:
    break;
  case Binding::Split:
    llvm_unreachable("programs do not share a state");
  }
  return context.loop(context.tripCount(plan, sub), {least()},
                      [&](Value index, ValueRange carried) {
                        for (const Instance &block : batch)
                          next.push_back(block.at(sub, index));
                        Value part = maximumOf(digits.drop_front(), next);
                        return Values{maximumOf(carried[0], part)};
                      })[0];
}

Value StateRun::maximumAcrossLanes(Value value) {
  OpBuilder &builder = context.builder;
  int64_t lanes = context.lanes();
  int64_t subgroup = std::min(lanes, context.schedule.getSubgroup());
  for (int64_t s = subgroup / 2; s > 0; s /= 2)
    value = maximumOf(value, kernel::ExchangeOp::create(
                                 builder, context.loc, value.getType(), value,
                                 s));
  if (lanes == subgroup)
    return value;
  auto gather = kernel::GatherOp::create(
      builder, context.loc,
      SmallVector<Type>(lanes / subgroup, value.getType()), value, subgroup);
  Value most;
  for (Value one : gather.getValues())
    most = maximumOf(most, one);
  return most;
}

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

void StateRun::run() {
  Values carried(blocks.size(), least());
  held.assign(blocks.size(), Values(plan.slots));
  if (plan.slotsInLoops) {
    for (const Instance &block : blocks) {
      cells.push_back(
          {context.scratch(plan.slots, tree.neutral().getType())});
      eachSlot(block, [&](const Instances &slots) {
        for (const Instance &slot : slots)
          kernel::PokeOp::create(context.builder, context.loc, initial(slot),
                                 cells.back()[0],
                                 context.materialize(slot.slot));
      });
    }
  } else {
    for (const Instance &block : blocks)
      eachSlot(block, [&](const Instances &slots) {
        for (const Instance &slot : slots)
          carried.push_back(initial(slot));
      });
  }
  carried = carry(plan.plain, blocks, carried, First());
  maxima.assign(carried.begin(), carried.begin() + blocks.size());
  if (plan.slotsInLoops)
    return;
  const Value *next = carried.begin() + blocks.size();
  for (auto [block, values] : llvm::zip(blocks, held))
    eachSlot(block, [&](const Instances &slots) {
      for (const Instance &slot : slots)
        values[slot.slot.constant] = *next++;
    });
}

/// The first step of an inner digit is the state's first one only where that
/// of the outer digits may be.
StateRun::First StateRun::onlyIf(First outer, Value begins) {
  if (!outer.possible)
    return {false, {}};
  return {true, context.both(outer.when, begins)};
}

StateRun::Values StateRun::carry(size_t level, const Instances &at,
                                 ValueRange carried, First first) {
  if (level == plan.carry)
    return step(at, carried, first);
  const SubDigit &sub = plan.order[level - 1];
  if (sub.binding == Binding::Loop) {
    if (level == plan.plain && sub.digit == 0 && sub.weight == 1)
      return carryWhole(at, carried, first);
    return context.loop(
        context.tripCount(plan, sub), carried,
        [&](Value index, ValueRange inner) {
          Instances next;
          for (const Instance &block : at)
            next.push_back(block.at(sub, index));
          Value begins = arith::CmpIOp::create(context.builder, context.loc,
                                               arith::CmpIPredicate::eq, index,
                                               context.i64(0));
          return carry(level - 1, next, inner, onlyIf(first, begins));
        });
  }
  Values current(carried);
  for (int64_t v = 0; v < sub.radix; ++v) {
    Instances next;
    bool any = false;
    for (const Instance &block : at) {
      next.push_back(block.at(sub, v));
      any |= !context.present(plan, next.back()).never();
    }
    if (!any)
      break;
    current = carry(level - 1, next, current, v ? First{false, {}} : first);
  }
  return current;
}

StateRun::Values StateRun::step(const Instances &at, ValueRange carried,
                                First first) {
  OpBuilder &builder = context.builder;
  pact::PrimitiveOp rescale =
      elements.primitiveAt((reduce.getNode() + ".rescale").str());
  auto types = rescale.getFunctionType().getInputs();
  Values result(carried);
  size_t next = blocks.size();
  for (auto [b, now, block] : llvm::enumerate(at, blocks)) {
    SmallVector<Value> old;
    Instances slots;
    if (!plan.slotsInLoops)
      eachSlot(block, [&](const Instances &all) { slots = all; });
    MutableArrayRef<Value> own =
        MutableArrayRef<Value>(result).slice(next, slots.size());
    next += slots.size();
    if (context.present(plan, now).never())
      continue;
    bool certain = first.possible && !first.when;
    Value before = result[b], factor;
    Value most = maximumOf(now);
    if (!certain) {
      most = maximumOf(before, most);
      factor = elements.convert(
          elements.apply(rescale,
                         {elements.convert(before, cast<FloatType>(types[0])),
                          elements.convert(most, cast<FloatType>(types[1]))}),
          cast<FloatType>(getElementTypeOrSelf(tree.neutral().getType())));
    }
    result[b] = most;
    tree.weighAgainst(most);
    if (!plan.slotsInLoops) {
      Values fresh = advance(slots, now, factor, own, first);
      llvm::copy(fresh, own.begin());
      continue;
    }
    eachSlot(block, [&, now = now](const Instances &group) {
      Values kept;
      for (const Instance &slot : group)
        kept.push_back(accumulator(b, slot));
      for (auto [slot, value] :
           llvm::zip(group, advance(group, now, factor, kept, first)))
        kernel::PokeOp::create(builder, context.loc, value, cells[b][0],
                               context.materialize(slot.slot));
    });
  }
  return result;
}

//===----------------------------------------------------------------------===//
// Steps of whole blocks, then one that may be short
//===----------------------------------------------------------------------===//

/// Loads of a step, if all of its elements are in registers.
std::vector<StateRun::Load> StateRun::loadsOfStep(const SubDigit &outer) {
  std::vector<Load> loads;
  for (size_t i = 0; i < plan.merge; ++i)
    if (plan.order[i].binding == Binding::Loop && &plan.order[i] != &outer)
      return loads;
  Instances all = blocks;
  for (size_t i = plan.merge; i-- > 0;) {
    const SubDigit &sub = plan.order[i];
    if (&sub == &outer)
      continue;
    Instances next;
    for (const Instance &one : all)
      if (sub.binding == Binding::Lanes)
        next.push_back(one.at(sub, context.lane()));
      else
        for (int64_t v = 0; v < sub.radix; ++v)
          if (Instance part = one.at(sub, v);
              !context.present(plan, part).never())
            next.push_back(part);
    all = next;
  }
  for (StringRef tensor : elements.tensorsOf(reduce.getArgs()[0]))
    for (const Instance &element : all)
      loads.push_back({tensor.str(), element});
  return loads;
}

/// The leftmost digit carries: all of its blocks but the last are whole, and
/// need no masks. With `ahead`, a step loads what the next one reads before it
/// computes.
StateRun::Values StateRun::carryWhole(const Instances &at, ValueRange carried,
                                      First first) {
  OpBuilder &builder = context.builder;
  Location loc = context.loc;
  const SubDigit &sub = plan.order[plan.plain - 1];
  int64_t length = plan.digits[0].length;
  bool isStatic = plan.extent != kDynamic;
  Value count = context.tripCount(plan, sub);
  Value whole = isStatic ? context.i64(plan.extent / length)
                         : arith::DivUIOp::create(
                               builder, loc, context.extentOf(context.family.reducedDim),
                               context.i64(length))
                               .getResult();
  std::vector<Load> loads;
  if (context.schedule.getAhead())
    loads = loadsOfStep(sub);
  size_t states = carried.size();
  Values initial(carried);
  for (const Load &load : loads)
    initial.push_back(context.load(load.tensor, plan, load.element));
  auto moved = [&](auto index) {
    Instances next;
    for (const Instance &block : at)
      next.push_back(block.at(sub, index));
    return next;
  };
  auto provide = [&](ValueRange values, auto index) {
    for (auto [load, value] : llvm::zip(loads, values))
      context.provide(load.tensor, plan, load.element.at(sub, index), value);
  };
  auto isFirst = [&](Value index) {
    Value begins = arith::CmpIOp::create(
        builder, loc, arith::CmpIPredicate::eq, index, context.i64(0));
    return onlyIf(first, begins);
  };
  Values result =
      context.loop(whole, initial, [&](Value index, ValueRange inner) {
        context.assumeWholeBlock(index);
        provide(inner.drop_front(states), index);
        Values ahead;
        Value more;
        if (!loads.empty() && !plan.digits[0].mayBeShort)
          more = context.splat(arith::CmpIOp::create(
              builder, loc, arith::CmpIPredicate::slt,
              arith::AddIOp::create(builder, loc, index, context.i64(1)),
              count));
        for (const Load &load : loads) {
          Instance next = load.element.at(sub, index).at(sub, 1);
          next.guard = more;
          ahead.push_back(context.load(load.tensor, plan, next));
        }
        Values stepped = carry(plan.plain - 1, moved(index),
                               inner.take_front(states), isFirst(index));
        stepped.append(ahead);
        return stepped;
      });
  auto last = [&](auto index, First begins) {
    provide(ValueRange(result).drop_front(states), index);
    return carry(plan.plain - 1, moved(index),
                 ValueRange(result).take_front(states), begins);
  };
  if (isStatic) {
    if (plan.extent % length)
      result = last(plan.extent / length,
                    plan.extent < length ? first : First{false, {}});
    result.truncate(states);
    return result;
  }
  Value rest =
      arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt, whole,
                            count);
  auto choice = scf::IfOp::create(builder, loc, carried.getTypes(), rest,
                                  /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(builder);
  {
    RowContext::Scope scope(context);
    builder.setInsertionPointToStart(choice.thenBlock());
    scf::YieldOp::create(builder, loc, last(whole, isFirst(whole)));
  }
  builder.setInsertionPointToStart(choice.elseBlock());
  scf::YieldOp::create(builder, loc, ValueRange(result).take_front(states));
  return Values(choice.getResults());
}
