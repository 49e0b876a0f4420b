// TileSchedule.cpp - which tile schedules of a contract a target is offered
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/Schedule/TileSchedule.h"

#include "codegen/Lowering/TileParts.h"
#include "codegen/Lowering/TilePlan.h"
#include "codegen/Lowering/TileUnits.h"

using namespace mlir;
using namespace bitpact;
using namespace bitpact::schedule;

namespace {

/// Costs in picoseconds: see runtime/package/Format.h.
struct Candidate {
  int64_t m, n, k, stages, consumers, group;
  StringRef copy;
  int64_t producerRegisters, consumerRegisters, priority;
  int64_t start, tile, element;
  int64_t held = 0, split = 1;
};

/// sm_90a: 64 rows of a block for each warpgroup, or fewer where few exist. Many
/// rows want as many columns as a warpgroup has registers for sums, so that an
/// operand that has been copied is used most; few want blocks so narrow that all
/// multiprocessors have one, and as much of the weights on its way as shared
/// memory holds. Costs are fitted to a sweep on an H200
/// (docs/results/2026-11-30-matmul.md).
///
/// Launches overlap where one block has all rows there are (docs/packages.md): of
/// more, programs share weights, and lose more by running at other times than a
/// launch wins.
///
/// Products of one operand with several divide the columns: a stage and the
/// registers hold as many, and cost the same, for all products together.
///
/// Where rows are not aligned as the copy unit wants them, threads copy, and
/// need registers for what is on its way. Roles of three warpgroups share 168
/// registers for each thread: what one gains another gives.
constexpr Candidate kHopper[] = {
    {16, 32, 128, 18, 1, 8, "bulk", 0, 0, 10, 2586704, 228868, 1739},
    {16, 48, 128, 14, 1, 8, "bulk", 0, 0, 10, 2615130, 3688274, 1580},
    {64, 32, 128, 9, 1, 8, "bulk", 0, 0, 10, 1856002, 372762, 1929},
    {64, 48, 128, 8, 1, 8, "bulk", 0, 0, 10, 2828612, 2037135, 2088},
    {64, 64, 128, 6, 1, 8, "bulk", 0, 0, 10, 1266648, 4522974, 2019},
    {64, 128, 64, 8, 1, 8, "bulk", 0, 0, 10, 1051964, 4494818, 3103},
    {64, 192, 64, 6, 1, 8, "bulk", 0, 0, 10, 3984579, 4933162, 4351},
    {128, 128, 64, 6, 2, 8, "bulk", 40, 232, 10, 1131581, 4386907, 5356},
    {128, 192, 64, 4, 2, 8, "bulk", 40, 232, 10, 4769472, 4565841, 8385},
    {128, 256, 64, 4, 2, 16, "bulk", 40, 232, 10, 3273825, 6917806, 10595},
    {128, 256, 64, 4, 2, 8, "plain", 88, 208, 20, 0, 0, 0},
};

/// Of sums without parts, of whole rows.
constexpr Candidate kHopperWhole[] = {
    {64, 96, 64, 10, 1, 8, "bulk", 0, 0, 10, 1500000, 5000000, 2600},
};

/// Of the blocks above where rows are cut at offsets: several tiles are short, and
/// there are fewer than a launch counts (docs/packages.md), so that a round takes
/// less and fewer columns win longer. Fitted to every variant of Qwen3-30B-A3B's
/// experts at 1 to 4096 tokens on an H200
/// (docs/results/2026-11-30-experts-activation.md).
constexpr struct {
  int64_t m, n, start, tile, element;
} kHopperSegments[] = {
    {16, 32, 19563154, 30371, 1045},
    {16, 48, 14213378, 323210, 1287},
    {64, 32, 18045391, 10826, 1160},
    {64, 48, 19603819, 145693, 1272},
    {64, 64, 23241543, 49190, 1712},
    {64, 128, 14167201, 1223266, 3412},
    {64, 192, 38669012, 1367389, 3635},
    {128, 128, 16040066, 6990, 4499},
    {128, 192, 18682314, 1240836, 6372},
    {128, 256, 17881590, 1756336, 8602},
};

constexpr Measurement kHopperMeasurement = {"NVIDIA H200", 132, "2026-11-30"};

/// Where sums have parts: a block whose registers hold many of them, and rows
/// that are not aligned.
constexpr Candidate kHopperParts[] = {
    {128, 64, 64, 8, 2, 8, "bulk", 40, 232, 10, 500000, 4500000, 3050},
    {64, 64, 64, 4, 1, 8, "plain", 0, 0, 20, 0, 0, 0},
};

/// Where few blocks leave multiprocessors idle, several compute one: each has its
/// parts of the sums. No unit has fewer than eight columns. Costs are fitted to
/// 512 to 4096 columns of 4096 elements on an H200
/// (docs/results/2026-11-30-split.md).
constexpr Candidate kHopperSplit[] = {
    {64, 32, 128, 9, 1, 8, "bulk", 0, 0, 10, 1856002, 900000, 965, 0, 2},
    {64, 64, 128, 6, 1, 8, "bulk", 0, 0, 10, 900000, 2500000, 252, 0, 8},
};
/// No GPU of the architecture has more.
constexpr int64_t kMostMultiprocessors = 144;

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
  // Results leave from registers where there is no room for them.
  int64_t results = c.consumers * kResultBytes;
  if ((room - results) / stage >= kFewStages)
    room -= results;
  c.stages = std::min(c.stages, room / stage);
  return c.stages < kFewStages ? std::nullopt : std::optional(c);
}

