// DefinitionOps.cpp - rules F8 to F10: what a primitive or an atom may be
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dialects/Pact/RuleChecker.h"

#include "contracts/algebra/RuleError.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"
#include "mlir/Interfaces/FunctionImplementation.h"

using namespace mlir;
using namespace bitpact::pact;
namespace algebra = bitpact::algebra;

/// P1 speaks of these; a primitive computes in them.
static bool isFloatFormat(Type type) {
  return type.isBF16() || type.isF16() || type.isF32() || type.isF64();
}

//===----------------------------------------------------------------------===//
// pact.primitive
//===----------------------------------------------------------------------===//

ParseResult PrimitiveOp::parse(OpAsmParser &parser, OperationState &result) {
  Builder &builder = parser.getBuilder();
  StringAttr name, product;
  if (parser.parseSymbolName(name, getSymNameAttrName(result.name),
                             result.attributes))
    return failure();

  SMLoc loc = parser.getCurrentLocation();
  StringRef word;
  if (parser.parseKeyword(&word))
    return failure();
  std::optional<PrimitiveKind> kind = symbolizePrimitiveKind(word);
  if (!kind)
    return parser.emitError(loc) << "expected function or step, not " << word;
  result.addAttribute(getKindAttrName(result.name),
                      PrimitiveKindAttr::get(builder.getContext(), *kind));
  if (*kind == PrimitiveKind::Step) {
    loc = parser.getCurrentLocation();
    if (parser.parseKeyword(&word))
      return failure();
    std::optional<ReduceKind> reduction = symbolizeReduceKind(word);
    if (!reduction || *reduction == ReduceKind::ExpSum)
      return parser.emitError(loc) << "expected sum, dot or max, not " << word;
    result.addAttribute(getReductionAttrName(result.name),
                        ReduceKindAttr::get(builder.getContext(), *reduction));
  }
  if (succeeded(parser.parseOptionalKeyword("product")) &&
      parser.parseAttribute(product, getProductAttrName(result.name),
                            result.attributes))
    return failure();

  SmallVector<OpAsmParser::Argument> arguments;
  SmallVector<Type> results;
  if (parser.parseArgumentList(arguments, OpAsmParser::Delimiter::Paren,
                               /*allowType=*/true) ||
      parser.parseArrowTypeList(results))
    return failure();
  SmallVector<Type> types;
  for (const OpAsmParser::Argument &argument : arguments)
    types.push_back(argument.type);
  result.addAttribute(getFunctionTypeAttrName(result.name),
                      TypeAttr::get(builder.getFunctionType(types, results)));
  return failure(parser.parseOptionalAttrDictWithKeyword(result.attributes) ||
                 parser.parseRegion(*result.addRegion(), arguments));
}

void PrimitiveOp::print(OpAsmPrinter &printer) {
  printer << ' ';
  printer.printSymbolName(getSymName());
  printer << ' ' << stringifyPrimitiveKind(getKind());
  if (getReduction())
    printer << ' ' << stringifyReduceKind(*getReduction());
  if (getProductAttr())
    printer << " product " << getProductAttr();
  printer << " (";
  llvm::interleaveComma(
      getBody().getArguments(), printer,
      [&](BlockArgument argument) { printer.printRegionArgument(argument); });
  printer << ") -> ";
  llvm::interleaveComma(getFunctionType().getResults(), printer);
  printer.printOptionalAttrDictWithKeyword(
      (*this)->getAttrs(),
      {getSymNameAttrName(), getKindAttrName(), getReductionAttrName(),
       getProductAttrName(), getFunctionTypeAttrName()});
  printer << ' ';
  printer.printRegion(getBody(), /*printEntryBlockArgs=*/false);
}

LogicalResult PrimitiveOp::verify() {
  FunctionType type = getFunctionType();
  if (type.getNumResults() != 1)
    return emitOpError() << "has " << type.getNumResults()
                         << " results; a primitive has one [F9]";
  for (Type each :
       llvm::concat<const Type>(type.getInputs(), type.getResults()))
    if (!isFloatFormat(each))
      return emitOpError() << "has an argument or result of type " << each
                           << "; allowed are f64, f32, f16 and bf16 [F9]";
  if (getKind() == PrimitiveKind::Function) {
    if (getReduction() || getProduct())
      return emitOpError("is a function, which has neither reduction nor "
                         "product [F9]");
    return success();
  }
  if (!getReduction())
    return emitOpError("is a step and names no reduction [F9]");
  if (*getReduction() == ReduceKind::ExpSum)
    return emitOpError("is a step of exp_sum, which adds weights with a step "
                       "of sum [F9]");
  bool isDot = *getReduction() == ReduceKind::Dot;
  size_t expected = isDot ? 3 : 2;
  if (type.getNumInputs() != expected)
    return emitOpError() << "is a step of "
                         << stringifyReduceKind(*getReduction())
                         << " and takes " << expected << " arguments, not "
                         << type.getNumInputs() << " [F9]";
  if (type.getInputs().back() != type.getResult(0))
    return emitOpError() << "takes an accumulator of type "
                         << type.getInputs().back() << " and returns "
                         << type.getResult(0) << " [F9]";
  if (isDot != getProduct().has_value())
    return emitOpError(isDot ? "is a dot step and does not say whether its "
                               "product is exact [F9]"
                             : "has no product to round [F9]");
  if (isDot && *getProduct() != "exact" && *getProduct() != "f64" &&
      *getProduct() != "f32" && *getProduct() != "f16" &&
      *getProduct() != "bf16")
    return emitOpError() << "has product " << getProductAttr()
                         << "; allowed are \"exact\", \"f64\", \"f32\", "
                            "\"f16\" and \"bf16\" [F9]";
  return success();
}

