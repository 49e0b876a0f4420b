// TileLayout.cpp - where a tile kernel has its shared memory and tensor maps
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/NVPTX/TileLayout.h"

#include "codegen/Lowering/TileBoxes.h"
#include "codegen/NVPTX/TileLimits.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace bitpact;
using namespace bitpact::codegen;

namespace {

/// Rows of a box of the copy unit.
constexpr int64_t kMostBoxRows = 256;

template <typename... Args>
llvm::Error refusal(const char *format, Args &&...args) {
  return llvm::createStringError(
      llvm::formatv(format, std::forward<Args>(args)...).str());
}

int64_t elementBytes(Type type) { return type.getIntOrFloatBitWidth() / 8; }

/// Values that units bring to each other lie beside what else a CTA has.
llvm::Error placeMeeting(tile::FuncOp func, TileLayout &layout) {
  tile::ScheduleAttr schedule = func.getSchedule();
  int64_t units = schedule.getSplit(), cols = schedule.colsPerUnit();
  if (units == 1)
    return llvm::Error::success();
  if (units > kMostCluster || units & (units - 1))
    return refusal("split is {0}; sm_90a has clusters of powers of two up to {1}",
                   units, kMostCluster);
  if (cols % kPairCols)
    return refusal("n is {0}; of it {1} units have {2} columns each, not "
                   "multiples of {3}",
                   schedule.getN(), units, cols, kPairCols);
  SmallVector<tile::MeetOp> meets;
  func.walk([&](tile::MeetOp meet) { meets.push_back(meet); });
  if (meets.size() != 1)
    return refusal("split is {0} and units meet in {1} places; sm_90a has "
                   "barriers for one",
                   units, meets.size());
  TileLayout::Meeting meeting;
  for (Value value : meets.front().getValues()) {
    meeting.values.push_back(meeting.ofUnit);
    meeting.ofUnit +=
        kDotRows * cols *
        elementBytes(cast<tile::ValuesType>(value.getType()).getElementType());
  }
  meeting.first = layout.sharedBytes;
  meeting.bytes = units * meeting.ofUnit;
  layout.sharedBytes += schedule.consumersPerUnit() * meeting.bytes;
  layout.meeting = meeting;
  return llvm::Error::success();
}

/// The block of that number of a stage. Where consumers take their own rows of
/// it, a CTA of a cluster has no others.
template <typename Waits>
TileLayout::Place placeOf(tile::BlockType type, size_t number, Waits waits,
                          tile::ScheduleAttr schedule) {
  TileLayout::Place place{0, type.getRows(),
                          type.getCols() / boxCols(type.getElementType()), 0,
                          0};
  if (schedule.getCluster() == 1)
    return place;
  place.isShared = !llvm::all_of(waits, [&](Operation *wait) {
    return llvm::all_of(wait->getResult(number).getUsers(),
                        llvm::IsaPred<tile::RowsOp>);
  });
  if (!place.isShared)
    place.rows /= schedule.getCluster();
  return place;
}

/// Values that wait for other sums are where the schedule says.
void placeHeld(tile::FuncOp func, TileLayout &layout) {
  tile::ScheduleAttr schedule = func.getSchedule();
  std::vector<unsigned> bits;
  int64_t cols = 0;
  func.walk([&](tile::HoldOp hold) {
    tile::ValuesType type = hold.getType();
    cols = type.getCols();
    bits.resize(std::max(bits.size(), size_t(hold.getSlot()) + 1));
    unsigned &most = bits[size_t(hold.getSlot())];
    most = std::max(most, type.getElementType().getIntOrFloatBitWidth());
  });
  layout.heldInRegisters = std::min(bits.size(), size_t(schedule.getHeld()));
  layout.held.resize(bits.size());
  for (size_t i = layout.heldInRegisters; i < bits.size(); ++i) {
    layout.held[i] = layout.sharedBytes;
    layout.sharedBytes +=
        schedule.consumersPerUnit() * kDotRows * cols * bits[i] / 8;
  }
}

/// The blocks of a pipe that are multiplied with one operand: its last ones, or
/// none.
size_t secondOperands(tile::PipeOp pipe) {
  size_t blocks = pipe.getType().getBlocks().size(), first = blocks;
  for (Operation *user : pipe->getUsers())
    if (auto wait = dyn_cast<tile::WaitOp>(user))
      while (first > 0 &&
             llvm::all_of(wait.getResult(first - 1).getUsers(),
                          [&](Operation *each) {
                            auto dot = dyn_cast<tile::DotOp>(each);
                            return dot &&
                                   dot.getB() == wait.getResult(first - 1) &&
                                   dot.getB().getType().getElementType() ==
                                       dot.getA().getType().getElementType();
                          }))
        --first;
  return first;
}

/// Of a first operand a warpgroup reads as many rows as it multiplies, also
/// behind the last stage.
int64_t endOfReads(tile::FuncOp func, const TileLayout &layout) {
  int64_t end = 0;
  func.walk([&](tile::DotOp dot) {
    Value block = dot.getA();
    if (auto rows = block.getDefiningOp<tile::RowsOp>())
      block = rows.getBlock();
    const TileLayout::Place &place = layout.placeOf(block);
    Value pipe = block.getDefiningOp()->getOperand(0);
    int64_t stages = cast<tile::PipeType>(pipe.getType()).getStages();
    end = std::max(end, place.first + stages * place.stageStep +
                            (kDotRows - place.rows) * kSwizzledRow);
  });
  return end;
}

} // namespace

