// Finding.h - one answer of a probe, or that there is none
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef BITPACT_EVIDENCE_REVEAL_FINDING_H
#define BITPACT_EVIDENCE_REVEAL_FINDING_H

#include <string>

namespace bitpact::reveal {

struct Finding {
  /// What was asked, in one word: "start", "rounding", "fraction".
  std::string what;
  /// The answer as contracts write it; for people where it is not determined.
  std::string value;
  /// What was seen, or why nothing can be.
  std::string evidence;
  bool determined = true;
};

} // namespace bitpact::reveal

#endif // BITPACT_EVIDENCE_REVEAL_FINDING_H
