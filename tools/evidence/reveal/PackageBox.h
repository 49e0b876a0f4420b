// PackageBox.h - a node of a kernel in a package, as a black box
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef BITPACT_EVIDENCE_REVEAL_PACKAGEBOX_H
#define BITPACT_EVIDENCE_REVEAL_PACKAGEBOX_H

#include "tools/evidence/Runtime.h"
#include "tools/evidence/Shape.h"
#include "tools/evidence/reveal/BlackBox.h"
#include "tools/evidence/reveal/NodeUse.h"

namespace bitpact::reveal {

/// Each query is a row of one launch: an element per position of the node's
/// dim, with every other input at a value that changes nothing. Elements of the
/// dim that the node's domain excludes are NaN. Of a product of matrices, rows
/// are read in turn at half of the columns, whose factors are 1; a query with
/// other factors has one of the other columns for itself.
class PackageBox : public BlackBox {
public:
  /// `dims` gives extents of open dims, the node's own among them; where it
  /// gives the one of the rows, every launch has that many. Throws
  /// UserError, and Undetermined where inputs do not reach the terms.
  PackageBox(const evidence::Package &package,
             const evidence::ContractSpec &contract, const std::string &node,
             const evidence::Device &device,
             const evidence::VariantSpec &variant, const evidence::Dims &dims);

  const Signature &signature() const override { return signatureOf; }
  std::vector<double> run(const std::vector<Query> &queries) override;

  /// Positions at which the node's partition is cut, if it is.
  const std::vector<int64_t> &offsets() const { return offsetList; }
  const NodeUse &use() const { return nodeUse; }
  const evidence::Dims &dims() const { return extents; }

private:
  /// The input of terms (or of factors) for `rows` rows, as bytes, and what of
  /// each row is not at its background.
  struct Image {
    const evidence::TensorSpec *tensor = nullptr;
    std::vector<uint8_t> bytes;
    struct Row {
      double fill = 0;
      std::shared_ptr<const std::vector<int64_t>> filled;
      std::vector<int64_t> touched;
    };
    std::vector<Row> rows;
    int64_t begin = 0, rowStep = 0, positionStep = 0;
    /// Since it was last uploaded.
    bool changed = true;
  };
  void describe(const nlohmann::json &text);
  void prepare(int64_t rows);
  void put(Image &image, int64_t row, const Query &query, bool factors);
  bool needsFactors(const Query &query) const;
  /// The columns at which the queries from `begin` on are read, for as many of
  /// them as fit one launch.
  std::vector<int64_t> columnsFor(const std::vector<Query> &queries,
                                  int64_t begin) const;
  std::vector<evidence::View> layOut(const std::vector<Query> &queries,
                                     int64_t begin,
                                     const std::vector<int64_t> &columns);
  void store(Image &image, int64_t row, int64_t position, double value);
  double elementOf(double term) const;
  /// Of rows that take what belongs to their block: the one that has them all.
  int64_t block() const;

  const evidence::ContractSpec &contract;
  const evidence::Device &device;
  evidence::Kernel kernel;
  NodeUse nodeUse;
  Signature signatureOf;
  evidence::Dims extents;
  /// `columnDim` is of the second factor, if it has no rows.
  std::string rowDim, columnDim;
  bool ownRows = true;
  int64_t columnCount = 1;
  int64_t fixedRows = 0, mostRows = 0;
  std::vector<int64_t> offsetList;
  /// Of the launch that is laid out: its rows, and every tensor in order.
  int64_t rowCount = 0;
  std::vector<evidence::Buffer> buffers;
  Image first, second;
  std::vector<int64_t> usedColumns;
};

} // namespace bitpact::reveal

#endif // BITPACT_EVIDENCE_REVEAL_PACKAGEBOX_H
