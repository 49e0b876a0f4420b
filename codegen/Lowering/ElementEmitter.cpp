// ElementEmitter.cpp - elementwise part of an operator, rounded at its sites
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/Lowering/ElementEmitter.h"

#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace bitpact;
using namespace bitpact::lowering;

static bool isWider(FloatType a, FloatType b) {
  return a.getFPMantissaWidth() > b.getFPMantissaWidth();
}

static FloatType elementFormat(Value value) {
  return cast<FloatType>(getElementTypeOrSelf(value.getType()));
}

ElementEmitter::ElementEmitter(RowContext &context) : context(context) {
  int64_t extent = context.family.domain;
  taken.extent = extent;
  taken.digits.push_back({extent, 1, extent, /*mayBeShort=*/false});
  taken.key = "taken";
}

pact::RoundingAttr ElementEmitter::rounding(StringRef site) {
  return cast<pact::RoundingAttr>(context.contract.getRounding().get(site));
}

pact::PrimitiveOp ElementEmitter::primitiveAt(StringRef site) {
  auto name =
      cast<FlatSymbolRefAttr>(context.contract.getPrimitives().get(site));
  return SymbolTable::lookupNearestSymbolFrom<pact::PrimitiveOp>(
      context.contract, name);
}

Value ElementEmitter::convert(Value value, FloatType format) {
  OpBuilder &builder = context.builder;
  FloatType from = elementFormat(value);
  Type to = context.laneType(format);
  if (from == format)
    return value;
  if (isWider(format, from) && format.getWidth() > from.getWidth())
    return arith::ExtFOp::create(builder, context.loc, to, value);
  if (from.getWidth() == format.getWidth()) // bf16 and f16: through f32
    value = arith::ExtFOp::create(
        builder, context.loc, context.laneType(builder.getF32Type()), value);
  return kernel::NarrowOp::create(builder, context.loc, to, value);
}

Value ElementEmitter::apply(pact::PrimitiveOp primitive, ValueRange arguments) {
  OpBuilder &builder = context.builder;
  IRMapping map;
  Block &body = primitive.getBody().front();
  map.map(body.getArguments(), arguments);
  for (Operation &op : body.without_terminator()) {
    SmallVector<Value> operands;
    for (Value operand : op.getOperands())
      operands.push_back(map.lookup(operand));
    Type type = context.laneType(op.getResult(0).getType());
    Value result;
    if (auto fma = dyn_cast<pact::FmaOp>(op)) {
      result = kernel::FmaOp::create(builder, context.loc, type, operands[0],
                                     operands[1], operands[2]);
    } else if (isa<pact::SqrtOp>(op)) {
      result = kernel::SqrtOp::create(builder, context.loc, type, operands[0]);
    } else if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
      result = context.laneConstant(cast<TypedAttr>(constant.getValue()));
    } else if (isa<arith::TruncFOp>(op)) {
      result =
          kernel::NarrowOp::create(builder, context.loc, type, operands[0]);
    } else {
      OperationState state(context.loc, op.getName(), operands, {type},
                           op.getAttrs());
      result = builder.create(state)->getResult(0);
    }
    map.map(op.getResult(0), result);
  }
  auto yield = cast<pact::YieldOp>(body.getTerminator());
  return map.lookup(yield.getValue());
}

Value ElementEmitter::valueAs(Value f, FloatType format, const NodePlan *plan,
                              const Instance *instance) {
  Operation *op = f.getDefiningOp();
  OpBuilder &builder = context.builder;
  if (auto constant = dyn_cast<pact::ConstantOp>(op)) {
    llvm::APFloat number(format.getFloatSemantics(), constant.getValue());
    return context.laneConstant(FloatAttr::get(format, number));
  }
  if (auto extent = dyn_cast<pact::ExtentOp>(op)) {
    Value n = context.extentOf(extent.getDim());
    return context.splat(
        arith::SIToFPOp::create(builder, context.loc, format, n));
  }
  return convert(value(f, plan, instance), format);
}

