// NodeUse.h - how the terms of a node are reached from an operator's inputs
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef BITPACT_EVIDENCE_REVEAL_NODEUSE_H
#define BITPACT_EVIDENCE_REVEAL_NODEUSE_H

#include "contracts/algebra/Format.h"
#include "contracts/algebra/MergeOrder.h"

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace bitpact::reveal {

/// Read from the operator's list of operations, so that a new operator needs
/// nothing here: one input carries the terms, and every other one has a value
/// under which it changes nothing.
struct NodeUse {
  std::string node, dim;
  algebra::ReductionKind kind = algebra::ReductionKind::Sum;
  /// The input whose elements are the operand, and for a dot of two inputs the
  /// other factor.
  std::string input, second;
  /// The dim over which the second factor is taken, at the segment of the row.
  std::string taken;
  /// Both factors are one value.
  bool squares = false;
  /// An element times this is the operand.
  double scale = 1;
  /// Formats that an element passes on its way.
  std::vector<algebra::Format> through;
  /// The other inputs of floats.
  std::map<std::string, double> neutral;
  /// The output that is read, and whether it is the node's value, rounded.
  std::string output;
  bool direct = false;
};

/// Nodes of a contract (canonical JSON) whose order could matter, in the
/// operator's order.
std::vector<std::string> nodesOf(const nlohmann::json &contract);

/// Throws Undetermined, naming what is in the way, and evidence::UserError for
/// a node that there is not.
NodeUse useOf(const nlohmann::json &contract, const std::string &node);

} // namespace bitpact::reveal

#endif // BITPACT_EVIDENCE_REVEAL_NODEUSE_H
