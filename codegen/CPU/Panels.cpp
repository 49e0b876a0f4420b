// Panels.cpp - blocks of a tensor as panels in scratch
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/CPU/PanelKernel.h"

using namespace mlir;
using namespace bitpact;
using namespace bitpact::codegen;

/// Bits of the pieces of a register within which elements move at no cost.
static constexpr int64_t kPieceBits = 128;

/// Elements of two formats that hold each other's values, wider.
Value PanelKernel::widen(Value elements, Type from, Type to) {
  auto like = [&](Type element) -> Type {
    if (auto vector = dyn_cast<VectorType>(elements.getType()))
      return vector.clone(element);
    return element;
  };
  if (from == to)
    return LLVM::BitcastOp::create(builder, loc, like(to), elements);
  if (from.isBF16()) {
    // bf16 is the upper half of f32.
    Type ints = like(builder.getI32Type());
    Value bits = LLVM::ZExtOp::create(builder, loc, ints, elements);
    bits = binary<LLVM::ShlOp>(bits, integer(ints, 16));
    Value wide =
        LLVM::BitcastOp::create(builder, loc, like(builder.getF32Type()), bits);
    return widen(wide, builder.getF32Type(), to);
  }
  Value own = LLVM::BitcastOp::create(builder, loc, like(from), elements);
  return LLVM::FPExtOp::create(builder, loc, like(to), own);
}

/// Of as many vectors as lanes, the transpose: first within pieces of 128
/// bits, each level of which is one instruction, then of whole pieces.
PanelKernel::Values PanelKernel::transpose(Values rows) {
  int64_t lanes = schedule.getLanes();
  int64_t width = getElementTypeOrSelf(rows[0].getType()).getIntOrFloatBitWidth();
  int64_t inPiece = kPieceBits / width, pieces = lanes / inPiece;
  // Neighbours of each row, in pairs and then pairs of pairs.
  for (int64_t together = 1; together < inPiece; together *= 2) {
    Values next(rows.size());
    for (int64_t i = 0; i < lanes; ++i) {
      if (i & together)
        continue;
      // Both of a pair give their lower halves, then their upper halves.
      for (int64_t half : {0, 1}) {
        SmallVector<int32_t> mask;
        for (int64_t piece = 0; piece < pieces; ++piece)
          for (int64_t j = 0; j < inPiece; j += 2 * together)
            for (int64_t side : {int64_t(0), lanes})
              for (int64_t e = 0; e < together; ++e)
                mask.push_back(int32_t(side + piece * inPiece + e + j / 2 +
                                       half * inPiece / 2));
        next[i + half * together] = shuffle(rows[i], rows[i + together], mask);
      }
    }
    rows = next;
  }
  // Now row q * inPiece + c holds, in piece b, column columnOf(b, c) of the rows
  // [q * inPiece, (q + 1) * inPiece).
  Values result(rows.size());
  for (int64_t c = 0; c < inPiece; ++c) {
    // The levels above leave columns in the order of reversed bits.
    int64_t column = inPiece == 4 ? (c >> 1 | (c & 1) << 1) : c;
    Values parts;
    for (int64_t q = 0; q < pieces; ++q)
      parts.push_back(rows[q * inPiece + c]);
    // Of two vectors the same pieces.
    auto pick = [&](Value a, Value b, ArrayRef<int64_t> chosen) {
      SmallVector<int32_t> mask;
      for (int64_t side : {int64_t(0), lanes})
        for (int64_t piece : chosen)
          for (int64_t e = 0; e < inPiece; ++e)
            mask.push_back(int32_t(side + piece * inPiece + e));
      return shuffle(a, b, mask);
    };
    auto set = [&](int64_t piece, Value value) {
      result[piece * inPiece + column] = value;
    };
    if (pieces == 1) {
      set(0, parts[0]);
    } else if (pieces == 2) {
      set(0, pick(parts[0], parts[1], {0}));
      set(1, pick(parts[0], parts[1], {1}));
    } else {
      for (int64_t half : {0, 2}) {
        Value low = pick(parts[0], parts[1], {half, half + 1}),
              high = pick(parts[2], parts[3], {half, half + 1});
        set(half, pick(low, high, {0, 2}));
        set(half + 1, pick(low, high, {1, 3}));
      }
    }
  }
  return result;
}

