// TileMeetings.cpp - what CTAs of one program bring to each other on sm_90a
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/NVPTX/TileKernel.h"

using namespace mlir;
using namespace bitpact;
using namespace bitpact::codegen;

// A CTA stores what it brings into the memory of that which wants it, and every
// store counts at a barrier there: nothing is fetched, and no fence is waited
// for. Two pairs that are stored together, of rows r and r + 8, are a couple;
// those of the threads of a warp lie side by side.

static constexpr int64_t kCouple = 2;

static Type elementOf(Value values) {
  return cast<tile::ValuesType>(values.getType()).getElementType();
}

static int64_t coupleBytes(Type element) {
  return 2 * kCouple * element.getIntOrFloatBitWidth() / 8;
}

/// At the full barrier one thread says how many bytes there will be; at the empty
/// one every warp of this consumer in every CTA.
void TileKernel::initialiseMeeting() {
  int64_t warps = schedule.units() * kWarpgroup / kWarpLanes;
  for (int64_t i = 0; i < 2 * schedule.consumersPerUnit(); ++i)
    NVVM::MBarrierInitOp::create(
        builder, loc, shared(i32(layout.meeting->barriers + 8 * i)),
        i32(i % 2 ? warps : 1), Value());
}

/// Its address, as a number.
Value TileKernel::meetingBarrier(bool empty) {
  Value first = i32(layout.meeting->barriers + (empty ? 8 : 0));
  return add(baseNumber, add(first, mul(consumer, 16)));
}

/// What other CTAs did before they arrived is seen afterwards.
void TileKernel::waitForUnits(Value barrier, Value phase) {
  assembly(Type(), {barrier, phase},
           "{ .reg .pred p; again: "
           "mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [$0], "
           "$1; @!p bra again; }",
           "r,r,~{memory}");
}

LogicalResult TileKernel::meet(tile::MeetOp op) {
  Value phase =
      LLVM::LoadOp::create(builder, loc, builder.getI32Type(), met.phase);
  Value other = LLVM::XOrOp::create(builder, loc, phase, i32(1));
  // What was brought last time has been taken everywhere.
  waitForUnits(meetingBarrier(/*empty=*/true), other);
  if (failed(bring(op)))
    return op->emitOpError("of arithmetic without a form on sm_90a");
  waitForUnits(meetingBarrier(/*empty=*/false), phase);
  take(op);
  LLVM::StoreOp::create(builder, loc, other, met.phase);
  return success();
}

LogicalResult TileKernel::bring(tile::MeetOp op) {
  const TileLayout::Meeting &meeting = *layout.meeting;
  Value warp = LLVM::LShrOp::create(builder, loc, own, i32(5));
  Value rows = op.getRows();
  Value warps =
      LLVM::LShrOp::create(builder, loc, add(rows, i32(kWarpRows - 1)), i32(4));
  int64_t ofWarp = meeting.bytes / (kWarpgroup / kWarpLanes);
  guarded(isZero(own), [&] {
    assembly(Type(), {meetingBarrier(/*empty=*/false), mul(warps, ofWarp)},
             "mbarrier.arrive.expect_tx.shared::cta.b64 _, [$0], $1;",
             "r,r,~{memory}");
  });
  int64_t couples = schedule.colsPerUnit() / kPairCols;
  bool isMade = true;
  guarded(isLess(warp, warps), [&] {
    for (int64_t unit = 0; unit < schedule.units(); ++unit) {
      auto there = [&](Value at) {
        return assembly(builder.getI32Type(), {at, i32(unit)},
                        "mapa.shared::cluster.u32 $0, $1, $2;", "=r,r,r");
      };
      Value barrier = there(meetingBarrier(/*empty=*/false));
      Value at = there(
          add(baseNumber, add(i32(meeting.first),
                              add(mul(consumer, meeting.bytes),
                                  mul(rank, meeting.ofUnit)))));
      for (auto [i, values] : llvm::enumerate(op.getValues())) {
        int64_t bytes = coupleBytes(elementOf(values));
        Value first = add(at, add(i32(meeting.values[i]), mul(own, bytes)));
        for (int64_t j = 0; j < couples; ++j) {
          SmallVector<Value> stored = {
              add(first, i32(j * kWarpgroup * bytes))};
          std::string text;
          for (int64_t h = 0; h < kCouple; ++h) {
            Value pair =
                pairOf(values, size_t((unit * couples + j) * kCouple + h));
            if (!pair)
              return void(isMade = false);
            int64_t words = bytes / kCouple / 4;
            Value bits = LLVM::BitcastOp::create(
                builder, loc, VectorType::get({words}, builder.getI32Type()),
                pair);
            for (int64_t word = 0; word < words; ++word) {
              text += (text.empty() ? "$" : ", $") +
                      std::to_string(stored.size());
              stored.push_back(LLVM::ExtractElementOp::create(
                  builder, loc, bits, i32(word)));
            }
          }
          std::string count = std::to_string(stored.size() - 1);
          stored.push_back(barrier);
          std::string constraints = "r";
          for (size_t k = 1; k < stored.size(); ++k)
            constraints += ",r";
          assembly(Type(), stored,
                   "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes"
                   ".v" + count + ".b32 [$0], {" + text + "}, [$" +
                       std::to_string(stored.size() - 1) + "];",
                   constraints + ",~{memory}");
        }
      }
    }
  });
  return success(isMade);
}

/// All of it goes to registers, so that the memory is free for the next block.
void TileKernel::take(tile::MeetOp op) {
  const TileLayout::Meeting &meeting = *layout.meeting;
  int64_t couples = schedule.colsPerUnit() / kPairCols;
  size_t each = op.getValues().size();
  Value at = shared(
      add(i32(meeting.first), mul(consumer, meeting.bytes)));
  for (auto [i, part] : llvm::enumerate(op.getParts())) {
    Type element = elementOf(part);
    int64_t bytes = coupleBytes(element);
    int64_t first = int64_t(i / each) * meeting.ofUnit + meeting.values[i % each];
    Value mine = LLVM::GEPOp::create(builder, loc, at.getType(),
                                     builder.getI8Type(), at,
                                     ValueRange{mul(own, bytes)});
    for (int64_t j = 0; j < couples; ++j) {
      Value from = LLVM::GEPOp::create(
          builder, loc, at.getType(), builder.getI8Type(), mine,
          ArrayRef<LLVM::GEPArg>{int32_t(first + j * kWarpgroup * bytes)});
      Value couple = LLVM::LoadOp::create(
          builder, loc, VectorType::get({2 * kCouple}, element), from,
          unsigned(bytes));
      for (int64_t h = 0; h < kCouple; ++h) {
        Value pair[2];
        for (int64_t k = 0; k < 2; ++k)
          pair[k] = LLVM::ExtractElementOp::create(builder, loc, couple,
                                                   i32(2 * h + k));
        pairs[part].push_back(pairFrom(pair));
      }
    }
  }
  NVVM::SyncWarpOp::create(builder, loc, i32(-1));
  guarded(isLess(lane, i32(schedule.units())), [&] {
    assembly(Type(), {meetingBarrier(/*empty=*/true), lane},
             "{ .reg .b32 there; mapa.shared::cluster.u32 there, $0, $1; "
             "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [there]; }",
             "r,r,~{memory}");
  });
}
