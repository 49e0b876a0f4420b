// ExpectRule.h - checks which rule an action breaks, and what it says
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef BITPACT_TESTS_UNIT_ALGEBRA_EXPECTRULE_H
#define BITPACT_TESTS_UNIT_ALGEBRA_EXPECTRULE_H

#include "contracts/algebra/RuleError.h"

#include <catch2/catch.hpp>

#include <string>

/// Runs `action`, which must throw a RuleError of `rule` with `text` in it.
template <class Action>
void expectRule(const std::string &rule, const std::string &text,
                Action &&action) {
  INFO("expecting [" << rule << "] " << text);
  try {
    action();
  } catch (const bitpact::algebra::RuleError &error) {
    CHECK(error.rule() == rule);
    CHECK_THAT(error.what(), Catch::Contains(text));
    CHECK_THAT(error.what(), Catch::EndsWith("[" + rule + "]"));
    return;
  }
  FAIL_CHECK("nothing was thrown");
}

#endif // BITPACT_TESTS_UNIT_ALGEBRA_EXPECTRULE_H
