//===- TileOps.cpp - syntax and verifiers of tile kernels -*- C++ -*-===//
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "dialects/Kernel/Tiles.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/OpImplementation.h"

using namespace mlir;
using namespace bitpact::tile;
using bitpact::kernel::BufferType;

#define GET_OP_CLASSES
#include "dialects/Kernel/TileOps.cpp.inc"

//===----------------------------------------------------------------------===//
// tile.func and its parts
//===----------------------------------------------------------------------===//

BlockArgument FuncOp::slot(StringRef name) {
  for (auto [i, attr] : llvm::enumerate(getSlots()))
    if (cast<StringAttr>(attr).getValue() == name)
      return getBody().getArgument(i);
  return {};
}

LogicalResult FuncOp::verify() {
  Block &entry = getBody().front();
  if (getSlots().size() != entry.getNumArguments())
    return emitOpError() << "has " << entry.getNumArguments()
                         << " arguments but names " << getSlots().size()
                         << " slots";
  for (Type type : entry.getArgumentTypes())
    if (!isa<BufferType>(type) && !type.isInteger(64))
      return emitOpError() << "argument of type " << type
                           << "; allowed are !kernel.buffer and i64";
  size_t roles = llvm::range_size(entry.getOps<RolesOp>());
  if (roles > 1)
    return emitOpError() << "has " << roles << " tile.roles; one is allowed";
  return success();
}

ParseResult FuncOp::parse(OpAsmParser &parser, OperationState &result) {
  StringAttr name;
  SmallVector<OpAsmParser::Argument> arguments;
  ArrayAttr slots;
  if (parser.parseSymbolName(name, "sym_name", result.attributes) ||
      parser.parseArgumentList(arguments, OpAsmParser::Delimiter::Paren,
                               /*allowType=*/true) ||
      parser.parseKeyword("slots") ||
      parser.parseAttribute(slots, "slots", result.attributes) ||
      parser.parseKeyword("schedule"))
    return failure();
  auto schedule =
      dyn_cast_if_present<ScheduleAttr>(ScheduleAttr::parse(parser, Type()));
  if (!schedule)
    return failure();
  result.addAttribute("schedule", schedule);
  Region *body = result.addRegion();
  if (parser.parseOptionalAttrDictWithKeyword(result.attributes) ||
      parser.parseRegion(*body, arguments))
    return failure();
  if (body->empty())
    body->emplaceBlock();
  return success();
}

void FuncOp::print(OpAsmPrinter &printer) {
  printer << ' ';
  printer.printSymbolName(getSymName());
  printer << '(';
  llvm::interleaveComma(
      getBody().getArguments(), printer,
      [&](BlockArgument argument) { printer.printRegionArgument(argument); });
  printer << ") slots " << getSlots() << " schedule ";
  getSchedule().print(printer);
  printer.printOptionalAttrDictWithKeyword((*this)->getAttrs(),
                                           {"sym_name", "slots", "schedule"});
  printer << ' ';
  printer.printRegion(getBody(), /*printEntryBlockArgs=*/false);
}

/// Numbers that a launch brings lie in a tensor of their own.
static LogicalResult verifyWord(Operation *op, Value buffer) {
  Type element = cast<BufferType>(buffer.getType()).getElementType();
  if (!element.isInteger(32))
    return op->emitOpError() << "of a buffer of " << element << "; it is of i32";
  auto argument = dyn_cast<BlockArgument>(buffer);
  if (!argument || !isa<FuncOp>(argument.getOwner()->getParentOp()))
    return op->emitOpError() << "of something other than an argument of the "
                                "function";
  return success();
}

LogicalResult OffsetOp::verify() { return verifyWord(*this, getBuffer()); }

LogicalResult FaultOp::verify() { return verifyWord(*this, getWord()); }

