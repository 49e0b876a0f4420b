// BodyCompiler.h - an operator's body on its way to a list of operations
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef BITPACT_CONTRACTS_REFERENCE_BODYCOMPILER_H
#define BITPACT_CONTRACTS_REFERENCE_BODYCOMPILER_H

#include "contracts/reference/ContractTables.h"

#include <set>

namespace bitpact::reference {

class BodyCompiler {
public:
  explicit BodyCompiler(const nlohmann::json &contract)
      : contract(contract), tables(contract, program) {}

  OperatorProgram compile();

private:
  /// What an id of the operator's body stands for.
  struct Meaning {
    enum Kind { Real, Constant, Extent, ExactProduct, Offsets, Index } kind;
    int value = 0;                      // of Real; the tensor of Offsets
    std::string text{};                 // of Constant
    int dim = 0;                        // of Extent
    std::vector<std::string> factors{}; // of ExactProduct
    Positions positions{};              // of Index
  };

  const nlohmann::json &contract;
  OperatorProgram program;
  ContractTables tables;
  std::map<std::string, Meaning> meanings;
  std::set<int> counted; // dims whose extent decides a value

  [[noreturn]] void fail(const char *rule, const std::string &message) const;
  const Meaning &meaning(const std::string &id) const;
  void define(const nlohmann::json &op, Meaning meaning);
  int addValue(Format format, std::vector<int> dims);
  std::vector<std::string> args(const nlohmann::json &op, size_t count) const;
  /// The widest format of the operands and f32 (rule E1).
  Format widest(const std::vector<std::string> &ids) const;
  /// The value of an id for a consumer that computes in `format`. Constants and
  /// extents have no format of their own: they are rounded to this one.
  int use(const std::string &id, Format format);
  /// Uses `id` where a primitive expects `format`; it must widen exactly.
  int useAs(const std::string &id, Format format, const std::string &site);
  double parseReal(const std::string &text, Format format) const;
  std::vector<int> dimsOf(const std::vector<int> &values) const;
  /// Adds an operation with its site's rounding and names its value.
  int emit(Operation op, Format format, std::vector<int> dims,
           const std::string &site);
  void nameValue(const std::string &name, int value, bool isOutput,
                 std::vector<int> dims);
  /// The load that a value is, or null.
  const Operation *loadOf(int value) const;

  /// Rule D5: where the extent of a dim decides a value, there is one.
  void findExisting(int dim);
  bool isOffsets(const std::string &tensor) const;
  /// Does an operation of this kind, or of any, take the value of `op`?
  bool isUsed(const nlohmann::json &op, const std::string &kind = "") const;
  /// Loads of which nothing is left but the elements that takes read.
  void dropUnusedLoads();
  void compileOp(const nlohmann::json &op);

  void compileArithmetic(const nlohmann::json &op, OperationKind kind);
  void compileApply(const nlohmann::json &op);
  void compileReduce(const nlohmann::json &op);
  /// Rule S1, and A3 for the maxima that a rescale takes.
  void checkState(const std::string &nodeName, const NodeFacts &facts,
                  const std::vector<int> &operands) const;
  void compileSegment(const nlohmann::json &op);
  void compileTake(const nlohmann::json &op);
  void compileOutput(const nlohmann::json &op);
};

} // namespace bitpact::reference

#endif // BITPACT_CONTRACTS_REFERENCE_BODYCOMPILER_H
