// Function.h - code that others wrote, as a function of tensors
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef BITPACT_EVIDENCE_FOREIGN_FUNCTION_H
#define BITPACT_EVIDENCE_FOREIGN_FUNCTION_H

#include "contracts/reference/Tensor.h"

#include <string>
#include <vector>

namespace bitpact::evidence::foreign {

using reference::Tensor;

/// What is computed, of the inputs in their order.
enum class Formula {
  Sum,    ///< the sum of one input over a dim
  Max,    ///< its maximum
  Dot,    ///< the sum of products of two inputs over a dim that both have
  RmsNorm ///< x / sqrt(mean of squares of x + a little), times a weight if any
};
const char *nameOf(Formula formula);

/// Name, format, dims and their extents of an input or the output.
struct TensorType {
  std::string name;
  algebra::Format format = algebra::Format::F32;
  std::vector<std::string> dims;
  std::vector<int64_t> shape;

  int64_t elements() const;
  int64_t bytes() const;
  /// `f32[4,256]`
  std::string text() const;
};

/// For one choice of extents. Whatever the code does wrong is a UserError that
/// names the code, what it did and the shapes of the input.
class Function {
public:
  virtual ~Function() = default;

  virtual Formula formula() const = 0;
  virtual const std::vector<TensorType> &inputs() const = 0;
  virtual const TensorType &output() const = 0;
  /// The code as messages name it: `libfoo.so:sdot`.
  virtual const std::string &name() const = 0;

  /// One output a run; each run has one tensor an input, in their order.
  virtual std::vector<Tensor>
  call(const std::vector<std::vector<Tensor>> &runs) = 0;

  /// What was noticed so far and is no error, one sentence each.
  virtual std::vector<std::string> notes() const = 0;

  /// Calls twice with each run; throws UserError, naming the first element that
  /// differs, where the two outputs do.
  void requireDeterministic(const std::vector<std::vector<Tensor>> &runs);

protected:
  /// `x=f32[4,256] weight=f32[256]`, for messages.
  std::string shapes() const;
};

} // namespace bitpact::evidence::foreign

#endif // BITPACT_EVIDENCE_FOREIGN_FUNCTION_H
