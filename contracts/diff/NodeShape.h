// NodeShape.h - the reduction of a node of canonical JSON, and its extents
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef BITPACT_DIFF_NODESHAPE_H
#define BITPACT_DIFF_NODESHAPE_H

#include "contracts/diff/Equivalence.h"

#include <nlohmann/json.hpp>

#include <string>

namespace bitpact::diff {

/// Throws algebra::RuleError for texts that break a rule.
Shape shapeOf(const nlohmann::json &contract, const std::string &node);

/// The shape without what belongs to P and A: the formats of merges, and which
/// atom a fused merge names.
Shape bare(Shape shape);
/// The shape with any atom in place of its own.
Shape withoutAtoms(Shape shape);

/// The extents that D of the node allows.
Extents extentsOf(const nlohmann::json &contract, const std::string &node);
/// Those that either allows.
Extents together(const Extents &a, const Extents &b);

/// Do the digits cover all of these extents?
bool covers(const Shape &shape, const Extents &extents);

} // namespace bitpact::diff

#endif // BITPACT_DIFF_NODESHAPE_H
