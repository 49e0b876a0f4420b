// OutputPass.cpp - stores the outputs that have the reduced dim
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/Lowering/OutputPass.h"

using namespace mlir;
using namespace bitpact;
using namespace bitpact::lowering;

namespace {

/// Visits every element of a plan once, those of a pack together.
class ElementVisitor {
public:
  using Body = llvm::function_ref<void(ArrayRef<Instance>)>;

  ElementVisitor(RowContext &context, const NodePlan &plan, Body body)
      : context(context), plan(plan), body(body) {
    for (const SubDigit &sub : plan.order)
      bySize.push_back(&sub);
    llvm::stable_sort(bySize, [&](const SubDigit *a, const SubDigit *b) {
      return span(*a) > span(*b);
    });
  }

  void run(const Instance &from) { visit(0, from); }

private:
  int64_t span(const SubDigit &sub) const {
    return sub.weight * plan.digits[sub.digit].length;
  }

  void visit(size_t depth, const Instance &block) {
    if (depth == bySize.size())
      return body({block});
    const SubDigit &sub = *bySize[depth];
    switch (sub.binding) {
    case Binding::Lanes:
      return visit(depth + 1, block.at(sub, context.lane()));
    case Binding::Loop:
      context.loop(context.tripCount(plan, sub), {},
                   [&](Value index, ValueRange) {
                     visit(depth + 1, block.at(sub, index));
                     return SmallVector<Value>();
                   });
      return;
    case Binding::Split:
      return visit(depth + 1, block.at(sub, context.part()));
    case Binding::Unroll:
      break;
    }
    SmallVector<Instance> group;
    bool last = depth + 1 == bySize.size() && plan.pack > 1;
    for (int64_t v = 0; v < sub.radix; ++v) {
      Instance one = block.at(sub, v);
      if (context.present(plan, one).never())
        break;
      if (last)
        group.push_back(one);
      else
        visit(depth + 1, one);
    }
    if (!group.empty())
      body(group);
  }

  RowContext &context;
  const NodePlan &plan;
  Body body;
  SmallVector<const SubDigit *> bySize;
};

/// Asks for the next row while this one is written: one element of each cache
/// line, as far as steps are that short.
void fetchNext(RowContext &context, const NodePlan &plan,
               const Instance &instance) {
  constexpr int64_t line = 64;
  for (pact::InputOp input : context.op.getOps<pact::InputOp>()) {
    StringRef tensor = input.getTensor();
    Type type =
        cast<TypeAttr>(context.contract.getTypes().get(tensor)).getValue();
    int64_t bytes = type.getIntOrFloatBitWidth() / 8;
    if (context.position(plan, instance).constant * bytes % line == 0)
      context.prefetchNextRow(tensor, plan, instance);
  }
}

/// Registers of a lane that wait for loads which are asked for at once.
constexpr int64_t kBytesAhead = 128;

} // namespace

void OutputPass::run(const NodePlan &plan, const Instance &from) {
  bool reordered =
      context.schedule.getAdjacent() && context.schedule.rowsPerProgram() == 1;
  ElementVisitor(context, plan, [&](ArrayRef<Instance> group) {
    if (reordered)
      fetchNext(context, plan, group.front());
    write(plan, group);
  }).run(from);
}

void OutputPass::write(const NodePlan &plan, ArrayRef<Instance> group) {
  for (pact::OutputOp output : outputs) {
    SmallVector<Value> values;
    for (const Instance &instance : group)
      values.push_back(elements.output(output, &plan, &instance));
    if (group.size() == size_t(plan.pack) &&
        context.packs(output.getTensor(), plan)) {
      context.store(output.getTensor(), plan, group, values);
      continue;
    }
    for (auto [instance, value] : llvm::zip(group, values))
      context.store(output.getTensor(), plan, instance, value);
  }
}

void OutputPass::runAcross() {
  const RowFamily &family = context.family;
  OpBuilder &builder = context.builder;
  int64_t lanes = context.lanes();
  NodePlan steps = planAcross(lanes, family.extent, /*whole=*/true);
  NodePlan rest = planAcross(lanes, family.extent, /*whole=*/false);
  Instance last = context.wholeRow(rest);
  if (family.extent != kDynamic) {
    int64_t whole = family.extent / lanes;
    if (whole)
      run(steps, context.wholeRow(steps));
    last.digits[0].constant = whole;
    if (family.extent % lanes)
      run(rest, last);
    return;
  }
  Value whole = arith::DivUIOp::create(builder, context.loc,
                                       context.extentOf(family.reducedDim),
                                       context.i64(lanes));
  context.loop(whole, {}, [&](Value index, ValueRange) {
    Instance step = context.wholeRow(steps);
    step.digits[0].addTerm(index, 1);
    run(steps, step);
    return SmallVector<Value>();
  });
  last.digits[0].addTerm(whole, 1);
  run(rest, last);
}

void lowering::loadAhead(RowContext &context, const NodePlan &plan,
                         pact::OperatorOp op) {
  int64_t elements = 1, bytes = 0;
  for (const SubDigit &sub : plan.order) {
    if (sub.binding == Binding::Loop)
      return;
    if (sub.binding == Binding::Unroll)
      elements *= sub.radix;
  }
  SmallVector<StringRef> tensors;
  for (pact::InputOp input : op.getOps<pact::InputOp>()) {
    StringRef tensor = input.getTensor();
    if (!context.packs(tensor, plan))
      continue;
    Type type =
        cast<TypeAttr>(context.contract.getTypes().get(tensor)).getValue();
    bytes += elements * type.getIntOrFloatBitWidth() / 8;
    tensors.push_back(tensor);
  }
  if (bytes > kBytesAhead)
    return;
  for (StringRef tensor : tensors)
    ElementVisitor(context, plan, [&](ArrayRef<Instance> group) {
      context.load(tensor, plan, group.front());
    }).run(context.wholeRow(plan));
}
