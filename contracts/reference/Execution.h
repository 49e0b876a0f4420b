// Execution.h - one run of a program on inputs, row by row
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef BITPACT_REFERENCE_EXECUTION_H
#define BITPACT_REFERENCE_EXECUTION_H

#include "contracts/reference/OperatorProgram.h"
#include "contracts/reference/ReductionPlan.h"
#include "contracts/reference/StatePlan.h"
#include "contracts/reference/Tensor.h"

#include <map>
#include <string>
#include <vector>

namespace bitpact::reference {

/// Everything that depends on the inputs' shapes is worked out when it is
/// made; rows are then evaluated in any order, by any number of threads.
class Execution {
public:
  /// Throws std::invalid_argument, naming the tensor, for inputs that do not
  /// fit, and RuleError where an extent breaks a rule of a partition.
  Execution(const OperatorProgram &program,
            const std::map<std::string, Tensor> &inputs, bool allNamed);

  void runRows(unsigned threads);
  /// These rows alone.
  void runRows(unsigned threads, const std::vector<int64_t> &rows);
  /// The number of the row with these coordinates, one a row dim. Throws
  /// std::out_of_range.
  int64_t rowAt(const std::vector<int64_t> &place) const;
  std::map<std::string, Tensor> takeResults();

private:
  /// Where, for each element of a value, an operand's element is.
  struct Index {
    enum Kind { Same, Scalar, Map } kind = Same;
    std::vector<int64_t> map;
    int64_t operator[](int64_t i) const {
      return kind == Same ? i : kind == Scalar ? 0 : map[i];
    }
  };
  /// What an operation needs besides the program's facts.
  struct Prepared {
    int64_t elements = 1;         ///< of the result, in one row
    std::vector<int> rowDims;     ///< those that the result depends on
    std::vector<Index> operands;  ///< for a reduction: at position 0
    std::vector<int64_t> strides; ///< of a reduction's or take's operands
    std::vector<int64_t> source;  ///< of a load: offsets in the tensor
    const Tensor *tensor = nullptr;
    std::vector<int64_t> positions; ///< of a take: all there are
    std::vector<int64_t> where;     ///< in them, the position of each element
    int plan = -1; ///< -1: of a reduction whose offsets cut no tree
    int64_t existing = 0; ///< of the dim of a reduction or a take
    double extent = 0;
  };
  /// A tensor that named values are written to.
  struct Sink {
    int value;
    std::vector<int> dims;
    std::vector<int64_t> target; ///< element offsets of the row's value
    Tensor *tensor;
  };
  struct Worker;

  void bindDims(const std::map<std::string, Tensor> &inputs);
  /// The elements of a tensor of integers.
  std::vector<int64_t> integersOf(int tensor) const;
  std::vector<int64_t> positionsOf(const Positions &positions) const;
  int64_t extent(int dim) const { return extents[dim]; }
  std::vector<int> columns(const std::vector<int> &dims) const;
  int64_t count(const std::vector<int> &dims) const;
  std::vector<int64_t> spread(const std::vector<int> &over,
                              const std::vector<int> &layout) const;
  int64_t rowBase(const std::vector<int> &layout,
                  const std::vector<int64_t> &row) const;
  Index indexOf(const std::vector<int> &result,
                const std::vector<int> &operand) const;
  void prepare();
  void prepareReduce(const Operation &operation, Prepared &prepared);
  void prepareTake(const Operation &operation, Prepared &prepared);
  int64_t strideOver(int dim, const std::vector<int> &layout) const;
  int64_t existing(int dim) const {
    return program.dims[dim].existing.value_or(extents[dim]);
  }
  void addSink(const NamedValue &named);

  template <class RowOf>
  void runRows(unsigned threads, int64_t rows, RowOf rowOf);
  void runRow(int64_t row, Worker &worker) const;
  void evaluate(size_t number, Worker &worker) const;
  void reduce(const Operation &operation, const Prepared &prepared,
              Worker &worker) const;
  void take(const Operation &operation, const Prepared &prepared,
            Worker &worker) const;
  void store(const Sink &sink, Worker &worker) const;

  const OperatorProgram &program;
  std::vector<const Tensor *> tensors; ///< by the program's tensor number
  std::vector<int64_t> extents;        ///< by dim
  std::vector<int> rowDims;
  std::vector<Prepared> prepared; ///< by operation
  std::vector<ReductionPlan> plans;
  std::vector<StatePlan> statePlans;
  std::vector<Sink> sinks;
  std::map<std::string, Tensor> results;
};

} // namespace bitpact::reference

#endif // BITPACT_REFERENCE_EXECUTION_H
