// OutputFiles.cpp - files that appear together or not at all
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/evidence/OutputFiles.h"

#include "tools/evidence/UserError.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <unistd.h>

namespace fs = std::filesystem;

namespace bitpact::evidence {

OutputFiles::~OutputFiles() {
  std::error_code ignored;
  for (const auto &[temporary, file] : pending)
    fs::remove(temporary, ignored);
}

void OutputFiles::write(const std::string &file, std::string_view bytes) {
  // A rename would fail late, when other files are already in place.
  std::error_code ignored;
  if (fs::is_directory(file, ignored))
    throw UserError(file, "cannot write: is a directory");
  std::string temporary = fmt::format("{}.{}.tmp", file, getpid());
  errno = 0;
  std::ofstream stream(temporary, std::ios::binary | std::ios::trunc);
  if (stream)
    pending.emplace_back(temporary, file);
  stream.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  stream.close();
  if (!stream)
    throw UserError(
        file, fmt::format("cannot write: {}",
                          errno ? std::strerror(errno) : "the stream failed"));
}

void OutputFiles::commit() {
  for (const auto &[temporary, file] : pending) {
    std::error_code error;
    fs::rename(temporary, file, error);
    if (error)
      throw UserError(file, fmt::format("cannot write: {}", error.message()));
  }
  pending.clear();
}

} // namespace bitpact::evidence
