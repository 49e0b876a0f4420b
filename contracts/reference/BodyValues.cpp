// BodyValues.cpp - what ids of an operator's body stand for, and their formats
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "contracts/reference/BodyCompiler.h"

#include "contracts/algebra/RuleError.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace bitpact::reference {

using algebra::RuleError;
using nlohmann::json;

void BodyCompiler::fail(const char *rule, const std::string &message) const {
  throw RuleError(rule, message, "op.body");
}

const BodyCompiler::Meaning &
BodyCompiler::meaning(const std::string &id) const {
  auto found = meanings.find(id);
  if (found == meanings.end())
    fail("C4", fmt::format("value '{}' is not defined before its use", id));
  return found->second;
}

void BodyCompiler::define(const json &op, Meaning meaning) {
  std::string id = op.at("id").get<std::string>();
  if (!meanings.emplace(id, std::move(meaning)).second)
    fail("C3", fmt::format("two operations are named '{}'", id));
}

int BodyCompiler::addValue(Format format, std::vector<int> dims) {
  program.values.push_back({format, std::move(dims)});
  return static_cast<int>(program.values.size()) - 1;
}

std::vector<std::string> BodyCompiler::args(const json &op,
                                            size_t count) const {
  auto ids = op.at("args").get<std::vector<std::string>>();
  if (ids.size() != count)
    fail("C4", fmt::format("{} takes {} operands, it has {}",
                           op.at("op").get<std::string>(), count, ids.size()));
  return ids;
}

Format BodyCompiler::widest(const std::vector<std::string> &ids) const {
  for (const std::string &id : ids) {
    const Meaning &m = meaning(id);
    if ((m.kind == Meaning::Real &&
         program.values[m.value].format == Format::F64) ||
        (m.kind == Meaning::ExactProduct && widest(m.factors) == Format::F64))
      return Format::F64;
  }
  return Format::F32;
}

int BodyCompiler::use(const std::string &id, Format format) {
  const Meaning &m = meaning(id);
  if (m.kind == Meaning::Real)
    return m.value;
  if (m.kind == Meaning::Index)
    fail("F11",
         fmt::format("'{}' is an index, at which only a take may read", id));
  if (m.kind == Meaning::Offsets)
    fail("F11", fmt::format("'{}' are offsets of segments, which alone may "
                            "read them",
                            id));
  if (m.kind == Meaning::ExactProduct)
    fail("R3", fmt::format("'{}' is an exact product, which only an addition "
                           "or subtraction may take",
                           id));
  if (format != Format::F32 && format != Format::F64)
    fail("A3", fmt::format("'{}' is a constant where a {} is expected; give "
                           "it a format through an operation",
                           id, name(format)));
  Operation op{m.kind == Meaning::Extent ? OperationKind::Extent
                                         : OperationKind::Constant,
               addValue(format, {})};
  op.format = format;
  op.index = m.dim;
  if (m.kind == Meaning::Constant)
    op.constant = parseReal(m.text, format);
  program.operations.push_back(op);
  return op.result;
}

int BodyCompiler::useAs(const std::string &id, Format format,
                        const std::string &site) {
  int value = use(id, format);
  Format has = program.values[value].format;
  if (!algebra::widensExactly(has, format))
    throw RuleError("A3",
                    fmt::format("the primitive takes {}, a value of {} is "
                                "not exact there",
                                name(format), name(has)),
                    "primitives." + site);
  return value;
}

double BodyCompiler::parseReal(const std::string &text, Format format) const {
  // Straight to the format: through f64 would round twice.
  auto parse = [&](auto value) -> double {
    const char *end = text.data() + text.size();
    auto [at, error] = std::from_chars(text.data(), end, value);
    if (error != std::errc() || at != end)
      fail("C4",
           fmt::format("'{}' is no number that {} holds", text, name(format)));
    return value;
  };
  return format == Format::F64 ? parse(double()) : parse(float());
}

std::vector<int> BodyCompiler::dimsOf(const std::vector<int> &values) const {
  std::set<int> dims;
  for (int value : values)
    dims.insert(program.values[value].dims.begin(),
                program.values[value].dims.end());
  return {dims.begin(), dims.end()};
}

int BodyCompiler::emit(Operation op, Format format, std::vector<int> dims,
                       const std::string &site) {
  if (!site.empty()) {
    op.rounding = tables.siteFormat(site);
    format = *op.rounding;
  }
  op.result = addValue(format, dims);
  if (!site.empty())
    nameValue(site, op.result, false, std::move(dims));
  program.operations.push_back(op);
  return op.result;
}

void BodyCompiler::nameValue(const std::string &name, int value, bool isOutput,
                             std::vector<int> dims) {
  // An output and its site share a name and a value.
  for (const NamedValue &named : program.named)
    if (named.name == name)
      fail("C3", fmt::format("two values are named '{}'", name));
  program.named.push_back({name, value, isOutput, std::move(dims)});
}

const Operation *BodyCompiler::loadOf(int value) const {
  for (const Operation &operation : program.operations)
    if (operation.result == value)
      return operation.kind == OperationKind::Load ? &operation : nullptr;
  return nullptr;
}

} // namespace bitpact::reference
