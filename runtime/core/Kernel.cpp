// Kernel.cpp - looks a kernel up and turns its names into numbers
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/core/Kernel.h"

#include "runtime/core/Record.h"

#include <fmt/ranges.h>

#include <algorithm>

namespace bitpact::runtime {

using package::ArgumentKind;
using package::ContractEntry;
using package::Manifest;
using package::Variant;

DLDataType dataType(package::ElementType type) {
  switch (type) {
  case package::ElementType::BF16:
    return {kDLBfloat, 16, 1};
  case package::ElementType::F16:
    return {kDLFloat, 16, 1};
  case package::ElementType::F32:
    return {kDLFloat, 32, 1};
  case package::ElementType::F64:
    return {kDLFloat, 64, 1};
  case package::ElementType::I32:
    return {kDLInt, 32, 1};
  case package::ElementType::I64:
    return {kDLInt, 64, 1};
  }
  return {kDLOpaqueHandle, 0, 0};
}

static uint32_t findContract(const package::Package &package,
                             const std::string &digest) {
  const auto &contracts = package.manifest.contracts;
  for (size_t i = 0; i < contracts.size(); ++i)
    if (contracts[i].digest == digest)
      return uint32_t(i);
  std::string list;
  for (const ContractEntry &contract : contracts)
    list += fmt::format("\n  {} {} ({})", contract.digest, contract.name,
                        contract.op);
  fail(BITPACT_NOT_FOUND, "contract '{}' is not in package {}; it has:{}",
       digest, package.path, list.empty() ? " none" : list);
}

static int64_t rankOf(const std::vector<std::string> &archs,
                      const std::string &arch) {
  auto found = std::find(archs.begin(), archs.end(), arch);
  return found == archs.end() ? -1 : found - archs.begin();
}

// Best architecture first, then priority, then the order in the manifest.
static std::vector<uint32_t> admissible(const Kernel &kernel,
                                        const std::string &digest,
                                        const std::string *only) {
  const auto &variants = kernel.package->manifest.variants;
  const drivers::Device &device = *kernel.device;
  std::vector<uint32_t> found;
  for (size_t i = 0; i < variants.size(); ++i) {
    const Variant &variant = variants[i];
    bool forRole = std::find(variant.roles.begin(), variant.roles.end(),
                             kernel.role) != variant.roles.end();
    // What nobody has vouched for runs only when it is asked for.
    bool vouched =
        variant.library.empty() || variant.evidence != package::Evidence::None;
    if (variant.contract == digest && variant.target.kind == device.kind &&
        rankOf(device.archs, variant.target.arch) >= 0 && forRole &&
        (only ? variant.id == *only : vouched))
      found.push_back(uint32_t(i));
  }
  auto key = [&](uint32_t i) {
    return std::pair(rankOf(device.archs, variants[i].target.arch),
                     variants[i].priority);
  };
  std::stable_sort(found.begin(), found.end(),
                   [&](uint32_t a, uint32_t b) { return key(a) < key(b); });
  return found;
}

[[noreturn]] static void failMissing(const Kernel &kernel,
                                     const std::string &digest,
                                     const std::string *only) {
  const ContractEntry &contract =
      kernel.package->manifest.contracts[kernel.contract];
  std::string list;
  for (const Variant &variant : kernel.package->manifest.variants)
    if (variant.contract == digest)
      list +=
          fmt::format("\n  {} for {}, roles {}", variant.id,
                      variant.target.text(), fmt::join(variant.roles, ", "));
  fail(BITPACT_MISSING_VARIANT,
       "no variant{} of {} for device '{}' (runs {}) and role '{}'; the "
       "package has:{}",
       only ? " '" + *only + "'" : "", contract.name, kernel.device->name,
       kernel.device->archs.empty()
           ? "nothing"
           : fmt::format("{}", fmt::join(kernel.device->archs, ", ")),
       kernel.role, list.empty() ? " none" : list);
}

namespace {

// Indices of names; verify() has made sure that every name is there.
class Resolver {
public:
  Resolver(const Kernel &kernel) : kernel(kernel) {}
  uint8_t dim(const std::string &name) const {
    return index(kernel.dims, name);
  }
  uint8_t tensor(const std::string &name) const {
    return index(kernel.tensors, name);
  }

private:
  template <typename Plans>
  static uint8_t index(const Plans &plans, const std::string &name) {
    for (size_t i = 0; i < plans.size(); ++i)
      if (plans[i].name == name)
        return uint8_t(i);
    fail(BITPACT_INTERNAL, "name '{}' was not verified", name);
  }

