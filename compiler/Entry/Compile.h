// Compile.h - the request "compile"
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef BITPACT_COMPILER_ENTRY_COMPILE_H
#define BITPACT_COMPILER_ENTRY_COMPILE_H

#include "compiler/Pipeline/Pipeline.h"

namespace bitpact::entry {

/// The answer to a compile request whose fields have been read. A failure of
/// the pipeline that no contract can cause has status 70, others 2.
nlohmann::json compile(const pipeline::CompileRequest &request,
                       const pipeline::Progress &progress);

} // namespace bitpact::entry

#endif // BITPACT_COMPILER_ENTRY_COMPILE_H
