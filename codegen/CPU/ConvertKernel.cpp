// ConvertKernel.cpp - kernels to functions whose lanes are vector elements
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/CPU/ConvertKernel.h"

#include "codegen/CPU/EntryPoint.h"
#include "codegen/CPU/LaneAccess.h"
#include "codegen/CPU/PanelKernel.h"
#include "dialects/Kernel/KernelDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;
using namespace bitpact;
using namespace bitpact::codegen;

namespace {

class Converter {
public:
  explicit Converter(kernel::FuncOp func)
      : func(func), builder(func), loc(func.getLoc()) {}

  LogicalResult run();

private:
  LogicalResult convert(Operation *op);
  void shareOut(Block *inner);
  Value i64(int64_t v) {
    return LLVM::ConstantOp::create(builder, loc, builder.getI64Type(),
                                    builder.getI64IntegerAttr(v));
  }
  Value cell(Value scratch, Type type, Value index) {
    return LLVM::GEPOp::create(builder, loc, scratch.getType(), type, scratch,
                               ValueRange{index});
  }
  Value exchange(Value value, int64_t distance);
  void fault(kernel::FaultOp op);

  kernel::FuncOp func;
  OpBuilder builder;
  Location loc;
  LLVM::LLVMFuncOp target;
  Value program, part, rows;
  llvm::DenseMap<Value, Type> elements; ///< of buffers
};

LogicalResult Converter::run() {
  Block &body = func.getBody().front();
  EntryPoint entry = makeEntryPoint(builder, loc, func.getSymName(), body);
  target = entry.function;
  for (auto [argument, value] : llvm::zip(body.getArguments(), entry.slots)) {
    if (auto buffer = dyn_cast<kernel::BufferType>(argument.getType()))
      elements[value] = buffer.getElementType();
    if (!func.getRows().empty() && argument == func.slot(func.getRows()))
      rows = value;
    argument.replaceAllUsesWith(value);
  }
  scf::ForOp loop = entry.programs;
  program = loop.getInductionVar();
  Block *inner = loop.getBody();
  Operation *end = inner->getTerminator();
  if (func.getSplit())
    shareOut(inner);
  inner->getOperations().splice(end->getIterator(), body.getOperations());
  SmallVector<Operation *> ops;
  inner->walk([&](Operation *op) {
    if (isa<kernel::KernelDialect>(op->getDialect()))
      ops.push_back(op);
  });
  for (Operation *op : ops)
    if (failed(convert(op)))
      return failure();
  func.erase();
  return success();
}

/// Of programs that share their rows, those of one part have neighbouring
/// indices: what they read lies side by side.
void Converter::shareOut(Block *inner) {
  part = program;
  if (func.getRows().empty())
    return;
  int64_t each = func.getSchedule().rowsPerProgram();
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(inner->getParentOp());
  Value groups = LLVM::UDivOp::create(
      builder, loc, LLVM::AddOp::create(builder, loc, rows, i64(each - 1)),
      i64(each));
  builder.setInsertionPointToStart(inner);
  part = LLVM::UDivOp::create(builder, loc, program, groups);
  program = LLVM::URemOp::create(builder, loc, program, groups);
}

Value Converter::exchange(Value value, int64_t distance) {
  int32_t lanes = cast<VectorType>(value.getType()).getDimSize(0);
  SmallVector<int32_t> partner;
  for (int32_t lane = 0; lane < lanes; ++lane)
    partner.push_back(lane ^ distance);
  return LLVM::ShuffleVectorOp::create(builder, loc, value, value, partner);
}

void Converter::fault(kernel::FaultOp op) {
  Value word = op->getOperand(0);
  Value any = op.getMask();
  if (isa<VectorType>(any.getType()))
    any =
        LLVM::vector_reduce_or::create(builder, loc, builder.getI1Type(), any);
  Value null = LLVM::ZeroOp::create(builder, loc, word.getType());
  Value given =
      LLVM::ICmpOp::create(builder, loc, LLVM::ICmpPredicate::ne, word, null);
  auto branch = scf::IfOp::create(
      builder, loc, LLVM::AndOp::create(builder, loc, any, given).getResult(),
      /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(branch.thenBlock());
  Value one = LLVM::ConstantOp::create(builder, loc, builder.getI32Type(),
                                       builder.getI32IntegerAttr(1));
  LLVM::StoreOp::create(builder, loc, one, word, /*alignment=*/4);
}

LogicalResult Converter::convert(Operation *op) {
  builder.setInsertionPoint(op);
  loc = op->getLoc();
  LaneAccess access(builder, loc);
  Value result;
  if (auto load = dyn_cast<kernel::LoadOp>(op)) {
    for (auto [old, value] : llvm::zip(load.getValues(), access.load(load)))
      old.replaceAllUsesWith(value);
  } else if (auto read = dyn_cast<kernel::ReadOp>(op)) {
    Value at = LLVM::GEPOp::create(
        builder, loc, LLVM::LLVMPointerType::get(builder.getContext()),
        read.getType(), read->getOperand(0), ValueRange{read.getOffset()});
    result = LLVM::LoadOp::create(builder, loc, read.getType(), at,
                                  read.getType().getIntOrFloatBitWidth() / 8);
  } else if (auto store = dyn_cast<kernel::StoreOp>(op)) {
    access.store(store);
  } else if (auto prefetch = dyn_cast<kernel::PrefetchOp>(op)) {
    Value buffer = op->getOperand(0);
    LLVM::Prefetch::create(
        builder, loc,
        LLVM::GEPOp::create(builder, loc, buffer.getType(),
                            elements.lookup(buffer), buffer,
                            ValueRange{prefetch.getOffset()}),
        /*rw=*/0, /*hint=*/3, /*cache=*/1);
  } else if (auto fault = dyn_cast<kernel::FaultOp>(op)) {
    this->fault(fault);
  } else if (isa<kernel::ProgramOp>(op)) {
    result = program;
  } else if (isa<kernel::PartOp>(op)) {
    result = part;
  } else if (auto lane = dyn_cast<kernel::LaneOp>(op)) {
    auto type = cast<VectorType>(lane.getType());
    SmallVector<int64_t> index(type.getDimSize(0));
    std::iota(index.begin(), index.end(), 0);
    result = arith::ConstantOp::create(
        builder, loc, DenseElementsAttr::get(type, ArrayRef<int64_t>(index)));
  } else if (auto fma = dyn_cast<kernel::FmaOp>(op)) {
    result =
        LLVM::FMAOp::create(builder, loc, fma.getA(), fma.getB(), fma.getC());
  } else if (auto sqrt = dyn_cast<kernel::SqrtOp>(op)) {
    result = LLVM::SqrtOp::create(builder, loc, sqrt.getA());
  } else if (auto exchange = dyn_cast<kernel::ExchangeOp>(op)) {
    result = this->exchange(exchange.getValue(), exchange.getDistance());
  } else if (auto scratch = dyn_cast<kernel::ScratchOp>(op)) {
    // Outside of the loop over programs, which would grow the stack.
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(&target.getBody().front());
    kernel::ScratchType type = scratch.getType();
    result = LLVM::AllocaOp::create(
        builder, loc, LLVM::LLVMPointerType::get(builder.getContext()),
        type.getCellType(), i64(type.getSize()));
  } else if (auto peek = dyn_cast<kernel::PeekOp>(op)) {
    result = LLVM::LoadOp::create(
        builder, loc, peek.getType(),
        cell(peek->getOperand(0), peek.getType(), peek.getIndex()));
  } else if (auto poke = dyn_cast<kernel::PokeOp>(op)) {
    LLVM::StoreOp::create(
        builder, loc, poke.getValue(),
        cell(poke->getOperand(1), poke.getValue().getType(), poke.getIndex()));
  }
  if (op->getNumResults() == 1 && result)
    op->getResult(0).replaceAllUsesWith(result);
  if (!op->use_empty())
    return op->emitOpError("has no form on CPUs");
  op->erase();
  return success();
}

struct ConvertKernelToCPUPass
    : PassWrapper<ConvertKernelToCPUPass, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(ConvertKernelToCPUPass)
  StringRef getArgument() const override { return "convert-kernel-to-cpu"; }
  StringRef getDescription() const override {
    return "kernels to functions whose lanes are vector elements";
  }
  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<LLVM::LLVMDialect>();
  }
  void runOnOperation() override {
    for (auto func :
         llvm::make_early_inc_range(getOperation().getOps<kernel::FuncOp>()))
      if (failed(Converter(func).run()))
        return signalPassFailure();
    for (auto func :
         llvm::make_early_inc_range(getOperation().getOps<tile::FuncOp>()))
      if (failed(PanelKernel(func).convert()))
        return signalPassFailure();
  }
};

} // namespace

std::unique_ptr<Pass> codegen::createConvertKernelToCPUPass() {
  return std::make_unique<ConvertKernelToCPUPass>();
}
