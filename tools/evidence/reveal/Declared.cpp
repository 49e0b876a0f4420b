// Declared.cpp - the tree that a contract declares for a node
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/evidence/reveal/Declared.h"

using namespace bitpact::algebra;
using nlohmann::json;

namespace bitpact::reveal {

Reduction reductionOf(const json &contract, const std::string &nodeName) {
  const json &node = contract.at("nodes").at(nodeName);
  Reduction reduction;
  reduction.partition =
      Partition::parse(node.at("partition").get<std::string>());
  reduction.order =
      MergeOrder::parse(node.at("merge").get<std::vector<std::string>>());
  reduction.start = *parseStart(node.at("start").get<std::string>());
  reduction.accumulator =
      *parseFormat(node.at("precision").at("accumulator").get<std::string>());
  if (node.contains("state"))
    reduction.state = *parseState(node.at("state").get<std::string>());
  for (const json &op : contract.at("op").at("body"))
    if (op.value("node", "") == nodeName && op.at("op") == "reduce")
      reduction.kind = *parseReductionKind(op.at("kind").get<std::string>());
  return reduction;
}

RevealedTree declaredTree(const Reduction &reduction, const Elements &elements,
                          const std::vector<int64_t> &sample) {
  TreeStore store;
  Elements chosen = elements;
  if (!sample.empty()) {
    // A tree over positions is the same for the elements that are present; to
    // build all of a long one takes long.
    chosen.present.assign(elements.extent, false);
    for (int64_t position : sample)
      chosen.present[position] = true;
  }
  return RevealedTree::of(store, *buildTree(store, reduction, chosen));
}

} // namespace bitpact::reveal
