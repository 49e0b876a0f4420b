// AbiPackage.cpp - C interface: version, errors, packages
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/core/Handles.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstddef>

using namespace bitpact;
using runtime::fail;
using runtime::fillInfo;
using runtime::guard;
using runtime::require;

uint32_t bitpact_abi_version(void) { return BITPACT_ABI_VERSION; }
const char *bitpact_version(void) { return BITPACT_VERSION; }
const char *bitpact_last_error(void) { return runtime::lastError(); }

void bitpact_set_log(bitpact_log_fn log, void *context) {
  runtime::setLog(log, context);
}

const char *bitpact_status_name(bitpact_status status) {
  switch (status) {
  case BITPACT_OK:
    return "ok";
  case BITPACT_INVALID_ARGUMENT:
    return "invalid argument";
  case BITPACT_NOT_FOUND:
    return "not found";
  case BITPACT_BAD_PACKAGE:
    return "bad package";
  case BITPACT_MISSING_VARIANT:
    return "missing variant";
  case BITPACT_MISSING_DEVICE:
    return "missing device";
  case BITPACT_BAD_TENSOR:
    return "bad tensor";
  case BITPACT_DRIVER_ERROR:
    return "driver error";
  case BITPACT_OUT_OF_MEMORY:
    return "out of memory";
  case BITPACT_FORKED:
    return "forked";
  case BITPACT_BAD_STATE:
    return "bad state";
  case BITPACT_MISSING_LIBRARY:
    return "missing library";
  case BITPACT_CHALLENGE_FAILED:
    return "challenge failed";
  case BITPACT_INTERNAL:
    return "internal error";
  }
  return "unknown status";
}

// The manifest keeps dims sorted; only an argument list has their order.
static void orderDims(const package::Manifest &manifest,
                      const package::ContractEntry &entry,
                      bitpact_package::Contract &contract) {
  for (const package::Variant &variant : manifest.variants) {
    if (variant.contract != entry.digest)
      continue;
    for (const package::Argument &argument : variant.arguments)
      if (argument.kind == package::ArgumentKind::Dim)
        contract.dims.emplace_back(argument.dim, entry.dims.at(argument.dim));
    return;
  }
  for (const auto &[dim, extent] : entry.dims)
    contract.dims.emplace_back(dim, extent);
}

static std::unique_ptr<bitpact_package> index(package::Package opened) {
  auto handle = std::make_unique<bitpact_package>();
  handle->package = std::make_shared<const package::Package>(std::move(opened));
  const package::Manifest &manifest = handle->package->manifest;
  nlohmann::json whole = manifest;
  handle->producer = package::canonicalText(whole["producer"]);
  for (const package::ContractEntry &entry : manifest.contracts) {
    auto &contract = handle->contracts.emplace_back();
    for (const package::ContractTensor &tensor : entry.tensors) {
      auto &dims = contract.tensors.emplace_back().dims;
      for (const std::string &dim : tensor.dims)
        dims.push_back(dim.c_str());
    }
    orderDims(manifest, entry, contract);
  }
  for (size_t i = 0; i < manifest.variants.size(); ++i) {
    const package::Variant &entry = manifest.variants[i];
    auto &variant = handle->variants.emplace_back();
    for (size_t c = 0; c < manifest.contracts.size(); ++c)
      if (manifest.contracts[c].digest == entry.contract)
        variant.contract = uint32_t(c);
    variant.target = entry.target.text();
    nlohmann::json conditions = whole["variants"][i]["when"];
    if (whole["variants"][i].contains("cost")) {
      conditions["cost"] = whole["variants"][i]["cost"];
      for (const package::Tile &tile : entry.launch.tiles) {
        conditions["cost"]["tiles"][tile.dim] = tile.length;
        if (!tile.segments.empty())
          conditions["cost"]["segments"][tile.dim] = tile.segments;
      }
      conditions["cost"]["ctas_per_unit"] = entry.launch.ctasPerUnit;
      conditions["cost"]["ctas_per_program"] = entry.launch.ctasPerProgram;
      if (const package::CostTable *table = manifest.costsOf(entry.target))
        conditions["cost"]["on"] = {{"device", table->device},
                                    {"units", table->units},
                                    {"date", table->date}};
    }
    variant.conditions = package::canonicalText(conditions);
    for (const std::string &role : entry.roles)
      variant.roles.push_back(role.c_str());
    for (const package::FileEntry &file : entry.inspect)
      variant.inspect.push_back(file.file.c_str());
  }
  return handle;
}

