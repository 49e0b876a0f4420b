// NodeTables.cpp - what a contract says about a node
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "contracts/reference/ContractTables.h"

#include "contracts/algebra/RuleError.h"

#include <fmt/format.h>

namespace bitpact::reference {

using algebra::RuleError;
using nlohmann::json;

int ContractTables::offsetsTensor(const std::string &name,
                                  const std::string &where) {
  int number = 0, count = static_cast<int>(program.tensors.size());
  while (number < count && program.tensors[number].name != name)
    ++number;
  if (number == count) { // an input that only the contract knows of
    if (!contract.at("types").contains(name))
      throw RuleError("PI7", fmt::format("the offsets '{}' are no input", name),
                      where);
    program.tensors.push_back({name, true, tensorFormat(name), {}});
  }
  const TensorFacts &facts = program.tensors[number];
  if (!facts.isInput || facts.isIndex || facts.format != Format::I32 ||
      facts.dims.size() > 1)
    throw RuleError("PI7",
                    fmt::format("the offsets '{}' must be an i32 input "
                                "with one axis",
                                name),
                    where);
  return number;
}

/// `"vocab"` or `{"vocab": {"extent": 151936, "stored": 152064}}`.
void ContractTables::readDomain(const json &domain, const std::string &over,
                                const std::string &where,
                                NodeFacts &facts) const {
  bool padded = domain.is_object() && domain.size() == 1;
  if (padded ? !domain.contains(over) : domain != over)
    throw RuleError("D2",
                    fmt::format("the domain is {}, the operator reduces over "
                                "'{}'",
                                domain.dump(), over),
                    where);
  if (!padded)
    return;
  int64_t extent = domain.at(over).at("extent").get<int64_t>();
  int64_t stored = domain.at(over).at("stored").get<int64_t>();
  if (program.dims[facts.over].extent != stored || extent < 1 ||
      extent > stored)
    throw RuleError("D4",
                    fmt::format("{} of {} stored exist; stored is the dim, and "
                                "1 <= extent <= stored",
                                extent, stored),
                    where);
  facts.extent = extent;
}

void ContractTables::readReduction(const json &node, const std::string &where,
                                   NodeFacts &facts) const {
  algebra::Reduction &reduction = facts.reduction;
  std::string startText = node.at("start").get<std::string>();
  std::optional<algebra::Start> start = algebra::parseStart(startText);
  if (!start)
    throw RuleError(
        "C4", fmt::format("a start is identity or first, not '{}'", startText),
        where + ".start");
  reduction.start = *start;
  if (node.contains("state")) {
    std::string text = node.at("state").get<std::string>();
    std::optional<algebra::State> state = algebra::parseState(text);
    if (!state)
      throw RuleError(
          "C4", fmt::format("a state is two_pass or online, not '{}'", text),
          where + ".state");
    reduction.state = *state;
  }
  reduction.accumulator = formatAt(node.at("precision").at("accumulator"),
                                   where + ".precision.accumulator", false);
  auto placed = [](const std::string &field, auto &&action) {
    try {
      action();
    } catch (const RuleError &error) {
      throw error.at(field);
    }
  };
  placed(where + ".partition", [&] {
    reduction.partition =
        algebra::Partition::parse(node.at("partition").get<std::string>());
    std::optional<int64_t> extent =
        facts.extent ? facts.extent : program.dims[facts.over].extent;
    if (extent)
      reduction.partition.validate(*extent);
  });
  placed(where + ".merge", [&] {
    reduction.order = algebra::MergeOrder::parse(
        node.at("merge").get<std::vector<std::string>>());
    reduction.validate();
  });
}

void ContractTables::readStep(const json &node, const std::string &where,
                              NodeFacts &facts) {
  const algebra::Reduction &reduction = facts.reduction;
  algebra::ReductionKind kind = algebra::stepKind(reduction.kind);
  const std::optional<algebra::Atom> &atom = reduction.order.entries()[0].atom;
  std::string site = facts.name + ".step";
  facts.primitive =
      primitiveAt(site, atom ? PrimitiveKind::Atom : PrimitiveKind::Step);
  const Primitive &step = program.primitives[facts.primitive];
  std::string stepWhere = "primitives." + site;
  if (step.reduction != kind)
    throw RuleError("A3",
                    fmt::format("it is a step of {}, the node is a {}",
                                algebra::name(*step.reduction),
                                algebra::name(kind)),
                    stepWhere);
  if (step.atom != atom)
    throw RuleError("A3",
                    fmt::format("it is {}, the merge says {}",
                                step.atom->text(), atom->text()),
                    stepWhere);
  const json &precision = node.at("precision");
  if (step.result != reduction.accumulator)
    throw RuleError("P3",
                    fmt::format("the accumulator is {}, the step's is {}",
                                algebra::name(reduction.accumulator),
                                algebra::name(step.result)),
                    where + ".precision.accumulator");
  if (kind == algebra::ReductionKind::Dot &&
      precision.at("product") != step.product)
    throw RuleError("P2",
                    fmt::format("the product is {}, the step's is '{}'",
                                precision.at("product").dump(), step.product),
                    where + ".precision.product");
}

/// The functions of an exp_sum; formats that do not widen are refused here,
/// those of its operands where they are known.
void ContractTables::readState(const std::string &where, NodeFacts &facts) {
  const algebra::Reduction &reduction = facts.reduction;
  auto function = [&](const char *role, size_t arguments, Format result) {
    std::string site = facts.name + "." + role;
    int number = primitiveAt(site, PrimitiveKind::Function);
    const Primitive &primitive = program.primitives[number];
    if (primitive.arguments.size() != arguments ||
        !algebra::widensExactly(primitive.result, result))
      throw RuleError("A3",
                      fmt::format("a {} takes {} values and gives one that {} "
                                  "holds",
                                  role, arguments, name(result)),
                      "primitives." + site);
    return number;
  };
  facts.weight =
      function("weight", 2, program.primitives[facts.primitive].arguments[0]);
  if (reduction.state != algebra::State::Online)
    return;
  facts.rescale = function("rescale", 2, reduction.accumulator);
  auto bound = reduction.order.bind(reduction.partition);
  if (algebra::stateEntries(bound).merge == static_cast<int>(bound.size()))
    return;
  facts.combine = function("combine", 4, reduction.accumulator);
  const std::vector<Format> &takes =
      program.primitives[facts.combine].arguments;
  Format factor = program.primitives[facts.rescale].result;
  for (size_t i = 0; i < takes.size(); ++i)
    if (Format has = i % 2 ? factor : reduction.accumulator;
        !algebra::widensExactly(has, takes[i]))
      throw RuleError("A3",
                      fmt::format("argument {} of the combine is {}, a {} is "
                                  "not exact there",
                                  i, name(takes[i]), name(has)),
                      where);
}

int ContractTables::node(const std::string &name, const std::string &kind,
                         const std::string &over) {
  std::string where = "nodes." + name;
  if (!contract.at("nodes").contains(name))
    throw RuleError("C6", "the node is not bound", where);
  if (!usedNodes.insert(name).second)
    throw RuleError("C3", "two reductions have this name", where);
  const json &node = contract.at("nodes").at(name);
  NodeFacts facts;
  facts.name = name;
  facts.over = dim(over);
  readDomain(node.at("domain"), over, where + ".domain", facts);
  std::optional<algebra::ReductionKind> parsedKind =
      algebra::parseReductionKind(kind);
  if (!parsedKind)
    throw RuleError("C4", fmt::format("there is no reduction '{}'", kind),
                    where);
  facts.reduction.kind = *parsedKind;
  readReduction(node, where, facts);

  bool hasOffsets = node.contains("offsets") && !node.at("offsets").is_null();
  if (hasOffsets != facts.reduction.partition.offsetsDigit().has_value())
    throw RuleError("PI7",
                    hasOffsets ? "there are offsets, but no @offsets digit"
                               : "an @offsets digit needs the key offsets, the "
                                 "name of an i32 input",
                    where);
  if (hasOffsets)
    facts.offsets = offsetsTensor(node.at("offsets").get<std::string>(),
                                  where + ".offsets");
  readStep(node, where, facts);
  if (*parsedKind == algebra::ReductionKind::ExpSum)
    readState(where, facts);
  program.dims[facts.over].isReduced = true;
  program.nodes.push_back(std::move(facts));
  return static_cast<int>(program.nodes.size()) - 1;
}

} // namespace bitpact::reference
