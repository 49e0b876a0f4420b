// PanelKernel.cpp - programs, views and scalars of tile kernels on CPUs
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/CPU/PanelKernel.h"

#include "codegen/CPU/EntryPoint.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace bitpact;
using namespace bitpact::codegen;

/// Vectors in scratch are aligned to the widest register.
static constexpr int64_t kAlign = 64;

LogicalResult PanelKernel::convert() {
  if (!schedule.packsOwn())
    return func.emitOpError("has roles; on CPUs a program packs its own "
                            "blocks");
  Block &body = func.getBody().front();
  EntryPoint entry = makeEntryPoint(builder, loc, func.getSymName(), body);
  target = entry.function;
  for (auto [argument, slot] : llvm::zip(body.getArguments(), entry.slots))
    argument.replaceAllUsesWith(slot);
  program = entry.programs.getInductionVar();
  Block *inner = entry.programs.getBody();
  inner->getOperations().splice(inner->getTerminator()->getIterator(),
                                body.getOperations());
  findParts(inner);
  SmallVector<Operation *> ops;
  inner->walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (isLaterPart(op))
      return WalkResult::skip();
    if (isa<tile::TileDialect>(op->getDialect()) && !isa<tile::YieldOp>(op))
      ops.push_back(op);
    return WalkResult::advance();
  });
  for (Operation *op : ops) {
    builder.setInsertionPoint(op);
    loc = op->getLoc();
    if (failed(convert(op)))
      return failure();
  }
  // Sums are where they are: what stands for them is the place.
  auto pointer = LLVM::LLVMPointerType::get(builder.getContext());
  inner->walk([&](scf::ForOp loop) {
    for (auto [argument, result] :
         llvm::zip(loop.getRegionIterArgs(), loop.getResults()))
      if (isa<tile::PendingType>(argument.getType())) {
        argument.setType(pointer);
        result.setType(pointer);
      }
  });
  for (const SmallVector<scf::ForOp> &same : parts)
    for (scf::ForOp later : ArrayRef(same).drop_front())
      later.getBody()->clear();
  for (Operation *op : llvm::reverse(done))
    op->erase();
  shareParts();
  func.erase();
  return success();
}

LogicalResult PanelKernel::convert(Operation *op) {
  done.push_back(op);
  return llvm::TypeSwitch<Operation *, LogicalResult>(op)
      .Case([&](tile::ProgramOp each) {
        each.replaceAllUsesWith(
            LLVM::TruncOp::create(builder, loc, builder.getI32Type(), program)
                .getResult());
        return success();
      })
      .Case([&](tile::ViewOp each) {
        views[each] = {each.getBuffer(), each.getRows(), each.getCols(),
                       each.getStride(), each.getAlong() == "rows",
                       each.getType().getElementType(), each.getApart()};
        return success();
      })
      .Case([&](tile::OffsetOp each) { return offset(each), success(); })
      .Case([&](tile::FaultOp each) { return fault(each), success(); })
      .Case([&](tile::PackOp each) { return pack(each); })
      .Case([&](tile::BeginOp each) {
        begin(each);
        return success();
      })
      .Case([&](tile::ChainOp each) { return chain(each); })
      .Case([&](tile::DotOp each) { return dot(each); })
      // Values are computed where they are put.
      .Case<tile::MapOp, tile::LoadOp>([&](auto) { return success(); })
      .Case([&](tile::AwaitOp each) {
        begun.awaited = each;
        return success();
      })
      .Case([&](tile::HoldOp each) {
        hold(each);
        return success();
      })
      .Case([&](tile::PutOp each) { return put(each); })
      .Default([&](Operation *each) {
        return each->emitOpError("has no form on CPUs");
      });
}

void PanelKernel::offset(tile::OffsetOp op) {
  Type type = builder.getI32Type();
  op.getResult().replaceAllUsesWith(
      load(type, at(op->getOperand(0), type, wide(op.getIndex()))));
}

void PanelKernel::fault(tile::FaultOp op) {
  Value word = op->getOperand(0);
  Value null = LLVM::ZeroOp::create(builder, loc, word.getType());
  Value given = LLVM::ICmpOp::create(builder, loc, LLVM::ICmpPredicate::ne,
                                     word, null);
  auto branch =
      scf::IfOp::create(builder, loc, binary<LLVM::AndOp>(op.getMask(), given));
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(branch.thenBlock());
  store(i32(1), word);
}

//===- building blocks -----------------------------------------------------===//

Value PanelKernel::constant(Type type, Attribute value) {
  return LLVM::ConstantOp::create(builder, loc, type, value);
}

Value PanelKernel::i64(int64_t value) {
  return constant(builder.getI64Type(), builder.getI64IntegerAttr(value));
}

Value PanelKernel::i32(int64_t value) {
  return constant(builder.getI32Type(), builder.getI32IntegerAttr(value));
}

