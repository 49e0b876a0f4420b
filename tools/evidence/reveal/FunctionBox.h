// FunctionBox.h - foreign code as a black box: one element of its output
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef BITPACT_EVIDENCE_REVEAL_FUNCTIONBOX_H
#define BITPACT_EVIDENCE_REVEAL_FUNCTIONBOX_H

#include "tools/evidence/foreign/Function.h"
#include "tools/evidence/reveal/BlackBox.h"

#include <map>
#include <memory>

namespace bitpact::reveal {

/// The sum that makes one element of a foreign function's output, or, along a
/// dim at `everywhere`, each element: then queries are asked side by side, and
/// all elements are taken to have one tree. Where a query says nothing, the
/// inputs are 1.
class FunctionBox : public BlackBox {
public:
  using Coordinate = std::map<std::string, int64_t>;

  static constexpr int64_t everywhere = -1;

  /// `at` says which element: dim → position, 0 where it says nothing. Throws
  /// UserError for a position outside, and for a function that, called twice
  /// with random numbers, gives different bytes.
  FunctionBox(std::unique_ptr<evidence::foreign::Function> function,
              const Coordinate &at = {});

  const Signature &signature() const override { return about; }
  std::vector<double> run(const std::vector<Query> &queries) override;

  const evidence::foreign::Function &function() const { return *code; }

  /// Rows of the element's format: the terms, and for a dot their factors, 1
  /// where there are none.
  using Rows = std::vector<std::vector<double>>;
  /// The bits of the result at `at` for each; the rest of the inputs is 1.
  std::vector<uint64_t> bits(const std::vector<Rows> &given);
  /// Of how many questions, asked side by side, the factors are one row.
  int64_t sideBySide() const { return sharesFactors() ? across : 1; }

private:
  /// Where the reduced row lies in a tensor, in elements; `step` is between
  /// rows of questions that are asked side by side.
  struct Row {
    int64_t offset = 0, stride = 1, step = 0;
  };

  std::unique_ptr<evidence::foreign::Function> code;
  Signature about;
  std::string reduced;
  std::vector<Row> rows;
  Row result;
  /// The input that takes the terms.
  size_t carrier = 0;
  std::string star;
  int64_t across = 1;
  /// Inputs of ones.
  std::vector<reference::Tensor> ones;

  void place(const Coordinate &at);
  Row rowOf(const evidence::foreign::TensorType &tensor,
            const Coordinate &at) const;
  void describe();
  int64_t runBytes() const;
  bool sharesFactors() const {
    return about.factors && !star.empty() && rows[1 - carrier].step == 0;
  }
  void putRow(reference::Tensor &tensor, const Row &row, int64_t question,
              const std::vector<double> &values) const;
  uint64_t bitsAt(const reference::Tensor &output, int64_t question,
                  int64_t reader) const;
  /// Calls with as many of the rows at a time as fit, and tells each result's
  /// bits.
  std::vector<uint64_t> ask(const std::vector<Rows> &given,
                            const std::vector<int64_t> &readers);
};

} // namespace bitpact::reveal

#endif // BITPACT_EVIDENCE_REVEAL_FUNCTIONBOX_H
