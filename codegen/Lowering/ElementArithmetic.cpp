// ElementArithmetic.cpp - operations of an operator's body, rounded at sites
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/Lowering/ElementArithmetic.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace bitpact;
using namespace bitpact::lowering;

static bool isWider(FloatType a, FloatType b) {
  return a.getFPMantissaWidth() > b.getFPMantissaWidth();
}

static FloatType elementFormat(Value value) {
  return cast<FloatType>(getElementTypeOrSelf(value.getType()));
}

pact::RoundingAttr ElementArithmetic::rounding(StringRef site) {
  return cast<pact::RoundingAttr>(contract.getRounding().get(site));
}

pact::PrimitiveOp ElementArithmetic::primitiveAt(StringRef site) {
  auto name = cast<FlatSymbolRefAttr>(contract.getPrimitives().get(site));
  return SymbolTable::lookupNearestSymbolFrom<pact::PrimitiveOp>(contract,
                                                                 name);
}

Value ElementArithmetic::convert(Value value, FloatType format) {
  FloatType from = elementFormat(value);
  if (from == format)
    return value;
  if (isWider(format, from) && format.getWidth() > from.getWidth())
    return arith::ExtFOp::create(builder, loc, typeOf(format), value);
  if (from.getWidth() == format.getWidth()) // bf16 and f16: through f32
    value = arith::ExtFOp::create(builder, loc, typeOf(builder.getF32Type()),
                                  value);
  return kernel::NarrowOp::create(builder, loc, typeOf(format), value);
}

Value ElementArithmetic::rounded(Operation *op, Value value) {
  // The site of a function names its primitive.
  auto site = op->getAttrOfType<StringAttr>(
      isa<pact::ApplyOp>(op) ? "rounded" : "site");
  pact::RoundingAttr attr = site ? rounding(site) : pact::RoundingAttr();
  return attr && !attr.isExact()
             ? convert(value, cast<FloatType>(attr.getFormat()))
             : value;
}

Value ElementArithmetic::apply(pact::PrimitiveOp primitive,
                               ValueRange arguments) {
  IRMapping map;
  Block &body = primitive.getBody().front();
  map.map(body.getArguments(), arguments);
  for (Operation &op : body.without_terminator()) {
    SmallVector<Value> operands;
    for (Value operand : op.getOperands())
      operands.push_back(map.lookup(operand));
    Type type = typeOf(op.getResult(0).getType());
    Value result;
    if (auto fma = dyn_cast<pact::FmaOp>(op)) {
      result = kernel::FmaOp::create(builder, loc, type, operands[0],
                                     operands[1], operands[2]);
    } else if (isa<pact::SqrtOp>(op)) {
      result = kernel::SqrtOp::create(builder, loc, type, operands[0]);
    } else if (auto number = dyn_cast<arith::ConstantOp>(op)) {
      result = constant(cast<TypedAttr>(number.getValue()));
    } else if (isa<arith::TruncFOp>(op)) {
      result = kernel::NarrowOp::create(builder, loc, type, operands[0]);
    } else {
      OperationState state(loc, op.getName(), operands, {type}, op.getAttrs());
      result = builder.create(state)->getResult(0);
    }
    map.map(op.getResult(0), result);
  }
  auto yield = cast<pact::YieldOp>(body.getTerminator());
  return map.lookup(yield.getValue());
}

Value ElementArithmetic::operandAs(Value f, FloatType format,
                                   Operands operands) {
  Operation *op = f.getDefiningOp();
  if (auto number = dyn_cast<pact::ConstantOp>(op)) {
    llvm::APFloat value(format.getFloatSemantics(), number.getValue());
    return constant(FloatAttr::get(format, value));
  }
  if (auto extent = dyn_cast<pact::ExtentOp>(op))
    return extentAs(extent, format);
  return convert(operands(f), format);
}

pact::MulOp ElementArithmetic::exactProduct(Value f) {
  auto mul = f.getDefiningOp<pact::MulOp>();
  return mul && mul.getSite() && rounding(*mul.getSite()).isExact()
             ? mul
             : pact::MulOp();
}

/// The format of a value as an operand: constants and extents take that of
/// their consumer, an exact product that of its operation.
FloatType ElementArithmetic::formatOf(Value f, Operands operands) {
  FloatType f32 = builder.getF32Type();
  if (isa<pact::ConstantOp, pact::ExtentOp>(f.getDefiningOp()))
    return f32;
  if (pact::MulOp mul = exactProduct(f)) {
    FloatType a = formatOf(mul.getLhs(), operands);
    FloatType b = formatOf(mul.getRhs(), operands);
    return isWider(a, b) ? a : b;
  }
  FloatType own = elementFormat(operands(f));
  return isWider(own, f32) ? own : f32;
}

