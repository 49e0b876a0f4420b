// OperatorOps.cpp - rules F1 to F7, F11, S1: what an operator may say
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dialects/Pact/Pact.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/Regex.h"

using namespace mlir;
using namespace bitpact;
using namespace bitpact::pact;

static RealType real(Value value) { return cast<RealType>(value.getType()); }

/// The dimensions of the enclosing operator, in order.
static SmallVector<StringAttr> operatorDims(Operation *op) {
  auto parent = op->getParentOfType<OperatorOp>();
  return llvm::to_vector(parent.getDims().getAsRange<StringAttr>());
}

static std::string listNames(ArrayRef<StringAttr> names) {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << "[";
  llvm::interleaveComma(names, os, [&](StringAttr name) { os << name; });
  os << "]";
  return text;
}

/// F2: a real's dimensions are a subsequence of the operator's.
static LogicalResult verifyOrdered(Operation *op, RealType type) {
  SmallVector<StringAttr> all = operatorDims(op);
  StringAttr *next = all.begin();
  for (StringAttr dim : type.getDims()) {
    StringAttr *found = std::find(next, all.end(), dim);
    if (found == all.end())
      return op->emitOpError()
             << "dimension " << dim << " of " << type
             << (llvm::is_contained(all, dim) ? " is out of order"
                                              : " is unknown")
             << "; the operator's dims are " << listNames(all) << " [F2]";
    next = found + 1;
  }
  return success();
}

/// F3: the result has exactly the given dimensions, in the operator's order.
static LogicalResult verifyResult(Operation *op, ArrayRef<StringAttr> dims) {
  RealType type = real(op->getResult(0));
  if (failed(verifyOrdered(op, type)))
    return failure();
  if (type.getDims() != dims)
    return op->emitOpError()
           << "result has dims " << listNames(type.getDims())
           << " but its operands give " << listNames(dims) << " [F3]";
  return success();
}

/// The union of the operands' dimensions, without one of them.
static SmallVector<StringAttr> unionDims(Operation *op,
                                         StringRef without = "") {
  SmallVector<StringAttr> dims;
  for (StringAttr dim : operatorDims(op))
    if (dim.getValue() != without &&
        llvm::any_of(op->getOperands(), [&](Value value) {
          return llvm::is_contained(real(value).getDims(), dim);
        }))
      dims.push_back(dim);
  return dims;
}

/// F11: positions are read by takes alone.
static bool isIndexOnly(Value positions) {
  return llvm::all_of(positions.getUsers(), [&](Operation *user) {
    auto take = dyn_cast<TakeOp>(user);
    return take && take.getOperand() != positions;
  });
}

LogicalResult InputOp::verify() {
  return verifyOrdered(*this, getResult().getType());
}
LogicalResult IndexOp::verify() {
  if (!isIndexOnly(getResult()))
    return emitOpError() << "index " << getTensorAttr()
                         << " is used by something other than the position "
                            "of a pact.take [F11]";
  return verifyOrdered(*this, getResult().getType());
}

LogicalResult SegmentOp::verify() {
  auto input = getOffsets().getDefiningOp<InputOp>();
  if (!input)
    return emitOpError("has offsets that are no pact.input [F11]");
  ArrayRef<StringAttr> dims = real(getOffsets()).getDims();
  if (dims.size() != 1 || dims[0] == getOverAttr())
    return emitOpError() << "has the offsets " << input.getTensorAttr()
                         << " with dims " << listNames(dims)
                         << "; offsets have one dim, which is not "
                         << getOverAttr() << " [F11]";
  for (Operation *user : getOffsets().getUsers())
    if (!isa<SegmentOp>(user))
      return emitOpError() << "has the offsets " << input.getTensorAttr()
                           << ", which something other than a pact.segment "
                              "reads [F11]";
  if (!isIndexOnly(getResult()))
    return emitOpError("is used by something other than the position of a "
                       "pact.take [F11]");
  if (!llvm::is_contained(operatorDims(*this), getOverAttr()))
    return emitOpError() << "dimension " << getOverAttr()
                         << " is unknown; the operator's dims are "
                         << listNames(operatorDims(*this)) << " [F2]";
  return verifyResult(*this, getOverAttr());
}
LogicalResult ParamOp::verify() { return verifyResult(*this, {}); }

