// Cache.cpp - code objects that were compiled before, by what made them
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/Pipeline/Cache.h"

#include "runtime/package/Format.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"

#include <algorithm>
#include <fcntl.h>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <sys/stat.h>
#include <unistd.h>

using namespace bitpact;
using namespace bitpact::pipeline;
using nlohmann::json;
namespace fs = std::filesystem;

namespace {

constexpr llvm::StringLiteral kMagic = "bitpact cache 3\n";
constexpr llvm::StringLiteral kSuffix = ".entry";

/// The header, which names what follows it, and what follows it.
std::string bodyOf(const std::string &key, const Cache::Entry &entry) {
  const codegen::CompiledCode &code = entry.code;
  json header = {{"key", key},
                 {"schedule", entry.schedule},
                 {"access", entry.access},
                 {"object", code.object.size()},
                 {"object_suffix", code.objectSuffix},
                 {"assembly", code.assembly.size()},
                 {"assembly_suffix", code.assemblySuffix},
                 {"assembler", code.assemblerVersion},
                 {"registers", code.resources.registers},
                 {"shared", code.resources.shared},
                 {"local", code.resources.local},
                 {"spills", code.resources.spills}};
  header["kernels"] = json::array();
  for (const Cache::Entry::Kernel &kernel : entry.kernels)
    header["kernels"].push_back({{"entry", kernel.entry},
                                 {"schedule", kernel.schedule},
                                 {"split", kernel.split}});
  header["left_out"] = entry.isLeftOut;
  header["threads"] = entry.threads;
  header["shared_bytes"] = entry.sharedBytes;
  header["maps"] = json::array();
  for (const codegen::TensorMap &map : entry.maps)
    header["maps"].push_back({{"tensor", map.tensor},
                              {"rows", map.rows},
                              {"cols", map.cols},
                              {"part", map.part},
                              {"promotion", map.promotion}});
  std::string body = header.dump() + "\n";
  body.append(code.object.begin(), code.object.end());
  return body + code.assembly;
}

/// The reverse; throws on anything that bodyOf() does not write.
Cache::Entry entryOf(const std::string &key, llvm::StringRef body) {
  auto [head, rest] = body.split('\n');
  json header = json::parse(head.begin(), head.end());
  size_t object = header.at("object"), assembly = header.at("assembly");
  if (header.at("key") != key || object > rest.size() ||
      rest.size() - object != assembly)
    throw std::runtime_error("another entry");
  Cache::Entry entry;
  entry.schedule = header.at("schedule");
  entry.access = header.at("access");
  entry.code.object.assign(rest.bytes_begin(), rest.bytes_begin() + object);
  entry.code.objectSuffix = header.at("object_suffix");
  entry.code.assembly = rest.drop_front(object).str();
  entry.code.assemblySuffix = header.at("assembly_suffix");
  entry.code.assemblerVersion = header.at("assembler");
  entry.code.resources = {header.at("registers"), header.at("shared"),
                          header.at("local"), header.at("spills")};
  for (const json &kernel : header.at("kernels"))
    entry.kernels.push_back(
        {kernel.at("entry"), kernel.at("schedule"), kernel.at("split")});
  entry.isLeftOut = header.at("left_out");
  entry.threads = header.at("threads");
  entry.sharedBytes = header.at("shared_bytes");
  for (const json &map : header.at("maps"))
    entry.maps.push_back(
        {map.at("tensor"), map.at("rows"), map.at("cols"), map.at("part"),
         map.at("promotion")});
  return entry;
}

} // namespace

Cache::Cache(std::string where, uint64_t most)
    : directory(std::move(where)), mostBytes(most) {}

std::string Cache::fileOf(const std::string &key) const {
  return directory + "/" + package::sha256Hex(key) + kSuffix.str();
}

std::optional<Cache::Entry> Cache::find(const std::string &key) const {
  if (!isOn())
    return std::nullopt;
  std::string path = fileOf(key);
  std::error_code error;
  if (!fs::is_regular_file(path, error))
    return std::nullopt;
  auto buffer = llvm::MemoryBuffer::getFile(path, /*IsText=*/false,
                                            /*RequiresNullTerminator=*/false,
                                            /*IsVolatile=*/true);
  if (!buffer)
    return std::nullopt;
  llvm::StringRef text = (*buffer)->getBuffer();
  if (!text.consume_front(kMagic))
    return std::nullopt;
  auto [hash, body] = text.split('\n');
  if (hash != package::sha256Hex(std::string_view(body.data(), body.size())))
    return std::nullopt;
  try {
    Entry entry = entryOf(key, body);
    ::utimensat(AT_FDCWD, path.c_str(), nullptr, 0); // used now
    return entry;
  } catch (const std::exception &) {
    return std::nullopt;
  }
}

void Cache::store(const std::string &key, const Entry &entry) const {
  std::error_code error;
  if (!isOn() || (fs::create_directories(directory, error), error))
    return;
  llvm::SmallString<256> temporary;
  int fd = -1;
  if (llvm::sys::fs::createUniqueFile(directory + "/%%%%%%%%%%%%.new", fd,
                                      temporary))
    return;
  std::string body = bodyOf(key, entry);
  llvm::raw_fd_ostream stream(fd, /*shouldClose=*/true);
  stream << kMagic << package::sha256Hex(body) << '\n' << body;
  stream.close();
  bool failed = stream.has_error();
  stream.clear_error();
  if (failed || llvm::sys::fs::rename(temporary, fileOf(key)))
    llvm::sys::fs::remove(temporary);
}

void Cache::prune() const {
  struct File {
    fs::file_time_type used;
    uint64_t bytes;
    fs::path path;
  };
  std::vector<File> files;
  uint64_t total = 0;
  std::error_code error;
  for (fs::directory_iterator it(directory, error), end; !error && it != end;
       it.increment(error)) {
    fs::path path = it->path();
    // What a process left that was stopped while writing is as old as that.
    if (path.extension() != kSuffix.str() && path.extension() != ".new")
      continue;
    std::error_code gone;
    File file{fs::last_write_time(path, gone), fs::file_size(path, gone), path};
    if (gone)
      continue;
    total += file.bytes;
    files.push_back(std::move(file));
  }
  if (total <= mostBytes)
    return;
  std::sort(files.begin(), files.end(),
            [](const File &a, const File &b) { return a.used < b.used; });
  for (const File &file : files) {
    if (total <= mostBytes / 4 * 3)
      break;
    std::error_code kept;
    if (fs::remove(file.path, kept))
      total -= file.bytes;
  }
}