Value ElementEmitter::value(Value f, const NodePlan *plan,
                            const Instance *instance) {
  if (Value node = nodes.lookup({f, unsigned(context.currentColumn())}))
    return node;
  bool ofRow = !llvm::is_contained(
      cast<pact::RealType>(f.getType()).getDims(),
      context.builder.getStringAttr(context.family.reducedDim));
  std::string key = llvm::formatv("value {0} column {1}",
                                  f.getAsOpaquePointer(),
                                  context.currentColumn());
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

/// The format of a value as an operand: constants and extents take that of
/// their consumer, an exact product that of its operation.
FloatType ElementEmitter::formatOf(Value f, const NodePlan *plan,
                                   const Instance *instance) {
  Operation *op = f.getDefiningOp();
  FloatType f32 = context.builder.getF32Type();
  if (isa<pact::ConstantOp, pact::ExtentOp>(op))
    return f32;
  if (auto mul = dyn_cast<pact::MulOp>(op);
      mul && mul.getSite() && rounding(*mul.getSite()).isExact()) {
    FloatType a = formatOf(mul.getLhs(), plan, instance);
    FloatType b = formatOf(mul.getRhs(), plan, instance);
    return isWider(a, b) ? a : b;
  }
  FloatType own = elementFormat(value(f, plan, instance));
  return isWider(own, f32) ? own : f32;
}

static pact::MulOp exactProduct(Value f, pact::ContractOp contract) {
  auto mul = f.getDefiningOp<pact::MulOp>();
  if (!mul || !mul.getSite())
    return {};
  auto rounding =
      cast<pact::RoundingAttr>(contract.getRounding().get(*mul.getSite()));
  return rounding.isExact() ? mul : pact::MulOp();
}

/// Additions and subtractions that take an unrounded product are one fma.
Value ElementEmitter::product(Operation *op, const NodePlan *plan,
                              const Instance *instance) {
  if (!isa<pact::AddOp, pact::SubOp>(op))
    return {};
  bool subtract = isa<pact::SubOp>(op);
  Value lhs = op->getOperand(0), rhs = op->getOperand(1);
  pact::MulOp mul = exactProduct(lhs, context.contract);
  bool productLeft = bool(mul);
  if (!mul)
    mul = exactProduct(rhs, context.contract);
  if (!mul)
    return {};
  FloatType a = formatOf(lhs, plan, instance),
            b = formatOf(rhs, plan, instance);
  FloatType format = isWider(a, b) ? a : b;
  OpBuilder &builder = context.builder;
  auto negated = [&](Value v) -> Value {
    return arith::NegFOp::create(builder, context.loc, v);
  };
  Value x = valueAs(mul.getLhs(), format, plan, instance);
  Value y = valueAs(mul.getRhs(), format, plan, instance);
  Value other = valueAs(productLeft ? rhs : lhs, format, plan, instance);
  if (subtract && productLeft)
    other = negated(other);
  else if (subtract)
    x = negated(x);
  return kernel::FmaOp::create(builder, context.loc, x.getType(), x, y, other);
}

Value ElementEmitter::weight(pact::ReduceOp reduce, Value maximum,
                             const NodePlan &plan, const Instance &instance) {
  pact::PrimitiveOp primitive =
      primitiveAt((reduce.getNode() + ".weight").str());
  auto types = primitive.getFunctionType().getInputs();
  Value x = valueAs(reduce.getArgs()[0], cast<FloatType>(types[0]), &plan,
                    &instance);
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
    if (llvm::is_contained(dims, context.builder.getStringAttr(
                                     context.family.reducedDim)))
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
  OpBuilder &builder = context.builder;
  Location loc = context.loc;
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

/// The number that a value always is, if it is one.
static std::optional<llvm::APFloat> constantOf(Value value) {
  DenseElementsAttr dense;
  if (matchPattern(value, m_Constant(&dense)) && dense.isSplat() &&
      isa<FloatType>(dense.getElementType()))
    return dense.getSplatValue<llvm::APFloat>();
  return std::nullopt;
}

/// By 1 nothing changes; by a number whose inverse is one too, the quotient and
/// the product are one real number, rounded once.
Value ElementEmitter::divide(Value a, Value b) {
  OpBuilder &builder = context.builder;
  if (std::optional<llvm::APFloat> divisor = constantOf(b)) {
    if (divisor->isExactlyValue(1.0))
      return a;
    llvm::APFloat inverse(divisor->getSemantics());
    if (divisor->getExactInverse(&inverse))
      return arith::MulFOp::create(
          builder, context.loc, a,
          context.laneConstant(FloatAttr::get(elementFormat(b), inverse)));
  }
  return arith::DivFOp::create(builder, context.loc, a, b);
}

Value ElementEmitter::compute(Operation *op, const NodePlan *plan,
                              const Instance *instance) {
  OpBuilder &builder = context.builder;
  Location loc = context.loc;
  if (auto input = dyn_cast<pact::InputOp>(op))
    return instance ? context.load(input.getTensor(), *plan, *instance)
                    : context.loadRow(input.getTensor());
  if (auto param = dyn_cast<pact::ParamOp>(op))
    return context.laneConstant(
        cast<FloatAttr>(context.contract.getParams().get(param.getParam())));
  if (auto take = dyn_cast<pact::TakeOp>(op))
    return this->take(take);
  if (auto apply = dyn_cast<pact::ApplyOp>(op)) {
    pact::PrimitiveOp primitive = primitiveAt(apply.getSite());
    SmallVector<Value> arguments;
    for (auto [arg, type] :
         llvm::zip(apply.getArgs(), primitive.getFunctionType().getInputs()))
      arguments.push_back(valueAs(arg, cast<FloatType>(type), plan, instance));
    return this->apply(primitive, arguments);
  }

  Value result = product(op, plan, instance);
  if (!result) {
    FloatType format = builder.getF32Type();
    for (Value operand : op->getOperands())
      if (FloatType own = formatOf(operand, plan, instance);
          isWider(own, format))
        format = own;
    SmallVector<Value> v;
    for (Value operand : op->getOperands())
      v.push_back(valueAs(operand, format, plan, instance));
    result = llvm::TypeSwitch<Operation *, Value>(op)
                 .Case([&](pact::AddOp) {
                   return arith::AddFOp::create(builder, loc, v[0], v[1]);
                 })
                 .Case([&](pact::SubOp) {
                   return arith::SubFOp::create(builder, loc, v[0], v[1]);
                 })
                 .Case([&](pact::MulOp) {
                   return arith::MulFOp::create(builder, loc, v[0], v[1]);
                 })
                 .Case([&](pact::DivOp) {
                   return divide(v[0], v[1]);
                 })
                 .Case([&](pact::MaxOp) {
                   return arith::MaximumFOp::create(builder, loc, v[0], v[1]);
                 })
                 .Case([&](pact::NegOp) {
                   return arith::NegFOp::create(builder, loc, v[0]);
                 })
                 .Case([&](pact::AbsOp) -> Value {
                   unsigned width = format.getWidth();
                   Type ints = context.laneType(builder.getIntegerType(width));
                   Value bits =
                       arith::BitcastOp::create(builder, loc, ints, v[0]);
                   Value mask = context.laneConstant(builder.getIntegerAttr(
                       builder.getIntegerType(width),
                       llvm::APInt::getSignedMaxValue(width)));
                   bits = arith::AndIOp::create(builder, loc, bits, mask);
                   return arith::BitcastOp::create(builder, loc, v[0].getType(),
                                                   bits);
                 });
  }
  if (auto site = op->getAttrOfType<StringAttr>("site"))
    if (pact::RoundingAttr attr = rounding(site); !attr.isExact())
      result = convert(result, cast<FloatType>(attr.getFormat()));
  return result;
}

Value ElementEmitter::output(pact::OutputOp output, const NodePlan *plan,
                             const Instance *instance) {
  auto format = cast<FloatType>(
      cast<TypeAttr>(context.contract.getTypes().get(output.getTensor()))
          .getValue());
  Value unrounded =
      valueAs(output.getValue(), formatOf(output.getValue(), plan, instance),
              plan, instance);
  Value rounded = convert(unrounded, format);
  // A store of the value's own format still makes NaN canonical.
  if (!rounded.getDefiningOp<kernel::NarrowOp>())
    rounded = kernel::NarrowOp::create(context.builder, context.loc,
                                       rounded.getType(), rounded);
  return rounded;
}
