// Verify.h - what the checks of a manifest have in common
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef BITPACT_RUNTIME_PACKAGE_VERIFY_H
#define BITPACT_RUNTIME_PACKAGE_VERIFY_H

#include "runtime/package/Format.h"

#include <set>
#include <string>

namespace bitpact::package {

void once(std::set<std::string> &seen, const std::string &at,
          const std::string &item);
// Null where the contract has none of that name.
const ContractTensor *find(const ContractEntry &contract,
                           const std::string &name);

// The arguments of a variant against its contract.
void verifyArguments(const Variant &variant, const ContractEntry &contract,
                     const std::string &at);

} // namespace bitpact::package

#endif // BITPACT_RUNTIME_PACKAGE_VERIFY_H
