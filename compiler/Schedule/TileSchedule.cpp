// TileSchedule.cpp - which tile schedules of a contract a target is offered
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/Schedule/TileSchedule.h"

#include "codegen/Lowering/TileParts.h"
#include "codegen/Lowering/TilePlan.h"
#include "compiler/Schedule/HopperTiles.h"
#include "codegen/Lowering/TileUnits.h"

using namespace mlir;
using namespace bitpact;
using namespace bitpact::schedule;

namespace {

/// Of a block for each warpgroup.
constexpr int64_t kWarpgroupRows = 64;

/// Of a multiprocessor, but for barriers; what a consumer's results leave
/// through is a part of it.
constexpr int64_t kSharedBytes = 226 * 1024, kResultBytes = 16 * 1024;
/// On an H200 three stages, beside more columns, were slower than four beside
/// fewer.
constexpr int64_t kFewStages = 4;

/// How many values that wait for other sums registers hold beside `sums` of each
/// thread. Of ptxas: what else it wants; beside several in shared memory, or one
/// of a narrow format, it finds place for one only.
int64_t heldBeside(ArrayRef<unsigned> slotBits, int64_t sums,
                   int64_t registers) {
  constexpr int64_t rest = 48;
  int64_t slots = int64_t(slotBits.size());
  int64_t held = std::clamp((registers - rest) / sums - 1, int64_t(0), slots);
  bool isNarrow = llvm::any_of(slotBits, [](unsigned bits) { return bits < 32; });
  int64_t others = slots - held;
  return others > 1 || (others > 0 && isNarrow) ? std::min(held, int64_t(1))
                                                : held;
}

/// Of one consumer ptxas finds none for its sums, as many that are held and what
/// a slot in shared memory wants, where they are this many: of 7 divisions of a
/// depth that ptxas 13.0 was asked about it spilled in each.
constexpr int64_t kTooManySums = 96;

/// As many stages as fit beside values that wait for other sums, which have
/// registers as far as a thread has them. Nothing if these are too few.
std::optional<Candidate> besideHeld(Candidate c, ArrayRef<unsigned> slotBits,
                                    ArrayRef<unsigned> broughtBits = {}) {
  if (slotBits.empty() && broughtBits.empty())
    return c;
  // A producer of whole blocks does with the fewest there can be.
  if (c.consumerRegisters && c.copy == "bulk")
    c.producerRegisters = 24, c.consumerRegisters = 240;
  int64_t cells = 64 * c.n, room = kSharedBytes, stage = (c.m + c.n) * c.k * 2;
  c.held = heldBeside(slotBits, cells / 128,
                      c.consumerRegisters ? c.consumerRegisters : 255);
  if (c.consumers == 1 && cells / 128 >= kTooManySums &&
      int64_t(slotBits.size()) > c.held)
    return std::nullopt;
  for (unsigned bits : slotBits.drop_front(size_t(c.held)))
    room -= c.consumers * cells * bits / 8;
  for (unsigned bits : broughtBits)
    room -= c.consumers * cells * bits / 8;
  // Results leave from registers where there is no room for them, and those of one
  // consumer always.
  int64_t results = c.consumers > 1 ? c.consumers * kResultBytes : 0;
  if ((room - results) / stage >= kFewStages)
    room -= results;
  c.stages = std::min(c.stages, room / stage);
  return c.stages < kFewStages ? std::nullopt : std::optional(c);
}

/// Of a dim, 0 where the contract leaves it open.
int64_t extentOf(pact::ContractOp contract, StringRef dim) {
  auto extent = contract.getDims().getAs<IntegerAttr>(dim);
  return extent && extent.getInt() != ShapedType::kDynamic ? extent.getInt() : 0;
}

/// Of a block that is for one row of blocks alone.
constexpr int64_t kWideColumns = 96, kLongStage = 128;

/// Of fewer columns no costs were measured.
constexpr int64_t kLeastColumns = 1024;

/// Whether a block is offered for no more rows than it has. Of those several with fewer
/// rows than a warpgroup are slower than one that has 64; and wide ones with long
/// stages win only where weights are read once.
bool isOfOneRow(const Candidate &c) {
  return c.m < kWarpgroupRows || (c.m == kWarpgroupRows && c.n >= kWideColumns &&
                                  c.k >= kLongStage);
}

/// Kernels of sums with parts are several times as long as others, and take as
/// much longer to compile; and of whole sums there are many. Of those without units
/// of their own, where columns are fixed, such are kept that cost least for some
/// number of rows on the device that costs were measured on.
void keepCheapest(std::vector<Candidate> &all, int64_t cols, int64_t depth) {
  auto costOf = [&](const Candidate &c, int64_t rows) {
    if (!c.start || c.split > 1 || (isOfOneRow(c) && rows > c.m) ||
        (c.cluster > 1 && rows != c.m))
      return std::numeric_limits<int64_t>::max();
    int64_t tiles = llvm::divideCeil(rows, c.m) * llvm::divideCeil(cols, c.n),
            rounds = llvm::divideCeil(tiles, kHopperMeasurement.units / c.cluster);
    return c.start + rounds * (c.tile + c.element * depth);
  };
  constexpr int64_t most = 8192;
  std::vector<bool> isCheapest(all.size());
  // As many as blocks have, and one more.
  for (int64_t rows = 1; rows <= most;
       rows = rows < kWarpgroupRows ? 4 * rows : rows + kWarpgroupRows)
    for (int64_t each : {rows, rows + 1}) {
      auto least = llvm::min_element(all, [&](const auto &a, const auto &b) {
        return costOf(a, each) < costOf(b, each);
      });
      isCheapest[size_t(least - all.begin())] = true;
    }
  size_t number = 0;
  llvm::erase_if(all, [&](const Candidate &c) {
    size_t i = number++;
    return !isCheapest[i] && c.start && c.split == 1;
  });
}

const BlockCost *costIn(ArrayRef<BlockCost> table, const Candidate &c) {
  const BlockCost *found = llvm::find_if(table, [&](const BlockCost &each) {
    return each.m == c.m && each.n == c.n && each.k == c.k;
  });
  return found == table.end() ? nullptr : found;
}

/// Up to these columns of sums with parts, and up to these consumers of others,
/// registers have always sufficed.
constexpr int64_t kSureColumns = 64, kSureConsumers = 2;

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
  if (family.segments)
    for (const std::string &dim :
         {family.segments->boundDim, family.segments->stackDim})
      dims[dim] = {1, lowering::kMostTileRows};
  // What the contract fixes needs no condition.
  for (NamedAttribute dim : contract.getDims())
    if (cast<IntegerAttr>(dim.getValue()).getInt() != ShapedType::kDynamic)
      dims.erase(dim.getName().str());
  return dims;
}

