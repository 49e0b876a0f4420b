// Terminal.cpp - tables for people, a progress line, error messages
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/bitpact/Terminal.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

using nlohmann::json;

namespace bitpact::tool {
namespace {

bool looksNumeric(const std::string &cell) {
  return cell.empty() || cell == "-" ||
         cell.find_first_not_of("0123456789.,") == cell.npos;
}

/// Characters, not bytes: the library that pads counts them too.
size_t columnsOf(const std::string &cell) {
  return static_cast<size_t>(std::count_if(
      cell.begin(), cell.end(), [](char c) { return (c & 0xc0) != 0x80; }));
}

int64_t milliseconds() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

} // namespace

void Table::print() const {
  std::vector<size_t> widths;
  std::vector<bool> right;
  for (size_t r = 0; r < rows.size(); ++r)
    for (size_t c = 0; c < rows[r].size(); ++c) {
      if (c == widths.size()) {
        widths.push_back(0);
        right.push_back(true);
      }
      widths[c] = std::max(widths[c], columnsOf(rows[r][c]));
      if (r && !looksNumeric(rows[r][c]))
        right[c] = false;
    }
  for (const auto &row : rows) {
    std::string line;
    for (size_t c = 0; c < row.size(); ++c)
      line += right[c] ? fmt::format("{:>{}}  ", row[c], widths[c])
                       : fmt::format("{:<{}}  ", row[c], widths[c]);
    line.erase(line.find_last_not_of(' ') + 1);
    fmt::print("{}\n", line);
  }
}

ProgressLine::ProgressLine() : active(isatty(STDERR_FILENO)) {}
ProgressLine::~ProgressLine() { erase(); }

evidence::Progress ProgressLine::callback() {
  return [this](const std::string &what, int64_t done, int64_t total) {
    show(what, done, total);
  };
}

void ProgressLine::show(const std::string &what, int64_t done, int64_t total) {
  if (!active)
    return;
  int64_t now = milliseconds();
  if (shown >= 0 && now - shown < 100 && done < total)
    return;
  shown = now;
  winsize size{};
  size_t columns = ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col
                       ? size.ws_col
                       : 80;
  constexpr int width = 24;
  int filled = static_cast<int>(total > 0 ? done * width / total : 0);
  std::string line =
      fmt::format("[{:#<{}}{:.<{}}] {:3}% {}", "", filled, "", width - filled,
                  total > 0 ? done * 100 / total : 0, what);
  fmt::print(stderr, "\r\033[K{}", line.substr(0, columns - 1));
  std::fflush(stderr);
}

void ProgressLine::erase() {
  if (!active || shown < 0)
    return;
  shown = -1;
  fmt::print(stderr, "\r\033[K");
  std::fflush(stderr);
}

void printDiagnostics(const json &messages) {
  auto text = [](const json &one, const char *severity) {
    if (one.is_string())
      return fmt::format("{}: {}", severity, one.get<std::string>());
    std::string where = one.value("file", "");
    for (const char *key : {"line", "column"})
      if (!where.empty() && one.value(key, 0) > 0)
        where += fmt::format(":{}", one.value(key, 0));
    return fmt::format("{}{}: {}", where.empty() ? "" : where + ": ",
                       one.value("severity", severity),
                       one.value("message", ""));
  };
  for (const json &message : messages) {
    fmt::print(stderr, "{}\n", text(message, "error"));
    if (message.is_object())
      for (const json &note : message.value("notes", json::array()))
        fmt::print(stderr, "  {}\n", text(note, "note"));
  }
}

std::string sizeText(int64_t bytes) {
  if (bytes < 1024)
    return fmt::format("{} B", bytes);
  double value = static_cast<double>(bytes);
  const char *units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  int unit = 0;
  while (value >= 1024 && unit < 4) {
    value /= 1024;
    ++unit;
  }
  return fmt::format("{:.1f} {}", value, units[unit]);
}

std::string shortDigest(const std::string &digest) {
  return digest.substr(0, 12);
}

} // namespace bitpact::tool
