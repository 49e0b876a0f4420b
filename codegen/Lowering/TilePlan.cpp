// TilePlan.cpp - which contracts a tile kernel keeps
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/Lowering/TilePlan.h"

#include "codegen/Lowering/TileUnits.h"

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

/// A chain visits every element of its part once in ascending order exactly if
/// each digit is merged right after those to its right, and one through fused
/// steps if no block ends within a step either. An atom of one term is a
/// primitive, whose chain has no fused steps. Above chains, parts are complete.
llvm::Error checkTree(StringRef node, pact::NodeAttr attr,
                      const algebra::Atom &atom) {
  bool fused = atom.terms > 1;
  const algebra::Partition &partition = attr.getPartition().getValue();
  std::vector<algebra::BoundMerge> merges =
      attr.getMerge().getValue().bind(partition);
  int digits = partition.size(), chains = algebra::accumulatorEntries(merges);
  for (auto [i, merge] : llvm::enumerate(merges)) {
    const algebra::Digit &digit = partition.digits()[merge.digit];
    if (merge.digit != digits - 1 - int(i))
      return refusal("node {0}: merge: '{1}' is not merged in the order of the "
                     "partition; tiles visit elements in ascending order",
                     node, digit.name);
    if (digit.kind == algebra::DigitKind::Offsets)
      return refusal("node {0}: partition: '{1}' has blocks between offsets; "
                     "tiles take digits with a radix or '*'",
                     node, digit.name);
    algebra::Form wanted =
        fused && i == 0 ? algebra::Form::Fused : algebra::Form::Chain;
    bool isPart = chains > 0 && int(i) >= chains;
    if (!isPart && merge.form != wanted)
      return refusal("node {0}: merge: '{1} {2}'; tiles run {3}", node,
                     digit.name, algebra::name(merge.form),
                     fused ? "fused(" + atom.text() +
                                 ") innermost and a chain above"
                           : std::string("a chain"));
    if (fused && i == 0 && digit.radix != atom.terms)
      return refusal("node {0}: partition: '{1}' has {2} elements, the atom "
                     "{3} takes {4} at a time",
                     node, digit.name, digit.radix, atom.text(), atom.terms);
    // Of the leftmost digit only the last block may be short.
    if (int64_t length = partition.length(merge.digit); length % atom.terms)
      if (i > 0)
        return refusal("node {0}: partition: blocks of '{1}' have {2} "
                       "elements, which steps of {3} do not divide",
                       node, digit.name, length, atom.terms);
  }
  return llvm::Error::success();
}

bool hasParts(pact::NodeAttr attr) {
  std::vector<algebra::BoundMerge> merges =
      attr.getMerge().getValue().bind(attr.getPartition().getValue());
  return algebra::accumulatorEntries(merges) < int(merges.size());
}

/// Parts merged by bits from high to low are visited as these are reversed.
bool visitsInOrder(pact::NodeAttr attr) {
  return llvm::none_of(attr.getMerge().getValue().entries(),
                       [](const algebra::MergeEntry &entry) {
                         return entry.form == algebra::Form::Halving;
                       });
}

} // namespace

/// Sums are f32, and so is what is done with them.
static llvm::Error checkEpilogue(pact::ContractOp contract, pact::OperatorOp op,
                                 TileFamily &family) {
  auto check = [](StringRef field, StringRef name, Type type) {
    return type.isF64() ? refusal("{0}: '{1}' is f64; beside a product tiles "
                                  "take bf16, f16 and f32",
                                  field, name)
                        : llvm::Error::success();
  };
  llvm::Error error = llvm::Error::success();
  auto also = [&](llvm::Error next) {
    if (error)
      llvm::consumeError(std::move(next));
    else
      error = std::move(next);
  };
  for (pact::InputOp input : family.others)
    also(check(
        "types", input.getTensor(),
        cast<TypeAttr>(contract.getTypes().get(input.getTensor())).getValue()));
  for (NamedAttribute param : contract.getParams())
    also(check("params", param.getName(),
               cast<FloatAttr>(param.getValue()).getType()));
  for (NamedAttribute site : contract.getRounding())
    if (auto rounding = cast<pact::RoundingAttr>(site.getValue());
        !rounding.isExact() && site.getName() != family.output.getSiteName())
      also(check("rounding", site.getName(), rounding.getFormat()));
  for (pact::ApplyOp apply : op.getOps<pact::ApplyOp>()) {
    auto name =
        cast<FlatSymbolRefAttr>(contract.getPrimitives().get(apply.getSite()));
    auto primitive =
        SymbolTable::lookupNearestSymbolFrom<pact::PrimitiveOp>(contract, name);
    primitive.walk([&](Operation *each) {
      for (Type type : each->getResultTypes())
        also(check("primitives", name.getValue(), type));
    });
  }
  return error;
}

pact::AtomOp lowering::atomOf(pact::ContractOp contract, pact::ReduceOp node) {
  auto name = contract.getPrimitives().getAs<FlatSymbolRefAttr>(
      (node.getNode() + ".step").str());
  return name ? SymbolTable::lookupNearestSymbolFrom<pact::AtomOp>(contract,
                                                                   name)
              : pact::AtomOp();
}

StringRef lowering::stepOf(pact::ContractOp contract, pact::ReduceOp node) {
  auto name = contract.getPrimitives().getAs<FlatSymbolRefAttr>(
      (node.getNode() + ".step").str());
  return name ? name.getValue() : StringRef();
}

Absent lowering::absentOf(StringRef step) {
  if (step.starts_with("dot.nv"))
    return Absent::Zero;
  return step.starts_with("dot.fma") ? Absent::Negative : Absent::LeftOut;
}

