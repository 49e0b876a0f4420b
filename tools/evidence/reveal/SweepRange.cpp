// SweepRange.cpp - reads ranges and lists of extents
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/evidence/reveal/SweepRange.h"
#include "tools/evidence/UserError.h"

#include <charconv>
#include <fmt/format.h>
#include <set>
#include <string_view>

namespace bitpact::reveal {
namespace {

class Parser {
public:
  Parser(const std::string &whole, std::string_view list)
      : whole(whole), text(list) {}

  std::set<int64_t> parse(int64_t stride) {
    std::set<int64_t> extents;
    do {
      int64_t first = number(), last = accept("..") ? number() : first;
      int64_t step = accept(":") ? number() : stride;
      if (last < first)
        fail(fmt::format("{}..{} is empty", first, last));
      if ((last - first) / step + 1 + static_cast<int64_t>(extents.size()) >
          SweepLimit)
        fail(fmt::format("more than {} extents", SweepLimit));
      for (int64_t extent = first; extent <= last; extent += step)
        extents.insert(extent);
      extents.insert(last);
    } while (accept(","));
    if (!text.empty())
      fail(fmt::format("'{}' is left over", text));
    return extents;
  }

private:
  [[noreturn]] void fail(const std::string &message) const {
    throw evidence::UserError(
        "--sweep", fmt::format("{}, in '{}'; it is DIM=FIRST..LAST, "
                               "DIM=FIRST..LAST:STEP or a list with commas",
                               message, whole));
  }
  bool accept(std::string_view word) {
    if (!text.starts_with(word))
      return false;
    text.remove_prefix(word.size());
    return true;
  }
  int64_t number() {
    int64_t value = 0;
    auto [end, error] =
        std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || value < 1 || value > int64_t(1) << 31)
      fail(fmt::format("an extent in 1 … 2³¹ is expected before '{}'", text));
    text.remove_prefix(static_cast<size_t>(end - text.data()));
    return value;
  }

  const std::string &whole;
  std::string_view text;
};

} // namespace

SweepRange parseSweep(const std::string &text, int64_t stride) {
  size_t equals = text.find('=');
  if (equals == 0 || equals == std::string::npos)
    throw evidence::UserError(
        "--sweep",
        fmt::format("'{}' is not of the form DIM=FIRST..LAST", text));
  if (stride < 1)
    throw evidence::UserError("--stride", fmt::format("{} is below 1", stride));
  std::set<int64_t> extents =
      Parser(text, std::string_view(text).substr(equals + 1)).parse(stride);
  return {text.substr(0, equals), {extents.begin(), extents.end()}};
}

} // namespace bitpact::reveal
