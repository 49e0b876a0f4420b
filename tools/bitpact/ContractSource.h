// ContractSource.h - contracts from whatever holds them
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef BITPACT_TOOL_CONTRACTSOURCE_H
#define BITPACT_TOOL_CONTRACTSOURCE_H

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace bitpact::tool {

struct SourcedContract {
  /// The file or package that it was read from.
  std::string path;
  std::string name, digest;
  nlohmann::json canonical;
};

/// Contracts of a contract file, which needs the compiler; of a file of
/// canonical JSON, as `bitpact check --expand` prints it; of a package. Throws
/// UserError or Diagnostics.
std::vector<SourcedContract> readContracts(const std::string &path);

/// Exactly one. `selector` is a name, an operator or a prefix of a digest and
/// picks one of several. Throws UserError that lists what there is.
SourcedContract readContract(const std::string &path,
                             const std::string &selector = "");

/// The operator of a contract: rms_norm@1.
std::string operatorOf(const SourcedContract &contract);

} // namespace bitpact::tool

#endif // BITPACT_TOOL_CONTRACTSOURCE_H
