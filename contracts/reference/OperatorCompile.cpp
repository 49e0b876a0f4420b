// OperatorCompile.cpp - canonical JSON to a checked list of operations
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "contracts/reference/ContractTables.h"

#include "contracts/algebra/RuleError.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <set>

namespace bitpact::reference {
namespace {

using algebra::RuleError;
using nlohmann::json;

/// What an id of the operator's body stands for.
struct Meaning {
  enum Kind { Real, Constant, Extent, ExactProduct, Offsets, Index } kind;
  int value = 0;                      // of Real; the tensor of Offsets
  std::string text{};                 // of Constant
  int dim = 0;                        // of Extent
  std::vector<std::string> factors{}; // of ExactProduct
  Positions positions{};              // of Index
};

const std::map<std::string, OperationKind> arithmetic{
    {"add", OperationKind::Add}, {"sub", OperationKind::Sub},
    {"mul", OperationKind::Mul}, {"div", OperationKind::Div},
    {"max", OperationKind::Max}, {"neg", OperationKind::Neg},
    {"abs", OperationKind::Abs}};

class BodyCompiler {
public:
  explicit BodyCompiler(const json &contract)
      : contract(contract), tables(contract, program) {}

  OperatorProgram compile() {
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

private:
  const json &contract;
  OperatorProgram program;
  ContractTables tables;
  std::map<std::string, Meaning> meanings;
  std::set<int> counted; // dims whose extent decides a value

  [[noreturn]] void fail(const char *rule, const std::string &message) const {
    throw RuleError(rule, message, "op.body");
  }

  const Meaning &meaning(const std::string &id) const {
    auto found = meanings.find(id);
    if (found == meanings.end())
      fail("C4", fmt::format("value '{}' is not defined before its use", id));
    return found->second;
  }

  void define(const json &op, Meaning meaning) {
    std::string id = op.at("id").get<std::string>();
    if (!meanings.emplace(id, std::move(meaning)).second)
      fail("C3", fmt::format("two operations are named '{}'", id));
  }

  /// Rule D5: where the extent of a dim decides a value, there is one.
  void findExisting(int dim) {
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

  int addValue(Format format, std::vector<int> dims) {
    program.values.push_back({format, std::move(dims)});
    return static_cast<int>(program.values.size()) - 1;
  }

  std::vector<std::string> args(const json &op, size_t count) const {
    auto ids = op.at("args").get<std::vector<std::string>>();
    if (ids.size() != count)
      fail("C4",
           fmt::format("{} takes {} operands, it has {}",
                       op.at("op").get<std::string>(), count, ids.size()));
    return ids;
  }

  /// The widest format of the operands and f32 (rule E1).
  Format widest(const std::vector<std::string> &ids) const {
    for (const std::string &id : ids) {
      const Meaning &m = meaning(id);
      if ((m.kind == Meaning::Real &&
           program.values[m.value].format == Format::F64) ||
          (m.kind == Meaning::ExactProduct && widest(m.factors) == Format::F64))
        return Format::F64;
    }
    return Format::F32;
  }

  /// The value of an id for a consumer that computes in `format`. Constants and
  /// extents have no format of their own: they are rounded to this one.
  int use(const std::string &id, Format format) {
    const Meaning &m = meaning(id);
    if (m.kind == Meaning::Real)
      return m.value;
    if (m.kind == Meaning::Index)
      fail("F11",
           fmt::format("'{}' is an index, at which only a take may read", id));
    if (m.kind == Meaning::Offsets)
      fail("F11", fmt::format("'{}' are offsets of segments, which alone may "
                              "read them",
                              id));
    if (m.kind == Meaning::ExactProduct)
      fail("R3", fmt::format("'{}' is an exact product, which only an addition "
                             "or subtraction may take",
                             id));
    if (format != Format::F32 && format != Format::F64)
      fail("A3", fmt::format("'{}' is a constant where a {} is expected; give "
                             "it a format through an operation",
                             id, name(format)));
    Operation op{m.kind == Meaning::Extent ? OperationKind::Extent
                                           : OperationKind::Constant,
                 addValue(format, {})};
    op.format = format;
    op.index = m.dim;
    if (m.kind == Meaning::Constant)
      op.constant = parseReal(m.text, format);
    program.operations.push_back(op);
    return op.result;
  }

  double parseReal(const std::string &text, Format format) const {
    // Straight to the format: through f64 would round twice.
    auto parse = [&](auto value) -> double {
      const char *end = text.data() + text.size();
      auto [at, error] = std::from_chars(text.data(), end, value);
      if (error != std::errc() || at != end)
        fail("C4", fmt::format("'{}' is no number that {} holds", text,
                               name(format)));
      return value;
    };
    return format == Format::F64 ? parse(double()) : parse(float());
  }

  std::vector<int> dimsOf(const std::vector<int> &values) const {
    std::set<int> dims;
    for (int value : values)
      dims.insert(program.values[value].dims.begin(),
                  program.values[value].dims.end());
    return {dims.begin(), dims.end()};
  }

  /// Adds an operation with its site's rounding and names its value.
  int emit(Operation op, Format format, std::vector<int> dims,
           const std::string &site) {
    if (!site.empty()) {
      op.rounding = tables.siteFormat(site);
      format = *op.rounding;
    }
    op.result = addValue(format, dims);
    if (!site.empty())
      nameValue(site, op.result, false, std::move(dims));
    program.operations.push_back(op);
    return op.result;
  }

  void nameValue(const std::string &name, int value, bool isOutput,
                 std::vector<int> dims) {
    // An output and its site share a name and a value.
    for (const NamedValue &named : program.named)
      if (named.name == name)
        fail("C3", fmt::format("two values are named '{}'", name));
    program.named.push_back({name, value, isOutput, std::move(dims)});
  }

  bool isOffsets(const std::string &tensor) const {
    const json &nodes = contract.at("nodes");
    return std::any_of(nodes.begin(), nodes.end(), [&](const json &node) {
      return node.value("offsets", "") == tensor;
    });
  }

  /// Does an operation of this kind, or of any, take the value of `op`?
  bool isUsed(const json &op, const std::string &kind = "") const {
    const json &body = contract.at("op").at("body");
    return std::any_of(body.begin(), body.end(), [&](const json &other) {
      const json args = other.value("args", json::array());
      return (kind.empty() || other.at("op") == kind) &&
             std::find(args.begin(), args.end(), op.at("id")) != args.end();
    });
  }

  /// The load that a value is, or null.
  const Operation *loadOf(int value) const {
    for (const Operation &operation : program.operations)
      if (operation.result == value)
        return operation.kind == OperationKind::Load ? &operation : nullptr;
    return nullptr;
  }

  /// Loads of which nothing is left but the elements that takes read.
  void dropUnusedLoads() {
    std::set<int> used;
    for (const Operation &operation : program.operations)
      used.insert(operation.args.begin(), operation.args.end());
    std::erase_if(program.operations, [&](const Operation &operation) {
      return operation.kind == OperationKind::Load &&
             !used.count(operation.result);
    });
  }

  void compileOp(const json &op) {
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

  void compileArithmetic(const json &op, OperationKind kind) {
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
          fail("R3",
               fmt::format("site '{}' multiplies an exact product", site));
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

  /// Uses `id` where a primitive expects `format`; it must widen exactly.
  int useAs(const std::string &id, Format format, const std::string &site) {
    int value = use(id, format);
    Format has = program.values[value].format;
    if (!algebra::widensExactly(has, format))
      throw RuleError("A3",
                      fmt::format("the primitive takes {}, a value of {} is "
                                  "not exact there",
                                  name(format), name(has)),
                      "primitives." + site);
    return value;
  }

  void compileApply(const json &op) {
    std::string site = op.at("site").get<std::string>();
    Operation apply{OperationKind::Apply, 0};
    apply.index = tables.primitiveAt(site, PrimitiveKind::Function);
    const std::vector<Format> formats =
        program.primitives[apply.index].arguments;
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

  void compileReduce(const json &op) {
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
      reduce.args.push_back(useAs(ids[i], formats[i],
                                  nodeName + (isState ? ".weight" : ".step")));
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

  /// Rule S1, and A3 for the maxima that a rescale takes.
  void checkState(const std::string &nodeName, const NodeFacts &facts,
                  const std::vector<int> &operands) const {
    const Operation *max = nullptr;
    for (const Operation &operation : program.operations)
      if (operation.result == operands[1])
        max = &operation;
    bool isMax = max->kind == OperationKind::Reduce &&
                 program.nodes[max->index].reduction.kind ==
                     algebra::ReductionKind::Max &&
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

  void compileSegment(const json &op) {
    std::string id = args(op, 1)[0];
    const Meaning &offsets = meaning(id);
    if (offsets.kind != Meaning::Offsets)
      fail("F11",
           fmt::format("a segment is of '{}', which are no offsets", id));
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

  void compileTake(const json &op) {
    std::vector<std::string> ids = args(op, 2);
    const Meaning &index = meaning(ids[1]);
    if (index.kind != Meaning::Index)
      fail("F11",
           fmt::format("a take reads at '{}', which is no index", ids[1]));
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

  void compileOutput(const json &op) {
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
};

} // namespace

OperatorProgram compileOperator(const json &contract) try {
  return BodyCompiler(contract).compile();
} catch (const json::exception &error) {
  throw RuleError("C4", std::string("no canonical contract: ") + error.what());
}

} // namespace bitpact::reference