bitpact_status bitpact_package_open(const char *path,
                                    bitpact_package **package) {
  return guard([&] {
    require(path, "path");
    require(package, "package");
    *package = nullptr;
    *package = index(package::openPackage(path)).release();
    runtime::log(fmt::format("opened package {}", path));
  });
}

void bitpact_package_close(bitpact_package *package) { delete package; }

bitpact_status bitpact_package_get_info(const bitpact_package *package,
                                        bitpact_package_info *info) {
  return guard([&] {
    require(package, "package");
    const package::Package &opened = *package->package;
    fillInfo(info, {0, opened.path.c_str(), opened.manifest.format,
                    package->producer.c_str(), opened.manifest.sha256.c_str(),
                    uint32_t(package->contracts.size()),
                    uint32_t(package->variants.size())});
  });
}

template <typename List>
static void checkIndex(const List &list, uint32_t index, const char *what) {
  if (index >= list.size())
    fail(BITPACT_NOT_FOUND, "{} {} does not exist; there are {}", what, index,
         list.size());
}

bitpact_status bitpact_contract_get_info(const bitpact_package *package,
                                         uint32_t contract,
                                         bitpact_contract_info *info) {
  return guard([&] {
    require(package, "package");
    checkIndex(package->contracts, contract, "contract");
    const auto &entry = package->package->manifest.contracts[contract];
    fillInfo(info,
             {0, entry.digest.c_str(), entry.name.c_str(), entry.op.c_str(),
              package->package->contractTexts[contract].c_str(),
              uint32_t(entry.tensors.size()),
              uint32_t(package->contracts[contract].dims.size())});
  });
}

bitpact_status bitpact_contract_get_tensor(const bitpact_package *package,
                                           uint32_t contract, uint32_t tensor,
                                           bitpact_tensor_info *info) {
  return guard([&] {
    require(package, "package");
    checkIndex(package->contracts, contract, "contract");
    const auto &entry = package->package->manifest.contracts[contract];
    checkIndex(entry.tensors, tensor, "tensor");
    const auto &plan = entry.tensors[tensor];
    const auto &dims = package->contracts[contract].tensors[tensor].dims;
    fillInfo(info, {0, plan.name.c_str(), plan.kind == package::TensorKind::Out,
                    package::name(plan.type), runtime::dataType(plan.type),
                    uint32_t(dims.size()), dims.data(),
                    plan.kind == package::TensorKind::Index});
  });
}

bitpact_status bitpact_contract_get_dim(const bitpact_package *package,
                                        uint32_t contract, uint32_t dim,
                                        bitpact_dim_info *info) {
  return guard([&] {
    require(package, "package");
    checkIndex(package->contracts, contract, "contract");
    const auto &dims = package->contracts[contract].dims;
    checkIndex(dims, dim, "dim");
    fillInfo(info, {0, dims[dim].first.c_str(), dims[dim].second});
  });
}

bitpact_status bitpact_variant_get_info(const bitpact_package *package,
                                        uint32_t variant,
                                        bitpact_variant_info *info) {
  return guard([&] {
    require(package, "package");
    checkIndex(package->variants, variant, "variant");
    const auto &entry = package->package->manifest.variants[variant];
    const auto &texts = package->variants[variant];
    bitpact_variant_info filled = {};
    filled.id = entry.id.c_str();
    filled.contract = texts.contract;
    filled.target_kind = bitpact_target_kind(entry.target.kind);
    filled.target = texts.target.c_str();
    filled.role_count = uint32_t(texts.roles.size());
    filled.roles = texts.roles.data();
    filled.priority = entry.priority;
    filled.entry = entry.entry.c_str();
    filled.schedule = entry.schedule.c_str();
    filled.evidence = package::name(entry.evidence);
    filled.code_file = entry.code.file.c_str();
    filled.code_sha256 = entry.code.sha256.c_str();
    filled.code_bytes = entry.code.bytes;
    filled.inspect_count = uint32_t(texts.inspect.size());
    filled.inspect_files = texts.inspect.data();
    filled.threads = entry.launch.threads;
    filled.programs_per_cta = entry.launch.programsPerCta;
    filled.rows_per_program = entry.launch.rowsPerProgram;
    filled.shared_bytes = entry.launch.sharedBytes;
    filled.registers = entry.resources.registers;
    filled.shared = entry.resources.shared;
    filled.local = entry.resources.local;
    filled.spills = entry.resources.spills;
    filled.workspace = entry.workspace.c_str();
    filled.conditions = texts.conditions.c_str();
    filled.library = entry.library.c_str();
    fillInfo(info, filled);
  });
}
