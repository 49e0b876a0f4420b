// NodeUse.cpp - how the terms of a node are reached from an operator's inputs
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/evidence/reveal/NodeUse.h"

#include "tools/evidence/UserError.h"
#include "tools/evidence/reveal/Questions.h"

#include "contracts/reference/Arithmetic.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <set>

using bitpact::algebra::Format;
using bitpact::algebra::ReductionKind;
using nlohmann::json;

namespace bitpact::reveal {
namespace {

class Reader {
public:
  Reader(const json &canonical, const std::string &node)
      : contract(canonical), body(contract.at("op").at("body")) {
    for (const json &op : body)
      if (op.contains("id"))
        byId[op.at("id").get<std::string>()] = &op;
    use.node = node;
  }

  NodeUse read();

private:
  const json &at(const json &id) const {
    return *byId.at(id.get<std::string>());
  }
  std::string kindOf(const json &op) const {
    return op.at("op").get<std::string>();
  }
  double param(const json &op) const;
  std::string follow(const json &id);
  std::string operand(const json &op, bool left);
  void neutralInputs();
  void findOutput(const json &reduce);

  const json &contract;
  const json &body;
  std::map<std::string, const json *> byId;
  NodeUse use;
};

double Reader::param(const json &op) const {
  const json &value =
      contract.at("params").at(op.at("param").get<std::string>());
  return reference::decode(
      *algebra::parseFormat(value.at("format").get<std::string>()),
      std::stoull(value.at("bits").get<std::string>(), nullptr, 16));
}

/// The input that a value is, but for additions of 0 and factors of 1.
std::string Reader::follow(const json &id) {
  const json &op = at(id);
  std::string what = kindOf(op), found;
  if (what == "input") {
    found = op.at("tensor").get<std::string>();
    use.through.push_back(*algebra::parseFormat(
        contract.at("types").at(found).get<std::string>()));
  } else if (what == "take" && kindOf(at(op.at("args").at(1))) == "segment") {
    found = follow(op.at("args").at(0));
    use.taken = op.at("over").get<std::string>();
  } else if (what == "add" || what == "sub" || what == "mul" || what == "div") {
    const json &right = at(op.at("args").at(1));
    if (kindOf(right) == "param" && (what == "mul" || what == "div"))
      use.scale *= what == "mul" ? param(right) : 1 / param(right);
    else if (kindOf(right) != "input")
      throw Undetermined(fmt::format(
          "the terms of '{}' are no inputs: they come out of '{}', whose "
          "second operand is computed ({})",
          use.node, what, kindOf(right)));
    found = follow(op.at("args").at(0));
  } else {
    throw Undetermined(fmt::format("the terms of '{}' are no inputs: they come "
                                   "out of '{}'",
                                   use.node, what));
  }
  if (op.contains("site")) {
    const json &rounding =
        contract.at("rounding").at(op.at("site").get<std::string>());
    if (rounding.is_object())
      use.through.push_back(
          *algebra::parseFormat(rounding.at("format").get<std::string>()));
  }
  return found;
}

void Reader::neutralInputs() {
  std::map<std::string, std::string> inputs;
  for (const json &op : body)
    if (kindOf(op) == "input")
      inputs[op.at("id").get<std::string>()] =
          op.at("tensor").get<std::string>();
  for (const json &op : body) {
    if (!op.contains("args"))
      continue;
    for (size_t i = 0; i < op.at("args").size(); ++i) {
      auto found = inputs.find(op.at("args")[i].get<std::string>());
      if (found == inputs.end() || found->second == use.input ||
          found->second == use.second)
        continue;
      bool factor = kindOf(op) == "mul" || kindOf(op) == "div";
      auto [known, isNew] = use.neutral.emplace(found->second, factor ? 1 : 0);
      if (!isNew && known->second != (factor ? 1 : 0))
        throw Undetermined(
            fmt::format("no value of '{}' changes nothing: it is a factor here "
                        "and a summand there",
                        found->second));
    }
  }
}

/// An output that is the node's value, or else the first that depends on it.
void Reader::findOutput(const json &reduce) {
  std::set<std::string> depends{reduce.at("id").get<std::string>()};
  for (const json &op : body) {
    bool reached = false;
    for (const json &arg : op.value("args", json::array()))
      reached |= depends.count(arg.get<std::string>()) > 0;
    if (!reached)
      continue;
    if (op.contains("id"))
      depends.insert(op.at("id").get<std::string>());
    if (kindOf(op) != "output")
      continue;
    bool direct = op.at("args").at(0) == reduce.at("id");
    if (use.output.empty() || (direct && !use.direct)) {
      use.output = op.at("tensor").get<std::string>();
      use.direct = direct;
    }
  }
}

NodeUse Reader::read() {
  const json *reduce = nullptr;
  std::vector<std::string> names;
  for (const json &op : body)
    if (kindOf(op) == "reduce") {
      names.push_back(op.at("node").get<std::string>());
      if (names.back() == use.node)
        reduce = &op;
    }
  if (!reduce)
    throw evidence::UserError(fmt::format("--node '{}': the operator has {}",
                                          use.node, fmt::join(names, ", ")));
  use.kind =
      *algebra::parseReductionKind(reduce->at("kind").get<std::string>());
  use.dim = reduce->at("over").get<std::string>();
  if (use.kind == ReductionKind::Max)
    throw Undetermined(fmt::format(
        "'{}' is a maximum, which is the same in every order", use.node));
  const json &args = reduce->at("args");
  use.input = follow(args.at(0));
  if (!use.taken.empty())
    throw Undetermined(fmt::format(
        "the terms of '{}' are taken out of '{}' over {}; what is taken may be "
        "the second factor",
        use.node, use.input, use.taken));
  if (use.kind == ReductionKind::Dot) {
    use.squares = args.at(0) == args.at(1);
    if (!use.squares)
      use.second = follow(args.at(1));
  }
  neutralInputs();
  findOutput(*reduce);
  return use;
}

} // namespace

std::vector<std::string> nodesOf(const json &contract) {
  std::vector<std::string> names;
  for (const json &op : contract.at("op").at("body"))
    if (op.at("op") == "reduce" && op.at("kind") != "max")
      names.push_back(op.at("node").get<std::string>());
  return names;
}

NodeUse useOf(const json &contract, const std::string &node) {
  return Reader(contract, node).read();
}

} // namespace bitpact::reveal