/// F8: operations whose result is defined on every value of their operands.
static bool isExactlyDefined(Operation *op) {
  return isa<FmaOp, SqrtOp, YieldOp, arith::ConstantOp, arith::AddFOp,
             arith::SubFOp, arith::MulFOp, arith::DivFOp, arith::MaximumFOp,
             arith::MinimumFOp, arith::NegFOp, arith::CmpFOp, arith::SelectOp,
             arith::ExtFOp, arith::TruncFOp, arith::SIToFPOp, arith::ExtSIOp,
             arith::TruncIOp, arith::BitcastOp, arith::AddIOp, arith::SubIOp,
             arith::AndIOp, arith::OrIOp, arith::XOrIOp, arith::ShLIOp,
             arith::ShRSIOp, arith::ShRUIOp, arith::CmpIOp>(op);
}

/// F8: what an attribute or an operand may leave open, or "".
static StringRef whatIsOpen(Operation *op) {
  if (auto fast = dyn_cast<arith::ArithFastMathInterface>(op))
    if (fast.getFastMathFlagsAttr() &&
        fast.getFastMathFlagsAttr().getValue() != arith::FastMathFlags::none)
      return "carries fast-math flags, which would leave its bits open";
  if (auto wrap = dyn_cast<arith::ArithIntegerOverflowFlagsInterface>(op))
    if (wrap.hasNoSignedWrap() || wrap.hasNoUnsignedWrap())
      return "carries overflow flags, which would leave its bits open";
  if (op->hasAttr("isExact"))
    return "is marked exact, which would leave its bits open";
  if (auto rounding = dyn_cast<arith::ArithRoundingModeInterface>(op))
    if (rounding.getRoundingModeAttr())
      return "names a rounding mode; every rounding is to nearest even";
  if (isa<arith::ShLIOp, arith::ShRSIOp, arith::ShRUIOp>(op)) {
    auto amount = op->getOperand(1).getDefiningOp<arith::ConstantOp>();
    auto value =
        amount ? dyn_cast<IntegerAttr>(amount.getValue()) : IntegerAttr();
    if (!value || value.getValue().uge(value.getValue().getBitWidth()))
      return "shifts by something else than a constant below the width";
  }
  return "";
}

LogicalResult PrimitiveOp::verifyRegions() {
  Block &block = getBody().front();
  if (block.empty())
    return emitOpError("has an empty body [F9]");
  if (block.getArgumentTypes() != getFunctionType().getInputs())
    return emitOpError("has a body whose arguments differ from its type [F9]");
  for (Operation &op : block) {
    if (!isExactlyDefined(&op))
      return op.emitOpError("is not an exactly defined operation; a primitive "
                            "holds pact.fma, pact.sqrt and IEEE or integer "
                            "arith operations [F8]");
    if (StringRef open = whatIsOpen(&op); !open.empty())
      return op.emitOpError() << open << " [F8]";
    if (auto constant = dyn_cast<arith::ConstantOp>(op))
      if (!isa<FloatAttr, IntegerAttr>(constant.getValue()))
        return op.emitOpError("is not a scalar constant [F8]");
    for (Type type : op.getResultTypes())
      if (!isFloatFormat(type) && !type.isSignlessInteger(1) &&
          !type.isSignlessInteger(16) && !type.isSignlessInteger(32) &&
          !type.isSignlessInteger(64))
        return op.emitOpError() << "has a result of type " << type
                                << "; allowed are f64, f32, f16, bf16, i64, "
                                   "i32, i16 and i1 [F8]";
  }
  auto yield = dyn_cast<YieldOp>(block.back());
  if (!yield)
    return emitOpError("does not end in pact.yield [F9]");
  if (yield.getValue().getType() != getFunctionType().getResult(0))
    return yield.emitOpError() << "yields " << yield.getValue().getType()
                               << " where the primitive returns "
                               << getFunctionType().getResult(0) << " [F9]";
  return success();
}

//===----------------------------------------------------------------------===//
// pact.atom
//===----------------------------------------------------------------------===//

std::string bitpact::pact::arithmeticOf(AtomOp op) {
  algebra::Atom atom;
  atom.family = op.getAtom().str();
  atom.terms = op.getL();
  atom.fraction = op.getF();
  return atom.text();
}

LogicalResult AtomOp::verify() {
  FunctionType type = getFunctionType();
  if (getReduction() != ReduceKind::Dot || getProduct() != "exact")
    return emitOpError("is a fused step: its reduction is dot and its product "
                       "exact [F10]");
  if (type.getNumInputs() != 3 || type.getNumResults() != 1 ||
      type.getInput(2) != type.getResult(0) ||
      !llvm::all_of(type.getInputs(), isFloatFormat))
    return emitOpError() << "has type " << type
                         << "; a fused step takes two terms and the "
                            "accumulator and returns the accumulator [F10]";
  if (getL() == 0 || getL() > 64 || getF() == 0 || getF() > 64)
    return emitOpError() << "has L " << getL() << " and F " << getF()
                         << "; both lie in 1 ... 64 [F10]";
  try {
    algebra::Atom known = algebra::Atom::parse(arithmeticOf(*this));
    if (known.terms != int64_t(getL()) || known.fraction != int64_t(getF()))
      return emitOpError() << "has L " << getL() << " and F " << getF()
                           << ", and '" << known.family << "' has L "
                           << known.terms << " and F " << known.fraction
                           << " [F10]";
  } catch (const algebra::RuleError &error) {
    return emitOpError() << "has a model that there is not: " << error.what();
  }
  return success();
}
