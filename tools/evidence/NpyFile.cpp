// NpyFile.cpp - NumPy's .npy format, versions 1 to 3
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/evidence/Elements.h"
#include "tools/evidence/TensorFile.h"
#include "tools/evidence/UserError.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <fstream>

using bitpact::algebra::Format;

namespace bitpact::evidence {
namespace {

constexpr std::string_view Magic = "\x93NUMPY";
/// NumPy itself refuses headers longer than 10,000 characters.
constexpr uint64_t HeaderLimit = 10000;

struct Header {
  std::string descr;
  bool fortranOrder = false;
  std::vector<int64_t> shape;
};

/// The header is a Python literal:
/// {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }
class HeaderParser {
public:
  HeaderParser(const std::string &file, std::string_view text)
      : file(file), text(text) {}

  Header parse() {
    Header header;
    bool seen[3] = {};
    expect('{');
    while (!accept('}')) {
      std::string key = string();
      expect(':');
      if (key == "descr") {
        once(seen[0], key);
        header.descr = string();
      } else if (key == "fortran_order") {
        once(seen[1], key);
        header.fortranOrder = boolean();
      } else if (key == "shape") {
        once(seen[2], key);
        header.shape = tuple();
      } else {
        fail(fmt::format("unknown key '{}'", key));
      }
      if (!accept(',')) {
        expect('}');
        break;
      }
    }
    for (bool one : seen)
      if (!one)
        fail("needs the keys descr, fortran_order and shape");
    skip();
    if (at != text.size())
      fail("text after the closing brace");
    return header;
  }

private:
  [[noreturn]] void fail(const std::string &what) const {
    throw UserError(file, "malformed .npy header: " + what);
  }
  void once(bool &seen, const std::string &key) const {
    if (seen)
      fail(fmt::format("key '{}' twice", key));
    seen = true;
  }
  void skip() {
    while (at < text.size() && std::strchr(" \t\r\n", text[at]) && text[at])
      ++at;
  }
  bool accept(char wanted) {
    skip();
    if (at == text.size() || text[at] != wanted)
      return false;
    ++at;
    return true;
  }
  void expect(char wanted) {
    if (!accept(wanted))
      fail(fmt::format("expected '{}' at character {}", wanted, at));
  }
  std::string string() {
    skip();
    char quote = accept('\'') ? '\'' : accept('"') ? '"' : 0;
    size_t end = quote ? text.find(quote, at) : text.npos;
    if (end == text.npos)
      fail(fmt::format("expected a string at character {}", at));
    std::string value(text.substr(at, end - at));
    at = end + 1;
    return value;
  }
  bool boolean() {
    skip();
    for (bool value : {false, true}) {
      std::string_view word = value ? "True" : "False";
      if (text.substr(at, word.size()) == word) {
        at += word.size();
        return value;
      }
    }
    fail("fortran_order is neither True nor False");
  }
  std::vector<int64_t> tuple() {
    std::vector<int64_t> shape;
    expect('(');
    while (!accept(')')) {
      skip();
      int64_t extent = 0;
      auto [end, error] =
          std::from_chars(text.data() + at, text.data() + text.size(), extent);
      if (error != std::errc() || extent < 0)
        fail(fmt::format("shape entry at character {} is no extent", at));
      at = end - text.data();
      shape.push_back(extent);
      if (!accept(',')) {
        expect(')');
        break;
      }
    }
    return shape;
  }

