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

/// The sum that makes one element of a foreign function's output. Where a query
/// says nothing, the inputs are 1.
class FunctionBox : public BlackBox {
public:
  using Coordinate = std::map<std::string, int64_t>;

  /// `at` says which element: dim → position, 0 where it says nothing. Throws
  /// UserError for a position outside, and for a function that, called twice
  /// with random numbers, gives different bytes.
  FunctionBox(std::unique_ptr<evidence::foreign::Function> function,
              const Coordinate &at = {});

  const Signature &signature() const override { return about; }
  std::vector<double> run(const std::vector<Query> &queries) override;

  const evidence::foreign::Function &function() const { return *code; }

  /// The results at `at` for rows of the element's format, one row (for a dot,
  /// the factors in a second one) a run; the rest of the inputs is 1.
  std::vector<reference::Tensor>
  outputs(const std::vector<std::vector<std::vector<double>>> &rows);
  /// The bits of the element at `at`, or of the one in the reduced dim.
  uint64_t bitsOf(const reference::Tensor &output, int64_t reader = 0) const;

private:
  /// Where the reduced row lies in an input, in elements.
  struct Row {
    int64_t offset = 0, stride = 1;
  };

  std::unique_ptr<evidence::foreign::Function> code;
  Signature about;
  std::string reduced;
  std::vector<Row> rows;
  Row result;
  /// Inputs of ones.
  std::vector<reference::Tensor> ones;

  void place(const Coordinate &at);
  Row rowOf(const evidence::foreign::TensorType &tensor,
            const Coordinate &at) const;
  void describe();
  int64_t runBytes() const;
};

} // namespace bitpact::reveal

#endif // BITPACT_EVIDENCE_REVEAL_FUNCTIONBOX_H