/// Of the result, 1 where the contract leaves it open.
int64_t columns(pact::ContractOp contract, pact::OperatorOp op) {
  pact::OutputOp output = *op.getOps<pact::OutputOp>().begin();
  StringAttr dim =
      cast<pact::RealType>(output.getValue().getType()).getDims().back();
  auto extent = contract.getDims().getAs<IntegerAttr>(dim);
  return extent && extent.getInt() != ShapedType::kDynamic ? extent.getInt() : 1;
}

/// Up to these columns registers have always sufficed.
constexpr int64_t kSureColumns = 64;

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
  for (const Candidate &c : kHopperSplit) {
    std::vector<unsigned> brought =
        lowering::broughtBits(contract, op, c.split, c.k);
    // Of so many columns even one row of blocks leaves no multiprocessor idle.
    if (brought.empty() ||
        (columns(contract, op) - 1) / c.n >= kMostMultiprocessors / c.split)
      continue;
    if (std::optional<Candidate> beside = besideHeld(
            c, lowering::slotBits(contract, op, c.split, c.k), brought))
      candidates.push_back(*beside);
  }
  for (const Candidate &c : candidates) {
    // wgmma takes multiples of eight columns.
    if (c.n % (8 * products))
      continue;
    auto attr = tile::ScheduleAttr::get(
        contract.getContext(), c.m, c.n / products, c.k, c.stages, c.consumers,
        c.group, c.copy, c.producerRegisters, c.consumerRegisters,
        /*cluster=*/1, c.held, c.split);
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
    // Of more rows several such blocks are slower than one that has 64. Segments
    // may have few rows each, however many there are.
    if (auto rows = proposal.dims.find(family.rowDim);
        c.m < kWarpgroupRows && !isCut && rows != proposal.dims.end())
      rows->second.second = c.m;
    proposal.overlaps = attr.copiesInBulk();
    proposal.mayLack = !slotBits.empty() && c.n > kSureColumns;
    if (c.start) {
      // Those of one product, undivided or shared by a cluster, were measured.
      proposal.cost = {family.depthDim, c.start, c.tile, c.element,
                       products > 1 || (!slotBits.empty() && c.split == 1)};
      for (const auto &cut : kHopperSegments)
        if (family.segments && cut.m == c.m && cut.n == c.n) {
          proposal.cost.start = cut.start;
          proposal.cost.tile = cut.tile;
          proposal.cost.element = cut.element;
        }
    }
    proposals.push_back(proposal);
  }
}
