// Memory.cpp - accesses of the interpreted kernel, bounds and alignment checked
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/Interpreter/Machine.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace bitpact;
using namespace bitpact::interpreter;

bool Buffer::indicesAt(int64_t offset,
                       llvm::SmallVectorImpl<int64_t> &indices) const {
  if (offset < 0)
    return false;
  for (auto [extent, stride] : llvm::zip(shape, strides)) {
    int64_t index = offset / stride;
    if (index >= extent)
      return false;
    indices.push_back(index);
    offset -= index * stride;
  }
  return offset == 0;
}

std::optional<int64_t> Buffer::elementAt(int64_t offset) const {
  if (offset < 0)
    return std::nullopt;
  int64_t element = 0;
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    int64_t index = offset / strides[axis];
    if (index >= shape[axis])
      return std::nullopt;
    offset -= index * strides[axis];
    if (int(axis) == reducedAxis && index >= leftOut.first) {
      index -= leftOut.length;
      if (index < leftOut.first)
        return std::nullopt;
    }
    element = element * present(axis) + index;
  }
  return offset == 0 ? std::optional(element) : std::nullopt;
}

std::vector<int64_t>
interpreter::paddedStrides(const std::vector<int64_t> &shape, Scalar type,
                           int64_t align) {
  std::vector<int64_t> strides(shape.size(), 1);
  int64_t multiple =
      std::max<int64_t>(1, align / std::max(1u, widthOf(type) / 8));
  for (size_t axis = shape.size(); axis-- > 1;)
    strides[axis - 1] =
        llvm::alignTo(strides[axis] * shape[axis] + 1, multiple);
  return strides;
}

/// Calls `element(lane, j, number)` for every element that a lane accesses, and
/// `repeat(lane)` instead where these are the elements of the lane before and it
/// may be: true if it has done all there is to do.
template <typename AccessOp, typename Element, typename Repeat>
LogicalResult Machine::access(const Instruction &what, AccessOp op,
                              uint32_t operandsBefore, uint32_t elements,
                              Element element, Repeat repeat) {
  // Operands: [stored values], buffer, offset, [lane offsets], [masks].
  const Place *next = what.operands.data() + operandsBefore + 1;
  int64_t offset;
  if (failed(uniform(what, *next++, offset)))
    return failure();
  const Place *laneOffsets = op.getLaneOffsets() ? next++ : nullptr;
  size_t masks = op.getMasks().size();
  Buffer &buffer = *slots[what.memory];
  int64_t bytes = widthOf(buffer.type) / 8, align = op.getAlign();
  int64_t laneStride = op.getLaneStride();
  SmallVector<int64_t> indices;
  int64_t before = 0;
  auto sameMasks = [&](int64_t lane) {
    for (size_t i = 0; i < masks; ++i)
      if (!(cells[next[i].of(lane)] == cells[next[i].of(lane - 1)]))
        return false;
    return true;
  };
  for (int64_t lane = 0; lane < code.lanes; ++lane) {
    int64_t start = offset + lane * laneStride;
    bool known = true;
    if (laneOffsets) {
      const Cell &cell = cells[laneOffsets->of(lane)];
      known = cell.isConcrete();
      start += int64_t(cell.bits);
    }
    if (lane > 0 && known && start == before && sameMasks(lane) &&
        repeat(lane))
      continue;
    before = start;
    bool any = false;
    for (uint32_t j = 0; j < elements; ++j) {
      if (masks) {
        const Cell &mask = cells[next[masks == 1 ? 0 : j].of(lane)];
        if (!mask.isConcrete())
          return error(what, lane) << "the mask is not known";
        if (!mask.bits) {
          if (failed(element(lane, j, std::optional<int64_t>())))
            return failure();
          continue;
        }
      }
      any = true;
      if (!known)
        return error(what, lane) << "the address is not known";
      std::optional<int64_t> number = 0;
      indices.clear();
      if (!isDry)
        number = buffer.elementAt(start + j);
      else if (!buffer.indicesAt(start + j, indices))
        number.reset();
      if (!number)
        return error(what, lane)
               << "offset " << start + j << " is outside of tensor '"
               << buffer.name << "' with " << buffer.cells.size()
               << " elements";
      noteAccess(buffer, lane, j, start + j);
      if (failed(element(lane, j, number)))
        return failure();
    }
    if (any && start * bytes % align)
      return error(what, lane)
             << "offset " << start << " of tensor '" << buffer.name
             << "' is not aligned to " << align << " bytes";
  }
  return success();
}

LogicalResult Machine::load(const Instruction &what) {
  auto op = cast<kernel::LoadOp>(what.op);
  Buffer &buffer = *slots[what.memory];
  return access(what, op, 0, uint32_t(what.results.size()),
                [&](int64_t lane, uint32_t j, std::optional<int64_t> number) {
                  if (isDry)
                    return success();
                  cells[what.results[j].of(lane)] =
                      number ? buffer.cells[*number] : Cell();
                  return success();
                },
                [&](int64_t lane) {
                  if (isDry || !rounds.empty())
                    return false;
                  for (Place to : what.results)
                    cells[to.of(lane)] = cells[to.of(lane - 1)];
                  return true;
                });
}

LogicalResult Machine::read(const Instruction &what) {
  Buffer &buffer = *slots[what.memory];
  int64_t offset;
  noteOpaque();
  if (failed(uniform(what, what.operands[1], offset)))
    return failure();
  std::optional<int64_t> number = buffer.elementAt(offset);
  if (!number)
    return error(what) << "offset " << offset << " is outside of tensor '"
                       << buffer.name << "' with " << buffer.cells.size()
                       << " elements";
  cells[what.results[0].first] = buffer.cells[*number];
  return success();
}

LogicalResult Machine::store(const Instruction &what) {
  auto op = cast<kernel::StoreOp>(what.op);
  Buffer &buffer = *slots[what.memory];
  uint32_t count = uint32_t(op.getValues().size());
  return access(what, op, count, count,
                [&](int64_t lane, uint32_t j,
                    std::optional<int64_t> number) -> LogicalResult {
                  if (!number || isDry)
                    return success();
                  const Cell &value = cells[what.operands[j].of(lane)];
                  if (!buffer.isOutput)
                    return error(what, lane)
                           << "writes input '" << buffer.name << "'";
                  if (value.isUnspecified())
                    return error(what, lane)
                           << "writes an unspecified value to element "
                           << *number << " of tensor '" << buffer.name << "'";
                  Cell &cell = buffer.cells[*number];
                  if (!cell.isUnspecified())
                    return error(what, lane)
                           << "writes element " << *number << " of tensor '"
                           << buffer.name << "' a second time";
                  cell = value;
                  return success();
                },
                [](int64_t) { return false; });
}

LogicalResult Machine::fault(const Instruction &what) {
  Place mask = what.operands[1];
  noteOpaque();
  for (int64_t lane = 0; lane < code.lanes; ++lane) {
    const Cell &cell = cells[mask.of(lane)];
    if (!cell.isConcrete())
      return error(what, lane) << "the mask is not known";
    faulted |= bool(cell.bits);
  }
  return success();
}
