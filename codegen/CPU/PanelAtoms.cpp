// PanelAtoms.cpp - steps of matrix units in integers
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/CPU/PanelKernel.h"

using namespace mlir;
using namespace bitpact;
using namespace bitpact::codegen;

// What contracts/reference/DotAtom.h defines, for as many sums as a vector has
// lanes. Significands of two bf16 or f16 have a product of at most 22 bits, so
// that f32 holds it; a power of two moves it to where the step truncates, and a
// conversion to an integer truncates it. Zeros have an exponent below all
// others. Infinities and NaNs keep themselves as significands: their sum is one
// if and only if one of them decides, and what the integers say is not taken.

/// Below the exponent of every product.
static constexpr int64_t kNoExponent = -1000;

std::optional<PanelKernel::Unit> PanelKernel::unitOf(StringRef atom) {
  atom.consume_back(".f16");
  if (atom == "dot.cdna3")
    return Unit{8, 24, true};
  int64_t terms, fraction;
  // Sums of eight products fit 32 bits beside an accumulator.
  if (!atom.consume_front("dot.nv(") || atom.consumeInteger(10, terms) ||
      !atom.consume_front(",") || atom.consumeInteger(10, fraction) ||
      atom != ")" || terms < 1 || terms > 16 || fraction < 23 || fraction > 25)
    return std::nullopt;
  return Unit{terms, fraction, false};
}

PanelKernel::Operand PanelKernel::split(Value elements, Type format) {
  Type floats = elements.getType(), ints = builder.getI32Type();
  if (auto vector = dyn_cast<VectorType>(floats))
    ints = vector.clone(ints);
  int64_t least = format.isF16() ? -14 : -126;
  Value bits = LLVM::BitcastOp::create(builder, loc, ints, elements);
  Value magnitude = binary<LLVM::AndOp>(bits, integer(ints, 0x7FFFFFFF));
  Value field = binary<LLVM::LShrOp>(magnitude, integer(ints, 23));
  auto compare = [&](LLVM::ICmpPredicate predicate, Value a, Value b) -> Value {
    return LLVM::ICmpOp::create(builder, loc, predicate, a, b);
  };
  auto select = [&](Value condition, Value a, Value b) -> Value {
    return LLVM::SelectOp::create(builder, loc, condition, a, b);
  };
  Value isNormal = compare(LLVM::ICmpPredicate::uge, field,
                           integer(ints, uint64_t(127 + least))),
        isSpecial =
            compare(LLVM::ICmpPredicate::eq, field, integer(ints, 255)),
        isZero = compare(LLVM::ICmpPredicate::eq, magnitude, integer(ints, 0));
  Value normal = LLVM::BitcastOp::create(
      builder, loc, floats,
      binary<LLVM::OrOp>(
          binary<LLVM::AndOp>(bits, integer(ints, 0x807FFFFF)),
          integer(ints, 0x3F800000)));
  // A subnormal has the exponent of the smallest normal.
  Value subnormal = binary<LLVM::FMulOp>(
      elements, real(floats, format.isF16() ? 0x1p14 : 0x1p126));
  Value significand =
      select(isSpecial, elements, select(isNormal, normal, subnormal));
  Value exponent =
      select(isNormal, binary<LLVM::SubOp>(field, integer(ints, 127)),
             integer(ints, uint64_t(least)));
  exponent = select(isZero, integer(ints, uint64_t(kNoExponent)), exponent);
  return {significand, exponent};
}

namespace bitpact::codegen {

/// The arithmetic of one step on vectors.
class UnitStep {
public:
  UnitStep(OpBuilder &builder, Location loc, int64_t lanes,
           const PanelKernel::Unit &unit)
      : builder(builder), loc(loc), unit(unit),
        ints(VectorType::get({lanes}, builder.getI32Type())),
        floats(VectorType::get({lanes}, builder.getF32Type())),
        longs(VectorType::get({lanes}, builder.getI64Type())),
        doubles(VectorType::get({lanes}, builder.getF64Type())) {}

