// Scanner.h - the words and marks of a signature, and errors at their columns
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef BITPACT_EVIDENCE_FOREIGN_SCANNER_H
#define BITPACT_EVIDENCE_FOREIGN_SCANNER_H

#include "tools/evidence/UserError.h"

#include <cctype>
#include <fmt/format.h>
#include <string>
#include <string_view>

namespace bitpact::evidence::foreign {

class Scanner {
protected:
  /// `inWords`: what a word has besides letters and digits. `hint` ends every
  /// message.
  Scanner(std::string_view text, std::string_view inWords,
          std::string_view hint = "")
      : text(text), inWords(inWords), hint(hint) {}

  /// A UserError at the column where the scanner stands.
  [[noreturn]] void fail(const std::string &message) const {
    throw UserError(fmt::format("signature:1:{}", at + 1),
                    fmt::format("{}, in '{}'{}", message, text, hint));
  }

  void skip() {
    while (at < text.size() && std::isspace(uint8_t(text[at])))
      ++at;
  }

  bool accept(char c) {
    skip();
    if (at >= text.size() || text[at] != c)
      return false;
    ++at;
    return true;
  }

  void expect(char c) {
    if (!accept(c))
      fail(fmt::format("expected '{}'", c));
  }

  std::string word(const char *what) {
    skip();
    size_t start = at;
    while (at < text.size() &&
           (std::isalnum(uint8_t(text[at])) ||
            inWords.find(text[at]) != std::string_view::npos))
      ++at;
    if (at == start)
      fail(fmt::format("expected {}", what));
    return std::string(text.substr(start, at - start));
  }

  std::string_view text;
  size_t at = 0;

private:
  std::string_view inWords, hint;
};

} // namespace bitpact::evidence::foreign

#endif // BITPACT_EVIDENCE_FOREIGN_SCANNER_H
