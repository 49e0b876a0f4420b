// SharedTileSchedule.cpp - tile schedules whose consumers copy
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/Schedule/TileSchedule.h"

#include "codegen/Lowering/TileParts.h"
#include "codegen/Lowering/TilePlan.h"

using namespace mlir;
using namespace bitpact;
using namespace bitpact::schedule;

namespace {

struct Candidate {
  int64_t m, n, rowBytes, stages, consumers;
  StringRef copy;
};

/// Blocks above each other that find their columns in a cache.
constexpr int64_t kGroup = 8;

/// Two consumers of 64 rows each, which are four warps or two waves side by
/// side: 64 x 64 elements for each warp of mma.sync, so that a read of shared
/// memory is used most, and no more than its registers have sums for.
constexpr Candidate kAmpere = {128, 256, 128, 3, 2, "async"};
/// Half as wide where other tensors meet the sums in registers.
constexpr Candidate kAmpereMore = {128, 128, 128, 4, 2, "async"};
/// A chain of fma has 64 sums for each thread, 8 x 8.
constexpr Candidate kVector = {128, 128, 128, 3, 2, "async"};
/// CDNA: 64 x 64 for each wave, as 2 x 2 of its matrix instruction or 8 x 8 for
/// each lane of the vector unit. Two stages are half of the shared memory of a
/// unit, which then holds two programs.
constexpr Candidate kCdna = {128, 128, 64, 2, 2, "registers"};

/// Where sums have parts, of which some wait for others in registers.
constexpr int64_t kColsOfParts = 64;

/// The step decides; whether the target has it is known. None for what other
/// schedules serve.
const Candidate *candidateOf(StringRef step, bool others,
                             const codegen::Target &target) {
  bool isChain = step == "dot.fma.f32";
  switch (target.kind()) {
  case codegen::TargetKind::Cpu:
    return nullptr;
  case codegen::TargetKind::Cuda:
    if (isChain)
      return &kVector;
    if (!step.starts_with("dot.nv(8,24)"))
      return nullptr;
    return others ? &kAmpereMore : &kAmpere;
  case codegen::TargetKind::Hip:
    return isChain || step.starts_with("dot.cdna3") ? &kCdna : nullptr;
  }
  llvm_unreachable("covered above");
}

} // namespace

void schedule::proposeSharedTiles(pact::ContractOp contract,
                                  pact::OperatorOp op,
                                  const codegen::Target &target,
                                  ArrayRef<std::string> roles,
                                  std::vector<Proposal> &proposals,
                                  std::vector<std::string> &refusals) {
  llvm::Expected<lowering::TileFamily> family = lowering::tileFamily(op);
  if (!family) {
    // To an operator without a product tiles are no alternative.
    llvm::consumeError(family.takeError());
    return;
  }
  const Candidate *c = candidateOf(lowering::stepOf(contract, family->dots.front()),
                                   !family->others.empty(), target);
  if (!c)
    return;
  Type element = cast<TypeAttr>(contract.getTypes().get(family->a)).getValue();
  int64_t n = lowering::slotBits(contract, op).empty() ? c->n : kColsOfParts;
  auto attr = tile::ScheduleAttr::get(
      contract.getContext(), c->m, n / int64_t(family->dots.size()),
      8 * c->rowBytes / element.getIntOrFloatBitWidth(), c->stages,
      c->consumers, kGroup, c->copy, /*producerRegisters=*/0,
      /*consumerRegisters=*/0, /*cluster=*/1);
  if (std::optional<std::string> why = lowering::whyNot(contract, op, attr)) {
    refusals.push_back("tiles: " + *why);
    return;
  }
  Proposal proposal;
  proposal.tiles = attr;
  proposal.roles = roles.vec();
  proposal.priority = 10;
  proposal.dims = tileExtents(contract, op);
  proposals.push_back(proposal);
}
