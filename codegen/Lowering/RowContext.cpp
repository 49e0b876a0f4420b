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
  if (family.rowDim.empty())
    return;
  Value program = kernel::ProgramOp::create(builder, loc);
  if (schedule.rowsPerProgram() == 1) {
    row.addTerm(program, 1);
    return;
  }
  row.addTerm(program, schedule.rowsPerProgram());
  row.addTerm(laneIndex, 1);
  rowsInRange =
      arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt,
                            materialize(row), splat(extentOf(family.rowDim)));
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
  return position;
}

Presence RowContext::present(const NodePlan &plan, const Instance &instance) {
  Presence result;
  for (size_t i = 0; i < plan.digits.size(); ++i) {
    const DigitShape &shape = plan.digits[i];
    if (!shape.mayBeShort)
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
    Value limit = dynamic ? extentOf(family.reducedDim) : i64(shape.container);
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

Value RowContext::both(Value a, Value b) {
  if (!a || !b)
    return a ? a : b;
  return arith::AndIOp::create(builder, loc, a, b);
}

Value RowContext::extentOf(StringRef dim) {
  if (dim == family.reducedDim && family.extent != kDynamic)
    return i64(family.extent);
  return func.slot(dim);
}

Value RowContext::tripCount(const NodePlan &plan, const SubDigit &sub) {
  if (sub.radix != kDynamic)
    return i64(sub.radix);
  // Only the container of the first digit can depend on the extent.
  int64_t step = plan.digits[sub.digit].length * sub.weight;
  Value extent = extentOf(family.reducedDim);
  Value up = arith::AddIOp::create(builder, loc, extent, i64(step - 1));
  return arith::DivUIOp::create(builder, loc, up, i64(step));
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
