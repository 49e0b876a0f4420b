// OperatorDelta.cpp - do two contracts compute one function F
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "contracts/diff/OperatorDelta.h"

#include "contracts/algebra/Format.h"
#include "contracts/reference/Arithmetic.h"

#include <fmt/format.h>

#include <algorithm>

namespace bitpact::diff {
namespace {

using nlohmann::json;

std::string operatorName(const json &op) {
  return fmt::format("{}@{}", op.at("name").get<std::string>(),
                     op.at("version").dump());
}

void dropDocs(json &value) {
  if (value.is_object())
    value.erase("doc");
  if (value.is_structured())
    for (json &inner : value)
      dropDocs(inner);
}

/// An operation as people write it: v4 = mul(v1, v3) site normed.
std::string operationText(const json &operation) {
  std::string text, args;
  if (operation.contains("id"))
    text = operation.at("id").get<std::string>() + " = ";
  text += operation.at("op").get<std::string>();
  for (const json &arg : operation.value("args", json::array()))
    args += (args.empty() ? "" : ", ") + arg.get<std::string>();
  if (!args.empty())
    text += "(" + args + ")";
  for (const auto &[key, value] : operation.items())
    if (key != "id" && key != "op" && key != "args")
      text += fmt::format(" {} {}", key,
                          value.is_string() ? value.get<std::string>()
                                            : value.dump());
  return text;
}

std::string firstDifference(const json &a, const json &b) {
  const json &left = a.at("body"), &right = b.at("body");
  for (size_t i = 0; i < std::max(left.size(), right.size()); ++i) {
    std::string before = i < left.size() ? operationText(left[i]) : "nothing";
    std::string after = i < right.size() ? operationText(right[i]) : "nothing";
    if (before != after)
      return fmt::format("operation {} is {} in A, {} in B", i + 1, before,
                         after);
  }
  for (const char *key : {"dims", "params", "tensors"})
    if (a.at(key) != b.at(key))
      return fmt::format("the {} are {} in A, {} in B", key, a.at(key).dump(),
                         b.at(key).dump());
  return "";
}

struct Param {
  algebra::Format format;
  double value;
  std::string text() const {
    std::string number = format == algebra::Format::F64
                             ? fmt::format("{}", value)
                             : fmt::format("{}", static_cast<float>(value));
    return fmt::format("{} {}", number, algebra::name(format));
  }
};

Param paramOf(const json &param) {
  algebra::Format format =
      algebra::parseFormat(param.at("format").get<std::string>()).value();
  uint64_t bits = std::stoull(param.at("bits").get<std::string>(), nullptr, 16);
  return {format, reference::decode(format, bits)};
}

} // namespace

void compareOperators(const json &a, const json &b, Delta &delta) {
  json left = a.at("op"), right = b.at("op");
  dropDocs(left);
  dropDocs(right);
  auto refuse = [&](std::string reason) {
    delta.comparable = false;
    delta.reason = std::move(reason);
  };
  std::string before = operatorName(left), after = operatorName(right);
  std::string where = firstDifference(left, right);
  if (!where.empty())
    return refuse(before == after
                      ? fmt::format("two definitions of {}: {}", before, where)
                      : fmt::format("A computes {}, B computes {}: {}", before,
                                    after, where));
  if (before != after)
    delta.equivalences.push_back(
        {"op", fmt::format("{} and {} have one definition", before, after)});
  for (const auto &[name, param] : a.at("params").items()) {
    Param mine = paramOf(param), other = paramOf(b.at("params").at(name));
    if (mine.value != other.value)
      return refuse(fmt::format("the param {} is {} in A, {} in B", name,
                                mine.text(), other.text()));
    if (mine.format != other.format)
      delta.changes.push_back(
          {Field::P, name, "params." + name, mine.text(), other.text()});
  }
}

} // namespace bitpact::diff
