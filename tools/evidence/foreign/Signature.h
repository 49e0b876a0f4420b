// Signature.h - what a C symbol takes, as the user declares it
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef BITPACT_EVIDENCE_FOREIGN_SIGNATURE_H
#define BITPACT_EVIDENCE_FOREIGN_SIGNATURE_H

#include "contracts/algebra/Format.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bitpact::evidence::foreign {

/// The reductions that a symbol may compute; the word in the signature.
enum class Operation { Sum, Dot, Gemv, Gemm };
const char *nameOf(Operation operation);

enum class CType { Void, Char, I32, I64, BF16, F16, F32, F64 };
/// Bytes of a value; 0 for Void.
int64_t bytesOf(CType type);
std::optional<algebra::Format> formatOf(CType type);

/// One declared parameter: `i64 n`, `f32* x`, `i32 incx = 1`.
struct Parameter {
  CType type = CType::I64;
  bool pointer = false;
  std::string name;
  /// After `=`; for parameters that have no value by their name.
  std::optional<std::string> value;
};

/// `f32 dot(i32 n, f32* x, i32 incx, f32* y, i32 incy)`. The word before the
/// parenthesis is the operation, and the names of the parameters say what they
/// are, so that a signature is at once type, meaning and calling convention.
struct Signature {
  std::string text;
  Operation operation = Operation::Sum;
  CType result = CType::Void;
  std::vector<Parameter> parameters;
  /// Matrices without an `order` parameter are row-major unless it says so.
  bool columnMajor = false;

  const Parameter *find(std::string_view name) const;
};

/// Throws UserError for a text that is no signature, naming what is allowed.
Signature parseSignature(std::string_view text);

/// Signatures that need not be written: those of CBLAS and of Fortran's BLAS
/// with 32-bit integers, by the name of the symbol.
const std::map<std::string, std::string> &presetSignatures();

/// The signature that the user gives: a typed text, the name of a preset, or
/// nothing for a symbol that is itself one.
Signature signatureFor(const std::string &symbol, const std::string &given);

/// A dense operand, seen through the conventions: element (i, j) lies at
/// i * strides[0] + j * strides[1] elements.
struct Operand {
  std::string name;
  CType type = CType::F32;
  std::vector<std::string> dims;
  std::vector<int64_t> shape, strides;
  bool output = false;

  int64_t storedElements() const;
};

/// One argument of one call: a value's bytes, or the address of a buffer.
struct Argument {
  enum class Kind {
    Value,     ///< passed as it is
    Reference, ///< passed by address, as Fortran does
    Buffer     ///< the address of operand `operand`
  };
  Kind kind = Kind::Value;
  CType type = CType::I64;
  /// The value's bytes, little-endian, in the low ones.
  uint64_t bits = 0;
  size_t operand = 0;
};

/// A call of certain extents.
struct Call {
  std::vector<Operand> operands; ///< inputs in the operation's order, output
  std::vector<Argument> arguments;
  /// If not Void, what the function returns is the output, and the last operand
  /// has no buffer among the arguments.
  CType result = CType::Void;
};

/// The dims of an operation, the reduced one last: `n`; `m n`; `m n k`.
const std::vector<std::string> &dimsOf(Operation operation);

/// Throws UserError for parameters that the operation cannot fill in and
/// extents that their types cannot hold.
Call makeCall(const Signature &signature,
              const std::map<std::string, int64_t> &dims);

} // namespace bitpact::evidence::foreign

#endif // BITPACT_EVIDENCE_FOREIGN_SIGNATURE_H
