// Manifest.cpp - any bytes as a manifest, as they are and sealed
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/package/Reader.h"

#include <nlohmann/json.hpp>

#include <cstdlib>

using namespace bitpact;

namespace {

/// What was accepted must be what would be written. False: nested too deep.
bool parse(std::string_view bytes) {
  try {
    package::Manifest manifest = package::parseManifest(bytes, "fuzz");
    if (package::seal(manifest) != bytes)
      std::abort();
  } catch (const package::FormatError &error) {
    return std::string_view(error.what()).find("nested deeper") ==
           std::string_view::npos;
  }
  return true;
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  std::string_view bytes(reinterpret_cast<const char *>(data), size);
  if (!parse(bytes))
    return 0;
  // No mutation keeps the hash, so what lies behind it needs it made anew.
  nlohmann::json value = nlohmann::json::parse(bytes, nullptr, false);
  if (!value.is_object())
    return 0;
  try {
    value["sha256"] = package::manifestHash(value);
    parse(package::canonicalText(value) + "\n");
  } catch (const package::FormatError &) {
  }
  return 0;
}
