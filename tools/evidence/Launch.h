// Launch.h - one launch of a package's kernel on tensors in memory
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef BITPACT_EVIDENCE_LAUNCH_H
#define BITPACT_EVIDENCE_LAUNCH_H

#include "contracts/reference/Tensor.h"
#include "tools/evidence/Runtime.h"
#include "tools/evidence/Shape.h"

namespace bitpact::evidence {

struct LaunchRequest {
  const Package *package = nullptr;
  const ContractSpec *contract = nullptr;
  std::string role, device;
  /// May be empty: the one that the runtime chooses.
  std::string variant;
  std::map<std::string, reference::Tensor> inputs;
};

struct LaunchResult {
  const VariantSpec *variant = nullptr;
  Dims dims;
  std::map<std::string, reference::Tensor> outputs;
};

/// The one contract that operator (may be empty) and selector (a digest prefix
/// or name, may be empty) leave. Throws UserError that lists the candidates.
const ContractSpec &chooseContract(const Package &package,
                                   const std::string &op,
                                   const std::string &selector);

/// The extents of all dims. Throws UserError naming the input, its axis and
/// what the contract has there.
Dims bindDims(const ContractSpec &contract,
              const std::map<std::string, reference::Tensor> &inputs);

LaunchResult launch(const LaunchRequest &request);

} // namespace bitpact::evidence

#endif // BITPACT_EVIDENCE_LAUNCH_H
