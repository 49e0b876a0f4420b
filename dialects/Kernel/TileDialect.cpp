//===- TileDialect.cpp - types and the schedule of tile kernels -*- C++ -*-===//
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "dialects/Kernel/Tiles.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace bitpact::tile;

/// `128x64xbf16`
static ParseResult parseShape(AsmParser &parser, int64_t &rows, int64_t &cols,
                              Type &elementType) {
  SmallVector<int64_t> dims;
  SMLoc at = parser.getCurrentLocation();
  if (parser.parseDimensionList(dims, /*allowDynamic=*/false) ||
      parser.parseType(elementType))
    return failure();
  if (dims.size() != 2)
    return parser.emitError(at)
           << "has " << dims.size() << " extents; a block has rows and columns";
  rows = dims[0];
  cols = dims[1];
  return success();
}

static void printShape(AsmPrinter &printer, int64_t rows, int64_t cols,
                       Type elementType) {
  printer << rows << 'x' << cols << 'x' << elementType;
}

/// The last field of all schedules, and what they may leave out: a cluster, and
/// panels.
static ParseResult parseScheduleTail(AsmParser &parser,
                                     int64_t &consumerRegisters,
                                     int64_t &cluster, int64_t &held,
                                     int64_t &panelRows, int64_t &panelCols,
                                     int64_t &lanes, int64_t &split) {
  if (parser.parseInteger(consumerRegisters))
    return failure();
  cluster = split = 1;
  held = panelRows = panelCols = lanes = 0;
  const std::pair<StringRef, int64_t *> fields[] = {{"cluster", &cluster},
                                                    {"held", &held},
                                                    {"panel_rows", &panelRows},
                                                    {"panel_cols", &panelCols},
                                                    {"lanes", &lanes},
                                                    {"split", &split}};
  while (succeeded(parser.parseOptionalComma())) {
    StringRef key;
    SMLoc at = parser.getCurrentLocation();
    if (parser.parseKeyword(&key))
      return failure();
    const auto *found =
        llvm::find_if(fields, [&](const auto &each) { return each.first == key; });
    if (found == std::end(fields))
      return parser.emitError(at) << "unknown key '" << key
                                  << "'; allowed are cluster, held, panel_rows, "
                                     "panel_cols, lanes and split";
    if (parser.parseEqual() || parser.parseInteger(*found->second))
      return failure();
  }
  return success();
}

static void printScheduleTail(AsmPrinter &printer, int64_t consumerRegisters,
                              int64_t cluster, int64_t held,
                              int64_t panelRows, int64_t panelCols,
                              int64_t lanes, int64_t split) {
  printer << consumerRegisters;
  if (cluster != 1)
    printer << ", cluster = " << cluster;
  if (held)
    printer << ", held = " << held;
  if (panelRows)
    printer << ", panel_rows = " << panelRows << ", panel_cols = " << panelCols
            << ", lanes = " << lanes;
  if (split != 1)
    printer << ", split = " << split;
}

#include "dialects/Kernel/TileDialect.cpp.inc"

#define GET_TYPEDEF_CLASSES
#include "dialects/Kernel/TileTypes.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "dialects/Kernel/TileAttrs.cpp.inc"

void TileDialect::initialize() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "dialects/Kernel/TileTypes.cpp.inc"
      >();
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialects/Kernel/TileAttrs.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "dialects/Kernel/TileOps.cpp.inc"
      >();
}

using Emit = llvm::function_ref<InFlightDiagnostic()>;

static LogicalResult verifyShape(Emit emitError, int64_t rows, int64_t cols,
                                 Type element) {
  if (rows < 1 || cols < 1)
    return emitError() << "extents are " << rows << " and " << cols
                       << "; they must be positive";
  if (!isa<FloatType>(element))
    return emitError() << "element type is " << element
                       << "; it must be a float";
  return success();
}

LogicalResult BlockType::verify(Emit emitError, int64_t rows, int64_t cols,
                                Type element) {
  return verifyShape(emitError, rows, cols, element);
}

LogicalResult PendingType::verify(Emit emitError, int64_t rows, int64_t cols,
                                  Type element) {
  return verifyShape(emitError, rows, cols, element);
}

