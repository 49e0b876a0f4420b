// PactAttributes.cpp - syntax of the attributes; the algebra parses their texts
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dialects/Pact/Pact.h"

#include "contracts/algebra/RuleError.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/Hashing.h"
#include "llvm/ADT/TypeSwitch.h"

// Equal texts are equal values, so the text is what the uniquer hashes.
namespace bitpact::algebra {
static llvm::hash_code hash_value(const Partition &partition) {
  return llvm::hash_value(partition.text());
}
static llvm::hash_code hash_value(const MergeOrder &order) {
  return llvm::hash_value(order.text());
}
} // namespace bitpact::algebra

using namespace mlir;
using namespace bitpact;
using namespace bitpact::pact;

#define GET_ATTRDEF_CLASSES
#include "dialects/Pact/PactAttributes.cpp.inc"

void PactDialect::registerAttributes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialects/Pact/PactAttributes.cpp.inc"
      >();
}

/// A breach of the algebra's rules becomes a diagnostic with the rule's ID.
static void emitRule(AsmParser &parser, SMLoc loc,
                     const algebra::RuleError &error) {
  parser.emitError(loc) << error.what();
}

//===----------------------------------------------------------------------===//
// "sweep:* lane:512 pack:8" and ["pack chain", ...]
//===----------------------------------------------------------------------===//

static PartitionAttr parsePartition(AsmParser &parser) {
  SMLoc loc = parser.getCurrentLocation();
  std::string text;
  if (failed(parser.parseString(&text)))
    return {};
  try {
    return PartitionAttr::get(parser.getContext(),
                              algebra::Partition::parse(text));
  } catch (const algebra::RuleError &error) {
    emitRule(parser, loc, error);
    return {};
  }
}

static void printText(AsmPrinter &printer, StringRef text) {
  printer << '"' << text << '"';
}

static MergeAttr parseMerge(AsmParser &parser) {
  SMLoc loc = parser.getCurrentLocation();
  std::vector<std::string> texts;
  auto parseEntry = [&] { return parser.parseString(&texts.emplace_back()); };
  if (failed(parser.parseCommaSeparatedList(AsmParser::Delimiter::Square,
                                            parseEntry)))
    return {};
  try {
    return MergeAttr::get(parser.getContext(),
                          algebra::MergeOrder::parse(texts));
  } catch (const algebra::RuleError &error) {
    emitRule(parser, loc, error);
    return {};
  }
}

static void printMerge(AsmPrinter &printer, MergeAttr merge) {
  printer << '[';
  llvm::interleaveComma(
      merge.getValue().texts(), printer,
      [&](const std::string &text) { printText(printer, text); });
  printer << ']';
}

Attribute PartitionAttr::parse(AsmParser &parser, Type) {
  PartitionAttr result;
  if (parser.parseLess() || !(result = parsePartition(parser)) ||
      parser.parseGreater())
    return {};
  return result;
}

void PartitionAttr::print(AsmPrinter &printer) const {
  printer << '<';
  printText(printer, getValue().text());
  printer << '>';
}

Attribute MergeAttr::parse(AsmParser &parser, Type) {
  MergeAttr result;
  if (parser.parseLess() || !(result = parseMerge(parser)) ||
      parser.parseGreater())
    return {};
  return result;
}

void MergeAttr::print(AsmPrinter &printer) const {
  printer << '<';
  printMerge(printer, *this);
  printer << '>';
}

//===----------------------------------------------------------------------===//
// #pact.node
//===----------------------------------------------------------------------===//

static StringAttr parseName(AsmParser &parser) {
  std::string text;
  if (failed(parser.parseString(&text)))
    return {};
  return parser.getBuilder().getStringAttr(text);
}

