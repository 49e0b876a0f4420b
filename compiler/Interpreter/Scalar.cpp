// Scalar.cpp - operations on one lane's scalar, on bit patterns
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/Interpreter/Scalar.h"

#include "compiler/Interpreter/Integers.h"
#include "contracts/reference/Arithmetic.h"
#include "dialects/Kernel/KernelDialect.h"
#include "dialects/Pact/Pact.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace bitpact;
using namespace bitpact::interpreter;
using algebra::Format;

bool interpreter::isFloat(Scalar type) { return type <= Scalar::F64; }

unsigned interpreter::widthOf(Scalar type) {
  constexpr unsigned widths[] = {16, 16, 32, 64, 1, 8, 16, 32, 64};
  return widths[unsigned(type)];
}

Format interpreter::formatOf(Scalar type) {
  assert(isFloat(type) && "integers have no format");
  constexpr Format formats[] = {Format::BF16, Format::F16, Format::F32,
                                Format::F64};
  return formats[unsigned(type)];
}

Scalar interpreter::scalarOf(Format format) {
  switch (format) {
  case Format::BF16:
    return Scalar::BF16;
  case Format::F16:
    return Scalar::F16;
  case Format::F32:
    return Scalar::F32;
  case Format::F64:
    return Scalar::F64;
  case Format::I32:
    return Scalar::I32;
  case Format::I64:
    return Scalar::I64;
  }
  llvm_unreachable("a format");
}

std::optional<Scalar> interpreter::scalarOf(Type type) {
  type = getElementTypeOrSelf(type);
  if (type.isBF16())
    return Scalar::BF16;
  if (type.isF16())
    return Scalar::F16;
  if (type.isF32())
    return Scalar::F32;
  if (type.isF64())
    return Scalar::F64;
  for (Scalar each :
       {Scalar::I1, Scalar::I8, Scalar::I16, Scalar::I32, Scalar::I64})
    if (type.isInteger(widthOf(each)))
      return each;
  return std::nullopt;
}

StringRef interpreter::nameOf(Op op) {
  constexpr const char *names[] = {
      "constant", "element", "hole",    "set",    "whole",  "add",     "sub",   "mul",
      "div",      "maximum", "minimum", "neg",    "fma",     "sqrt",  "narrow",
      "extend",   "cmpf",    "sitofp",  "select", "bitcast", "addi",  "subi",
      "muli",     "divui",   "remui",   "andi",   "ori",     "xori",  "shli",
      "shrui",    "shrsi",   "cmpi",    "extui",  "extsi",   "trunci"};
  static_assert(std::size(names) == size_t(Op::Truncate) + 1);
  return names[size_t(op)];
}

bool interpreter::isCommutative(Op op) {
  switch (op) {
  case Op::Add:
  case Op::Mul:
  case Op::Maximum:
  case Op::Minimum:
  case Op::Fma:
  case Op::AddI:
  case Op::MulI:
  case Op::And:
  case Op::Or:
  case Op::Xor:
    return true;
  default:
    return false;
  }
}

std::optional<Action> interpreter::actionOf(Operation *op) {
  if (op->getNumResults() != 1 || op->getNumOperands() == 0)
    return std::nullopt;
  int64_t attribute = 0;
  std::optional<Op> kind =
      llvm::TypeSwitch<Operation *, std::optional<Op>>(op)
          .Case([](arith::AddFOp) { return Op::Add; })
          .Case([](arith::SubFOp) { return Op::Sub; })
          .Case([](arith::MulFOp) { return Op::Mul; })
          .Case([](arith::DivFOp) { return Op::Div; })
          .Case([](arith::MaximumFOp) { return Op::Maximum; })
          .Case([](arith::MinimumFOp) { return Op::Minimum; })
          .Case([](arith::NegFOp) { return Op::Neg; })
          .Case<kernel::FmaOp, pact::FmaOp>([](auto) { return Op::Fma; })
          .Case<kernel::SqrtOp, pact::SqrtOp>([](auto) { return Op::Sqrt; })
          .Case<kernel::NarrowOp, arith::TruncFOp>(
              [](auto) { return Op::Narrow; })
          .Case([](arith::ExtFOp) { return Op::Extend; })
          .Case([&](arith::CmpFOp cmp) {
            attribute = int64_t(cmp.getPredicate());
            return Op::CmpF;
          })
          .Case([](arith::SIToFPOp) { return Op::FromInt; })
          .Case([](arith::SelectOp) { return Op::Select; })
          .Case([](arith::BitcastOp) { return Op::Bitcast; })
          .Case([](arith::AddIOp) { return Op::AddI; })
          .Case([](arith::SubIOp) { return Op::SubI; })
          .Case([](arith::MulIOp) { return Op::MulI; })
          .Case([](arith::DivUIOp) { return Op::DivU; })
          .Case([](arith::RemUIOp) { return Op::RemU; })
          .Case([](arith::AndIOp) { return Op::And; })
          .Case([](arith::OrIOp) { return Op::Or; })
          .Case([](arith::XOrIOp) { return Op::Xor; })
          .Case([](arith::ShLIOp) { return Op::Shl; })
          .Case([](arith::ShRUIOp) { return Op::ShrU; })
          .Case([](arith::ShRSIOp) { return Op::ShrS; })
          .Case([&](arith::CmpIOp cmp) {
            attribute = int64_t(cmp.getPredicate());
            return Op::CmpI;
          })
          .Case([](arith::ExtUIOp) { return Op::ExtendU; })
          .Case([](arith::ExtSIOp) { return Op::ExtendS; })
          .Case([](arith::TruncIOp) { return Op::Truncate; })
          .Default([](Operation *) { return std::nullopt; });
  std::optional<Scalar> type = scalarOf(op->getResult(0).getType());
  std::optional<Scalar> from =
      scalarOf(op->getOperand(kind == Op::Select ? 1 : 0).getType());
  if (!kind || !type || !from)
    return std::nullopt;
  return Action{*kind, *type, *from, attribute};
}

