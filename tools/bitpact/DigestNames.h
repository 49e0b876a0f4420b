// DigestNames.h - what the digests of records stand for
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef BITPACT_TOOL_DIGESTNAMES_H
#define BITPACT_TOOL_DIGESTNAMES_H

#include "contracts/diff/Gate.h"
#include "tools/bitpact/ContractSource.h"

#include <map>
#include <string>
#include <vector>

namespace bitpact::tool {

/// Contracts and variants by the digest that records name.
class DigestNames {
public:
  /// Packages, contract files, canonical JSON. Throws UserError.
  explicit DigestNames(const std::vector<std::string> &sources);
  /// Names that a run's launch records give.
  void add(const diff::RunSummary &run);

  /// Null if no source has it.
  const SourcedContract *contract(const std::string &digest) const;
  /// `qwen3-8b/rms_norm 493d1bf513ba`, or the short digest alone; "none" for
  /// an empty one.
  std::string text(const std::string &digest) const;
  std::string text(const std::set<std::string> &digests) const;

private:
  std::map<std::string, SourcedContract> contracts;
  std::map<std::string, std::string> names;
};

} // namespace bitpact::tool

#endif // BITPACT_TOOL_DIGESTNAMES_H
