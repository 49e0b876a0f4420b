// Indices.h - generated inputs where a contract has indices or stored rows
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef BITPACT_EVIDENCE_INDICES_H
#define BITPACT_EVIDENCE_INDICES_H

#include "tools/evidence/Inputs.h"
#include "tools/evidence/Shape.h"

#include <span>

namespace bitpact::evidence {

class Indices {
public:
  explicit Indices(const ContractSpec &contract);

  /// Values and offsets as generateInput() makes them. Elements of a stored row that do not
  /// exist are NaN: nothing may depend on them. Indices name the first, the
  /// last and other elements; those of Special, from the third row on, also
  /// elements that are not there.
  reference::Tensor generate(Recipe recipe, uint64_t seed,
                             const TensorSpec &tensor, const Dims &dims,
                             bool shared) const;

  /// The offsets of a launch of one row alone: those that leave it in its
  /// block; bad ones as they are.
  std::vector<uint8_t> ofRow(const TensorSpec &offsets,
                             std::span<const uint8_t> bytes, const Dims &dims,
                             int64_t row) const;

  /// Does any of these indices name an element that is not there, or do these
  /// offsets not ascend from 0 to the extent, or a block of theirs hold
  /// something though there is nothing to take at its number? False for other
  /// tensors.
  bool anyBad(const TensorSpec &tensor, std::span<const uint8_t> bytes,
              const Dims &dims) const;

  /// How many positions of its outermost dim a launch with these inputs reads
  /// of a tensor: of what is taken at blocks between offsets, those of blocks
  /// that hold something.
  int64_t positionsRead(const TensorSpec &tensor,
                        const std::map<std::string, reference::Tensor> &inputs,
                        const Dims &dims) const;

private:
  int64_t extentOf(const std::string &dim, const Dims &dims) const;
  /// Elements that an index may name.
  int64_t namedBy(const std::string &index, const Dims &dims) const;

  bool ascend(const TensorSpec &tensor, const std::vector<int64_t> &offsets,
              const Dims &dims) const;

  const ContractSpec &contract;
  /// The dim into which an index points, or the blocks between offsets do.
  std::map<std::string, std::string> over;
  /// Extents of dims of which less exists than is stored.
  std::map<std::string, int64_t> existing;
};

} // namespace bitpact::evidence

#endif // BITPACT_EVIDENCE_INDICES_H
