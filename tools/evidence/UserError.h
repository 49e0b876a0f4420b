// UserError.h - what a user can put right: where it is, and what is allowed
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef BITPACT_EVIDENCE_USERERROR_H
#define BITPACT_EVIDENCE_USERERROR_H

#include <stdexcept>
#include <string>
#include <utility>

namespace bitpact::evidence {

/// `where` is a file, `file:line:col`, an option or empty.
class UserError : public std::runtime_error {
public:
  UserError(std::string where, const std::string &message)
      : std::runtime_error(message), place(std::move(where)) {}
  explicit UserError(const std::string &message)
      : std::runtime_error(message) {}

  const std::string &where() const { return place; }
  std::string text() const {
    return (place.empty() ? "" : place + ": ") + "error: " + what();
  }

private:
  std::string place;
};

} // namespace bitpact::evidence

#endif // BITPACT_EVIDENCE_USERERROR_H