LogicalResult ExtentOp::verify() {
  SmallVector<StringAttr> dims = operatorDims(*this);
  if (!llvm::is_contained(dims, getDimAttr()))
    return emitOpError() << "dimension " << getDimAttr()
                         << " is unknown; the operator's dims are "
                         << listNames(dims) << " [F2]";
  return verifyResult(*this, {});
}

LogicalResult ConstantOp::verify() {
  static const llvm::Regex decimal(
      "^[+-]?([0-9]+\\.?[0-9]*|\\.[0-9]+)([eE][+-]?[0-9]{1,6})?$");
  if (!decimal.match(getValue()))
    return emitOpError() << "value " << getValueAttr()
                         << " is not a decimal number [F7]";
  return verifyResult(*this, {});
}

LogicalResult AddOp::verify() { return verifyResult(*this, unionDims(*this)); }
LogicalResult SubOp::verify() { return verifyResult(*this, unionDims(*this)); }
LogicalResult MulOp::verify() { return verifyResult(*this, unionDims(*this)); }
LogicalResult DivOp::verify() { return verifyResult(*this, unionDims(*this)); }
LogicalResult MaxOp::verify() { return verifyResult(*this, unionDims(*this)); }
LogicalResult NegOp::verify() { return verifyResult(*this, unionDims(*this)); }
LogicalResult AbsOp::verify() { return verifyResult(*this, unionDims(*this)); }
LogicalResult ApplyOp::verify() {
  return verifyResult(*this, unionDims(*this));
}

LogicalResult TakeOp::verify() {
  if (!isa_and_nonnull<IndexOp, SegmentOp>(getIndex().getDefiningOp()))
    return emitOpError("takes at something that is no pact.index and no "
                       "pact.segment [F11]");
  if (!llvm::is_contained(real(getOperand()).getDims(), getOverAttr()))
    return emitOpError() << "takes over " << getOverAttr()
                         << ", which its operand does not have; its dims are "
                         << listNames(real(getOperand()).getDims()) << " [F11]";
  if (llvm::is_contained(real(getIndex()).getDims(), getOverAttr()))
    return emitOpError() << "takes over " << getOverAttr()
                         << ", which its index has too [F11]";
  return verifyResult(*this, unionDims(*this, getOver()));
}

/// S1: the second operand of a state is the maximum of the first.
static LogicalResult verifyMaximum(ReduceOp op) {
  auto max = op.getArgs()[1].getDefiningOp<ReduceOp>();
  if (!max || max.getKind() != ReduceKind::Max ||
      max.getOver() != op.getOver() || max.getArgs()[0] != op.getArgs()[0])
    return op.emitOpError()
           << "kind exp_sum takes as its second operand the max over "
           << op.getOverAttr() << " of its first [S1]";
  if (max.getSite())
    return op.emitOpError() << "kind exp_sum takes the exact max, and site "
                            << max.getSiteAttr() << " may round it [S1]";
  return success();
}

LogicalResult ReduceOp::verify() {
  bool isState = getKind() == ReduceKind::ExpSum;
  size_t expected = isState || getKind() == ReduceKind::Dot ? 2 : 1;
  if (getArgs().size() != expected)
    return emitOpError() << "kind " << stringifyReduceKind(getKind())
                         << " takes " << expected << " operand"
                         << (expected > 1 ? "s" : "") << ", not "
                         << getArgs().size() << " [F5]";
  if (isState && failed(verifyMaximum(*this)))
    return failure();
  for (Value arg : getArgs().take_front(isState ? 1 : expected))
    if (!llvm::is_contained(real(arg).getDims(), getOverAttr()))
      return emitOpError() << "reduces over " << getOverAttr()
                           << ", which an operand does not have; its dims are "
                           << listNames(real(arg).getDims()) << " [F5]";
  return verifyResult(*this, unionDims(*this, getOver()));
}

