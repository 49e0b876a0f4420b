// PactDialect.cpp - the Pact dialect and its one type
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dialects/Pact/Pact.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace bitpact::pact;

#include "dialects/Pact/PactDialect.cpp.inc"
#include "dialects/Pact/PactEnums.cpp.inc"

#define GET_TYPEDEF_CLASSES
#include "dialects/Pact/PactTypes.cpp.inc"

void PactDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "dialects/Pact/PactOps.cpp.inc"
      >();
  addTypes<
#define GET_TYPEDEF_LIST
#include "dialects/Pact/PactTypes.cpp.inc"
      >();
  registerAttributes();
}

//===----------------------------------------------------------------------===//
// !pact.real<["tokens", "hidden"]>
//===----------------------------------------------------------------------===//

Type RealType::parse(AsmParser &parser) {
  SMLoc loc = parser.getCurrentLocation();
  SmallVector<StringAttr> dims;
  auto parseDim = [&]() -> ParseResult {
    std::string name;
    if (failed(parser.parseString(&name)))
      return failure();
    dims.push_back(parser.getBuilder().getStringAttr(name));
    return success();
  };
  if (parser.parseLess() ||
      parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseDim) ||
      parser.parseGreater())
    return {};
  return getChecked([&] { return parser.emitError(loc); }, parser.getContext(),
                    dims);
}

void RealType::print(AsmPrinter &printer) const {
  printer << "<[";
  llvm::interleaveComma(getDims(), printer, [&](StringAttr dim) {
    printer.printAttributeWithoutType(dim);
  });
  printer << "]>";
}

LogicalResult RealType::verify(function_ref<InFlightDiagnostic()> emitError,
                               ArrayRef<StringAttr> dims) {
  for (auto [i, dim] : llvm::enumerate(dims))
    if (dim.empty() || llvm::is_contained(dims.take_front(i), dim))
      return emitError() << "dimension " << dim
                         << " is empty or stands twice; dimensions are "
                            "distinct names [F1]";
  return success();
}
