// Kernels.h - every kernel of a primitive's contract, on blocks of inputs
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef BITPACT_TESTS_PRIMITIVES_KERNELS_H
#define BITPACT_TESTS_PRIMITIVES_KERNELS_H

#include "tools/evidence/Runtime.h"

#include <span>

namespace bitpact::primitives {

/// The variants of one contract of `apply.mlir` or `apply2.mlir` on a device.
class Kernels {
public:
  Kernels(const evidence::Package &package,
          const evidence::ContractSpec &contract,
          const evidence::Device &device, size_t mostInputs);

  const std::vector<std::string> &ids() const { return names; }

  /// Puts the arguments of the next launches on the device.
  void place(std::span<const uint32_t> inputs, float second);
  /// Results of the kernel of that number.
  void launch(size_t kernel, std::span<uint32_t> results);

private:
  const evidence::ContractSpec &contract;
  const evidence::Device &device;
  std::vector<std::string> names;
  std::vector<evidence::Kernel> kernels;
  evidence::Buffer first, second, result;
  std::vector<float> seconds;
};

} // namespace bitpact::primitives

#endif // BITPACT_TESTS_PRIMITIVES_KERNELS_H
