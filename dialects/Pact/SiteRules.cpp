// SiteRules.cpp - rules P2 to P4, R and A: roundings and primitives at sites
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "contracts/algebra/Format.h"
#include "dialects/Pact/RuleChecker.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace bitpact;
using namespace bitpact::pact;

/// The rounding site of an op's value, or "" where it has none.
static StringRef roundingSite(Operation *value) {
  if (auto output = dyn_cast<OutputOp>(value))
    return output.getSiteName();
  if (auto apply = dyn_cast<ApplyOp>(value))
    return apply.getRounded().value_or("");
  auto site = value->getAttrOfType<StringAttr>("site");
  return site ? site.getValue() : "";
}

LogicalResult RuleChecker::checkRounding() {
  SmallVector<StringRef> sites;
  for (Operation &each : op.getBody().front())
    if (StringRef site = roundingSite(&each); !site.empty())
      sites.push_back(site);
  bool ok = succeeded(checkKeys("rounding", "rounding site",
                                contract.getRounding(), sites, "R1", "R2"));
  for (Operation &each : op.getBody().front()) {
    StringRef site = roundingSite(&each);
    auto rounding = site.empty()
                        ? RoundingAttr()
                        : contract.getRounding().getAs<RoundingAttr>(site);
    if (!rounding)
      continue;
    if (rounding.isExact()) {
      ok &= succeeded(checkExact(&each, site));
      continue;
    }
    auto output = dyn_cast<OutputOp>(each);
    if (!output)
      continue;
    auto type = contract.getTypes().getAs<TypeAttr>(output.getTensor());
    if (!type || type.getValue() == rounding.getFormat())
      continue;
    report({"rounding", site})
        << "site '" << site << "' rounds to " << rounding.getFormat()
        << ", but the type of its output tensor '" << output.getTensor()
        << "' is " << type.getValue() << " [P4]";
    ok = false;
  }
  return success(ok);
}

LogicalResult RuleChecker::checkExact(Operation *value, StringRef site) {
  StringRef reason;
  if (auto reduce = dyn_cast<ReduceOp>(value)) {
    auto node = contract.getNodes().getAs<NodeAttr>(reduce.getNode());
    InFlightDiagnostic diag = report({"rounding", site});
    diag << "site '" << site << "' is exact, but its value is the sum of node '"
         << reduce.getNode() << "', which has the accumulator's format; ";
    if (node)
      diag << "'" << formatName(node.getAccumulator())
           << " rne' takes it as it is, and ";
    return diag << "exact is allowed on a multiplication [R3]";
  }
  if (!isa<MulOp>(value))
    reason = "is no multiplication";
  else if (!llvm::all_of(value->getUsers(), [](Operation *user) {
             return isa<AddOp, SubOp>(user);
           }))
    reason = "has a consumer that is no addition or subtraction";
  // One fma takes one unrounded product.
  for (Operation *user : value->getUsers())
    for (Value operand : user->getOperands()) {
      Operation *other = operand.getDefiningOp();
      auto rounding =
          isa<MulOp>(other)
              ? contract.getRounding().getAs<RoundingAttr>(roundingSite(other))
              : RoundingAttr();
      if (reason.empty() && rounding && rounding.isExact() &&
          (other != value || user->getOperand(0) == user->getOperand(1)))
        reason = "meets a second exact product in one consumer";
    }
  if (reason.empty())
    return success();
  report({"rounding", site})
      << "site '" << site << "' is exact, but its value " << reason
      << "; exact is allowed on a product that additions or subtractions "
         "consume, one product each [R3]";
  return failure();
}

/// E1, then the site's rounding.
Type RuleChecker::formatOf(Operation *value) {
  if (auto input = dyn_cast<InputOp>(value))
    return contract.getTypes().getAs<TypeAttr>(input.getTensor()).getValue();
  if (auto param = dyn_cast<ParamOp>(value))
    return contract.getParams().getAs<FloatAttr>(param.getParam()).getType();
  if (isa<ExtentOp, ConstantOp, IndexOp, SegmentOp>(value))
    return {};
  if (auto take = dyn_cast<TakeOp>(value))
    return formats.lookup(take.getOperand());
  Type format;
  if (auto reduce = dyn_cast<ReduceOp>(value)) {
    format =
        contract.getNodes().getAs<NodeAttr>(reduce.getNode()).getAccumulator();
  } else if (auto apply = dyn_cast<ApplyOp>(value)) {
    auto bound =
        contract.getPrimitives().getAs<FlatSymbolRefAttr>(apply.getSite());
    format = cast<PrimitiveOp>(find(bound.getValue()))
                 .getFunctionType()
                 .getResult(0);
  } else {
    SmallVector<Type> operands;
    for (Value operand : value->getOperands())
      operands.push_back(formats.lookup(operand));
    format = elementwiseFormat(operands, op.getContext());
  }
  StringRef site = roundingSite(value);
  if (site.empty())
    return format;
  auto rounding = contract.getRounding().getAs<RoundingAttr>(site);
  return rounding.isExact() ? format : rounding.getFormat();
}

