// RowContext.cpp - positions, presence and loops of one kernel
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/Lowering/RowContext.h"

#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace bitpact;
using namespace bitpact::lowering;

void Affine::addTerm(Value value, int64_t scale) {
  if (scale == 0)
    return;
  for (auto &[term, factor] : terms)
    if (term == value) {
      factor += scale;
      return;
    }
  terms.push_back({value, scale});
}

void Affine::add(const Affine &other, int64_t scale) {
  constant += other.constant * scale;
  for (auto [value, factor] : other.terms)
    addTerm(value, factor * scale);
}

Instance Instance::at(const SubDigit &sub, int64_t value) const {
  Instance result = *this;
  result.digits[sub.digit].constant += value * sub.weight;
  result.slot.constant += value * sub.slotStride;
  return result;
}

Instance Instance::at(const SubDigit &sub, Value value) const {
  Instance result = *this;
  result.digits[sub.digit].addTerm(value, sub.weight);
  result.slot.addTerm(value, sub.slotStride);
  return result;
}

RowContext::RowContext(OpBuilder &builder, Location loc, kernel::FuncOp func,
                       pact::ContractOp contract, pact::OperatorOp op,
                       const RowFamily &family, kernel::ScheduleAttr schedule)
    : builder(builder), loc(loc), contract(contract), op(op), family(family),
      schedule(schedule), func(func) {
  memory.emplace_back();
  laneIndex =
      kernel::LaneOp::create(builder, loc, laneType(builder.getI64Type()));
  subgroupLane = laneIndex;
  if (schedule.getLanes() > schedule.getSubgroup())
    subgroupLane = arith::AndIOp::create(
        builder, loc, laneIndex,
        laneConstant(builder.getI64IntegerAttr(schedule.getSubgroup() - 1)));
  chooseRows();
}

//===----------------------------------------------------------------------===//
// Lane values
//===----------------------------------------------------------------------===//

VectorType RowContext::laneType(Type element) const {
  return VectorType::get({schedule.getLanes()}, element);
}

Value RowContext::i64(int64_t value) {
  return arith::ConstantOp::create(builder, loc,
                                   builder.getI64IntegerAttr(value));
}

Value RowContext::laneConstant(TypedAttr value) {
  auto type = laneType(value.getType());
  return arith::ConstantOp::create(builder, loc,
                                   DenseElementsAttr::get(type, value));
}

Value RowContext::splat(Value uniform) {
  if (isa<VectorType>(uniform.getType()))
    return uniform;
  return vector::BroadcastOp::create(builder, loc, laneType(uniform.getType()),
                                     uniform);
}

Value RowContext::materialize(const Affine &affine) {
  std::string key = "affine";
  for (auto [value, scale] : affine.terms)
    key += llvm::formatv(" {0}*{1}", value.getAsOpaquePointer(), scale);
  key += llvm::formatv(" {0}", affine.constant);
  if (Value known = remembered(key))
    return known;
  Value uniform, vary;
  auto plus = [&](Value a, Value b) -> Value {
    return a ? arith::AddIOp::create(builder, loc, a, b).getResult() : b;
  };
  for (auto [value, scale] : affine.terms) {
    bool varies = isa<VectorType>(value.getType());
    Value scaled = value;
    if (scale != 1) {
      Value factor =
          varies ? laneConstant(builder.getI64IntegerAttr(scale)) : i64(scale);
      scaled = arith::MulIOp::create(builder, loc, value, factor);
    }
    (varies ? vary : uniform) = plus(varies ? vary : uniform, scaled);
  }
  if (affine.constant || !uniform)
    uniform = affine.constant || !vary ? plus(uniform, i64(affine.constant))
                                       : uniform;
  Value result = !vary ? uniform : !uniform ? vary : plus(splat(uniform), vary);
  remember(key, result);
  return result;
}

//===----------------------------------------------------------------------===//
// Positions
//===----------------------------------------------------------------------===//

Instance RowContext::wholeRow(const NodePlan &plan) const {
  Instance instance;
  instance.digits.resize(plan.digits.size());
  return instance;
}

Affine RowContext::position(const NodePlan &plan,
                            const Instance &instance) const {
  Affine position;
  for (auto [digit, shape] : llvm::zip(instance.digits, plan.digits))
    position.add(digit, shape.length);
  if (instance.begin)
    position.addTerm(instance.begin, 1);
  return position;
}

Presence RowContext::present(const NodePlan &plan, const Instance &instance) {
  Presence result;
  if (instance.guard)
    result = {Presence::Sometimes, instance.guard};
  if (instance.whole)
    return result;
  for (size_t i = 0; i < plan.digits.size(); ++i) {
    const DigitShape &shape = plan.digits[i];
    if (!shape.mayBeShort || shape.isOffsets ||
        (i == 0 && isWholeBlock(instance.digits[0])))
      continue;
    // Distance from the start of the container of digit i.
    Affine offset;
    for (size_t j = i; j < plan.digits.size(); ++j)
      offset.add(instance.digits[j], plan.digits[j].length);
    bool dynamic = shape.container == kDynamic;
    int64_t most = offset.constant;
    bool bounded = !dynamic;
    for (auto [value, scale] : offset.terms) {
      if (value == laneIndex)
        most += scale * (lanes() - 1);
      else if (value == subgroupLane)
        most += scale * (schedule.getSubgroup() - 1);
      else
        bounded = false;
    }
    if (bounded && most < shape.container)
      continue;
    if (!dynamic && offset.constant >= shape.container)
      return {Presence::Never, {}};
    Value limit = dynamic ? containerOf(i, instance) : i64(shape.container);
    Value at = materialize(offset);
    if (isa<VectorType>(at.getType()))
      limit = splat(limit);
    Value inside = splat(arith::CmpIOp::create(
        builder, loc, arith::CmpIPredicate::slt, at, limit));
    result.kind = Presence::Sometimes;
    result.mask = both(result.mask, inside);
  }
  return result;
}

