// PanelParts.cpp - parts of a sum whose products are the same code share it
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/CPU/PanelKernel.h"

#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/OperationSupport.h"
#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;
using namespace bitpact;
using namespace bitpact::codegen;

// The products of a part are a loop over blocks of the depth. Loops of several
// parts differ in where they begin and end and in the sums they go into: one of
// them becomes a function, and all of them call it. Eight parts would else be
// eight times the code, which takes the assembler that much longer.

static bool hasProducts(scf::ForOp loop) {
  return llvm::any_of(loop.getBody()->without_terminator(), [](Operation &op) {
    return isa<tile::ChainOp, tile::DotOp>(op);
  });
}

/// Whether they do the same between their own bounds, to their own sums.
static bool isSameWork(scf::ForOp a, scf::ForOp b) {
  return a->getBlock() == b->getBlock() &&
         getConstantIntValue(a.getStep()) &&
         getConstantIntValue(a.getStep()) == getConstantIntValue(b.getStep()) &&
         llvm::equal(a.getInits().getTypes(), b.getInits().getTypes()) &&
         OperationEquivalence::isRegionEquivalentTo(
             &a.getRegion(), &b.getRegion(),
             OperationEquivalence::IgnoreLocations);
}

void PanelKernel::findParts(Block *inner) {
  inner->walk([&](scf::ForOp loop) {
    if (!hasProducts(loop))
      return;
    for (SmallVector<scf::ForOp> &same : parts)
      if (isSameWork(same.front(), loop)) {
        same.push_back(loop);
        return;
      }
    parts.push_back({loop});
  });
  llvm::erase_if(parts, [](const auto &same) { return same.size() == 1; });
}

bool PanelKernel::isLaterPart(Operation *op) const {
  return llvm::any_of(parts, [&](const auto &same) {
    return llvm::any_of(ArrayRef(same).drop_front(), [&](scf::ForOp loop) {
      return loop->isAncestor(op);
    });
  });
}

/// Scratch that nothing but the loop has: blocks that it packs.
static bool isMemoryOf(scf::ForOp loop, Value value) {
  return isa_and_nonnull<LLVM::AllocaOp>(value.getDefiningOp()) &&
         llvm::all_of(value.getUsers(),
                      [&](Operation *user) { return loop->isAncestor(user); });
}

/// Of the first loop of each, which has been converted, a function. What it
/// takes from outside are arguments.
void PanelKernel::shareParts() {
  for (auto [number, same] : llvm::enumerate(parts)) {
    scf::ForOp first = same.front();
    llvm::SetVector<Value> outer, own;
    getUsedValuesDefinedAbove(first.getRegion(), outer);
    SmallVector<Operation *> constants, memory;
    for (Value value : outer) {
      Operation *from = value.getDefiningOp();
      if (from && matchPattern(from, m_Constant()))
        constants.push_back(from);
      else if (isMemoryOf(first, value))
        memory.push_back(from);
      else
        own.insert(value);
    }
    auto passed = [&](scf::ForOp loop) {
      Values all(own.begin(), own.end());
      llvm::append_range(all, loop->getOperands().take_front(2));
      llvm::append_range(all, loop.getInits());
      return all;
    };
    SmallVector<Type> types =
        llvm::to_vector(ValueRange(passed(first)).getTypes());
    builder.setInsertionPoint(target);
    auto function = LLVM::LLVMFuncOp::create(
        builder, loc, (target.getSymName() + "_part" + Twine(number)).str(),
        LLVM::LLVMFunctionType::get(
            LLVM::LLVMVoidType::get(builder.getContext()), types),
        LLVM::Linkage::Internal);
    function.setNoInline(true);
    for (scf::ForOp loop : same) {
      builder.setInsertionPoint(loop);
      LLVM::CallOp::create(builder, loc, function, passed(loop));
      loop.replaceAllUsesWith(loop.getInits());
    }
    // Sums have one name here.
    for (auto [i, value] : llvm::enumerate(passed(first)))
      if (isa_and_nonnull<LLVM::AllocaOp>(value.getDefiningOp()))
        function.setArgAttr(unsigned(i), LLVM::LLVMDialect::getNoAliasAttrName(),
                            builder.getUnitAttr());
    Block *body = function.addEntryBlock(builder);
    builder.setInsertionPointToStart(body);
    IRMapping map;
    for (Operation *each : constants)
      builder.clone(*each, map);
    for (Operation *each : memory) {
      builder.clone(*each->getOperand(0).getDefiningOp(), map);
      builder.clone(*each, map);
    }
    Value step = builder.clone(*first.getStep().getDefiningOp())->getResult(0);
    for (auto [value, argument] : llvm::zip(own, body->getArguments()))
      map.map(value, argument);
    auto rest = body->getArguments().drop_front(own.size());
    Values operands{rest[0], rest[1], step};
    llvm::append_range(operands, rest.drop_front(2));
    first->remove();
    builder.insert(first);
    first->setOperands(operands);
    first.getBody()->walk([&](Operation *op) {
      for (OpOperand &operand : op->getOpOperands())
        operand.set(map.lookupOrDefault(operand.get()));
    });
    for (Operation *each : memory)
      each->erase();
    LLVM::ReturnOp::create(builder, loc, ValueRange());
    for (scf::ForOp loop : ArrayRef(same).drop_front())
      loop.erase();
  }
}
