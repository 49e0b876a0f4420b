// Declared.h - the tree that a contract declares for a node
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef BITPACT_EVIDENCE_REVEAL_DECLARED_H
#define BITPACT_EVIDENCE_REVEAL_DECLARED_H

#include "contracts/algebra/TreeBuilder.h"
#include "tools/evidence/reveal/RevealedTree.h"

#include <nlohmann/json.hpp>

namespace bitpact::reveal {

/// Of a contract in canonical JSON. Throws algebra::RuleError.
algebra::Reduction reductionOf(const nlohmann::json &contract,
                               const std::string &node);

/// Of all leaves, or of those that `sample` names.
RevealedTree declaredTree(const algebra::Reduction &reduction,
                          const algebra::Elements &elements,
                          const std::vector<int64_t> &sample);

} // namespace bitpact::reveal

#endif // BITPACT_EVIDENCE_REVEAL_DECLARED_H
