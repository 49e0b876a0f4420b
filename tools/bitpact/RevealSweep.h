// RevealSweep.h - bitpact reveal --sweep: intervals of equal tree
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef BITPACT_TOOL_REVEALSWEEP_H
#define BITPACT_TOOL_REVEALSWEEP_H

#include "tools/bitpact/Commands.h"
#include "tools/bitpact/ForeignOptions.h"
#include "tools/evidence/Shape.h"
#include "tools/evidence/reveal/Sweep.h"

namespace bitpact::tool {

/// As typed.
struct SweepOptions {
  std::string range;
  int64_t stride = 1;

  bool given() const { return !range.empty(); }
};

void addSweepOptions(CLI::App *command, SweepOptions &options);

/// A node of a package's kernels at every extent; the variant is the one that
/// the runtime chooses there, unless one is given.
struct PackageSweep {
  const evidence::Package &package;
  const evidence::ContractSpec &contract;
  const evidence::Device &device;
  const evidence::VariantSpec *variant = nullptr;
  std::string role, node;
  evidence::Dims dims;
};
int sweepPackage(const PackageSweep &what, const SweepOptions &options,
                 const Shared &shared);

int sweepForeign(const ForeignOptions &what,
                 const std::map<std::string, int64_t> &dims,
                 const SweepOptions &options, const Shared &shared);

} // namespace bitpact::tool

#endif // BITPACT_TOOL_REVEALSWEEP_H
