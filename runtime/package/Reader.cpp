// Reader.cpp - open a package and verify every byte of it
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/package/Reader.h"

#include "runtime/package/ContractText.h"
#include "runtime/package/Pin.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <set>
#include <sys/stat.h>
#include <unistd.h>

namespace bitpact::package {

namespace fs = std::filesystem;

static constexpr int64_t maxManifestBytes = int64_t(64) << 20;
static constexpr int maxNesting = 32;

namespace {
struct Descriptor {
  int fd;
  ~Descriptor() {
    if (fd >= 0)
      ::close(fd);
  }
};
} // namespace

// A regular file, whole. O_NONBLOCK: a pipe in its place must not hang us.
// O_NOFOLLOW: what a link leads to is no part of the package and may change
// with it closed.
static std::string readFile(const std::string &path, int64_t maxBytes) {
  Descriptor file{
      ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW)};
  struct stat status;
  if (file.fd < 0 && errno == ELOOP)
    throw FormatError(fmt::format(
        "{}: is a symbolic link; a package holds its files itself", path));
  if (file.fd < 0 || ::fstat(file.fd, &status))
    throw FileError(fmt::format("{}: {}", path, std::strerror(errno)));
  if (!S_ISREG(status.st_mode))
    throw FormatError(fmt::format("{}: is not a regular file", path));
  if (status.st_size > maxBytes)
    throw FormatError(fmt::format("{}: has {} bytes, at most {} are allowed",
                                  path, status.st_size, maxBytes));
  std::string bytes(size_t(status.st_size), '\0');
  size_t done = 0;
  while (done < bytes.size()) {
    ssize_t got = ::read(file.fd, bytes.data() + done, bytes.size() - done);
    if (got < 0 && errno == EINTR)
      continue;
    if (got < 0)
      throw FileError(fmt::format("{}: {}", path, std::strerror(errno)));
    if (got == 0)
      break;
    done += size_t(got);
  }
  bytes.resize(done);
  return bytes;
}

// The JSON library writes recursively, so depth is bounded before it may.
static void checkNesting(std::string_view bytes, const std::string &where) {
  int depth = 0;
  bool inString = false;
  for (size_t i = 0; i < bytes.size(); ++i) {
    char c = bytes[i];
    if (inString) {
      if (c == '\\')
        ++i;
      else if (c == '"')
        inString = false;
    } else if (c == '"') {
      inString = true;
    } else if (c == '[' || c == '{') {
      if (++depth > maxNesting)
        throw FormatError(fmt::format("{}: nested deeper than {} at byte {}",
                                      where, maxNesting, i));
    } else if (c == ']' || c == '}') {
      --depth;
    }
  }
}

Manifest parseManifest(std::string_view bytes, const std::string &where) {
  checkNesting(bytes, where);
  nlohmann::json value;
  try {
    value = nlohmann::json::parse(bytes);
  } catch (const nlohmann::json::exception &error) {
    throw FormatError(fmt::format("{}: is not JSON, truncated or altered: {}",
                                  where, error.what()));
  }
  try {
    Manifest manifest;
    from_json(value, manifest);
    // Any byte that the canonical text would not have, also in whitespace,
    // key order and duplicate keys.
    if (bytes != canonicalText(value) + "\n")
      throw FormatError(
          "the bytes are not the canonical text of the manifest (keys sorted "
          "and unique, no whitespace, one newline at the end)");
    std::string hash = manifestHash(value);
    if (manifest.sha256 != hash)
      throw FormatError(
          fmt::format("sha256: is '{}', the contents have {}; the "
                      "manifest was altered",
                      manifest.sha256, hash));
    verify(manifest);
    return manifest;
  } catch (const FormatError &error) {
    throw FormatError(fmt::format("{}: {}", where, error.what()));
  } catch (const nlohmann::json::exception &error) {
    throw FormatError(fmt::format("{}: {}", where, error.what()));
  }
}

