// Digest.cpp - what of a contract its digest covers
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "contracts/algebra/Digest.h"

#include "contracts/algebra/CanonicalJson.h"
#include "contracts/algebra/MergeOrder.h"
#include "contracts/algebra/Partition.h"
#include "contracts/algebra/RuleError.h"

#include <set>
#include <vector>

namespace bitpact::algebra {
namespace {

using nlohmann::json;

/// Removes every "doc", which says nothing to the arithmetic.
void dropDocs(json &value) {
  if (value.is_object())
    value.erase("doc");
  if (value.is_structured())
    for (json &inner : value)
      dropDocs(inner);
}

json nodeForm(const json &node, const std::string &where) {
  json form = node;
  dropDocs(form);
  try {
    Partition partition =
        Partition::parse(node.at("partition").get<std::string>());
    MergeOrder order =
        MergeOrder::parse(node.at("merge").get<std::vector<std::string>>());
    form["merge"] = order.renamed(partition).texts();
    form["partition"] = partition.renamed().text();
  } catch (const RuleError &error) {
    throw error.at(where);
  }
  return form;
}

} // namespace

json digestForm(const json &contract) try {
  json form = contract;
  for (const char *key : {"name", "doc", "definitions"})
    form.erase(key);
  dropDocs(form.at("op"));

  // A dim that is read at an index decides what is in range.
  std::set<std::string> reduced;
  for (const json &op : contract.at("op").at("body"))
    if (op.at("op") == "take")
      reduced.insert(op.at("over").get<std::string>());
  for (const auto &[name, node] : contract.at("nodes").items()) {
    const json &domain = node.at("domain");
    reduced.insert(domain.is_object() ? domain.items().begin().key()
                                      : domain.get<std::string>());
    form.at("nodes").at(name) = nodeForm(node, "nodes." + name);
  }
  for (const auto &[dim, extent] : contract.at("dims").items())
    if (!reduced.count(dim))
      form.at("dims").erase(dim);
  for (const auto &[site, primitive] : contract.at("primitives").items()) {
    json definition =
        contract.at("definitions").at(primitive.get<std::string>());
    dropDocs(definition);
    form.at("primitives").at(site) = sha256Hex(canonicalText(definition));
  }
  return form;
} catch (const json::exception &error) {
  throw RuleError("C4", std::string("no canonical contract: ") + error.what());
}

std::string digest(const json &contract) {
  return sha256Hex(canonicalText(digestForm(contract)));
}

} // namespace bitpact::algebra
