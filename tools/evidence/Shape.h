// Shape.h - which dims of a contract are rows, and what extents tests give
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef BITPACT_EVIDENCE_SHAPE_H
#define BITPACT_EVIDENCE_SHAPE_H

#include "tools/evidence/Runtime.h"

#include <set>

namespace bitpact::evidence {

using Dims = std::map<std::string, int64_t>;

std::vector<int64_t> shapeOf(const TensorSpec &tensor, const Dims &dims);
int64_t elementsOf(const std::vector<int64_t> &shape);

/// Dims over which some node reduces.
std::set<std::string> reducedDims(const ContractSpec &contract);

/// The row dim is the first open dim over which no node reduces.
class RowShape {
public:
  RowShape() = default;
  explicit RowShape(const ContractSpec &contract);

  bool hasRows(const TensorSpec &tensor) const;
  bool isRow(const std::string &dim) const { return dim == rowDim; }
  /// Then a row is a slice of every tensor that has rows.
  bool rowsAreOutermost() const { return outermost; }
  /// Then fewer rows are a prefix of more rows, in every tensor.
  bool rowsArePrefix() const { return outermost && rowBounds.empty(); }
  /// Offsets between which rows lie: other rows, other offsets.
  bool cutsRows(const TensorSpec &tensor) const {
    return rowBounds.count(tensor.name) > 0;
  }
  /// `wanted`, or {1} for a contract without a row dim.
  std::vector<int64_t> rowCounts(const std::vector<int64_t> &wanted) const;
  int64_t rowsOf(const Dims &dims) const;
  Dims withRows(Dims dims, int64_t rows) const;
  /// Extents that an open dim gets which some node reduces.
  static std::vector<int64_t> defaultExtents();
  /// The other factor of a product of matrices: it has no rows, but columns of
  /// the output beside what is reduced.
  bool isColumns(const TensorSpec &tensor) const;
  bool isReduced(const std::string &dim) const {
    auto found = open.find(dim);
    return found != open.end() && found->second;
  }
  /// Throws UserError unless each of these dims is open in one of the contracts
  /// and is not their row dim.
  static void
  requireOpen(const std::vector<const ContractSpec *> &contracts,
              const std::map<std::string, std::vector<int64_t>> &given);
  /// Every combination of extents of the other open dims, with the fixed ones.
  std::vector<Dims>
  openExtents(const std::map<std::string, std::vector<int64_t>> &given) const;

private:
  std::string rowDim;
  bool outermost = false;
  Dims fixed;
  /// The other open dims, and whether a node reduces over them.
  std::map<std::string, bool> open;
  std::set<std::string> reduced;
  /// Tensors of offsets between which rows lie, and their dims.
  std::set<std::string> rowBounds, boundDims;
  /// Open dims that a factor without rows has beside a reduced one.
  std::set<std::string> columns;
};

/// Contracts whose digest starts with `selector`, or whose name or operator
/// (`rms_norm`, `rms_norm@1`) it is; all for an empty one. Throws UserError
/// that lists what there is.
std::vector<const ContractSpec *> chooseContracts(const Package &package,
                                                  const std::string &selector);

} // namespace bitpact::evidence

#endif // BITPACT_EVIDENCE_SHAPE_H
