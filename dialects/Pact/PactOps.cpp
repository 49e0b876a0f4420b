// PactOps.cpp - generated op classes, and the syntax of a contract's dims
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dialects/Pact/Pact.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"

using namespace mlir;
using namespace bitpact::pact;

/// dims {tokens = ?, hidden = 4096}
static ParseResult parseDims(OpAsmParser &parser, DictionaryAttr &dims) {
  Builder &builder = parser.getBuilder();
  NamedAttrList entries;
  auto parseEntry = [&]() -> ParseResult {
    std::string name;
    SMLoc loc = parser.getCurrentLocation();
    if (parser.parseKeywordOrString(&name) || parser.parseEqual())
      return failure();
    if (entries.get(name))
      return parser.emitError(loc) << "dim " << name << " stands twice";
    int64_t extent = ShapedType::kDynamic;
    if (failed(parser.parseOptionalQuestion()) &&
        failed(parser.parseInteger(extent)))
      return failure();
    entries.append(name, builder.getI64IntegerAttr(extent));
    return success();
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Braces, parseEntry))
    return failure();
  dims = entries.getDictionary(builder.getContext());
  return success();
}

static void printDims(OpAsmPrinter &printer, Operation *, DictionaryAttr dims) {
  printer << '{';
  llvm::interleaveComma(dims, printer, [&](NamedAttribute entry) {
    printer.printKeywordOrString(entry.getName());
    printer << " = ";
    auto extent = dyn_cast<IntegerAttr>(entry.getValue());
    if (!extent)
      printer << entry.getValue();
    else if (ShapedType::isDynamic(extent.getInt()))
      printer << '?';
    else
      printer << extent.getInt();
  });
  printer << '}';
}

#define GET_OP_CLASSES
#include "dialects/Pact/PactOps.cpp.inc"
