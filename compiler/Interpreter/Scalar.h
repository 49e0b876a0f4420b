// Scalar.h - operations on one lane's scalar, on bit patterns
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef BITPACT_COMPILER_INTERPRETER_SCALAR_H
#define BITPACT_COMPILER_INTERPRETER_SCALAR_H

#include "contracts/algebra/Format.h"
#include "mlir/IR/Operation.h"

#include <cstdint>
#include <optional>

namespace bitpact::interpreter {

enum class Scalar : uint8_t { BF16, F16, F32, F64, I1, I8, I16, I32, I64 };

bool isFloat(Scalar type);
unsigned widthOf(Scalar type);
algebra::Format formatOf(Scalar type);
Scalar scalarOf(algebra::Format format);
/// Of a scalar or of the elements of a lane vector; nothing for other types.
std::optional<Scalar> scalarOf(mlir::Type type);

enum class Op : uint8_t {
  // Leaves of terms.
  Constant,
  Element,
  Hole,
  Set,
  Whole, ///< a primitive of the contract, applied
  // Floats.
  Add,
  Sub,
  Mul,
  Div,
  Maximum,
  Minimum,
  Neg,
  Fma,
  Sqrt,
  Narrow, ///< one rounding, NaN canonical
  Extend,
  CmpF,
  FromInt,
  // Any type.
  Select,
  Bitcast,
  // Integers.
  AddI,
  SubI,
  MulI,
  DivU,
  RemU,
  And,
  Or,
  Xor,
  Shl,
  ShrU,
  ShrS,
  CmpI,
  ExtendU,
  ExtendS,
  Truncate
};

llvm::StringRef nameOf(Op op);
/// Operands may be swapped; of Fma the first two.
bool isCommutative(Op op);

/// One scalar operation.
struct Action {
  Op op;
  Scalar type;           ///< of the result
  Scalar from;           ///< of the first operand, of a select the result
  int64_t attribute = 0; ///< the predicate of a comparison
};

/// What an arith, pact or kernel operation does in each lane; nothing for
/// operations that are not scalar arithmetic.
std::optional<Action> actionOf(mlir::Operation *op);

/// The result's bits; nothing where LLVM leaves the result unspecified (a shift
/// by the width or more, a division by zero).
std::optional<uint64_t> evaluate(const Action &action,
                                 const uint64_t *operands);

} // namespace bitpact::interpreter

#endif