  const Kernel &kernel;
};

} // namespace

static void planContract(Kernel &kernel, const ContractEntry &contract,
                         const Variant &first) {
  for (const package::Argument &argument : first.arguments)
    if (argument.kind == ArgumentKind::Dim)
      kernel.dims.push_back({argument.dim, contract.dims.at(argument.dim)});
  Resolver resolve(kernel);
  for (const package::ContractTensor &tensor : contract.tensors) {
    TensorPlan plan = {};
    plan.name = tensor.name;
    plan.type = tensor.type;
    plan.dtype = dataType(tensor.type);
    plan.elementBytes = package::bytesOf(tensor.type);
    plan.isOutput = tensor.kind == package::TensorKind::Out;
    plan.rank = uint32_t(tensor.dims.size());
    for (size_t axis = 0; axis < tensor.dims.size(); ++axis)
      plan.dims[axis] = resolve.dim(tensor.dims[axis]);
    kernel.tensors.push_back(plan);
  }
}

static StepPlan planStep(const Resolver &resolve,
                         const package::Launch &launch) {
  StepPlan plan = {{}, launch.rowsPerProgram, -1, launch.split.length,
                   launch.split.less, {}, launch.ctasPerUnit,
                   launch.ctasPerProgram};
  for (const package::Tile &tile : launch.tiles)
    plan.tiles.push_back(
        {resolve.dim(tile.dim), tile.length,
         tile.segments.empty() ? -1 : int(resolve.dim(tile.segments))});
  for (const std::string &dim : launch.parallelDims)
    plan.parallelDims.push_back(resolve.dim(dim));
  if (!launch.split.dim.empty())
    plan.splitDim = resolve.dim(launch.split.dim);
  return plan;
}

static Candidate planVariant(const Kernel &kernel, uint32_t index) {
  const Variant &variant = kernel.package->manifest.variants[index];
  const ContractEntry &contract =
      kernel.package->manifest.contracts[kernel.contract];
  Resolver resolve(kernel);
  Candidate plan = {};
  plan.variant = index;
  plan.tier = {rankOf(kernel.device->archs, variant.target.arch),
               variant.priority};
  plan.cost = variant.cost;
  if (!variant.cost.dim.empty())
    plan.costDim = resolve.dim(variant.cost.dim);
  for (const auto &[dim, range] : variant.when.dims)
    plan.dims[resolve.dim(dim)] = range;
  for (size_t i = 0; i < kernel.tensors.size(); ++i) {
    // The least that holds of any tensor.
    plan.align[i] = uint64_t(kernel.tensors[i].elementBytes);
    plan.strideMultiple[i] = 1;
  }
  for (const auto &[tensor, bytes] : variant.when.align) {
    uint64_t &align = plan.align[resolve.tensor(tensor)];
    align = std::max(align, uint64_t(bytes));
  }
  for (const auto &[tensor, elements] : variant.when.strideMultiple)
    plan.strideMultiple[resolve.tensor(tensor)] = elements;
  for (size_t i = 0; i < variant.tensors.size(); ++i)
    for (const std::string &alias : variant.tensors[i].alias)
      plan.alias[i] |= 1u << resolve.tensor(alias);
  plan.steps.push_back(planStep(resolve, variant.launch));
  for (const package::Step &step : variant.then)
    plan.steps.push_back(planStep(resolve, step.launch));
  for (const package::Argument &argument : variant.arguments) {
    SlotPlan slot = {argument.kind, 0, uint8_t(argument.axis), 0, argument.box};
    if (!argument.tensor.empty())
      slot.tensor = resolve.tensor(argument.tensor);
    if (argument.kind == ArgumentKind::TensorMap)
      plan.mapped |= 1u << slot.tensor;
    if (argument.kind == ArgumentKind::Dim)
      slot.dim = resolve.dim(argument.dim);
    plan.slots.push_back(slot);
  }
  for (const auto &term : package::Formula::parse(variant.workspace).terms) {
    TermPlan resolved = {term.coefficient, {}};
    for (const auto &factor : term.factors)
      resolved.factors.push_back({resolve.dim(factor.dim), factor.divisor});
    plan.workspace.push_back(resolved);
  }
  Description description = {
      contract.digest,     contract.name,       contract.op,
      variant.id,          variant.code.sha256, variant.target.text(),
      kernel.device->name, kernel.role,         {}};
  for (const DimPlan &dim : kernel.dims)
    description.dims.push_back(dim.name);
  plan.description = describe(description);
  plan.isLibrary = !variant.library.empty();
  std::string code = package::readVerified(kernel.package->path, variant.code);
  plan.code = kernel.device->load(variant, code);
  if (plan.isLibrary && variant.evidence != package::Evidence::None)
    challenge(kernel, plan, package::parsePin(code, variant.code.file));
  log(fmt::format("loaded {} of {} on {}", variant.id, contract.name,
                  kernel.device->name));
  return plan;
}

// A library that is not here leaves the other variants, which give the same
// bytes; without any it is what is missing.
static void planCandidates(Kernel &kernel) {
  std::vector<uint32_t> found;
  std::string missing;
  for (uint32_t variant : kernel.variants) {
    try {
      kernel.candidates.push_back(planVariant(kernel, variant));
      found.push_back(variant);
    } catch (const Failure &failure) {
      if (failure.status != BITPACT_MISSING_LIBRARY)
        throw;
      log(failure.what());
      missing = failure.what();
    }
  }
  if (found.empty())
    fail(BITPACT_MISSING_LIBRARY, "{}", missing);
  kernel.variants = std::move(found);
}

// Which variant is the fastest differs among devices of one architecture. The
// choice is the same wherever the costs are read.
static void logForeignCosts(const Kernel &kernel) {
  const Manifest &manifest = kernel.package->manifest;
  for (const package::CostTable &table : manifest.costs)
    for (const Candidate &candidate : kernel.candidates) {
      const Variant &variant = kernel.variantOf(candidate);
      if (candidate.costDim < 0 || variant.target.text() != table.target ||
          kernel.device->description == table.device)
        continue;
      log(fmt::format("{}: {} chooses among variants for {} by costs of "
                      "another device: {}, {} units, measured {}",
                      kernel.device->name,
                      manifest.contracts[kernel.contract].name, table.target,
                      table.device, table.units, table.date));
      break;
    }
}

std::shared_ptr<Kernel> lookup(std::shared_ptr<const package::Package> package,
                               std::shared_ptr<drivers::Device> device,
                               const std::string &digest,
                               const std::string &role,
                               const std::string *only) {
  device->checkFork();
  const Manifest &manifest = package->manifest;
  if (std::find(std::begin(package::roleNames), std::end(package::roleNames),
                role) == std::end(package::roleNames))
    fail(BITPACT_INVALID_ARGUMENT, "role '{}' is unknown; allowed: {}", role,
         fmt::join(package::roleNames, ", "));
  auto kernel = std::make_shared<Kernel>();
  kernel->package = package;
  kernel->device = device;
  kernel->role = role;
  kernel->contract = findContract(*package, digest);
  kernel->variants = admissible(*kernel, digest, only);
  if (kernel->variants.empty())
    failMissing(*kernel, digest, only);
  planContract(*kernel, manifest.contracts[kernel->contract],
               manifest.variants[kernel->variants.front()]);
  planCandidates(*kernel);
  logForeignCosts(*kernel);
  for (const Candidate &candidate : kernel->candidates)
    for (const SlotPlan &slot : candidate.slots)
      if (slot.kind == ArgumentKind::Fault && !kernel->fault)
        kernel->fault = std::make_shared<FaultWord>(device);
  return kernel;
}

} // namespace bitpact::runtime
