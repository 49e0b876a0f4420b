// Selection.h - which variant a launch would take, and why
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef BITPACT_TOOL_SELECTION_H
#define BITPACT_TOOL_SELECTION_H

#include "tools/evidence/Shape.h"

#include <optional>

namespace bitpact::tool {

/// What `bitpact inspect --select` asks: extents of open dims, and on what.
struct SelectOptions {
  std::vector<std::string> extents;
  std::string role, target;
  uint32_t units = 0;
  bool given() const { return !extents.empty(); }
};

/// A variant that a launch might take.
struct Contender {
  const evidence::VariantSpec *variant = nullptr;
  /// Empty where it takes the launch.
  std::string misfit;
  /// In picoseconds, where the variant says what it takes.
  std::optional<int64_t> cost;
};

struct Selection {
  const evidence::ContractSpec *contract = nullptr;
  std::string device, role;
  evidence::Dims dims;
  std::vector<Contender> contenders; // in order of trial
  /// Null where none takes the launch.
  const evidence::VariantSpec *taken = nullptr;
  std::string why() const;
};

/// The choices of the runtime itself, made for devices that need not be here:
/// for each target and role of the contract, or those asked for, and each
/// combination of extents. Tensors are dense and aligned to 256 bytes.
std::vector<Selection> selectVariants(const evidence::Package &package,
                                      const evidence::ContractSpec &contract,
                                      const SelectOptions &options);

/// What such a launch takes as its variant says; nothing where it says nothing.
std::optional<int64_t> costOf(const evidence::VariantSpec &variant,
                              const evidence::Dims &dims, uint32_t units);

void printSelections(const std::vector<Selection> &selections);
nlohmann::json toJson(const Selection &selection);

/// "measured on NVIDIA H200 (132 multiprocessors), 2026-11-30", of the costs of a
/// variant; empty where the package does not say.
std::string costsOrigin(const evidence::VariantSpec &variant);

/// 2586704 picoseconds as "2.59".
std::string microseconds(int64_t picoseconds);

} // namespace bitpact::tool

#endif // BITPACT_TOOL_SELECTION_H
