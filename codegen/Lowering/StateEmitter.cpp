// StateEmitter.cpp - a maximum and an exp_sum that run together
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/Lowering/StateEmitter.h"

#include "codegen/Lowering/StateRun.h"

using namespace mlir;
using namespace bitpact;
using namespace bitpact::lowering;

/// The sums of one state, one for each accumulator.
class StateEmitter::Accumulators final : public ValueTree {
public:
  Accumulators(RowContext &context, ElementEmitter &elements,
               pact::ReduceOp reduce, const NodePlan &plan)
      : ValueTree(context, elements, reduce, plan, plan.plain) {}

  /// The sum over all accumulators of a block of `run`.
  Value sum(StateRun &from, size_t number, const Instance &block) {
    run = &from;
    blockNumber = number;
    return parts(plan.merge, {block}).front()[0];
  }
  Value rounded(Value sum, algebra::Format format) {
    return quantize(sum, format);
  }
  FloatType format() const { return accumulator; }

private:
  Parts leaves(const Instances &batch) override {
    Parts result;
    for (const Instance &slot : batch) {
      Value value = run->accumulator(blockNumber, slot);
      result.push_back(value ? Part{value} : Part());
    }
    return result;
  }

  StateRun *run = nullptr;
  size_t blockNumber = 0;
};

StateEmitter::StateEmitter(RowContext &context, ElementEmitter &elements,
                           pact::ReduceOp reduce, const NodePlan &plan)
    : MergeTree(context, plan, plan.merge), elements(elements), reduce(reduce),
      accumulators(
          std::make_shared<Accumulators>(context, elements, reduce, plan)) {}

StateEmitter::State StateEmitter::emit() {
  Part state = parts(plan.order.size(), {context.wholeRow(plan)}).front();
  return {state[0], state[1]};
}

Parts StateEmitter::leaves(const Instances &batch) {
  StateRun run(context, elements, reduce, plan, batch);
  run.run();
  Parts states;
  for (auto [i, block] : llvm::enumerate(batch))
    states.push_back({run.maximum(i), accumulators->sum(run, i, block)});
  return states;
}

Part StateEmitter::nothing() {
  auto max = reduce.getArgs()[1].getDefiningOp<pact::ReduceOp>();
  auto node =
      cast<pact::NodeAttr>(context.contract.getNodes().get(max.getNode()));
  auto format = cast<FloatType>(node.getAccumulator());
  return {context.laneConstant(FloatAttr::get(
              format, llvm::APFloat::getInf(format.getFloatSemantics(), true))),
          accumulators->neutral()};
}

Part StateEmitter::enter(const SubDigit &sub, const Part &part) {
  if (part.empty() || !sub.from)
    return part;
  return {part[0], accumulators->rounded(part[1], *sub.from)};
}

Part StateEmitter::merge(const SubDigit &sub, const Part &left,
                         const Part &right, Sides exist) {
  OpBuilder &builder = context.builder;
  std::string node = reduce.getNode().str();
  pact::PrimitiveOp rescale = elements.primitiveAt(node + ".rescale");
  pact::PrimitiveOp combine = elements.primitiveAt(node + ".combine");
  auto call = [&](pact::PrimitiveOp primitive, ArrayRef<Value> values) {
    SmallVector<Value> arguments;
    for (auto [value, type] :
         llvm::zip(values, primitive.getFunctionType().getInputs()))
      arguments.push_back(elements.convert(value, cast<FloatType>(type)));
    return elements.apply(primitive, arguments);
  };
  // A side without elements has the maximum −Inf.
  Value most =
      arith::MaximumFOp::create(builder, context.loc, left[0], right[0]);
  Value sum = call(combine, {left[1], call(rescale, {left[0], most}), right[1],
                             call(rescale, {right[0], most})});
  sum = elements.convert(sum, accumulators->format());
  if (sub.in)
    sum = accumulators->rounded(sum, *sub.in);
  if (exist.left)
    sum = arith::SelectOp::create(builder, context.loc, exist.left, sum,
                                  right[1]);
  if (exist.right)
    sum = arith::SelectOp::create(builder, context.loc, exist.right, sum,
                                  left[1]);
  return {most, sum};
}
