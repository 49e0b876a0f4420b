// RecordLine.h - one line of a record file: strict JSON, checked fields
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef BITPACT_DIFF_RECORDLINE_H
#define BITPACT_DIFF_RECORDLINE_H

#include <cstdint>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <string_view>

namespace bitpact::diff {

/// A line that cannot be taken. A damaged one (cut, or mixed with another) is
/// lost evidence; any other is its writer's mistake.
class RecordError : public std::runtime_error {
public:
  RecordError(const std::string &message, uint64_t column = 1,
              bool damaged = false)
      : std::runtime_error(message), columnNumber(column), isDamaged(damaged) {}

  uint64_t line() const { return lineNumber; }
  uint64_t column() const { return columnNumber; }
  bool damaged() const { return isDamaged; }

  RecordError at(uint64_t line) const {
    RecordError error = *this;
    error.lineNumber = line;
    return error;
  }

private:
  uint64_t lineNumber = 0, columnNumber;
  bool isDamaged;
};

/// One JSON object in UTF-8, without duplicate keys, without integers that 64
/// bits do not hold. `whole` says that the line ended in a newline: bytes that
/// are not UTF-8 are then a mistake, and may be a cut character otherwise.
nlohmann::json parseRecordLine(std::string_view line, bool whole = true);

/// The fields of an object, by name and type. Messages begin with `where`.
class Fields {
public:
  Fields(const nlohmann::json &object, std::string where);

  /// Throws for a key that is none of these, nor "note".
  void allow(std::initializer_list<const char *> keys) const;

  bool has(const char *key) const { return object.contains(key); }
  /// The value, or null where the key is missing.
  const nlohmann::json *find(const char *key) const;
  const nlohmann::json &need(const char *key) const;

  std::string text(const char *key) const;
  std::string textOr(const char *key, const std::string &otherwise) const;
  int64_t integer(const char *key, int64_t least = 0,
                  int64_t most = INT64_MAX) const;
  int64_t integerOr(const char *key, int64_t otherwise, int64_t least = 0,
                    int64_t most = INT64_MAX) const;
  /// Exactly this many lower-case hexadecimal digits.
  std::string hex(const char *key, size_t digits) const;
  std::string hexOr(const char *key, size_t digits,
                    const std::string &otherwise) const;
  /// A name, or an integer from 0, which is the same as its digits.
  std::string name(const char *key) const;

  Fields inner(const char *key) const;
  std::string path(const char *key) const;
  [[noreturn]] void wrong(const char *key, const std::string &must) const;

private:
  const nlohmann::json &object;
  std::string where;
};

/// A value for a message, shortened.
std::string shown(const nlohmann::json &value);

} // namespace bitpact::diff

#endif // BITPACT_DIFF_RECORDLINE_H
