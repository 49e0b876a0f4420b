// Structure.cpp - rules C2, C4, C5 and C6, from one table of keys
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/Reader/Structure.h"

#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace bitpact;
using namespace bitpact::reader;
using Kind = reader::Value::Kind;

namespace {

/// What a value may be. `entries` describes the values of an object whose keys
/// are the operator's names; `fields` lists the keys of one that has its own.
struct Shape {
  struct Field {
    StringRef key;
    const Shape *shape;
    bool required = false;
  };
  std::vector<Kind> kinds;
  StringRef allowed;
  const Shape *entries = nullptr;
  std::vector<Field> fields = {};
  const Shape *items = nullptr;
};

const Shape text{{Kind::String}, "a string"};
const Shape extent{{Kind::Number, Kind::String}, "a positive integer or \"*\""};
const Shape version{{Kind::Number}, "the number 1"};
const Shape textList{{Kind::Array}, "a list of strings", nullptr, {}, &text};
const Shape textOrList{{Kind::String, Kind::Array},
                       "a string or a list of strings",
                       nullptr,
                       {},
                       &text};
const Shape texts{{Kind::Object}, "an object of strings", &text};
const Shape extents{{Kind::Object}, "an object of extents", &extent};
const Shape precision{{Kind::Object},
                      "an object",
                      nullptr,
                      {{"product", &text}, {"accumulator", &text, true}}};
const Shape count{{Kind::Number}, "a positive integer"};
const Shape padded{{Kind::Object},
                   "an object",
                   nullptr,
                   {{"extent", &count, true}, {"stored", &count, true}}};
const Shape domain{
    {Kind::String, Kind::Object}, "a dim, or an object of one dim", &padded};
const Shape node{{Kind::Object},
                 "an object",
                 nullptr,
                 {{"use", &textOrList},
                  {"domain", &domain, true},
                  {"partition", &text, true},
                  {"offsets", &text},
                  {"merge", &textList, true},
                  {"start", &text, true},
                  {"state", &text},
                  {"precision", &precision, true}}};
const Shape nodes{{Kind::Object}, "an object of nodes", &node};
const Shape contract{{Kind::Object},
                     "an object",
                     nullptr,
                     {{"bitpact", &version, true},
                      {"extends", &text},
                      {"name", &text, true},
                      {"doc", &text},
                      {"op", &text, true},
                      {"dims", &extents, true},
                      {"types", &texts, true},
                      {"params", &texts},
                      {"nodes", &nodes, true},
                      {"rounding", &texts, true},
                      {"primitives", &texts, true}}};
const Shape preset{
    {Kind::Object},
    "an object",
    nullptr,
    {{"bitpact", &version, true}, {"doc", &text}, {"node", &node, true}}};

std::string keyNames(const Shape &shape) {
  std::string names;
  for (const Shape::Field &field : shape.fields)
    names += (names.empty() ? "" : ", ") + field.key.str();
  return names;
}

/// Checks kinds and unknown keys below a value and goes on after an error.
LogicalResult checkShape(const reader::Value &value, const Shape &shape,
                         const std::string &name, bool patch) {
  if (patch && value.is(Kind::Null))
    return success();
  if (!llvm::is_contained(shape.kinds, value.kind))
    return emitError(value.loc) << name << " must be " << shape.allowed
                                << ", not " << describe(value.kind) << " [C4]";
  bool ok = true;
  if (value.is(Kind::Array))
    for (const reader::Value &item : value.items)
      ok &= succeeded(checkShape(item, *shape.items, "an entry of " + name,
                                 /*patch=*/false));
  for (const Member &member : value.members) {
    const Shape *inner = shape.entries;
    for (const Shape::Field &field : shape.fields)
      if (field.key == member.key)
        inner = field.shape;
    if (!inner) {
      emitError(member.loc) << "unknown key '" << member.key << "' in " << name
                            << "; allowed are " << keyNames(shape) << " [C2]";
      ok = false;
      continue;
    }
    ok &= succeeded(
        checkShape(member.value, *inner, "'" + member.key + "'", patch));
  }
  return success(ok);
}

LogicalResult checkVersion(const reader::Value &root, StringRef what) {
  const reader::Value *value = root.get("bitpact");
  if (!value)
    return emitError(root.loc) << what << " has no key 'bitpact'; write "
                               << "\"bitpact\": 1 [C6]";
  if (value->text == "1")
    return success();
  return emitError(value->loc) << "'bitpact' is " << value->text
                               << ", but this compiler reads version 1 [C5]";
}

LogicalResult checkRequired(const reader::Value &value, const Shape &shape,
                            const std::string &name) {
  bool ok = true;
  for (const Shape::Field &field : shape.fields) {
    const reader::Value *inner = value.get(field.key);
    if (field.required && !inner) {
      emitError(value.loc) << name << " has no key '" << field.key << "' [C6]";
      ok = false;
    }
    if (inner)
      ok &= succeeded(
          checkRequired(*inner, *field.shape, "'" + field.key.str() + "'"));
  }
  if (shape.entries)
    for (const Member &member : value.members)
      ok &= succeeded(
          checkRequired(member.value, *shape.entries, "'" + member.key + "'"));
  return success(ok);
}

} // namespace

LogicalResult reader::checkContractFile(const Value &root) {
  bool patch = root.is(Kind::Object) && root.find("extends");
  bool ok = succeeded(checkShape(root, contract, "the contract", patch));
  return success(ok && succeeded(checkVersion(root, "the contract")));
}

LogicalResult reader::checkPresetFile(const Value &root) {
  bool ok = succeeded(checkShape(root, preset, "the preset", false));
  return success(ok && succeeded(checkVersion(root, "the preset")));
}

LogicalResult reader::checkComplete(const Value &root) {
  return checkRequired(root, contract, "the contract");
}
