//===- KernelDialect.cpp - registration, syntax and verifiers -*- C++ -*-===//
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "dialects/Kernel/KernelDialect.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/IR/OpImplementation.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace bitpact::kernel;

#include "dialects/Kernel/KernelDialect.cpp.inc"

#define GET_TYPEDEF_CLASSES
#include "dialects/Kernel/KernelTypes.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "dialects/Kernel/KernelAttrs.cpp.inc"

#define GET_OP_CLASSES
#include "dialects/Kernel/KernelOps.cpp.inc"

void KernelDialect::initialize() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "dialects/Kernel/KernelTypes.cpp.inc"
      >();
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialects/Kernel/KernelAttrs.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "dialects/Kernel/KernelOps.cpp.inc"
      >();
}

//===----------------------------------------------------------------------===//
// The schedule attribute
//===----------------------------------------------------------------------===//

LogicalResult
ScheduleAttr::verify(llvm::function_ref<InFlightDiagnostic()> emitError,
                     StringRef kind, int64_t lanes, int64_t subgroup,
                     int64_t programsPerGroup, int64_t vectorBytes,
                     int64_t unroll, bool, int64_t rowsPerLane, int64_t split,
                     int64_t ahead) {
  if (kind != "row_per_group" && kind != "row_per_lane")
    return emitError() << "schedule kind is '" << kind
                       << "'; allowed are row_per_group and row_per_lane";
  if (lanes < 1 || !llvm::isPowerOf2_64(lanes))
    return emitError() << "lanes is " << lanes << "; it must be a power of two";
  if (subgroup < 1 || !llvm::isPowerOf2_64(subgroup))
    return emitError() << "subgroup is " << subgroup
                       << "; it must be a power of two";
  if (lanes > subgroup && programsPerGroup != 1)
    return emitError() << "programs_per_group is " << programsPerGroup
                       << " with more lanes than a subgroup; such programs "
                          "synchronise and need a group of their own";
  if (rowsPerLane < 1 || !llvm::isPowerOf2_64(rowsPerLane) ||
      (rowsPerLane > 1 && kind != "row_per_lane"))
    return emitError() << "rows_per_lane is " << rowsPerLane
                       << "; it must be a power of two, and 1 unless the kind "
                          "is row_per_lane";
  if (split < 0)
    return emitError() << "split is " << split << "; it must not be negative";
  if (programsPerGroup < 1 || vectorBytes < 0 || unroll < 1)
    return emitError() << "programs_per_group and unroll must be positive, "
                          "vector_bytes not negative";
  if (ahead < 0 || ahead > 1)
    return emitError() << "ahead is " << ahead << "; allowed are 0 and 1";
  return success();
}

std::string ScheduleAttr::text() const {
  std::string text =
      llvm::formatv("{0} lanes={1} subgroup={2} programs_per_group={3} "
                    "vector_bytes={4} unroll={5}",
                    getKind(), getLanes(), getSubgroup(), getProgramsPerGroup(),
                    getVectorBytes(), getUnroll());
  if (getAdjacent())
    text += " adjacent";
  if (getRowsPerLane() != 1)
    text += llvm::formatv(" rows_per_lane={0}", getRowsPerLane());
  if (getSplit())
    text += llvm::formatv(" split={0}", getSplit());
  if (getAhead())
    text += llvm::formatv(" ahead={0}", getAhead());
  return text;
}

int64_t ScheduleAttr::rowPack(int64_t bytes) const {
  return std::min(getRowsPerLane(),
                  std::max<int64_t>(1, getVectorBytes() / bytes));
}

ScheduleAttr ScheduleAttr::withUnroll(int64_t elements) const {
  return get(getContext(), getKind(), getLanes(), getSubgroup(),
             getProgramsPerGroup(), getVectorBytes(), elements, getAdjacent(),
             getRowsPerLane(), getSplit(), getAhead());
}

