// RowMemory.cpp - addresses, masks and accesses of one kernel
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/Lowering/RowContext.h"

#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace bitpact;
using namespace bitpact::lowering;

std::map<std::string, pact::RealType>
lowering::tensorTypes(pact::OperatorOp op) {
  std::map<std::string, pact::RealType> types;
  for (pact::InputOp input : op.getOps<pact::InputOp>())
    types[input.getTensor().str()] = input.getResult().getType();
  for (pact::IndexOp index : op.getOps<pact::IndexOp>())
    types[index.getTensor().str()] = index.getResult().getType();
  for (pact::OutputOp output : op.getOps<pact::OutputOp>())
    types[output.getTensor().str()] =
        cast<pact::RealType>(output.getValue().getType());
  return types;
}

SmallVector<std::string> RowContext::dimsOf(StringRef tensor) {
  SmallVector<std::string> dims;
  for (StringAttr dim : tensorTypes(op).at(tensor.str()).getDims())
    dims.push_back(dim.str());
  return dims;
}

RowContext::Address RowContext::address(StringRef tensor,
                                        const Affine *position) {
  Affine uniform, varying;
  Address result;
  SmallVector<std::string> dims = dimsOf(tensor);
  for (auto [axis, dim] : llvm::enumerate(dims)) {
    const Affine &index = dim == family.reducedDim ? *position : row;
    if (axis + 1 == dims.size()) {
      for (auto [value, scale] : index.terms) {
        if (value == laneIndex)
          result.laneStride += scale;
        else
          (isa<VectorType>(value.getType()) ? varying : uniform)
              .addTerm(value, scale);
      }
      uniform.constant += index.constant;
      continue;
    }
    // Another axis than the last has a stride that only the caller knows.
    Value stride = func.slot((tensor + ":" + Twine(axis)).str());
    std::string key = llvm::formatv("row of {0}:{1}", tensor, axis);
    Affine uniformIndex;
    Value vary;
    for (auto [value, scale] : index.terms) {
      if (!isa<VectorType>(value.getType())) {
        uniformIndex.addTerm(value, scale);
        continue;
      }
      Value factor = splat(stride);
      if (scale != 1)
        factor = arith::MulIOp::create(
            builder, loc, factor,
            laneConstant(builder.getI64IntegerAttr(scale)));
      Affine one;
      one.addTerm(value, 1);
      std::string varyKey = llvm::formatv("{0} lanes {1} {2}", key,
                                          value.getAsOpaquePointer(), scale);
      vary = remembered(varyKey);
      if (!vary) {
        vary = arith::MulIOp::create(builder, loc, materialize(one), factor);
        remember(varyKey, vary);
      }
    }
    uniformIndex.constant = index.constant;
    Value at = materialize(uniformIndex);
    std::string atKey =
        llvm::formatv("{0} at {1}", key, at.getAsOpaquePointer());
    Value offset = remembered(atKey);
    if (!offset) {
      offset = arith::MulIOp::create(builder, loc, at, stride);
      remember(atKey, offset);
    }
    uniform.addTerm(offset, 1);
    if (vary)
      varying.addTerm(vary, 1);
  }
  if (!varying.terms.empty())
    result.laneOffsets = materialize(varying);
  result.uniform = materialize(uniform);
  return result;
}

int64_t RowContext::alignOf(StringRef tensor, Type element, int64_t pack) {
  int64_t bytes = element.getIntOrFloatBitWidth() / 8;
  int64_t known = std::min(schedule.getVectorBytes(), bytes * pack);
  if (known <= bytes)
    return bytes;
  int64_t &most = aligned[tensor.str()];
  most = std::max(most, known);
  return known;
}

bool RowContext::packs(StringRef tensor, const NodePlan &plan) {
  return plan.pack > 1 && dimsOf(tensor).back() == family.reducedDim;
}

Value RowContext::rowMask(StringRef tensor) {
  if (!rowsInRange)
    return {};
  return llvm::is_contained(dimsOf(tensor), family.rowDim) ? rowsInRange
                                                           : Value();
}

/// None, one, or one mask an instance.
SmallVector<Value> RowContext::masksFor(StringRef tensor, const NodePlan &plan,
                                        ArrayRef<Instance> instances) {
  Value rows = rowMask(tensor);
  SmallVector<Value> masks;
  bool masked = false;
  size_t count = plan.packPresentAsWhole ? 1 : instances.size();
  for (const Instance &instance : instances.take_front(count)) {
    Presence presence = present(plan, instance);
    Value mask = both(presence.mask, rows);
    if (presence.never())
      mask = laneConstant(builder.getBoolAttr(false));
    masked |= bool(mask);
    masks.push_back(mask);
  }
  if (!masked)
    return {};
  for (Value &mask : masks)
    if (!mask)
      mask = laneConstant(builder.getBoolAttr(true));
  if (llvm::all_equal(masks))
    masks.resize(1);
  return masks;
}

