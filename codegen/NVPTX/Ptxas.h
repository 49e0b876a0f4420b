// Ptxas.h - finding and running the PTX assembler
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef BITPACT_CODEGEN_NVPTX_PTXAS_H
#define BITPACT_CODEGEN_NVPTX_PTXAS_H

#include "codegen/Target/Target.h"
#include "llvm/Support/Error.h"

namespace bitpact::codegen {

/// Path of ptxas: the option, PATH, /usr/local/cuda/bin, the pip wheel
/// nvidia-cuda-nvcc. The error says how to get it.
llvm::Expected<std::string> findPtxas(const CompileOptions &options);

struct PtxasInfo {
  std::string path;
  std::string version;            // 13.0.88
  std::vector<std::string> archs; // those it accepts
};
/// Asked once per path.
llvm::Expected<PtxasInfo> queryPtxas(const CompileOptions &options);

struct PtxasReport {
  Resources resources;               // the largest of all entries
  std::vector<std::string> failures; // C7510 … C7517
};
/// Reads what `ptxas -v` prints.
PtxasReport parsePtxasLog(llvm::StringRef log);

struct PtxasResult {
  std::vector<uint8_t> cubin;
  PtxasReport report;
  std::string version;
};
/// The error holds ptxas's own messages.
llvm::Expected<PtxasResult> runPtxas(llvm::StringRef ptx, llvm::StringRef arch,
                                     const CompileOptions &options);

} // namespace bitpact::codegen

#endif
