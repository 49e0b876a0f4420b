// Fragment.cpp - a revealed tree as part of a contract, beside the declared one
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/evidence/reveal/Fragment.h"

#include "contracts/algebra/RuleError.h"
#include "contracts/diff/Delta.h"
#include "tools/evidence/reveal/Declared.h"

using nlohmann::json;

namespace bitpact::reveal {

json fragmentOf(const json &contract, const std::string &node,
                const Report &report) {
  const algebra::Reduction &reduction = *report.recognised.reduction;
  const json &declared = contract.at("nodes").at(node);
  json one{{"partition", reduction.partition.text()},
           {"merge", reduction.order.texts()},
           {"start", algebra::name(reduction.start)}};
  for (const char *same : {"domain", "precision", "state"})
    if (declared.contains(same))
      one[same] = declared.at(same);
  return {{"nodes", {{node, one}}}};
}

Comparison compareDeclared(const json &contract, const std::string &node,
                           const Report &report,
                           const std::vector<int64_t> &offsets) {
  RevealedTree declared =
      declaredTree(reductionOf(contract, node),
                   {report.signature.n, {}, offsets}, report.sample);
  Comparison comparison;
  std::optional<std::string> difference = report.tree.difference(declared);
  comparison.equal = !difference;
  if (comparison.equal)
    return comparison;
  comparison.difference = "the contract does not add " + *difference;
  if (!report.recognised.reduction)
    return comparison;
  json revealed = contract;
  revealed["nodes"][node].erase("offsets");
  revealed.merge_patch(fragmentOf(contract, node, report));
  try {
    comparison.delta = diff::toJson(diff::compare(contract, revealed));
  } catch (const algebra::RuleError &) {
    // What was revealed fits no contract of this operator.
  }
  return comparison;
}

} // namespace bitpact::reveal
