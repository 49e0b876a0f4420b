// MemoryFile.h - the bytes of one run as a file that a reader can open
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef BITPACT_TESTS_FUZZ_MEMORYFILE_H
#define BITPACT_TESTS_FUZZ_MEMORYFILE_H

#include <cstdint>
#include <cstdlib>
#include <string>
#include <sys/mman.h>
#include <unistd.h>

namespace bitpact::fuzz {

class MemoryFile {
public:
  MemoryFile() : fd(::memfd_create("bitpact-fuzz", MFD_CLOEXEC)) {
    if (fd < 0)
      std::abort();
  }
  ~MemoryFile() { ::close(fd); }
  MemoryFile(const MemoryFile &) = delete;
  MemoryFile &operator=(const MemoryFile &) = delete;

  void write(const uint8_t *data, size_t size) {
    if (::ftruncate(fd, 0) || ::pwrite(fd, data, size, 0) != ssize_t(size))
      std::abort();
  }
  std::string path() const { return "/proc/self/fd/" + std::to_string(fd); }

private:
  int fd;
};

} // namespace bitpact::fuzz

#endif // BITPACT_TESTS_FUZZ_MEMORYFILE_H