LogicalResult ValuesType::verify(Emit emitError, int64_t rows, int64_t cols,
                                 Type element) {
  return verifyShape(emitError, rows, cols, element);
}

LogicalResult PipeType::verify(Emit emitError, int64_t stages,
                               ArrayRef<Type> blocks) {
  if (stages < 2)
    return emitError() << "has " << stages
                       << " stages; a producer that is ahead needs two";
  for (Type type : blocks)
    if (!isa<BlockType>(type))
      return emitError() << "holds " << type << "; stages hold !tile.block";
  return success();
}

LogicalResult ScheduleAttr::verify(Emit emitError, int64_t m, int64_t n,
                                   int64_t k, int64_t stages, int64_t consumers,
                                   int64_t group, StringRef copy,
                                   int64_t producerRegisters,
                                   int64_t consumerRegisters, int64_t cluster,
                                   int64_t held, int64_t panelRows, int64_t panelCols,
                                   int64_t lanes, int64_t split) {
  bool own = copy == "own";
  for (auto [name, value, least] :
       {std::tuple("m", m, 1),
        {"n", n, 1},
        {"k", k, 1},
        {"stages", stages, own ? 1 : 2},
        {"consumers", consumers, 1},
        {"group", group, 1},
        {"producer_registers", producerRegisters, 0},
        {"consumer_registers", consumerRegisters, 0},
        {"cluster", cluster, 1},
        {"held", held, 0},
        {"panel_rows", panelRows, own ? 1 : 0},
        {"panel_cols", panelCols, own ? 1 : 0},
        {"lanes", lanes, own ? 1 : 0},
        {"split", split, 1}})
    if (value < least)
      return emitError() << name << " is " << value << "; it must be at least "
                         << least;
  if (m % consumers)
    return emitError() << "m is " << m << "; " << consumers
                       << " consumers cannot share it evenly";
  if (consumers % cluster)
    return emitError() << "consumers is " << consumers << "; a cluster of "
                       << cluster << " cannot share them evenly";
  if (copy != "bulk" && copy != "plain" && copy != "async" &&
      copy != "registers" && !own)
    return emitError() << "copy is '" << copy
                       << "'; allowed are bulk, plain, async, registers and "
                          "own";
  if (split > 1 && copy != "bulk")
    return emitError() << "split is " << split << " with copy '" << copy
                       << "'; units that copy in bulk share a block";
  if (split > 1 && cluster > 1)
    return emitError() << "split is " << split << " and cluster " << cluster
                       << "; units share a block in one way";
  if (n % split)
    return emitError() << "n is " << n << "; " << split
                       << " units cannot share its columns evenly";
  if (!own)
    return success();
  if (stages != 1 || consumers != 1)
    return emitError() << "has " << stages << " stages and " << consumers
                       << " consumers; a program that packs its own blocks has "
                          "one of each";
  if (m % panelRows || n % panelCols || panelCols % lanes)
    return emitError() << "panels of " << panelRows << " by " << panelCols
                       << " in vectors of " << lanes << " do not divide " << m
                       << " by " << n;
  if (panelRows > lanes && panelRows % lanes)
    return emitError() << "panel_rows is " << panelRows
                       << "; above the lanes it must be a multiple of "
                       << lanes;
  return success();
}

std::string ScheduleAttr::text() const {
  if (packsOwn())
    return llvm::formatv("tiles m={0} n={1} k={2} panels={3}x{4} lanes={5}",
                         getM(), getN(), getK(), getPanelRows(), getPanelCols(),
                         getLanes());
  std::string text =
      llvm::formatv("tiles m={0} n={1} k={2} stages={3} consumers={4} "
                    "group={5} copy={6}",
                    getM(), getN(), getK(), getStages(), getConsumers(),
                    getGroup(), getCopy());
  if (getCluster() > 1)
    text += " cluster=" + std::to_string(getCluster());
  if (getHeld())
    text += " held=" + std::to_string(getHeld());
  if (isSplit())
    text += " split=" + std::to_string(getSplit());
  return text;
}
