// Field.h - one value of a JSON file, refused by its name
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef BITPACT_RUNTIME_PACKAGE_FIELD_H
#define BITPACT_RUNTIME_PACKAGE_FIELD_H

#include "runtime/package/Format.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <initializer_list>

namespace bitpact::package {

inline constexpr int64_t int64Max = std::numeric_limits<int64_t>::max();

// One JSON value and the path that leads to it.
class Field {
public:
  Field(const nlohmann::json &value, std::string path)
      : value(value), path(std::move(path)) {}

  [[noreturn]] void fail(const std::string &what) const {
    throw FormatError(fmt::format("{}: {}", path, what));
  }

  // `optional`: keys that newer formats have and that may be absent.
  void keys(std::initializer_list<const char *> allowed,
            std::initializer_list<std::string_view> optional = {}) const {
    if (!value.is_object())
      fail(fmt::format("is {}, must be an object", shown()));
    for (const char *key : allowed)
      if (!value.contains(key))
        fail(fmt::format("misses the key '{}'", key));
    for (const auto &[key, unused] : value.items())
      if (std::find(optional.begin(), optional.end(), key) == optional.end() &&
          std::find(allowed.begin(), allowed.end(), key) == allowed.end())
        fail(fmt::format("has the unknown key '{}'; allowed: {}", key,
                         fmt::join(allowed, ", ")));
  }

  bool has(const char *key) const { return value.contains(key); }

  Field operator[](const char *key) const {
    return Field(value.at(key), path.empty() ? key : path + "." + key);
  }

  std::string text() const {
    if (!value.is_string())
      fail(fmt::format("is {}, must be a string", shown()));
    return value.get<std::string>();
  }

  int64_t integer(int64_t min, int64_t max) const {
    bool fits = value.is_number_integer() &&
                !(value.is_number_unsigned() &&
                  value.get<uint64_t>() > uint64_t(int64Max));
    if (!fits || value.get<int64_t>() < min || value.get<int64_t>() > max)
      fail(fmt::format("is {}, must be an integer from {} to {}", shown(), min,
                       max));
    return value.get<int64_t>();
  }

  bool boolean() const {
    if (!value.is_boolean())
      fail(fmt::format("is {}, must be true or false", shown()));
    return value.get<bool>();
  }

  template <typename Each> void items(Each each) const {
    if (!value.is_array())
      fail(fmt::format("is {}, must be an array", shown()));
    for (size_t i = 0; i < value.size(); ++i)
      each(Field(value[i], fmt::format("{}[{}]", path, i)));
  }

  template <typename Each> void entries(Each each) const {
    if (!value.is_object())
      fail(fmt::format("is {}, must be an object", shown()));
    for (const auto &[key, element] : value.items())
      each(key, Field(element, path + "." + key));
  }

  std::vector<std::string> texts() const {
    std::vector<std::string> list;
    items([&](const Field &item) { list.push_back(item.text()); });
    return list;
  }

  template <typename Enum> Enum one(std::initializer_list<Enum> allowed) const {
    std::string found = text(), list;
    for (Enum candidate : allowed) {
      if (found == name(candidate))
        return candidate;
      list += (list.empty() ? "" : ", ") + std::string(name(candidate));
    }
    fail(fmt::format("is '{}'; allowed: {}", found, list));
  }

  bool isText(const char *wanted) const {
    return value.is_string() && value.get_ref<const std::string &>() == wanted;
  }

private:
  std::string shown() const {
    if (value.is_structured())
      return value.is_array() ? "an array" : "an object";
    std::string text = value.dump(-1, ' ', true);
    return text.size() <= 80 ? text : text.substr(0, 77) + "...";
  }

  const nlohmann::json &value;
  std::string path;
};

} // namespace bitpact::package

#endif // BITPACT_RUNTIME_PACKAGE_FIELD_H