std::optional<Measurement>
schedule::measurementOf(const codegen::Target &target) {
  if (target.spec() == "cuda:sm_90a")
    return kHopperMeasurement;
  return std::nullopt;
}

void schedule::proposeTiles(pact::ContractOp contract, pact::OperatorOp op,
                            const codegen::Target &target,
                            ArrayRef<std::string> roles,
                            std::vector<Proposal> &proposals,
                            std::vector<std::string> &refusals) {
  if (target.kind() == codegen::TargetKind::Cpu)
    return proposeOwnTiles(contract, op, target, roles, proposals, refusals);
  proposeSharedTiles(contract, op, target, roles, proposals, refusals);
  // Other targets have no instruction for it.
  if (target.spec() != "cuda:sm_90a" || !isOfWarpgroups(contract, op))
    return;
  int64_t products = llvm::range_size(op.getOps<pact::ReduceOp>());
  std::vector<unsigned> slotBits = lowering::slotBits(contract, op);
  std::vector<Candidate> candidates;
  auto add = [&](ArrayRef<Candidate> all) {
    for (const Candidate &c : all)
      if (std::optional<Candidate> beside = besideHeld(c, slotBits))
        candidates.push_back(*beside);
  };
  add(kHopper);
  bool isCut = !op.getOps<pact::SegmentOp>().empty();
  if (!slotBits.empty())
    add(kHopperParts);
  else if (!isCut)
    add(kHopperWhole);
  pact::ReduceOp dot = *op.getOps<pact::ReduceOp>().begin();
  int64_t columns = extentOf(
      contract, cast<pact::RealType>(dot.getResult().getType()).getDims().back());
  int64_t depth = extentOf(contract, dot.getOver());
  bool isMeasured = columns >= kLeastColumns && depth && products == 1;
  if (!isCut && columns && (isMeasured || !slotBits.empty()))
    keepCheapest(candidates, columns, depth);
  for (const Candidate &c : kHopperSplit) {
    std::vector<unsigned> brought =
        lowering::broughtBits(contract, op, c.split, c.k);
    // Of so many columns even one row of blocks leaves no multiprocessor idle.
    if (brought.empty() ||
        (columns && (columns - 1) / c.n >= kMostMultiprocessors / c.split))
      continue;
    if (std::optional<Candidate> beside = besideHeld(
            c, lowering::slotBits(contract, op, c.split, c.k), brought))
      candidates.push_back(*beside);
  }
  bool isGated = products > 1 && slotBits.empty() && !isCut;
  for (const Candidate &c : candidates) {
    const BlockCost *own = isGated ? costIn(kHopperGated, c)
                           : isCut ? costIn(kHopperSegments, c)
                                   : nullptr;
    if (isGated && c.start && !own)
      continue;
    // wgmma takes multiples of eight columns.
    if (c.n % (8 * products))
      continue;
    auto attr = tile::ScheduleAttr::get(
        contract.getContext(), c.m, c.n / products, c.k, c.stages, c.consumers,
        c.group, c.copy, c.producerRegisters, c.consumerRegisters,
        c.cluster, c.held, c.split);
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
    lowering::TileFamily family = llvm::cantFail(lowering::tileFamily(op));
    // Segments may have few rows each, however many there are.
    if (auto rows = proposal.dims.find(family.rowDim);
        isOfOneRow(c) && !isCut && rows != proposal.dims.end())
      rows->second.second = c.m;
    // Its CTAs copy all rows of a block, and such as do not exist take longest; of
    // more rows it is faster for some numbers of columns and slower for others that
    // take as many rounds.
    if (auto rows = proposal.dims.find(family.rowDim);
        c.cluster > 1 && rows != proposal.dims.end())
      rows->second = {c.m, c.m};
    proposal.overlaps = attr.copiesInBulk();
    proposal.mayLack = c.consumers > kSureConsumers ||
                       (!slotBits.empty() && c.n > kSureColumns);
    if (c.start) {
      // Those of one product and of two, undivided or shared by a cluster, were
      // measured.
      proposal.cost = {family.depthDim, c.start, c.tile, c.element,
                       products > (isGated ? 2 : 1) ||
                           (!slotBits.empty() && c.split == 1)};
      if (own) {
        proposal.cost.start = own->start;
        proposal.cost.tile = own->tile;
        proposal.cost.element = own->element;
      }
    }
    proposals.push_back(proposal);
  }
}
