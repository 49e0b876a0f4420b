// Explanation.cpp - in words, in which other order a library has added
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/evidence/attest/Explanation.h"

#include "tools/evidence/UserError.h"
#include "tools/evidence/reveal/Declared.h"
#include "tools/evidence/reveal/Fragment.h"
#include "tools/evidence/reveal/PackageBox.h"
#include "tools/evidence/reveal/Questions.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <set>

using nlohmann::json;

namespace bitpact::evidence::attest {
namespace {

/// More cuts than these are lanes, and not parts.
constexpr size_t mostCuts = 16;

/// First position and number of every run of positions that some vertex adds.
std::set<std::pair<int64_t, int64_t>> runsOf(const reveal::RevealedTree &tree) {
  std::set<std::pair<int64_t, int64_t>> runs;
  std::vector<int64_t> last;
  for (reveal::VertexId id = 0; id <= tree.root(); ++id) {
    const reveal::Vertex &vertex = tree.at(id);
    last.push_back(vertex.position);
    for (reveal::VertexId child : vertex.children)
      last[size_t(id)] = std::max(last[size_t(id)], last[size_t(child)]);
    if (!vertex.isLeaf() &&
        last[size_t(id)] - vertex.least + 1 == vertex.leaves)
      runs.emplace(vertex.least, vertex.leaves);
  }
  return runs;
}

/// Where runs begin that are sums of their own only in the first tree.
std::vector<int64_t> cutsOf(const reveal::RevealedTree &tree,
                            const reveal::RevealedTree &declared) {
  std::set<std::pair<int64_t, int64_t>> own = runsOf(declared);
  std::set<int64_t> cuts;
  for (const auto &[least, leaves] : runsOf(tree))
    if (least > 0 && !own.count({least, leaves}))
      cuts.insert(least);
  return {cuts.begin(), cuts.end()};
}

std::string orderText(const json &node) {
  return fmt::format(
      "{} ({})", node.at("partition").get<std::string>(),
      fmt::join(node.at("merge").get<std::vector<std::string>>(), ", "));
}

std::string differenceText(const json &contract, const std::string &node,
                           const std::string &domain,
                           const reveal::Report &report,
                           const reveal::Comparison &comparison) {
  const json &declared = contract.at("nodes").at(node);
  std::string text = fmt::format("the contract adds {}", orderText(declared));
  std::vector<int64_t> cuts;
  if (report.sample.empty())
    cuts = cutsOf(report.tree,
                  reveal::declaredTree(reveal::reductionOf(contract, node),
                                       {report.signature.n, {}, {}}, {}));
  if (!cuts.empty() && cuts.size() <= mostCuts)
    text += fmt::format("; the library cuts '{}' into {} parts, at {}={}",
                        domain, cuts.size() + 1, domain,
                        fmt::join(cuts, fmt::format(", {}=", domain)));
  if (report.recognised.reduction) {
    json found = contract;
    found.merge_patch(reveal::fragmentOf(contract, node, report));
    text += fmt::format("; the library adds {}",
                        orderText(found.at("nodes").at(node)));
  } else if (cuts.empty()) {
    text += "; " + comparison.difference;
  }
  return text;
}

} // namespace

Explanation explain(const Package &package, const ContractSpec &contract,
                    const Device &device, const VariantSpec &variant,
                    const Dims &dims, const Progress &progress) {
  json text = json::parse(contract.text);
  std::vector<std::string> nodes = reveal::nodesOf(text);
  if (nodes.size() != 1)
    return {false, fmt::format("it has {} nodes, so no tree was revealed",
                               nodes.size())};
  reveal::Options options;
  options.progress = progress;
  try {
    reveal::PackageBox box(package, contract, nodes.front(), device, variant,
                           dims);
    reveal::Report report = reveal::reveal(box, options);
    if (!report.determined())
      return {false, "its tree is not determined: " + report.reason};
    reveal::Comparison comparison =
        reveal::compareDeclared(text, nodes.front(), report, box.offsets());
    if (comparison.equal)
      return {true, "its tree is the contract's"};
    return {false, differenceText(text, nodes.front(), box.use().dim, report,
                                  comparison)};
  } catch (const reveal::Undetermined &why) {
    return {false, fmt::format("its tree is not determined: {}", why.what())};
  }
}

} // namespace bitpact::evidence::attest