bool RowContext::isWholeBlock(const Affine &first) const {
  return first.constant == 0 && first.terms.size() == 1 &&
         first.terms[0].second == 1 &&
         wholeBlocks.contains(first.terms[0].first);
}

Value RowContext::both(Value a, Value b) {
  if (!a || !b)
    return a ? a : b;
  return arith::AndIOp::create(builder, loc, a, b);
}

Value RowContext::extentOf(StringRef dim) {
  if (dim == family.reducedDim && family.domain != kDynamic)
    return i64(family.domain);
  return func.slot(dim);
}

/// Only the container of the first digit depends on the extent, and that of
/// the digit right of offsets on its block.
Value RowContext::containerOf(size_t i, const Instance &instance) {
  if (i == 0 || !instance.begin)
    return partsOfMerge ? partsOfMerge : extentOf(family.reducedDim);
  std::string key =
      llvm::formatv("block {0} {1}", instance.begin.getAsOpaquePointer(),
                    instance.end.getAsOpaquePointer());
  Value size = remembered(key);
  if (!size) {
    size = arith::SubIOp::create(builder, loc, instance.end, instance.begin);
    remember(key, size);
  }
  return size;
}

Value RowContext::tripCount(const NodePlan &plan, const SubDigit &sub,
                            const Instance *block) {
  if (plan.digits[sub.digit].isOffsets)
    return arith::SubIOp::create(builder, loc, func.slot(family.offsetsDim),
                                 i64(1));
  // Turns beyond the row would find nothing: where there may be many, the row
  // says when to end.
  constexpr int64_t many = 1024;
  if (sub.radix != kDynamic && (plan.extent != kDynamic || sub.radix <= many))
    return i64(sub.radix);
  int64_t step = plan.digits[sub.digit].length * sub.weight;
  Value extent =
      block ? containerOf(sub.digit, *block) : containerOf(0, Instance());
  Value up = arith::AddIOp::create(builder, loc, extent, i64(step - 1));
  Value turns = arith::DivUIOp::create(builder, loc, up, i64(step));
  if (sub.radix == kDynamic)
    return turns;
  Value fewer = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult,
                                      turns, i64(sub.radix));
  return arith::SelectOp::create(builder, loc, fewer, turns, i64(sub.radix));
}

Value RowContext::presentCount(const NodePlan &plan, const Instance &block) {
  auto least = [&](Value a, Value b) -> Value {
    Value less =
        arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt, a, b);
    return arith::SelectOp::create(builder, loc, less, a, b);
  };
  int64_t radix = plan.digits.back().radix;
  Value count = radix == kDynamic ? Value() : i64(radix);
  for (size_t i = 0; i < plan.digits.size(); ++i) {
    const DigitShape &shape = plan.digits[i];
    if (shape.isOffsets || (!shape.mayBeShort && count))
      continue;
    Affine offset;
    for (size_t j = i; j < plan.digits.size(); ++j)
      offset.add(block.digits[j], plan.digits[j].length);
    Value limit = shape.container == kDynamic ? containerOf(i, block)
                                              : i64(shape.container);
    Value left =
        arith::SubIOp::create(builder, loc, limit, materialize(offset));
    count = count ? least(count, left) : left;
  }
  Value none = i64(0);
  Value some = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::sgt,
                                     count, none);
  return arith::SelectOp::create(builder, loc, some, count, none);
}

//===----------------------------------------------------------------------===//
// Regions
//===----------------------------------------------------------------------===//

RowContext::Scope::Scope(RowContext &context) : context(context) {
  context.memory.emplace_back();
}

RowContext::Scope::~Scope() { context.memory.pop_back(); }

SmallVector<Value> RowContext::loop(
    Value count, ValueRange initial,
    llvm::function_ref<SmallVector<Value>(Value, ValueRange)> body) {
  auto loop = scf::ForOp::create(builder, loc, i64(0), count, i64(1), initial);
  OpBuilder::InsertionGuard guard(builder);
  Block *block = loop.getBody();
  if (initial.empty())
    builder.setInsertionPoint(block->getTerminator());
  else
    builder.setInsertionPointToEnd(block);
  Scope scope(*this);
  SmallVector<Value> results =
      body(loop.getInductionVar(), loop.getRegionIterArgs());
  if (!initial.empty())
    scf::YieldOp::create(builder, loc, results);
  return SmallVector<Value>(loop.getResults());
}

Value RowContext::scratch(int64_t size, Type cell) {
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(&func.getBody().front());
  return kernel::ScratchOp::create(
      builder, loc, kernel::ScratchType::get(builder.getContext(), size, cell));
}

Value RowContext::remembered(const std::string &key) const {
  for (auto &level : llvm::reverse(memory))
    if (auto found = level.find(key); found != level.end())
      return found->second;
  return {};
}

void RowContext::remember(const std::string &key, Value value) {
  memory.back()[key] = value;
}
