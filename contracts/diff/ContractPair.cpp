// ContractPair.cpp - two contracts of one operator, run on the same input
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "contracts/diff/ContractPair.h"

#include <algorithm>
#include <bit>
#include <stdexcept>

namespace bitpact::diff {

using nlohmann::json;
using reference::NamedValue;
using reference::NodeFacts;
using reference::Operation;
using reference::OperationKind;
using reference::OperatorProgram;
using reference::TensorFacts;
using Tensors = reference::Evaluator::Tensors;

namespace {

/// The narrowest format that holds the values of both.
Format hull(Format a, Format b) {
  for (Format format : {a, b, Format::F32, Format::F64})
    if (a == b || (algebra::widensExactly(a, format) &&
                   algebra::widensExactly(b, format)))
      return format;
  return Format::F64;
}

/// Elements that a thread is worth starting for.
constexpr int64_t manyElements = 1 << 14;

} // namespace

/// Both contracts without the extents of dims that nothing is reduced over,
/// where both fix the same.
ContractPair::Opened ContractPair::open(const json &a, const json &b) {
  Opened opened{a, b, {}};
  const OperatorProgram one = reference::compileOperator(a),
                        other = reference::compileOperator(b);
  if (one.dims.size() != other.dims.size())
    return opened;
  for (size_t i = 0; i < one.dims.size(); ++i) {
    const reference::DimFacts &dim = one.dims[i];
    auto has = [&](const TensorFacts &tensor) {
      return tensor.isInput &&
             std::count(tensor.dims.begin(), tensor.dims.end(), int(i)) > 0;
    };
    bool floats =
        std::any_of(one.tensors.begin(), one.tensors.end(), has) &&
        std::none_of(one.tensors.begin(), one.tensors.end(),
                     [&](const TensorFacts &tensor) {
                       return has(tensor) && !algebra::isFloat(tensor.format);
                     });
    bool counted =
        std::any_of(one.operations.begin(), one.operations.end(),
                    [&](const Operation &operation) {
                      return operation.kind == OperationKind::Extent &&
                             operation.index == static_cast<int>(i);
                    });
    if (!dim.isRow || !dim.extent || dim.name != other.dims[i].name ||
        dim.extent != other.dims[i].extent || !floats || counted)
      continue;
    opened.extents[dim.name] = *dim.extent;
    opened.a["dims"][dim.name] = opened.b["dims"][dim.name] = "*";
  }
  return opened;
}

ContractPair::ContractPair(const json &a, const json &b)
    : ContractPair(open(a, b)) {}

ContractPair::ContractPair(Opened opened)
    : declared(std::move(opened.extents)),
      first(reference::compileOperator(opened.a)),
      second(reference::compileOperator(opened.b)), evaluatorA(opened.a),
      evaluatorB(opened.b) {
  auto names = [](const auto &list) {
    std::vector<std::string> names;
    for (const auto &one : list)
      names.push_back(one.name);
    return names;
  };
  if (names(first.dims) != names(second.dims) ||
      names(first.tensors) != names(second.tensors))
    throw std::invalid_argument("the contracts are of different operators");
  for (size_t i = 0; i < first.tensors.size(); ++i) {
    const TensorFacts &one = first.tensors[i], &other = second.tensors[i];
    if (!one.isInput)
      continue;
    PairInput input;
    input.name = one.name;
    input.a = one.format;
    input.b = other.format;
    input.dims = one.dims;
    if (one.isIndex)
      input.kind = PairInput::Index;
    else if (!algebra::isFloat(one.format))
      input.kind = PairInput::Offsets;
    if (input.kind == PairInput::Float)
      input.carrier = hull(input.a, input.b);
    else
      input.carrier = input.a == input.b ? input.a : Format::I64;
    if (input.kind == PairInput::Offsets && input.dims.empty())
      input.ownAxis = 3;
    for (const NodeFacts &node : first.nodes)
      if (node.offsets == static_cast<int>(i))
        input.over = node.over;
    for (const Operation &operation : first.operations)
      if (operation.kind == OperationKind::Take &&
          operation.positions.tensor == static_cast<int>(i)) {
        bool segments = operation.positions.over >= 0;
        input.over = segments ? operation.positions.over : operation.over;
        input.numbered = segments ? operation.over : -1;
      }
    inputList.push_back(std::move(input));
  }
  for (size_t i = 0; i < first.dims.size(); ++i) {
    bool open = isOpen(static_cast<int>(i));
    if (!first.dims[i].isRow || (rows >= 0 && (openRows || !open)))
      continue;
    rows = static_cast<int>(i);
    openRows = open;
  }
  for (PairInput &input : inputList)
    input.hasRows = std::count(input.dims.begin(), input.dims.end(), rows) > 0;
}

bool ContractPair::isOpen(int dim) const {
  return !first.dims[dim].extent && !second.dims[dim].extent;
}

int64_t ContractPair::fixedExtent(int dim) const {
  return std::max(first.dims[dim].extent.value_or(0),
                  second.dims[dim].extent.value_or(0));
}

std::vector<int64_t>
ContractPair::shape(const PairInput &input,
                    const std::vector<int64_t> &extents) const {
  std::vector<int64_t> shape;
  if (input.ownAxis)
    shape.push_back(input.ownAxis);
  for (int dim : input.dims)
    shape.push_back(extents[dim]);
  return shape;
}

int64_t ContractPair::elements(const PairInput &input,
                               const std::vector<int64_t> &extents) const {
  int64_t count = 1;
  for (int64_t extent : shape(input, extents))
    count *= extent;
  return count;
}

Tensors ContractPair::tensors(bool ofB, const Candidate &candidate) const {
  const OperatorProgram &program = ofB ? second : first;
  Tensors result;
  for (const PairInput &input : inputList) {
    const std::vector<double> &values = candidate.values.at(input.name);
    std::vector<int64_t> whole = shape(input, candidate.extents);
    Tensor tensor{ofB ? input.b : input.a, whole, {}};
    for (size_t axis = 0; axis < input.dims.size(); ++axis)
      tensor.shape[axis] =
          program.dims[input.dims[axis]].extent.value_or(whole[axis]);
    int64_t count = 1;
    for (int64_t extent : tensor.shape)
      count *= extent;
    tensor.bytes.resize(count * algebra::bytes(tensor.format));
    bool all = tensor.shape == whole;
    std::vector<int64_t> at(whole.size(), 0);
    for (int64_t i = 0; i < count; ++i) {
      int64_t from = i;
      if (!all) {
        int64_t rest = i;
        for (size_t axis = at.size(); axis-- > 0; rest /= tensor.shape[axis])
          at[axis] = rest % tensor.shape[axis];
        from = 0;
        for (size_t axis = 0; axis < at.size(); ++axis)
          from = from * whole[axis] + at[axis];
      }
      storeElement(tensor, i, values[from]);
    }
    // Offsets end where the contract's own dim ends.
    if (input.kind == PairInput::Offsets && input.over >= 0) {
      int64_t end = program.dims[input.over].extent.value_or(
          candidate.extents[input.over]);
      for (const NodeFacts &node : program.nodes)
        if (node.over == input.over && node.offsets)
          end = node.extent.value_or(end);
      for (int64_t i = 0; i < count; ++i)
        if (i == count - 1 || elementAt(tensor, i).value > double(end))
          storeElement(tensor, i, static_cast<double>(end));
    }
    result.emplace(input.name, std::move(tensor));
  }
  return result;
}

Tensors ContractPair::run(bool ofB, const Candidate &candidate) const {
  int64_t count = 0;
  for (const PairInput &input : inputList)
    count += elements(input, candidate.extents);
  return (ofB ? evaluatorB : evaluatorA)
      .run(tensors(ofB, candidate), count < manyElements ? 1 : 0);
}

Tensors ContractPair::runNamed(bool ofB, const Candidate &candidate) const {
  return (ofB ? evaluatorB : evaluatorA).runNamed(tensors(ofB, candidate));
}

std::optional<Parting> ContractPair::parting(const Tensors &a,
                                             const Tensors &b) const {
  for (const NamedValue &named : first.named) {
    if (!named.isOutput)
      continue;
    if (auto element = firstDifference(a.at(named.name), b.at(named.name)))
      return Parting{named.name, *element};
  }
  return std::nullopt;
}

std::optional<Parting> ContractPair::parting(const Candidate &candidate) const {
  return parting(run(false, candidate), run(true, candidate));
}

std::optional<Parting>
ContractPair::firstParting(const Candidate &candidate) const {
  Tensors inA = tensors(false, candidate), inB = tensors(true, candidate);
  for (const PairInput &input : inputList)
    if (auto element = firstDifference(inA.at(input.name), inB.at(input.name)))
      return Parting{input.name, *element};
  Tensors a = evaluatorA.runNamed(inA), b = evaluatorB.runNamed(inB);
  for (const NamedValue &named : first.named) {
    auto other = b.find(named.name);
    if (other == b.end())
      continue; // exact in one of them: no value of its own
    if (auto element = firstDifference(a.at(named.name), other->second))
      return Parting{named.name, *element};
  }
  return std::nullopt;
}

Candidate ContractPair::rowOf(const Candidate &candidate, int64_t row) const {
  if (!openRows)
    return candidate;
  Candidate result;
  result.extents = candidate.extents;
  result.extents[rows] = 1;
  for (const PairInput &input : inputList) {
    const std::vector<double> &values = candidate.values.at(input.name);
    std::vector<double> &one = result.values[input.name];
    if (!input.hasRows) {
      one = values;
      // Of offsets along the rows those that leave it in its block.
      if (input.kind == PairInput::Offsets && input.over == rows)
        for (double &value : one)
          value = std::clamp(value - static_cast<double>(row), 0., 1.);
      continue;
    }
    int64_t inner = 1, extent = candidate.extents[rows];
    auto at = std::find(input.dims.begin(), input.dims.end(), rows);
    for (auto dim = at + 1; dim != input.dims.end(); ++dim)
      inner *= candidate.extents[*dim];
    for (int64_t begin = row * inner;
         begin < static_cast<int64_t>(values.size()); begin += extent * inner)
      one.insert(one.end(), values.begin() + begin,
                 values.begin() + begin + inner);
  }
  return result;
}

Candidate ContractPair::restored(const Candidate &candidate) const {
  Candidate result = candidate;
  for (size_t dim = 0; dim < first.dims.size(); ++dim)
    if (auto found = declared.find(first.dims[dim].name);
        found != declared.end())
      result.extents[dim] = found->second;
  for (const PairInput &input : inputList) {
    std::vector<int64_t> before = shape(input, candidate.extents),
                         after = shape(input, result.extents);
    if (before == after)
      continue;
    const std::vector<double> &values = candidate.values.at(input.name);
    bool alike = std::all_of(values.begin(), values.end(), [&](double value) {
      return std::bit_cast<uint64_t>(value) ==
             std::bit_cast<uint64_t>(values.front());
    });
    std::vector<double> &all = result.values[input.name];
    all.assign(elements(input, result.extents), alike ? values.front() : 0);
    for (size_t from = 0; from < values.size(); ++from) {
      size_t rest = from, at = 0, step = 1;
      bool exists = true;
      for (size_t axis = before.size(); axis-- > 0; rest /= before[axis]) {
        size_t position = rest % before[axis];
        exists &= position < static_cast<size_t>(after[axis]);
        at += position * step;
        step *= after[axis];
      }
      if (exists)
        all[at] = values[from];
    }
  }
  return result;
}

int64_t ContractPair::rowOf(const Parting &parting) const {
  for (const NamedValue &named : first.named)
    if (named.isOutput && named.name == parting.name)
      for (size_t axis = 0; axis < named.dims.size(); ++axis)
        if (named.dims[axis] == rows)
          return parting.element.coordinate[axis];
  return 0;
}

} // namespace bitpact::diff
