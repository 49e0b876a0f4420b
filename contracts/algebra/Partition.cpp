// Partition.cpp - a reduction axis written as nested digits (rules PI1-PI7)
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "contracts/algebra/Partition.h"

#include "contracts/algebra/RuleError.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

namespace bitpact::algebra {
namespace {

// No axis is longer, so a length at the limit stands for "everything".
constexpr int64_t maxLength = int64_t(1) << 62;

int64_t ceilDiv(int64_t a, int64_t b) { return a / b + (a % b != 0); }

/// A product of two positive numbers, or maxLength where that is less.
int64_t saturatingMul(int64_t a, int64_t b) {
  return a > maxLength / b ? maxLength : a * b;
}

[[noreturn]] void syntaxError(std::string_view digit, std::string_view reason) {
  throw RuleError(
      "PI1", fmt::format("digit '{}': {}; a digit is name:radix, name:*, "
                         "name:radix@length, name:*@length or name:@offsets",
                         digit, reason));
}

int64_t parseNumber(std::string_view text, std::string_view digit,
                    std::string_view what) {
  if (text.empty())
    syntaxError(digit, fmt::format("the {} is missing", what));
  int64_t value = 0;
  for (char c : text) {
    if (c < '0' || c > '9')
      syntaxError(digit, fmt::format("the {} '{}' is not a decimal number",
                                     what, text));
    if (value > (maxLength - (c - '0')) / 10)
      throw RuleError(
          "PI6", fmt::format("digit '{}': the {} is above 2^62", digit, what));
    value = value * 10 + (c - '0');
  }
  if (value == 0)
    throw RuleError("PI6", fmt::format("digit '{}': the {} is 0, it must be "
                                       "positive",
                                       digit, what));
  return value;
}

bool isName(std::string_view text) {
  auto letter = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
  };
  return !text.empty() && letter(text[0]) &&
         std::all_of(text.begin(), text.end(), [&](char c) {
           return letter(c) || (c >= '0' && c <= '9');
         });
}

Digit parseDigit(std::string_view text) {
  size_t colon = text.find(':');
  if (colon == std::string_view::npos)
    syntaxError(text, "there is no ':'");
  Digit digit;
  digit.name = std::string(text.substr(0, colon));
  if (!isName(digit.name))
    syntaxError(text, fmt::format("'{}' is no name", digit.name));
  std::string_view rest = text.substr(colon + 1);
  if (rest == "@offsets") {
    digit.kind = DigitKind::Offsets;
    return digit;
  }
  size_t sign = rest.find('@');
  std::string_view radix = rest.substr(0, sign);
  if (radix == "*")
    digit.kind = DigitKind::Star;
  else
    digit.radix = parseNumber(radix, text, "radix");
  if (sign != std::string_view::npos)
    digit.stated = parseNumber(rest.substr(sign + 1), text, "length");
  return digit;
}

std::vector<std::string_view> splitAtSpaces(std::string_view text) {
  std::vector<std::string_view> words;
  constexpr std::string_view spaces = " \t\r\n";
  for (size_t at = text.find_first_not_of(spaces);
       at != std::string_view::npos;) {
    size_t end = text.find_first_of(spaces, at);
    words.push_back(text.substr(at, end - at));
    at = text.find_first_not_of(spaces, end);
  }
  return words;
}

} // namespace

std::string Digit::text() const {
  std::string result = name + ":";
  if (kind == DigitKind::Offsets)
    return result + "@offsets";
  result += kind == DigitKind::Star ? "*" : std::to_string(radix);
  if (stated)
    result += "@" + std::to_string(*stated);
  return result;
}

Partition Partition::parse(std::string_view text) {
  Partition result;
  std::vector<Digit> &digits = result.digitList;
  for (std::string_view word : splitAtSpaces(text))
    digits.push_back(parseDigit(word));
  if (digits.empty())
    throw RuleError("PI1", "the partition has no digit");

  const Digit *star = nullptr, *offsets = nullptr;
  for (size_t i = 0; i < digits.size(); ++i) {
    const Digit &digit = digits[i];
    for (size_t j = 0; j < i; ++j)
      if (digits[j].name == digit.name)
        throw RuleError("PI2",
                        fmt::format("two digits are named '{}'", digit.name));
    if (digit.kind == DigitKind::Star) {
      if (star)
        throw RuleError("PI3", fmt::format("digits '{}' and '{}' both have the "
                                           "radix *; one may",
                                           star->name, digit.name));
      star = &digit;
    }
    if (digit.kind == DigitKind::Offsets) {
      if (offsets)
        throw RuleError("PI7", fmt::format("digits '{}' and '{}' both are cut "
                                           "at @offsets; one may",
                                           offsets->name, digit.name));
      offsets = &digit;
    }
  }

  // Lengths from the right. `known` is false left of a digit whose radix the
  // text does not give: there only a stated length helps.
  size_t count = digits.size();
  result.lengths.assign(count, 0);
  for (size_t i = count; i-- > 0;) {
    const Digit &digit = digits[i];
    if (digit.kind == DigitKind::Offsets)
      continue;
    if (digit.stated) {
      result.lengths[i] = *digit.stated;
    } else if (i + 1 == count) {
      result.lengths[i] = 1;
    } else if (digits[i + 1].kind == DigitKind::Fixed) {
      result.lengths[i] =
          saturatingMul(digits[i + 1].radix, result.lengths[i + 1]);
    } else {
      throw RuleError(
          "PI4", fmt::format("digit '{}' needs a length, {}@length, because "
                             "the number of blocks of '{}' to its right is not "
                             "in the text",
                             digit.text(), digit.text(), digits[i + 1].text()));
    }
  }
  if (result.lengths.back() != 1)
    throw RuleError("PI6",
                    fmt::format("the last digit, '{}', must have blocks of one "
                                "element",
                                digits.back().text()));
  for (size_t i = 0; i + 1 < count; ++i) {
    const Digit &inner = digits[i + 1];
    if (digits[i].kind == DigitKind::Offsets || inner.kind != DigitKind::Fixed)
      continue;
    int64_t covered = saturatingMul(inner.radix, result.lengths[i + 1]);
    if (covered < result.lengths[i])
      throw RuleError("PI6", fmt::format("digit '{}' covers {} elements of a "
                                         "block of {} of digit '{}'",
                                         inner.text(), covered,
                                         result.lengths[i], digits[i].text()));
  }
  return result;
}

