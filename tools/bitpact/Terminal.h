// Terminal.h - tables for people, a progress line, error messages
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef BITPACT_TOOL_TERMINAL_H
#define BITPACT_TOOL_TERMINAL_H

#include "tools/evidence/Progress.h"

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace bitpact::tool {

/// Left-aligned columns; a column of numbers is right-aligned.
class Table {
public:
  explicit Table(std::vector<std::string> head) : rows{std::move(head)} {}
  void add(std::vector<std::string> row) { rows.push_back(std::move(row)); }
  void print() const;

private:
  std::vector<std::vector<std::string>> rows;
};

/// One line on stderr that rewrites itself; silent unless stderr is a
/// terminal. It is gone when the line ends.
class ProgressLine {
public:
  ProgressLine();
  ~ProgressLine();
  ProgressLine(const ProgressLine &) = delete;
  ProgressLine &operator=(const ProgressLine &) = delete;
  evidence::Progress callback();
  /// Before anything is printed.
  void erase();

private:
  void show(const std::string &what, int64_t done, int64_t total);
  bool active;
  int64_t shown = -1;
};

/// `file:line:col: error: message`, notes indented below.
void printDiagnostics(const nlohmann::json &messages);

/// 1536 as `1.5 KiB`.
std::string sizeText(int64_t bytes);

/// The first digits of a digest, as people read them.
std::string shortDigest(const std::string &digest);

} // namespace bitpact::tool

#endif // BITPACT_TOOL_TERMINAL_H
