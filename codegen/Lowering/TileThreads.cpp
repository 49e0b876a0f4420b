// TileThreads.cpp - functions and roles of kernels whose consumers copy
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/Lowering/TileThreads.h"

#include "codegen/Lowering/Passes.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace bitpact;
using namespace bitpact::lowering;

/// NVPTX and AMDGPU number this alike.
static constexpr unsigned kGlobal = 1;

TileShare lowering::shareOf(tile::FuncOp func) {
  TileShare share{func.getSchedule().getConsumers() * kConsumerThreads, 0};
  func.walk([&](tile::PipeOp pipe) {
    for (Type block : pipe.getType().getBlocks())
      share.sharedBytes +=
          pipe.getType().getStages() *
          TileThreads::bytesOf(cast<tile::BlockType>(block));
  });
  return share;
}

void TileThreads::copyPiece(Value, Value, Value) {
  llvm_unreachable("the machine copies through registers");
}
void TileThreads::commitCopies() {}
void TileThreads::waitForCopies(int64_t) {}

//===----------------------------------------------------------------------===//
// The function
//===----------------------------------------------------------------------===//

/// What the schedule asks for and threads cannot do.
LogicalResult TileThreads::check() {
  tile::DotOp dot;
  LogicalResult result = success();
  auto refuse = [&](Operation *op, const Twine &why) {
    if (succeeded(result))
      result = op->emitOpError() << "of " << schedule.text() << ": " << why;
  };
  func.walk([&](tile::DotOp each) { dot = each; });
  if (!dot)
    return func.emitOpError("multiplies nothing");
  int64_t pipes = 0, threads = shareOf(func).threads;
  func.walk([&](tile::PipeOp pipe) {
    // Groups of copies are counted for all pipes together.
    if (++pipes > 1)
      refuse(pipe, "there are several pipes");
    for (Type type : pipe.getType().getBlocks()) {
      auto block = cast<tile::BlockType>(type);
      int64_t pieces = rowBytesOf(block) / kPieceBytes;
      if (rowBytesOf(block) % kPieceBytes || pieces > 8 ||
          !llvm::isPowerOf2_64(pieces))
        refuse(pipe, "rows of " + Twine(rowBytesOf(block)) +
                         " bytes, allowed are 16, 32, 64 and 128");
      else if (bytesOf(block) % (kPieceBytes * threads) || threads / pieces % 8)
        refuse(pipe, Twine(bytesOf(block)) + " bytes of a block for " +
                         Twine(threads) + " threads");
    }
  });
  if (failed(result))
    return result;
  int64_t waves = kConsumerThreads / machine.wave;
  tile::BlockType a = dot.getA().getType(), b = dot.getB().getType();
  if (b.getRows() % waves)
    return refuse(dot, Twine(b.getRows()) + " columns for " + Twine(waves) +
                           " waves"),
           failure();
  products = productsOf(dot, {a.getRows(), b.getRows() / waves,
                              cast<FloatType>(a.getElementType())});
  if (!products)
    return dot.emitOpError()
           << "of " << a.getElementType() << ": " << machine.name
           << " have no step of " << dot.getAtom();
  if (std::string why = products->whyNot(); !why.empty())
    return dot.emitOpError() << "of " << schedule.text() << ": " << why;
  return success();
}

void TileThreads::createFunction() {
  auto global = LLVM::LLVMPointerType::get(builder.getContext(), kGlobal);
  SmallVector<Type> types;
  for (Type type : func.getBody().getArgumentTypes())
    types.push_back(isa<kernel::BufferType>(type) ? Type(global) : type);
  auto type = LLVM::LLVMFunctionType::get(
      LLVM::LLVMVoidType::get(builder.getContext()), types);
  target = LLVM::LLVMFuncOp::create(builder, loc, func.getSymName(), type);
  markKernel(target, shareOf(func).threads);
  for (BlockArgument argument : func.getBody().getArguments())
    if (isa<kernel::BufferType>(argument.getType())) {
      // The runtime refuses outputs that overlap any other tensor.
      target.setArgAttr(argument.getArgNumber(),
                        LLVM::LLVMDialect::getNoAliasAttrName(),
                        builder.getUnitAttr());
      argument.setType(global);
    }
}

void TileThreads::prologue() {
  Emit emit{builder, loc};
  TileShare share{schedule.getConsumers() * kConsumerThreads, 0};
  for (auto pipe : entry->getOps<tile::PipeOp>()) {
    firstBytes[pipe] = share.sharedBytes;
    for (Type block : pipe.getType().getBlocks())
      share.sharedBytes +=
          pipe.getType().getStages() * bytesOf(cast<tile::BlockType>(block));
  }
  base = sharedMemory(target, share.sharedBytes);
  thread = threadIndex();
  lane = emit.modulo(thread, machine.wave);
  consumer = emit.shr(thread, llvm::Log2_64(kConsumerThreads));
  wave = emit.shr(emit.modulo(thread, kConsumerThreads),
                  llvm::Log2_64(machine.wave));
  for (auto pipe : entry->getOps<tile::PipeOp>()) {
    produced[pipe] = makeCursor();
    waited[pipe] = makeCursor();
  }
}