std::optional<int> Partition::find(std::string_view name) const {
  for (int i = 0; i < size(); ++i)
    if (digitList[i].name == name)
      return i;
  return std::nullopt;
}

std::optional<int> Partition::offsetsDigit() const {
  for (int i = 0; i < size(); ++i)
    if (digitList[i].kind == DigitKind::Offsets)
      return i;
  return std::nullopt;
}

std::optional<int64_t> Partition::capacity() const {
  std::optional<int64_t> result;
  // Blocks of @offsets may be as long as what contains them, so the digit to
  // their right has to cover that much as well.
  for (int i = 0; i < size(); ++i) {
    if (i > 0 && digitList[i - 1].kind != DigitKind::Offsets)
      continue;
    if (digitList[i].kind == DigitKind::Fixed) {
      int64_t covered = saturatingMul(digitList[i].radix, lengths[i]);
      result = std::min(result.value_or(covered), covered);
    }
  }
  return result;
}

void Partition::validate(int64_t extent) const {
  if (extent <= 0)
    throw RuleError(
        "D3", fmt::format("the extent is {}, it must be positive", extent));
  if (digitList.empty())
    throw RuleError("PI1", "the partition has no digit");
  int64_t containing = extent;
  for (int i = 0; i < size(); ++i) {
    const Digit &digit = digitList[i];
    if (digit.kind == DigitKind::Offsets)
      continue;
    bool outermost = i == 0 || digitList[i - 1].kind == DigitKind::Offsets;
    int64_t covered = digit.kind == DigitKind::Star
                          ? maxLength
                          : saturatingMul(digit.radix, lengths[i]);
    if (outermost && covered < containing)
      throw RuleError(
          "PI5", i == 0 ? fmt::format("the digits '{}' cover {} elements, the "
                                      "extent is {}",
                                      text(), covered, extent)
                        : fmt::format("digit '{}' covers {} elements, a block "
                                      "of '{}' may have {}",
                                      digit.text(), covered,
                                      digitList[i - 1].text(), containing));
    containing = std::min(containing, lengths[i]);
  }
}

std::vector<ResolvedDigit> Partition::resolve(int64_t extent) const {
  validate(extent);
  std::vector<ResolvedDigit> result;
  int64_t containing = extent;
  for (int i = 0; i < size(); ++i) {
    const Digit &digit = digitList[i];
    ResolvedDigit resolved{digit.radix, lengths[i]};
    if (digit.kind == DigitKind::Star)
      resolved.radix = ceilDiv(containing, lengths[i]);
    if (digit.kind != DigitKind::Offsets)
      containing = lengths[i];
    result.push_back(resolved);
  }
  return result;
}

std::vector<int64_t>
Partition::digitsOf(int64_t position,
                    const std::vector<int64_t> &offsets) const {
  std::vector<int64_t> result;
  int64_t begin = 0; // of the current block
  for (int i = 0; i < size(); ++i) {
    if (digitList[i].kind == DigitKind::Offsets) {
      // The last block that begins at or before the position: of equal offsets
      // the last, so empty blocks own nothing.
      auto next = std::upper_bound(offsets.begin(), offsets.end(), position);
      if (next == offsets.begin() || next == offsets.end())
        throw std::invalid_argument(
            fmt::format("the offsets do not contain position {}", position));
      result.push_back(next - offsets.begin() - 1);
      begin = std::max(begin, *(next - 1));
    } else {
      int64_t block = (position - begin) / lengths[i];
      result.push_back(block);
      begin += block * lengths[i];
    }
  }
  return result;
}

std::string Partition::text() const {
  std::string result;
  for (const Digit &digit : digitList)
    result += (result.empty() ? "" : " ") + digit.text();
  return result;
}

Partition Partition::renamed() const {
  Partition result = *this;
  for (int i = 0; i < size(); ++i)
    result.digitList[i].name = "d" + std::to_string(i);
  return result;
}

void checkOffsets(const std::vector<int64_t> &offsets, int64_t extent) {
  if (offsets.size() < 2 || offsets.front() != 0 || offsets.back() != extent ||
      !std::is_sorted(offsets.begin(), offsets.end()))
    throw std::invalid_argument(
        fmt::format("offsets must ascend from 0 to the extent {}", extent));
}

} // namespace bitpact::algebra
