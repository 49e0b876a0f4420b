// Formula.h - a workspace size: sums of products, so monotone in the dims
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef BITPACT_RUNTIME_PACKAGE_FORMULA_H
#define BITPACT_RUNTIME_PACKAGE_FORMULA_H

#include <cstdint>
#include <string>
#include <vector>

namespace bitpact::package {

// `4*ceil(tokens/256)*hidden + 256`: terms joined by '+', factors by '*', each
// factor a non-negative integer, a dim, or a dim divided by an integer and
// rounded up.
struct Formula {
  struct Factor {
    std::string dim;
    int64_t divisor = 1;
  };
  struct Term {
    int64_t coefficient = 1;
    std::vector<Factor> factors;
  };
  std::vector<Term> terms;

  // Throws FormatError that says what is wrong with the text.
  static Formula parse(const std::string &text);

  bool isZero() const;
};

} // namespace bitpact::package

#endif // BITPACT_RUNTIME_PACKAGE_FORMULA_H