  using Operand = PanelKernel::Operand;
  Value run(ArrayRef<Operand> a, ArrayRef<Operand> b, Value accumulator);

private:
  template <typename Op> Value op(Value a, Value b) {
    return Op::create(builder, loc, a, b);
  }
  Value i(int64_t value) {
    return LLVM::ConstantOp::create(
        builder, loc, ints,
        DenseElementsAttr::get(ints, builder.getI32IntegerAttr(int32_t(value))
                                         .getValue()));
  }
  Value d(double value) {
    return LLVM::ConstantOp::create(
        builder, loc, doubles,
        DenseElementsAttr::get(doubles, builder.getF64FloatAttr(value)
                                            .getValue()));
  }
  Value f(double value) {
    return LLVM::ConstantOp::create(
        builder, loc, floats,
        DenseElementsAttr::get(floats, builder.getF32FloatAttr(float(value))
                                           .getValue()));
  }
  Value cast(Type type, Value value) {
    return LLVM::BitcastOp::create(builder, loc, type, value);
  }
  Value select(Value condition, Value a, Value b) {
    return LLVM::SelectOp::create(builder, loc, condition, a, b);
  }
  Value is(LLVM::ICmpPredicate predicate, Value a, Value b) {
    return LLVM::ICmpOp::create(builder, loc, predicate, a, b);
  }
  Value toDouble(Value integers) {
    return LLVM::SIToFPOp::create(builder, loc, doubles, integers);
  }
  Value l(int64_t value) {
    return LLVM::ConstantOp::create(
        builder, loc, longs,
        DenseElementsAttr::get(longs,
                               APInt(64, uint64_t(value), /*isSigned=*/false)));
  }
  /// 2^exponent, of exponents of normal doubles.
  Value power(Value exponent) {
    Value wide = LLVM::SExtOp::create(
        builder, loc, longs, op<LLVM::AddOp>(exponent, i(1023)));
    return cast(doubles, op<LLVM::ShlOp>(wide, l(52)));
  }
  Value isSpecial(Value value) {
    Value magnitude = op<LLVM::AndOp>(cast(ints, value), i(0x7FFFFFFF));
    return is(LLVM::ICmpPredicate::uge, magnitude, i(0x7F800000));
  }
  /// Products truncated to units of 2^(top - F), in parts that fit 32 bits.
  SmallVector<Value> truncated(ArrayRef<Value> products,
                               ArrayRef<Value> exponents, Value top);
  Value nvidia(ArrayRef<Value> products, ArrayRef<Value> exponents);
  Value amd(ArrayRef<Value> products, ArrayRef<Value> exponents);

