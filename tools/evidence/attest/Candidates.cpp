// Candidates.cpp - a library's algorithms as variants of a package
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/evidence/attest/Candidates.h"

#include "runtime/package/Writer.h"

#include <algorithm>
#include <fmt/format.h>

namespace bitpact::evidence::attest {
namespace {

/// Bytes to which an algorithm of cuBLASLt is told that rows are aligned.
constexpr int64_t rowAlignment = 16;

void add(package::Files &files, const package::Package &stored,
         const package::Variant &variant) {
  files[variant.code.file] = package::readVerified(stored.path, variant.code);
  for (const package::FileEntry &one : variant.inspect)
    files[one.file] = package::readVerified(stored.path, one);
}

} // namespace

Candidate candidateOf(const Subject &subject, const std::string &library,
                      const Offer &offer, size_t number, bool preferred) {
  const Algorithm &algorithm = offer.algorithms.at(number);
  const package::ContractEntry &contract = subject.contract;
  package::Variant variant;
  // One for each algorithm and range, so that one package may have several.
  std::string served = algorithm.text();
  for (const auto &[dim, range] : subject.ranges)
    served += fmt::format(" {}={}..{}", dim, range.min, range.max);
  variant.id = fmt::format("{}-{}-{}", contract.digest.substr(0, 8), library,
                           package::sha256Hex(served).substr(0, 8));
  variant.contract = contract.digest;
  variant.target = subject.generated.target;
  variant.library = library;
  variant.entry = package::entryOf(library);
  variant.schedule = fmt::format("{} {}", library, algorithm.text());
  variant.code.file = fmt::format("code/{}.json", variant.id);
  int64_t first = 0, last = 0;
  for (const package::Variant &one : subject.stored.manifest.variants) {
    if (one.contract != contract.digest || !one.library.empty())
      continue;
    first = std::min(first, one.priority);
    last = std::max(last, one.priority);
    for (const std::string &role : one.roles)
      if (std::find(variant.roles.begin(), variant.roles.end(), role) ==
          variant.roles.end())
        variant.roles.push_back(role);
  }
  variant.priority = preferred ? first - 1 : last + 1;
  std::vector<std::string> order;
  for (const package::Argument &argument : subject.generated.arguments)
    if (argument.kind == package::ArgumentKind::Dim)
      order.push_back(argument.dim);
  variant.workspace = std::to_string(algorithm.workspaceBytes);
  variant.arguments = package::argumentList(contract.tensors, order,
                                            algorithm.workspaceBytes > 0);
  variant.when.dims = subject.ranges;
  for (const package::ContractTensor &tensor : contract.tensors) {
    variant.tensors.push_back(
        {tensor.name, tensor.kind == package::TensorKind::Out, {}});
    if (library == "cublaslt") {
      variant.when.align[tensor.name] = rowAlignment;
      variant.when.strideMultiple[tensor.name] =
          rowAlignment / package::bytesOf(tensor.type);
    }
  }
  variant.launch.parallelDims = {subject.product.rowDim};
  return {variant,
          {library,
           offer.version,
           offer.device,
           algorithm.pinned,
           subject.product,
           {},
           {}}};
}

void writeCandidates(const std::string &directory, const Subject &subject,
                     const std::vector<Candidate> &candidates) {
  const package::Package &stored = subject.stored;
  package::Manifest manifest = stored.manifest;
  package::Files files;
  for (size_t i = 0; i < manifest.contracts.size(); ++i)
    if (manifest.contracts[i].digest == subject.contract.digest)
      files[manifest.contracts[i].file] = stored.contractTexts[i];
  manifest.contracts = {subject.contract};
  std::erase_if(manifest.variants, [&](const package::Variant &one) {
    return !subject.launched.count(one.id);
  });
  for (const package::Variant &one : manifest.variants)
    add(files, stored, one);
  for (const Candidate &candidate : candidates) {
    manifest.variants.push_back(candidate.variant);
    files[candidate.variant.code.file] = package::pinText(candidate.pin);
  }
  package::writePackage(directory, manifest, files);
}

void writeAdmitted(const std::string &directory, const Subject &subject,
                   const Candidate &candidate) {
  const package::Package &stored = subject.stored;
  package::Manifest manifest = stored.manifest;
  std::erase_if(manifest.variants, [&](const package::Variant &one) {
    return one.id == candidate.variant.id;
  });
  package::Files files;
  for (size_t i = 0; i < manifest.contracts.size(); ++i)
    files[manifest.contracts[i].file] = stored.contractTexts[i];
  for (const package::Variant &one : manifest.variants)
    add(files, stored, one);
  manifest.variants.push_back(candidate.variant);
  files[candidate.variant.code.file] = package::pinText(candidate.pin);
  package::writePackage(directory, manifest, files);
}

} // namespace bitpact::evidence::attest
