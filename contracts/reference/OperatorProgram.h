// OperatorProgram.h - an operator bound to a contract, as a list of operations
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef BITPACT_REFERENCE_OPERATORPROGRAM_H
#define BITPACT_REFERENCE_OPERATORPROGRAM_H

#include "contracts/algebra/TreeBuilder.h"
#include "contracts/reference/Primitive.h"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace bitpact::reference {

/// A tensor of the operator, or an i32 input with the offsets of a partition.
struct TensorFacts {
  std::string name;
  bool isInput;
  Format format;
  std::vector<int> dims; ///< indices into OperatorProgram::dims
  bool isIndex = false;  ///< an input of positions
};

/// A dimension is reduced by some node, or it tells rows apart: rows are
/// evaluated one by one, and a value of a row is an array over its reduced
/// dims.
struct DimFacts {
  std::string name;
  std::optional<int64_t> extent; ///< nothing: told by the inputs
  bool isReduced = false;        ///< or read at an index
  bool isRow = false;
  std::optional<int64_t> existing{}; ///< of a padded dim: what exists of it
};

struct ValueFacts {
  Format format;
  std::vector<int> dims; ///< ascending
};

struct NodeFacts {
  std::string name;
  algebra::Reduction reduction;
  int over;                        ///< the dim
  int primitive = -1;              ///< the step
  std::optional<int> offsets{};    ///< the tensor
  std::optional<int64_t> extent{}; ///< nothing: all of the dim
  /// Of an exp_sum; the last two only where the contract binds them.
  int weight = -1, rescale = -1, combine = -1;
};

enum class OperationKind : uint8_t {
  Load,     ///< tensor `index`
  Constant, ///< `constant`
  Extent,   ///< the extent of dim `index`
  Add,
  Sub,
  Mul,
  Div,
  Max,
  Neg,
  Abs,
  Fma,    ///< ±a * b ± c
  Apply,  ///< primitive `index`
  Reduce, ///< node `index`
  Round,  ///< the operand, rounded
  Take    ///< an element over dim `over`, where `positions` say: the operand's,
          ///< or without an operand that of tensor `index`
};

/// Positions that a take reads at: the entries of an index, or for every
/// position of `over` the number of the block between offsets in which it lies.
struct Positions {
  int tensor = -1;
  std::vector<int> dims{}; ///< of the positions, in the order they are laid out
  int over = -1;           ///< -1: the tensor is an index
};

struct Operation {
  OperationKind kind;
  int result;
  std::vector<int> args{};
  Format format = Format::F32;      ///< arithmetic is in this format
  std::optional<Format> rounding{}; ///< of the site, after the operation
  int index = 0;
  int over = 0;
  Positions positions{}; ///< of Take
  double constant = 0;
  bool negateProduct = false, negateAddend = false; ///< of Fma
};

/// A value that leaves the program under a name.
struct NamedValue {
  std::string name;
  int value;
  bool isOutput;
  std::vector<int> dims; ///< the order in which it is stored
};

struct OperatorProgram {
  std::vector<DimFacts> dims;
  std::vector<TensorFacts> tensors;
  std::vector<Primitive> primitives;
  std::vector<NodeFacts> nodes;
  std::vector<ValueFacts> values;
  std::vector<Operation> operations;
  std::vector<NamedValue> named;
};

/// Compiles canonical JSON. Throws RuleError for anything malformed.
OperatorProgram compileOperator(const nlohmann::json &contract);

} // namespace bitpact::reference

#endif // BITPACT_REFERENCE_OPERATORPROGRAM_H