Attribute NodeAttr::parse(AsmParser &parser, Type) {
  StringAttr domain, product, offsets;
  PartitionAttr partition;
  MergeAttr merge;
  Type accumulator;
  StringRef word;
  algebra::State state = algebra::State::None;
  int64_t extent = 0, stored = 0;
  if (parser.parseLess() || parser.parseKeyword("domain") ||
      !(domain = parseName(parser)))
    return {};
  if (succeeded(parser.parseOptionalKeyword("extent")) &&
      (parser.parseInteger(extent) || parser.parseKeyword("stored") ||
       parser.parseInteger(stored)))
    return {};
  if (parser.parseKeyword("partition") ||
      !(partition = parsePartition(parser)) || parser.parseKeyword("merge") ||
      !(merge = parseMerge(parser)) || parser.parseKeyword("start"))
    return {};
  SMLoc loc = parser.getCurrentLocation();
  if (failed(parser.parseKeyword(&word)))
    return {};
  std::optional<algebra::Start> start = algebra::parseStart(word);
  if (!start) {
    parser.emitError(loc) << "start is " << word
                          << "; allowed are identity and first [C4]";
    return {};
  }
  if (succeeded(parser.parseOptionalKeyword("state"))) {
    loc = parser.getCurrentLocation();
    if (failed(parser.parseKeyword(&word)))
      return {};
    std::optional<algebra::State> given = algebra::parseState(word);
    if (!given) {
      parser.emitError(loc)
          << "state is " << word << "; allowed are two_pass and online [C4]";
      return {};
    }
    state = *given;
  }
  if (succeeded(parser.parseOptionalKeyword("product")) &&
      !(product = parseName(parser)))
    return {};
  if (parser.parseKeyword("accumulator") || parser.parseType(accumulator))
    return {};
  if (succeeded(parser.parseOptionalKeyword("offsets")) &&
      !(offsets = parseName(parser)))
    return {};
  if (failed(parser.parseGreater()))
    return {};
  return get(parser.getContext(), domain, partition, merge, *start, accumulator,
             product, offsets, state, extent, stored);
}

void NodeAttr::print(AsmPrinter &printer) const {
  printer << "<domain " << getDomain();
  if (getExtent() || getStored())
    printer << " extent " << getExtent() << " stored " << getStored();
  printer << " partition ";
  printText(printer, getPartition().getValue().text());
  printer << " merge ";
  printMerge(printer, getMerge());
  printer << " start " << algebra::name(getStart());
  if (getState() != algebra::State::None)
    printer << " state " << algebra::name(getState());
  if (getProduct())
    printer << " product " << getProduct();
  printer << " accumulator " << getAccumulator();
  if (getOffsets())
    printer << " offsets " << getOffsets();
  printer << '>';
}

//===----------------------------------------------------------------------===//
// #pact.rounding
//===----------------------------------------------------------------------===//

Attribute RoundingAttr::parse(AsmParser &parser, Type) {
  SMLoc loc = parser.getCurrentLocation();
  Type format;
  StringAttr mode;
  if (failed(parser.parseLess()))
    return {};
  if (failed(parser.parseOptionalKeyword("exact"))) {
    StringRef word;
    if (parser.parseType(format) || parser.parseKeyword(&word))
      return {};
    mode = parser.getBuilder().getStringAttr(word);
  }
  if (failed(parser.parseGreater()))
    return {};
  return getChecked([&] { return parser.emitError(loc); }, parser.getContext(),
                    format, mode);
}

void RoundingAttr::print(AsmPrinter &printer) const {
  if (isExact())
    printer << "<exact>";
  else
    printer << '<' << getFormat() << ' ' << getMode().getValue() << '>';
}

LogicalResult RoundingAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                   Type format, StringAttr mode) {
  if (!format)
    return success();
  if (!format.isF64() && !format.isF32() && !format.isF16() && !format.isBF16())
    return emitError() << "rounds to " << format
                       << "; allowed are f64, f32, f16 and bf16 [R4]";
  if (!mode || mode.getValue() != "rne")
    return emitError() << "rounding mode " << mode
                       << " is unknown; allowed is rne [R4]";
  return success();
}
