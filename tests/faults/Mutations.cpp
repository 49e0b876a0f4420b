// Mutations.cpp - the table of planted faults
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tests/faults/Mutations.h"

#include "dialects/Kernel/KernelDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;
using namespace bitpact;
using namespace bitpact::faults;

namespace {

template <typename Op, typename Change>
int forEach(ModuleOp module, Change change) {
  std::vector<Op> ops;
  module.walk([&](Op op) { ops.push_back(op); });
  int changed = 0;
  for (Op op : ops)
    changed += change(op);
  return changed;
}

/// Lanes 1, 2, 4, … apart become lanes …, 4, 2, 1 apart: the other tree.
int reverseExchanges(ModuleOp module) {
  return forEach<kernel::ExchangeOp>(module, [](kernel::ExchangeOp op) {
    int64_t lanes = cast<VectorType>(op.getType()).getDimSize(0);
    int64_t distance = lanes / 2 / op.getDistance();
    if (distance == int64_t(op.getDistance()))
      return false;
    op.setDistance(distance);
    return true;
  });
}

/// A value that is rounded to bf16 and widened again goes on unrounded.
int dropRoundings(ModuleOp module) {
  return forEach<arith::ExtFOp>(module, [](arith::ExtFOp op) {
    auto narrow = op.getIn().getDefiningOp<kernel::NarrowOp>();
    if (!narrow || narrow.getA().getType() != op.getType())
      return false;
    op.replaceAllUsesWith(narrow.getA());
    op.erase();
    return true;
  });
}

/// A product that is only added becomes part of an fma.
int contract(ModuleOp module) {
  return forEach<arith::AddFOp>(module, [](arith::AddFOp op) {
    for (int side : {0, 1}) {
      auto product = op->getOperand(side).getDefiningOp<arith::MulFOp>();
      if (!product || !product->hasOneUse())
        continue;
      OpBuilder builder(op);
      op.replaceAllUsesWith(
          kernel::FmaOp::create(builder, op.getLoc(), op.getType(),
                                product.getLhs(), product.getRhs(),
                                op->getOperand(1 - side))
              .getResult());
      op.erase();
      product.erase();
      return true;
    }
    return false;
  });
}

Value callIntrinsic(OpBuilder &builder, Location loc, StringRef name,
                    Value argument) {
  return LLVM::CallIntrinsicOp::create(builder, loc, argument.getType(),
                                       builder.getStringAttr(name),
                                       ValueRange{argument})
      .getResults();
}

/// `instruction` in place of every square root of `lanes` elements (0: of a
/// scalar), as inline assembly: no intrinsic tells what it is.
int assembleSqrt(ModuleOp module, StringRef instruction, StringRef constraints,
                 int64_t lanes) {
  return forEach<LLVM::SqrtOp>(module, [&](LLVM::SqrtOp op) {
    auto vector = dyn_cast<VectorType>(op.getType());
    if ((vector ? vector.getDimSize(0) : 0) != lanes)
      return false;
    OpBuilder builder(op);
    op.replaceAllUsesWith(
        LLVM::InlineAsmOp::create(
            builder, op.getLoc(), op.getType(), op->getOperand(0), instruction,
            constraints, /*has_side_effects=*/false, /*is_align_stack=*/false,
            LLVM::tailcallkind::TailCallKind::None,
            LLVM::AsmDialectAttr::get(builder.getContext(),
                                      LLVM::AsmDialect::AD_ATT),
            ArrayAttr())
            .getRes());
    op.erase();
    return true;
  });
}

/// What a conversion through `math.sqrt` gives on NVIDIA GPUs.
int approximateSqrtPtx(ModuleOp module) {
  return forEach<LLVM::SqrtOp>(module, [](LLVM::SqrtOp op) {
    OpBuilder builder(op);
    op.replaceAllUsesWith(callIntrinsic(
        builder, op.getLoc(), "llvm.nvvm.sqrt.approx.f", op->getOperand(0)));
    op.erase();
    return true;
  });
}

/// x · rsqrtps(x), as compilers do under fast-math.
int approximateSqrtX86(ModuleOp module) {
  return forEach<LLVM::SqrtOp>(module, [](LLVM::SqrtOp op) {
    auto vector = dyn_cast<VectorType>(op.getType());
    if (!vector || (vector.getDimSize(0) != 4 && vector.getDimSize(0) != 8))
      return false;
    OpBuilder builder(op);
    Value x = op->getOperand(0);
    Value r =
        callIntrinsic(builder, op.getLoc(),
                      vector.getDimSize(0) == 8 ? "llvm.x86.avx.rsqrt.ps.256"
                                                : "llvm.x86.sse.rsqrt.ps",
                      x);
    op.replaceAllUsesWith(
        LLVM::FMulOp::create(builder, op.getLoc(), x, r).getResult());
    op.erase();
    return true;
  });
}

constexpr int64_t kExtent = 1000, kBlock = 256;

/// Elements are taken to be present as far as blocks are whole: the extent in
/// their masks is rounded down.
int skipTail(ModuleOp module) {
  return forEach<arith::CmpIOp>(module, [](arith::CmpIOp op) {
    Value limit = op.getRhs();
    if (auto broadcast = limit.getDefiningOp<vector::BroadcastOp>())
      limit = broadcast.getSource();
    auto constant = limit.getDefiningOp<arith::ConstantOp>();
    auto extent =
        constant ? dyn_cast<IntegerAttr>(constant.getValue()) : IntegerAttr();
    if (op.getPredicate() != arith::CmpIPredicate::slt || !extent ||
        extent.getInt() != kExtent)
      return false;
    OpBuilder builder(op);
    Value whole = arith::ConstantOp::create(
        builder, op.getLoc(),
        builder.getI64IntegerAttr(kExtent - kExtent % kBlock));
    if (op.getRhs() != limit)
      whole = vector::BroadcastOp::create(builder, op.getLoc(),
                                          op.getRhs().getType(), whole);
    op->setOperand(1, whole);
    return true;
  });
}

} // namespace

