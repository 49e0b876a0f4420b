// Replay.cpp - the bytes of a revealed tree beside those of foreign code
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/evidence/reveal/Replay.h"
#include "contracts/reference/Arithmetic.h"
#include "contracts/reference/Evaluator.h"
#include "tools/evidence/reveal/Fragment.h"

#include <cmath>
#include <cstring>
#include <fmt/format.h>
#include <random>

using bitpact::algebra::Format;
using bitpact::algebra::ReductionKind;
using bitpact::reference::Tensor;
using nlohmann::json;

namespace bitpact::reveal {
namespace {

using Rows = std::vector<std::vector<double>>;

/// Values of mixed magnitude, so that most additions round.
std::vector<Rows> randomInputs(const Signature &signature, int64_t count,
                               int64_t sideBySide) {
  std::mt19937_64 random(7);
  std::vector<Rows> inputs(count);
  for (int64_t i = 0; i < count; ++i) {
    Rows &rows = inputs[i];
    rows.resize(signature.factors ? 2 : 1);
    // Questions that are asked side by side have their factors in common.
    if (i % sideBySide != 0)
      rows[1] = inputs[i - 1][1];
    for (auto &row : rows)
      for (int64_t k = static_cast<int64_t>(row.size()); k < signature.n; ++k) {
        double fraction =
            1 + std::ldexp(static_cast<double>(random() >> 12), -52);
        double value = std::ldexp(fraction, static_cast<int>(random() % 12));
        row.push_back(reference::roundTo(signature.element,
                                         random() & 1 ? -value : value));
      }
  }
  return inputs;
}

/// One pass: children stand before their vertex.
class TreeEvaluator {
public:
  TreeEvaluator(const Signature &signature, const RevealedTree &tree,
                const Arithmetic &how)
      : about(signature), tree(tree), how(how) {}

  uint64_t operator()(const Rows &rows) {
    values.clear();
    for (VertexId id = 0; id <= tree.root(); ++id)
      values.push_back(valueOf(id, rows));
    return reference::encode(about.output, values.back());
  }

private:
  double add(double a, double b) const {
    if (about.kind == ReductionKind::Max)
      return reference::maximum(a, b);
    return reference::withFormat(
        how.accumulator, [&]<Format F>() { return reference::add<F>(a, b); });
  }
  double step(double sum, const Rows &rows, int64_t position) const {
    double x = rows[0][position];
    if (!about.factors)
      return add(sum, x);
    double y = rows[1][position];
    if (!how.exactProduct)
      return add(sum, reference::product(how.accumulator, x, y));
    return reference::withFormat(how.accumulator, [&]<Format F>() {
      return reference::fma<F>(x, y, sum);
    });
  }
  double valueOf(VertexId id, const Rows &rows) const {
    const Vertex &vertex = tree.at(id);
    if (vertex.isLeaf())
      return about.factors
                 ? reference::product(how.accumulator, rows[0][vertex.position],
                                      rows[1][vertex.position])
                 : rows[0][vertex.position];
    double sum = values[vertex.children[0]];
    bool pair = tree.at(vertex.children[0]).isLeaf();
    for (size_t i = 1; i < vertex.children.size(); ++i) {
      const Vertex &next = tree.at(vertex.children[i]);
      sum = next.isLeaf() && !(pair && how.rounded)
                ? step(sum, rows, next.position)
                : add(sum, values[vertex.children[i]]);
    }
    return sum;
  }

