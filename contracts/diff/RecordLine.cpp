// RecordLine.cpp - one line of a record file: strict JSON, checked fields
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "contracts/diff/RecordLine.h"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <vector>

using nlohmann::json;

namespace bitpact::diff {
namespace {

/// Builds the value, and refuses what nlohmann's own builder lets pass: keys
/// that stand twice, and integers that it would round to a double.
class Builder : public nlohmann::json_sax<json> {
public:
  json root;
  bool wholeLine = true;

  bool null() override { return put(nullptr); }
  bool boolean(bool value) override { return put(value); }
  bool number_integer(number_integer_t value) override { return put(value); }
  bool number_unsigned(number_unsigned_t value) override { return put(value); }
  bool number_float(number_float_t value, const string_t &text) override {
    if (text.find_first_of(".eE") == text.npos)
      throw RecordError(
          fmt::format("the integer {} does not fit in 64 bits",
                      text.size() > 40 ? text.substr(0, 37) + "..." : text));
    return put(value);
  }
  bool string(string_t &value) override { return put(std::move(value)); }
  bool binary(binary_t &) override { return false; }
  bool start_object(std::size_t) override { return open(json::object()); }
  bool start_array(std::size_t) override { return open(json::array()); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }
  bool key(string_t &name) override {
    if (nested.back()->contains(name))
      throw RecordError(fmt::format("key '{}' stands twice", name));
    pendingKey = std::move(name);
    return true;
  }
  bool parse_error(std::size_t position, const std::string &,
                   const nlohmann::detail::exception &error) override {
    std::string text = error.what();
    if (size_t at = text.find("] "); at != text.npos)
      text = text.substr(at + 2);
    if (wholeLine && text.find("ill-formed UTF-8") != text.npos)
      throw RecordError("not UTF-8", position);
    if (dynamic_cast<const json::out_of_range *>(&error))
      throw RecordError(text, position);
    throw RecordError("not a whole JSON object: cut, or mixed with another "
                      "line",
                      position, /*damaged=*/true);
  }

private:
  static constexpr size_t maxDepth = 32;

  template <typename T> json *place(T &&value) {
    if (nested.empty()) {
      root = std::forward<T>(value);
      return &root;
    }
    json &parent = *nested.back();
    if (parent.is_array())
      return &parent.emplace_back(std::forward<T>(value));
    return &(parent[pendingKey] = std::forward<T>(value));
  }
  template <typename T> bool put(T &&value) {
    place(std::forward<T>(value));
    return true;
  }
  bool open(json value) {
    if (nested.size() == maxDepth)
      throw RecordError(fmt::format("nested deeper than {}", maxDepth));
    nested.push_back(place(std::move(value)));
    return true;
  }
  bool close() {
    nested.pop_back();
    return true;
  }

  // Parents keep still while a child is open.
  std::vector<json *> nested;
  std::string pendingKey;
};

} // namespace

json parseRecordLine(std::string_view line, bool whole) {
  // nlohmann takes a zero byte for the end of the text.
  if (const void *zero = std::memchr(line.data(), 0, line.size()))
    throw RecordError("a zero byte: the line is damaged",
                      uint64_t(static_cast<const char *>(zero) - line.data()) +
                          1,
                      /*damaged=*/true);
  Builder builder;
  builder.wholeLine = whole;
  if (!json::sax_parse(line.begin(), line.end(), &builder))
    throw RecordError("not a whole JSON object", 1, /*damaged=*/true);
  if (!builder.root.is_object())
    throw RecordError("a record is a JSON object, as {\"bitpact_row\": 1, …}");
  return std::move(builder.root);
}

std::string shown(const json &value) {
  std::string text = value.dump(-1, ' ', false, json::error_handler_t::replace);
  if (text.size() <= 80)
    return text;
  size_t end = 77;
  while (end && (text[end] & 0xc0) == 0x80) // not within a character
    --end;
  return text.substr(0, end) + "...";
}

Fields::Fields(const json &object, std::string where)
    : object(object), where(std::move(where)) {
  if (!object.is_object())
    throw RecordError(
        fmt::format("{} is {}, must be an object", this->where, shown(object)));
}

std::string Fields::path(const char *key) const {
  return fmt::format("{}: '{}'", where, key);
}

void Fields::wrong(const char *key, const std::string &must) const {
  throw RecordError(
      object.contains(key)
          ? fmt::format("{} is {}, must be {}", path(key),
                        shown(object.at(key)), must)
          : fmt::format("{} is missing, must be {}", path(key), must));
}

void Fields::allow(std::initializer_list<const char *> keys) const {
  for (const auto &[key, value] : object.items())
    if (key != "note" && std::find(keys.begin(), keys.end(), key) == keys.end())
      throw RecordError(fmt::format("{}: unknown key '{}'; it has {}, note",
                                    where, key, fmt::join(keys, ", ")));
}

const json *Fields::find(const char *key) const {
  auto found = object.find(key);
  return found == object.end() ? nullptr : &*found;
}

const json &Fields::need(const char *key) const {
  const json *value = find(key);
  if (!value)
    throw RecordError(fmt::format("{} is missing", path(key)));
  return *value;
}

std::string Fields::text(const char *key) const {
  const json *value = find(key);
  if (!value || !value->is_string() ||
      value->get_ref<const std::string &>().empty())
    wrong(key, "a string that is not empty");
  return value->get<std::string>();
}

std::string Fields::textOr(const char *key,
                           const std::string &otherwise) const {
  const json *value = find(key);
  return value && !value->is_null() ? text(key) : otherwise;
}

int64_t Fields::integer(const char *key, int64_t least, int64_t most) const {
  const json *value = find(key);
  // A float, even 1.0, is no count; above 2^63 it would wrap around.
  if (!value || !value->is_number_integer() ||
      (value->is_number_unsigned() &&
       value->get<uint64_t>() > uint64_t(INT64_MAX)) ||
      value->get<int64_t>() < least || value->get<int64_t>() > most)
    wrong(key, fmt::format("an integer from {} to {}", least, most));
  return value->get<int64_t>();
}

int64_t Fields::integerOr(const char *key, int64_t otherwise, int64_t least,
                          int64_t most) const {
  return has(key) ? integer(key, least, most) : otherwise;
}

std::string Fields::hex(const char *key, size_t digits) const {
  const json *value = find(key);
  if (!value || !value->is_string() ||
      value->get_ref<const std::string &>().size() != digits ||
      value->get_ref<const std::string &>().find_first_not_of(
          "0123456789abcdef") != std::string::npos)
    wrong(key, fmt::format("{} lower-case hexadecimal digits", digits));
  return value->get<std::string>();
}

std::string Fields::hexOr(const char *key, size_t digits,
                          const std::string &otherwise) const {
  const json *value = find(key);
  return value && !value->is_null() ? hex(key, digits) : otherwise;
}

std::string Fields::name(const char *key) const {
  const json *value = find(key);
  if (value && value->is_number_integer())
    return std::to_string(integer(key));
  return text(key);
}

Fields Fields::inner(const char *key) const {
  return Fields(need(key), where + "." + key);
}

} // namespace bitpact::diff
