// Shape.cpp - which dims of a contract are rows, and what extents tests give
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/evidence/Shape.h"

#include "tools/evidence/Inputs.h"
#include "tools/evidence/UserError.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>

using nlohmann::json;

namespace bitpact::evidence {
namespace {

/// Dims that an element is taken out of.
std::set<std::string> takenDims(const ContractSpec &contract) {
  std::set<std::string> dims;
  const json text = json::parse(contract.text);
  const json body =
      text.value("op", json::object()).value("body", json::array());
  for (const json &op : body)
    if (op.at("op") == "take")
      dims.insert(op.at("over").get<std::string>());
  return dims;
}

} // namespace

std::set<std::string> reducedDims(const ContractSpec &contract) {
  std::set<std::string> dims;
  json text = json::parse(contract.text);
  for (const json &node : text.value("nodes", json::object())) {
    const json &domain = node.at("domain");
    if (domain.is_string())
      dims.insert(domain.get<std::string>());
    else
      for (const auto &[dim, present] : domain.items())
        dims.insert(dim);
  }
  return dims;
}

std::vector<int64_t> shapeOf(const TensorSpec &tensor, const Dims &dims) {
  std::vector<int64_t> shape;
  for (const std::string &dim : tensor.dims)
    shape.push_back(dims.at(dim));
  return shape;
}

int64_t elementsOf(const std::vector<int64_t> &shape) {
  int64_t elements = 1;
  for (int64_t extent : shape)
    elements *= extent;
  return elements;
}

RowShape::RowShape(const ContractSpec &contract) {
  reduced = reducedDims(contract);
  for (const std::string &dim : contract.dimOrder) {
    int64_t extent = contract.dims.at(dim);
    if (extent >= 0)
      fixed[dim] = extent;
    else if (rowDim.empty() && !reduced.count(dim))
      rowDim = dim;
    else
      open[dim] = reduced.count(dim) > 0;
  }
  outermost = !rowDim.empty();
  for (const TensorSpec &tensor : contract.tensors) {
    if (hasRows(tensor) && tensor.dims.front() != rowDim)
      outermost = false;
    if (!rowDim.empty() && cutBy(contract, tensor) == rowDim) {
      rowBounds.insert(tensor.name);
      boundDims.insert(tensor.dims.begin(), tensor.dims.end());
    }
  }
  const std::set<std::string> taken = takenDims(contract);
  for (const TensorSpec &tensor : contract.tensors)
    if (isColumns(tensor))
      for (const std::string &dim : tensor.dims)
        if (auto found = open.find(dim);
            found != open.end() && !found->second && !taken.count(dim))
          columns.insert(dim);
}

bool RowShape::isColumns(const TensorSpec &tensor) const {
  auto inNode = [&](const std::string &dim) { return reduced.count(dim) > 0; };
  return !tensor.output && !rowDim.empty() && !hasRows(tensor) &&
         std::any_of(tensor.dims.begin(), tensor.dims.end(), inNode) &&
         !std::all_of(tensor.dims.begin(), tensor.dims.end(), inNode);
}

bool RowShape::hasRows(const TensorSpec &tensor) const {
  return !rowDim.empty() && std::find(tensor.dims.begin(), tensor.dims.end(),
                                      rowDim) != tensor.dims.end();
}

std::vector<int64_t>
RowShape::rowCounts(const std::vector<int64_t> &wanted) const {
  return rowDim.empty() ? std::vector<int64_t>{1} : wanted;
}

int64_t RowShape::rowsOf(const Dims &dims) const {
  return rowDim.empty() ? 1 : dims.at(rowDim);
}

Dims RowShape::withRows(Dims dims, int64_t rows) const {
  if (!rowDim.empty())
    dims[rowDim] = rows;
  return dims;
}

std::vector<int64_t> RowShape::defaultExtents() { return {1, 63, 257}; }

std::vector<Dims> RowShape::openExtents(
    const std::map<std::string, std::vector<int64_t>> &given) const {
  std::vector<Dims> all{fixed};
  for (const auto &[dim, isReduced] : open) {
    std::vector<int64_t> extents =
        isReduced              ? defaultExtents()
        : columns.count(dim)   ? std::vector<int64_t>{1, 7, 263, 520}
        : boundDims.count(dim) ? std::vector<int64_t>{3, 7} // two blocks, six
                               : std::vector<int64_t>{2, 7};
    if (auto found = given.find(dim); found != given.end())
      extents = found->second;
    std::vector<Dims> longer;
    for (const Dims &dims : all)
      for (int64_t extent : extents) {
        longer.push_back(dims);
        longer.back()[dim] = extent;
      }
    all = std::move(longer);
  }
  return all;
}

void RowShape::requireOpen(
    const std::vector<const ContractSpec *> &contracts,
    const std::map<std::string, std::vector<int64_t>> &given) {
  for (const auto &[dim, extents] : given) {
    std::vector<std::string> reasons;
    bool open = false;
    for (const ContractSpec *contract : contracts) {
      RowShape shape(*contract);
      auto fixed = shape.fixed.find(dim);
      open |= shape.open.count(dim) > 0;
      reasons.push_back(fmt::format(
          "{} {}", contract->name,
          fixed != shape.fixed.end()
              ? fmt::format("fixes it at {}", fixed->second)
          : dim == shape.rowDim
              ? std::string("has rows along it, which --rows counts")
              : fmt::format("has no such dim, but {}",
                            fmt::join(contract->dimOrder, ", "))));
    }
    if (!open)
      throw UserError(fmt::format("--dim '{}': is not open: {}", dim,
                                  fmt::join(reasons, "; ")));
  }
}

std::vector<const ContractSpec *> chooseContracts(const Package &package,
                                                  const std::string &selector) {
  std::vector<const ContractSpec *> chosen;
  std::vector<std::string> all;
  for (const ContractSpec &contract : package.contracts()) {
    if (selector.empty() || contract.digest.rfind(selector, 0) == 0 ||
        contract.name == selector || contract.op == selector ||
        contract.op.substr(0, contract.op.find('@')) == selector)
      chosen.push_back(&contract);
    all.push_back(fmt::format("{} {} ({})", contract.digest.substr(0, 12),
                              contract.name, contract.op));
  }
  if (chosen.empty())
    throw UserError(package.path(),
                    fmt::format("no contract '{}'; the package holds: {}",
                                selector, fmt::join(all, ", ")));
  return chosen;
}

} // namespace bitpact::evidence
