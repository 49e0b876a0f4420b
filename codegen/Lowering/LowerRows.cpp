// LowerRows.cpp - contracts that carry a schedule become kernels
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/Lowering/Passes.h"
#include "codegen/Lowering/RowLowering.h"

using namespace mlir;
using namespace bitpact;

namespace {

/// The pipeline lowers a contract once for each schedule it has chosen; this
/// pass does it under the schedule written on the contract.
struct LowerRowsPass : PassWrapper<LowerRowsPass, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(LowerRowsPass)
  StringRef getArgument() const override { return "lower-rows"; }
  StringRef getDescription() const override {
    return "a kernel for every contract with a kernel.schedule attribute";
  }
  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<kernel::KernelDialect>();
  }

  void runOnOperation() override {
    ModuleOp module = getOperation();
    unsigned count = 0;
    for (auto contract :
         llvm::make_early_inc_range(module.getOps<pact::ContractOp>())) {
      auto schedule =
          contract->getAttrOfType<kernel::ScheduleAttr>("kernel.schedule");
      if (!schedule)
        continue;
      auto op = SymbolTable::lookupNearestSymbolFrom<pact::OperatorOp>(
          contract, contract.getOpAttr());
      std::string symbol = (op.getSymName() + "_" + Twine(count++)).str();
      if (failed(lowering::lowerRows(contract, op, schedule, symbol, module)))
        return signalPassFailure();
    }
  }
};

} // namespace

std::unique_ptr<Pass> lowering::createLowerRowsPass() {
  return std::make_unique<LowerRowsPass>();
}
