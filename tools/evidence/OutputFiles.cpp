// OutputFiles.cpp - files that appear together or not at all
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/evidence/OutputFiles.h"

#include "tools/evidence/UserError.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
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
  for (const Growing &one : growing) {
    close(one.descriptor);
    if (one.isNew)
      fs::remove(one.file, ignored);
  }
}

void OutputFiles::append(const std::string &file, std::string_view bytes) {
  // Opened now, so that what cannot be written fails before anything is.
  int flags = O_WRONLY | O_APPEND | O_CLOEXEC;
  int descriptor = open(file.c_str(), flags | O_CREAT | O_EXCL, 0666);
  bool isNew = descriptor >= 0;
  if (!isNew && errno == EEXIST)
    descriptor = open(file.c_str(), flags);
  if (descriptor < 0)
    throw UserError(file,
                    fmt::format("cannot write: {}", std::strerror(errno)));
  growing.push_back({file, std::string(bytes), descriptor, isNew});
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
  for (Growing &one : growing) {
    ssize_t put = ::write(one.descriptor, one.bytes.data(), one.bytes.size());
    one.isNew = false;
    if (put != static_cast<ssize_t>(one.bytes.size()))
      throw UserError(one.file, fmt::format("cannot write: {}",
                                            put < 0 ? std::strerror(errno)
                                                    : "no space is left"));
  }
}

} // namespace bitpact::evidence
