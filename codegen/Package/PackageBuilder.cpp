// PackageBuilder.cpp - contracts and compiled variants to a package
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/Package/PackageBuilder.h"
#include "runtime/package/ContractText.h"
#include "runtime/package/Writer.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/Support/ErrorHandling.h"
#include <stdexcept>

namespace bitpact::codegen {
namespace {

package::TargetKind kindOf(const Target &target) {
  switch (target.kind()) {
  case TargetKind::Cpu:
    return package::TargetKind::Cpu;
  case TargetKind::Cuda:
    return package::TargetKind::Cuda;
  case TargetKind::Hip:
    return package::TargetKind::Hip;
  }
  llvm_unreachable("covered above");
}

package::Target targetOf(const Target &target) {
  return {kindOf(target), target.arch().str(), target.features().str()};
}

package::ElementType elementType(const std::string &name) {
  for (package::ElementType type :
       {package::ElementType::BF16, package::ElementType::F16,
        package::ElementType::F32, package::ElementType::F64,
        package::ElementType::I32, package::ElementType::I64})
    if (name == package::name(type))
      return type;
  llvm_unreachable("the reader admits no other type");
}

package::TensorKind tensorKind(const std::string &name) {
  for (package::TensorKind kind :
       {package::TensorKind::In, package::TensorKind::Out,
        package::TensorKind::Index})
    if (name == package::name(kind))
      return kind;
  llvm_unreachable("the reader admits no other kind");
}

package::ContractEntry entryOf(const nlohmann::json &canonical,
                               const std::string &digest) {
  const nlohmann::json &op = canonical.at("op");
  package::ContractEntry entry;
  entry.digest = digest;
  entry.name = canonical.at("name");
  entry.op = op.at("name").get<std::string>() + "@" +
             std::to_string(op.at("version").get<int64_t>());
  entry.file = "contracts/" + digest + ".json";
  for (const nlohmann::json &tensor : op.at("tensors")) {
    const std::string name = tensor.at("name");
    entry.tensors.push_back({name, tensorKind(tensor.at("kind")),
                             tensor.at("dims").get<std::vector<std::string>>(),
                             elementType(canonical.at("types").at(name))});
  }
  for (const auto &[dim, extent] : canonical.at("dims").items())
    entry.dims[dim] =
        extent.is_string() ? package::dynamicExtent : extent.get<int64_t>();
  return entry;
}

} // namespace

PackageBuilder::PackageBuilder() {
  contents.producer = {{"bitpact", BITPACT_VERSION},
                       {"llvm", LLVM_VERSION_STRING}};
}

bool PackageBuilder::addContract(const nlohmann::json &canonical,
                                 const std::string &digest) {
  if (dimOrder.count(digest))
    return false;
  dimOrder[digest] =
      canonical.at("op").at("dims").get<std::vector<std::string>>();
  if (package::canFault(canonical))
    faulty.insert(digest);
  contents.contracts.push_back(entryOf(canonical, digest));
  std::string text = package::canonicalText(canonical);
  contents.contracts.back().sha256 = package::sha256Hex(text);
  files[contents.contracts.back().file] = std::move(text);
  return true;
}

/// `rms_norm-1a2b3c4d-sm_90a-0`: the operator, the contract, the target, and
/// how many such variants came before.
std::string PackageBuilder::uniqueId(const package::ContractEntry &contract,
                                     const Target &target) const {
  std::string stem = contract.op.substr(0, contract.op.find('@')) + "-" +
                     contract.digest.substr(0, 8) + "-" + target.arch().str() +
                     "-";
  for (unsigned n = 0;; ++n)
    if (llvm::none_of(contents.variants, [&](const package::Variant &other) {
          return other.id == stem + std::to_string(n);
        }))
      return stem + std::to_string(n);
}

std::string PackageBuilder::addVariant(package::Variant variant,
                                       const Target &target,
                                       const CompiledCode &code) {
  auto contract = llvm::find_if(contents.contracts, [&](const auto &entry) {
    return entry.digest == variant.contract;
  });
  if (contract == contents.contracts.end())
    throw std::logic_error("a variant before its contract");
  if (variant.id.empty())
    variant.id = uniqueId(*contract, target);
  variant.target = targetOf(target);
  std::vector<package::Argument> maps = std::move(variant.arguments);
  variant.arguments = package::argumentList(
      contract->tensors, dimOrder.at(contract->digest),
      variant.workspace != "0", faulty.count(contract->digest));
  llvm::append_range(variant.arguments, maps);
  if (variant.tensors.empty())
    for (const package::ContractTensor &tensor : contract->tensors)
      variant.tensors.push_back(
          {tensor.name, tensor.kind == package::TensorKind::Out, {}});
  variant.resources = {code.resources.registers, code.resources.shared,
                       code.resources.local, code.resources.spills};
  auto add = [&](const std::string &suffix, std::string bytes) {
    package::FileEntry entry;
    entry.file = "code/" + variant.id + "." + suffix;
    files[entry.file] = std::move(bytes);
    return entry;
  };
  variant.code = add(code.objectSuffix,
                     std::string(code.object.begin(), code.object.end()));
  variant.inspect = {add(code.assemblySuffix, code.assembly)};
  if (target.kind() == TargetKind::Cuda)
    contents.producer["ptxas"] = code.assemblerVersion;
  std::string id = variant.id;
  contents.variants.push_back(std::move(variant));
  return id;
}

void PackageBuilder::setCosts(const Target &target, llvm::StringRef device,
                              int64_t units, llvm::StringRef date) {
  if (!contents.costsOf(targetOf(target)))
    contents.costs.push_back(
        {targetOf(target).text(), device.str(), units, date.str()});
}

llvm::Error PackageBuilder::write(llvm::StringRef dir) const {
  try {
    package::writePackage(dir.str(), contents, files);
  } catch (const std::runtime_error &error) {
    return llvm::createStringError(error.what());
  }
  return llvm::Error::success();
}

} // namespace bitpact::codegen
