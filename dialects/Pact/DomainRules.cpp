// DomainRules.cpp - rules D4, D5 and S1: how much of a dim exists for a node
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dialects/Pact/RuleChecker.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace bitpact;
using namespace bitpact::pact;

/// D4: what is stored is the dim, and some of it exists.
LogicalResult RuleChecker::checkStored(ReduceOp reduce, NodeAttr node,
                                       int64_t dim) {
  if (node.getStored() == dim && node.getExtent() >= 1 &&
      node.getExtent() <= dim)
    return success();
  InFlightDiagnostic diag = report({"nodes", reduce.getNode(), "domain"});
  diag << "domain of node '" << reduce.getNode() << "' has extent "
       << node.getExtent() << " of " << node.getStored() << " stored, and dim '"
       << reduce.getOver() << "' is ";
  if (ShapedType::isDynamic(dim))
    diag << "\"*\"";
  else
    diag << dim;
  diag << "; stored is the dim, which is a number, and 1 <= extent <= stored "
          "[D4]";
  return failure();
}

/// S1 and D5: nodes over one dim that belong together have one extent.
LogicalResult RuleChecker::checkDomains() {
  bool ok = true;
  SmallVector<ReduceOp> reductions(op.getOps<ReduceOp>());
  auto nodeOf = [&](ReduceOp reduce) {
    return contract.getNodes().getAs<NodeAttr>(reduce.getNode());
  };
  for (ReduceOp reduce : reductions) {
    if (reduce.getKind() != ReduceKind::ExpSum)
      continue;
    auto max = reduce.getArgs()[1].getDefiningOp<ReduceOp>();
    NodeAttr own = nodeOf(reduce), other = nodeOf(max);
    if (own.getExtent() != other.getExtent()) {
      report({"nodes", reduce.getNode(), "domain"})
          << "domain of node '" << reduce.getNode()
          << "' differs from that of its maximum '" << max.getNode()
          << "'; both reduce the same elements [S1]";
      ok = false;
    }
    for (const algebra::MergeEntry &entry :
         other.getMerge().getValue().entries())
      if (entry.from || entry.in) {
        report({"nodes", max.getNode(), "merge"})
            << "merge '" << entry.text() << "' of node '" << max.getNode()
            << "' rounds, and the state of '" << reduce.getNode()
            << "' takes the exact maximum [S1]";
        ok = false;
      }
  }
  llvm::StringSet<> counted; // dims whose extent the operator asks for
  for (Operation &each : op.getBody().front()) {
    if (auto extent = dyn_cast<ExtentOp>(each))
      counted.insert(extent.getDim());
    else if (auto take = dyn_cast<TakeOp>(each))
      counted.insert(take.getOver());
    else if (auto segment = dyn_cast<SegmentOp>(each))
      counted.insert(segment.getOver());
  }
  llvm::StringMap<ReduceOp> first;
  for (ReduceOp reduce : reductions) {
    if (!counted.contains(reduce.getOver()))
      continue;
    ReduceOp before = first.try_emplace(reduce.getOver(), reduce).first->second;
    if (nodeOf(before).getExtent() == nodeOf(reduce).getExtent())
      continue;
    report({"nodes", reduce.getNode(), "domain"})
        << "domains of nodes '" << before.getNode() << "' and '"
        << reduce.getNode() << "' over dim '" << reduce.getOver()
        << "' have different extents, and operator '" << op.getSymName()
        << "' uses the extent of this dim [D5]";
    ok = false;
  }
  return success(ok);
}
