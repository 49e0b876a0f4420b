// Formula.cpp - reads a workspace size
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/package/Formula.h"

#include "runtime/package/Format.h"

#include <fmt/format.h>

#include <algorithm>

namespace bitpact::package {

static bool isDigit(char c) { return c >= '0' && c <= '9'; }
static bool isWord(char c) {
  return isDigit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
         c == '_';
}

Formula Formula::parse(const std::string &text) {
  auto fail = [&](const char *what) -> FormatError {
    return FormatError(fmt::format("is '{}', {}; allowed: integers and dims "
                                   "joined by '*', terms joined by '+', "
                                   "ceil(DIM/INTEGER)",
                                   text, what));
  };
  Formula formula;
  formula.terms.emplace_back();
  size_t at = 0;
  auto skipSpace = [&] {
    while (at < text.size() && text[at] == ' ')
      ++at;
  };
  while (true) {
    skipSpace();
    size_t begin = at;
    while (at < text.size() && isWord(text[at]))
      ++at;
    std::string word = text.substr(begin, at - begin);
    if (word.empty())
      throw fail("a factor is missing");
    auto number = [&](const std::string &digits) {
      if (digits.empty() || digits.size() > 15 ||
          !std::all_of(digits.begin(), digits.end(), isDigit))
        throw fail("a number is malformed or too large");
      return int64_t(std::stoll(digits));
    };
    Term &term = formula.terms.back();
    if (word == "ceil" && at < text.size() && text[at] == '(') {
      size_t slash = text.find('/', at), end = text.find(')', at);
      if (end == std::string::npos || slash > end)
        throw fail("ceil() is malformed");
      std::string dim = text.substr(at + 1, slash - at - 1);
      int64_t divisor = number(text.substr(slash + 1, end - slash - 1));
      if (dim.empty() || isDigit(dim[0]) || divisor == 0 ||
          !std::all_of(dim.begin(), dim.end(), isWord))
        throw fail("ceil() is malformed");
      term.factors.push_back({dim, divisor});
      at = end + 1;
    } else if (isDigit(word[0])) {
      if (__builtin_mul_overflow(term.coefficient, number(word),
                                 &term.coefficient) ||
          term.coefficient > maxWorkspace)
        throw fail("a number is too large");
    } else {
      term.factors.push_back({word});
    }
    skipSpace();
    if (at == text.size())
      return formula;
    char op = text[at++];
    if (op == '+')
      formula.terms.emplace_back();
    else if (op != '*')
      throw fail("an operator is unknown");
  }
}

bool Formula::isZero() const {
  return std::all_of(terms.begin(), terms.end(),
                     [](const Term &term) { return term.coefficient == 0; });
}

} // namespace bitpact::package
