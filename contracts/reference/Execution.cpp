// Execution.cpp - prepares a run: extents, indices, plans
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "contracts/reference/Execution.h"

#include "contracts/algebra/RuleError.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>
#include <stdexcept>

namespace bitpact::reference {

Execution::Execution(const OperatorProgram &program,
                     const std::map<std::string, Tensor> &inputs, bool allNamed)
    : program(program) {
  bindDims(inputs);
  prepare();
  for (const NamedValue &named : program.named)
    if (named.isOutput || allNamed)
      addSink(named);
}

void Execution::bindDims(const std::map<std::string, Tensor> &inputs) {
  size_t expected = 0;
  extents.assign(program.dims.size(), -1);
  for (size_t i = 0; i < program.dims.size(); ++i)
    extents[i] = program.dims[i].extent.value_or(-1);
  tensors.assign(program.tensors.size(), nullptr);
  for (size_t i = 0; i < program.tensors.size(); ++i) {
    const TensorFacts &facts = program.tensors[i];
    if (!facts.isInput)
      continue;
    ++expected;
    auto fail = [&](const std::string &message) {
      throw std::invalid_argument(
          fmt::format("tensor '{}': {}", facts.name, message));
    };
    auto found = inputs.find(facts.name);
    if (found == inputs.end())
      fail("the input is missing");
    const Tensor &tensor = found->second;
    if (tensor.format != facts.format)
      fail(fmt::format("its format is {}, the contract says {}",
                       name(tensor.format), name(facts.format)));
    // Offsets that only the contract knows of have an axis of their own.
    bool ownAxis =
        facts.dims.empty() && facts.format == Format::I32 && !facts.isIndex;
    size_t rank = ownAxis ? 1 : facts.dims.size();
    if (tensor.shape.size() != rank)
      fail(fmt::format("it has {} axes, the operator says {}",
                       tensor.shape.size(), rank));
    int64_t elements = 1;
    for (int64_t length : tensor.shape) {
      if (length <= 0 || elements > (int64_t(1) << 48) / length)
        fail(fmt::format("an axis has {} elements", length));
      elements *= length;
    }
    if (tensor.bytes.size() !=
        static_cast<size_t>(elements) * algebra::bytes(tensor.format))
      fail(fmt::format("it has {} bytes, its shape [{}] needs {}",
                       tensor.bytes.size(), fmt::join(tensor.shape, ", "),
                       elements * algebra::bytes(tensor.format)));
    for (size_t axis = 0; axis < facts.dims.size(); ++axis) {
      int64_t &known = extents[facts.dims[axis]];
      if (known < 0)
        known = tensor.shape[axis];
      if (known != tensor.shape[axis])
        fail(fmt::format("its axis {} ('{}') has {} elements, it must have {}",
                         axis, program.dims[facts.dims[axis]].name,
                         tensor.shape[axis], known));
    }
    tensors[i] = &tensor;
  }
  if (inputs.size() != expected)
    for (const auto &[name, tensor] : inputs)
      if (std::none_of(program.tensors.begin(), program.tensors.end(),
                       [&](const TensorFacts &f) {
                         return f.isInput && f.name == name;
                       }))
        throw std::invalid_argument(
            fmt::format("tensor '{}': the operator has no such input", name));
  for (size_t i = 0; i < program.dims.size(); ++i) {
    if (program.dims[i].isRow)
      rowDims.push_back(static_cast<int>(i));
    if (extents[i] < 0)
      throw std::invalid_argument(fmt::format(
          "no input tells the extent of the dim '{}'", program.dims[i].name));
  }
}

std::vector<int64_t> Execution::integersOf(int number) const {
  const Tensor &tensor = *tensors[number];
  size_t width = algebra::bytes(tensor.format);
  std::vector<int64_t> integers(tensor.bytes.size() / width);
  for (size_t i = 0; i < integers.size(); ++i) {
    const uint8_t *at = tensor.bytes.data() + width * i;
    int32_t narrow = 0;
    if (tensor.format == Format::I64)
      std::memcpy(&integers[i], at, width);
    else
      std::memcpy(&narrow, at, width), integers[i] = narrow;
  }
  return integers;
}

/// Offsets that cut the dim into no blocks leave every position without one.
std::vector<int64_t> Execution::positionsOf(const Positions &positions) const {
  std::vector<int64_t> entries = integersOf(positions.tensor);
  if (positions.over < 0)
    return entries;
  std::vector<int64_t> blocks(extent(positions.over), -1);
  try {
    algebra::checkOffsets(entries, existing(positions.over));
  } catch (const std::invalid_argument &) {
    return blocks;
  }
  for (size_t block = 0; block + 1 < entries.size(); ++block)
    std::fill(blocks.begin() + entries[block],
              blocks.begin() + entries[block + 1], static_cast<int64_t>(block));
  return blocks;
}

std::vector<int> Execution::columns(const std::vector<int> &dims) const {
  std::vector<int> result;
  for (int dim : dims)
    if (!program.dims[dim].isRow)
      result.push_back(dim);
  return result;
}

int64_t Execution::count(const std::vector<int> &dims) const {
  int64_t result = 1;
  for (int dim : dims)
    result *= extent(dim);
  return result;
}

int64_t Execution::rowAt(const std::vector<int64_t> &place) const {
  if (place.size() != rowDims.size())
    throw std::out_of_range(fmt::format("a place has {} coordinates, not {}",
                                        rowDims.size(), place.size()));
  int64_t row = 0;
  for (size_t i = 0; i < place.size(); ++i) {
    if (place[i] < 0 || place[i] >= extent(rowDims[i]))
      throw std::out_of_range(
          fmt::format("{} is no position of the dim '{}', which has {}",
                      place[i], program.dims[rowDims[i]].name,
                      extent(rowDims[i])));
    row = row * extent(rowDims[i]) + place[i];
  }
  return row;
}

/// For each index over the dims `over`, row-major, the element offset in an
/// array laid out over `layout`. Dims that `layout` lacks do not count.
std::vector<int64_t> Execution::spread(const std::vector<int> &over,
                                       const std::vector<int> &layout) const {
  std::vector<int64_t> offsets{0};
  for (int dim : over) {
    int64_t stride = strideOver(dim, layout);
    std::vector<int64_t> next;
    next.reserve(offsets.size() * extent(dim));
    for (int64_t offset : offsets)
      for (int64_t i = 0; i < extent(dim); ++i)
        next.push_back(offset + i * stride);
    offsets = std::move(next);
  }
  return offsets;
}

Execution::Index Execution::indexOf(const std::vector<int> &result,
                                    const std::vector<int> &operand) const {
  Index index;
  if (operand == result)
    index.kind = Index::Same;
  else if (operand.empty())
    index.kind = Index::Scalar;
  else {
    index.kind = Index::Map;
    index.map = spread(result, operand);
  }
  return index;
}

void Execution::prepare() {
  prepared.resize(program.operations.size());
  for (size_t i = 0; i < prepared.size(); ++i) {
    const Operation &operation = program.operations[i];
    const std::vector<int> &dims = program.values[operation.result].dims;
    Prepared &p = prepared[i];
    std::vector<int> resultColumns = columns(dims);
    p.elements = count(resultColumns);
    for (int dim : dims)
      if (program.dims[dim].isRow)
        p.rowDims.push_back(dim);
    if (operation.kind == OperationKind::Load) {
      p.tensor = tensors[operation.index];
      p.source = spread(resultColumns, program.tensors[operation.index].dims);
    } else if (operation.kind == OperationKind::Extent) {
      int64_t n = existing(operation.index);
      p.extent = operation.format == Format::F64
                     ? static_cast<double>(n)
                     : static_cast<double>(static_cast<float>(n));
    } else if (operation.kind == OperationKind::Reduce) {
      prepareReduce(operation, p);
    } else if (operation.kind == OperationKind::Take) {
      prepareTake(operation, p);
    } else {
      for (int arg : operation.args)
        p.operands.push_back(
            indexOf(resultColumns, columns(program.values[arg].dims)));
    }
  }
}

void Execution::prepareReduce(const Operation &operation, Prepared &p) {
  const NodeFacts &node = program.nodes[operation.index];
  std::vector<int> result = columns(program.values[operation.result].dims);
  for (int arg : operation.args) {
    std::vector<int> layout = columns(program.values[arg].dims);
    p.operands.push_back({Index::Map, spread(result, layout)});
    p.strides.push_back(strideOver(node.over, layout));
  }
  p.existing = node.extent.value_or(extent(node.over));
  std::vector<int64_t> offsets;
  if (node.offsets) {
    offsets = integersOf(*node.offsets);
    try {
      algebra::checkOffsets(offsets, p.existing);
    } catch (const std::invalid_argument &) {
      return;
    }
  }
  bool online = node.reduction.state == algebra::State::Online;
  p.plan = static_cast<int>(online ? statePlans.size() : plans.size());
  try {
    if (online)
      statePlans.emplace_back(node.reduction, p.existing, offsets);
    else
      plans.emplace_back(node.reduction, p.existing, offsets);
  } catch (const algebra::RuleError &error) {
    throw error.at("nodes." + node.name + ".partition");
  }
}

/// Between neighbours along a dim in an array laid out over `layout`.
int64_t Execution::strideOver(int dim, const std::vector<int> &layout) const {
  auto at = std::find(layout.begin(), layout.end(), dim);
  if (at == layout.end())
    return 0;
  int64_t stride = 1;
  for (auto inner = at + 1; inner != layout.end(); ++inner)
    stride *= extent(*inner);
  return stride;
}

void Execution::prepareTake(const Operation &operation, Prepared &p) {
  std::vector<int> result = columns(program.values[operation.result].dims);
  bool direct = operation.args.empty();
  std::vector<int> layout =
      direct ? program.tensors[operation.index].dims
             : columns(program.values[operation.args[0]].dims);
  p.source = spread(result, layout);
  p.strides.push_back(strideOver(operation.over, layout));
  p.existing = existing(operation.over);
  p.tensor = direct ? tensors[operation.index] : nullptr;
  p.positions = positionsOf(operation.positions);
  p.where = spread(result, operation.positions.dims);
}

void Execution::addSink(const NamedValue &named) {
  Tensor &tensor = results[named.name];
  tensor.format = program.values[named.value].format;
  for (int dim : named.dims)
    tensor.shape.push_back(extent(dim));
  tensor.bytes.resize(count(named.dims) * algebra::bytes(tensor.format));
  // A row's value is laid out over its ascending dims, the tensor over its own.
  std::vector<int> order = columns(program.values[named.value].dims);
  sinks.push_back(
      {named.value, named.dims, spread(order, named.dims), &tensor});
}

std::map<std::string, Tensor> Execution::takeResults() {
  return std::move(results);
}

} // namespace bitpact::reference
