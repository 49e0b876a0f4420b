// TensorFile.cpp - tensors from and to .npy and .safetensors files
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/evidence/TensorFile.h"

#include "tools/evidence/UserError.h"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>

namespace bitpact::evidence {

TensorPath parseTensorPath(std::string_view text) {
  using Kind = TensorPath::Kind;
  // The first place where an ending ends the text or meets a colon: a key may
  // hold anything.
  size_t end = text.npos;
  TensorPath path{Kind::Npy, "", "", false};
  for (auto [ending, kind] :
       {std::pair<std::string_view, Kind>{".safetensors", Kind::Safetensors},
        {".npy", Kind::Npy}})
    for (size_t at = text.find(ending, 1); at != text.npos;
         at = text.find(ending, at + 1)) {
      size_t after = at + ending.size();
      if (after < end && (after == text.size() || text[after] == ':')) {
        end = after;
        path.kind = kind;
      }
    }
  if (end == text.npos)
    throw UserError(std::string(text),
                    "file name ends neither in .npy nor in .safetensors");
  path.file = text.substr(0, end);
  path.key = text.substr(std::min(end + 1, text.size()));
  if (path.kind == Kind::Npy && !path.key.empty()) {
    if (path.key != "bf16")
      throw UserError(std::string(text),
                      fmt::format("':{}' after a .npy file; only ':bf16' may "
                                  "stand there",
                                  path.key));
    path.bf16 = true;
  }
  return path;
}

std::pair<std::ifstream, uint64_t> openRegular(const std::string &file) {
  std::error_code error;
  // Asked before opening: opening a pipe would wait for its writer.
  if (!std::filesystem::is_regular_file(file, error))
    throw UserError(file, error ? "cannot read the file: " + error.message()
                                : "cannot read the file: it is no regular "
                                  "file");
  std::ifstream stream(file, std::ios::binary);
  uint64_t size = std::filesystem::file_size(file, error);
  if (!stream || error)
    throw UserError(file, "cannot read the file");
  return {std::move(stream), size};
}

Tensor readTensor(const TensorPath &path) {
  return path.kind == TensorPath::Kind::Npy
             ? readNpy(path.file, path.bf16)
             : readSafetensors(path.file, path.key);
}

std::vector<std::string> writeTensors(
    OutputFiles &files,
    const std::vector<std::pair<TensorPath, const Tensor *>> &outputs) {
  std::vector<std::string> notes;
  std::map<std::string, std::map<std::string, const Tensor *>> collections;
  std::map<std::string, int> uses;
  for (const auto &[path, tensor] : outputs) {
    if (path.kind == TensorPath::Kind::Safetensors) {
      if (!collections[path.file].emplace(path.key, tensor).second)
        throw UserError(path.file,
                        fmt::format("two outputs named '{}'", path.key));
      continue;
    }
    if (uses[path.file]++)
      throw UserError(path.file, "two outputs in one .npy file");
    if (tensor->format == algebra::Format::BF16)
      notes.push_back(fmt::format("{}: bf16 is written as uint16, read it back "
                                  "as {}:bf16",
                                  path.file, path.file));
    files.write(path.file, npyBytes(*tensor));
  }
  for (const auto &[file, tensors] : collections)
    files.write(file, safetensorsBytes(tensors));
  return notes;
}

int64_t checkedElements(const std::string &file,
                        const std::vector<int64_t> &shape) {
  int64_t elements = 1;
  for (int64_t extent : shape)
    if (extent < 0 || __builtin_mul_overflow(elements, extent, &elements))
      throw UserError(file, "shape has too many elements");
  return elements;
}

} // namespace bitpact::evidence
