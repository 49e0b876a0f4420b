// LintIR.cpp - rules L1, L2 and L7 on LLVM IR
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/Target/Lint.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Operator.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace bitpact::codegen {
namespace {

/// Intrinsics on floats that are one IEEE operation, or move bits.
bool hasDefinedBits(Intrinsic::ID id) {
  switch (id) {
  case Intrinsic::fma:
  case Intrinsic::sqrt:
  case Intrinsic::minimum:
  case Intrinsic::maximum:
  case Intrinsic::fabs:
  case Intrinsic::copysign:
  case Intrinsic::is_fpclass:
  case Intrinsic::floor:
  case Intrinsic::ceil:
  case Intrinsic::trunc:
  case Intrinsic::rint:
  case Intrinsic::nearbyint:
  case Intrinsic::roundeven:
  case Intrinsic::fptosi_sat:
  case Intrinsic::fptoui_sat:
  case Intrinsic::vector_reduce_fmaximum:
  case Intrinsic::vector_reduce_fminimum:
  case Intrinsic::vector_reduce_fadd: // unflagged: a chain, left to right
  case Intrinsic::vector_reduce_fmul:
  case Intrinsic::vector_insert:
  case Intrinsic::vector_extract:
  case Intrinsic::vector_interleave2:
  case Intrinsic::vector_deinterleave2:
  case Intrinsic::vector_reverse:
  case Intrinsic::vector_splice_left:
  case Intrinsic::vector_splice_right:
  case Intrinsic::masked_load:
  case Intrinsic::masked_store:
  case Intrinsic::masked_gather:
  case Intrinsic::masked_scatter:
  case Intrinsic::masked_expandload:
  case Intrinsic::masked_compressstore:
    return true;
  default:
    return false;
  }
}

bool touchesFloat(const CallBase &call) {
  return call.getType()->isFPOrFPVectorTy() ||
         any_of(call.args(), [](const Use &use) {
           return use->getType()->isFPOrFPVectorTy();
         });
}

/// Intrinsics of a target become the instruction they name, which the lint of
/// the machine text reads; the name already tells the approximate ones.
bool targetIntrinsicIsBad(StringRef name) {
  return name.contains("approx") || name.contains("ftz") ||
         name.contains(".rcp.") || name.contains(".rsqrt");
}

std::string flagsOf(FastMathFlags flags, bool afterPasses) {
  SmallVector<StringRef> names;
  if (flags.allowReassoc())
    names.push_back("reassoc");
  if (flags.allowReciprocal())
    names.push_back("arcp");
  if (flags.allowContract())
    names.push_back("contract");
  if (flags.approxFunc())
    names.push_back("afn");
  if (!afterPasses) {
    if (flags.noNaNs())
      names.push_back("nnan");
    if (flags.noInfs())
      names.push_back("ninf");
    if (flags.noSignedZeros())
      names.push_back("nsz");
  }
  return join(names, " ");
}

class IRLint {
public:
  IRLint(bool afterPasses) : afterPasses(afterPasses) {}

  void visit(const Function &function) {
    name = ("@" + function.getName()).str();
    checkAttributes(function);
    for (const Instruction &instruction : instructions(function))
      visit(instruction);
  }

  std::vector<LintFinding> findings;

private:
  void report(LintRule rule, std::string text, std::string message) {
    findings.push_back({rule, std::move(text), name, std::move(message)});
  }

  static std::string text(const Instruction &instruction) {
    std::string result;
    raw_string_ostream(result) << instruction;
    return StringRef(result).trim().str();
  }

  void checkAttributes(const Function &function) {
    for (StringRef attribute :
         {"unsafe-fp-math", "no-infs-fp-math", "no-nans-fp-math",
          "no-signed-zeros-fp-math", "approx-func-fp-math"})
      if (function.getFnAttribute(attribute).getValueAsBool())
        report(LintRule::L1, attribute.str(),
               "the attribute licenses other values");
    for (StringRef attribute : {"denormal-fp-math", "denormal-fp-math-f32"}) {
      StringRef value = function.getFnAttribute(attribute).getValueAsString();
      if (!value.empty() && value != "ieee,ieee" && value != "ieee")
        report(LintRule::L1, (attribute + "=" + value).str(),
               "the attribute lets subnormals be flushed");
    }
  }

  void visit(const Instruction &instruction) {
    if (const auto *op = dyn_cast<FPMathOperator>(&instruction)) {
      std::string flags = flagsOf(op->getFastMathFlags(), afterPasses);
      if (!flags.empty())
        report(LintRule::L1, text(instruction),
               "fast-math flags (" + flags + ") license other values");
    }
    if (instruction.getMetadata(LLVMContext::MD_fpmath))
      report(LintRule::L1, text(instruction),
             "!fpmath licenses an approximate result");
    if (const auto *atomic = dyn_cast<AtomicRMWInst>(&instruction))
      if (atomic->isFloatingPointOperation())
        report(LintRule::L7, text(instruction),
               "the order of floating-point atomics is not fixed");
    if (const auto *call = dyn_cast<IntrinsicInst>(&instruction))
      visitIntrinsic(*call);
  }

  void visitIntrinsic(const IntrinsicInst &call) {
    if (!touchesFloat(call))
      return;
    const Function *callee = call.getCalledFunction();
    if (Intrinsic::isTargetIntrinsic(call.getIntrinsicID())
            ? !targetIntrinsicIsBad(callee->getName())
            : hasDefinedBits(call.getIntrinsicID()))
      return;
    report(LintRule::L2, text(call),
           (callee->getName() + " is not one IEEE operation").str());
  }

  bool afterPasses;
  std::string name;
};

} // namespace

std::vector<LintFinding> lintIR(const Module &module, bool afterPasses) {
  IRLint lint(afterPasses);
  for (const Function &function : module)
    lint.visit(function);
  return std::move(lint.findings);
}

} // namespace bitpact::codegen
