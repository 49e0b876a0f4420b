// Writer.cpp - a package appears whole or not at all
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/package/Writer.h"

#include "runtime/package/ContractText.h"
#include "runtime/package/Reader.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <set>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace bitpact::package {

namespace fs = std::filesystem;

namespace {
// A directory that goes when its scope ends, unless it was renamed away.
struct Temporary {
  fs::path path;
  Temporary() = default;
  explicit Temporary(fs::path path) : path(std::move(path)) {}
  Temporary(Temporary &&other) noexcept : path(other.release()) {}
  ~Temporary() {
    if (path.empty())
      return;
    std::error_code ignored;
    fs::remove_all(path, ignored);
  }
  fs::path release() noexcept {
    fs::path kept;
    kept.swap(path);
    return kept;
  }
};
} // namespace

static Temporary makeSibling(const fs::path &target) {
  fs::path parent = target.has_parent_path() ? target.parent_path() : ".";
  std::string pattern =
      fmt::format("{}/.{}.XXXXXX", parent.string(), target.filename().string());
  if (!::mkdtemp(pattern.data()))
    throw FileError(fmt::format("{}: cannot be written: {}: {}",
                                target.string(), parent.string(),
                                std::strerror(errno)));
  Temporary sibling{fs::path(pattern)};
  // mkdtemp makes it private; a package is as readable as any new directory.
  mode_t mask = ::umask(0);
  ::umask(mask);
  std::error_code ignored;
  fs::permissions(sibling.path, fs::perms(0777 & ~mask), ignored);
  return sibling;
}

static void writeFile(const fs::path &path, std::string_view bytes) {
  std::error_code error;
  fs::create_directories(path.parent_path(), error);
  errno = 0;
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file.write(bytes.data(), std::streamsize(bytes.size()));
  file.close();
  if (!file)
    throw FileError(fmt::format("{}: cannot be written: {}", path.string(),
                                std::strerror(errno ? errno : EIO)));
}

static void fill(FileEntry &entry, const Files &files,
                 std::set<std::string> &used) {
  auto found = files.find(entry.file);
  if (found == files.end())
    throw FormatError(fmt::format(
        "{}: the manifest names it, but it is not given", entry.file));
  used.insert(entry.file);
  entry.bytes = int64_t(found->second.size());
  entry.sha256 = sha256Hex(found->second);
}

static std::set<std::string> fillHashes(Manifest &manifest,
                                        const Files &files) {
  std::set<std::string> used;
  for (ContractEntry &contract : manifest.contracts) {
    FileEntry entry{contract.file, "", 0};
    fill(entry, files, used);
    contract.sha256 = entry.sha256;
  }
  for (Variant &variant : manifest.variants) {
    fill(variant.code, files, used);
    for (FileEntry &entry : variant.inspect)
      fill(entry, files, used);
  }
  return used;
}

// Only a package, or an empty directory, may be replaced.
static bool mayReplace(const fs::path &target) {
  std::error_code error;
  fs::file_status status = fs::symlink_status(target, error);
  if (status.type() == fs::file_type::not_found)
    return false;
  bool directory = status.type() == fs::file_type::directory;
  if (directory && fs::is_empty(target, error))
    return true;
  // Intact, and nothing beside what its manifest names: then all of it can be
  // made again.
  std::string why = "there is no " + std::string(manifestName);
  if (directory && fs::exists(target / manifestName, error)) {
    try {
      openPackage(target.string());
      return true;
    } catch (const std::exception &found) {
      why = found.what();
    }
  }
  throw FileError(fmt::format(
      "{}: exists and is not a package, so it is not overwritten; choose "
      "another output or remove it ({})",
      target.string(), why));
}

void writePackage(const std::string &dir, Manifest manifest,
                  const Files &files) {
  fs::path target = fs::path(dir).lexically_normal();
  if (!target.has_filename())
    target = target.parent_path();
  if (!target.has_filename() || target.filename() == "." ||
      target.filename() == "..")
    throw FileError(
        fmt::format("'{}': is not a name for a new package directory", dir));

  std::set<std::string> used = fillHashes(manifest, files);
  for (const auto &[file, bytes] : files)
    if (!used.count(file))
      throw FormatError(fmt::format("{}: the manifest does not name it", file));
  // What a reader would refuse is not written.
  std::string sealed = seal(manifest);
  parseManifest(sealed, manifestName);
  for (const ContractEntry &contract : manifest.contracts)
    verifyContract(manifest, contract, files.at(contract.file));

  if (fs::exists(target.parent_path() / manifestName))
    throw FileError(fmt::format("{}: lies inside of the package {}, where it "
                                "would be a file too many",
                                dir, target.parent_path().string()));
  bool replace = mayReplace(target);
  Temporary fresh = makeSibling(target);
  try {
    for (const auto &[file, bytes] : files)
      writeFile(fresh.path / file, bytes);
    writeFile(fresh.path / manifestName, sealed);
  } catch (const fs::filesystem_error &error) {
    throw FileError(
        fmt::format("{}: cannot be written: {}", dir, error.what()));
  }

  Temporary old;
  std::error_code error;
  if (replace) {
    Temporary place = makeSibling(target);
    fs::rename(target, place.path, error);
    if (error)
      throw FileError(
          fmt::format("{}: cannot be replaced: {}", dir, error.message()));
    old.path = place.release();
  }
  fs::rename(fresh.path, target, error);
  if (error) {
    std::string reason = error.message();
    if (replace) {
      fs::rename(old.path, target, error);
      old.release();
    }
    throw FileError(fmt::format("{}: cannot be written: {}", dir, reason));
  }
  fresh.release();
}

} // namespace bitpact::package
