// Fixture.cpp - temporary packages and tensors for the tests of the runtime
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tests/unit/runtime/Fixture.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <numeric>
#include <unistd.h>

namespace bitpact::test {

namespace fs = std::filesystem;

Scratch::Scratch() {
  path = (fs::temp_directory_path() / "bitpact-test.XXXXXX").string();
  REQUIRE(::mkdtemp(path.data()));
}

Scratch::~Scratch() {
  std::error_code ignored;
  fs::remove_all(path, ignored);
}

std::string readBytes(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  REQUIRE(file);
  return {std::istreambuf_iterator<char>(file), {}};
}

void writeBytes(const std::string &path, const std::string &bytes) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file.write(bytes.data(), std::streamsize(bytes.size()));
  REQUIRE(file.good());
}

std::vector<std::string> listing(const std::string &dir) {
  std::vector<std::string> names;
  for (const fs::directory_entry &entry : fs::directory_iterator(dir))
    names.push_back(entry.path().filename());
  std::sort(names.begin(), names.end());
  return names;
}

std::string kernelBytes(const std::string &file) {
  fs::path executable = fs::read_symlink("/proc/self/exe");
  return readBytes(executable.parent_path() / "../lib/test-kernels" / file);
}

std::string contractText(const package::ContractEntry &contract) {
  using nlohmann::json;
  json tensors = json::array(), types = json::object(), dims = json::object();
  json body = json::array();
  for (const package::ContractTensor &tensor : contract.tensors) {
    tensors.push_back({{"name", tensor.name},
                       {"kind", package::name(tensor.kind)},
                       {"dims", tensor.dims}});
    types[tensor.name] = package::name(tensor.type);
    if (tensor.kind == package::TensorKind::Index)
      body.push_back({{"op", "take"}});
  }
  for (const auto &[dim, extent] : contract.dims)
    dims[dim] = extent == package::dynamicExtent ? json("*") : json(extent);
  return package::canonicalText(
      {{"bitpact", 1},
       {"name", contract.name},
       {"op",
        {{"name", contract.op.substr(0, contract.op.find('@'))},
         {"version", 1},
         {"dims", {"tokens", "hidden"}},
         {"tensors", tensors},
         {"body", body}}},
       {"types", types},
       {"dims", dims},
       {"nodes", json::object()}});
}
#if defined(__x86_64__)
const std::string baseLevel = "x86-64", nextLevel = "x86-64-v2";
#else
const std::string baseLevel = "aarch64", nextLevel = "aarch64";
#endif

static package::ContractEntry contractOf(const std::string &op) {
  package::ContractEntry contract;
  contract.digest = package::sha256Hex(op);
  contract.name = "test/" + op;
  contract.op = op + "@1";
  contract.file = "contracts/" + contract.digest + ".json";
  contract.dims = {{"tokens", package::dynamicExtent}, {"hidden", 8}};
  contract.tensors = {{"x",
                       package::TensorKind::In,
                       {"tokens", "hidden"},
                       package::ElementType::F32}};
  return contract;
}

package::ContractEntry rowSumContract(package::ElementType result) {
  package::ContractEntry contract = contractOf("row_sum");
  contract.tensors.push_back(
      {"y", package::TensorKind::Out, {"tokens"}, result});
  return contract;
}

package::ContractEntry mapContract() {
  package::ContractEntry contract = contractOf("doubled");
  contract.tensors.push_back({"y",
                              package::TensorKind::Out,
                              {"tokens", "hidden"},
                              package::ElementType::F32});
  return contract;
}

package::ContractEntry takenContract() {
  package::ContractEntry contract = contractOf("taken");
  contract.tensors.push_back({"target",
                              package::TensorKind::Index,
                              {"tokens"},
                              package::ElementType::I64});
  contract.tensors.push_back(
      {"y", package::TensorKind::Out, {"tokens"}, package::ElementType::F32});
  return contract;
}

package::Variant takenVariant(const std::string &id) {
  package::Variant variant = variantOf(takenContract(), id, "taken");
  variant.arguments = package::argumentList(takenContract().tensors,
                                            {"tokens", "hidden"}, false, true);
  return variant;
}

