// GroupDivisions.cpp - divisions that do not wait for each other, together
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/NVPTX/GroupDivisions.h"

#include "codegen/NVPTX/Quotients.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SmallPtrSet.h"
#include <algorithm>

using namespace mlir;
using namespace bitpact;

namespace {

/// Fewer have nothing to share a test with.
constexpr unsigned kLeastQuotients = 4;
/// As many as are worth registers that other programs could have.
constexpr unsigned kFewQuotients = 4;

unsigned lanesOf(LLVM::FDivOp op) {
  auto vector = dyn_cast<VectorType>(op.getType());
  return vector ? unsigned(vector.getNumElements()) : 1;
}

class Grouping {
public:
  Grouping(Block &block, unsigned most) : block(block), most(most) {}

  void run() {
    for (Operation &op : llvm::make_early_inc_range(block))
      visit(op);
    group();
  }

private:
  void visit(Operation &op) {
    auto division = dyn_cast<LLVM::FDivOp>(op);
    if (division && !getElementTypeOrSelf(division.getType()).isF32())
      division = {};
    bool waits = llvm::any_of(op.getOperands(), [&](Value operand) {
      return waiting.contains(operand);
    });
    // What needs no quotient may stay between divisions.
    if (waits && !division && isPure(&op)) {
      moved.push_back(&op);
      waiting.insert_range(op.getResults());
      return;
    }
    if (waits)
      group();
    if (!division)
      return;
    divisions.push_back(division);
    waiting.insert(division.getResult());
    quotients += lanesOf(division);
    if (quotients >= most)
      group();
  }

  /// All quotients that are wanted until here, where the last one stood; what
  /// needs one of them comes after.
  void group() {
    if (quotients >= kLeastQuotients) {
      Operation *after = divisions.back();
      OpBuilder builder(after->getContext());
      builder.setInsertionPointAfter(after);
      divide(builder);
      for (Operation *op : moved)
        if (op->isBeforeInBlock(after))
          op->moveBefore(&block, builder.getInsertionPoint());
      for (LLVM::FDivOp division : divisions)
        division.erase();
    }
    divisions.clear();
    moved.clear();
    waiting.clear();
    quotients = 0;
  }

  void divide(OpBuilder &builder) {
    SmallVector<Value> over, under, results;
    for (LLVM::FDivOp division : divisions)
      for (unsigned i = 0; i < lanesOf(division); ++i) {
        over.push_back(laneOf(builder, division.getLhs(), i));
        under.push_back(laneOf(builder, division.getRhs(), i));
      }
    // As many in each as can be.
    unsigned groups = llvm::divideCeil(quotients, most);
    for (unsigned i = 0; i < groups; ++i) {
      unsigned from = quotients * i / groups, to = quotients * (i + 1) / groups;
      llvm::append_range(
          results, quotientsOf(builder, ArrayRef(over).slice(from, to - from),
                               ArrayRef(under).slice(from, to - from)));
    }
    unsigned next = 0;
    for (LLVM::FDivOp division : divisions) {
      Value whole = results[next];
      if (auto type = dyn_cast<VectorType>(division.getType())) {
        whole = LLVM::PoisonOp::create(builder, division.getLoc(), type);
        for (unsigned i = 0; i < lanesOf(division); ++i)
          whole = LLVM::InsertElementOp::create(
              builder, division.getLoc(), whole, results[next + i],
              number(builder, division.getLoc(), i));
      }
      next += lanesOf(division);
      division.replaceAllUsesWith(whole);
    }
  }

  static Value number(OpBuilder &builder, Location loc, unsigned i) {
    return LLVM::ConstantOp::create(builder, loc,
                                    builder.getI32IntegerAttr(int32_t(i)));
  }

  static Value laneOf(OpBuilder &builder, Value value, unsigned i) {
    if (!isa<VectorType>(value.getType()))
      return value;
    return LLVM::ExtractElementOp::create(builder, value.getLoc(), value,
                                          number(builder, value.getLoc(), i));
  }

  static SmallVector<Value>
  quotientsOf(OpBuilder &builder, ArrayRef<Value> over, ArrayRef<Value> under) {
    codegen::QuotientGroup group{unsigned(over.size()), llvm::all_equal(under)};
    SmallVector<Value> operands(over);
    llvm::append_range(operands, under.take_front(group.divisors()));
    std::string constraints;
    for (unsigned i = 0; i < group.count; ++i)
      constraints += "=f,";
    for (size_t i = 0; i < operands.size(); ++i)
      constraints += i ? ",f" : "f";
    MLIRContext *context = builder.getContext();
    Location loc = over.front().getLoc();
    auto type = LLVM::LLVMStructType::getLiteral(
        context, SmallVector<Type>(group.count, builder.getF32Type()));
    Value all =
        LLVM::InlineAsmOp::create(
            builder, loc, TypeRange{type}, operands,
            codegen::quotientsText(group), constraints,
            /*has_side_effects=*/false, /*is_align_stack=*/false,
            LLVM::tailcallkind::TailCallKind::None,
            LLVM::AsmDialectAttr::get(context, LLVM::AsmDialect::AD_ATT),
            ArrayAttr())
            .getResult(0);
    SmallVector<Value> results;
    for (int64_t i = 0; i < group.count; ++i)
      results.push_back(LLVM::ExtractValueOp::create(builder, loc, all, i));
    return results;
  }

  Block &block;
  unsigned most; // in a group
  SmallVector<LLVM::FDivOp> divisions;
  SmallVector<Operation *> moved; // they need a quotient, in their order
  llvm::DenseSet<Value> waiting;  // quotients and what needs one
  unsigned quotients = 0;
};

/// Whether control comes back.
bool isInLoop(Block &block) {
  llvm::SmallPtrSet<Block *, 8> seen;
  SmallVector<Block *> next(block.getSuccessors());
  while (!next.empty()) {
    Block *one = next.pop_back_val();
    if (one == &block)
      return true;
    if (seen.insert(one).second)
      llvm::append_range(next, one->getSuccessors());
  }
  return false;
}

struct GroupDivisionsPass
    : PassWrapper<GroupDivisionsPass, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(GroupDivisionsPass)
  StringRef getArgument() const override { return "group-divisions"; }
  StringRef getDescription() const override {
    return "divisions that do not wait for each other, with one test";
  }
  void runOnOperation() override {
    getOperation().walk([](LLVM::LLVMFuncOp func) {
      // One CTA of a unit has all registers, whoever uses them. Otherwise those
      // of large groups are missing to other programs, which in a loop have
      // more to do meanwhile than groups save
      // (docs/results/2026-11-30-divisions.md).
      bool isAlone = func->hasAttr(NVVM::NVVMDialect::getMinctasmAttrName());
      for (Block &block : func.getBody())
        if (isAlone || !isInLoop(block))
          Grouping(block, isAlone ? codegen::kMostQuotients : kFewQuotients)
              .run();
    });
  }
};

} // namespace

std::unique_ptr<Pass> codegen::createGroupDivisionsPass() {
  return std::make_unique<GroupDivisionsPass>();
}