Value PanelKernel::integer(Type type, uint64_t value) {
  unsigned width = getElementTypeOrSelf(type).getIntOrFloatBitWidth();
  APInt bits(width, value, /*isSigned=*/false, /*implicitTrunc=*/true);
  if (auto vector = dyn_cast<VectorType>(type))
    return constant(type, DenseElementsAttr::get(vector, bits));
  return constant(type, builder.getIntegerAttr(type, bits));
}

Value PanelKernel::real(Type type, double value) {
  auto element = cast<FloatType>(getElementTypeOrSelf(type));
  TypedAttr attr = builder.getFloatAttr(element, value);
  if (auto vector = dyn_cast<VectorType>(type))
    return constant(type, DenseElementsAttr::get(vector, attr));
  return constant(type, attr);
}

Type PanelKernel::lanesOf(Type element) const {
  return VectorType::get({schedule.getLanes()}, element);
}

Value PanelKernel::wide(Value index) {
  return LLVM::ZExtOp::create(builder, loc, builder.getI64Type(), index);
}

/// Blocks of that length.
Value PanelKernel::blocks(Value count, int64_t length) {
  return binary<LLVM::UDivOp>(add(count, i64(length - 1)), i64(length));
}

Value PanelKernel::at(Value base, Type element, Value index) {
  auto pointer = LLVM::LLVMPointerType::get(builder.getContext());
  return LLVM::GEPOp::create(builder, loc, pointer, element, base,
                             ValueRange{index});
}

Value PanelKernel::load(Type type, Value from) {
  return LLVM::LoadOp::create(
      builder, loc, type, from,
      getElementTypeOrSelf(type).getIntOrFloatBitWidth() / 8);
}

void PanelKernel::store(Value value, Value to) {
  LLVM::StoreOp::create(
      builder, loc, value, to,
      getElementTypeOrSelf(value.getType()).getIntOrFloatBitWidth() / 8);
}

Value PanelKernel::splat(Value scalar) {
  Type type = lanesOf(scalar.getType());
  Value none = LLVM::PoisonOp::create(builder, loc, type);
  Value one =
      LLVM::InsertElementOp::create(builder, loc, none, scalar, i32(0));
  SmallVector<int32_t> zeros(size_t(schedule.getLanes()), 0);
  return LLVM::ShuffleVectorOp::create(builder, loc, one, one, zeros);
}

Value PanelKernel::shuffle(Value a, Value b, ArrayRef<int32_t> mask) {
  return LLVM::ShuffleVectorOp::create(builder, loc, a, b, mask);
}

Value PanelKernel::scratch(Type element, int64_t count) {
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(&target.getBody().front());
  return LLVM::AllocaOp::create(
      builder, loc, LLVM::LLVMPointerType::get(builder.getContext()), element,
      i64(count), kAlign);
}

PanelKernel::Values
PanelKernel::loop(Value from, Value to, int64_t step, ValueRange carried,
                 llvm::function_ref<Values(Value, ValueRange)> body) {
  auto made = scf::ForOp::create(builder, loc, from, to, i64(step), carried);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(made.getBody());
  Values next = body(made.getInductionVar(), made.getRegionIterArgs());
  if (!carried.empty())
    scf::YieldOp::create(builder, loc, next);
  return Values(made.getResults());
}

void PanelKernel::loop(Value from, Value to, int64_t step,
                      llvm::function_ref<void(Value)> body) {
  loop(from, to, step, {}, [&](Value i, ValueRange) {
    body(i);
    return Values();
  });
}

/// The region on all lanes at once; arith stays.
Value PanelKernel::inlined(Block &body, ValueRange arguments) {
  IRMapping map;
  map.map(body.getArguments(), arguments);
  auto lookup = [&](Value value) { return map.lookup(value); };
  for (Operation &each : body.without_terminator()) {
    Type type = lanesOf(each.getResult(0).getType());
    Value result;
    if (auto fma = dyn_cast<kernel::FmaOp>(each)) {
      result =
          LLVM::FMAOp::create(builder, loc, lookup(fma.getA()),
                              lookup(fma.getB()), lookup(fma.getC()));
    } else if (auto sqrt = dyn_cast<kernel::SqrtOp>(each)) {
      result = LLVM::SqrtOp::create(builder, loc, lookup(sqrt.getA()));
    } else if (auto constant = dyn_cast<arith::ConstantOp>(each)) {
      result = arith::ConstantOp::create(
          builder, loc,
          DenseElementsAttr::get(cast<ShapedType>(type),
                                 cast<Attribute>(constant.getValue())));
    } else {
      SmallVector<Value> operands;
      for (Value operand : each.getOperands())
        operands.push_back(lookup(operand));
      result = builder
                   .create(OperationState(loc, each.getName(), operands, {type},
                                          each.getAttrs()))
                   ->getResult(0);
    }
    map.map(each.getResult(0), result);
  }
  return map.lookup(body.getTerminator()->getOperand(0));
}
