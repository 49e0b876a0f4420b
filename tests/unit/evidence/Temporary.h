// Temporary.h - a directory that a test may fill
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef BITPACT_TESTS_UNIT_EVIDENCE_TEMPORARY_H
#define BITPACT_TESTS_UNIT_EVIDENCE_TEMPORARY_H

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

namespace bitpact::tests {

class Temporary {
public:
  Temporary() {
    std::string pattern =
        (std::filesystem::temp_directory_path() / "bitpact-test-XXXXXX")
            .string();
    directory = mkdtemp(pattern.data());
  }
  ~Temporary() { std::filesystem::remove_all(directory); }
  Temporary(const Temporary &) = delete;
  Temporary &operator=(const Temporary &) = delete;

  std::string file(const std::string &name) const {
    return directory + "/" + name;
  }
  std::string write(const std::string &name, const std::string &bytes) const {
    std::ofstream(file(name), std::ios::binary) << bytes;
    return file(name);
  }
  size_t count() const {
    size_t files = 0;
    for (const auto &entry : std::filesystem::directory_iterator(directory))
      files += entry.exists();
    return files;
  }

private:
  std::string directory;
};

} // namespace bitpact::tests

#endif // BITPACT_TESTS_UNIT_EVIDENCE_TEMPORARY_H
