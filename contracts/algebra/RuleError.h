// RuleError.h - the exception for what a contract's author got wrong
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef BITPACT_ALGEBRA_RULEERROR_H
#define BITPACT_ALGEBRA_RULEERROR_H

#include <stdexcept>
#include <string>
#include <utility>

namespace bitpact::algebra {

/// A broken rule of the contract language. `where` is the field, as a path of
/// keys with dots ("nodes.sum_sq.partition"); it is empty when the text came
/// without its surroundings. `what()` ends in the rule in brackets.
class RuleError : public std::runtime_error {
public:
  RuleError(std::string rule, std::string message, std::string where = "")
      : std::runtime_error((where.empty() ? "" : where + ": ") + message +
                           " [" + rule + "]"),
        ruleId(std::move(rule)), messageText(std::move(message)),
        whereText(std::move(where)) {}

  const std::string &rule() const { return ruleId; }
  /// The message without place and rule.
  const std::string &message() const { return messageText; }
  const std::string &where() const { return whereText; }

  /// The same error at a place, unless it already has one.
  RuleError at(const std::string &where) const {
    return whereText.empty() ? RuleError(ruleId, messageText, where) : *this;
  }

private:
  std::string ruleId, messageText, whereText;
};

} // namespace bitpact::algebra

#endif // BITPACT_ALGEBRA_RULEERROR_H
