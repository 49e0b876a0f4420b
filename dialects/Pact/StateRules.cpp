// StateRules.cpp - rules A1, A3 and S6 for the primitive sites of nodes
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dialects/Pact/RuleChecker.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace bitpact;
using namespace bitpact::pact;

LogicalResult RuleChecker::checkPrimitiveSites() {
  SmallVector<std::string> names, absent;
  bool ok = true;
  for (Operation &each : op.getBody().front()) {
    if (auto apply = dyn_cast<ApplyOp>(each))
      names.push_back(apply.getSite().str());
    auto reduce = dyn_cast<ReduceOp>(each);
    if (!reduce)
      continue;
    auto node = contract.getNodes().getAs<NodeAttr>(reduce.getNode());
    bool online = node.getState() == algebra::State::Online;
    bool merges = llvm::any_of(node.getMerge().getValue().entries(),
                               [](const auto &entry) { return entry.merge; });
    for (auto [i, site] : llvm::enumerate(primitiveSites(reduce))) {
      bool occurs = i < 2 || (i == 2 ? online : merges);
      (occurs ? names : absent).push_back(site);
      if (occurs || !contract.getPrimitives().contains(site))
        continue;
      report({"primitives", site, ""})
          << "'primitives' binds '" << site << "', but node '"
          << reduce.getNode() << "' "
          << (i == 2 ? "is two_pass and rescales nothing" : "merges no states")
          << " [S6]";
      ok = false;
    }
  }
  SmallVector<StringRef> sites(names.begin(), names.end());
  SmallVector<StringRef> reported(absent.begin(), absent.end());
  return success(succeeded(checkKeys("primitives", "primitive site",
                                     contract.getPrimitives(), sites, "A1",
                                     "A1", reported)) &&
                 ok);
}

static bool widens(Type from, Type to) {
  return algebra::widensExactly(*algebra::parseFormat(formatName(from).str()),
                                *algebra::parseFormat(formatName(to).str()));
}

LogicalResult RuleChecker::checkFunctionAt(StringRef site,
                                           ArrayRef<Type> arguments,
                                           Type result) {
  auto bound = contract.getPrimitives().getAs<FlatSymbolRefAttr>(site);
  if (!bound) // reported by A1
    return failure();
  auto fail = [&]() -> InFlightDiagnostic {
    return report({"primitives", site}) << "primitive '" << bound.getValue()
                                        << "' at site '" << site << "' ";
  };
  Operation *definition = find(bound.getValue());
  if (!definition)
    return fail() << "is unknown [A2]";
  auto primitive = dyn_cast<PrimitiveOp>(definition);
  FunctionType type = primitive ? primitive.getFunctionType() : FunctionType();
  if (!primitive || primitive.getKind() != PrimitiveKind::Function ||
      type.getNumInputs() != arguments.size())
    return fail() << "is no function of " << arguments.size()
                  << " arguments [A3]";
  for (auto [i, argument] : llvm::enumerate(arguments))
    if (argument && !widens(argument, type.getInput(i)))
      return fail() << "takes " << type.getInput(i) << " as argument " << i
                    << ", and " << argument << " does not widen to it exactly "
                    << "[A3]";
  if (!widens(type.getResult(0), result))
    return fail() << "gives " << type.getResult(0) << ", which does not widen "
                  << "exactly to " << result << " [A3]";
  return success();
}

/// A3 for the functions of a state: the weight of an element, what a sum is
/// worth under another maximum, and how two sums meet.
LogicalResult RuleChecker::checkState(ReduceOp reduce) {
  auto node = contract.getNodes().getAs<NodeAttr>(reduce.getNode());
  Type x = formats.lookup(reduce.getArgs()[0]);
  Type m = formats.lookup(reduce.getArgs()[1]);
  Type sum = node.getAccumulator();
  SmallVector<std::string> sites = primitiveSites(reduce);
  auto step = cast<PrimitiveOp>(find(
      contract.getPrimitives().getAs<FlatSymbolRefAttr>(sites[0]).getValue()));
  bool ok = succeeded(
      checkFunctionAt(sites[1], {x, m}, step.getFunctionType().getInput(0)));
  if (node.getState() == algebra::State::Online)
    ok &= succeeded(checkFunctionAt(sites[2], {m, m}, sum));
  if (ok && contract.getPrimitives().contains(sites[3])) {
    auto rescale =
        cast<PrimitiveOp>(find(contract.getPrimitives()
                                   .getAs<FlatSymbolRefAttr>(sites[2])
                                   .getValue()));
    Type factor = rescale.getFunctionType().getResult(0);
    ok &= succeeded(checkFunctionAt(sites[3], {sum, factor, sum, factor}, sum));
  }
  return success(ok);
}
