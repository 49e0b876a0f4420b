// Primitive.h - a primitive's definition, compiled for evaluation
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef BITPACT_REFERENCE_PRIMITIVE_H
#define BITPACT_REFERENCE_PRIMITIVE_H

#include "contracts/algebra/MergeOrder.h"
#include "contracts/reference/Arithmetic.h"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace bitpact::reference {

/// A value in a primitive: a float as the double that equals it, an integer in
/// the low bits, zero-extended.
union Register {
  double real;
  uint64_t integer;
};

enum class ScalarType : uint8_t { BF16, F16, F32, F64, I1, I16, I32, I64 };

enum class Opcode : uint8_t {
  Constant,
  Add,
  Sub,
  Mul,
  Div,
  Fma,
  Sqrt,
  Maximum,
  Minimum,
  Neg,
  Abs,
  Cmp,
  Select,
  Convert,
  Bitcast,
  IAdd,
  ISub,
  IAnd,
  IOr,
  IXor,
  IShl,
  IShr,
  UShr,
  ICmp
};

/// Orders of two numbers; U for unsigned integers.
enum class Predicate : uint8_t {
  Eq,
  Ne,
  Lt,
  Le,
  Gt,
  Ge,
  ULt,
  ULe,
  UGt,
  UGe,
  Never,
  Always
};

struct Instruction {
  Opcode opcode;
  Predicate predicate = Predicate::Eq;
  bool whenUnordered = false; ///< of Cmp, where an operand is NaN
  ScalarType type;            ///< of the result
  ScalarType operand;         ///< of the first operand
  int operands[3] = {0, 0, 0};
  Register constant{};
};

enum class PrimitiveKind : uint8_t { Function, Step, Atom };

/// Straight-line code over registers: arguments first, then one register an
/// instruction.
class Primitive {
public:
  /// Throws RuleError; `where` names the definition in messages.
  Primitive(const nlohmann::json &definition, const std::string &where);

  PrimitiveKind kind = PrimitiveKind::Function;
  std::optional<algebra::ReductionKind> reduction; ///< of steps and atoms
  std::string product;                             ///< of dot steps
  std::vector<Format> arguments;
  Format result = Format::F32;
  std::optional<algebra::Atom> atom;

  /// Registers that `run` needs.
  size_t registers() const { return arguments.size() + code.size(); }

  /// Runs on `file`, whose first registers hold the arguments.
  double run(Register *file) const;

  /// Runs on `count` lists of arguments. Register r of list n is
  /// file[r * count + n]; returns the results.
  const Register *runMany(Register *file, size_t count) const;

private:
  template <class Count> void execute(Register *file, Count count) const;
  void readBody(const nlohmann::json &definition, const std::string &where);
  void readAtom(const nlohmann::json &definition, const std::string &where);

  std::vector<Instruction> code;
  int yielded = 0;
};

} // namespace bitpact::reference

#endif // BITPACT_REFERENCE_PRIMITIVE_H
