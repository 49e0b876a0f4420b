// Subject.cpp - the product that a library is to compute, and for which extents
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/evidence/attest/Subject.h"

#include "tools/evidence/UserError.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <set>

namespace bitpact::evidence::attest {
namespace {

constexpr int64_t mostElements = int64_t(1) << 30;
/// Of a range with so few extents, all are tried.
constexpr int64_t fewExtents = 16;

/// The package format says of which kind of contract a library's variant may
/// be; whether the contract is a plain product is found by its bytes.
package::PinnedProduct productOf(const package::ContractEntry &contract) {
  std::vector<const package::ContractTensor *> inputs, outputs;
  bool plain = contract.tensors.size() == 3;
  for (const package::ContractTensor &tensor : contract.tensors) {
    plain &= tensor.dims.size() == 2;
    (tensor.kind == package::TensorKind::In ? inputs : outputs)
        .push_back(&tensor);
  }
  plain = plain && inputs.size() == 2 &&
          outputs[0]->kind == package::TensorKind::Out;
  if (plain && inputs[0]->dims[0] != outputs[0]->dims[0])
    std::swap(inputs[0], inputs[1]);
  if (!plain || inputs[0]->dims[0] != outputs[0]->dims[0] ||
      inputs[1]->dims[0] != outputs[0]->dims[1] ||
      inputs[0]->dims[1] != inputs[1]->dims[1])
    throw UserError(fmt::format("contract {} ({}) is not the product of two "
                                "matrices; a library serves nothing else",
                                contract.name, contract.op));
  return {{inputs[0]->name, inputs[0]->type},
          {inputs[1]->name, inputs[1]->type},
          {outputs[0]->name, outputs[0]->type},
          outputs[0]->dims[0],
          outputs[0]->dims[1],
          inputs[0]->dims[1]};
}

std::vector<int64_t> extentsIn(const package::Range &range) {
  std::set<int64_t> extents{range.min, range.max,
                            range.min + (range.max - range.min) / 3};
  if (range.max - range.min < fewExtents)
    for (int64_t extent = range.min; extent <= range.max; ++extent)
      extents.insert(extent);
  for (int64_t power = 1; power <= range.max / 4; power *= 4)
    for (int64_t extent : {power, power + 1})
      if (extent >= range.min && extent <= range.max)
        extents.insert(extent);
  return {extents.begin(), extents.end()};
}

void checkRange(const ContractSpec &contract, const std::string &dim,
                const package::Range &range) {
  auto found = contract.dims.find(dim);
  if (found == contract.dims.end() || found->second >= 0) {
    std::vector<std::string> open;
    for (const auto &[name, extent] : contract.dims)
      if (extent < 0)
        open.push_back(name);
    throw UserError(fmt::format(
        "--range {}: is not an open dim of {}; open: "
        "{}",
        dim, contract.name,
        open.empty() ? "none" : fmt::format("{}", fmt::join(open, ", "))));
  }
  if (range.min < 1 || range.min > range.max)
    throw UserError(fmt::format("--range {}: {}..{} is no range of extents",
                                dim, range.min, range.max));
}

std::vector<Dims>
shapesOf(const ContractSpec &contract,
         const std::map<std::string, std::vector<int64_t>> &extents) {
  std::vector<Dims> shapes{{}};
  for (const std::string &dim : contract.dimOrder) {
    int64_t fixed = contract.dims.at(dim);
    std::vector<int64_t> tried =
        fixed >= 0 ? std::vector<int64_t>{fixed} : extents.at(dim);
    std::vector<Dims> longer;
    for (const Dims &dims : shapes)
      for (int64_t extent : tried) {
        longer.push_back(dims);
        longer.back()[dim] = extent;
      }
    shapes = std::move(longer);
  }
  for (const Dims &dims : shapes)
    for (const TensorSpec &tensor : contract.tensors)
      if (int64_t count = elementsOf(shapeOf(tensor, dims));
          count > mostElements)
        throw UserError(fmt::format("--range: '{}' has {} elements at {}; at "
                                    "most 2^30 are compared",
                                    tensor.name, count, dimsText(dims)));
  return shapes;
}

/// What a launch on tensors of that shape runs. Their places, far apart, are
/// compared, and nothing is read there.
std::string launchedAt(const Package &package, const ContractSpec &contract,
                       const Device &device, const Kernel &kernel,
                       const Dims &dims) {
  std::vector<View> views;
  uintptr_t place = 0;
  for (const TensorSpec &tensor : contract.tensors) {
    std::vector<int64_t> shape = shapeOf(tensor, dims);
    place += uintptr_t(1) << 40;
    views.emplace_back(tensor, device, reinterpret_cast<void *>(place), shape,
                       std::vector<int64_t>{shape[1], 1});
  }
  int64_t chosen = kernel.select(views);
  return chosen < 0 ? "" : package.variants().at(size_t(chosen)).id;
}

} // namespace

std::string dimsText(const Dims &dims) {
  std::vector<std::string> parts;
  for (const auto &[dim, extent] : dims)
    parts.push_back(fmt::format("{}={}", dim, extent));
  return fmt::format("{}", fmt::join(parts, " "));
}

Subject subjectOf(const Package &package, const ContractSpec &contract,
                  const Device &device, const Ranges &ranges) {
  Subject subject;
  subject.ranges = ranges;
  subject.stored = package::openPackage(package.path());
  const package::Manifest &manifest = subject.stored.manifest;
  for (const package::ContractEntry &one : manifest.contracts)
    if (one.digest == contract.digest)
      subject.contract = one;
  subject.product = productOf(subject.contract);
  const VariantSpec *first = nullptr;
  for (const VariantSpec *variant : package.variantsOf(contract))
    if (!first && device.runs(*variant) && variant->library.empty())
      first = variant;
  if (!first)
    throw UserError(fmt::format("{}: no generated variant of {} runs on {}; "
                                "the library's bytes are held against it",
                                package.path(), contract.name, device.name));
  for (const package::Variant &one : manifest.variants)
    if (one.id == first->id)
      subject.generated = one;
  for (const auto &[dim, range] : ranges) {
    checkRange(contract, dim, range);
    subject.extents[dim] = extentsIn(range);
  }
  for (const auto &[dim, extent] : contract.dims)
    if (extent < 0 && !ranges.count(dim))
      throw UserError(fmt::format("dim '{}' of {} is open: say --range "
                                  "{}=LEAST..LARGEST",
                                  dim, contract.name, dim));
  subject.shapes = shapesOf(contract, subject.extents);
  subject.launched = {subject.generated.id};
  for (const std::string &role : subject.generated.roles) {
    Kernel kernel(package, device, contract.digest, role);
    for (const Dims &dims : subject.shapes)
      subject.launched.insert(
          launchedAt(package, contract, device, kernel, dims));
  }
  // Where a library serves already, who else would is not asked: all are taken.
  for (const VariantSpec *variant : package.variantsOf(contract))
    if (!variant->library.empty() && subject.launched.erase(variant->id))
      for (const VariantSpec *other : package.variantsOf(contract))
        if (other->library.empty())
          subject.launched.insert(other->id);
  return subject;
}

} // namespace bitpact::evidence::attest