ScheduleAttr ScheduleAttr::withAhead(int64_t steps) const {
  return get(getContext(), getKind(), getLanes(), getSubgroup(),
             getProgramsPerGroup(), getVectorBytes(), getUnroll(),
             getAdjacent(), getRowsPerLane(), getSplit(), steps);
}

LogicalResult
SplitAttr::verify(llvm::function_ref<InFlightDiagnostic()> emitError,
                  StringRef dim, int64_t length, int64_t less) {
  if (length < 1 || less < 0)
    return emitError() << "length is " << length << " and less is " << less
                       << "; they must be positive and not negative";
  return success();
}

//===----------------------------------------------------------------------===//
// kernel.func
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
  if (!getRows().empty() && !slot(getRows()))
    return emitOpError() << "rows names '" << getRows()
                         << "', which is no slot";
  if (SplitAttr split = getSplitAttr())
    if (!split.getDim().empty() && !slot(split.getDim()))
      return emitOpError() << "split names '" << split.getDim()
                           << "', which is no slot";
  return success();
}

ParseResult FuncOp::parse(OpAsmParser &parser, OperationState &result) {
  StringAttr name;
  SmallVector<OpAsmParser::Argument> arguments;
  ArrayAttr slots;
  StringAttr rows;
  ScheduleAttr schedule;
  if (parser.parseSymbolName(name, "sym_name", result.attributes) ||
      parser.parseArgumentList(arguments, OpAsmParser::Delimiter::Paren,
                               /*allowType=*/true) ||
      parser.parseKeyword("slots") ||
      parser.parseAttribute(slots, "slots", result.attributes) ||
      parser.parseKeyword("rows") ||
      parser.parseAttribute(rows, "rows", result.attributes) ||
      parser.parseKeyword("schedule"))
    return failure();
  schedule =
      dyn_cast_if_present<ScheduleAttr>(ScheduleAttr::parse(parser, Type()));
  if (!schedule)
    return failure();
  result.addAttribute("schedule", schedule);
  Region *body = result.addRegion();
  return failure(parser.parseOptionalAttrDictWithKeyword(result.attributes) ||
                 parser.parseRegion(*body, arguments));
}

void FuncOp::print(OpAsmPrinter &printer) {
  printer << ' ';
  printer.printSymbolName(getSymName());
  printer << '(';
  llvm::interleaveComma(
      getBody().getArguments(), printer,
      [&](BlockArgument argument) { printer.printRegionArgument(argument); });
  printer << ") slots " << getSlots() << " rows " << getRowsAttr()
          << " schedule ";
  getSchedule().print(printer);
  printer.printOptionalAttrDictWithKeyword(
      (*this)->getAttrs(), {"sym_name", "slots", "rows", "schedule"});
  printer << ' ';
  printer.printRegion(getBody(), /*printEntryBlockArgs=*/false);
}

//===----------------------------------------------------------------------===//
// Accesses, exchanges and conversions
//===----------------------------------------------------------------------===//

template <typename AccessOp>
static LogicalResult verifyAccess(AccessOp op, TypeRange values) {
  if (values.empty())
    return op.emitOpError() << "moves no element";
  Type element = cast<BufferType>(op.getBuffer().getType()).getElementType();
  for (Type type : values)
    if (getElementTypeOrSelf(type) != element || type != values.front())
      return op.emitOpError() << "value of type " << type
                              << " from or to a buffer of " << element;
  size_t masks = op.getMasks().size();
  if (masks > 1 && masks != values.size())
    return op.emitOpError() << "has " << masks << " masks for " << values.size()
                            << " elements; allowed are 0, 1 or one each";
  for (Value mask : op.getMasks())
    if (!getElementTypeOrSelf(mask.getType()).isInteger(1))
      return op.emitOpError() << "mask of type " << mask.getType();
  int64_t align = op.getAlign();
  if (align < 1 || !llvm::isPowerOf2_64(align))
    return op.emitOpError()
           << "align is " << align << "; it must be a power of two";
  return success();
}