package::Variant variantOf(const package::ContractEntry &contract,
                           const std::string &id, const std::string &entry) {
  package::Variant variant;
  variant.id = id;
  variant.contract = contract.digest;
  variant.target = {package::TargetKind::Cpu, baseLevel, ""};
  variant.roles = {"train", "rollout"};
  variant.entry = entry;
  variant.schedule = "one row a program";
  variant.code.file = "code/" + id + ".so";
  variant.arguments =
      package::argumentList(contract.tensors, {"tokens", "hidden"});
  for (const package::ContractTensor &tensor : contract.tensors)
    variant.tensors.push_back(
        {tensor.name, tensor.kind == package::TensorKind::Out, {}});
  variant.launch.parallelDims = {"tokens"};
  return variant;
}

void Package::add(const package::ContractEntry &contract) {
  manifest.producer = {{"bitpact", "test"}};
  manifest.contracts.push_back(contract);
  files[contract.file] = contractText(contract);
}

void Package::add(const package::Variant &variant, const std::string &bytes) {
  manifest.variants.push_back(variant);
  files[variant.code.file] = bytes;
}

void Package::write(const std::string &dir) const {
  package::writePackage(dir, manifest, files);
}

Package rowSumPackage() {
  Package package;
  package.add(rowSumContract());
  package.add(variantOf(rowSumContract(), "only", "row_sum"));
  return package;
}

static void requireOk(bitpact_status status) {
  INFO(bitpact_status_name(status) << ": " << bitpact_last_error());
  REQUIRE(status == BITPACT_OK);
}

OpenPackage open(const std::string &dir) {
  bitpact_package *package = nullptr;
  requireOk(bitpact_package_open(dir.c_str(), &package));
  return OpenPackage(package);
}

OpenDevice device(const std::string &name, uint32_t threads) {
  bitpact_device_options options = {sizeof options, threads};
  bitpact_device *device = nullptr;
  requireOk(bitpact_device_open(name.c_str(), &options, &device));
  return OpenDevice(device);
}

OpenKernel kernel(const OpenPackage &package, const OpenDevice &device,
                  const std::string &role, const char *variant,
                  uint32_t contract) {
  bitpact_contract_info info = {};
  info.size = sizeof info;
  requireOk(bitpact_contract_get_info(package.get(), contract, &info));
  bitpact_kernel *kernel = nullptr;
  requireOk(bitpact_kernel_lookup(package.get(), device.get(), info.digest,
                                  role.c_str(), variant, &kernel));
  return OpenKernel(kernel);
}

Tensor::Tensor(void *data, std::vector<int64_t> shape, DLDataType dtype,
               std::vector<int64_t> strides)
    : shape(std::move(shape)), strides(std::move(strides)) {
  tensor = {data,
            {kDLCPU, 0},
            int(this->shape.size()),
            dtype,
            this->shape.data(),
            this->strides.empty() ? nullptr : this->strides.data(),
            0};
}

Launch::Launch(const Tensor &x, const Tensor &y)
    : Launch(std::vector<const DLTensor *>{&x.tensor, &y.tensor}) {}

Launch::Launch(const Tensor &x, const Tensor &index, const Tensor &y)
    : Launch(
          std::vector<const DLTensor *>{&x.tensor, &index.tensor, &y.tensor}) {}

Launch::Launch(std::vector<const DLTensor *> list) : tensors(std::move(list)) {
  args = {sizeof args,
          tensors.data(),
          uint32_t(tensors.size()),
          nullptr,
          nullptr,
          0,
          0};
}

bitpact_status Launch::run(const OpenKernel &kernel) const {
  return bitpact_kernel_launch(kernel.get(), &args);
}

std::string Launch::select(const OpenPackage &package,
                           const OpenKernel &kernel) const {
  uint32_t index = 0;
  if (bitpact_kernel_select(kernel.get(), &args, &index) != BITPACT_OK)
    return bitpact_last_error();
  bitpact_variant_info info = {};
  info.size = sizeof info;
  requireOk(bitpact_variant_get_info(package.get(), index, &info));
  return info.id;
}

std::vector<float> matrix(int64_t rows, int64_t columns) {
  std::vector<float> x(size_t(rows * columns));
  for (size_t i = 0; i < x.size(); ++i)
    x[i] = float((i * 7919) % 61) - 30;
  return x;
}

std::vector<float> rowSums(const std::vector<float> &x, int64_t columns) {
  std::vector<float> sums;
  for (auto row = x.begin(); row != x.end(); row += columns)
    sums.push_back(std::accumulate(row, row + columns, 0.0f));
  return sums;
}

} // namespace bitpact::test
