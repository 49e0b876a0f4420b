// Quotients.cpp - divisions of f32 with one test for several, as PTX
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/NVPTX/Quotients.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/Twine.h"
#include "llvm/ADT/bit.h"

using namespace llvm;

namespace bitpact::codegen {
namespace {

constexpr StringLiteral kBegin = "{ .reg .f32 over<", kThen = ">, under<";

/// Lines with # for the number of a quotient, & for that of its divisor or of
/// another quotient, and ? for an operand.
class Text {
public:
  void add(StringRef form, unsigned number = 0, unsigned other = 0,
           const std::string &operand = "") {
    for (char c : form)
      if (c == '#')
        text += std::to_string(number);
      else if (c == '&')
        text += std::to_string(other);
      else if (c == '?')
        text += operand;
      else
        text += c;
    text += '\n';
  }
  std::string take() { return std::move(text); }

private:
  std::string text;
};

std::string bitsOf(float value) {
  return utohexstr(bit_cast<uint32_t>(value), /*LowerCase=*/false, 8);
}

} // namespace

std::string quotientsText(QuotientGroup group,
                          llvm::function_ref<std::string(unsigned)> operand) {
  unsigned count = group.count, divisors = group.divisors();
  auto divisorOf = [&](unsigned i) { return group.hasOneDivisor ? 0 : i; };
  Text text;
  text.add((kBegin + "#" + kThen + "&>, less<&>, near<&>, q<#>, size<#>, rest;")
               .str(),
           count, divisors);
  text.add(".reg .b32 turned<#>; .reg .pred usual;", count);
  for (unsigned i = 0; i < count; ++i)
    text.add("mov.f32 over#, ?;", i, 0, operand(count + i));
  for (unsigned i = 0; i < divisors; ++i)
    text.add("mov.f32 under#, ?;", i, 0, operand(2 * count + i));
  // 1/b is near (1 + rest + rest² + ...): upward, since the square would be
  // lost where it decides.
  for (unsigned i = 0; i < divisors; ++i) {
    text.add("neg.f32 less#, under#; rcp.approx.ftz.f32 near#, under#;", i);
    text.add("fma.rn.f32 rest, less#, near#, 0f3F800000;", i);
    text.add("fma.rp.f32 rest, rest, rest, rest;");
    text.add("fma.rn.f32 near#, rest, near#, near#;", i);
  }
  for (unsigned i = 0; i < count; ++i) {
    text.add("mul.rn.f32 q#, over#, near&;", i, divisorOf(i));
    text.add("fma.rn.f32 rest, less&, q#, over#;", i, divisorOf(i));
    text.add("fma.rn.f32 q#, rest, near&, q#;", i, divisorOf(i));
  }
  // Of sizes the largest counts. Of dividends the least does, turned by a bit
  // and less one: +0 is then the largest, -0 the least.
  for (unsigned i = 0; i < count; ++i) {
    text.add("abs.f32 size#, q#;", i);
    if (i < divisors)
      text.add("abs.f32 rest, under#; max.NaN.f32 size#, size#, rest;", i);
    text.add("shf.l.wrap.b32 turned#, over#, over#, 1;", i);
    text.add("add.s32 turned#, turned#, -1;", i);
  }
  for (unsigned step = 1; step < count; step *= 2)
    for (unsigned i = 0; i + step < count; i += 2 * step) {
      text.add("max.NaN.f32 size#, size#, size&;", i, i + step);
      text.add("min.u32 turned#, turned#, turned&;", i, i + step);
    }
  text.add("setp.le.f32 usual, size0, 0f?;", 0, 0, bitsOf(kMostSize));
  text.add("setp.ge.and.u32 usual, turned0, ?, usual;", 0, 0,
           std::to_string(2 * bit_cast<uint32_t>(kLeastOver) - 1));
  text.add("@usual bra divided;");
  for (unsigned i = 0; i < count; ++i)
    text.add("div.rn.f32 q#, over#, under&;", i, divisorOf(i));
  text.add("divided:");
  for (unsigned i = 0; i < count; ++i)
    text.add("mov.f32 ?, q#;", i, 0, operand(i));
  return text.take() + "}";
}

std::string quotientsText(QuotientGroup group) {
  return quotientsText(group,
                       [](unsigned i) { return ("$" + Twine(i)).str(); });
}

/// What the first line says, if it is one of a group that is ever made.
static QuotientGroup groupOf(StringRef line) {
  unsigned count = 0, divisors = 0;
  if (!line.consume_front(kBegin) || line.consumeInteger(10, count) ||
      !line.consume_front(kThen) || line.consumeInteger(10, divisors) ||
      count < 2 || count > kMostQuotients ||
      (divisors != 1 && divisors != count))
    return {};
  return {count, divisors == 1};
}

bool isQuotients(StringRef text) {
  QuotientGroup group = groupOf(text);
  return group.count && text == quotientsText(group);
}

static bool isRegister(StringRef name) {
  return name.consume_front("%") && !name.empty() && all_of(name, isAlnum);
}

size_t linesOfQuotients(ArrayRef<StringRef> lines, QuotientGroup &group) {
  group = lines.empty() ? QuotientGroup() : groupOf(lines.front().trim());
  if (!group.count)
    return 0;
  std::string text = quotientsText(group, [](unsigned) { return "?"; });
  SmallVector<StringRef> forms;
  StringRef(text).split(forms, '\n');
  if (lines.size() < forms.size())
    return 0;
  for (auto [line, form] : zip(lines, forms)) {
    StringRef rest = line.trim();
    auto [before, after] = form.split('?');
    bool isSame = form.contains('?')
                      ? rest.consume_front(before) &&
                            rest.consume_back(after) && isRegister(rest)
                      : rest == form;
    if (!isSame)
      return 0;
  }
  return forms.size();
}

} // namespace bitpact::codegen
