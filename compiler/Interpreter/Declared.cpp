// Declared.cpp - the terms that a contract declares, element by element
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/Interpreter/Declared.h"

#include "compiler/Interpreter/DeclaredState.h"

#include "contracts/reference/Arithmetic.h"
#include "dialects/Pact/RowAxis.h"

using namespace mlir;
using namespace bitpact;
using namespace bitpact::interpreter;

static Scalar wider(Scalar a, Scalar b) {
  return algebra::precision(formatOf(a)) >= algebra::precision(formatOf(b)) ? a
                                                                            : b;
}

Declared::Declared(pact::ContractOp contract, pact::OperatorOp op,
                   int64_t extent, const std::map<std::string, Buffer> &buffers,
                   TermStore &terms, const std::vector<int64_t> &offsets,
                   WholePrimitives whole, LeftOut leftOut)
    : contract(contract), op(op), buffers(buffers), terms(terms),
      extent(extent), offsets(offsets), whole(std::move(whole)),
      leftOut(leftOut) {
  reducedDim = pact::rowAxis(op);
}

pact::RoundingAttr Declared::rounding(StringRef site) {
  return cast<pact::RoundingAttr>(contract.getRounding().get(site));
}

pact::PrimitiveOp Declared::primitiveAt(StringRef site) {
  return SymbolTable::lookupNearestSymbolFrom<pact::PrimitiveOp>(
      contract, cast<FlatSymbolRefAttr>(contract.getPrimitives().get(site)));
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

TermId Declared::value(Value f, int64_t row, int64_t position) {
  auto dims = cast<pact::RealType>(f.getType()).getDims();
  if (!llvm::is_contained(dims, reducedDim))
    position = -1;
  std::tuple key(f.getDefiningOp(), row, position);
  if (auto found = known.find(key); found != known.end())
    return found->second;
  TermId result = compute(f.getDefiningOp(), row, position);
  return known[key] = result;
}

TermId Declared::load(pact::InputOp input, int64_t row, int64_t position) {
  auto found = buffers.find(input.getTensor().str());
  int64_t element = 0;
  auto dims = cast<pact::RealType>(input.getResult().getType()).getDims();
  for (auto [axis, dim] : llvm::enumerate(dims))
    element = element * found->second.present(axis) +
              (dim == reducedDim ? position : row);
  return terms.element(int(std::distance(buffers.begin(), found)), element,
                       found->second.type);
}

TermId Declared::compute(Operation *op, int64_t row, int64_t position) {
  if (auto input = dyn_cast<pact::InputOp>(op))
    return load(input, row, position);
  if (auto param = dyn_cast<pact::ParamOp>(op)) {
    auto number = cast<FloatAttr>(contract.getParams().get(param.getParam()));
    return terms.constant(*scalarOf(number.getType()),
                          number.getValue().bitcastToAPInt().getZExtValue());
  }
  if (auto take = dyn_cast<pact::TakeOp>(op))
    return this->take(take, row);
  if (auto apply = dyn_cast<pact::ApplyOp>(op)) {
    pact::PrimitiveOp primitive = primitiveAt(apply.getSite());
    SmallVector<TermId> arguments;
    for (auto [arg, type] :
         llvm::zip(apply.getArgs(), primitive.getFunctionType().getInputs()))
      arguments.push_back(operand(arg, *scalarOf(type), row, position));
    TermId result = applyPrimitive(terms, primitive, arguments, whole);
    return apply.getRounded()
               ? convert(terms, result,
                         *scalarOf(rounding(*apply.getRounded()).getFormat()))
               : result;
  }
  auto reduce = dyn_cast<pact::ReduceOp>(op);
  TermId result =
      reduce ? this->reduce(reduce, row) : arithmetic(op, row, position);
  if (auto site = op->getAttrOfType<StringAttr>("site"))
    if (pact::RoundingAttr attr = rounding(site); !attr.isExact())
      result = convert(terms, result, *scalarOf(attr.getFormat()));
  return result;
}

TermId Declared::operand(Value f, Scalar format, int64_t row,
                         int64_t position) {
  Operation *op = f.getDefiningOp();
  if (auto constant = dyn_cast<pact::ConstantOp>(op)) {
    const llvm::fltSemantics &semantics =
        format == Scalar::F64   ? llvm::APFloat::IEEEdouble()
        : format == Scalar::F32 ? llvm::APFloat::IEEEsingle()
        : format == Scalar::F16 ? llvm::APFloat::IEEEhalf()
                                : llvm::APFloat::BFloat();
    llvm::APFloat number(semantics, constant.getValue());
    return terms.constant(format, number.bitcastToAPInt().getZExtValue());
  }
  if (auto size = dyn_cast<pact::ExtentOp>(op)) {
    TermId n = terms.constant(Scalar::I64, uint64_t(domain()));
    return terms.apply({Op::FromInt, format, Scalar::I64}, {n});
  }
  return convert(terms, value(f, row, position), format);
}

pact::MulOp Declared::exactProduct(Value f) {
  auto mul = f.getDefiningOp<pact::MulOp>();
  return mul && mul.getSite() && rounding(*mul.getSite()).isExact()
             ? mul
             : pact::MulOp();
}

Scalar Declared::formatOf(Value f, int64_t row, int64_t position) {
  if (isa<pact::ConstantOp, pact::ExtentOp>(f.getDefiningOp()))
    return Scalar::F32;
  if (pact::MulOp mul = exactProduct(f))
    return widest(mul, row, position);
  return wider(Scalar::F32, terms[value(f, row, position)].type);
}

Scalar Declared::widest(Operation *op, int64_t row, int64_t position) {
  Scalar format = Scalar::F32;
  for (Value operand : op->getOperands())
    format = wider(format, formatOf(operand, row, position));
  return format;
}

/// Rule E1: one operation in the widest of the operands' formats and f32; a sum
/// or difference with an exact product is one fma.
TermId Declared::arithmetic(Operation *op, int64_t row, int64_t position) {
  Scalar format = widest(op, row, position);
  auto make = [&](Op kind, ArrayRef<TermId> operands) {
    return terms.apply({kind, format, format}, operands);
  };
  auto of = [&](Value f) { return operand(f, format, row, position); };
  if (isa<pact::AddOp, pact::SubOp>(op)) {
    Value left = op->getOperand(0), right = op->getOperand(1);
    bool minus = isa<pact::SubOp>(op);
    if (pact::MulOp mul = exactProduct(left))
      return make(Op::Fma, {of(mul.getLhs()), of(mul.getRhs()),
                            minus ? make(Op::Neg, {of(right)}) : of(right)});
    if (pact::MulOp mul = exactProduct(right)) {
      TermId factor = of(mul.getLhs());
      return make(Op::Fma, {minus ? make(Op::Neg, {factor}) : factor,
                            of(mul.getRhs()), of(left)});
    }
  }
  SmallVector<TermId> v;
  for (Value operand : op->getOperands())
    v.push_back(of(operand));
  if (isa<pact::AbsOp>(op)) {
    Scalar ints = format == Scalar::F64 ? Scalar::I64 : Scalar::I32;
    TermId bits = terms.apply({Op::Bitcast, ints, format}, {v[0]});
    TermId mask = terms.constant(ints, ~uint64_t(0) >> (65 - widthOf(ints)));
    bits = terms.apply({Op::And, ints, ints}, {bits, mask});
    return terms.apply({Op::Bitcast, format, ints}, {bits});
  }
  Op kind = isa<pact::AddOp>(op)   ? Op::Add
            : isa<pact::SubOp>(op) ? Op::Sub
            : isa<pact::MulOp>(op) ? Op::Mul
            : isa<pact::DivOp>(op) ? Op::Div
            : isa<pact::MaxOp>(op) ? Op::Maximum
                                   : Op::Neg;
  assert((kind != Op::Neg || isa<pact::NegOp>(op)) && "an operation of F");
  return make(kind, v);
}

TermId Declared::output(pact::OutputOp output, int64_t row, int64_t position) {
  Scalar format = buffers.at(output.getTensor().str()).type;
  TermId exact =
      operand(output.getValue(), formatOf(output.getValue(), row, position),
              row, position);
  TermId rounded = convert(terms, exact, format);
  return terms.apply({Op::Narrow, format, format}, {rounded});
}

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

TermId Declared::reduce(pact::ReduceOp op, int64_t row) {
  auto attr = cast<pact::NodeAttr>(contract.getNodes().get(op.getNode()));
  NodeTerms node;
  node.node = op.getNode().str();
  node.row = row;
  node.step = primitiveAt((op.getNode() + ".step").str());
  node.accumulator = *scalarOf(attr.getAccumulator());
  node.store = std::make_shared<algebra::TreeStore>();
  algebra::Reduction reduction{attr.getPartition().getValue(),
                               attr.getMerge().getValue()};
  switch (op.getKind()) {
  case pact::ReduceKind::Sum:
    reduction.kind = algebra::ReductionKind::Sum;
    break;
  case pact::ReduceKind::Dot:
    reduction.kind = algebra::ReductionKind::Dot;
    break;
  case pact::ReduceKind::Max:
    reduction.kind = algebra::ReductionKind::Max;
    break;
  case pact::ReduceKind::ExpSum:
    // In two passes a sum of weights; what runs is not read as a tree.
    reduction.kind = algebra::ReductionKind::Sum;
    break;
  }
  int64_t extent = presentIn(op);
  reduction.start = attr.getStart();
  reduction.accumulator = interpreter::formatOf(node.accumulator);
  node.kind = reduction.kind;
  node.isOnline = attr.getState() == algebra::State::Online;
  if (node.isOnline) {
    node.hasOpenOrder = true;
    node.result = online(op, attr, node, row);
    nodeList.push_back(std::move(node));
    return nodeList.back().result;
  }
  for (const algebra::MergeEntry &entry : reduction.order.entries())
    node.hasOpenOrder |= entry.form == algebra::Form::Any;
  node.tree =
      *algebra::buildTree(*node.store, reduction, {extent, {}, offsets});

  for (int64_t i = 0; i < extent; ++i) {
    node.leaves.emplace_back();
    if (op.getKind() == pact::ReduceKind::ExpSum) {
      pact::PrimitiveOp weight = primitiveAt((op.getNode() + ".weight").str());
      auto types = weight.getFunctionType().getInputs();
      TermId arguments[] = {
          operand(op.getArgs()[0], *scalarOf(types[0]), row, i),
          operand(op.getArgs()[1], *scalarOf(types[1]), row, -1)};
      node.leaves.back().push_back(
          convert(terms, applyPrimitive(terms, weight, arguments, whole),
                  *scalarOf(node.step.getFunctionType().getInput(0))));
      continue;
    }
    for (auto [arg, type] :
         llvm::zip(op.getArgs(), node.step.getFunctionType().getInputs()))
      node.leaves.back().push_back(operand(arg, *scalarOf(type), row, i));
  }
  const algebra::TreeStore &store = *node.store;
  Op merge = node.kind == algebra::ReductionKind::Max ? Op::Maximum : Op::Add;
  Action merging{merge, node.accumulator, node.accumulator};
  std::vector<TermId> &of = node.ofTree;
  for (algebra::TreeId id = 0; id <= node.tree; ++id) {
    const algebra::TreeNode &tree = store.node(id);
    const std::vector<algebra::TreeId> &children = tree.children;
    auto leafOf = [&](algebra::TreeId leaf) -> ArrayRef<TermId> {
      return node.leaves[store.node(leaf).position];
    };
    switch (tree.kind) {
    case algebra::TreeKind::Leaf:
      of.push_back(-1);
      break;
    case algebra::TreeKind::Identity:
      of.push_back(identityTerm(terms, node));
      break;
    case algebra::TreeKind::First:
      of.push_back(firstTerm(terms, node, leafOf(children[0])));
      break;
    case algebra::TreeKind::Step: {
      SmallVector<TermId> arguments(leafOf(children[1]));
      arguments.push_back(of[children[0]]);
      of.push_back(applyPrimitive(terms, node.step, arguments, whole));
      break;
    }
    case algebra::TreeKind::Merge:
      of.push_back(terms.apply(merging, {of[children[0]], of[children[1]]}));
      break;
    case algebra::TreeKind::Any: {
      TermId merged = of[children[0]];
      for (algebra::TreeId child : ArrayRef(children).drop_front())
        merged = terms.apply(merging, {merged, of[child]});
      of.push_back(merged);
      break;
    }
    case algebra::TreeKind::Round: {
      Scalar format = scalarOf(tree.format);
      of.push_back(convert(terms, convert(terms, of[children[0]], format),
                           node.accumulator));
      break;
    }
    case algebra::TreeKind::Fused:
      llvm_unreachable("row schedules refuse fused steps");
    case algebra::TreeKind::Bound:
    case algebra::TreeKind::Weight:
    case algebra::TreeKind::Rescale:
    case algebra::TreeKind::Combine:
      llvm_unreachable("states are not read as trees of partials");
    }
  }
  node.result = of[node.tree];
  nodeList.push_back(std::move(node));
  return nodeList.back().result;
}

TermId Declared::online(pact::ReduceOp op, pact::NodeAttr attr,
                        const NodeTerms &node, int64_t row) {
  auto primitive = [&](const char *site) {
    std::string name = (op.getNode() + "." + site).str();
    return contract.getPrimitives().contains(name) ? primitiveAt(name)
                                                   : pact::PrimitiveOp();
  };
  auto max = op.getArgs()[1].getDefiningOp<pact::ReduceOp>();
  auto maxNode = cast<pact::NodeAttr>(contract.getNodes().get(max.getNode()));
  std::vector<TermId> elements;
  for (int64_t i = 0; i < presentIn(op); ++i)
    elements.push_back(value(op.getArgs()[0], row, i));
  return DeclaredState(terms, whole, attr,
                       {node.step, primitive("weight"), primitive("rescale"),
                        primitive("combine")},
                       std::move(elements), node.accumulator,
                       *scalarOf(maxNode.getAccumulator()))
      .sum();
}

/// Indices are numbers even where elements are symbols: they choose a term.
TermId Declared::take(pact::TakeOp op, int64_t row) {
  auto index = op.getIndex().getDefiningOp<pact::IndexOp>();
  const Buffer &buffer = buffers.at(index.getTensor().str());
  const Cell &cell = buffer.cells[buffer.shape.empty() ? 0 : size_t(row)];
  unsigned unused = 64 - widthOf(buffer.type);
  int64_t position = int64_t(cell.bits << unused) >> unused;
  bool exists = position >= 0 && position < domain();
  if (exists && position >= leftOut.first)
    position -= leftOut.length;
  TermId element = value(op.getOperand(), row, exists ? position : 0);
  if (exists)
    return element;
  Scalar format = terms[element].type;
  return terms.constant(
      format, reference::encode(interpreter::formatOf(format),
                                std::numeric_limits<double>::quiet_NaN()));
}

int64_t Declared::extentOf(pact::ReduceOp op) {
  return cast<pact::NodeAttr>(contract.getNodes().get(op.getNode()))
      .extentOf(extent);
}

int64_t Declared::domain() {
  for (pact::ReduceOp reduce : op.getOps<pact::ReduceOp>())
    return extentOf(reduce);
  return extent;
}

TermId interpreter::identityTerm(TermStore &terms, const NodeTerms &node) {
  double identity = node.kind == algebra::ReductionKind::Max
                        ? -std::numeric_limits<double>::infinity()
                        : 0;
  return terms.constant(
      node.accumulator,
      reference::encode(formatOf(node.accumulator), identity));
}

TermId interpreter::firstTerm(TermStore &terms, const NodeTerms &node,
                              ArrayRef<TermId> leaf) {
  Scalar format = node.accumulator;
  TermId first = convert(terms, leaf[0], format);
  if (node.kind != algebra::ReductionKind::Dot)
    return first;
  return terms.apply({Op::Mul, format, format},
                     {first, convert(terms, leaf[1], format)});
}

//===----------------------------------------------------------------------===//
// Conversions and primitives
//===----------------------------------------------------------------------===//

TermId interpreter::convert(TermStore &terms, TermId value, Scalar format) {
  Scalar from = terms[value].type;
  if (from == format)
    return value;
  if (algebra::widensExactly(formatOf(from), formatOf(format)))
    return terms.apply({Op::Extend, format, from}, {value});
  if (widthOf(from) == widthOf(format)) { // bf16 and f16 meet in f32
    value = terms.apply({Op::Extend, Scalar::F32, from}, {value});
    from = Scalar::F32;
  }
  return terms.apply({Op::Narrow, format, from}, {value});
}

TermId interpreter::applyPrimitive(TermStore &terms,
                                   pact::PrimitiveOp primitive,
                                   ArrayRef<TermId> arguments,
                                   const WholePrimitives &whole) {
  auto isNumber = [&](TermId id) { return terms[id].op == Op::Constant; };
  if (std::optional<int> number = whole.find(primitive);
      number && llvm::none_of(arguments, isNumber))
    return terms.whole(*number, arguments,
                       *scalarOf(primitive.getFunctionType().getResult(0)));
  llvm::DenseMap<Value, TermId> values;
  mlir::Block &body = primitive.getBody().front();
  for (auto [argument, term] : llvm::zip(body.getArguments(), arguments))
    values[argument] = term;
  for (Operation &op : body.without_terminator()) {
    if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
      uint64_t bits;
      if (auto number = dyn_cast<FloatAttr>(constant.getValue()))
        bits = number.getValue().bitcastToAPInt().getZExtValue();
      else
        bits = cast<IntegerAttr>(constant.getValue()).getValue().getZExtValue();
      values[constant] = terms.constant(*scalarOf(constant.getType()), bits);
      continue;
    }
    SmallVector<TermId> operands;
    for (Value operand : op.getOperands())
      operands.push_back(values.lookup(operand));
    values[op.getResult(0)] = terms.apply(*actionOf(&op), operands);
  }
  return values.lookup(cast<pact::YieldOp>(body.getTerminator()).getValue());
}
