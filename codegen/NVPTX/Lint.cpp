// Lint.cpp - reads PTX instruction by instruction
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/NVPTX/Lint.h"
#include "codegen/NVPTX/Quotients.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include <optional>

using namespace llvm;

namespace bitpact::codegen {
namespace {

/// Bits of a floating-point type, 0 for any other token.
unsigned floatBits(StringRef token) {
  return StringSwitch<unsigned>(token)
      .Case("f64", 64)
      .Cases({"f32", "f32x2", "tf32"}, 32)
      .Cases({"f16", "f16x2", "bf16", "bf16x2"}, 16)
      .Cases({"e4m3", "e5m2", "e4m3x2", "e5m2x2"}, 8)
      .Default(0);
}

bool isInteger(StringRef token) {
  unsigned bits;
  return (token.consume_front("s") || token.consume_front("u")) &&
         !token.getAsInteger(10, bits);
}

std::optional<OpKind> countedKind(StringRef base) {
  return StringSwitch<std::optional<OpKind>>(base)
      .Cases({"add", "sub"}, OpKind::Add)
      .Case("mul", OpKind::Mul)
      .Case("fma", OpKind::Fma)
      .Cases({"div", "rcp"}, OpKind::Div)
      .Case("sqrt", OpKind::Sqrt)
      .Cases({"max", "min"}, OpKind::Max)
      .Default(std::nullopt);
}

struct Instruction {
  StringRef text; // with operands, without guard
  StringRef base; // add
  SmallVector<StringRef, 8> modifiers;
  bool has(StringRef modifier) const {
    return is_contained(modifiers, modifier);
  }
};

/// The atom that an instruction executes: on Hopper as measured
/// (docs/results/2026-11-30-atoms.md), on Ampere as published (MMA-Sim, arXiv
/// 2511.10909), where k16 is two steps. Elsewhere the same text may be another.
std::string atomOf(const Instruction &in, StringRef arch) {
  bool isAmpere = arch == "sm_80";
  if (!isAmpere && arch != "sm_90" && arch != "sm_90a")
    return "";
  // d.a.b of wgmma, d.a.b.c of mma
  SmallVector<StringRef> types;
  for (StringRef modifier : in.modifiers)
    if (floatBits(modifier))
      types.push_back(modifier);
  if (types.size() < 3 || types[0] != "f32" || types[1] != types[2] ||
      (types.size() > 3 && types[3] != "f32") ||
      (types[1] != "bf16" && types[1] != "f16"))
    return "";
  std::string atom;
  for (StringRef shape : in.modifiers) {
    if (in.base == "wgmma" && shape.starts_with("m64n") &&
        shape.ends_with("k16"))
      atom = isAmpere ? "" : "dot.nv(16,25)";
    else if (in.base == "mma" && shape == "m16n8k16")
      atom = isAmpere ? "dot.nv(8,24)" : "dot.nv(16,25)";
    else if (in.base == "mma" && shape == "m16n8k8")
      atom = isAmpere ? "dot.nv(8,24)" : "dot.nv(8,25)";
  }
  return atom.empty() || types[1] == "bf16" ? atom : atom + ".f16";
}

class PtxLint {
public:
  PtxLint(const LintExpectation &expected) : expected(expected) {}

  void visitLine(StringRef text, unsigned number) {
    line = number;
    text = text.split("//").first.trim();
    if (StringRef target = text; target.consume_front(".target"))
      arch = target.split(',').first.trim().str();
    if (text.starts_with(".local")) {
      if (!expected.allowLocal)
        report(LintRule::L8, text,
               "memory of a thread, where its registers go");
      return;
    }
    if (text.contains(".extern .func"))
      report(LintRule::L10, text, "the function is not in the object");
    // One line may hold several statements, as inline assembly does.
    SmallVector<StringRef> statements;
    text.split(statements, ';');
    for (StringRef statement : statements)
      visitStatement(statement.trim(" \t{}"));
  }

  /// The one place where a reciprocal may be approximate: to the letter a text
  /// whose further steps leave nothing of its error.
  void visitQuotients(const QuotientGroup &group) {
    counts[size_t(OpKind::Div)] += group.count;
  }

  /// What is missing, once all lines have been read.
  void finish() {
    for (const std::string &atom : expected.atoms)
      if (!is_contained(steps, atom))
        findings.push_back({LintRule::L11, atom, "the whole code",
                            "the contract has the atom, the code no "
                            "instruction that executes it"});
    checkCounts(counts, expected, findings);
  }

  OpCounts counts{};
  std::vector<LintFinding> findings;

private:
  void report(LintRule rule, StringRef text, const Twine &message) {
    findings.push_back(
        {rule, text.str(), "line " + std::to_string(line), message.str()});
  }

