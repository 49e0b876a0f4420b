// Fragment.cpp - a revealed tree as part of a contract, beside the declared one
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/evidence/reveal/Fragment.h"

#include "contracts/algebra/RuleError.h"
#include "contracts/diff/Delta.h"
#include "tools/evidence/reveal/Declared.h"

#include <fmt/format.h>

using nlohmann::json;

namespace bitpact::reveal {
namespace {

/// The step that the report has in place of the declared one, if it has.
std::optional<algebra::Atom> otherAtom(const json &contract,
                                       const std::string &node,
                                       const Report &report) {
  auto of = [](const algebra::Reduction &reduction) {
    return reduction.order.entries()[0].atom;
  };
  if (!report.recognised.reduction)
    return std::nullopt;
  std::optional<algebra::Atom> revealed = of(*report.recognised.reduction),
                               declared = of(reductionOf(contract, node));
  // Steps of fewer terms than an atom takes do not tell how many it takes.
  bool same = revealed && declared && revealed->family == declared->family &&
              revealed->fraction == declared->fraction &&
              revealed->terms <= declared->terms;
  return same ? std::nullopt : revealed;
}

} // namespace

json definitionOf(const algebra::Atom &atom, algebra::Format element) {
  std::string type(algebra::name(element));
  return {{"kind", "atom"},
          {"reduction", "dot"},
          {"product", "exact"},
          {"atom", atom.family},
          {"L", atom.terms},
          {"F", atom.fraction},
          {"args", {type, type, "f32"}},
          {"result", "f32"}};
}

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
  json fragment{{"nodes", {{node, one}}}};
  if (std::optional<algebra::Atom> atom = otherAtom(contract, node, report))
    fragment["primitives"] = {{node + ".step", atom->text()}};
  return fragment;
}

Comparison compareDeclared(const json &contract, const std::string &node,
                           const Report &report,
                           const std::vector<int64_t> &offsets) {
  RevealedTree declared =
      declaredTree(reductionOf(contract, node),
                   {report.signature.n, {}, offsets}, report.sample);
  Comparison comparison;
  std::optional<std::string> difference = report.tree.difference(declared);
  const std::optional<algebra::Atom> declaredAtom =
      reductionOf(contract, node).order.entries()[0].atom;
  if (difference)
    comparison.difference = "the contract does not add " + *difference;
  else if (declaredAtom && report.fraction >= 0 &&
           report.fraction != declaredAtom->fraction)
    comparison.difference =
        fmt::format("the tree is the same, but a step keeps {} bits below its "
                    "largest term, and {} keeps {}",
                    report.fraction, declaredAtom->text(),
                    declaredAtom->fraction);
  comparison.equal = comparison.difference.empty();
  if (comparison.equal)
    return comparison;
  if (!report.recognised.reduction)
    return comparison;
  json revealed = contract;
  revealed["nodes"][node].erase("offsets");
  revealed.merge_patch(fragmentOf(contract, node, report));
  if (std::optional<algebra::Atom> atom = otherAtom(contract, node, report))
    revealed["definitions"][atom->text()] =
        definitionOf(*atom, report.signature.element);
  try {
    comparison.delta = diff::toJson(diff::compare(contract, revealed));
  } catch (const algebra::RuleError &) {
    // What was revealed fits no contract of this operator.
  }
  return comparison;
}

} // namespace bitpact::reveal
