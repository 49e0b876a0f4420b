// TileSchedule.cpp - which tile schedules of a contract a target is offered
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/Schedule/TileSchedule.h"

#include "codegen/Lowering/TilePlan.h"

using namespace mlir;
using namespace bitpact;
using namespace bitpact::schedule;

namespace {

struct Candidate {
  int64_t m, n, k, stages, consumers, group;
  StringRef copy;
  int64_t producerRegisters, consumerRegisters, priority;
};

/// sm_90a: 64 rows of a block for each warpgroup; as many columns as its
/// registers have sums for, so that an operand that has been copied is used
/// most. Four stages fill the shared memory. Where rows are not aligned as the
/// copy unit wants them, threads copy, and need registers for what is on its
/// way. Roles share 168 registers for each of the 384 threads: what one gains
/// another gives.
constexpr Candidate kHopper[] = {
    {128, 256, 64, 4, 2, 8, "bulk", 40, 232, 10},
    {128, 256, 64, 4, 2, 8, "plain", 88, 208, 20},
};

bool hasAtom(pact::ContractOp contract) {
  return llvm::any_of(contract.getPrimitives(), [&](NamedAttribute bound) {
    return bool(SymbolTable::lookupNearestSymbolFrom<pact::AtomOp>(
        contract, cast<FlatSymbolRefAttr>(bound.getValue())));
  });
}

/// That of wgmma.
bool isOfWarpgroups(pact::ContractOp contract, pact::OperatorOp op) {
  auto dots = op.getOps<pact::ReduceOp>();
  return llvm::any_of(dots, [&](pact::ReduceOp dot) {
    return lowering::stepOf(contract, dot).starts_with("dot.nv(16,25)");
  });
}

} // namespace

std::map<std::string, std::pair<int64_t, int64_t>>
schedule::tileExtents(pact::ContractOp contract, pact::OperatorOp op) {
  lowering::TileFamily family = llvm::cantFail(lowering::tileFamily(op));
  std::map<std::string, std::pair<int64_t, int64_t>> dims;
  for (const std::string &dim : {family.rowDim, family.colDim})
    dims[dim] = {1, lowering::kMostTileRows};
  dims[family.depthDim] = {1, lowering::kMostTileDepth};
  // What the contract fixes needs no condition.
  for (NamedAttribute dim : contract.getDims())
    if (cast<IntegerAttr>(dim.getValue()).getInt() != ShapedType::kDynamic)
      dims.erase(dim.getName().str());
  return dims;
}

void schedule::proposeTiles(pact::ContractOp contract, pact::OperatorOp op,
                            const codegen::Target &target,
                            ArrayRef<std::string> roles,
                            std::vector<Proposal> &proposals,
                            std::vector<std::string> &refusals) {
  proposeSharedTiles(contract, op, target, roles, proposals, refusals);
  // Other targets have no instruction for it.
  if (target.spec() != "cuda:sm_90a" || !isOfWarpgroups(contract, op))
    return;
  for (const Candidate &c : kHopper) {
    auto attr = tile::ScheduleAttr::get(
        contract.getContext(), c.m, c.n, c.k, c.stages, c.consumers, c.group,
        c.copy, c.producerRegisters, c.consumerRegisters);
    if (std::optional<std::string> why = lowering::whyNot(contract, op, attr)) {
      std::string text = "tiles: " + *why;
      // To a contract without an atom tiles are no alternative.
      if (hasAtom(contract) && !llvm::is_contained(refusals, text))
        refusals.push_back(text);
      continue;
    }
    Proposal proposal;
    proposal.tiles = attr;
    proposal.roles = roles.vec();
    proposal.priority = c.priority;
    proposal.dims = tileExtents(contract, op);
    proposals.push_back(proposal);
  }
}