namespace {

bool compare(arith::CmpFPredicate predicate, double a, double b) {
  using P = arith::CmpFPredicate;
  bool unordered = std::isnan(a) || std::isnan(b);
  switch (predicate) {
  case P::AlwaysFalse:
    return false;
  case P::OEQ:
    return a == b;
  case P::OGT:
    return a > b;
  case P::OGE:
    return a >= b;
  case P::OLT:
    return a < b;
  case P::OLE:
    return a <= b;
  case P::ONE:
    return !unordered && a != b;
  case P::ORD:
    return !unordered;
  case P::UEQ:
    return unordered || a == b;
  case P::UGT:
    return !(a <= b);
  case P::UGE:
    return !(a < b);
  case P::ULT:
    return !(a >= b);
  case P::ULE:
    return !(a > b);
  case P::UNE:
    return a != b;
  case P::UNO:
    return unordered;
  case P::AlwaysTrue:
    return true;
  }
  llvm_unreachable("a predicate");
}

/// Rounded once: a double that is odd in the last place where it is inexact
/// rounds further as the integer itself would.
double fromInteger(int64_t n, Format format) {
  if (format == Format::F64)
    return static_cast<double>(n);
  double high = static_cast<double>(n >> 32) * 4294967296.0;
  return reference::addToOdd(high, static_cast<double>(n & 0xffffffff));
}

} // namespace

std::optional<uint64_t> interpreter::evaluate(const Action &action,
                                              const uint64_t *v) {
  unsigned width = widthOf(action.type);
  uint64_t mask = width == 64 ? ~uint64_t(0) : (uint64_t(1) << width) - 1;
  auto real = [&](int i) {
    return reference::decode(formatOf(action.from), v[i]);
  };
  auto rounded = [&](auto compute) {
    return reference::withFormat(formatOf(action.type), [&]<Format F>() {
      return reference::encode(F, compute.template operator()<F>());
    });
  };
  using namespace reference;
  std::optional<uint64_t> integer;
  if (withInteger(action, [&](auto compute) {
        integer = compute(v[0], v[isConversion(action.op) ? 0 : 1]);
      }))
    return integer;
  switch (action.op) {
  case Op::Add:
    return rounded([&]<Format F>() { return add<F>(real(0), real(1)); });
  case Op::Sub:
    return rounded(
        [&]<Format F>() { return reference::sub<F>(real(0), real(1)); });
  case Op::Mul:
    return rounded([&]<Format F>() { return mul<F>(real(0), real(1)); });
  case Op::Div:
    return rounded(
        [&]<Format F>() { return reference::div<F>(real(0), real(1)); });
  case Op::Maximum:
    return rounded([&]<Format F>() { return maximum(real(0), real(1)); });
  case Op::Minimum:
    return rounded([&]<Format F>() { return minimum(real(0), real(1)); });
  case Op::Fma:
    return rounded([&]<Format F>() {
      return reference::fma<F>(real(0), real(1), real(2));
    });
  case Op::Sqrt:
    return rounded([&]<Format F>() { return reference::sqrt<F>(real(0)); });
  case Op::Neg:
    return (v[0] ^ uint64_t(1) << (width - 1)) & mask;
  case Op::Narrow:
  case Op::Extend:
    return encode(formatOf(action.type), real(0));
  case Op::CmpF:
    return compare(arith::CmpFPredicate(action.attribute), real(0), real(1));
  case Op::FromInt:
    return encode(
        formatOf(action.type),
        fromInteger(toSigned(v[0], action.from), formatOf(action.type)));
  case Op::Select:
    return v[0] ? v[1] : v[2];
  case Op::DivU:
    return v[1] ? std::optional(v[0] / v[1]) : std::nullopt;
  case Op::RemU:
    return v[1] ? std::optional(v[0] % v[1]) : std::nullopt;
  case Op::Shl:
    return v[1] < width ? std::optional(v[0] << v[1] & mask) : std::nullopt;
  case Op::ShrU:
    return v[1] < width ? std::optional(v[0] >> v[1]) : std::nullopt;
  case Op::ShrS:
    return v[1] < width
               ? std::optional(uint64_t(toSigned(v[0], action.type) >> v[1]) &
                               mask)
               : std::nullopt;
  case Op::Constant:
  case Op::Element:
  case Op::Hole:
  case Op::Set:
  case Op::Whole:
  default:
    break;
  }
  llvm_unreachable("leaves are not computed");
}