  OpBuilder &builder;
  Location loc;
  PanelKernel::Unit unit;
  VectorType ints, floats, longs, doubles;
  /// Of the accumulator: exponent, and magnitude and sign of the significand.
  Value exponent, significand, sign, isZero;
};

SmallVector<Value> UnitStep::truncated(ArrayRef<Value> products,
                                       ArrayRef<Value> exponents, Value top) {
  SmallVector<Value> sums;
  Value base = op<LLVM::SubOp>(top, i(unit.fraction + 127));
  for (size_t k = 0; k < products.size(); ++k) {
    // What is below the least exponent of f32 is below the unit by far.
    Value field =
        op<LLVM::SMaxOp>(op<LLVM::SubOp>(exponents[k], base), i(1));
    Value factor = cast(floats, op<LLVM::ShlOp>(field, i(23)));
    Value moved = op<LLVM::FMulOp>(products[k], factor);
    Value whole = LLVM::FPToSIOp::create(builder, loc, ints, moved);
    if (k % 8)
      sums.back() = op<LLVM::AddOp>(sums.back(), whole);
    else
      sums.push_back(whole);
  }
  return sums;
}

/// Everything truncated to units of 2^(E - F), the exact sum to f32.
Value UnitStep::nvidia(ArrayRef<Value> products, ArrayRef<Value> exponents) {
  // What is zero has an exponent as well, which shows below 2^-108.
  Value least = i(-108 - unit.fraction);
  Value top = op<LLVM::SMaxOp>(least, select(isZero, least, exponent));
  for (Value each : exponents)
    top = op<LLVM::SMaxOp>(top, each);
  SmallVector<Value> sums = truncated(products, exponents, top);
  Value behind = op<LLVM::SMinOp>(
      op<LLVM::SMaxOp>(op<LLVM::SubOp>(top, exponent), i(0)), i(31));
  Value held = op<LLVM::LShrOp>(
      op<LLVM::ShlOp>(significand, i(unit.fraction - 23)), behind);
  held = op<LLVM::SubOp>(op<LLVM::XOrOp>(held, sign), sign);
  sums[0] = op<LLVM::AddOp>(sums[0], held);
  Value sum = toDouble(sums[0]);
  for (Value more : ArrayRef(sums).drop_front())
    sum = op<LLVM::FAddOp>(sum, toDouble(more));
  // 24 bits of it, in units of the least subnormal.
  Value kept = cast(
      doubles, op<LLVM::AndOp>(cast(longs, sum), l(~int64_t(0x1FFFFFFF))));
  Value scale =
      power(op<LLVM::AddOp>(top, i(149 - unit.fraction)));
  Value whole =
      LLVM::FTruncOp::create(builder, loc, op<LLVM::FMulOp>(kept, scale));
  // A zero is +0.
  Value result = op<LLVM::FAddOp>(op<LLVM::FMulOp>(whole, d(0x1p-149)), d(0.0));
  return LLVM::FPTruncOp::create(builder, loc, floats, result);
}

/// The products truncated, their sum and the accumulator rounded down.
Value UnitStep::amd(ArrayRef<Value> products, ArrayRef<Value> exponents) {
  Value largest = exponents[0];
  for (Value each : exponents.drop_front())
    largest = op<LLVM::SMaxOp>(largest, each);
  Value top = op<LLVM::SMaxOp>(largest, exponent);
  Value sum = toDouble(truncated(products, exponents, largest)[0]);
  auto down = [&](Value value, Value of, int64_t up) {
    // Further down only the sign is left.
    Value shift = op<LLVM::SMaxOp>(
        op<LLVM::AddOp>(op<LLVM::SubOp>(of, top), i(up)), i(-100));
    return Value(LLVM::FFloorOp::create(builder, loc,
                                        op<LLVM::FMulOp>(value, power(shift))));
  };
  Value held = op<LLVM::SubOp>(op<LLVM::XOrOp>(significand, sign), sign);
  Value total = op<LLVM::FAddOp>(
      down(sum, largest, 8),
      op<LLVM::FMulOp>(down(toDouble(held), exponent, 1), d(256)));
  Value field = op<LLVM::AndOp>(op<LLVM::LShrOp>(cast(longs, total), l(52)),
                                l(0x7FF));
  Value own = op<LLVM::SubOp>(
      LLVM::TruncOp::create(builder, loc, ints, field).getResult(), i(1023));
  Value normal = op<LLVM::SMaxOp>(
      op<LLVM::AddOp>(own, op<LLVM::SubOp>(top, i(32))), i(-126));
  Value drop = op<LLVM::SMaxOp>(
      op<LLVM::AddOp>(op<LLVM::SubOp>(normal, top), i(1)), i(0));
  Value kept = LLVM::FFloorOp::create(
      builder, loc,
      op<LLVM::FMulOp>(total, power(op<LLVM::SubOp>(i(0), drop))));
  Value result = op<LLVM::FMulOp>(
      kept, power(op<LLVM::SubOp>(op<LLVM::AddOp>(drop, top), i(32))));
  return LLVM::FPTruncOp::create(builder, loc, floats, result);
}

Value UnitStep::run(ArrayRef<Operand> a, ArrayRef<Operand> b,
                    Value accumulator) {
  SmallVector<Value> products, exponents;
  Value bits = cast(ints, accumulator);
  Value magnitude = op<LLVM::AndOp>(bits, i(0x7FFFFFFF));
  Value field = op<LLVM::LShrOp>(magnitude, i(23));
  exponent = op<LLVM::SubOp>(op<LLVM::SMaxOp>(field, i(1)), i(127));
  Value hidden = select(is(LLVM::ICmpPredicate::eq, field, i(0)), i(0),
                        i(0x800000));
  significand = op<LLVM::OrOp>(op<LLVM::AndOp>(bits, i(0x7FFFFF)), hidden);
  sign = op<LLVM::AShrOp>(bits, i(31));
  isZero = is(LLVM::ICmpPredicate::eq, magnitude, i(0));
  Value special = select(isSpecial(accumulator), accumulator, f(0));
  for (auto [x, y] : llvm::zip(a, b)) {
    Value product = op<LLVM::FMulOp>(x.significand, y.significand);
    Value power = op<LLVM::AddOp>(x.exponent, y.exponent);
    products.push_back(product);
    exponents.push_back(power);
    Value counted = product;
    if (unit.isAmd) {
      // From 2^128 on a product is infinite.
      Value clamped = op<LLVM::SMinOp>(
          op<LLVM::SMaxOp>(op<LLVM::SubOp>(power, i(1)), i(-126)), i(127));
      Value factor =
          cast(floats, op<LLVM::ShlOp>(op<LLVM::AddOp>(clamped, i(127)), i(23)));
      Value full = op<LLVM::FMulOp>(op<LLVM::FMulOp>(product, f(2)), factor);
      counted = select(isSpecial(full), full, f(0));
    }
    special = op<LLVM::FAddOp>(special, counted);
  }
  Value result = unit.isAmd ? amd(products, exponents)
                            : nvidia(products, exponents);
  return select(isSpecial(special), special, result);
}

} // namespace bitpact::codegen

