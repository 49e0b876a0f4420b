// GitRevision.h - contract files as they were at a revision of git
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef BITPACT_TOOL_GITREVISION_H
#define BITPACT_TOOL_GITREVISION_H

#include "tools/bitpact/ContractSource.h"

#include <string>

namespace bitpact::tool {

/// What `path` of the working tree held at a revision, with the files that it
/// extends or lists and the presets as they were there. Operators and
/// primitives are the compiler's. Throws UserError or Diagnostics, which name
/// files as revision:path.
ContractSet readSetAt(const std::string &revision, const std::string &path);

} // namespace bitpact::tool

#endif // BITPACT_TOOL_GITREVISION_H
