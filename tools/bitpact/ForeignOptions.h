// ForeignOptions.h - symbols and commands on the command line of reveal
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef BITPACT_TOOL_FOREIGNOPTIONS_H
#define BITPACT_TOOL_FOREIGNOPTIONS_H

#include "tools/evidence/foreign/Command.h"
#include "tools/evidence/foreign/Signature.h"
#include "tools/evidence/foreign/Symbol.h"
#include "tools/evidence/reveal/FunctionBox.h"

#include <CLI/CLI.hpp>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace bitpact::tool {

/// As typed.
struct ForeignOptions {
  std::string library, command, signature;
  std::vector<std::string> at;
  double timeout = 60;

  bool given() const { return !library.empty() || !command.empty(); }
};

void addForeignOptions(CLI::App *command, ForeignOptions &options);

/// Code that others wrote, before its extents are chosen.
class ForeignSource {
public:
  /// Throws UserError for signatures and options that do not fit each other.
  explicit ForeignSource(const ForeignOptions &options);

  /// Is it the dim that is reduced?
  bool reduces(const std::string &dim) const;
  std::unique_ptr<reveal::FunctionBox>
  open(const std::map<std::string, int64_t> &dims) const;

private:
  ForeignOptions options;
  reveal::FunctionBox::Coordinate at;
  evidence::foreign::SymbolPath path;
  std::optional<evidence::foreign::Signature> symbol;
  std::optional<evidence::foreign::TensorSignature> tensors;
  /// One process serves every extent.
  std::shared_ptr<evidence::foreign::Conversation> conversation;
};

} // namespace bitpact::tool

#endif // BITPACT_TOOL_FOREIGNOPTIONS_H
