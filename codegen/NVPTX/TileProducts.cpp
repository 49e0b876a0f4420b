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

const TileLayout::Place &TileKernel::placeOfOperand(Value block) {
  if (auto rows = block.getDefiningOp<tile::RowsOp>())
    block = rows.getBlock();
  return layout.placeOf(block);
}

/// Columns of one instruction.
static constexpr int64_t kMostCols = 256;

/// Products of one block with blocks that lie side by side, which are one
/// instruction: it reads the block once for all of them.
SmallVector<tile::DotOp> TileKernel::together(tile::DotOp op) {
  SmallVector<tile::DotOp> all = {op};
  int64_t cols = op.getType().getCols();
  while (auto next = dyn_cast_or_null<tile::DotOp>(all.back()->getNextNode())) {
    cols += next.getType().getCols();
    if (next.getA() != op.getA() || cols > kMostCols ||
        next->getNumOperands() != op->getNumOperands() ||
        !placeOfOperand(all.back().getB())
             .isBeside(placeOfOperand(next.getB())))
      break;
    all.push_back(next);
  }
  return all;
}

/// The steps of one stage, as one group. They are one piece of assembly, tied
/// to the registers that they change while others could be reading them: LLVM
/// knows no value that is not there yet. The first step of all starts from
/// zero by its predicate, since registers set to zero make ptxas serialise.
void TileKernel::dot(tile::DotOp op) {
  if (computed.contains(op))
    return;
  tile::BlockType a = op.getA().getType();
  SmallVector<tile::DotOp> all = together(op);
  productsOfGroup = std::max(productsOfGroup, int64_t(all.size()));
  SmallVector<Type> each;
  int64_t cols = 0;
  for (tile::DotOp one : all) {
    computed.insert(one);
    cols += one.getType().getCols();
    llvm::append_range(
        each, cast<LLVM::LLVMStructType>(registersOf(one.getType())).getBody());
  }
  auto registers =
      LLVM::LLVMStructType::getLiteral(builder.getContext(), each);
  size_t count = each.size();
  int64_t steps = a.getCols() / kStep;
  bool starts = op->getNumOperands() == 2;
  NVVM::WgmmaFenceAlignedOp::create(builder, loc);
  SmallVector<Value> operands;
  auto extract = [&](Value from, size_t i) -> Value {
    return LLVM::ExtractValueOp::create(builder, loc, from,
                                        ArrayRef<int64_t>{int64_t(i)});
  };
  if (!starts)
    for (tile::DotOp one : all) {
      Value sums = one->getOperand(2);
      auto type = cast<LLVM::LLVMStructType>(sums.getType());
      for (size_t i = 0; i < type.getBody().size(); ++i)
        operands.push_back(extract(sums, i));
    }
  size_t firstAddress = count + operands.size();
  int64_t stepBytes = kStep * a.getElementType().getIntOrFloatBitWidth() / 8;
  int64_t inPanel = kSwizzledRow / stepBytes;
  for (Value block : {op.getA(), op.getB()}) {
    Value start = descriptor(offsets.lookup(block));
    int64_t panel = placeOfOperand(block).panelStep;
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
            std::to_string(cols) + "k16.f32." + element + "." +
            element + " {" + llvm::join(names, ", ") + "}, $" +
            std::to_string(firstAddress + i) + ", $" +
            std::to_string(firstAddress + steps + i) + ", " +
            (starts && i == 0 ? "p" : "1") + ", 1, 1, 0, 0; ";
  text += "wgmma.commit_group.sync.aligned; }";
  Value result =
      assembly(registers, operands, text, llvm::join(constraints, ","));
  if (all.size() == 1)
    return op.getResult().replaceAllUsesWith(result);
  size_t first = 0;
  for (tile::DotOp one : all) {
    Type own = registersOf(one.getType());
    Value part = LLVM::UndefOp::create(builder, loc, own);
    size_t size = cast<LLVM::LLVMStructType>(own).getBody().size();
    for (size_t i = 0; i < size; ++i)
      part = LLVM::InsertValueOp::create(builder, loc, part,
                                         extract(result, first + i),
                                         ArrayRef<int64_t>{int64_t(i)});
    first += size;
    one.getResult().replaceAllUsesWith(part);
  }
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
  Value none;
  if (op.getExists()) {
    auto element = cast<FloatType>(pair.getElementType());
    none = LLVM::ConstantOp::create(
        builder, loc, pair,
        DenseElementsAttr::get(
            pair, APFloat::getQNaN(element.getFloatSemantics())));
  }
  SmallVector<Value> &all = pairs[op.getResult()];
  for (size_t i = 0; i < operands.size(); i += 2) {
    Value both = LLVM::UndefOp::create(builder, loc, pair);
    for (size_t j = 0; j < 2; ++j)
      both = LLVM::InsertElementOp::create(
          builder, loc, both,
          LLVM::ExtractValueOp::create(builder, loc, complete,
                                       ArrayRef<int64_t>{int64_t(i + j)}),
          i32(j));
    if (none)
      both = LLVM::SelectOp::create(builder, loc, op.getExists(), both, none);
    all.push_back(both);
  }
}
