// Fixture.h - packages of the field contracts, and launches of every variant
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef BITPACT_TESTS_FIELD_FIXTURE_H
#define BITPACT_TESTS_FIELD_FIXTURE_H

#include "contracts/reference/Evaluator.h"
#include "tests/unit/evidence/Temporary.h"
#include "tools/evidence/Layout.h"
#include "tools/evidence/Shape.h"

namespace bitpact::field {

using evidence::ContractSpec;
using evidence::Placed;
using evidence::TensorSpec;
using evidence::VariantSpec;
using reference::Tensor;
using Tensors = std::map<std::string, Tensor>;

/// Contracts of tests/field/contracts, compiled by the tool for the CPU, for
/// training and for rollout.
class Compiled {
public:
  explicit Compiled(const std::vector<std::string> &contracts);

  const evidence::Package &package() const { return *opened; }
  const ContractSpec &contract(const std::string &name) const;
  /// Those that the CPU here runs; at least two, which differ in schedule.
  std::vector<const VariantSpec *> variants(const ContractSpec &) const;

private:
  tests::Temporary directory;
  std::unique_ptr<evidence::Package> opened;
};

const evidence::Device &cpu();

/// The tensors of a launch in memory, inputs filled, outputs canaries.
class Arena {
public:
  static constexpr uint8_t canary = 0xA5;

  Arena(const ContractSpec &contract, const Tensors &inputs,
        const evidence::Layout &layout = evidence::allLayouts().front());

  /// Launches the rows from `first` on and returns all rows of the output.
  std::vector<uint8_t> launch(const Compiled &compiled,
                              const VariantSpec &variant, int64_t first,
                              int64_t count);
  /// After launch(): nothing around a tensor has been written.
  bool intact() const { return surroundIntact; }

private:
  const ContractSpec &contract;
  std::vector<Placed> placed;
  bool surroundIntact = true;
};

/// What the oracle says the contract's only output is.
Tensor expected(const ContractSpec &contract, const Tensors &inputs);

/// The contract's inputs, filled with normal values.
Tensors normalInputs(const ContractSpec &contract, int64_t rows, int64_t hidden,
                     uint64_t seed = 1);

/// An f32 tensor from bits.
Tensor floats(std::vector<int64_t> shape, const std::vector<uint32_t> &bits);
Tensor bf16s(std::vector<int64_t> shape, const std::vector<uint16_t> &bits);

} // namespace bitpact::field

#endif