LogicalResult ViewOp::verify() {
  Type buffer = cast<BufferType>(getBuffer().getType()).getElementType();
  if (buffer != getType().getElementType())
    return emitOpError() << "of " << getType().getElementType()
                         << " in a buffer of " << buffer;
  for (Value operand : getOperands()) {
    auto argument = dyn_cast<BlockArgument>(operand);
    if (!argument || !isa<FuncOp>(argument.getOwner()->getParentOp()))
      return emitOpError() << "is described by something other than arguments "
                              "of the function";
  }
  if (bool(getStride()) == bool(getAlong()))
    return emitOpError() << "has a stride or is along a dim, one of them";
  if (getAlong() && *getAlong() != "rows" && *getAlong() != "cols")
    return emitOpError() << "is along " << getAlongAttr()
                         << "; allowed are \"rows\" and \"cols\"";
  if (getCount() && !getStride())
    return emitOpError() << "is a stack of vectors; it is of matrices";
  return success();
}

/// Of a stack, and of nothing else, one says which matrix.
static LogicalResult verifyMatrix(Operation *op, Value view, Value matrix) {
  auto from = view.getDefiningOp<ViewOp>();
  if (from && bool(from.getCount()) != bool(matrix))
    return op->emitOpError()
           << (matrix ? "of a matrix of a view that is no stack"
                      : "of a stack, and of none of its matrices");
  return success();
}

LogicalResult RolesOp::verify() {
  if (getProducer().getNumArguments() != 0)
    return emitOpError() << "has a producer with arguments; it takes none";
  tile::ScheduleAttr schedule =
      (*this)->getParentOfType<FuncOp>().getSchedule();
  if (schedule.sharesCopies() && !getProducer().front().empty())
    return emitOpError() << "has a producer; with copy \"" << schedule.getCopy()
                         << "\" consumers copy";
  Region &consumers = getConsumers();
  if (consumers.getNumArguments() != 1 ||
      !consumers.getArgument(0).getType().isInteger(32))
    return emitOpError() << "has consumers that do not take their number, i32";
  return success();
}

//===----------------------------------------------------------------------===//
// Pipes
//===----------------------------------------------------------------------===//

/// What moves stages on stands in the role that it belongs to.
static LogicalResult verifyRole(Operation *op, bool inProducer) {
  auto roles = op->getParentOfType<RolesOp>();
  if (auto func = op->getParentOfType<FuncOp>())
    inProducer &= !func.getSchedule().sharesCopies();
  if (!roles ||
      roles.getProducer().isAncestor(op->getParentRegion()) != inProducer)
    return op->emitOpError() << "stands outside of the "
                             << (inProducer ? "producer" : "consumers");
  return success();
}

static bool packsOwn(Operation *op) {
  auto func = op->getParentOfType<FuncOp>();
  return func && func.getSchedule().packsOwn();
}

template <typename StageOp> static LogicalResult verifyBlocks(StageOp op) {
  ArrayRef<Type> wanted = op.getPipe().getType().getBlocks();
  if (!llvm::equal(op.getBlocks().getTypes(), wanted))
    return op.emitOpError() << "gives other blocks than stages of "
                            << op.getPipe().getType() << " hold";
  return success();
}

LogicalResult AcquireOp::verify() {
  if (failed(verifyRole(*this, true)))
    return failure();
  return verifyBlocks(*this);
}

/// Copies of others than the copy unit are threads' own, which wait.
static LogicalResult verifyEarly(Operation *op) {
  if (failed(verifyRole(op, true)))
    return failure();
  if (!op->getParentOfType<FuncOp>().getSchedule().copiesInBulk())
    return op->emitOpError() << "is for schedules whose copy is bulk";
  return success();
}

LogicalResult EarlyOp::verify() {
  if (failed(verifyEarly(*this)))
    return failure();
  return verifyBlocks(*this);
}

LogicalResult ReadyOp::verify() { return verifyEarly(*this); }

LogicalResult CommitOp::verify() { return verifyRole(*this, true); }

LogicalResult WaitOp::verify() {
  if (failed(verifyRole(*this, false)))
    return failure();
  if (getAhead() && int64_t(*getAhead()) < 0)
    return emitOpError() << "ahead is " << int64_t(*getAhead())
                         << "; it must not be negative";
  return verifyBlocks(*this);
}

LogicalResult ReleaseOp::verify() { return verifyRole(*this, false); }