const std::vector<Mutation> &faults::mutations() {
  static const std::vector<Mutation> table = {
      {"halving for pairwise",
       "pairwise",
       "cpu:x86-64-v3",
       Stage::Kernel,
       reverseExchanges,
       Detector::Check,
       {"y["}},
      {"a dropped rounding site",
       "rounded",
       "cpu:x86-64-v3",
       Stage::Kernel,
       dropRoundings,
       Detector::Check,
       {"y["}},
      {"a contracted fma (x86)",
       "mul_add",
       "cpu:x86-64-v3",
       Stage::Kernel,
       contract,
       Detector::Lint,
       {"cpu:x86-64-v3: L6", "vfmadd"}},
      {"a contracted fma (PTX)",
       "mul_add",
       "cuda:sm_90a",
       Stage::Kernel,
       contract,
       Detector::Lint,
       {"cuda:sm_90a: L6", "fma.rn.f32"}},
      {"approximate sqrt (x86, IR)",
       "rounded",
       "cpu:x86-64-v3",
       Stage::LLVM,
       approximateSqrtX86,
       Detector::Lint,
       {"x86-64-v3: L2", "rsqrt.ps"}},
      {"approximate sqrt (x86)",
       "rounded",
       "cpu:x86-64-v3",
       Stage::LLVM,
       [](ModuleOp module) {
         return assembleSqrt(module, "vrsqrtps $1, $0", "=x,x", 8);
       },
       Detector::Lint,
       {"cpu:x86-64-v3: L3", "vrsqrtps"}},
      {"approximate sqrt (PTX, IR)",
       "rounded",
       "cuda:sm_90a",
       Stage::LLVM,
       approximateSqrtPtx,
       Detector::Lint,
       {"sm_90a: L2", "sqrt.approx"}},
      {"approximate sqrt (PTX)",
       "rounded",
       "cuda:sm_90a",
       Stage::LLVM,
       [](ModuleOp module) {
         return assembleSqrt(module, "sqrt.approx.f32 $0, $1;", "=f,f", 0);
       },
       Detector::Lint,
       {"cuda:sm_90a: L3", "sqrt.approx.f32"}},
      {"a skipped tail",
       "ragged",
       "cpu:x86-64-v3",
       Stage::Kernel,
       skipTail,
       Detector::Check,
       {"y["}},
  };
  return table;
}
