// Integers.h - operations on integers that give a result whatever they are given
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef BITPACT_COMPILER_INTERPRETER_INTEGERS_H
#define BITPACT_COMPILER_INTERPRETER_INTEGERS_H

#include "compiler/Interpreter/Scalar.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

namespace bitpact::interpreter {

inline int64_t toSigned(uint64_t bits, Scalar type) {
  unsigned unused = 64 - widthOf(type);
  return static_cast<int64_t>(bits << unused) >> unused;
}

template <typename Visit>
void withPredicate(mlir::arith::CmpIPredicate predicate, Scalar type,
                   Visit visit) {
  using P = mlir::arith::CmpIPredicate;
  auto ordered = [&](auto compare) {
    unsigned unused = 64 - widthOf(type);
    visit([=](uint64_t a, uint64_t b) -> uint64_t {
      return compare(int64_t(a << unused), int64_t(b << unused));
    });
  };
  auto plain = [&](auto compare) {
    visit([=](uint64_t a, uint64_t b) -> uint64_t { return compare(a, b); });
  };
  switch (predicate) {
  case P::eq:
    return plain(std::equal_to<>());
  case P::ne:
    return plain(std::not_equal_to<>());
  case P::slt:
    return ordered(std::less<>());
  case P::sle:
    return ordered(std::less_equal<>());
  case P::sgt:
    return ordered(std::greater<>());
  case P::sge:
    return ordered(std::greater_equal<>());
  case P::ult:
    return plain(std::less<>());
  case P::ule:
    return plain(std::less_equal<>());
  case P::ugt:
    return plain(std::greater<>());
  case P::uge:
    return plain(std::greater_equal<>());
  }
  llvm_unreachable("a predicate");
}

/// Of actions on integers, those with one operand.
inline bool isConversion(Op op) {
  return op == Op::Bitcast || op == Op::ExtendU || op == Op::ExtendS ||
         op == Op::Truncate;
}

/// Calls `visit` with what the action computes of the bits of its one or two
/// operands, so that many lanes ask once what it is; false for other actions,
/// which are none of integers or leave some results unspecified.
template <typename Visit>
bool withInteger(const Action &action, Visit visit) {
  uint64_t mask = ~uint64_t(0) >> (64 - widthOf(action.type));
  auto binary = [&](auto compute) {
    visit([=](uint64_t a, uint64_t b) { return compute(a, b) & mask; });
    return true;
  };
  switch (action.op) {
  case Op::AddI:
    return binary(std::plus<>());
  case Op::SubI:
    return binary(std::minus<>());
  case Op::MulI:
    return binary(std::multiplies<>());
  case Op::And:
    return binary(std::bit_and<>());
  case Op::Or:
    return binary(std::bit_or<>());
  case Op::Xor:
    return binary(std::bit_xor<>());
  case Op::Bitcast:
  case Op::ExtendU:
  case Op::Truncate:
    return binary([](uint64_t a, uint64_t) { return a; });
  case Op::ExtendS:
    return binary([from = action.from](uint64_t a, uint64_t) {
      return uint64_t(toSigned(a, from));
    });
  case Op::CmpI:
    withPredicate(mlir::arith::CmpIPredicate(action.attribute), action.from,
                  visit);
    return true;
  default:
    return false;
  }
}

} // namespace bitpact::interpreter

#endif // BITPACT_COMPILER_INTERPRETER_INTEGERS_H
