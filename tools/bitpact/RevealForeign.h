// RevealForeign.h - bitpact reveal of symbols and commands
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef BITPACT_TOOL_REVEALFOREIGN_H
#define BITPACT_TOOL_REVEALFOREIGN_H

#include "tools/bitpact/Commands.h"
#include "tools/bitpact/ForeignOptions.h"

namespace bitpact::tool {

struct ForeignReveal {
  ForeignOptions foreign;
  std::map<std::string, int64_t> dims;
  /// An image of the tree, and the revealed contract in canonical JSON; empty
  /// for none.
  std::string svg, output;
  /// A contract to compare with, and its node; empty for none.
  std::string against, node;
};

/// Reveals, replays and prints. Throws UserError.
int revealForeign(const ForeignReveal &options, const Shared &shared);

} // namespace bitpact::tool

#endif // BITPACT_TOOL_REVEALFOREIGN_H
