// Lint.cpp - ISA text against the contract's expectation
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/AMDGPU/Lint.h"
#include "codegen/AMDGPU/Expansions.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include <optional>

using namespace llvm;

namespace bitpact::codegen {
namespace {

bool isFloatType(StringRef part) {
  return is_contained({"f64", "f32", "f16", "bf16", "fp8", "bf8"}, part);
}

/// What stands between `v_` and the types: `add`, `cmp_lt`, `pk_fma`.
struct Name {
  explicit Name(StringRef opcode) {
    opcode.split(parts, '_');
    if (!parts.empty() && parts.front() == "v")
      parts.erase(parts.begin());
    while (!parts.empty() && isType(parts.back())) {
      types.insert(types.begin(), parts.back());
      parts.pop_back();
    }
    if (!parts.empty() && parts.front() == "pk") {
      packed = true;
      parts.erase(parts.begin());
    }
  }
  static bool isType(StringRef part) {
    unsigned bits;
    return isFloatType(part) ||
           ((part.consume_front("i") || part.consume_front("u") ||
             part.consume_front("b")) &&
            !part.getAsInteger(10, bits));
  }
  StringRef first() const { return parts.empty() ? StringRef() : parts[0]; }
  bool has(StringRef part) const { return is_contained(parts, part); }
  bool isFloat() const { return any_of(types, isFloatType); }

  SmallVector<StringRef, 4> parts, types;
  bool packed = false;
};

std::optional<OpKind> countedKind(StringRef base) {
  return StringSwitch<std::optional<OpKind>>(base)
      .Cases({"add", "sub", "subrev"}, OpKind::Add)
      .Case("mul", OpKind::Mul)
      .Cases({"fma", "fmac", "fmaak", "fmamk"}, OpKind::Fma)
      .Cases({"max", "min", "maximum3", "minimum3"}, OpKind::Max)
      .Default(std::nullopt);
}

/// One IEEE operation, a comparison, or bits that move. v_fma_mix is none: LLVM
/// makes it of a product and a rounding, adding +0.
bool hasDefinedBits(const Name &name) {
  if (name.has("mix") || name.has("mixlo") || name.has("mixhi"))
    return false;
  return countedKind(name.first()) ||
         is_contained({"cmp", "cmpx", "cvt", "ldexp", "frexp", "floor", "ceil",
                       "trunc", "rndne", "cndmask", "pack"},
                      name.first());
}

/// What a matrix instruction executes, by its name without `v_mfma_`: a step of
/// dot.cdna3 on gfx942, chained where it takes 16; and chains of fma on f32,
/// one for each k in ascending order, on gfx90a and gfx942. Both as published
/// (MMA-Sim, arXiv 2511.10909). Names of gfx90a have no `_` before the type.
struct MatrixStep {
  StringRef step; // empty if none is known
  unsigned fmas = 0;
};
MatrixStep matrixStepOf(StringRef name, StringRef arch) {
  bool cdna3 = arch == "gfx942";
  if (!cdna3 && arch != "gfx90a")
    return {};
  return StringSwitch<MatrixStep>(name)
      .Cases({"f32_32x32x8_bf16", "f32_16x16x16_bf16"},
             {cdna3 ? "dot.cdna3" : ""})
      .Cases({"f32_32x32x8_f16", "f32_16x16x16_f16"},
             {cdna3 ? "dot.cdna3.f16" : ""})
      .Cases({"f32_32x32x2_f32", "f32_32x32x2f32"}, {"dot.fma.f32", 2})
      .Cases({"f32_16x16x4_f32", "f32_16x16x4f32"}, {"dot.fma.f32", 4})
      .Default({});
}

class GcnLint {
public:
  GcnLint(const LintExpectation &expected) : expected(expected) {}

