// PackageBuilder.h - contracts and compiled variants to a package
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef BITPACT_CODEGEN_PACKAGE_PACKAGEBUILDER_H
#define BITPACT_CODEGEN_PACKAGE_PACKAGEBUILDER_H

#include "codegen/Target/Target.h"
#include "runtime/package/Format.h"
#include "llvm/Support/Error.h"
#include <nlohmann/json.hpp>
#include <set>

namespace bitpact::codegen {

/// Collects what belongs into one package and writes it at once. Nothing of
/// the building machine enters (no path, no time): the same contracts, code
/// and tools give the same bytes. Contracts and variants stay in the order in
/// which they are added.
class PackageBuilder {
public:
  PackageBuilder();

  /// `canonical` as the Reader makes it. False if a contract with this digest
  /// is in already: another spelling of the same.
  bool addContract(const nlohmann::json &canonical, const std::string &digest);

  /// `variant` holds what the schedule knows: contract, roles, priority,
  /// entry, schedule, conditions, launch geometry, workspace, evidence. The
  /// rest (id if empty, target, files, arguments before those given, tensors if
  /// empty, resources) is filled in here. Returns the id. The contract must be in
  /// (std::logic_error).
  std::string addVariant(package::Variant variant, const Target &target,
                         const CompiledCode &code);

  /// On what the costs of the target's variants were measured.
  void setCosts(const Target &target, llvm::StringRef device, int64_t units,
                llvm::StringRef date);

  /// Writes to `dir`, or leaves nothing behind. The error is the writer's.
  llvm::Error write(llvm::StringRef dir) const;

  const package::Manifest &manifest() const { return contents; }

private:
  std::string uniqueId(const package::ContractEntry &contract,
                       const Target &target) const;

  package::Manifest contents;
  std::map<std::string, std::string> files;
  /// Dims of each contract's operator, in its order (a manifest has a map).
  std::map<std::string, std::vector<std::string>> dimOrder;
  /// Digests of the contracts whose kernels have a fault word.
  std::set<std::string> faulty;
};

} // namespace bitpact::codegen

#endif