SmallVector<std::string> pact::primitiveSites(ReduceOp reduce) {
  std::string node = reduce.getNode().str();
  if (reduce.getKind() != ReduceKind::ExpSum)
    return {node + ".step"};
  return {node + ".step", node + ".weight", node + ".rescale",
          node + ".combine"};
}

LogicalResult OutputOp::verify() {
  return verifyOrdered(*this, getValue().getType());
}

//===----------------------------------------------------------------------===//
// pact.operator
//===----------------------------------------------------------------------===//

LogicalResult OperatorOp::verify() {
  auto dims = llvm::to_vector(getDims().getAsRange<StringAttr>());
  for (auto [i, dim] : llvm::enumerate(dims))
    if (dim.empty() || llvm::is_contained(ArrayRef(dims).take_front(i), dim))
      return emitOpError() << "dimension " << dim
                           << " is empty or stands twice; dimensions are "
                              "distinct names [F1]";
  return success();
}

/// F4: within one kind of name, every name is given once.
static LogicalResult
claim(Operation *op, StringRef what, StringRef name,
      std::map<std::pair<std::string, std::string>, Operation *> &taken) {
  auto [it, fresh] = taken.insert({{what.str(), name.str()}, op});
  if (fresh && !name.empty())
    return success();
  InFlightDiagnostic diag = op->emitOpError()
                            << what << " \"" << name
                            << "\" is empty or named twice [F4]";
  if (!fresh)
    diag.attachNote(it->second->getLoc()) << "first here";
  return diag;
}

LogicalResult OperatorOp::verifyRegions() {
  std::map<std::pair<std::string, std::string>, Operation *> taken;
  bool hasOutput = false;
  for (Operation &op : getBody().front()) {
    bool known = isa<InputOp, IndexOp, SegmentOp, ParamOp, ExtentOp, ConstantOp,
                     AddOp, SubOp, MulOp, DivOp, MaxOp, NegOp, AbsOp, ApplyOp,
                     ReduceOp, TakeOp, OutputOp>(op);
    if (!known)
      return op.emitOpError("is no operation on real values [F6]");
    hasOutput |= isa<OutputOp>(op);
    // An input may serve as offsets alone; contracts are checked for that.
    if (op.getNumResults() == 1 && op.getResult(0).use_empty() &&
        !isa<InputOp>(op))
      return op.emitOpError("has a result that nothing uses [F6]");

    LogicalResult named =
        TypeSwitch<Operation *, LogicalResult>(&op)
            .Case([&](InputOp op) {
              return claim(op, "tensor", op.getTensor(), taken);
            })
            .Case([&](IndexOp op) {
              return claim(op, "tensor", op.getTensor(), taken);
            })
            .Case([&](ParamOp op) {
              return claim(op, "param", op.getParam(), taken);
            })
            .Case([&](ReduceOp op) {
              bool ok = succeeded(claim(op, "node", op.getNode(), taken));
              for (const std::string &site : primitiveSites(op))
                ok = ok && succeeded(claim(op, "site", site, taken));
              // A node and a site each name a value in reports.
              if (std::optional<StringRef> site = op.getSite())
                ok = ok && succeeded(claim(op, "site", *site, taken)) &&
                     succeeded(claim(op, "node", *site, taken));
              return success(ok);
            })
            .Case([&](ApplyOp op) {
              bool ok = succeeded(claim(op, "site", op.getSite(), taken));
              if (std::optional<StringRef> site = op.getRounded())
                ok = ok && succeeded(claim(op, "site", *site, taken));
              return success(ok);
            })
            .Case([&](OutputOp op) {
              return success(
                  succeeded(claim(op, "tensor", op.getTensor(), taken)) &&
                  succeeded(claim(op, "site", op.getSiteName(), taken)));
            })
            .Default([&](Operation *op) {
              auto site = op->getAttrOfType<StringAttr>("site");
              return site ? claim(op, "site", site, taken) : success();
            });
    if (failed(named))
      return failure();
  }
  if (!hasOutput)
    return emitOpError("has no output [F6]");
  return success();
}