LogicalResult FetchOp::verify() {
  if (failed(verifyRole(*this, true)))
    return failure();
  Type from = getView().getType().getElementType(),
       to = getBlock().getType().getElementType();
  if (from != to)
    return emitOpError() << "from a view of " << from << " to a block of "
                         << to;
  if (auto view = getView().getDefiningOp<ViewOp>(); view && !view.getStride())
    return emitOpError() << "from a vector; blocks hold matrices";
  if (!isa_and_present<AcquireOp, EarlyOp>(getBlock().getDefiningOp()))
    return emitOpError()
           << "to a block that neither tile.acquire nor tile.early gave";
  auto func = (*this)->getParentOfType<FuncOp>();
  if (getBoxes() && func && !func.getSchedule().copiesInBulk())
    return emitOpError() << "of boxes, with copy \""
                         << func.getSchedule().getCopy()
                         << "\"; bulk copies have them";
  return verifyMatrix(*this, getView(), getMatrix());
}

LogicalResult PrefetchOp::verify() {
  if (failed(verifyRole(*this, true)))
    return failure();
  if (auto view = getView().getDefiningOp<ViewOp>(); view && !view.getStride())
    return emitOpError() << "of a vector; only rows of a matrix are asked for";
  if (int64_t(getCols()) <= 0)
    return emitOpError() << "of " << int64_t(getCols())
                         << " columns; there must be one at least";
  auto func = (*this)->getParentOfType<FuncOp>();
  if (func && !func.getSchedule().copiesInBulk())
    return emitOpError() << "with copy \"" << func.getSchedule().getCopy()
                         << "\"; producers that copy in bulk have it";
  return success();
}

LogicalResult PackOp::verify() {
  Type from = getView().getType().getElementType(),
       to = getType().getElementType();
  if (from != to &&
      from.getIntOrFloatBitWidth() >= to.getIntOrFloatBitWidth())
    return emitOpError() << "from a view of " << from << " to a block of "
                         << to << ", which does not hold all of its values";
  if (!packsOwn(*this))
    return emitOpError() << "is for schedules whose copy is own";
  return verifyMatrix(*this, getView(), getMatrix());
}

//===----------------------------------------------------------------------===//
// Products and results
//===----------------------------------------------------------------------===//

LogicalResult BeginOp::verify() {
  if (getStart() != "identity" && getStart() != "first")
    return emitOpError() << "start is '" << getStart()
                         << "'; allowed are identity and first";
  return success();
}

LogicalResult ChainOp::verify() {
  BlockType a = getA().getType(), b = getB().getType();
  PendingType sums = getType();
  if (!getA().getDefiningOp<PackOp>() || !getB().getDefiningOp<PackOp>())
    return emitOpError() << "of a block that tile.pack did not give";
  if (a.getCols() != b.getCols() || sums.getRows() != a.getRows() ||
      sums.getCols() != b.getRows())
    return emitOpError() << "of " << a << " and " << b << " gives " << sums;
  Block &step = getBody().front();
  if (step.getNumArguments() != 3 ||
      step.getArgument(0).getType() != a.getElementType() ||
      step.getArgument(1).getType() != b.getElementType() ||
      step.getArgument(2).getType() != sums.getElementType())
    return emitOpError() << "has a step of other elements than those of " << a
                         << ", " << b << " and " << sums;
  auto yield = dyn_cast<YieldOp>(step.getTerminator());
  if (!yield || !yield.getValue() ||
      yield.getValue().getType() != sums.getElementType())
    return emitOpError() << "has a step that does not yield a sum of " << sums;
  return success();
}

LogicalResult RowsOp::verify() {
  BlockType from = getBlock().getType(), to = getType();
  if (from.getElementType() != to.getElementType() ||
      from.getCols() != to.getCols() || from.getRows() % to.getRows())
    return emitOpError() << "of " << from << " cannot be " << to
                         << "; parts have all columns and divide the rows";
  return success();
}