LogicalResult TileThreads::run() {
  if (failed(check()))
    return failure();
  expandRoundings(func, machine.keepBf16);
  createFunction();
  Region &region = target.getBody();
  region.takeBody(func.getBody());
  entry = &region.front();
  builder.setInsertionPointToStart(entry);
  prologue();
  SmallVector<Operation *> ops;
  Type sums = products->sumsType(builder.getContext());
  entry->walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (isa<tile::TileDialect>(op->getDialect()))
      ops.push_back(op);
    if (isa<tile::MapOp>(op))
      return WalkResult::skip();
    // Loops carry the registers of pending sums.
    if (isa<scf::ForOp>(op)) {
      for (Value result : op->getResults())
        if (isa<tile::PendingType>(result.getType()))
          result.setType(sums);
      for (BlockArgument argument : op->getRegion(0).getArguments())
        if (isa<tile::PendingType>(argument.getType()))
          argument.setType(sums);
    }
    return WalkResult::advance();
  });
  for (Operation *op : ops) {
    builder.setInsertionPoint(op);
    loc = op->getLoc();
    if (failed(convert(op)))
      return failure();
  }
  for (Operation *op : llvm::reverse(ops))
    op->erase();
  builder.setInsertionPointToEnd(entry);
  LLVM::ReturnOp::create(builder, loc, ValueRange());
  func.erase();
  return success();
}

/// Uses that are left are those of ops that are erased too.
LogicalResult TileThreads::convert(Operation *op) {
  Emit emit{builder, loc};
  return llvm::TypeSwitch<Operation *, LogicalResult>(op)
      .Case<tile::ProgramOp>([&](Operation *op) {
        op->getResult(0).replaceAllUsesWith(groupIndex());
        return success();
      })
      .Case<tile::ProgramsOp>([&](Operation *op) {
        op->getResult(0).replaceAllUsesWith(groups());
        return success();
      })
      // All products of a wave have read their blocks when they have begun.
      .Case<tile::SettleOp>([&](tile::SettleOp op) {
        op.getResult().replaceAllUsesWith(op->getOperand(0));
        return success();
      })
      .Case<tile::ViewOp, tile::PipeOp, tile::ReleaseOp, tile::LoadOp>(
          [](Operation *) { return success(); })
      .Case([&](tile::RolesOp op) { return roles(op), success(); })
      .Case([&](tile::AcquireOp op) {
        auto pipe = op.getPipe().getDefiningOp<tile::PipeOp>();
        blocksAt(pipe, produced[pipe], op.getBlocks());
        return success();
      })
      .Case([&](tile::FetchOp op) { return fetch(op), success(); })
      .Case([&](tile::CommitOp op) { return commit(op), success(); })
      .Case([&](tile::WaitOp op) {
        if (schedule.getCopy() == "async")
          waitForCopies(int64_t(op.getAhead().value_or(0)));
        barrier();
        auto pipe = op.getPipe().getDefiningOp<tile::PipeOp>();
        blocksAt(pipe, waited[pipe], op.getBlocks());
        advance(waited[pipe], pipe);
        return success();
      })
      .Case([&](tile::RowsOp op) {
        Value above = LLVM::MulOp::create(builder, loc, op.getNumber(),
                                          emit.i32(bytesOf(op.getType())));
        offsets[op.getResult()] =
            emit.add(offsets.lookup(op.getBlock()), above);
        return success();
      })
      .Case([&](tile::StartOp op) {
        op.getResult().replaceAllUsesWith(products->start(emit));
        return success();
      })
      .Case([&](tile::DotOp op) { return dot(op), success(); })
      .Case([&](tile::AwaitOp op) { return await(op), success(); })
      .Case([&](tile::OffsetOp op) { return offset(op), success(); })
      .Case([&](tile::FaultOp op) { return fault(op), success(); })
      .Case([&](tile::MapOp op) { return map(op); })
      // Every map is computed where it stands.
      .Case([&](tile::HoldOp op) {
        SmallVector<Value> held = values.find(op.getValues())->second;
        values[op.getResult()] = std::move(held);
        return success();
      })
      .Case([&](tile::PutOp op) { return put(op), success(); })
      .Default([&](Operation *op) {
        return op->emitOpError() << "has no form where consumers copy";
      });
}

void TileThreads::offset(tile::OffsetOp op) {
  Emit emit{builder, loc};
  Value buffer = op->getOperand(0);
  Value at = LLVM::GEPOp::create(builder, loc, buffer.getType(),
                                 builder.getI32Type(), buffer,
                                 ValueRange{emit.wide(op.getIndex())});
  op.getResult().replaceAllUsesWith(LLVM::LoadOp::create(
      builder, loc, builder.getI32Type(), at, /*alignment=*/4));
}

/// Threads that meet a fault write the same word.
void TileThreads::fault(tile::FaultOp op) {
  Emit emit{builder, loc};
  Value word = op->getOperand(0);
  Value null = LLVM::ZeroOp::create(builder, loc, word.getType());
  Value given = LLVM::ICmpOp::create(builder, loc, LLVM::ICmpPredicate::ne,
                                     word, null);
  auto branch = scf::IfOp::create(
      builder, loc, LLVM::AndOp::create(builder, loc, op.getMask(), given));
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(branch.thenBlock());
  LLVM::StoreOp::create(builder, loc, emit.i32(1), word, /*alignment=*/4);
}

void TileThreads::roles(tile::RolesOp op) {
  Block &body = op.getConsumers().front();
  body.getArgument(0).replaceAllUsesWith(consumer);
  op->getBlock()->getOperations().splice(op->getIterator(),
                                         body.getOperations());
}