LogicalResult LoadOp::verify() { return verifyAccess(*this, getResultTypes()); }

LogicalResult ReadOp::verify() {
  Type element = cast<BufferType>(getBuffer().getType()).getElementType();
  if (element != getType())
    return emitOpError() << "value of type " << getType()
                         << " from a buffer of " << element;
  return success();
}

LogicalResult StoreOp::verify() {
  return verifyAccess(*this, getValues().getTypes());
}

LogicalResult FaultOp::verify() {
  Type word = cast<BufferType>(getWord().getType()).getElementType();
  if (!word.isInteger(32))
    return emitOpError() << "word is a buffer of " << word << "; it is i32";
  if (!getElementTypeOrSelf(getMask().getType()).isInteger(1))
    return emitOpError() << "mask of type " << getMask().getType();
  return success();
}

void ExchangeOp::getEffects(
    SmallVectorImpl<MemoryEffects::EffectInstance> &effects) {
  // Lanes that meet must not be moved apart.
  if (getFar())
    effects.emplace_back(MemoryEffects::Write::get());
}

LogicalResult ExchangeOp::verify() {
  if (!llvm::isPowerOf2_64(getDistance()))
    return emitOpError() << "distance is " << getDistance()
                         << "; it must be a power of two";
  auto vector = dyn_cast<VectorType>(getValue().getType());
  if (vector && int64_t(getDistance()) >= vector.getDimSize(0))
    return emitOpError() << "distance " << getDistance() << " reaches beyond "
                         << vector.getDimSize(0) << " lanes";
  return success();
}

LogicalResult GatherOp::verify() {
  int64_t subgroup = getSubgroup();
  if (subgroup < 1 || !llvm::isPowerOf2_64(subgroup))
    return emitOpError() << "subgroup is " << subgroup
                         << "; it must be a power of two";
  for (Type type : getValues().getTypes())
    if (type != getValue().getType())
      return emitOpError() << "value of type " << type << " from a gather of "
                           << getValue().getType();
  auto vector = dyn_cast<VectorType>(getValue().getType());
  if (!vector)
    return success(); // one lane does not know how many there are
  int64_t lanes = vector.getDimSize(0);
  if (lanes != int64_t(getValues().size()) * subgroup)
    return emitOpError() << "gives " << getValues().size() << " values; "
                         << lanes << " lanes have " << lanes / subgroup
                         << " subgroups of " << subgroup;
  return success();
}

template <typename CellOp>
static LogicalResult verifyCell(CellOp op, Type type) {
  Type cell = cast<ScratchType>(op.getScratch().getType()).getCellType();
  if (cell != type)
    return op.emitOpError()
           << "cell of type " << cell << " read or written as " << type;
  return success();
}

LogicalResult PeekOp::verify() { return verifyCell(*this, getType()); }

LogicalResult PokeOp::verify() {
  return verifyCell(*this, getValue().getType());
}

/// Lanes of a value, 0 for one that has none.
static int64_t lanesOf(Type type) {
  auto vector = dyn_cast<VectorType>(type);
  return vector ? vector.getDimSize(0) : 0;
}

LogicalResult NarrowOp::verify() {
  Type source = getA().getType(), result = getResult().getType();
  if (lanesOf(source) != lanesOf(result))
    return emitOpError() << "from " << lanesOf(source) << " lanes to "
                         << lanesOf(result) << " lanes";
  auto from = cast<FloatType>(getElementTypeOrSelf(source));
  auto to = cast<FloatType>(getElementTypeOrSelf(result));
  if (from == to)
    return success();
  // f16 and bf16 have one width: a value passes between them through f32.
  if (from.getWidth() <= to.getWidth())
    return emitOpError() << "from " << from << " to " << to
                         << " does not narrow";
  return success();
}
