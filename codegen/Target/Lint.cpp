// Lint.cpp - names of rules and operations, counts
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/Target/Lint.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/ErrorHandling.h"

using namespace llvm;

namespace bitpact::codegen {

static constexpr struct {
  StringLiteral name, text;
} kRules[] = {
    {"L1", "floating point relaxed by a flag or an attribute"},
    {"L2", "operation without defined bits"},
    {"L3", "approximate instruction"},
    {"L4", "subnormals flushed or environment changed"},
    {"L5", "rounding other than to nearest even"},
    {"L6", "fused operation that the contract does not have"},
    {"L7", "floating-point atomic"},
    {"L8", "local memory or spills"},
    {"L9", "x87, MMX or beyond the target's level"},
    {"L10", "leaves the object"},
    {"L11", "number of operations"},
    {"L12", "not readable"},
    {"L13", "not brought in time"},
};

StringRef nameOf(LintRule rule) { return kRules[unsigned(rule)].name; }
StringRef describe(LintRule rule) { return kRules[unsigned(rule)].text; }

StringRef nameOf(OpKind kind) {
  switch (kind) {
  case OpKind::Add:
    return "add";
  case OpKind::Mul:
    return "mul";
  case OpKind::Fma:
    return "fma";
  case OpKind::Div:
    return "div";
  case OpKind::Sqrt:
    return "sqrt";
  case OpKind::Max:
    return "max";
  }
  llvm_unreachable("covered above");
}

std::string LintFinding::str() const {
  std::string text = (nameOf(rule) + " " + where + ": ").str();
  if (!instruction.empty())
    text += "'" + instruction + "': ";
  return text + message;
}

LintExpectation &LintExpectation::none(OpKind kind) {
  (*this)[kind] = {0, 0};
  return *this;
}

LintExpectation &LintExpectation::some(OpKind kind) {
  (*this)[kind] = {1, CountRange{}.atMost};
  return *this;
}

void checkCounts(const OpCounts &found, const LintExpectation &expected,
                 std::vector<LintFinding> &findings) {
  for (OpKind kind : kOpKinds) {
    const CountRange &range = expected.counts[size_t(kind)];
    unsigned count = found[size_t(kind)];
    if (count >= range.atLeast && count <= range.atMost)
      continue;
    std::string bound = count < range.atLeast
                            ? "at least " + std::to_string(range.atLeast)
                            : "at most " + std::to_string(range.atMost);
    findings.push_back({LintRule::L11, "", "object",
                        (Twine("the contract has ") + bound + " " +
                         nameOf(kind) + ", the code has " + Twine(count))
                            .str()});
  }
}

} // namespace bitpact::codegen
