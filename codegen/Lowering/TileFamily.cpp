// TileFamily.cpp - which operators are products of matrices
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/Lowering/TilePlan.h"

#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace bitpact;
using namespace bitpact::lowering;

namespace {

template <typename... Args>
llvm::Error refusal(const char *format, Args &&...args) {
  return llvm::createStringError(
      llvm::formatv(format, std::forward<Args>(args)...).str());
}

SmallVector<std::string> dimsOf(Value value) {
  SmallVector<std::string> dims;
  for (StringAttr dim : cast<pact::RealType>(value.getType()).getDims())
    dims.push_back(dim.str());
  return dims;
}

/// What of a stack each row takes, which segments of the rows say.
pact::SegmentOp segmentOf(pact::TakeOp take) {
  return take.getIndex().getDefiningOp<pact::SegmentOp>();
}

/// The tensor of a product's operand: a matrix, or that of a stack which the
/// segment of a row has.
llvm::Expected<std::string> operandOf(pact::OperatorOp op, pact::ReduceOp dot,
                                      unsigned number, TileFamily &family) {
  Value arg = dot.getArgs()[number];
  auto take = arg.getDefiningOp<pact::TakeOp>();
  if (take)
    arg = take.getOperand();
  auto input = arg.getDefiningOp<pact::InputOp>();
  SmallVector<std::string> dims = dimsOf(arg);
  if (!input || dims.back() != dot.getOver() || dims.size() != (take ? 3 : 2))
    return refusal("operator {0}: node '{1}': operands must be matrices whose "
                   "rows lie along '{2}', or taken from stacks of these",
                   op.getSymName(), dot.getNode(), dot.getOver());
  if (!take)
    return input.getTensor().str();
  pact::SegmentOp segment = segmentOf(take);
  if (number == 0 || !segment || dims[0] != take.getOver())
    return refusal("operator {0}: node '{1}': tiles take the second operand "
                   "alone, by segment, from a stack over '{2}'",
                   op.getSymName(), dot.getNode(), take.getOver());
  auto offsets = segment.getOffsets().getDefiningOp<pact::InputOp>();
  TileFamily::Segments own{offsets.getTensor().str(),
                           dimsOf(segment.getOffsets()).front(), dims[0]};
  if (family.segments && (family.segments->offsets != own.offsets ||
                          family.segments->stackDim != own.stackDim))
    return refusal("operator {0}: node '{1}': is cut at {2}, others at {3}",
                   op.getSymName(), dot.getNode(), own.offsets,
                   family.segments->offsets);
  family.segments = own;
  return input.getTensor().str();
}

} // namespace

llvm::Expected<TileFamily> lowering::tileFamily(pact::OperatorOp op) {
  TileFamily family;
  for (Operation &each : op.getBody().front()) {
    if (auto reduce = dyn_cast<pact::ReduceOp>(each)) {
      if (reduce.getKind() != pact::ReduceKind::Dot)
        return refusal("operator {0}: node '{1}': tiles compute dots",
                       op.getSymName(), reduce.getNode());
      family.dots.push_back(reduce);
    } else if (auto output = dyn_cast<pact::OutputOp>(each)) {
      if (family.output)
        return refusal("operator {0}: has more than one output",
                       op.getSymName());
      family.output = output;
    } else if (isa<pact::ExtentOp, pact::IndexOp>(each) ||
               (isa<pact::TakeOp>(each) &&
                !segmentOf(cast<pact::TakeOp>(each)))) {
      return refusal("operator {0}: has {1}; tiles take a product and "
                     "operations on its elements",
                     op.getSymName(), each.getName().getStringRef());
    }
  }
  if (family.dots.empty() || !family.output)
    return refusal("operator {0}: is not the product of two matrices",
                   op.getSymName());
  for (pact::ReduceOp dot : family.dots) {
    std::string tensors[2];
    for (unsigned i = 0; i < 2; ++i) {
      llvm::Expected<std::string> tensor = operandOf(op, dot, i, family);
      if (!tensor)
        return tensor.takeError();
      tensors[i] = *tensor;
    }
    if (family.a.empty())
      family.a = tensors[0];
    if (family.a != tensors[0] || llvm::is_contained(family.b, tensors[1]))
      return refusal("operator {0}: node '{1}': is of {2} and {3}; tiles "
                     "multiply one tensor with others, each once",
                     op.getSymName(), dot.getNode(), tensors[0], tensors[1]);
    family.b.push_back(tensors[1]);
  }
  pact::ReduceOp first = family.dots.front();
  family.rowDim = dimsOf(first.getArgs()[0])[0];
  SmallVector<std::string> rightDims = dimsOf(first.getArgs()[1]);
  family.colDim = rightDims[rightDims.size() - 2];
  family.depthDim = first.getOver().str();
  SmallVector<std::string> resultDims = {family.rowDim, family.colDim};
  bool laidOut = dimsOf(family.output.getValue()) == resultDims;
  for (pact::ReduceOp dot : family.dots)
    laidOut = laidOut && dimsOf(dot.getResult()) == resultDims;
  if (!laidOut)
    return refusal("operator {0}: the result is not laid out as [{1}, {2}]",
                   op.getSymName(), family.rowDim, family.colDim);
  for (pact::InputOp input : op.getOps<pact::InputOp>()) {
    SmallVector<std::string> dims = dimsOf(input.getResult());
    bool isElementwise = llvm::any_of(input->getUsers(), [](Operation *user) {
      return !isa<pact::ReduceOp, pact::TakeOp, pact::SegmentOp>(user);
    });
    if (!isElementwise)
      continue;
    if (dims != resultDims && dims != ArrayRef(resultDims).take_front() &&
        dims != ArrayRef(resultDims).drop_front())
      return refusal("operator {0}: tensor '{1}': beside a product tiles take "
                     "tensors with dims [{2}, {3}], [{2}] or [{3}]",
                     op.getSymName(), input.getTensor(), family.rowDim,
                     family.colDim);
    family.others.push_back(input);
  }
  for (pact::TakeOp take : op.getOps<pact::TakeOp>())
    if (!llvm::all_of(take->getUsers(), llvm::IsaPred<pact::ReduceOp>))
      return refusal("operator {0}: what is taken over '{1}' is used beside "
                     "products",
                     op.getSymName(), take.getOver());
  if (family.segments)
    for (pact::ReduceOp dot : family.dots) {
      auto take = dot.getArgs()[1].getDefiningOp<pact::TakeOp>();
      if (!take || segmentOf(take).getOver() != family.rowDim)
        return refusal("operator {0}: node '{1}': segments of tiles are of "
                       "'{2}', for every product",
                       op.getSymName(), dot.getNode(), family.rowDim);
    }
  return family;
}
