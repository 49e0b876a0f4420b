// Quotients.h - divisions of f32 with one test for several, as PTX
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A reciprocal to 1 ulp, one step of Newton, and the quotient corrected by its
// remainder: then it is rounded correctly (docs/rationale/0026), if nothing
// underflows on the way. ptxas divides by such steps too, behind a test of both
// operands and a branch for each quotient.
//
// The test here comes after the steps. No divisor and no quotient is above
// kMostSize, which finds what is not finite and divisors that the reciprocal
// takes for zero, since of those the quotient is NaN; dividends are +0 or at
// least kLeastOver. So quotients are normal numbers or zeros, and remainders
// multiples of 2^-149. Of -0 the steps would make +0.
#ifndef BITPACT_CODEGEN_NVPTX_QUOTIENTS_H
#define BITPACT_CODEGEN_NVPTX_QUOTIENTS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include <string>

namespace bitpact::codegen {

constexpr float kLeastOver = 0x1p-88f, kMostSize = 0x1p36f;
constexpr unsigned kMostQuotients = 8;

/// Quotients that share a test, each with a divisor of its own or all with one.
struct QuotientGroup {
  unsigned count = 0;
  bool hasOneDivisor = false;
  unsigned divisors() const { return hasOneDivisor ? 1 : count; }
};

/// PTX of a group. `operand(i)` names the quotients, the dividends and the
/// divisors, in this order; all that is read is read before the first is
/// written.
std::string quotientsText(QuotientGroup group,
                          llvm::function_ref<std::string(unsigned)> operand);

/// The same of `$i`, as inline assembly has it.
std::string quotientsText(QuotientGroup group);

/// Whether inline assembly is the text of a group and nothing else.
bool isQuotients(llvm::StringRef text);

/// How many lines of PTX are the text of a group of registers, to the letter; 0
/// if they begin with none.
size_t linesOfQuotients(llvm::ArrayRef<llvm::StringRef> lines,
                        QuotientGroup &group);

} // namespace bitpact::codegen

#endif // BITPACT_CODEGEN_NVPTX_QUOTIENTS_H
