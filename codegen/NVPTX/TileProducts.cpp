// TileProducts.cpp - wgmma, and waiting for it
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/NVPTX/TileKernel.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace bitpact;
using namespace bitpact::codegen;

/// Elements of the reduced dim that one instruction takes.
static constexpr int64_t kStep = 16;

bool TileKernel::holdsSums(Type type) { return isa<tile::PendingType>(type); }

/// 64 rows over 128 threads: half a column each, however many of them exist.
Type TileKernel::registersOf(Type type) {
  auto pending = cast<tile::PendingType>(type);
  SmallVector<Type> registers(kDotRows * pending.getCols() / kWarpgroup,
                              pending.getElementType());
  return LLVM::LLVMStructType::getLiteral(builder.getContext(), registers);
}

/// What the unit takes for an address: rows of 128 swizzled bytes, eight of
/// which repeat after 1024. Addresses and distances count 16 bytes.
Value TileKernel::descriptor(Value offset) {
  constexpr uint64_t swizzle128 = 1, first = 1;
  constexpr uint64_t fixed =
      swizzle128 << 62 | uint64_t(kSwizzleAtom >> 4) << 32 | first << 16;
  Value address =
      LLVM::LShrOp::create(builder, loc, add(baseNumber, offset), i32(4));
  Value wide =
      LLVM::ZExtOp::create(builder, loc, builder.getI64Type(), address);
  return LLVM::OrOp::create(builder, loc, wide, i64(int64_t(fixed)));
}

/// From one panel of a block to the next.
int64_t TileKernel::panelBytes(Value block) {
  if (auto rows = block.getDefiningOp<tile::RowsOp>())
    block = rows.getBlock();
  return layout.placeOf(block).panelBytes();
}

/// The steps of one stage, as one group. They are one piece of assembly, tied
/// to the registers that they change while others could be reading them: LLVM
/// knows no value that is not there yet. The first step of all starts from
/// zero by its predicate, since registers set to zero make ptxas serialise.
void TileKernel::dot(tile::DotOp op) {
  tile::BlockType a = op.getA().getType();
  tile::PendingType type = op.getType();
  auto registers = cast<LLVM::LLVMStructType>(registersOf(type));
  size_t count = registers.getBody().size();
  int64_t steps = a.getCols() / kStep;
  bool starts = op->getNumOperands() == 2;
  NVVM::WgmmaFenceAlignedOp::create(builder, loc);
  SmallVector<Value> operands;
  if (!starts)
    for (size_t i = 0; i < count; ++i)
      operands.push_back(LLVM::ExtractValueOp::create(
          builder, loc, op->getOperand(2), ArrayRef<int64_t>{int64_t(i)}));
  size_t firstAddress = count + operands.size();
  int64_t stepBytes = kStep * a.getElementType().getIntOrFloatBitWidth() / 8;
  int64_t inPanel = kSwizzledRow / stepBytes;
  for (Value block : {op.getA(), op.getB()}) {
    Value start = descriptor(offsets.lookup(block));
    int64_t panel = panelBytes(block);
    for (int64_t i = 0; i < steps; ++i) {
      int64_t at = i / inPanel * panel + i % inPanel * stepBytes;
      operands.push_back(at ? add(start, i64(at >> 4)) : start);
    }
  }
  SmallVector<std::string> names, constraints;
  for (size_t i = 0; i < count; ++i) {
    names.push_back("$" + std::to_string(i));
    constraints.push_back(starts ? "=&f" : "=f");
  }
  if (!starts)
    for (size_t i = 0; i < count; ++i)
      constraints.push_back(std::to_string(i));
  constraints.append(2 * steps, "l");
  std::string element = a.getElementType().isBF16() ? "bf16" : "f16";
  std::string text = "{ .reg .pred p; setp.ne.b32 p, 0, 0; ";
  for (int64_t i = 0; i < steps; ++i)
    text += "wgmma.mma_async.sync.aligned.m64n" +
            std::to_string(type.getCols()) + "k16.f32." + element + "." +
            element + " {" + llvm::join(names, ", ") + "}, $" +
            std::to_string(firstAddress + i) + ", $" +
            std::to_string(firstAddress + steps + i) + ", " +
            (starts && i == 0 ? "p" : "1") + ", 1, 1, 0, 0; ";
  text += "wgmma.commit_group.sync.aligned; }";
  op.getResult().replaceAllUsesWith(
      assembly(registers, operands, text, llvm::join(constraints, ",")));
}

/// Reads of the sums depend on the wait, so that nothing moves them above it.
void TileKernel::await(tile::AwaitOp op) {
  Value sums = op->getOperand(0);
  auto registers = cast<LLVM::LLVMStructType>(sums.getType());
  SmallVector<Value> operands;
  SmallVector<std::string> constraints(registers.getBody().size(), "=f");
  for (size_t i = 0; i < registers.getBody().size(); ++i) {
    operands.push_back(LLVM::ExtractValueOp::create(
        builder, loc, sums, ArrayRef<int64_t>{int64_t(i)}));
    constraints.push_back(std::to_string(i));
  }
  Value complete =
      assembly(registers, operands, "wgmma.wait_group.sync.aligned 0;",
               llvm::join(constraints, ","));
  auto pair = VectorType::get({2}, registers.getBody().front());
  SmallVector<Value> &all = pairs[op.getResult()];
  for (size_t i = 0; i < operands.size(); i += 2) {
    Value both = LLVM::UndefOp::create(builder, loc, pair);
    for (size_t j = 0; j < 2; ++j)
      both = LLVM::InsertElementOp::create(
          builder, loc, both,
          LLVM::ExtractValueOp::create(builder, loc, complete,
                                       ArrayRef<int64_t>{int64_t(i + j)}),
          i32(j));
    all.push_back(both);
  }
}