  void visitStatement(StringRef text) {
    while (true) { // labels: `$L__BB0_1:`
      StringRef first = text.take_until([](char c) { return isspace(c); });
      if (!first.ends_with(":"))
        break;
      text = text.substr(first.size()).ltrim();
    }
    if (text.starts_with("@")) // guard: `@!%p1`
      text = text.drop_until([](char c) { return isspace(c); }).ltrim();
    if (text.empty() || !isalpha(text.front()))
      return;
    Instruction instruction;
    instruction.text = text;
    text.take_until([](char c) { return isspace(c); })
        .split(instruction.modifiers, '.');
    instruction.base = instruction.modifiers.front();
    instruction.modifiers.erase(instruction.modifiers.begin());
    visit(instruction);
  }

  void visit(const Instruction &in) {
    bool isFloat = any_of(in.modifiers, floatBits);
    if (in.has("local") && !expected.allowLocal)
      report(LintRule::L8, in.text, "local memory");
    if (is_contained({"mma", "wgmma", "tcgen05", "wmma"}, in.base)) {
      visitMatrix(in);
      return;
    }
    if (!isFloat)
      return;
    if (is_contained({"red", "atom", "multimem", "redux"}, in.base)) {
      report(LintRule::L7, in.text,
             "the order of floating-point atomics is not fixed");
      return;
    }
    if (in.has("approx") || in.has("full") ||
        is_contained({"ex2", "lg2", "sin", "cos", "tanh", "rsqrt"}, in.base))
      report(LintRule::L3, in.text, "approximate");
    if (in.has("ftz"))
      report(LintRule::L4, in.text, "flushes subnormals");
    if (in.has("sat") || in.has("relu") || in.has("satfinite"))
      report(LintRule::L5, in.text, "clamps its result");
    if (in.base == "mad")
      report(LintRule::L6, in.text, "mad on floats may or may not fuse");
    if (in.base == "fma" && !expected.allowFma)
      report(LintRule::L6, in.text, "the contract has no fma");
    if (in.base == "cvt")
      visitConversion(in);
    if (std::optional<OpKind> kind = countedKind(in.base)) {
      ++counts[size_t(*kind)];
      visitArithmetic(in, *kind);
    }
  }

  /// Fences and waits of a matrix unit compute nothing; they are where the
  /// contract has an atom.
  void visitMatrix(const Instruction &in) {
    if (expected.atoms.empty()) {
      report(LintRule::L6, in.text, "the contract has no fused atom");
      return;
    }
    if (in.base == "wgmma" && !in.has("mma_async"))
      return;
    std::string atom = atomOf(in, arch);
    if (atom.empty())
      report(LintRule::L6, in.text, "no atom is known for it on " + arch);
    else if (!is_contained(expected.atoms, atom))
      report(LintRule::L6, in.text,
             "it is a step of " + atom + ", the contract has " +
                 join(expected.atoms, ", "));
    steps.push_back(atom);
  }

  void visitArithmetic(const Instruction &in, OpKind kind) {
    if (kind != OpKind::Max) {
      if (!in.has("rn"))
        report(LintRule::L5, in.text,
               "without .rn: rounded otherwise, or open to contraction");
      return;
    }
    // There is no max.NaN.f64; LLVM surrounds max.f64 with selects.
    if (!in.has("f64") && !in.has("NaN"))
      report(LintRule::L3, in.text, "without .NaN: drops a NaN operand");
  }

  /// cvt[.mode…].destination.source
  void visitConversion(const Instruction &in) {
    SmallVector<StringRef> types;
    for (StringRef modifier : in.modifiers)
      if (floatBits(modifier) || isInteger(modifier))
        types.push_back(modifier);
    if (types.size() < 2)
      return;
    StringRef to = types[0], from = types[1];
    bool narrows =
        floatBits(to) && (isInteger(from) || floatBits(to) < floatBits(from) ||
                          (floatBits(to) == 16 && floatBits(from) == 16 &&
                           to.starts_with("b") != from.starts_with("b")));
    if (narrows && !in.has("rn"))
      report(LintRule::L5, in.text, "a narrowing conversion without .rn");
  }

  const LintExpectation &expected;
  unsigned line = 0;
  std::string arch;               // of .target
  std::vector<std::string> steps; // atoms, an instruction each
};

} // namespace

std::vector<LintFinding> lintPtx(StringRef ptx, const LintExpectation &expected,
                                 OpCounts *counts) {
  PtxLint lint(expected);
  SmallVector<StringRef> lines;
  ptx.split(lines, '\n');
  for (size_t i = 0; i < lines.size(); ++i) {
    QuotientGroup group;
    if (size_t many = linesOfQuotients(ArrayRef(lines).drop_front(i), group)) {
      lint.visitQuotients(group);
      i += many - 1;
    } else {
      lint.visitLine(lines[i], unsigned(i + 1));
    }
  }
  lint.finish();
  if (counts)
    *counts = lint.counts;
  return std::move(lint.findings);
}

} // namespace bitpact::codegen
