// Npy.cpp - any bytes as a .npy file: a tensor that can be written, or an error
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tests/fuzz/MemoryFile.h"
#include "tools/evidence/TensorFile.h"
#include "tools/evidence/UserError.h"

#include <cstring>

using namespace bitpact;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static fuzz::MemoryFile file, copy;
  file.write(data, size);
  for (bool bf16 : {false, true})
    try {
      evidence::Tensor tensor = evidence::readNpy(file.path(), bf16);
      std::string bytes = evidence::npyBytes(tensor);
      copy.write(reinterpret_cast<const uint8_t *>(bytes.data()), bytes.size());
      if (!(evidence::readNpy(copy.path(), bf16) == tensor))
        std::abort();
      break;
    } catch (const evidence::UserError &error) {
      // Only 16-bit items can be read the other way.
      if (!std::strstr(error.what(), "16-bit items"))
        break;
    }
  return 0;
}
