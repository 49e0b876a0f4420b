// ContractPair.h - two contracts of one operator, run on the same input
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef BITPACT_DIFF_CONTRACTPAIR_H
#define BITPACT_DIFF_CONTRACTPAIR_H

#include "contracts/diff/TensorComparison.h"
#include "contracts/reference/Evaluator.h"
#include "contracts/reference/OperatorProgram.h"

#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

namespace bitpact::diff {

/// One input that both contracts take, as it is before it is rounded to the
/// types of either: an extent for every dim, values for every input.
struct Candidate {
  std::vector<int64_t> extents;
  std::map<std::string, std::vector<double>> values;
};

struct PairInput {
  enum Kind : uint8_t { Float, Index, Offsets };
  std::string name;
  Kind kind = Float;
  Format a = Format::F32, b = Format::F32;
  Format carrier = Format::F32; ///< holds the values of both
  std::vector<int> dims;
  int64_t ownAxis = 0; ///< of offsets that no dim of the operator counts
  bool hasRows = false;
  int over = -1; ///< the dim that an index points into, or offsets cut
  int numbered = -1; ///< of offsets: the dim that is taken at their blocks
};

/// Where two results part: an output's element, or a node's or a site's.
struct Parting {
  std::string name;
  DifferingElement element;
};

/// A contract as the reference evaluator sees it, and another one of the same
/// operator. Where extents differ, the common input has the larger one and the
/// other contract gets what it has room for, from the front. Where types
/// differ, each contract gets the values rounded to its own. A dim that nothing
/// is reduced over has any extent here, whatever the contracts say: of the
/// columns of a product, few are enough.
class ContractPair {
public:
  /// Throws RuleError for JSON that is no contract, and std::invalid_argument
  /// for two that have different operators.
  ContractPair(const nlohmann::json &a, const nlohmann::json &b);

  const std::vector<PairInput> &inputs() const { return inputList; }
  const reference::OperatorProgram &programA() const { return first; }
  const reference::OperatorProgram &programB() const { return second; }

  /// The dim along which unrelated inputs may be laid; -1 if there is none.
  int rowDim() const { return rows; }
  bool rowsAreOpen() const { return openRows; }
  /// Open in both: the input tells the extent.
  bool isOpen(int dim) const;
  bool isReduced(int dim) const { return first.dims[dim].isReduced; }
  /// The larger of two fixed extents; 0 for an open dim.
  int64_t fixedExtent(int dim) const;

  std::vector<int64_t> shape(const PairInput &input,
                             const std::vector<int64_t> &extents) const;
  int64_t elements(const PairInput &input,
                   const std::vector<int64_t> &extents) const;

  reference::Evaluator::Tensors tensors(bool ofB, const Candidate &) const;
  reference::Evaluator::Tensors run(bool ofB, const Candidate &) const;
  /// With the values of nodes and sites.
  reference::Evaluator::Tensors runNamed(bool ofB, const Candidate &) const;

  /// The first output element that differs, in the order of the operator.
  std::optional<Parting> parting(const reference::Evaluator::Tensors &a,
                                 const reference::Evaluator::Tensors &b) const;
  std::optional<Parting> parting(const Candidate &) const;
  /// The first input, node, site or output that differs, as they are computed.
  std::optional<Parting> firstParting(const Candidate &) const;

  /// The input of one row alone, where rows are open; else all of it.
  Candidate rowOf(const Candidate &candidate, int64_t row) const;
  /// With the extents that both contracts fix; what is added has the value of
  /// all other elements of its input, or is 0.
  Candidate restored(const Candidate &candidate) const;
  /// The row of an output's element.
  int64_t rowOf(const Parting &parting) const;

private:
  struct Opened {
    nlohmann::json a, b;
    std::map<std::string, int64_t> extents;
  };
  static Opened open(const nlohmann::json &a, const nlohmann::json &b);
  explicit ContractPair(Opened opened);

  std::map<std::string, int64_t> declared;
  reference::OperatorProgram first, second;
  reference::Evaluator evaluatorA, evaluatorB;
  std::vector<PairInput> inputList;
  int rows = -1;
  bool openRows = false;
};

} // namespace bitpact::diff

#endif // BITPACT_DIFF_CONTRACTPAIR_H
