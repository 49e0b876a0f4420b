// ElementEmitter.cpp - values of an operator, at elements and of rows
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/Lowering/ElementEmitter.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace bitpact;
using namespace bitpact::lowering;

static FloatType elementFormat(Value value) {
  return cast<FloatType>(getElementTypeOrSelf(value.getType()));
}

ElementEmitter::ElementEmitter(RowContext &context)
    : ElementArithmetic(context.builder, context.loc, context.contract),
      context(context) {
  int64_t extent = context.family.domain;
  taken.extent = extent;
  taken.digits.push_back({extent, 1, extent, /*mayBeShort=*/false});
  taken.key = "taken";
}

Type ElementEmitter::typeOf(Type element) { return context.laneType(element); }

Value ElementEmitter::constant(TypedAttr value) {
  return context.laneConstant(value);
}

Value ElementEmitter::extentAs(pact::ExtentOp extent, FloatType format) {
  Value n = context.extentOf(extent.getDim());
  return context.splat(arith::SIToFPOp::create(builder, loc, format, n));
}

void ElementEmitter::bindNode(Value f, Value value) {
  nodes[{f, unsigned(context.currentColumn())}] =
      rounded(f.getDefiningOp(), value);
}

Value ElementEmitter::valueAs(Value f, FloatType format, const NodePlan *plan,
                              const Instance *instance) {
  return operandAs(
      f, format, [&](Value operand) { return value(operand, plan, instance); });
}

Value ElementEmitter::value(Value f, const NodePlan *plan,
                            const Instance *instance) {
  if (Value node = nodes.lookup({f, unsigned(context.currentColumn())}))
    return node;
  bool ofRow = !llvm::is_contained(
      cast<pact::RealType>(f.getType()).getDims(),
      context.builder.getStringAttr(context.family.reducedDim));
  std::string key = llvm::formatv(
      "value {0} column {1}", f.getAsOpaquePointer(), context.currentColumn());
  if (!ofRow) {
    // The same digits are another element under another plan.
    key += " in " + plan->key;
    for (const Affine &digit : instance->digits) {
      key += llvm::formatv(" {0}", digit.constant);
      for (auto [value, scale] : digit.terms)
        key += llvm::formatv("+{0}*{1}", value.getAsOpaquePointer(), scale);
    }
    if (instance->begin)
      key += llvm::formatv(" from {0}", instance->begin.getAsOpaquePointer());
  }
  if (Value known = context.remembered(key))
    return known;
  Value result = compute(f.getDefiningOp(), plan, ofRow ? nullptr : instance);
  context.remember(key, result);
  return result;
}

Value ElementEmitter::weight(pact::ReduceOp reduce, Value maximum,
                             const NodePlan &plan, const Instance &instance) {
  pact::PrimitiveOp primitive =
      primitiveAt((reduce.getNode() + ".weight").str());
  auto types = primitive.getFunctionType().getInputs();
  Value x =
      valueAs(reduce.getArgs()[0], cast<FloatType>(types[0]), &plan, &instance);
  auto format = cast<FloatType>(types[1]);
  Value m = maximum ? convert(maximum, format)
                    : valueAs(reduce.getArgs()[1], format, nullptr, nullptr);
  return apply(primitive, {x, m});
}

SmallVector<StringRef> ElementEmitter::tensorsOf(Value f) {
  SmallVector<StringRef> tensors;
  llvm::SmallSetVector<Operation *, 8> open;
  auto visit = [&](Value value) {
    auto dims = cast<pact::RealType>(value.getType()).getDims();
    if (llvm::is_contained(
            dims, context.builder.getStringAttr(context.family.reducedDim)))
      open.insert(value.getDefiningOp());
  };
  visit(f);
  for (size_t i = 0; i < open.size(); ++i) {
    if (auto input = dyn_cast<pact::InputOp>(open[i]))
      tensors.push_back(input.getTensor());
    for (Value operand : open[i]->getOperands())
      visit(operand);
  }
  return tensors;
}

/// A position outside of the extent gives NaN and sets the fault word; nothing
/// is read for it.
Value ElementEmitter::take(pact::TakeOp op) {
  auto index = op.getIndex().getDefiningOp<pact::IndexOp>();
  Value position = context.loadIndex(index.getTensor());
  Value extent = context.splat(context.extentOf(op.getOver()));
  // Unsigned, so that negative positions are beyond it.
  auto compare = [&](arith::CmpIPredicate predicate) {
    return arith::CmpIOp::create(builder, loc, predicate, position, extent);
  };
  Instance instance = context.wholeRow(taken);
  instance.digits[0].addTerm(position, 1);
  instance.guard = compare(arith::CmpIPredicate::ult);
  context.fault(compare(arith::CmpIPredicate::uge));
  Value element = value(op.getOperand(), &taken, &instance);
  FloatType format = elementFormat(element);
  Value nan = context.laneConstant(FloatAttr::get(
      format, llvm::APFloat::getQNaN(format.getFloatSemantics())));
  return arith::SelectOp::create(builder, loc, instance.guard, element, nan);
}

Value ElementEmitter::compute(Operation *op, const NodePlan *plan,
                              const Instance *instance) {
  if (auto input = dyn_cast<pact::InputOp>(op))
    return instance ? context.load(input.getTensor(), *plan, *instance)
                    : context.loadRow(input.getTensor());
  if (auto take = dyn_cast<pact::TakeOp>(op))
    return this->take(take);
  return ElementArithmetic::compute(
      op, [&](Value operand) { return value(operand, plan, instance); });
}

Value ElementEmitter::output(pact::OutputOp output, const NodePlan *plan,
                             const Instance *instance) {
  return outputOf(
      output, [&](Value operand) { return value(operand, plan, instance); });
}
