// OperatorDelta.h - do two contracts compute one function F
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef BITPACT_DIFF_OPERATORDELTA_H
#define BITPACT_DIFF_OPERATORDELTA_H

#include "contracts/diff/Delta.h"

namespace bitpact::diff {

/// Operators and the values of params. Fills `comparable` and `reason`; where F
/// is one, adds params that only differ in format.
void compareOperators(const nlohmann::json &a, const nlohmann::json &b,
                      Delta &delta);

} // namespace bitpact::diff

#endif // BITPACT_DIFF_OPERATORDELTA_H
