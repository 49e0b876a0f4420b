// ExpandNarrow.cpp - one rounding to nearest even, in integer operations
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/Lowering/Passes.h"
#include "dialects/Kernel/KernelDialect.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace bitpact;

namespace {

/// Builds on a value's own shape: a scalar, or a vector of lanes.
struct Shaped {
  OpBuilder &builder;
  Location loc;
  Type like;

  Type type(Type element) const {
    if (auto vector = dyn_cast<VectorType>(like))
      return vector.clone(element);
    return element;
  }
  Type ints(unsigned width) const {
    return type(builder.getIntegerType(width));
  }
  Value integer(unsigned width, uint64_t value) const {
    return constant(builder.getIntegerAttr(builder.getIntegerType(width),
                                           APInt(width, value)));
  }
  Value constant(TypedAttr attr) const {
    TypedAttr shaped = attr;
    if (auto vector = dyn_cast<VectorType>(like))
      shaped = DenseElementsAttr::get(vector.clone(attr.getType()), attr);
    return arith::ConstantOp::create(builder, loc, shaped);
  }
  template <typename Op> Value binary(Value a, Value b) const {
    return Op::create(builder, loc, a, b);
  }
  Value bitcast(Type to, Value v) const {
    return arith::BitcastOp::create(builder, loc, to, v);
  }
  Value compare(arith::CmpIPredicate p, Value a, Value b) const {
    return arith::CmpIOp::create(builder, loc, p, a, b);
  }
  Value select(Value c, Value a, Value b) const {
    return arith::SelectOp::create(builder, loc, c, a, b);
  }
  Value isNaN(Value v) const {
    return arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::UNO, v, v);
  }
};

/// The canonical NaN: quiet bit set, sign and rest of the payload clear.
TypedAttr canonicalNaN(FloatType type) {
  return FloatAttr::get(type, APFloat::getQNaN(type.getFloatSemantics()));
}

/// f32 to bf16 on the bits: adding half of the last place, less one where the
/// last bit is even, carries into it exactly as nearest-even does; it carries
/// into the exponent, and into infinity, the same way.
Value bf16Bits(const Shaped &s, Value v) {
  Value bits = s.bitcast(s.ints(32), v);
  Value last = s.binary<arith::AndIOp>(
      s.binary<arith::ShRUIOp>(bits, s.integer(32, 16)), s.integer(32, 1));
  Value up = s.binary<arith::AddIOp>(last, s.integer(32, 0x7FFF));
  Value rounded = s.binary<arith::ShRUIOp>(s.binary<arith::AddIOp>(bits, up),
                                           s.integer(32, 16));
  // Chosen while it is as wide as what is compared.
  Value chosen = s.select(s.isNaN(v), s.integer(32, 0x7FC0), rounded);
  return arith::TruncIOp::create(s.builder, s.loc, s.ints(16), chosen);
}

/// f64 to f32 rounded to odd: a later rounding to a format with at least two
/// bits less is then the only one that counts.
Value oddF32(const Shaped &s, Value v) {
  OpBuilder &b = s.builder;
  Value near = arith::TruncFOp::create(b, s.loc, s.type(b.getF32Type()), v);
  Value back = arith::ExtFOp::create(b, s.loc, v.getType(), near);
  Value magnitude = s.integer(64, ~uint64_t(0) >> 1);
  Value is = s.binary<arith::AndIOp>(s.bitcast(s.ints(64), v), magnitude);
  Value got = s.binary<arith::AndIOp>(s.bitcast(s.ints(64), back), magnitude);
  // On magnitudes of non-NaN values the integer order is the real one.
  Value over = arith::ExtUIOp::create(
      b, s.loc, s.ints(32), s.compare(arith::CmpIPredicate::ugt, got, is));
  Value inexact = arith::ExtUIOp::create(
      b, s.loc, s.ints(32), s.compare(arith::CmpIPredicate::ne, got, is));
  Value bits = s.bitcast(s.ints(32), near);
  bits = s.binary<arith::OrIOp>(s.binary<arith::SubIOp>(bits, over), inexact);
  Value odd = s.bitcast(near.getType(), bits);
  return s.select(s.isNaN(v), near, odd);
}

Value expand(const Shaped &s, Value v, FloatType from, FloatType to,
             bool keepBf16, bool isStored) {
  OpBuilder &b = s.builder;
  Value nan = s.constant(canonicalNaN(to));
  if (from == to)
    return s.select(s.isNaN(v), nan, v);
  if (from.isF64() && !to.isF32())
    return expand(s, oddF32(s, v), b.getF32Type(), to, keepBf16, isStored);
  if (to.isBF16() && !keepBf16)
    return s.bitcast(s.type(to), bf16Bits(s, v));
  Value near = arith::TruncFOp::create(b, s.loc, s.type(to), v);
  return isStored ? s.select(s.isNaN(v), nan, near) : near;
}

} // namespace

void lowering::expandRoundings(Operation *root, bool keepBf16) {
  root->walk([&](Operation *op) {
    OpBuilder builder(op);
    if (auto narrow = dyn_cast<kernel::NarrowOp>(op)) {
      Value v = narrow.getA();
      Shaped shaped{builder, op->getLoc(), v.getType()};
      // Of what is but computed with, any NaN is as good as another: GPUs of
      // NVIDIA make theirs with no instruction more.
      bool isStored =
          !keepBf16 || op->use_empty() ||
          !llvm::all_of(op->getUsers(), llvm::IsaPred<arith::ExtFOp>);
      Value result = expand(
          shaped, v, cast<FloatType>(getElementTypeOrSelf(v)),
          cast<FloatType>(getElementTypeOrSelf(narrow.getResult())), keepBf16,
          isStored);
      op->getResult(0).replaceAllUsesWith(result);
      op->erase();
      return;
    }
    auto widen = dyn_cast<arith::ExtFOp>(op);
    if (!widen || keepBf16 ||
        !getElementTypeOrSelf(widen.getIn().getType()).isBF16())
      return;
    // bf16 is the upper half of f32.
    Shaped s{builder, op->getLoc(), widen.getIn().getType()};
    Value bits = arith::ExtUIOp::create(builder, s.loc, s.ints(32),
                                        s.bitcast(s.ints(16), widen.getIn()));
    Value wide = s.bitcast(s.type(builder.getF32Type()),
                           s.binary<arith::ShLIOp>(bits, s.integer(32, 16)));
    if (wide.getType() != widen.getType())
      wide = arith::ExtFOp::create(builder, s.loc, widen.getType(), wide);
    widen.getResult().replaceAllUsesWith(wide);
    op->erase();
  });
}

namespace {

struct ExpandNarrowPass
    : PassWrapper<ExpandNarrowPass, OperationPass<>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(ExpandNarrowPass)
  ExpandNarrowPass() = default;
  explicit ExpandNarrowPass(bool keep) { keepBf16 = keep; }
  ExpandNarrowPass(const ExpandNarrowPass &other) : PassWrapper(other) {}
  StringRef getArgument() const override { return "kernel-expand-narrow"; }
  StringRef getDescription() const override {
    return "writes roundings to narrow formats as integer operations";
  }

  void runOnOperation() override {
    lowering::expandRoundings(getOperation(), keepBf16);
  }

  Option<bool> keepBf16{*this, "keep-bf16",
                        llvm::cl::desc("leave f32 to bf16 to the target"),
                        llvm::cl::init(false)};
};

} // namespace

std::unique_ptr<Pass> lowering::createExpandNarrowPass(bool keepBf16) {
  return std::make_unique<ExpandNarrowPass>(keepBf16);
}