  const std::string &file;
  std::string_view text;
  size_t at = 0;
};

Format formatOf(const std::string &file, const std::string &descr, bool bf16) {
  if (bf16) {
    if (descr == "<u2" || descr == "<i2" || descr == "<V2" || descr == "|V2")
      return Format::BF16;
    throw UserError(file, fmt::format("':bf16' reads 16-bit items (<u2, <i2, "
                                      "<V2), this file holds '{}'",
                                      descr));
  }
  if (descr == "<f2")
    return Format::F16;
  if (descr == "<f4")
    return Format::F32;
  if (descr == "<f8")
    return Format::F64;
  if (descr == "<i4")
    return Format::I32;
  if (descr == "<i8")
    return Format::I64;
  throw UserError(
      file, fmt::format("element type '{}' is not read; use <f2, <f4, <f8, "
                        "<i4, <i8, or 16-bit items with ':bf16' after the name",
                        descr));
}

std::string descrOf(Format format) {
  switch (format) {
  case Format::BF16:
    return "<u2";
  case Format::F16:
    return "<f2";
  case Format::F32:
    return "<f4";
  case Format::F64:
    return "<f8";
  case Format::I32:
    return "<i4";
  case Format::I64:
    return "<i8";
  }
  return "";
}

} // namespace

Tensor readNpy(const std::string &file, bool bf16) {
  auto [stream, size] = openRegular(file);
  char start[12] = {};
  stream.read(start, 10);
  if (stream.gcount() != 10 || std::string_view(start, 6) != Magic)
    throw UserError(file, "not a .npy file");
  auto byte = [&](int i) { return static_cast<uint64_t>(uint8_t(start[i])); };
  int version = static_cast<int>(byte(6));
  if (version < 1 || version > 3)
    throw UserError(file, fmt::format(".npy version {} is not known, versions "
                                      "1 to 3 are",
                                      version));
  uint64_t length = byte(8) | byte(9) << 8, prefix = 10;
  if (version > 1) {
    if (!stream.read(start + 10, 2))
      throw UserError(file, "truncated in its header");
    length |= byte(10) << 16 | byte(11) << 24;
    prefix = 12;
  }
  if (length > HeaderLimit)
    throw UserError(file, fmt::format("header of {} bytes, at most {} are read",
                                      length, HeaderLimit));
  std::string text(length, '\0');
  if (!stream.read(text.data(), static_cast<std::streamsize>(length)))
    throw UserError(file, "truncated in its header");
  Header header = HeaderParser(file, text).parse();

  Tensor tensor;
  tensor.format = formatOf(file, header.descr, bf16);
  tensor.shape = header.shape;
  auto extended = [](int64_t extent) { return extent > 1; };
  if (header.fortranOrder &&
      std::count_if(tensor.shape.begin(), tensor.shape.end(), extended) > 1)
    throw UserError(file, "is in Fortran order; save it in C order");
  int64_t elements = checkedElements(file, tensor.shape);
  int64_t width = algebra::bytes(tensor.format);
  uint64_t data = size - std::min(size, prefix + length);
  if (data % width || data / width != static_cast<uint64_t>(elements))
    throw UserError(
        file, fmt::format("shape [{}] of {} needs {} elements, the file holds "
                          "{} bytes of data",
                          fmt::join(tensor.shape, ", "), header.descr, elements,
                          data));
  tensor.bytes.resize(data);
  if (!stream.read(reinterpret_cast<char *>(tensor.bytes.data()),
                   static_cast<std::streamsize>(data)))
    throw UserError(file, "cannot read its data");
  return tensor;
}

std::string npyBytes(const Tensor &tensor) {
  std::string shape = fmt::format("{}", fmt::join(tensor.shape, ", "));
  if (tensor.shape.size() == 1)
    shape += ",";
  std::string header =
      fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}), }}",
                  descrOf(tensor.format), shape);
  // Data starts on a multiple of 64 bytes, as NumPy writes it.
  header.append(63 - (10 + header.size()) % 64, ' ');
  header += '\n';
  std::string bytes(Magic);
  bytes += {'\1', '\0'};
  bytes += static_cast<char>(header.size() & 0xff);
  bytes += static_cast<char>(header.size() >> 8);
  bytes += header;
  bytes.append(reinterpret_cast<const char *>(tensor.bytes.data()),
               tensor.bytes.size());
  return bytes;
}

} // namespace bitpact::evidence
