// SafetensorsFile.cpp - the .safetensors format
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/evidence/Elements.h"
#include "tools/evidence/TensorFile.h"
#include "tools/evidence/UserError.h"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>

using bitpact::algebra::Format;
using nlohmann::json;

namespace bitpact::evidence {
namespace {

/// The limit that the format itself states.
constexpr uint64_t HeaderLimit = 100'000'000;

struct Entry {
  std::string type;
  std::vector<int64_t> shape;
  uint64_t begin = 0, end = 0;
};

std::optional<Format> formatOf(const std::string &type) {
  if (type == "BF16")
    return Format::BF16;
  if (type == "F16")
    return Format::F16;
  if (type == "F32")
    return Format::F32;
  if (type == "F64")
    return Format::F64;
  if (type == "I32")
    return Format::I32;
  if (type == "I64")
    return Format::I64;
  return std::nullopt;
}

std::string typeOf(Format format) {
  std::string name(algebra::name(format));
  for (char &c : name)
    c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return name;
}

Entry entryOf(const std::string &file, const std::string &name,
              const json &value) {
  auto fail = [&](const std::string &what) {
    throw UserError(file, fmt::format("tensor '{}': {}", name, what));
  };
  Entry entry;
  if (!value.is_object() || !value.contains("dtype") ||
      !value.contains("shape") || !value.contains("data_offsets"))
    fail("needs dtype, shape and data_offsets");
  const json &type = value["dtype"], &shape = value["shape"],
             &offsets = value["data_offsets"];
  if (!type.is_string())
    fail("dtype is no string");
  entry.type = type.get<std::string>();
  if (!shape.is_array())
    fail("shape is no list");
  for (const json &extent : shape) {
    if (!extent.is_number_unsigned() ||
        extent.get<uint64_t>() > static_cast<uint64_t>(INT64_MAX))
      fail("shape holds something that is no extent");
    entry.shape.push_back(extent.get<int64_t>());
  }
  if (!offsets.is_array() || offsets.size() != 2 ||
      !offsets[0].is_number_unsigned() || !offsets[1].is_number_unsigned())
    fail("data_offsets are no two offsets");
  entry.begin = offsets[0].get<uint64_t>();
  entry.end = offsets[1].get<uint64_t>();
  return entry;
}

/// Every tensor of the header; the data area must be covered exactly once,
/// which is what makes a file readable in only one way.
std::map<std::string, Entry> entriesOf(const std::string &file,
                                       const std::string &text,
                                       uint64_t dataBytes) {
  // A repeated name would make one of its tensors unreachable.
  std::vector<std::string> names;
  auto collect = [&](int depth, json::parse_event_t event, json &parsed) {
    if (depth == 1 && event == json::parse_event_t::key)
      names.push_back(parsed.get<std::string>());
    return true;
  };
  json header = json::parse(text, collect, false);
  if (header.is_discarded() || !header.is_object())
    throw UserError(file, "malformed .safetensors header: no JSON object");
  std::sort(names.begin(), names.end());
  auto twice = std::adjacent_find(names.begin(), names.end());
  if (twice != names.end())
    throw UserError(file, fmt::format("tensor '{}' twice", *twice));

  std::map<std::string, Entry> entries;
  for (const auto &[name, value] : header.items())
    if (name != "__metadata__")
      entries[name] = entryOf(file, name, value);
  std::vector<std::pair<uint64_t, uint64_t>> spans;
  for (const auto &[name, entry] : entries) {
    if (entry.begin > entry.end || entry.end > dataBytes)
      throw UserError(
          file, fmt::format("tensor '{}': data_offsets [{}, {}] lie outside "
                            "the {} bytes of data; is the file truncated?",
                            name, entry.begin, entry.end, dataBytes));
    spans.emplace_back(entry.begin, entry.end);
  }
  std::sort(spans.begin(), spans.end());
  uint64_t covered = 0;
  for (auto [begin, end] : spans) {
    if (begin != covered)
      throw UserError(file, fmt::format("tensors overlap or leave a gap at "
                                        "data byte {}",
                                        std::min(begin, covered)));
    covered = end;
  }
  if (covered != dataBytes)
    throw UserError(file, fmt::format("{} bytes after the last tensor",
                                      dataBytes - covered));
  return entries;
}

} // namespace

Tensor readSafetensors(const std::string &file, const std::string &key) {
  auto [stream, size] = openRegular(file);
  uint8_t prefix[8] = {};
  if (!stream.read(reinterpret_cast<char *>(prefix), 8))
    throw UserError(file, "not a .safetensors file");
  uint64_t length = 0;
  for (int i = 7; i >= 0; --i)
    length = length << 8 | prefix[i];
  if (length > size - 8 || length > HeaderLimit)
    throw UserError(file, fmt::format("not a .safetensors file, or truncated: "
                                      "header of {} bytes in a file of {}",
                                      length, size));
  std::string text(length, '\0');
  if (!stream.read(text.data(), static_cast<std::streamsize>(length)))
    throw UserError(file, "cannot read its header");
  uint64_t data = size - 8 - length;
  std::map<std::string, Entry> entries = entriesOf(file, text, data);

  std::vector<std::string> names;
  for (const auto &[name, entry] : entries)
    if (names.size() < 20)
      names.push_back(name);
  std::string list = fmt::format(
      "{}{}", fmt::join(names, ", "),
      entries.size() > names.size()
          ? fmt::format(" and {} more", entries.size() - names.size())
          : "");
  auto found = entries.find(key);
  if (key.empty() && entries.size() == 1)
    found = entries.begin();
  if (found == entries.end())
    throw UserError(
        file, key.empty()
                  ? fmt::format("name one of its tensors as "
                                "FILE:NAME; it holds: {}",
                                list)
                  : fmt::format("no tensor '{}'; it holds: {}", key, list));
  const auto &[name, entry] = *found;
  std::optional<Format> format = formatOf(entry.type);
  if (!format)
    throw UserError(file, fmt::format("tensor '{}': dtype {} is not read, use "
                                      "BF16, F16, F32, F64, I32 or I64",
                                      name, entry.type));
  uint64_t bytes = entry.end - entry.begin;
  int64_t elements = checkedElements(file, entry.shape);
  uint64_t width = algebra::bytes(*format);
  if (bytes % width || bytes / width != static_cast<uint64_t>(elements))
    throw UserError(
        file, fmt::format("tensor '{}': shape [{}] of {} needs {} elements, "
                          "its data_offsets hold {} bytes",
                          name, fmt::join(entry.shape, ", "), entry.type,
                          elements, bytes));
  Tensor tensor{*format, entry.shape, std::vector<uint8_t>(bytes)};
  stream.seekg(static_cast<std::streamoff>(8 + length + entry.begin));
  if (!stream.read(reinterpret_cast<char *>(tensor.bytes.data()),
                   static_cast<std::streamsize>(bytes)))
    throw UserError(file, "cannot read its data");
  return tensor;
}

std::string
safetensorsBytes(const std::map<std::string, const Tensor *> &tensors) {
  json header = json::object();
  uint64_t offset = 0;
  for (const auto &[name, tensor] : tensors) {
    header[name] = {{"dtype", typeOf(tensor->format)},
                    {"shape", tensor->shape},
                    {"data_offsets", {offset, offset + tensor->bytes.size()}}};
    offset += tensor->bytes.size();
  }
  std::string text = header.dump();
  text.append((8 - text.size() % 8) % 8, ' ');
  std::string bytes;
  for (int i = 0; i < 8; ++i)
    bytes += static_cast<char>(text.size() >> (8 * i) & 0xff);
  bytes += text;
  for (const auto &[name, tensor] : tensors)
    bytes.append(reinterpret_cast<const char *>(tensor->bytes.data()),
                 tensor->bytes.size());
  return bytes;
}

} // namespace bitpact::evidence