/// A panel's rows are taken in groups of as many as a vector has lanes. Of a
/// group with fewer, the vectors that are stored reach into the next column's
/// place, which is written after it. Rows beyond the extent are the last one
/// again; columns beyond it are not written.
void PanelKernel::packPanel(const Matrix &from, const Panels &to, Value base,
                           Value row, Value panel, Value data, Value exponents,
                           int64_t group) {
  int64_t lanes = schedule.getLanes();
  int64_t rows = std::min(lanes, to.height - group);
  Type stored = builder.getIntegerType(from.element.getIntOrFloatBitWidth());
  Values starts;
  Value last = binary<LLVM::SubOp>(to.rows, i64(1));
  for (int64_t r = 0; r < rows; ++r) {
    Value number = least(add(row, i64(group + r)), last);
    starts.push_back(at(base, stored, mul(number, from.stride)));
  }
  auto put = [&](Value elements, Value k, int64_t r) {
    Value place = add(mul(k, i64(to.height)), i64(group + r));
    if (!to.exponents)
      return store(elements, at(data, to.element, place));
    Operand parts = split(elements, from.element);
    store(parts.significand, at(data, to.element, place));
    store(parts.exponent, at(exponents, builder.getI32Type(), place));
  };
  Value whole = mul(binary<LLVM::UDivOp>(to.cols, i64(lanes)), i64(lanes));
  loop(i64(0), whole, lanes, [&](Value k) {
    Values vectors;
    for (Value start : starts)
      vectors.push_back(widen(load(lanesOf(stored), at(start, stored, k)),
                              from.element, to.element));
    vectors.resize(size_t(lanes), vectors.back());
    for (auto [i, column] : llvm::enumerate(transpose(vectors)))
      put(column, add(k, i64(int64_t(i))), 0);
  });
  loop(whole, to.cols, 1, [&](Value k) {
    for (auto [r, start] : llvm::enumerate(starts))
      put(widen(load(stored, at(start, stored, k)), from.element, to.element),
          k, int64_t(r));
  });
  // The last step of an atom takes products of zeros, which are as if they were
  // not there.
  if (!to.exponents)
    return;
  loop(to.cols, mul(blocks(to.cols, to.step), i64(to.step)), 1, [&](Value k) {
    for (int64_t r = 0; r < rows; ++r)
      put(real(to.element, 0), k, r);
  });
}

Value PanelKernel::rowsOf(tile::PackOp op) {
  Value end = views[op.getView()].rows;
  if (op.getEnd())
    end = least(end, wide(op.getEnd()));
  return binary<LLVM::SubOp>(end, wide(op.getRow()));
}

LogicalResult PanelKernel::pack(tile::PackOp op) {
  const Matrix &from = views[op.getView()];
  tile::BlockType type = op.getType();
  // Several products may take it, all as rows or all as columns.
  Operation *user = op->use_empty() ? nullptr : *op->user_begin();
  if (!isa_and_nonnull<tile::ChainOp, tile::DotOp>(user))
    return op.emitOpError("is no product's operand");
  bool isRows = user->getOperand(0) == op.getResult();
  for (OpOperand &use : op->getUses())
    if (use.getOwner()->getName() != user->getName() ||
        use.getOperandNumber() != (isRows ? 0 : 1) ||
        use.getOwner()->getAttr("atom") != user->getAttr("atom"))
      return op.emitOpError("is an operand of products that differ");
  bool ofAtom = isa<tile::DotOp>(user);
  Panels to;
  to.height = isRows ? schedule.getPanelRows() : schedule.getPanelCols();
  to.element = ofAtom ? Type(builder.getF32Type()) : type.getElementType();
  int64_t lanes = schedule.getLanes();
  if (type.getRows() % to.height || (to.height > lanes && to.height % lanes))
    return op.emitOpError() << "panels of " << to.height << " rows";
  Value row = wide(op.getRow()), col = wide(op.getCol());
  to.rows = least(rowsOf(op), i64(type.getRows()));
  to.cols = least(binary<LLVM::SubOp>(from.cols, col), i64(type.getCols()));
  // The last vector that is stored may reach beyond the last panel.
  int64_t count = type.getRows() * type.getCols() + schedule.getLanes();
  to.data = scratch(to.element, count);
  if (auto dot = dyn_cast<tile::DotOp>(user)) {
    std::optional<Unit> unit = unitOf(dot.getAtom());
    if (!unit || type.getCols() % unit->terms)
      return dot.emitOpError("has no form on CPUs");
    to.step = unit->terms;
  }
  if (ofAtom)
    to.exponents = scratch(builder.getI32Type(), count);
  Value start = add(mul(row, from.stride), col);
  if (op.getMatrix())
    start = add(start, mul(wide(op.getMatrix()), from.apart));
  Value base = at(from.data, from.element, start);
  loop(i64(0), to.rows, to.height, [&](Value first) {
    Value number = binary<LLVM::UDivOp>(first, i64(to.height));
    Value data = panelAt(to, to.data, number, type.getCols(), to.element);
    Value exponents =
        ofAtom ? panelAt(to, to.exponents, number, type.getCols(),
                         builder.getI32Type())
               : Value();
    for (int64_t group = 0; group < to.height; group += schedule.getLanes())
      packPanel(from, to, base, first, number, data, exponents, group);
  });
  packed[op] = to;
  return success();
}
