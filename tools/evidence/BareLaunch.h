// BareLaunch.h - the same function, started by the driver and nothing between
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef BITPACT_EVIDENCE_BARELAUNCH_H
#define BITPACT_EVIDENCE_BARELAUNCH_H

#include "tools/evidence/Shape.h"

#include <memory>

namespace bitpact::evidence {

/// The entries of a variant, one after the other, with their arguments in place:
/// cuLaunchKernel on a CUDA device, a call of each on a cpu.
class BareLaunch {
public:
  virtual ~BareLaunch() = default;
  /// Nothing is checked; false if the driver refused.
  virtual bool operator()() = 0;

  /// Null, and why, where there is no such way.
  static std::unique_ptr<BareLaunch>
  make(const Package &package, const VariantSpec &variant, const Device &device,
       const ContractSpec &contract, const Dims &dims,
       const std::vector<View> &tensors, uint64_t workspaceBytes,
       std::string &why);
};

} // namespace bitpact::evidence

#endif // BITPACT_EVIDENCE_BARELAUNCH_H