LogicalResult DotOp::verify() {
  BlockType a = getA().getType(), b = getB().getType();
  PendingType sums = getType();
  if (a.getElementType() != b.getElementType() || a.getCols() != b.getCols())
    return emitOpError() << "of " << a << " and " << b
                         << "; they must have one element type and as many "
                            "columns";
  if (sums.getRows() != a.getRows() || sums.getCols() != b.getRows())
    return emitOpError() << "of " << a.getRows() << " and " << b.getRows()
                         << " rows gives " << sums;
  if (getSums() && getSums().getType() != sums)
    return emitOpError() << "takes sums of type " << getSums().getType()
                         << " and gives " << sums;
  return success();
}

LogicalResult SettleOp::verify() {
  if (int64_t(getBehind()) < 0)
    return emitOpError() << "behind is " << int64_t(getBehind())
                         << "; it must not be negative";
  return success();
}

LogicalResult AwaitOp::verify() {
  PendingType from = getSums().getType();
  ValuesType to = getType();
  if (from.getRows() != to.getRows() || from.getCols() != to.getCols() ||
      from.getElementType() != to.getElementType())
    return emitOpError() << "of " << from << " gives " << to;
  return success();
}

LogicalResult LoadOp::verify() {
  if (!packsOwn(*this) && failed(verifyRole(*this, false)))
    return failure();
  Type from = getView().getType().getElementType(),
       to = getType().getElementType();
  if (from != to)
    return emitOpError() << "from a view of " << from << " to values of " << to;
  return verifyMatrix(*this, getView(), Value());
}

/// What a map has before its arithmetic is written.
void YieldOp::build(OpBuilder &, OperationState &) {}

LogicalResult MapOp::verify() {
  Block &body = getBody().front();
  if (getValues().empty() || body.getNumArguments() != getValues().size())
    return emitOpError() << "has " << getValues().size() << " operands and "
                         << body.getNumArguments()
                         << " elements; there is one element an operand";
  ValuesType result = getType();
  for (auto [value, element] :
       llvm::zip(getValues(), body.getArgumentTypes())) {
    auto type = cast<ValuesType>(value.getType());
    if (type.getRows() != result.getRows() ||
        type.getCols() != result.getCols())
      return emitOpError() << "of " << type << " gives " << result;
    if (type.getElementType() != element)
      return emitOpError() << "has elements of type " << element << " from "
                           << type;
  }
  Value yielded = cast<YieldOp>(body.getTerminator()).getValue();
  if (!yielded || yielded.getType() != result.getElementType())
    return emitOpError() << "does not yield an element of " << result;
  return success();
}

LogicalResult HoldOp::verify() {
  if (!packsOwn(*this) && failed(verifyRole(*this, false)))
    return failure();
  if (int64_t(getSlot()) < 0)
    return emitOpError() << "slot is " << int64_t(getSlot())
                         << "; it must not be negative";
  return success();
}

LogicalResult MeetOp::verify() {
  if (failed(verifyRole(*this, false)))
    return failure();
  auto func = (*this)->getParentOfType<FuncOp>();
  size_t split = size_t(func.getSchedule().getSplit());
  if (split == 1)
    return emitOpError() << "is for schedules with split";
  if (getValues().empty() || getParts().size() != split * getValues().size())
    return emitOpError() << "of " << getValues().size() << " values of " << split
                         << " units gives " << getParts().size();
  for (auto [i, part] : llvm::enumerate(getParts())) {
    auto from =
        cast<ValuesType>(getValues()[i % getValues().size()].getType());
    auto to = cast<ValuesType>(part.getType());
    if (to.getRows() != from.getRows() ||
        to.getCols() * int64_t(split) != from.getCols() ||
        to.getElementType() != from.getElementType())
      return emitOpError() << "of " << from << " gives " << to
                           << "; each of " << split << " units has its columns";
  }
  return success();
}

LogicalResult PutOp::verify() {
  if (!packsOwn(*this) && failed(verifyRole(*this, false)))
    return failure();
  Type from = getValues().getType().getElementType(),
       to = getView().getType().getElementType();
  if (from != to)
    return emitOpError() << "of " << from << " to a view of " << to;
  if (auto view = getView().getDefiningOp<ViewOp>(); view && !view.getStride())
    return emitOpError() << "to a vector, in which several elements meet";
  return verifyMatrix(*this, getView(), Value());
}