LogicalResult PanelKernel::dot(tile::DotOp op) {
  std::optional<Unit> unit = unitOf(op.getAtom());
  if (!unit || !op.getSums())
    return op.emitOpError("has no form on CPUs");
  const Panels a = packed[op.getA()], b = packed[op.getB()];
  tile::PendingType type = op.getType();
  Type element = type.getElementType(), ints = builder.getI32Type();
  int64_t depth = op.getA().getType().getCols(), lanes = schedule.getLanes();
  Value steps = blocks(least(a.cols, b.cols), unit->terms);
  forEachTile(
      a, b, type.getRows(), element, op.getSums(),
      [&](Value row, Value col, Value tile) {
        Value left = panelAt(a, a.data, row, depth, a.element),
              leftExponents = panelAt(a, a.exponents, row, depth, ints),
              right = panelAt(b, b.data, col, depth, b.element),
              rightExponents = panelAt(b, b.exponents, col, depth, ints);
        loop(i64(0), i64(a.height), 1, [&](Value i) {
          loop(i64(0), i64(b.height), lanes, [&](Value j) {
            Value place = at(tile, element, add(mul(i, i64(b.height)), j));
            Values sum = loop(
                i64(0), steps, 1, {load(lanesOf(element), place)},
                [&](Value step, ValueRange carried) {
                  Value first = mul(step, i64(unit->terms));
                  SmallVector<Operand> x, y;
                  for (int64_t k = 0; k < unit->terms; ++k) {
                    Value column = add(first, i64(k));
                    Value p = add(mul(column, i64(a.height)), i),
                          q = add(mul(column, i64(b.height)), j);
                    x.push_back(
                        {splat(load(a.element, at(left, a.element, p))),
                         splat(load(ints, at(leftExponents, ints, p)))});
                    y.push_back(
                        {load(lanesOf(b.element), at(right, b.element, q)),
                         load(lanesOf(ints), at(rightExponents, ints, q))});
                  }
                  return Values{UnitStep(builder, loc, lanes, *unit)
                                    .run(x, y, carried[0])};
                });
            store(sum[0], place);
          });
        });
      });
  op.replaceAllUsesWith(op.getSums());
  return success();
}