  void visit(const GcnInstruction &in) {
    at = &in;
    if (in.isDirective)
      return visitDirective();
    StringRef opcode = in.opcode;
    ends |= opcode == "s_endpgm";
    if (opcode.starts_with("v_"))
      return visitVector();
    if (is_contained({"s_swappc_b64", "s_setpc_b64", "s_call_b64"}, opcode))
      report(LintRule::L10, "leaves the kernel");
    if (is_contained({"s_round_mode", "s_denorm_mode"}, opcode) ||
        (opcode.starts_with("s_setreg") &&
         (in.text.contains("MODE") || in.text.contains("hwreg(1"))))
      report(LintRule::L4, "changes rounding or subnormals");
    if (opcode.starts_with("scratch_") || opcode.starts_with("buffer_load") ||
        opcode.starts_with("buffer_store"))
      if (!expected.allowLocal)
        report(LintRule::L8, "memory of a thread, where its registers go");
    visitAtomic();
  }

  void finish() {
    if (!ends)
      findings.push_back(
          {LintRule::L12, "", "object", "no s_endpgm: not a kernel"});
    for (const std::string &atom : expected.atoms)
      if (!is_contained(steps, atom))
        findings.push_back({LintRule::L11, atom, "the whole code",
                            "the contract has the atom, the code no "
                            "instruction that executes it"});
    if (maxima && !ordered)
      findings.push_back({LintRule::L3, "", "object",
                          "v_max without a comparison for NaN: drops one"});
    // A root of f32 is scaled, before and after, by a power of two.
    unsigned &muls = counts[size_t(OpKind::Mul)];
    muls -= std::min(muls, 2 * roots);
    checkCounts(counts, expected, findings);
  }

  OpCounts counts{};
  std::vector<LintFinding> findings;

private:
  void report(LintRule rule, const Twine &message) {
    findings.push_back({rule, at->text.str(),
                        "line " + std::to_string(at->line), message.str()});
  }

  void visitDirective() {
    StringRef value = at->text.substr(at->opcode.size()).trim();
    // "amdgcn-amd-amdhsa--gfx942"
    if (at->opcode.starts_with(".amdgcn_target"))
      arch = value.trim('"').rsplit('-').second.split(':').first.str();
    if (at->opcode.starts_with(".amdhsa_float_denorm_mode") && value != "3")
      report(LintRule::L4, "the kernel starts with subnormals flushed");
    if (at->opcode.starts_with(".amdhsa_float_round_mode") && value != "0")
      report(LintRule::L5, "the kernel starts with another rounding");
  }

  void visitAtomic() {
    StringRef opcode = at->opcode;
    bool atomic = opcode.contains("_atomic_");
    if (!atomic && !opcode.starts_with("ds_"))
      return;
    SmallVector<StringRef, 6> parts;
    opcode.split(parts, '_');
    if (any_of(parts, isFloatType) || is_contained(parts, "fmin") ||
        is_contained(parts, "fmax") || is_contained(parts, "fcmpswap"))
      report(LintRule::L7, "the order of floating-point atomics is not fixed");
  }

  void visitVector() {
    Name name(at->opcode);
    StringRef base = name.first();
    if (base.starts_with("mfma") || base.starts_with("smfmac") ||
        base.starts_with("dot"))
      return visitMatrix();
    if (base.starts_with("mad") || base.starts_with("mac")) {
      if (name.isFloat())
        report(LintRule::L4, "rounds twice, and flushes subnormals");
      return;
    }
    if (!name.isFloat())
      return;
    for (StringRef modifier : {" clamp", " mul:2", " mul:4", " div:2"})
      if (at->text.contains(modifier))
        report(LintRule::L5, "a modifier changes the result");
    if (is_contained({"rcp", "rsq", "sqrt"}, base) &&
        (name.parts.size() == 1 || name.has("iflag")))
      return visitApproximation(base);
    if (base == "div")
      return visitDivision(name);
    if (name.has("legacy") || !hasDefinedBits(name)) {
      report(LintRule::L3, "not one IEEE operation");
      return;
    }
    if (base == "cvt")
      return visitConversion(name);
    if (base == "cmp")
      ordered |= name.has("o") || name.has("u");
    if (std::optional<OpKind> kind = countedKind(base))
      count(name, *kind);
  }