pact::PrimitiveOp lowering::primitiveOf(pact::ContractOp contract,
                                        pact::ReduceOp node) {
  auto name = contract.getPrimitives().getAs<FlatSymbolRefAttr>(
      (node.getNode() + ".step").str());
  return name ? SymbolTable::lookupNearestSymbolFrom<pact::PrimitiveOp>(
                    contract, name)
              : pact::PrimitiveOp();
}

/// Of one product.
static llvm::Error checkDot(pact::ContractOp contract, const TileFamily &family,
                            unsigned number, tile::ScheduleAttr schedule) {
  pact::ReduceOp dot = family.dots[number];
  StringRef node = dot.getNode();
  auto attr = cast<pact::NodeAttr>(contract.getNodes().get(node));
  if (attr.getExtent())
    return refusal("node {0}: domain: {1} of {2} stored elements exist; "
                   "tiles take all of them",
                   node, attr.getExtent(), attr.getStored());
  StringRef step = stepOf(contract, dot);
  algebra::Atom steps{step.str(), 1, 0};
  // Programs that pack their own blocks run any step and any epilogue.
  bool own = schedule.packsOwn();
  pact::AtomOp atom = atomOf(contract, dot);
  if (atom)
    steps = {atom.getAtom().str(), int64_t(atom.getL()), int64_t(atom.getF())};
  else if (!own && step != "dot.fma.f32")
    return refusal("node {0}: primitives: the step is {1}; tiles run "
                   "dot.fma.f32 and the atoms of a matrix unit",
                   node, step);
  if (!own && attr.getStart() != algebra::Start::Identity)
    return refusal("node {0}: start: sums of tiles begin at +0, 'identity'",
                   node);
  if (llvm::Error error = checkTree(node, attr, steps))
    return error;
  if (llvm::Error error = checkParts(
          node, attr, contract.getDims().getAs<IntegerAttr>(family.depthDim),
          schedule.getK()))
    return error;
  if (schedule.isSplit()) {
    auto extent = contract.getDims().getAs<IntegerAttr>(family.depthDim);
    // What has no parts may be over a dim of any extent.
    llvm::Expected<UnitParts> parts =
        unitParts(hasParts(attr) ? partsOf(attr, extent.getInt()) : PartTree(),
                  schedule.getSplit(), schedule.getK());
    if (!parts)
      return refusal("node {0}: {1}", node,
                     llvm::toString(parts.takeError()));
  }
  if (family.dots.size() > 1 && hasParts(attr))
    return refusal("node {0}: merge: '{1}'; of several products tiles compute "
                   "the sums as one chain each",
                   node, attr.getMerge().getValue().texts().back());
  if (schedule.sharesCopies() && !visitsInOrder(attr))
    return refusal("node {0}: merge: parts are not computed in their order; "
                   "where consumers copy they are, merged by fold or pairwise",
                   node);
  if (schedule.getK() % steps.terms)
    return refusal("schedule: stages of {0} elements, which steps of {1} do "
                   "not divide",
                   schedule.getK(), steps.terms);
  const std::string operands[] = {family.a, family.b[number]};
  Type types[2];
  for (auto [i, tensor] : llvm::enumerate(operands)) {
    types[i] = cast<TypeAttr>(contract.getTypes().get(tensor)).getValue();
    if (!atom) // a primitive takes what its format holds
      continue;
    Type wanted = cast<FunctionType>(atom.getFunctionType()).getInput(i);
    if (types[i] != wanted)
      return refusal("types: '{0}' is {1}, the atom {2} takes {3}", tensor,
                     types[i], atom.getSymName(), wanted);
  }
  if (!own && types[0] != types[1])
    return refusal("types: '{0}' is {1} and '{2}' is {3}; tiles multiply "
                   "tensors of one type",
                   operands[0], types[0], operands[1], types[1]);
  // Products that share a block are of one step, which says what is beyond the
  // extents of that block, and their sums are of one format.
  pact::ReduceOp first = family.dots.front();
  auto other = cast<pact::NodeAttr>(contract.getNodes().get(first.getNode()));
  if (StringRef own = stepOf(contract, first);
      own != step || other.getAccumulator() != attr.getAccumulator())
    return refusal("node {0}: primitives: the step is {1}, with sums in {2}, "
                   "and that of node {3} is {4}, with sums in {5}; products of "
                   "one tensor are of one step",
                   node, step, attr.getAccumulator(), first.getNode(), own,
                   other.getAccumulator());
  return llvm::Error::success();
}

std::optional<std::string> lowering::whyNot(pact::ContractOp contract,
                                            pact::OperatorOp op,
                                            tile::ScheduleAttr schedule) {
  auto check = [&]() -> llvm::Error {
    llvm::Expected<TileFamily> family = tileFamily(op);
    if (!family)
      return family.takeError();
    for (unsigned i = 0; i < family->dots.size(); ++i)
      if (llvm::Error error = checkDot(contract, *family, i, schedule))
        return error;
    if (!schedule.packsOwn())
      if (llvm::Error error = checkEpilogue(contract, op, *family))
        return error;
    for (const std::string &dim :
         {family->rowDim, family->colDim, family->depthDim,
          family->segments ? family->segments->boundDim : family->rowDim}) {
      int64_t most = dim == family->depthDim ? kMostTileDepth : kMostTileRows;
      auto extent = contract.getDims().getAs<IntegerAttr>(dim);
      if (extent && extent.getInt() > most)
        return refusal("dims: '{0}' is {1}, tiles number at most {2}", dim,
                       extent.getInt(), most);
    }
    return llvm::Error::success();
  };
  if (llvm::Error error = check())
    return llvm::toString(std::move(error));
  return std::nullopt;
}
