// Launch.cpp - one launch of a package's kernel on tensors in memory
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/evidence/Launch.h"

#include "tools/evidence/Layout.h"
#include "tools/evidence/UserError.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

using bitpact::reference::Tensor;

namespace bitpact::evidence {

const ContractSpec &chooseContract(const Package &package,
                                   const std::string &op,
                                   const std::string &selector) {
  std::vector<const ContractSpec *> chosen = chooseContracts(package, op);
  if (!selector.empty())
    std::erase_if(chosen, [&](const ContractSpec *one) {
      return one->digest.rfind(selector, 0) != 0 && one->name != selector;
    });
  if (chosen.empty()) {
    chooseContracts(package, selector);
    throw UserError(package.path(), fmt::format("contract '{}' is not of "
                                                "operator '{}'",
                                                selector, op));
  }
  if (chosen.size() > 1) {
    std::vector<std::string> list;
    for (const ContractSpec *one : chosen)
      list.push_back(fmt::format("{} {} ({})", one->digest.substr(0, 12),
                                 one->name, one->op));
    throw UserError(package.path(),
                    fmt::format("several contracts fit; name one with "
                                "--contract: {}",
                                fmt::join(list, ", ")));
  }
  return *chosen.front();
}

Dims bindDims(const ContractSpec &contract,
              const std::map<std::string, Tensor> &inputs) {
  Dims dims;
  std::map<std::string, std::string> boundBy;
  for (const auto &[dim, extent] : contract.dims)
    if (extent >= 0) {
      dims[dim] = extent;
      boundBy[dim] = "the contract";
    }
  for (const TensorSpec &spec : contract.tensors) {
    if (spec.output)
      continue;
    auto found = inputs.find(spec.name);
    if (found == inputs.end())
      throw UserError(fmt::format("input '{}' is missing", spec.name));
    const Tensor &tensor = found->second;
    if (tensor.format != spec.format)
      throw UserError(fmt::format("input '{}': element type is {}, the "
                                  "contract has {}",
                                  spec.name, algebra::name(tensor.format),
                                  spec.type));
    if (tensor.shape.size() != spec.dims.size())
      throw UserError(fmt::format(
          "input '{}': shape [{}] has {} axes, the contract has [{}]",
          spec.name, fmt::join(tensor.shape, ", "), tensor.shape.size(),
          fmt::join(spec.dims, ", ")));
    for (size_t axis = 0; axis < spec.dims.size(); ++axis) {
      const std::string &dim = spec.dims[axis];
      auto [bound, fresh] = dims.emplace(dim, tensor.shape[axis]);
      if (fresh)
        boundBy[dim] = fmt::format("input '{}'", spec.name);
      else if (bound->second != tensor.shape[axis])
        throw UserError(fmt::format(
            "input '{}': shape [{}], axis {} ({}) is {}; {} has {} = {}",
            spec.name, fmt::join(tensor.shape, ", "), axis, dim,
            tensor.shape[axis], boundBy[dim], dim, bound->second));
    }
  }
  for (const std::string &dim : contract.dimOrder)
    if (!dims.count(dim))
      throw UserError(fmt::format("no input has the open dim '{}'", dim));
  return dims;
}

LaunchResult launch(const LaunchRequest &request) {
  const ContractSpec &contract = *request.contract;
  LaunchResult result;
  result.dims = bindDims(contract, request.inputs);
  Device device(request.device);
  Kernel kernel(*request.package, device, contract.digest, request.role,
                request.variant);
  kernel.prepare(result.dims);
  const Layout &layout = allLayouts().front();
  std::vector<Placed> placed;
  std::vector<View> views;
  for (const TensorSpec &spec : contract.tensors) {
    placed.emplace_back(spec, device, layout, shapeOf(spec, result.dims));
    placed.back().put(
        0, spec.output ? nullptr : request.inputs.at(spec.name).bytes.data());
    views.push_back(placed.back().view());
  }
  int64_t variant = kernel.select(views);
  // When no variant fits, the launch says so and lists those there are.
  kernel.launch(views);
  if (kernel.takeFault())
    throw UserError(fmt::format(
        "{} ({}), variant {} on {}: an index names an element that is not "
        "there, or offsets do not ascend from 0 to their extent; what depends "
        "on it would be NaN, so no output is written",
        contract.name, contract.digest.substr(0, 12),
        request.package->variants().at(variant).id, request.device));
  result.variant = &request.package->variants().at(variant);
  for (size_t i = 0; i < placed.size(); ++i) {
    const TensorSpec &spec = contract.tensors[i];
    if (spec.output)
      result.outputs[spec.name] =
          Tensor{spec.format, shapeOf(spec, result.dims), placed[i].rows()};
  }
  return result;
}

} // namespace bitpact::evidence
