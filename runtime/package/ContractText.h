// ContractText.h - a manifest against the contracts that it speaks of
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef BITPACT_RUNTIME_PACKAGE_CONTRACTTEXT_H
#define BITPACT_RUNTIME_PACKAGE_CONTRACTTEXT_H

#include "runtime/package/Format.h"

namespace bitpact::package {

// What the manifest says of a contract, and the argument lists of its
// variants, against the canonical text: a manifest that was sealed anew must
// not hand a launch's tensors to other arguments. Throws FormatError.
void verifyContract(const Manifest &, const ContractEntry &,
                    const std::string &text);

// What a launch brings may name elements that are not there: an index, or
// offsets of blocks. Kernels of such contracts have a fault word.
bool canFault(const nlohmann::json &contract);

} // namespace bitpact::package

#endif // BITPACT_RUNTIME_PACKAGE_CONTRACTTEXT_H
