// QuotientText.h - the text of a group of quotients, executed here
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef BITPACT_TESTS_UNIT_CODEGEN_QUOTIENTTEXT_H
#define BITPACT_TESTS_UNIT_CODEGEN_QUOTIENTTEXT_H

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace bitpact::tests {

/// Many groups at once, one in each lane. Only the instructions of such texts
/// are known; anything else fails the test.
class QuotientText {
public:
  static constexpr size_t kLanes = 512;
  using Lanes = std::array<uint32_t, kLanes>;

  /// A text of quotients $0 …, then dividends and divisors.
  explicit QuotientText(const std::string &text);

  /// `neighbour`: how many floats above the nearest to 1/b the approximate
  /// reciprocal is.
  void run(int neighbour);
  Lanes &operand(unsigned number) {
    std::string name = "$";
    return lanes[name += std::to_string(number)];
  }
  /// Which lanes need no division of the target's.
  const Lanes &usual() { return lanes["usual"]; }

private:
  struct Step {
    std::string name;
    std::vector<Lanes *> operands; // the result first
  };
  Lanes *known(const std::string &operand);
  void execute(const Step &step, int neighbour);

  std::map<std::string, Lanes> lanes; // registers, and numbers by their text
  std::vector<Step> steps;
};

} // namespace bitpact::tests

#endif