  const Signature &about;
  const RevealedTree &tree;
  const Arithmetic &how;
  std::vector<double> values;
};

/// One operand of all inputs, a row each.
Tensor matrixOf(Format format, const std::vector<Rows> &inputs,
                size_t operand) {
  Tensor tensor{format, {static_cast<int64_t>(inputs.size())}, {}};
  int width = algebra::bytes(format);
  for (const Rows &rows : inputs)
    for (double value : rows[operand]) {
      uint64_t bits = reference::encode(format, value);
      auto *bytes = reinterpret_cast<const uint8_t *>(&bits);
      tensor.bytes.insert(tensor.bytes.end(), bytes, bytes + width);
    }
  tensor.shape.push_back(static_cast<int64_t>(inputs[0][operand].size()));
  return tensor;
}

/// What the tree allows, the likeliest first.
std::vector<Arithmetic> choices(const Signature &signature) {
  std::vector<Arithmetic> list;
  std::vector<Format> accumulators{Format::F32, Format::F64};
  if (signature.accumulator)
    accumulators = {*signature.accumulator};
  else if (signature.element == Format::F64)
    accumulators = {Format::F64};
  for (Format accumulator : accumulators) {
    if (!signature.factors) {
      list.push_back({accumulator, false, false, {}});
      continue;
    }
    list.push_back({accumulator, true, false, {}});
    list.push_back({accumulator, true, true, {}});
    list.push_back({accumulator, false, false, {}});
  }
  return list;
}

json definition(const Signature &signature, const Arithmetic &how) {
  std::string type(algebra::name(how.accumulator));
  json args = json::array({type, type});
  json body = json::array();
  auto add = [&](const char *id, const char *op, json operands) {
    body.push_back(
        {{"args", operands}, {"id", id}, {"op", op}, {"type", type}});
  };
  json one{{"kind", "step"}, {"result", type}};
  if (!signature.factors) {
    bool max = signature.kind == ReductionKind::Max;
    add("v0", max ? "maximum" : "add", {"a1", "a0"});
    one["reduction"] = max ? "max" : "sum";
    one["yield"] = "v0";
  } else {
    args.push_back(type);
    if (how.exactProduct) {
      add("v0", "fma", {"a0", "a1", "a2"});
    } else {
      add("v0", "mul", {"a0", "a1"});
      add("v1", "add", {"a2", "v0"});
    }
    one["product"] = how.exactProduct ? "exact" : type;
    one["reduction"] = "dot";
    one["yield"] = how.exactProduct ? "v0" : "v1";
  }
  one["args"] = args;
  one["body"] = body;
  return one;
}

} // namespace

std::string Arithmetic::text(ReductionKind kind) const {
  std::string type(algebra::name(accumulator));
  if (kind != ReductionKind::Dot)
    return fmt::format("{} accumulator", type);
  if (!atom.empty())
    return fmt::format("{} accumulator, steps of {}", type, atom);
  return fmt::format("{} accumulator, {}", type,
                     exactProduct ? "one fma a step"
                                  : "products rounded before they are added");
}

std::string Replay::text() const {
  return fmt::format("{} of {} random inputs give the same bytes{}", equal,
                     inputs,
                     holds() ? ""
                             : "; something that the tree does not tell is "
                               "otherwise");
}

json contractOf(const Signature &signature, const algebra::Reduction &reduction,
                const Arithmetic &arithmetic) {
  bool dot = signature.factors;
  std::string node = dot                                    ? "dot"
                     : signature.kind == ReductionKind::Max ? "max"
                                                            : "sum";
  std::string element(algebra::name(signature.element));
  std::string output(algebra::name(signature.output));
  std::string accumulator(algebra::name(arithmetic.accumulator));
  const std::optional<algebra::Atom> &atom = reduction.order.entries()[0].atom;
  const char *stepName = !dot ? node == "max" ? "max" : "add"
                         : arithmetic.exactProduct ? "dot.fma"
                                                   : "dot.mul_add";
  std::string step = atom ? atom->text()
                          : fmt::format("{}.{}", stepName, accumulator);
  json body = json::array(), tensors = json::array(), operands = json::array();
  json types{{"y", output}}, precision{{"accumulator", accumulator}};
  for (std::string name : dot ? std::vector{"x", "w"} : std::vector{"x"}) {
    std::string id = fmt::format("v{}", operands.size());
    body.push_back({{"id", id}, {"op", "input"}, {"tensor", name}});
    tensors.push_back(
        {{"dims", {"tokens", "hidden"}}, {"kind", "in"}, {"name", name}});
    types[name] = element;
    operands.push_back(id);
  }
  std::string id = fmt::format("v{}", operands.size());
  body.push_back({{"args", operands},
                  {"id", id},
                  {"kind", node},
                  {"node", node},
                  {"op", "reduce"},
                  {"over", "hidden"}});
  body.push_back({{"args", json::array({id})},
                  {"op", "output"},
                  {"site", "y"},
                  {"tensor", "y"}});
  tensors.push_back(
      {{"dims", json::array({"tokens"})}, {"kind", "out"}, {"name", "y"}});
  if (dot)
    precision["product"] =
        atom || arithmetic.exactProduct ? "exact" : accumulator;
  json contract{{"bitpact", 1},
                {"doc", "revealed from " + signature.subject},
                {"name", "revealed/" + node},
                {"params", json::object()},
                {"types", types}};
  contract["definitions"][step] = atom ? definitionOf(*atom, signature.element)
                                       : definition(signature, arithmetic);
  contract["dims"] = {{"tokens", "*"}, {"hidden", signature.n}};
  contract["nodes"][node] = {{"domain", "hidden"},
                             {"merge", reduction.order.texts()},
                             {"partition", reduction.partition.text()},
                             {"precision", precision},
                             {"start", algebra::name(reduction.start)}};
  contract["op"] = {{"body", body},       {"dims", {"tokens", "hidden"}},
                    {"name", node},       {"params", json::array()},
                    {"tensors", tensors}, {"version", 1}};
  contract["primitives"][node + ".step"] = step;
  contract["rounding"]["y"] = {{"format", output}, {"mode", "rne"}};
  return contract;
}

namespace {

/// On how many inputs a contract gives the expected bytes, through the
/// reference evaluator and nothing else of here.
int64_t equalBytes(const json &contract, const Signature &signature,
                   const std::vector<Rows> &inputs,
                   const std::vector<uint64_t> &expected) {
  reference::Evaluator::Tensors tensors{
      {"x", matrixOf(signature.element, inputs, 0)}};
  if (signature.factors)
    tensors["w"] = matrixOf(signature.element, inputs, 1);
  Tensor results = reference::Evaluator(contract).run(tensors).at("y");
  int width = algebra::bytes(signature.output);
  int64_t equal = 0;
  for (size_t i = 0; i < inputs.size(); ++i)
    equal +=
        !std::memcmp(results.bytes.data() + i * width, &expected[i], width);
  return equal;
}

/// Steps of several terms at once, which only atoms have.
bool isFused(const Report &report) { return report.tree.widest() > 2; }

std::vector<Arithmetic> stepsOf(const algebra::Reduction &reduction) {
  const algebra::Atom &atom = *reduction.order.entries()[0].atom;
  return {{Format::F32, /*exactProduct=*/true, /*rounded=*/false, atom.text()}};
}

} // namespace

std::optional<Replay> replay(FunctionBox &box, const Report &report,
                             int64_t count) {
  const Signature &signature = box.signature();
  if (signature.readout != Readout::Sum || !report.determined() ||
      report.tree.leaves() != signature.n)
    return std::nullopt;
  bool any = report.tree.at(report.tree.root()).any;
  if (any && signature.kind != ReductionKind::Max)
    return std::nullopt;
  bool text = report.recognised.reduction.has_value();
  bool fused = !any && isFused(report);
  if (fused && !text)
    return std::nullopt;
  std::vector<Rows> inputs = randomInputs(signature, count, box.sideBySide());
  std::vector<uint64_t> expected = box.bits(inputs);

  Replay best;
  best.inputs = count;
  auto take = [&](int64_t equal, const Arithmetic &how, json contract) {
    if (equal <= best.equal)
      return;
    best.equal = equal;
    best.arithmetic = how;
    best.contract = std::move(contract);
  };
  for (const Arithmetic &how :
       fused ? stepsOf(*report.recognised.reduction) : choices(signature)) {
    if (text && !how.rounded) {
      json contract = contractOf(signature, *report.recognised.reduction, how);
      int64_t equal = equalBytes(contract, signature, inputs, expected);
      take(equal, how, equal == count ? contract : json());
    }
    if (best.holds() || fused)
      break;
    TreeEvaluator evaluate(signature, report.tree, how);
    int64_t equal = 0;
    for (int64_t i = 0; i < count; ++i)
      equal += evaluate(inputs[i]) == expected[i];
    take(equal, how, {});
    if (best.holds())
      break;
  }
  return best;
}

} // namespace bitpact::reveal