/// What a masked lane receives depends on the plan, so the plan is named.
std::string RowContext::keyOf(StringRef tensor, const NodePlan &plan,
                              const Affine &position) {
  std::string key = llvm::formatv("load {0} in {1}", tensor, plan.key);
  for (auto [value, scale] : position.terms)
    key += llvm::formatv(" {0}*{1}", value.getAsOpaquePointer(), scale);
  return key + llvm::formatv(" +{0}", position.constant).str();
}

void RowContext::provide(StringRef tensor, const NodePlan &plan,
                         const Instance &instance, Value value) {
  remember(keyOf(tensor, plan, position(plan, instance)), value);
}

Value RowContext::load(StringRef tensor, const NodePlan &plan,
                       const Instance &instance) {
  Affine at = position(plan, instance);
  if (hasColumns(tensor))
    return loadColumn(tensor, &at, keyOf(tensor, plan, at),
                      present(plan, instance).mask);
  if (Value known = remembered(keyOf(tensor, plan, at)))
    return known;
  int64_t pack = packs(tensor, plan) ? plan.pack : 1;
  int64_t first = at.constant - at.constant % pack;
  SmallVector<Instance> group;
  for (int64_t j = 0; j < pack; ++j) {
    group.push_back(instance);
    group.back().digits.back().constant += first + j - at.constant;
  }
  Affine start = at;
  start.constant = first;
  Type element = cast<TypeAttr>(contract.getTypes().get(tensor)).getValue();
  SmallVector<Value> masks = masksFor(tensor, plan, group);
  Address where = address(tensor, &start);
  auto load = kernel::LoadOp::create(
      builder, loc, SmallVector<Type>(pack, laneType(element)),
      func.slot(tensor), where.uniform, where.laneOffsets, masks,
      where.laneStride, alignOf(tensor, element, pack));
  for (int64_t j = 0; j < pack; ++j) {
    Affine one = at;
    one.constant = first + j;
    remember(keyOf(tensor, plan, one), load.getValues()[j]);
  }
  return load.getValues()[at.constant - first];
}

Value RowContext::loadIndex(StringRef tensor) {
  Value index = loadRow(tensor);
  if (!getElementTypeOrSelf(index.getType()).isInteger(64))
    index = arith::ExtSIOp::create(builder, loc, laneType(builder.getI64Type()),
                                   index);
  if (Value rows = rowMask(tensor))
    index = arith::SelectOp::create(
        builder, loc, rows, index, laneConstant(builder.getI64IntegerAttr(-1)));
  return index;
}

void RowContext::fault(Value mask) {
  if (rowsInRange)
    mask = both(mask, rowsInRange);
  kernel::FaultOp::create(builder, loc, func.slot(kernel::FuncOp::kFaultSlot),
                          mask);
}

void RowContext::prefetchNextRow(StringRef tensor, const NodePlan &plan,
                                 const Instance &instance) {
  SmallVector<std::string> dims = dimsOf(tensor);
  if (dims.size() != 2 || dims[0] != family.rowDim ||
      dims[1] != family.reducedDim)
    return;
  Affine at = position(plan, instance);
  Value offset =
      arith::AddIOp::create(builder, loc, address(tensor, &at).uniform,
                            func.slot((tensor + ":0").str()));
  kernel::PrefetchOp::create(builder, loc, func.slot(tensor), offset);
}

Value RowContext::loadRow(StringRef tensor) {
  std::string key = llvm::formatv("load {0}", tensor);
  if (hasColumns(tensor))
    return loadColumn(tensor, nullptr, key, Value());
  if (Value known = remembered(key))
    return known;
  Type element = cast<TypeAttr>(contract.getTypes().get(tensor)).getValue();
  Address where = address(tensor, nullptr);
  SmallVector<Value> masks;
  if (Value mask = rowMask(tensor))
    masks.push_back(mask);
  auto load = kernel::LoadOp::create(builder, loc, TypeRange{laneType(element)},
                                     func.slot(tensor), where.uniform,
                                     where.laneOffsets, masks, where.laneStride,
                                     alignOf(tensor, element, 1));
  remember(key, load.getValues()[0]);
  return load.getValues()[0];
}

void RowContext::store(StringRef tensor, const NodePlan &plan,
                       ArrayRef<Instance> instances, ValueRange values) {
  Affine start = position(plan, instances.front());
  Address where = address(tensor, &start);
  Type element = getElementTypeOrSelf(values.front().getType());
  kernel::StoreOp::create(builder, loc, values, func.slot(tensor),
                          where.uniform, where.laneOffsets,
                          masksFor(tensor, plan, instances), where.laneStride,
                          alignOf(tensor, element, values.size()));
}

void RowContext::storeRow(StringRef tensor, Value value) {
  Address where = address(tensor, nullptr);
  SmallVector<Value> masks;
  if (Value mask = rowMask(tensor)) {
    masks.push_back(mask);
  } else {
    // Every lane holds the value of the row; one of them writes it.
    masks.push_back(
        arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, laneIndex,
                              laneConstant(builder.getI64IntegerAttr(0))));
  }
  Type element = getElementTypeOrSelf(value.getType());
  kernel::StoreOp::create(builder, loc, ValueRange{value}, func.slot(tensor),
                          where.uniform, where.laneOffsets, masks,
                          where.laneStride, alignOf(tensor, element, 1));
}
