// BodyOperations.cpp - the operations of an operator's body, one by one
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "contracts/reference/BodyCompiler.h"

#include "contracts/algebra/RuleError.h"

#include <fmt/format.h>

#include <algorithm>

namespace bitpact::reference {

using algebra::RuleError;
using nlohmann::json;

void BodyCompiler::compileArithmetic(const json &op, OperationKind kind) {
  bool unary = kind == OperationKind::Neg || kind == OperationKind::Abs;
  std::vector<std::string> ids = args(op, unary ? 1 : 2);
  std::string site = op.value("site", std::string());
  if (!site.empty() && tables.isExact(site)) {
    if (kind != OperationKind::Mul)
      fail("R3",
           fmt::format("site '{}' is exact, but no multiplication", site));
    Meaning product{Meaning::ExactProduct};
    product.factors = ids;
    for (const std::string &id : ids)
      if (meaning(id).kind == Meaning::ExactProduct)
        fail("R3", fmt::format("site '{}' multiplies an exact product", site));
    define(op, product);
    return;
  }
  Operation operation{kind, 0};
  operation.format = widest(ids);
  bool additive = kind == OperationKind::Add || kind == OperationKind::Sub;
  size_t exact = 0; // which operand is an exact product
  while (exact < ids.size() &&
         meaning(ids[exact]).kind != Meaning::ExactProduct)
    ++exact;
  if (additive && exact < 2) {
    if (meaning(ids[1 - exact]).kind == Meaning::ExactProduct)
      fail("R3", "both operands of an addition are exact products; one "
                 "multiply-add takes one");
    operation.kind = OperationKind::Fma;
    bool subtract = kind == OperationKind::Sub;
    operation.negateProduct = subtract && exact == 1;
    operation.negateAddend = subtract && exact == 0;
    std::vector<std::string> factors = meaning(ids[exact]).factors;
    ids = {factors[0], factors[1], ids[1 - exact]};
  }
  for (const std::string &id : ids)
    operation.args.push_back(use(id, operation.format));
  std::vector<int> dims = dimsOf(operation.args);
  Format format = operation.format;
  define(op, {Meaning::Real, emit(operation, format, dims, site)});
}

void BodyCompiler::compileApply(const json &op) {
  std::string site = op.at("site").get<std::string>();
  Operation apply{OperationKind::Apply, 0};
  apply.index = tables.primitiveAt(site, PrimitiveKind::Function);
  const std::vector<Format> formats = program.primitives[apply.index].arguments;
  std::vector<std::string> ids = args(op, formats.size());
  for (size_t i = 0; i < ids.size(); ++i)
    apply.args.push_back(useAs(ids[i], formats[i], site));
  std::vector<int> dims = dimsOf(apply.args);
  Format result = program.primitives[apply.index].result;
  std::string rounded = op.value("rounded", std::string());
  if (!rounded.empty() && tables.isExact(rounded))
    fail("R3",
         fmt::format("site '{}' is exact, but no multiplication", rounded));
  define(op, {Meaning::Real, emit(apply, result, dims, rounded)});
}

void BodyCompiler::compileReduce(const json &op) {
  std::string nodeName = op.at("node").get<std::string>();
  int node = tables.node(nodeName, op.at("kind").get<std::string>(),
                         op.at("over").get<std::string>());
  const NodeFacts facts = program.nodes[node];
  Operation reduce{OperationKind::Reduce, 0};
  reduce.index = node;
  size_t operands = algebra::operandCount(facts.reduction.kind);
  std::vector<std::string> ids = args(op, operands);
  bool isState = facts.reduction.kind == algebra::ReductionKind::ExpSum;
  const std::vector<Format> formats =
      program.primitives[isState ? facts.weight : facts.primitive].arguments;
  for (size_t i = 0; i < operands; ++i)
    reduce.args.push_back(
        useAs(ids[i], formats[i], nodeName + (isState ? ".weight" : ".step")));
  if (isState)
    checkState(nodeName, facts, reduce.args);
  std::vector<int> dims = dimsOf(reduce.args);
  auto over = std::find(dims.begin(), dims.end(), facts.over);
  if (over == dims.end())
    fail("D2", fmt::format("node '{}' reduces over '{}', which its operands "
                           "do not have",
                           nodeName, program.dims[facts.over].name));
  dims.erase(over);
  int value = emit(reduce, facts.reduction.accumulator, dims,
                   op.value("site", std::string()));
  nameValue(nodeName, value, false, dims);
  define(op, {Meaning::Real, value});
}

void BodyCompiler::checkState(const std::string &nodeName,
                              const NodeFacts &facts,
                              const std::vector<int> &operands) const {
  const Operation *max = nullptr;
  for (const Operation &operation : program.operations)
    if (operation.result == operands[1])
      max = &operation;
  bool isMax =
      max->kind == OperationKind::Reduce &&
      program.nodes[max->index].reduction.kind == algebra::ReductionKind::Max &&
      program.nodes[max->index].over == facts.over &&
      max->args[0] == operands[0] && !max->rounding;
  bool exact = isMax;
  if (isMax)
    for (const algebra::MergeEntry &entry :
         program.nodes[max->index].reduction.order.entries())
      exact = exact && !entry.from && !entry.in;
  if (!exact || program.nodes[max->index].extent != facts.extent)
    fail("S1", fmt::format("the second operand of '{}' is no exact max of "
                           "its first over the same elements",
                           nodeName));
  if (facts.rescale < 0)
    return;
  Format has = program.values[operands[1]].format;
  for (Format takes : program.primitives[facts.rescale].arguments)
    if (!algebra::widensExactly(has, takes))
      throw RuleError("A3",
                      fmt::format("it takes {}, a maximum of {} is not exact "
                                  "there",
                                  name(takes), name(has)),
                      "primitives." + nodeName + ".rescale");
}

void BodyCompiler::compileSegment(const json &op) {
  std::string id = args(op, 1)[0];
  const Meaning &offsets = meaning(id);
  if (offsets.kind != Meaning::Offsets)
    fail("F11", fmt::format("a segment is of '{}', which are no offsets", id));
  Meaning index{Meaning::Index};
  Positions &positions = index.positions;
  positions.tensor = offsets.value;
  positions.over = tables.dim(op.at("over").get<std::string>());
  positions.dims = {positions.over};
  if (program.tensors[offsets.value].dims[0] == positions.over)
    fail("F11", fmt::format("a segment over '{}' has offsets along it",
                            program.dims[positions.over].name));
  counted.insert(positions.over);
  define(op, index);
}

void BodyCompiler::compileTake(const json &op) {
  std::vector<std::string> ids = args(op, 2);
  const Meaning &index = meaning(ids[1]);
  if (index.kind != Meaning::Index)
    fail("F11", fmt::format("a take reads at '{}', which is no index", ids[1]));
  Operation take{OperationKind::Take, 0};
  take.positions = index.positions;
  take.over = tables.dim(op.at("over").get<std::string>());
  int operand = use(ids[0], Format::F32);
  // Of a tensor only the elements there are read: of the weights of all
  // experts those of one.
  if (const Operation *load = loadOf(operand))
    take.index = load->index;
  else
    take.args = {operand};
  const ValueFacts from = program.values[operand];
  std::set<int> dims(from.dims.begin(), from.dims.end());
  const std::vector<int> &at = take.positions.dims;
  if (!dims.erase(take.over) ||
      std::find(at.begin(), at.end(), take.over) != at.end())
    fail("F11", fmt::format("a take over '{}' is of a value that has this "
                            "dim, at an index that has not",
                            program.dims[take.over].name));
  dims.insert(at.begin(), at.end());
  program.dims[take.over].isReduced = true;
  counted.insert(take.over);
  define(op, {Meaning::Real,
              emit(take, from.format, {dims.begin(), dims.end()}, "")});
}

void BodyCompiler::compileOutput(const json &op) {
  std::string tensorName = op.at("tensor").get<std::string>();
  const TensorFacts &tensor = tables.outputTensor(tensorName);
  std::string site = op.value("site", tensorName);
  Format format = tables.siteFormat(site);
  if (format != tensor.format)
    throw RuleError("P4",
                    fmt::format("the tensor is {}, its site '{}' rounds to "
                                "{}",
                                name(tensor.format), site, name(format)),
                    "types." + tensorName);
  Operation round{OperationKind::Round, 0};
  round.args = {use(args(op, 1)[0], widest(args(op, 1)))};
  round.rounding = format;
  std::vector<int> dims = program.values[round.args[0]].dims;
  for (int dim : dims)
    if (std::find(tensor.dims.begin(), tensor.dims.end(), dim) ==
        tensor.dims.end())
      fail("C4", fmt::format("the value of '{}' has the dim '{}', the tensor "
                             "has not",
                             tensorName, program.dims[dim].name));
  // The output has every dim of its tensor, also where the value repeats.
  std::vector<int> sorted = tensor.dims;
  std::sort(sorted.begin(), sorted.end());
  round.result = addValue(format, sorted);
  program.operations.push_back(round);
  nameValue(tensorName, round.result, true, tensor.dims);
  if (site != tensorName)
    nameValue(site, round.result, false, tensor.dims);
}

} // namespace bitpact::reference
