// ContractSource.h - contracts from whatever holds them
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef BITPACT_TOOL_CONTRACTSOURCE_H
#define BITPACT_TOOL_CONTRACTSOURCE_H

#include "contracts/diff/ModelSet.h"

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

namespace bitpact::tool {

struct SourcedContract {
  /// The file or package that it was read from.
  std::string path;
  std::string name, digest;
  nlohmann::json canonical;
  /// Of a model set that was read as one; empty elsewhere.
  std::string site{};
};

struct ContractSet {
  std::vector<SourcedContract> contracts;
  /// Set for a model set; then every site has a contract.
  std::optional<diff::ModelSet> model{};
  /// What was read.
  std::string path{};
};

/// Contracts of a contract file, which needs the compiler; of a file of
/// canonical JSON, as `bitpact check --expand` prints it; of a package; of a
/// model set, site by site. Throws UserError or Diagnostics.
ContractSet readSet(const std::string &path);

/// The same without sites: of a model set, each contract once.
std::vector<SourcedContract> readContracts(const std::string &path);

/// Exactly one. `selector` is a name, an operator or a prefix of a digest and
/// picks one of several. Throws UserError that lists what there is.
SourcedContract readContract(const std::string &path,
                             const std::string &selector = "");

/// Is the selector its name, its operator or a prefix of its digest?
bool isCalled(const SourcedContract &contract, const std::string &selector);

/// The operator of a contract: rms_norm@1.
std::string operatorOf(const SourcedContract &contract);

} // namespace bitpact::tool

#endif // BITPACT_TOOL_CONTRACTSOURCE_H
