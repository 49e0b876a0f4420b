// Products.cpp - packages whose product a library computes
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tests/unit/runtime/Products.h"

#include <nlohmann/json.hpp>

#include <cstring>

namespace bitpact::test {

package::ContractEntry productContract() {
  package::ContractEntry contract;
  contract.digest = package::sha256Hex("product");
  contract.name = "test/product";
  contract.op = "product@1";
  contract.file = "contracts/" + contract.digest + ".json";
  contract.dims = {{"tokens", package::dynamicExtent},
                   {"out", package::dynamicExtent},
                   {"hidden", 8}};
  package::ElementType f32 = package::ElementType::F32;
  contract.tensors = {
      {"x", package::TensorKind::In, {"tokens", "hidden"}, f32},
      {"weight", package::TensorKind::In, {"out", "hidden"}, f32},
      {"y", package::TensorKind::Out, {"tokens", "out"}, f32}};
  return contract;
}

package::Variant libraryVariant(const std::string &library) {
  package::ContractEntry contract = productContract();
  package::Variant variant =
      variantOf(contract, "by-" + library, package::entryOf(library));
  variant.library = library;
  variant.code.file = "code/" + variant.id + ".json";
  if (library == "cublaslt")
    variant.target = {package::TargetKind::Cuda, "sm_90a", ""};
  variant.arguments =
      package::argumentList(contract.tensors, {"tokens", "out", "hidden"});
  variant.when.dims = {{"tokens", {2, 100}}, {"out", {1, 64}}};
  return variant;
}

package::Pin libraryPin(const std::string &library) {
  package::ElementType f32 = package::ElementType::F32;
  package::PinnedProduct product = {{"x", f32}, {"weight", f32}, {"y", f32},
                                    "tokens",   "out",           "hidden"};
  if (library == "openblas")
    return {
        library, "FakeBLAS 1.0", "Abacus", {{{"threads", 1}}, ""}, product, {},
        {}};
  // The words of fake_cublaslt.c: id 66 in one part, and what no setting shows.
  std::string stored(126, '0');
  stored.replace(0, 2, "42").replace(2 * 14, 2, "01");
  package::PinnedAlgorithm algorithm = {{{"id", 66},
                                         {"tile", 0},
                                         {"split_k", 1},
                                         {"reduction", 0},
                                         {"swizzle", 0},
                                         {"custom", 0},
                                         {"stages", 0},
                                         {"inner", 0},
                                         {"cluster", 0}},
                                        stored + "01"};
  return {library, "99", "Fake H200", algorithm, product, {}, {}};
}

std::vector<float> chainOf(const std::vector<float> &x,
                           const std::vector<float> &weight, int64_t hidden) {
  std::vector<float> y;
  for (size_t row = 0; row < x.size(); row += size_t(hidden))
    for (size_t column = 0; column < weight.size(); column += size_t(hidden)) {
      float sum = 0;
      for (size_t k = 0; k < size_t(hidden); ++k) {
        volatile float product = x[row + k] * weight[column + k];
        sum += product;
      }
      y.push_back(sum);
    }
  return y;
}

void attest(package::Variant &variant, package::Pin &pin, int64_t elements) {
  variant.evidence = package::Evidence::Measured;
  std::vector<std::string> shapes = {"hidden=8 out=1 tokens=2",
                                     "hidden=8 out=64 tokens=100"};
  pin.attestation = package::Attestation{
      variant.when.dims, {"normal"}, 1, 4, 12804, shapes, shapes};
  pin.challenge = package::Challenge{
      {{"tokens", 5}, {"out", 3}, {"hidden", 8}}, 7, elements, ""};
  auto input = [&](size_t tensor, size_t count) {
    size_t distinct = elements ? size_t(elements) : count;
    std::string bytes =
        package::challengeData(package::challengeSeed(pin), tensor,
                               package::ElementType::F32, distinct);
    std::vector<float> some(distinct), values;
    std::memcpy(some.data(), bytes.data(), bytes.size());
    for (size_t i = 0; i < count; ++i)
      values.push_back(some[i % distinct]);
    return values;
  };
  std::vector<float> y = chainOf(input(0, 40), input(1, 24), 8);
  if (elements && 2 * elements < 15) // the first and the last of 15
    y.erase(y.begin() + elements, y.end() - elements);
  pin.challenge->sha256 = package::sha256Hex(
      {reinterpret_cast<const char *>(y.data()), y.size() * sizeof(float)});
}

Package productPackage(const package::Variant &variant,
                       const package::Pin &pin) {
  Package package;
  package.add(productContract());
  std::string &text = package.files[productContract().file];
  nlohmann::json contract = nlohmann::json::parse(text);
  contract["op"]["dims"] = {"tokens", "out", "hidden"};
  text = package::canonicalText(contract);
  package.add(variant, package::pinText(pin));
  return package;
}

} // namespace bitpact::test