/// Additions and subtractions that take an unrounded product are one fma.
Value ElementArithmetic::product(Operation *op, Operands operands) {
  if (!isa<pact::AddOp, pact::SubOp>(op))
    return {};
  bool subtract = isa<pact::SubOp>(op);
  Value lhs = op->getOperand(0), rhs = op->getOperand(1);
  pact::MulOp mul = exactProduct(lhs);
  bool productLeft = bool(mul);
  if (!mul)
    mul = exactProduct(rhs);
  if (!mul)
    return {};
  FloatType a = formatOf(lhs, operands), b = formatOf(rhs, operands);
  FloatType format = isWider(a, b) ? a : b;
  auto negated = [&](Value v) -> Value {
    return arith::NegFOp::create(builder, loc, v);
  };
  Value x = operandAs(mul.getLhs(), format, operands);
  Value y = operandAs(mul.getRhs(), format, operands);
  Value other = operandAs(productLeft ? rhs : lhs, format, operands);
  if (subtract && productLeft)
    other = negated(other);
  else if (subtract)
    x = negated(x);
  return kernel::FmaOp::create(builder, loc, x.getType(), x, y, other);
}

/// The number that a value always is, if it is one.
static std::optional<llvm::APFloat> constantOf(Value value) {
  Attribute attr;
  if (!matchPattern(value, m_Constant(&attr)))
    return std::nullopt;
  if (auto number = dyn_cast<FloatAttr>(attr))
    return number.getValue();
  auto dense = dyn_cast<DenseElementsAttr>(attr);
  if (dense && dense.isSplat() && isa<FloatType>(dense.getElementType()))
    return dense.getSplatValue<llvm::APFloat>();
  return std::nullopt;
}

/// By 1 nothing changes; by a number whose inverse is one too, the quotient and
/// the product are one real number, rounded once.
Value ElementArithmetic::divide(Value a, Value b) {
  if (std::optional<llvm::APFloat> divisor = constantOf(b)) {
    if (divisor->isExactlyValue(1.0))
      return a;
    llvm::APFloat inverse(divisor->getSemantics());
    if (divisor->getExactInverse(&inverse))
      return arith::MulFOp::create(
          builder, loc, a, constant(FloatAttr::get(elementFormat(b), inverse)));
  }
  return arith::DivFOp::create(builder, loc, a, b);
}

Value ElementArithmetic::operation(Operation *op, Operands operands) {
  FloatType format = builder.getF32Type();
  for (Value operand : op->getOperands())
    if (FloatType own = formatOf(operand, operands); isWider(own, format))
      format = own;
  SmallVector<Value> v;
  for (Value operand : op->getOperands())
    v.push_back(operandAs(operand, format, operands));
  return llvm::TypeSwitch<Operation *, Value>(op)
      .Case([&](pact::AddOp) {
        return arith::AddFOp::create(builder, loc, v[0], v[1]);
      })
      .Case([&](pact::SubOp) {
        return arith::SubFOp::create(builder, loc, v[0], v[1]);
      })
      .Case([&](pact::MulOp) {
        return arith::MulFOp::create(builder, loc, v[0], v[1]);
      })
      .Case([&](pact::DivOp) { return divide(v[0], v[1]); })
      .Case([&](pact::MaxOp) {
        return arith::MaximumFOp::create(builder, loc, v[0], v[1]);
      })
      .Case([&](pact::NegOp) {
        return arith::NegFOp::create(builder, loc, v[0]);
      })
      .Case([&](pact::AbsOp) -> Value {
        IntegerType integer = builder.getIntegerType(format.getWidth());
        Value bits =
            arith::BitcastOp::create(builder, loc, typeOf(integer), v[0]);
        Value mask = constant(builder.getIntegerAttr(
            integer, llvm::APInt::getSignedMaxValue(format.getWidth())));
        bits = arith::AndIOp::create(builder, loc, bits, mask);
        return arith::BitcastOp::create(builder, loc, v[0].getType(), bits);
      });
}

Value ElementArithmetic::compute(Operation *op, Operands operands) {
  if (auto param = dyn_cast<pact::ParamOp>(op))
    return constant(
        cast<FloatAttr>(contract.getParams().get(param.getParam())));
  if (auto apply = dyn_cast<pact::ApplyOp>(op)) {
    pact::PrimitiveOp primitive = primitiveAt(apply.getSite());
    SmallVector<Value> arguments;
    for (auto [arg, type] :
         llvm::zip(apply.getArgs(), primitive.getFunctionType().getInputs()))
      arguments.push_back(operandAs(arg, cast<FloatType>(type), operands));
    return rounded(op, this->apply(primitive, arguments));
  }
  Value result = product(op, operands);
  return rounded(op, result ? result : operation(op, operands));
}

Value ElementArithmetic::outputOf(pact::OutputOp output, Operands operands) {
  auto format = cast<FloatType>(
      cast<TypeAttr>(contract.getTypes().get(output.getTensor())).getValue());
  Value f = output.getValue();
  Value value = convert(operandAs(f, formatOf(f, operands), operands), format);
  // A store of the value's own format still makes NaN canonical.
  if (!value.getDefiningOp<kernel::NarrowOp>())
    value = kernel::NarrowOp::create(builder, loc, value.getType(), value);
  return value;
}
