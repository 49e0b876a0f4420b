// TreeCase.cpp - a launch on symbols, and what its contract declares of it
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/Interpreter/TreeCase.h"

#include "compiler/Interpreter/Steps.h"
#include "dialects/Pact/RowAxis.h"

using namespace mlir;
using namespace bitpact;
using namespace bitpact::interpreter;

TreeCase::TreeCase(pact::ContractOp contract, pact::OperatorOp op,
                   Launch launch, WholePrimitives whole)
    : whole(std::move(whole)), contract(contract), op(op),
      launch(std::move(launch)) {
  reduced = pact::rowAxis(op);
  findOffsets();
  for (pact::InputOp input : op.getOps<pact::InputOp>())
    addBuffer(input.getTensor(), input.getResult().getType(), false);
  for (pact::IndexOp index : op.getOps<pact::IndexOp>())
    addIndex(index);
  for (pact::OutputOp output : op.getOps<pact::OutputOp>())
    addBuffer(output.getTensor(),
              cast<pact::RealType>(output.getValue().getType()), true);
  fill();
  declared.emplace(contract, op, this->launch.extent, buffers, terms,
                   this->launch.offsets, this->whole, this->launch.leftOut);
}

int64_t TreeCase::sizeOf(StringAttr dim) const {
  return dim == reduced      ? launch.extent
         : dim == offsetsDim ? int64_t(launch.offsets.size())
                             : launch.rows;
}

void TreeCase::findOffsets() {
  for (pact::ReduceOp reduce : op.getOps<pact::ReduceOp>()) {
    auto node = cast<pact::NodeAttr>(contract.getNodes().get(reduce.getNode()));
    for (pact::InputOp input : op.getOps<pact::InputOp>())
      if (node.getOffsets() && input.getTensorAttr() == node.getOffsets() &&
          !input.getResult().getType().getDims().empty())
        offsetsDim = input.getResult().getType().getDims().front();
  }
  if (offsetsDim && launch.offsets.empty())
    launch.offsets = {0, launch.extent};
}

void TreeCase::addBuffer(StringRef tensor, pact::RealType type, bool isOutput) {
  Buffer &buffer = buffers[tensor.str()];
  buffer.name = tensor.str();
  buffer.type =
      *scalarOf(cast<TypeAttr>(contract.getTypes().get(tensor)).getValue());
  buffer.isOutput = isOutput;
  int64_t count = 1;
  for (StringAttr dim : type.getDims()) {
    if (dim == reduced && launch.leftOut.length) {
      buffer.reducedAxis = int(buffer.shape.size());
      buffer.leftOut = launch.leftOut;
    }
    buffer.shape.push_back(sizeOf(dim));
    count *= buffer.present(buffer.shape.size() - 1);
  }
  buffer.cells.resize(size_t(count));
}

void TreeCase::addIndex(pact::IndexOp index) {
  addBuffer(index.getTensor(), index.getResult().getType(), false);
  Buffer &buffer = buffers[index.getTensor().str()];
  const std::vector<int64_t> &indices = launch.indices;
  uint64_t mask = ~uint64_t(0) >> (64 - widthOf(buffer.type));
  for (auto [i, cell] : llvm::enumerate(buffer.cells)) {
    int64_t position =
        indices.empty() ? launch.extent - 1 : indices[i % indices.size()];
    cell = Cell::of(uint64_t(position) & mask);
  }
}

void TreeCase::fill() {
  int number = 0;
  for (auto &[name, buffer] : buffers) {
    terms.tensors.push_back(name);
    bool isIndex = llvm::any_of(op.getOps<pact::IndexOp>(),
                                [&, &tensor = name](pact::IndexOp index) {
                                  return index.getTensor() == tensor;
                                });
    bool isGiven = buffer.isOutput || isIndex;
    for (size_t i = 0; i < buffer.cells.size() && !isGiven; ++i)
      buffer.cells[i] =
          buffer.type == Scalar::I32 && offsetsDim
              ? Cell::of(uint32_t(launch.offsets[i]))
              : Cell::symbol(terms.element(number, int64_t(i), buffer.type));
    ++number;
  }
}

std::map<std::string, Buffer>
TreeCase::tensors(ArrayRef<kernel::FuncOp> steps) const {
  std::map<std::string, Buffer> result = buffers;
  for (auto &[name, buffer] : result)
    buffer.strides =
        paddedStrides(buffer.shape, buffer.type, alignmentOf(steps, name));
  return result;
}

std::map<std::string, int64_t> TreeCase::dims() const {
  std::map<std::string, int64_t> result;
  for (Attribute dim : pact::OperatorOp(op).getDims())
    result[cast<StringAttr>(dim).str()] = sizeOf(cast<StringAttr>(dim));
  return result;
}

LogicalResult TreeCase::forEachElement(
    const std::map<std::string, Buffer> &written,
    llvm::function_ref<LogicalResult(pact::OutputOp, int64_t, int64_t, TermId,
                                     TermId)>
        see) {
  for (pact::OutputOp output : op.getOps<pact::OutputOp>()) {
    const Buffer &buffer = written.at(output.getTensor().str());
    for (auto [i, cell] : llvm::enumerate(buffer.cells)) {
      int64_t rest = int64_t(i), row = 0, position = 0;
      auto dimsOf = cast<pact::RealType>(output.getValue().getType()).getDims();
      for (size_t axis = dimsOf.size(); axis-- > 0;) {
        int64_t index = rest % buffer.present(axis);
        rest /= buffer.present(axis);
        (dimsOf[axis] == reduced ? position : row) = index;
      }
      TermId expected = declared->output(output, row, position);
      if (failed(see(output, row, position, expected,
                     terms.termOf(cell, buffer.type))))
        return failure();
    }
  }
  return success();
}

bool TreeCase::hasOpenOrder() {
  return llvm::any_of(nodes(),
                      [](const NodeTerms &node) { return node.hasOpenOrder; });
}

bool TreeCase::isOnline() {
  return llvm::any_of(nodes(),
                      [](const NodeTerms &node) { return node.isOnline; });
}