LogicalResult RuleChecker::checkPrimitives() {
  bool ok = succeeded(checkPrimitiveSites());
  for (Operation &each : op.getBody().front()) {
    auto reduce = dyn_cast<ReduceOp>(each);
    auto apply = dyn_cast<ApplyOp>(each);
    std::string site = reduce  ? (reduce.getNode() + ".step").str()
                       : apply ? apply.getSite().str()
                               : "";
    if (site.empty()) {
      if (each.getNumResults() == 1)
        formats[each.getResult(0)] = formatOf(&each);
      continue;
    }
    auto bound = contract.getPrimitives().getAs<FlatSymbolRefAttr>(site);
    Operation *definition = bound ? find(bound.getValue()) : nullptr;
    if (bound && !definition)
      report({"primitives", site})
          << "primitive '" << bound.getValue() << "' at site '" << site
          << "' is unknown [A2]";
    // Without a definition the formats that follow would be guesses.
    if (!definition)
      return failure();
    if (failed(reduce ? checkStep(reduce, definition)
                      : checkFunction(apply, definition)))
      return failure();
    if (reduce && reduce.getKind() == ReduceKind::ExpSum &&
        failed(checkState(reduce)))
      return failure();
    formats[each.getResult(0)] = formatOf(&each);
  }
  return success(ok);
}

/// A3: every operand widens exactly to its argument's format.
LogicalResult RuleChecker::checkArguments(StringRef site, Operation *use,
                                          FunctionType type) {
  StringRef name =
      contract.getPrimitives().getAs<FlatSymbolRefAttr>(site).getValue();
  for (auto [i, operand] : llvm::enumerate(use->getOperands())) {
    Type format = formats.lookup(operand);
    // Extents and constants are converted in the argument's format.
    if (!format ||
        algebra::widensExactly(
            *algebra::parseFormat(formatName(format).str()),
            *algebra::parseFormat(formatName(type.getInput(i)).str())))
      continue;
    report({"primitives", site})
        << "primitive '" << name << "' at site '" << site << "' takes "
        << type.getInput(i) << " as argument " << i << ", and " << format
        << " does not widen to it exactly [A3]";
    return failure();
  }
  return success();
}

LogicalResult RuleChecker::checkFunction(ApplyOp apply, Operation *definition) {
  StringRef site = apply.getSite();
  auto primitive = dyn_cast<PrimitiveOp>(definition);
  if (!primitive || primitive.getKind() != PrimitiveKind::Function ||
      primitive.getFunctionType().getNumInputs() != apply.getArgs().size()) {
    report({"primitives", site})
        << "site '" << site << "' takes a function of "
        << apply.getArgs().size() << " argument"
        << (apply.getArgs().size() == 1 ? "" : "s") << ", and '"
        << SymbolTable::getSymbolName(definition).getValue() << "' is not one"
        << " [A3]";
    return failure();
  }
  return checkArguments(site, apply, primitive.getFunctionType());
}

LogicalResult RuleChecker::checkStep(ReduceOp reduce, Operation *definition) {
  StringRef node = reduce.getNode();
  std::string site = (node + ".step").str();
  StringRef name = SymbolTable::getSymbolName(definition).getValue();
  auto primitive = dyn_cast<PrimitiveOp>(definition);
  auto atom = dyn_cast<AtomOp>(definition);
  std::optional<ReduceKind> kind =
      atom ? atom.getReduction() : primitive.getReduction();
  ReduceKind expected = reduce.getKind() == ReduceKind::ExpSum
                            ? ReduceKind::Sum
                            : reduce.getKind();
  if (kind != expected) {
    report({"primitives", site})
        << "site '" << site << "' takes a step of "
        << stringifyReduceKind(expected) << ", and '" << name << "' is "
        << (kind ? ("a step of " + stringifyReduceKind(*kind)).str()
                 : std::string("a function"))
        << " [A3]";
    return failure();
  }

  auto bound = contract.getNodes().getAs<NodeAttr>(node);
  std::string arithmetic = name.str();
  if (atom)
    arithmetic = arithmeticOf(atom);
  for (const algebra::MergeEntry &entry : bound.getMerge().getValue().entries())
    if (entry.atom && entry.atom->text() != arithmetic) {
      report({"nodes", node, "merge"})
          << "node '" << node << "' merges digit '" << entry.digit
          << "' with the atom '" << entry.atom->text() << "', but its step is '"
          << name << "' [A3]";
      return failure();
    }
  bool fused = llvm::any_of(bound.getMerge().getValue().entries(),
                            [](const auto &entry) { return !!entry.atom; });
  if (atom && !fused) {
    report({"primitives", site})
        << "step '" << name << "' is an atom, but node '" << node
        << "' merges no digit with fused(" << arithmetic << ") [A3]";
    return failure();
  }

  FunctionType type =
      atom ? atom.getFunctionType() : primitive.getFunctionType();
  std::optional<StringRef> product =
      atom ? atom.getProduct() : primitive.getProduct();
  StringRef stated = bound.getProduct() ? bound.getProduct().getValue() : "";
  if (stated != product.value_or("")) {
    InFlightDiagnostic diag = report({"nodes", node, "precision", "product"});
    diag << "product of node '" << node << "' is "
         << (stated.empty() ? "not stated" : ("'" + stated + "'").str());
    if (product)
      diag << ", but the step '" << name << "' has product '" << *product
           << "'";
    else
      diag << ", but a " << stringifyReduceKind(reduce.getKind())
           << " has no product";
    diag << " [P2]";
    return failure();
  }
  if (type.getResult(0) != bound.getAccumulator()) {
    report({"nodes", node, "precision", "accumulator"})
        << "accumulator of node '" << node << "' is " << bound.getAccumulator()
        << ", but the step '" << name << "' accumulates in "
        << type.getResult(0) << " [P3]";
    return failure();
  }
  // An exp_sum steps over weights, not over its operands.
  return reduce.getKind() == ReduceKind::ExpSum
             ? success()
             : checkArguments(site, reduce, type);
}
