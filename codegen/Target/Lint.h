// Lint.h - findings of the lints and what a contract lets them expect
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef BITPACT_CODEGEN_TARGET_LINT_H
#define BITPACT_CODEGEN_TARGET_LINT_H

#include "llvm/ADT/StringRef.h"
#include <array>
#include <limits>
#include <string>
#include <vector>

namespace llvm {
class Module;
}

namespace bitpact::codegen {

/// L1 and L2 are checked on LLVM IR, L13 before it is made, the others on what
/// came out.
enum class LintRule {
  L1,  ///< a fast-math flag or an attribute that relaxes floating point
  L2,  ///< an intrinsic without defined bits (fmuladd, exp2, maxnum, …)
  L3,  ///< an approximate instruction, or a maximum that drops NaN
  L4,  ///< subnormals flushed, or the floating-point environment changed
  L5,  ///< a rounding that is not (or not said to be) to nearest even
  L6,  ///< fma, or a matrix unit's step, that the contract does not have
  L7,  ///< an atomic or a reduction on floats: its order is not fixed
  L8,  ///< local memory or spills
  L9,  ///< x87 or MMX: another format, another rounding
  L10, ///< a call or jump that leaves the object
  L11, ///< number of operations of a kind, or of steps of an atom, is not what
       ///< the contract says
  L12, ///< the object cannot be read, or an instruction not decoded
  L13, ///< what units of a program bring to each other is not there in time
};
llvm::StringRef nameOf(LintRule rule);
llvm::StringRef describe(LintRule rule);

struct LintFinding {
  LintRule rule;
  std::string instruction; // text, as disassembled or printed
  std::string where;       // `line 12`, `.text+0x40`, `@function`
  std::string message;
  /// `L3 line 12: ex2.approx.f32 %f1, %f2: message`
  std::string str() const;
};

/// Kinds of floating-point instructions that are counted; a subtraction
/// counts as an addition, a minimum as a maximum.
enum class OpKind { Add, Mul, Fma, Div, Sqrt, Max };
inline constexpr std::array<OpKind, 6> kOpKinds = {OpKind::Add,  OpKind::Mul,
                                                   OpKind::Fma,  OpKind::Div,
                                                   OpKind::Sqrt, OpKind::Max};
llvm::StringRef nameOf(OpKind kind);

using OpCounts = std::array<unsigned, kOpKinds.size()>;

struct CountRange {
  unsigned atLeast = 0;
  unsigned atMost = std::numeric_limits<unsigned>::max();
};

/// Static counts differ by unrolling and vectorising, so ranges: a contract
/// with an fma wants at least one, a contract without wants none.
struct LintExpectation {
  bool allowFma = false;
  /// Fused atoms of the contract, by the names of their definitions: each has
  /// its matrix instruction in the code, and there is no other.
  std::vector<std::string> atoms{};
  /// A node is a chain of fma of f32, which some matrix instructions execute.
  bool chainsFma = false;
  /// The kernel keeps partials in scratch, which is local memory on a GPU.
  bool allowLocal = false;
  std::array<CountRange, kOpKinds.size()> counts{};

  CountRange &operator[](OpKind kind) { return counts[size_t(kind)]; }
  LintExpectation &none(OpKind kind);
  LintExpectation &some(OpKind kind);
};

/// L11 for every kind out of its range.
void checkCounts(const OpCounts &found, const LintExpectation &expected,
                 std::vector<LintFinding> &findings);

/// L1 and L2 on LLVM IR. `afterPasses`: nnan, ninf and nsz are then facts the
/// optimiser has proven (it gives them to an operation whose operands cannot
/// be NaN, infinite or a zero that matters), so only the flags that license
/// another value are findings.
std::vector<LintFinding> lintIR(const llvm::Module &module, bool afterPasses);

} // namespace bitpact::codegen

#endif