StringRef codegen::tensorOf(tile::FuncOp func, tile::ViewOp view) {
  auto buffer = cast<BlockArgument>(view->getOperand(0));
  return cast<StringAttr>(func.getSlots()[buffer.getArgNumber()]).getValue();
}

int64_t codegen::boxCols(Type element) {
  return kSwizzledRow / elementBytes(element);
}

/// Whether values are made of elements of a tensor.
static bool loadsElements(Value values) {
  if (auto map = values.getDefiningOp<tile::MapOp>())
    return llvm::any_of(map.getValues(), loadsElements);
  return bool(values.getDefiningOp<tile::LoadOp>());
}

bool codegen::isStaged(tile::PutOp put, tile::ScheduleAttr schedule) {
  tile::ValuesType type = put.getValues().getType();
  // One consumer alone, which few rows have, is done sooner without the way through
  // shared memory, and stages have the room.
  if (schedule.consumersPerUnit() == 1)
    return false;
  // Rows that end within a tensor leave in two ways, and what is loaded for one
  // is not there for the other.
  if (put.getEnd() && loadsElements(put.getValues()))
    return false;
  return schedule.copiesInBulk() && elementBytes(type.getElementType()) <= 4 &&
         type.getRows() == kDotRows &&
         type.getCols() % boxCols(type.getElementType()) == 0;
}

const TileLayout::Place &TileLayout::placeOf(Value block) const {
  auto stage = cast<OpResult>(block);
  Value pipe = stage.getOwner()->getOperand(0);
  return pipes.find(pipe)->second.blocks[stage.getResultNumber()];
}

size_t TileLayout::mapOf(const TensorMap &map) {
  auto found = llvm::find(maps, map);
  if (found == maps.end())
    found = maps.insert(maps.end(), map);
  return size_t(found - maps.begin());
}

/// Of blocks for few rows the second-level cache asks for what a row of a box has: 1 row
/// of 24576 columns took 47 us so on an H200, and 50 with 256 bytes, of which half are
/// another box's. Blocks of more rows win 3 % by 256.
static int64_t promotionOf(tile::ScheduleAttr schedule) {
  return schedule.getM() <= kDotRows ? kSwizzledRow : 0;
}

TensorMap TileLayout::mapOf(tile::FuncOp func, tile::FetchOp fetch) const {
  const Place &place = placeOf(fetch.getBlock());
  tile::ScheduleAttr schedule = func.getSchedule();
  int64_t part = fetch.getBoxes() ? lowering::boxRowsOf(schedule, isCut) : 0;
  int64_t rows =
      place.isShared ? place.rows / schedule.getCluster() : place.rows;
  return {tensorOf(func, fetch.getView().getDefiningOp<tile::ViewOp>()).str(),
          part ? part : rows,
          boxCols(fetch.getBlock().getType().getElementType()), part,
          promotionOf(schedule)};
}