static std::string readHashed(const std::string &dir, const std::string &file,
                              const std::string &sha256, int64_t bytes) {
  std::string path = dir + "/" + file, text;
  try {
    text = readFile(path, std::numeric_limits<int64_t>::max());
  } catch (const FileError &error) {
    throw FormatError(
        fmt::format("{}; manifest.json names this file", error.what()));
  }
  if (bytes >= 0 && int64_t(text.size()) != bytes)
    throw FormatError(
        fmt::format("{}: has {} bytes, manifest.json says {}; the "
                    "file was truncated or altered",
                    path, text.size(), bytes));
  std::string hash = sha256Hex(text);
  if (hash != sha256)
    throw FormatError(fmt::format("{}: its SHA-256 is {}, manifest.json says "
                                  "{}; the file was altered",
                                  path, hash, sha256));
  return text;
}

std::string readVerified(const std::string &dir, const FileEntry &entry) {
  return readHashed(dir, entry.file, entry.sha256, entry.bytes);
}

static void checkPin(const Manifest &manifest, const Variant &variant,
                     const std::string &bytes, const std::string &where) {
  Pin pin = parsePin(bytes, where);
  for (const ContractEntry &contract : manifest.contracts)
    if (contract.digest == variant.contract)
      verifyPin(pin, variant, contract, where);
}

// A file that the manifest does not name has not been verified. Names that
// begin with '.' are the file system's own business.
static void checkNothingElse(const std::string &dir,
                             const std::set<std::string> &known) {
  std::error_code error;
  for (const fs::directory_entry &top : fs::directory_iterator(dir, error)) {
    std::string name = top.path().filename();
    if (name[0] == '.')
      continue;
    bool folder = name == "code" || name == "contracts";
    if (!folder && !known.count(name))
      throw FormatError(fmt::format("{}/{}: manifest.json does not name this "
                                    "file",
                                    dir, name));
    if (!folder)
      continue;
    fs::directory_iterator inside(top.path(), error);
    if (error)
      break;
    for (const fs::directory_entry &entry : inside) {
      std::string file = entry.path().filename();
      if (file[0] != '.' && !known.count(name + "/" + file))
        throw FormatError(fmt::format("{}/{}/{}: manifest.json does not name "
                                      "this file",
                                      dir, name, file));
    }
  }
  if (error)
    throw FileError(fmt::format("{}: {}", dir, error.message()));
}

Package openPackage(const std::string &dir) {
  std::error_code error;
  fs::file_status status = fs::status(dir, error);
  if (status.type() == fs::file_type::not_found ||
      status.type() == fs::file_type::none)
    throw FileError(fmt::format(
        "{}: {}", dir, error ? error.message() : "No such file or directory"));
  if (status.type() != fs::file_type::directory)
    throw FileError(
        fmt::format("{}: is not a directory; a package is one", dir));
  for (const char *folder : {"code", "contracts"})
    if (fs::is_symlink(fs::path(dir) / folder, error))
      throw FormatError(fmt::format("{}/{}: is a symbolic link; a package "
                                    "holds its files itself",
                                    dir, folder));
  std::string manifestPath = dir + "/" + manifestName;
  if (!fs::exists(manifestPath, error))
    throw FileError(fmt::format("{}: has no {}, so it is not a package", dir,
                                manifestName));
  Package package;
  package.path = dir;
  package.manifest =
      parseManifest(readFile(manifestPath, maxManifestBytes), manifestPath);
  std::set<std::string> known = {manifestName};
  for (const ContractEntry &contract : package.manifest.contracts) {
    known.insert(contract.file);
    package.contractTexts.push_back(
        readHashed(dir, contract.file, contract.sha256, -1));
    const std::string &text = package.contractTexts.back();
    checkNesting(text, dir + "/" + contract.file);
    try {
      verifyContract(package.manifest, contract, text);
    } catch (const FormatError &error) {
      throw FormatError(fmt::format("{}/{}", dir, error.what()));
    }
  }
  for (const Variant &variant : package.manifest.variants) {
    known.insert(variant.code.file);
    std::string code = readVerified(dir, variant.code);
    if (!variant.library.empty())
      checkPin(package.manifest, variant, code, dir + "/" + variant.code.file);
    for (const FileEntry &entry : variant.inspect) {
      known.insert(entry.file);
      readVerified(dir, entry);
    }
  }
  checkNothingElse(dir, known);
  return package;
}

} // namespace bitpact::package
