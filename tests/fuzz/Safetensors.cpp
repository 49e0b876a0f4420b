// Safetensors.cpp - any bytes as a .safetensors file
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
  // The only tensor of a file, and one of a name that corpus files have.
  for (const char *key : {"", "x"})
    try {
      evidence::Tensor tensor = evidence::readSafetensors(file.path(), key);
      std::string bytes = evidence::safetensorsBytes({{"x", &tensor}});
      copy.write(reinterpret_cast<const uint8_t *>(bytes.data()), bytes.size());
      if (!(evidence::readSafetensors(copy.path(), "x") == tensor))
        std::abort();
      break;
    } catch (const evidence::UserError &error) {
      if (!std::strstr(error.what(), "name one of its tensors"))
        break;
    }
  return 0;
}
