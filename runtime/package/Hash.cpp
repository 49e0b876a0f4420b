// Hash.cpp - SHA-256 and canonical text
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/package/Format.h"

#include <mbedtls/sha256.h>
#include <mbedtls/version.h>
#include <nlohmann/json.hpp>

#include <algorithm>

namespace bitpact::package {

std::string canonicalText(const nlohmann::json &value) {
  return value.dump(-1, ' ', false, nlohmann::json::error_handler_t::strict);
}

std::string sha256Hex(std::string_view bytes) {
  unsigned char digest[32];
  const auto *data = reinterpret_cast<const unsigned char *>(bytes.data());
#if MBEDTLS_VERSION_MAJOR >= 3
  int failed = mbedtls_sha256(data, bytes.size(), digest, 0);
#else
  int failed = mbedtls_sha256_ret(data, bytes.size(), digest, 0);
#endif
  if (failed)
    throw std::runtime_error("SHA-256 failed in mbedtls");
  static const char digits[] = "0123456789abcdef";
  std::string text;
  text.reserve(64);
  for (unsigned char byte : digest) {
    text += digits[byte >> 4];
    text += digits[byte & 15];
  }
  return text;
}

std::string manifestHash(const nlohmann::json &manifest) {
  nlohmann::json rest = manifest;
  rest.erase("sha256");
  return sha256Hex(canonicalText(rest));
}

// Whether a variant has blocks of segments, or a map of a stack of matrices.
static bool hasStacks(const Manifest &manifest, const Variant &variant) {
  for (const Tile &tile : variant.launch.tiles)
    if (!tile.segments.empty())
      return true;
  for (const ContractEntry &contract : manifest.contracts)
    if (contract.digest == variant.contract)
      for (const ContractTensor &tensor : contract.tensors)
        for (const Argument &argument : variant.arguments)
          if (argument.kind == ArgumentKind::TensorMap &&
              argument.tensor == tensor.name && tensor.dims.size() > 2)
            return true;
  return false;
}

int64_t formatOf(const Manifest &manifest) {
  for (const Variant &variant : manifest.variants)
    for (const Argument &argument : variant.arguments)
      if (argument.box.promotion)
        return 6;
  if (!manifest.costs.empty())
    return 5;
  for (const Variant &variant : manifest.variants)
    if (variant.cost.evidence != Evidence::None)
      return 5;
  for (const Variant &variant : manifest.variants)
    if (hasStacks(manifest, variant))
      return 4;
  for (const Variant &variant : manifest.variants)
    for (const Argument &argument : variant.arguments)
      if (argument.kind == ArgumentKind::Steady)
        return 4;
  for (const Variant &variant : manifest.variants)
    if (!variant.library.empty() || !variant.launch.tiles.empty() ||
        variant.launch.ctasPerUnit || variant.launch.ctasPerProgram > 1 ||
        variant.launch.overlaps || variant.cost != Cost() ||
        std::any_of(variant.arguments.begin(), variant.arguments.end(),
                    [](const Argument &argument) {
                      return argument.kind == ArgumentKind::TensorMap;
                    }))
      return 3;
  for (const Variant &variant : manifest.variants)
    if (!variant.then.empty() || variant.launch.split != Split() ||
        variant.workspace.find("ceil(") != std::string::npos)
      return 2;
  for (const Variant &variant : manifest.variants)
    for (const Argument &argument : variant.arguments)
      if (argument.kind == ArgumentKind::Fault)
        return 2;
  for (const ContractEntry &contract : manifest.contracts)
    for (const ContractTensor &tensor : contract.tensors)
      if (tensor.kind == TensorKind::Index || tensor.type == ElementType::I64)
        return 2;
  return 1;
}

std::string seal(Manifest &manifest) {
  manifest.format = std::max(manifest.format, formatOf(manifest));
  nlohmann::json value = manifest;
  manifest.sha256 = manifestHash(value);
  value["sha256"] = manifest.sha256;
  return canonicalText(value) + "\n";
}

} // namespace bitpact::package
