// OperatorCompile.cpp - canonical JSON to a checked list of operations
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "contracts/reference/BodyCompiler.h"

#include "contracts/algebra/RuleError.h"

#include <fmt/format.h>

#include <algorithm>

namespace bitpact::reference {

using algebra::RuleError;
using nlohmann::json;

static const std::map<std::string, OperationKind> arithmetic{
    {"add", OperationKind::Add}, {"sub", OperationKind::Sub},
    {"mul", OperationKind::Mul}, {"div", OperationKind::Div},
    {"max", OperationKind::Max}, {"neg", OperationKind::Neg},
    {"abs", OperationKind::Abs}};

OperatorProgram BodyCompiler::compile() {
  for (const json &op : contract.at("op").at("body"))
    compileOp(op);
  for (const TensorFacts &tensor : program.tensors)
    if (!tensor.isInput &&
        std::none_of(program.named.begin(), program.named.end(),
                     [&](const NamedValue &named) {
                       return named.isOutput && named.name == tensor.name;
                     }))
      throw RuleError("C6",
                      fmt::format("no operation writes '{}'", tensor.name),
                      "op.body");
  tables.checkAllUsed();
  dropUnusedLoads();
  for (int dim : counted)
    findExisting(dim);
  for (const ValueFacts &value : program.values)
    for (int dim : value.dims)
      program.dims[dim].isRow = !program.dims[dim].isReduced;
  return std::move(program);
}

void BodyCompiler::findExisting(int dim) {
  const NodeFacts *first = nullptr;
  for (const NodeFacts &node : program.nodes) {
    if (node.over != dim)
      continue;
    if (first && first->extent != node.extent)
      fail("D5", fmt::format("nodes '{}' and '{}' have different extents of "
                             "'{}'",
                             first->name, node.name, program.dims[dim].name));
    first = &node;
    program.dims[dim].existing = node.extent;
  }
}

bool BodyCompiler::isOffsets(const std::string &tensor) const {
  const json &nodes = contract.at("nodes");
  return std::any_of(nodes.begin(), nodes.end(), [&](const json &node) {
    return node.value("offsets", "") == tensor;
  });
}

bool BodyCompiler::isUsed(const json &op, const std::string &kind) const {
  const json &body = contract.at("op").at("body");
  return std::any_of(body.begin(), body.end(), [&](const json &other) {
    const json args = other.value("args", json::array());
    return (kind.empty() || other.at("op") == kind) &&
           std::find(args.begin(), args.end(), op.at("id")) != args.end();
  });
}

void BodyCompiler::dropUnusedLoads() {
  std::set<int> used;
  for (const Operation &operation : program.operations)
    used.insert(operation.args.begin(), operation.args.end());
  std::erase_if(program.operations, [&](const Operation &operation) {
    return operation.kind == OperationKind::Load &&
           !used.count(operation.result);
  });
}

void BodyCompiler::compileOp(const json &op) {
  std::string kind = op.at("op").get<std::string>();
  if (kind == "input") {
    // Offsets that nothing computes with have no value.
    if (isOffsets(op.at("tensor").get<std::string>()) && !isUsed(op))
      return;
    if (isUsed(op, "segment")) {
      Meaning offsets{Meaning::Offsets};
      offsets.value = tables.boundsTensor(op.at("tensor").get<std::string>());
      define(op, offsets);
      return;
    }
    int tensor = tables.inputTensor(op.at("tensor").get<std::string>());
    const TensorFacts &facts = program.tensors[tensor];
    std::vector<int> dims = facts.dims;
    std::sort(dims.begin(), dims.end());
    Operation load{OperationKind::Load, 0};
    load.index = tensor;
    define(op, {Meaning::Real, emit(load, facts.format, dims, "")});
  } else if (kind == "param") {
    auto [format, value] = tables.param(op.at("param").get<std::string>());
    Operation constant{OperationKind::Constant, 0};
    constant.constant = value;
    define(op, {Meaning::Real, emit(constant, format, {}, "")});
  } else if (kind == "extent") {
    Meaning extent{Meaning::Extent};
    extent.dim = tables.dim(op.at("dim").get<std::string>());
    counted.insert(extent.dim);
    define(op, extent);
  } else if (kind == "constant") {
    Meaning constant{Meaning::Constant};
    constant.text = op.at("value").get<std::string>();
    parseReal(constant.text, Format::F64);
    define(op, constant);
  } else if (kind == "index") {
    Meaning index{Meaning::Index};
    index.positions.tensor =
        tables.indexTensor(op.at("tensor").get<std::string>());
    index.positions.dims = program.tensors[index.positions.tensor].dims;
    define(op, index);
  } else if (kind == "segment") {
    compileSegment(op);
  } else if (kind == "take") {
    compileTake(op);
  } else if (kind == "reduce") {
    compileReduce(op);
  } else if (kind == "apply") {
    compileApply(op);
  } else if (kind == "output") {
    compileOutput(op);
  } else if (auto found = arithmetic.find(kind); found != arithmetic.end()) {
    compileArithmetic(op, found->second);
  } else {
    fail("C4", fmt::format("there is no operation '{}'", kind));
  }
}

OperatorProgram compileOperator(const json &contract) try {
  return BodyCompiler(contract).compile();
} catch (const json::exception &error) {
  throw RuleError("C4", std::string("no canonical contract: ") + error.what());
}

} // namespace bitpact::reference
