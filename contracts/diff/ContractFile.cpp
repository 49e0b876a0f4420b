// ContractFile.cpp - a canonical contract as a contract file again, and patches
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "contracts/diff/ContractFile.h"

#include "contracts/algebra/Format.h"
#include "contracts/algebra/RuleError.h"
#include "contracts/reference/Arithmetic.h"

#include <fmt/format.h>

namespace bitpact::diff {

using algebra::RuleError;
using nlohmann::json;

namespace {

/// Enough digits that rounding them to the format gives the bits again.
std::string paramText(const json &param) {
  std::string type = param.at("format").get<std::string>();
  auto format = algebra::parseFormat(type);
  if (!format)
    throw RuleError("P1", fmt::format("'{}' is no format", type), "params");
  double value = reference::decode(
      *format, std::stoull(param.at("bits").get<std::string>(), nullptr, 16));
  return *format == algebra::Format::F64
             ? fmt::format("{} {}", value, type)
             : fmt::format("{} {}", static_cast<float>(value), type);
}

} // namespace

json contractFile(const json &canonical) try {
  json file;
  for (const char *key :
       {"bitpact", "name", "doc", "dims", "types", "nodes", "primitives"})
    if (canonical.contains(key))
      file[key] = canonical.at(key);
  const json &op = canonical.at("op");
  file["op"] = fmt::format("{}@{}", op.at("name").get<std::string>(),
                           op.at("version").dump());
  file["params"] = json::object();
  for (const auto &[name, param] : canonical.at("params").items())
    file["params"][name] = paramText(param);
  file["rounding"] = json::object();
  for (const auto &[site, rounding] : canonical.at("rounding").items())
    file["rounding"][site] =
        rounding.is_string()
            ? rounding
            : json(fmt::format("{} {}",
                               rounding.at("format").get<std::string>(),
                               rounding.at("mode").get<std::string>()));
  return file;
} catch (const json::exception &error) {
  throw RuleError("C4", std::string("no canonical contract: ") + error.what());
}

json mergePatch(const json &from, const json &to) {
  if (!from.is_object() || !to.is_object())
    return to;
  json patch = json::object();
  for (const auto &[key, value] : from.items())
    if (!to.contains(key))
      patch[key] = nullptr;
  for (const auto &[key, value] : to.items())
    if (!from.contains(key))
      patch[key] = value;
    else if (from.at(key) != value)
      patch[key] = mergePatch(from.at(key), value);
  return patch;
}

} // namespace bitpact::diff
