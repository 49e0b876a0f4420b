// Spelling.cpp - how names, hashes, paths and dates of a manifest are written
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/package/Spelling.h"

#include <algorithm>
#include <string_view>

namespace bitpact::package {

static bool isHash(const std::string &text) {
  return text.size() == 64 && std::all_of(text.begin(), text.end(), [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
         });
}

static bool isPlain(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
         (c >= 'A' && c <= 'Z') || c == '_' || c == '-' || c == '.';
}

bool isFileName(const std::string &text) {
  return !text.empty() && text.size() <= 200 && text[0] != '.' &&
         std::all_of(text.begin(), text.end(), isPlain);
}

bool isIdentifier(const std::string &text) {
  return !text.empty() && text.size() <= 500 &&
         !(text[0] >= '0' && text[0] <= '9') &&
         std::all_of(text.begin(), text.end(),
                     [](char c) { return isPlain(c) && c != '-' && c != '.'; });
}

void checkIdentifier(const std::string &at, const std::string &text) {
  if (!isIdentifier(text))
    fail("{}: is '{}', must be letters, digits and '_', not beginning with a "
         "digit",
         at, text);
}

void checkHash(const std::string &at, const std::string &text) {
  if (!isHash(text))
    fail("{}: is '{}', must be 64 lower-case hexadecimal digits", at, text);
}

void checkPath(const std::string &at, const std::string &path,
               const std::string &folder) {
  if (path.compare(0, folder.size() + 1, folder + "/") != 0 ||
      !isFileName(path.substr(folder.size() + 1)))
    fail("{}: is '{}', must be {}/NAME with NAME of letters, digits, '.', '_' "
         "and '-', not beginning with '.'",
         at, path, folder);
}

bool isDate(const std::string &text) {
  constexpr std::string_view form = "0000-00-00";
  if (text.size() != form.size())
    return false;
  for (size_t i = 0; i < form.size(); ++i)
    if (form[i] == '-' ? text[i] != '-' : text[i] < '0' || text[i] > '9')
      return false;
  int month = (text[5] - '0') * 10 + (text[6] - '0'),
      day = (text[8] - '0') * 10 + (text[9] - '0');
  return month >= 1 && month <= 12 && day >= 1 && day <= 31;
}

} // namespace bitpact::package