llvm::Expected<TileLayout> codegen::layOut(tile::FuncOp func) {
  TileLayout layout;
  tile::ScheduleAttr schedule = func.getSchedule();
  layout.threads = (1 + schedule.consumersPerUnit()) * kWarpgroup;
  func.walk([&](tile::OffsetOp) { layout.isCut = true; });
  llvm::Error error = llvm::Error::success();
  func.walk([&](tile::DotOp dot) {
    if (!error)
      error = checkDot(dot);
  });
  if (error)
    return error;
  func.walk([&](tile::PipeOp pipe) {
    TileLayout::Pipe all;
    auto waits = llvm::make_filter_range(pipe->getUsers(),
                                         llvm::IsaPred<tile::WaitOp>);
    for (auto [i, type] : llvm::enumerate(pipe.getType().getBlocks())) {
      TileLayout::Place place =
          placeOf(cast<tile::BlockType>(type), i, waits, schedule);
      all.blocks.push_back(place);
    }
    // Those side by side share the room of a stage.
    size_t shared = secondOperands(pipe);
    for (size_t i = 0; i < all.blocks.size();) {
      size_t end = i < shared ? i + 1 : all.blocks.size();
      int64_t panelStep = 0, stageStep = 0;
      for (size_t j = i; j < end; ++j) {
        all.blocks[j].first = layout.sharedBytes + panelStep;
        panelStep += all.blocks[j].panelBytes();
        stageStep += all.blocks[j].bytes();
      }
      layout.sharedBytes += pipe.getType().getStages() * stageStep;
      for (; i < end; ++i) {
        all.blocks[i].panelStep = panelStep;
        all.blocks[i].stageStep = stageStep;
      }
    }
    layout.pipes.insert({pipe.getResult(), all});
  });
  func.walk([&](tile::FetchOp fetch) {
    if (schedule.copiesInBulk())
      layout.mapOf(layout.mapOf(func, fetch));
  });
  placeHeld(func, layout);
  if ((error = placeMeeting(func, layout)))
    return error;
  int64_t barriers =
      layout.meeting ? 2 * 8 * schedule.consumersPerUnit() : int64_t(0);
  for (auto &[value, place] : layout.pipes)
    barriers += 2 * 8 * cast<tile::PipeType>(value.getType()).getStages();
  // One box is filled while the other is on its way, or one alone after it has
  // left; where stages leave no room for it, results leave from registers.
  constexpr int64_t mostStagings = 2;
  int64_t boxes = schedule.consumersPerUnit() * kDotRows * kSwizzledRow;
  int64_t room = kMostSharedBytes - layout.sharedBytes - barriers;
  int64_t stagings = std::clamp(room / boxes, int64_t(0), mostStagings);
  func.walk([&](tile::PutOp put) {
    if (stagings == 0 || !isStaged(put, schedule))
      return;
    Type element = put.getValues().getType().getElementType();
    layout.mapOf(
        {tensorOf(func, put.getView().getDefiningOp<tile::ViewOp>()).str(),
         kDotRows, boxCols(element)});
    layout.stagings = stagings;
  });
  layout.staging = layout.sharedBytes;
  layout.sharedBytes += layout.stagings * boxes;
  for (auto &[value, place] : layout.pipes) {
    place.barriers = layout.sharedBytes;
    layout.sharedBytes +=
        2 * 8 * cast<tile::PipeType>(value.getType()).getStages();
  }
  if (layout.meeting) {
    layout.meeting->barriers = layout.sharedBytes;
    layout.sharedBytes += 2 * 8 * schedule.consumersPerUnit();
  }
  layout.sharedBytes = std::max(layout.sharedBytes, endOfReads(func, layout));
  if (layout.sharedBytes > kMostSharedBytes)
    return refusal("{0} bytes of shared memory; a CTA has {1}",
                   layout.sharedBytes, kMostSharedBytes);
  error = checkRegisters(schedule, layout.threads);
  if (!error)
    error = checkCluster(schedule, layout);
  if (!error)
    for (const TensorMap &map : layout.maps)
      if (map.rows > kMostBoxRows)
        error = refusal("boxes of {0} rows; the copy unit takes up to {1}",
                        map.rows, kMostBoxRows);
  if (error)
    return error;
  return layout;
}
