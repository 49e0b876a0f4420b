// NodeDelta.h - how two contracts reduce at one node
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef BITPACT_DIFF_NODEDELTA_H
#define BITPACT_DIFF_NODEDELTA_H

#include "contracts/diff/Delta.h"

namespace bitpact::diff {

/// D, Π, T and P of the node `name`, which both have.
void compareNodes(const nlohmann::json &a, const nlohmann::json &b,
                  const std::string &name, Delta &delta);

} // namespace bitpact::diff

#endif // BITPACT_DIFF_NODEDELTA_H
