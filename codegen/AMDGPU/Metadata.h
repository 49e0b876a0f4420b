// Metadata.h - what a code object says of itself and of its kernels
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef BITPACT_CODEGEN_AMDGPU_METADATA_H
#define BITPACT_CODEGEN_AMDGPU_METADATA_H

#include "codegen/Target/Target.h"
#include "llvm/Support/Error.h"

namespace bitpact::codegen {

struct HsaKernel {
  std::string name;
  unsigned vgprs = 0, sgprs = 0, vgprSpills = 0, sgprSpills = 0;
  unsigned lds = 0, scratch = 0; // bytes: of a CTA, of a thread
  unsigned wave = 0, threads = 0;
};

struct HsaMetadata {
  std::string target;      // amdgcn-amd-amdhsa--gfx942
  unsigned codeObject = 0; // 5
  std::vector<HsaKernel> kernels;

  /// The largest of all kernels. SGPRs that spill go to lanes of a VGPR and
  /// cost no memory.
  Resources resources() const;
};

/// Reads the note of an hsaco.
llvm::Expected<HsaMetadata> readHsaMetadata(llvm::ArrayRef<uint8_t> object);

} // namespace bitpact::codegen

#endif
