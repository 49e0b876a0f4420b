// NodeShape.cpp - the reduction of a node of canonical JSON, and its extents
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "contracts/diff/NodeShape.h"

#include "contracts/algebra/RuleError.h"

#include <algorithm>

namespace bitpact::diff {
namespace {

using algebra::RuleError;
using nlohmann::json;

/// Is this step one addition (one maximum) of the element and the accumulator?
bool isPlain(const json &definition, const char *operation) {
  return definition.contains("body") && definition.at("body").size() == 1 &&
         definition.at("body")[0].at("op") == operation &&
         definition.at("body")[0].at("args").size() == 2 &&
         definition.at("args").size() == 2 &&
         definition.at("body")[0].at("args")[0] !=
             definition.at("body")[0].at("args")[1] &&
         definition.at("yield") == definition.at("body")[0].at("id");
}

template <class Value>
Value parsed(std::optional<Value> value, const char *rule, const json &text,
             const std::string &where) {
  if (!value)
    throw RuleError(rule, "unknown value " + text.dump(), where);
  return *value;
}

} // namespace

Shape shapeOf(const json &contract, const std::string &node) {
  const json &texts = contract.at("nodes").at(node);
  std::string where = "nodes." + node;
  Shape shape;
  algebra::Reduction &reduction = shape.reduction;
  auto textAt = [](const json &object, const char *key) {
    return object.at(key).get<std::string>();
  };
  for (const json &operation : contract.at("op").at("body"))
    if (operation.at("op") == "reduce" && operation.at("node") == node)
      reduction.kind =
          parsed(algebra::parseReductionKind(textAt(operation, "kind")), "C4",
                 operation.at("kind"), "op");
  reduction.start = parsed(algebra::parseStart(textAt(texts, "start")), "C4",
                           texts.at("start"), where + ".start");
  if (texts.contains("state"))
    reduction.state = parsed(algebra::parseState(textAt(texts, "state")), "S2",
                             texts.at("state"), where + ".state");
  const json &format = texts.at("precision").at("accumulator");
  reduction.accumulator =
      parsed(algebra::parseFormat(format.get<std::string>()), "P1", format,
             where + ".precision.accumulator");
  try {
    reduction.partition = algebra::Partition::parse(textAt(texts, "partition"));
    reduction.order = algebra::MergeOrder::parse(
        texts.at("merge").get<std::vector<std::string>>());
    reduction.validate();
  } catch (const RuleError &error) {
    throw error.at(where);
  }
  std::string site = node + ".step";
  if (contract.at("primitives").contains(site)) {
    const json &definition =
        contract.at("definitions")
            .at(contract.at("primitives").at(site).get<std::string>());
    shape.plainStep = isPlain(
        definition,
        reduction.kind == algebra::ReductionKind::Max ? "maximum" : "add");
  }
  return shape;
}

Shape withoutAtoms(Shape shape) {
  std::vector<algebra::MergeEntry> entries = shape.reduction.order.entries();
  for (algebra::MergeEntry &entry : entries)
    if (entry.atom)
      entry.atom = algebra::Atom{"dot.nv", 64, 25};
  shape.reduction.order = algebra::MergeOrder(std::move(entries));
  return shape;
}

Shape bare(Shape shape) {
  std::vector<algebra::MergeEntry> entries = shape.reduction.order.entries();
  for (algebra::MergeEntry &entry : entries) {
    entry.from.reset();
    entry.in.reset();
  }
  shape.reduction.order = algebra::MergeOrder(std::move(entries));
  return withoutAtoms(std::move(shape));
}

Extents extentsOf(const json &contract, const std::string &node) {
  const json &domain = contract.at("nodes").at(node).at("domain");
  Extents extents;
  const json *extent = &domain;
  if (domain.is_string()) {
    extent = &contract.at("dims").at(domain.get<std::string>());
  } else {
    const json &present = *domain.begin();
    if (present.is_object() && present.contains("extent"))
      extent = &present.at("extent");
    else
      extents.masked = true;
  }
  if (extent->is_number_integer())
    extents.fixed.push_back(extent->get<int64_t>());
  return extents;
}

Extents together(const Extents &a, const Extents &b) {
  Extents both;
  both.masked = a.masked || b.masked;
  if (a.fixed.empty() || b.fixed.empty())
    return both;
  both.fixed = a.fixed;
  both.fixed.insert(both.fixed.end(), b.fixed.begin(), b.fixed.end());
  std::sort(both.fixed.begin(), both.fixed.end());
  both.fixed.erase(std::unique(both.fixed.begin(), both.fixed.end()),
                   both.fixed.end());
  return both;
}

bool covers(const Shape &shape, const Extents &extents) {
  std::optional<int64_t> capacity = shape.reduction.partition.capacity();
  return !capacity ||
         (!extents.fixed.empty() && extents.fixed.back() <= *capacity);
}

} // namespace bitpact::diff
