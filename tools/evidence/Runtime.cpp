// Runtime.cpp - the C ABI of libbitpact as values and owners
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/evidence/Runtime.h"

#include "contracts/algebra/Digest.h"
#include "contracts/algebra/RuleError.h"
#include "tools/evidence/UserError.h"

#include <algorithm>
#include <fmt/format.h>

using nlohmann::json;

namespace bitpact::evidence {
namespace {

template <typename Info> Info sized() {
  Info info{};
  info.size = sizeof(Info);
  return info;
}

std::vector<std::string> strings(const char *const *list, uint32_t count) {
  return {list, list + count};
}

TensorSpec tensorSpec(const bitpact_package *package, uint32_t contract,
                      uint32_t index) {
  auto info = sized<bitpact_tensor_info>();
  require(bitpact_contract_get_tensor(package, contract, index, &info));
  TensorSpec spec;
  spec.name = info.name;
  spec.output = info.is_output;
  spec.index = info.is_index;
  spec.type = info.type;
  spec.dtype = info.dtype;
  spec.dims = strings(info.dims, info.rank);
  std::optional<algebra::Format> format = algebra::parseFormat(info.type);
  if (!format)
    throw std::runtime_error(fmt::format("tensor '{}' has the unknown type {}",
                                         spec.name, spec.type));
  spec.format = *format;
  return spec;
}

/// A launch believes the manifest and the oracle the contract's text, which the
/// runtime compares; here, that the text is what the digest names.
void checkDigest(const ContractSpec &spec) {
  std::string found;
  try {
    found = algebra::digest(json::parse(spec.text));
  } catch (const json::exception &error) {
    found = error.what();
  } catch (const algebra::RuleError &error) {
    found = error.what();
  }
  if (found != spec.digest)
    throw UserError(fmt::format("contract '{}': the contract's text has the "
                                "digest {}, the manifest says {}; the package "
                                "was altered",
                                spec.name, found, spec.digest));
}

ContractSpec contractSpec(const bitpact_package *package, uint32_t index) {
  auto info = sized<bitpact_contract_info>();
  require(bitpact_contract_get_info(package, index, &info));
  ContractSpec spec;
  spec.index = index;
  spec.digest = info.digest;
  spec.name = info.name;
  spec.op = info.op;
  spec.text = info.text;
  for (uint32_t i = 0; i < info.tensor_count; ++i)
    spec.tensors.push_back(tensorSpec(package, index, i));
  for (uint32_t i = 0; i < info.dim_count; ++i) {
    auto dim = sized<bitpact_dim_info>();
    require(bitpact_contract_get_dim(package, index, i, &dim));
    spec.dimOrder.emplace_back(dim.name);
    spec.dims[dim.name] = dim.extent;
  }
  checkDigest(spec);
  return spec;
}

VariantSpec variantSpec(const bitpact_package *package, uint32_t index) {
  auto info = sized<bitpact_variant_info>();
  require(bitpact_variant_get_info(package, index, &info));
  VariantSpec spec;
  spec.index = index;
  spec.contract = info.contract;
  spec.id = info.id;
  spec.target = info.target;
  spec.arch = spec.target.substr(spec.target.find(':') + 1);
  spec.arch = spec.arch.substr(0, spec.arch.find(':')); // without features
  spec.entry = info.entry;
  spec.schedule = info.schedule;
  spec.evidence = info.evidence;
  spec.workspace = info.workspace;
  spec.kind = info.target_kind;
  spec.roles = strings(info.roles, info.role_count);
  spec.inspectFiles = strings(info.inspect_files, info.inspect_count);
  spec.priority = info.priority;
  spec.codeFile = info.code_file;
  spec.codeSha256 = info.code_sha256;
  spec.codeBytes = info.code_bytes;
  spec.threads = info.threads;
  spec.programsPerCta = info.programs_per_cta;
  spec.rowsPerProgram = info.rows_per_program;
  spec.sharedBytes = info.shared_bytes;
  spec.registers = info.registers;
  spec.shared = info.shared;
  spec.local = info.local;
  spec.spills = info.spills;
  spec.library = info.library;
  spec.conditions = json::parse(info.conditions, nullptr, false);
  return spec;
}

std::vector<bitpact_dim> dimList(const std::map<std::string, int64_t> &dims) {
  std::vector<bitpact_dim> list;
  for (const auto &[name, extent] : dims)
    list.push_back({name.c_str(), extent});
  return list;
}

} // namespace

void require(bitpact_status status) {
  if (status == BITPACT_OK)
    return;
  std::string message = bitpact_last_error();
  if (status == BITPACT_DRIVER_ERROR)
    throw DriverError(message);
  if (status == BITPACT_MISSING_LIBRARY)
    throw MissingLibrary(message);
  if (status == BITPACT_INTERNAL || status == BITPACT_BAD_STATE)
    throw std::runtime_error(message);
  throw UserError(message);
}

const char *kindOf(const TensorSpec &tensor) {
  return tensor.output ? "out" : tensor.index ? "index" : "in";
}

Package::Package(const std::string &path) : packagePath(path) {
  bitpact_package *package = nullptr;
  require(bitpact_package_open(path.c_str(), &package));
  owner.reset(package, bitpact_package_close);
  auto info = sized<bitpact_package_info>();
  require(bitpact_package_get_info(package, &info));
  manifestHash = info.sha256;
  tools = json::parse(info.producer, nullptr, false);
  for (uint32_t i = 0; i < info.contract_count; ++i)
    contractList.push_back(contractSpec(package, i));
  for (uint32_t i = 0; i < info.variant_count; ++i)
    variantList.push_back(variantSpec(package, i));
}

std::vector<const VariantSpec *>
Package::variantsOf(const ContractSpec &contract) const {
  std::vector<const VariantSpec *> list;
  for (const VariantSpec &variant : variantList)
    if (variant.contract == contract.index)
      list.push_back(&variant);
  return list;
}

Device::Device(const std::string &deviceName, uint32_t threads) {
  auto options = sized<bitpact_device_options>();
  options.threads = threads;
  bitpact_device *device = nullptr;
  try {
    require(bitpact_device_open(deviceName.c_str(), &options, &device));
  } catch (const UserError &error) {
    throw UserError(fmt::format("device '{}': {}", deviceName, error.what()));
  }
  owner.reset(device, bitpact_device_close);
  auto info = sized<bitpact_device_info>();
  require(bitpact_device_get_info(device, &info));
  name = info.name;
  description = info.description;
  kind = info.target_kind;
  archs = strings(info.archs, info.arch_count);
  units = info.units;
  dlDevice = info.dl_device;
}

bool Device::runs(const VariantSpec &variant) const {
  return variant.kind == kind &&
         std::find(archs.begin(), archs.end(), variant.arch) != archs.end();
}

std::vector<std::string> devicesHere() {
  std::vector<std::string> names{"cpu"};
  for (const char *gpu : {"cuda:0", "hip:0"}) {
    bitpact_device *device = nullptr;
    if (bitpact_device_open(gpu, nullptr, &device) == BITPACT_OK) {
      bitpact_device_close(device);
      names.emplace_back(gpu);
    }
  }
  return names;
}

Buffer::Buffer(const Device &on, uint64_t bytes)
    : device(on.shared()), byteCount(bytes) {
  void *data = nullptr;
  require(
      bitpact_device_alloc(device.get(), std::max<uint64_t>(bytes, 1), &data));
  owner.reset(data, [device = device](void *memory) {
    bitpact_device_free(device.get(), memory);
  });
}

void Buffer::upload(const void *from, uint64_t count) {
  require(bitpact_device_copy_in(device.get(), data(), from, count));
}

void Buffer::download(void *to, uint64_t count) const {
  require(bitpact_device_copy_out(device.get(), to, data(), count));
}

void Buffer::fill(uint8_t value) {
  require(bitpact_device_fill(device.get(), data(), value, byteCount, nullptr));
}

View::View(const TensorSpec &spec, const Device &device, void *data,
           std::vector<int64_t> shapeOf, std::vector<int64_t> stridesOf)
    : shape(std::move(shapeOf)), strides(std::move(stridesOf)) {
  fields.data = data;
  fields.device = device.dlDevice;
  fields.ndim = static_cast<int32_t>(shape.size());
  fields.dtype = spec.dtype;
}

DLTensor View::get() const {
  DLTensor tensor = fields;
  tensor.shape = const_cast<int64_t *>(shape.data());
  tensor.strides = const_cast<int64_t *>(strides.data());
  return tensor;
}

Kernel::Kernel(const Package &package, const Device &on,
               const std::string &digest, const std::string &role,
               const std::string &variant)
    : device(on) {
  bitpact_kernel *kernel = nullptr;
  require(bitpact_kernel_lookup(
      package.handle(), device.handle(), digest.c_str(), role.c_str(),
      variant.empty() ? nullptr : variant.c_str(), &kernel));
  owner.reset(kernel, bitpact_kernel_release);
  for (const ContractSpec &contract : package.contracts())
    if (contract.digest == digest)
      for (const TensorSpec &tensor : contract.tensors)
        outputs.push_back(tensor.output);
}

void Kernel::prepare(const std::map<std::string, int64_t> &dims) {
  std::vector<bitpact_dim> list = dimList(dims);
  auto count = static_cast<uint32_t>(list.size());
  require(bitpact_kernel_prepare(owner.get(), list.data(), count));
  uint64_t bytes = 0;
  require(bitpact_kernel_workspace(owner.get(), list.data(), count, &bytes));
  if (bytes > workspace.bytes()) {
    workspace = Buffer(device, bytes);
    // NaNs: a kernel that reads what it has not written shows.
    workspace.fill(0xff);
  }
}

bitpact_launch_args
Kernel::arguments(const std::vector<View> &tensors,
                  std::vector<DLTensor> &storage,
                  std::vector<const DLTensor *> &list) const {
  storage.reserve(tensors.size());
  for (const View &view : tensors) {
    storage.push_back(view.get());
    list.push_back(&storage.back());
  }
  auto args = sized<bitpact_launch_args>();
  args.tensors = list.data();
  args.tensor_count = static_cast<uint32_t>(list.size());
  args.workspace = workspace.data();
  args.workspace_bytes = workspace.bytes();
  return args;
}

uint64_t Kernel::steadyAmong(const std::vector<DLTensor> &tensors) const {
  uint64_t bits = 0;
  for (size_t i = 0; i < outputs.size(); ++i)
    if (!outputs[i])
      bits |= uint64_t(1) << i;
  for (size_t i = 0; i < outputs.size(); ++i)
    for (size_t j = 0; outputs[i] && j < outputs.size(); ++j)
      if (tensors[i].data == tensors[j].data)
        bits &= ~(uint64_t(1) << j);
  return bits;
}

int64_t Kernel::select(const std::vector<View> &tensors) const {
  std::vector<DLTensor> storage;
  std::vector<const DLTensor *> list;
  bitpact_launch_args args = arguments(tensors, storage, list);
  uint32_t variant = 0;
  bitpact_status status = bitpact_kernel_select(owner.get(), &args, &variant);
  if (status == BITPACT_MISSING_VARIANT)
    return -1;
  require(status);
  return variant;
}

void Kernel::launch(const std::vector<View> &tensors, uint64_t site) const {
  std::vector<DLTensor> storage;
  std::vector<const DLTensor *> list;
  bitpact_launch_args args = arguments(tensors, storage, list);
  args.site = site;
  steady = !steady;
  if (steady)
    args.steady = steadyAmong(storage);
  require(bitpact_kernel_launch(owner.get(), &args));
}

PreparedLaunch Kernel::prepareLaunch(const std::vector<View> &tensors) const {
  // Moved as a whole: what points into the vectors keeps pointing there.
  PreparedLaunch launch;
  launch.kernel = owner;
  launch.views = tensors;
  launch.args = arguments(launch.views, launch.storage, launch.list);
  launch.args.steady = steadyAmong(launch.storage);
  return launch;
}

bool Kernel::takeFault() const {
  uint32_t fault = 0;
  require(bitpact_kernel_fault(owner.get(), &fault));
  return fault;
}

} // namespace bitpact::evidence