  void visitMatrix() {
    StringRef name = at->opcode;
    name.consume_front("v_mfma_");
    MatrixStep found = matrixStepOf(name, arch);
    if (expected.atoms.empty() && !expected.chainsFma)
      report(LintRule::L6, "the contract has no fused atom");
    else if (found.step.empty())
      report(LintRule::L6, "no atom is known for it on " + arch);
    else if (found.fmas ? !expected.chainsFma
                        : !is_contained(expected.atoms, found.step))
      report(LintRule::L6,
             ("it is a step of " + found.step + ", the contract has " +
              (expected.atoms.empty() ? std::string("a chain of fma")
                                      : join(expected.atoms, ", ")))
                 .str());
    // The last operands choose and negate blocks of the others.
    for (StringRef modifier : {"cbsz:", "abid:", "blgp:", "neg:"})
      if (at->text.contains(modifier))
        report(LintRule::L6, "a modifier changes what is multiplied");
    steps.push_back(found.step.str());
    counts[size_t(OpKind::Fma)] += found.fmas;
  }

  void visitApproximation(StringRef base) {
    if (!at->inExpansion)
      report(LintRule::L3, at->refusal.empty() ? StringRef("approximate")
                                               : StringRef(at->refusal));
    else if (base != "rcp")
      ++counts[size_t(OpKind::Sqrt)];
    roots += at->inExpansion && base == "sqrt";
  }

  /// v_div_scale, v_div_fmas and v_div_fixup.
  void visitDivision(const Name &name) {
    if (name.has("fixup"))
      ++counts[size_t(OpKind::Div)];
    else if (name.has("fmas") && !at->inExpansion)
      report(LintRule::L3, "not part of a division");
  }

  void count(const Name &name, OpKind kind) {
    if (at->inExpansion)
      return;
    if (kind == OpKind::Fma && !expected.allowFma)
      report(LintRule::L6, "the contract has no fma");
    // v_max x, x only quiets a NaN.
    bool isMax =
        at->opcode.starts_with("v_max_") || at->opcode.starts_with("v_min_");
    if (isMax && at->operands.size() == 3 && at->operands[1] == at->operands[2])
      return;
    maxima |= isMax;
    // v_maximum3 a, b, b is one maximum, and two where all three differ.
    bool three = name.has("maximum3") || name.has("minimum3");
    bool twice = three && at->operands.size() == 4 &&
                 at->operands[1] != at->operands[2] &&
                 at->operands[2] != at->operands[3] &&
                 at->operands[1] != at->operands[3];
    counts[size_t(kind)] += name.packed || twice ? 2 : 1;
  }

  void visitConversion(const Name &name) {
    if (name.has("pkrtz") || name.has("sr") || name.has("pknorm"))
      report(LintRule::L5, "not rounded to nearest even");
    else if (!name.types.empty() && name.types.front() == "bf16")
      report(LintRule::L5, "what it does with subnormals is not published");
  }

  const LintExpectation &expected;
  const GcnInstruction *at = nullptr;
  std::string arch;               // of .amdgcn_target
  std::vector<std::string> steps; // of matrix instructions
  unsigned roots = 0;             // of f32
  bool ends = false, maxima = false, ordered = false;
};

} // namespace

std::vector<LintFinding>
lintGcn(StringRef text, const LintExpectation &expected, OpCounts *counts) {
  GcnLint lint(expected);
  for (const GcnInstruction &instruction : parseGcn(text))
    lint.visit(instruction);
  lint.finish();
  if (counts)
    *counts = lint.counts;
  return std::move(lint.findings);
}

} // namespace bitpact::codegen
