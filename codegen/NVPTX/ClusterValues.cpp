// ClusterValues.cpp - the integers of a thread
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/NVPTX/ClusterProgram.h"

using namespace mlir;
using namespace bitpact;
using namespace bitpact::codegen;

using Kind = ClusterProgram::Kind;

static int64_t withSign(int64_t value, unsigned width) {
  return width >= 64 ? value
                     : int64_t(uint64_t(value) << (64 - width)) >> (64 - width);
}

static bool compares(LLVM::ICmpPredicate predicate, int64_t a, int64_t b,
                     unsigned width) {
  int64_t sa = withSign(a, width), sb = withSign(b, width);
  uint64_t ua = uint64_t(a), ub = uint64_t(b);
  switch (predicate) {
  case LLVM::ICmpPredicate::eq:
    return a == b;
  case LLVM::ICmpPredicate::ne:
    return a != b;
  case LLVM::ICmpPredicate::slt:
    return sa < sb;
  case LLVM::ICmpPredicate::sle:
    return sa <= sb;
  case LLVM::ICmpPredicate::sgt:
    return sa > sb;
  case LLVM::ICmpPredicate::sge:
    return sa >= sb;
  case LLVM::ICmpPredicate::ult:
    return ua < ub;
  case LLVM::ICmpPredicate::ule:
    return ua <= ub;
  case LLVM::ICmpPredicate::ugt:
    return ua > ub;
  case LLVM::ICmpPredicate::uge:
    return ua >= ub;
  }
  llvm_unreachable("covered above");
}

int64_t ClusterProgram::valueOf(const Step &step, const ClusterThread &thread) {
  auto at = [&](int i) { return thread.registers[size_t(step.operands[i])]; };
  auto sign = [&](int i) { return withSign(at(i), step.width); };
  switch (step.kind) {
  case Kind::Add:
    return int64_t(uint64_t(at(0)) + uint64_t(at(1)));
  case Kind::Sub:
    return int64_t(uint64_t(at(0)) - uint64_t(at(1)));
  case Kind::Mul:
    return int64_t(uint64_t(at(0)) * uint64_t(at(1)));
  case Kind::UDiv:
    return at(1) ? int64_t(uint64_t(at(0)) / uint64_t(at(1))) : 0;
  case Kind::URem:
    return at(1) ? int64_t(uint64_t(at(0)) % uint64_t(at(1))) : 0;
  case Kind::And:
    return at(0) & at(1);
  case Kind::Or:
    return at(0) | at(1);
  case Kind::Xor:
    return at(0) ^ at(1);
  case Kind::Shl:
    return at(1) < 64 ? int64_t(uint64_t(at(0)) << at(1)) : 0;
  case Kind::LShr:
    return at(1) < 64 ? int64_t(uint64_t(at(0)) >> at(1)) : 0;
  case Kind::AShr:
    return sign(0) >> std::min<int64_t>(at(1), 63);
  case Kind::UMin:
    return int64_t(std::min(uint64_t(at(0)), uint64_t(at(1))));
  case Kind::UMax:
    return int64_t(std::max(uint64_t(at(0)), uint64_t(at(1))));
  case Kind::SMin:
    return std::min(sign(0), sign(1));
  case Kind::SMax:
    return std::max(sign(0), sign(1));
  case Kind::Compare:
    return compares(step.predicate, at(0), at(1), step.width);
  case Kind::Select:
    return at(0) ? at(1) : at(2);
  case Kind::Resize:
    return at(0);
  case Kind::SignExtend:
    return withSign(at(0), unsigned(step.number));
  case Kind::Offset:
    return at(0) + step.number * sign(1);
  case Kind::Map:
    return (offsetOf(at(0)) + ClusterProgram::kBase) | (at(1) + 1)
                                                           << kRankShift;
  case Kind::LoadCell:
    return thread.cells[size_t(step.number)];
  case Kind::Thread:
    return thread.number;
  case Kind::Rank:
    return thread.rank;
  case Kind::Cluster:
    return 0;
  case Kind::Clusters:
    return thread.clusters;
  default:
    llvm_unreachable("no value");
  }
}
