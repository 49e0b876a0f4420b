// HopperTiles.h - blocks of products on sm_90a, and what they cost
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef BITPACT_COMPILER_SCHEDULE_HOPPERTILES_H
#define BITPACT_COMPILER_SCHEDULE_HOPPERTILES_H

#include "compiler/Schedule/Schedule.h"

namespace bitpact::schedule {

/// Costs in picoseconds: see runtime/package/Format.h.
struct Candidate {
  int64_t m, n, k, stages, consumers, group;
  llvm::StringRef copy;
  int64_t producerRegisters, consumerRegisters, priority;
  int64_t start, tile, element;
  int64_t held = 0, split = 1, cluster = 1;
};

/// sm_90a: 64 rows of a block for each warpgroup, or fewer where few exist. Many
/// rows want as many columns as a warpgroup has registers for sums, so that an
/// operand that has been copied is used most; few want blocks so narrow that all
/// multiprocessors have one, and as much of the weights on its way as shared
/// memory holds. Costs are fitted to a sweep on an H200
/// (docs/results/2026-11-30-rows-192.md).
///
/// Launches overlap where one block has all rows there are (docs/packages.md): of
/// more, programs share weights, and lose more by running at other times than a
/// launch wins.
///
/// Products of one operand with several divide the columns: a stage and the
/// registers hold as many for all products together.
///
/// Where rows are not aligned as the copy unit wants them, threads copy, and
/// need registers for what is on its way. Roles of three warpgroups share 168
/// registers for each thread: what one gains another gives.
inline constexpr Candidate kHopper[] = {
    {16, 32, 128, 18, 1, 8, "bulk", 0, 0, 10, 2586704, 228868, 1739},
    {16, 48, 128, 14, 1, 8, "bulk", 0, 0, 10, 2644157, 3787266, 1706},
    {64, 32, 128, 9, 1, 8, "bulk", 0, 0, 10, 1856002, 372762, 1929},
    {64, 48, 128, 8, 1, 8, "bulk", 0, 0, 10, 2828898, 2037715, 2088},
    {64, 64, 128, 6, 1, 8, "bulk", 0, 0, 10, 1261807, 4421015, 1945},
    {64, 128, 64, 8, 1, 8, "bulk", 0, 0, 10, 1051964, 4567900, 3496},
    {64, 192, 64, 6, 1, 8, "bulk", 0, 0, 10, 3984415, 3795308, 4111},
    {128, 128, 64, 6, 2, 8, "bulk", 40, 232, 10, 1131581, 4386907, 5460},
    {128, 192, 64, 4, 2, 8, "bulk", 40, 232, 10, 4769472, 4565841, 8385},
    {128, 256, 64, 4, 2, 16, "bulk", 40, 232, 10, 1503135, 8106602, 10736},
    {128, 256, 64, 4, 2, 8, "plain", 88, 208, 20, 0, 0, 0},
};

/// Of sums without parts, of whole rows. 129 to 192 rows are one block of three
/// consumers: four warpgroups share 128 registers for each thread, of which a
/// producer that brings to them all does with 32. Two CTAs that have the rows of a
/// block bring each other the weights: where all rows there are make two blocks of 64,
/// the cache of the device gives each weight once.
inline constexpr Candidate kHopperWhole[] = {
    {64, 96, 64, 10, 1, 8, "bulk", 0, 0, 10, 1500148, 4816762, 2496},
    {64, 144, 64, 8, 1, 8, "bulk", 0, 0, 10, 3000000, 3000000, 3465},
    {64, 160, 64, 7, 1, 8, "bulk", 0, 0, 10, 3500000, 3000000, 3850},
    {64, 256, 64, 5, 1, 8, "bulk", 0, 0, 10, 4000000, 5000000, 5350},
    {128, 64, 64, 12, 2, 8, "bulk", 0, 0, 10, 1000000, 4400000, 1970, 0, 1, 2},
    {128, 96, 64, 10, 2, 8, "bulk", 0, 0, 10, 1500000, 4600000, 2480, 0, 1, 2},
    {192, 96, 64, 6, 3, 8, "bulk", 32, 160, 10, 2000000, 4920000, 6968},
    {192, 192, 64, 4, 3, 8, "bulk", 32, 160, 10, 4830000, 4600000, 13380},
};

/// What a block costs in another form of product than that of the lists.
struct BlockCost {
  int64_t m, n, start, tile, element;
};

/// Of products of one operand with two, by columns of both together, those blocks
/// that are offered: half of the stage is another matrix, and what is done with a
/// pair of sums takes longer than rounding one. Fitted to 1 to 8192 rows of
/// Qwen3-8B's on an H200 (docs/results/2026-11-30-rows-192.md).
inline constexpr BlockCost kHopperGated[] = {
    {64, 32, 1856002, 372762, 1929},
    {64, 64, 1266648, 4522974, 2019},
    {64, 96, 1496234, 4402670, 2063},
    {64, 192, 5786580, 4879658, 4037},
    {128, 128, 1131566, 4386934, 5460},
    {128, 192, 4769472, 4565841, 8385},
    {128, 256, 3273919, 6917091, 10716},
    {192, 96, 2000000, 4920000, 6968},
    {192, 192, 4830000, 4600000, 13000},
};

/// Of the blocks above where rows are cut at offsets: several tiles are short, and
/// there are fewer than a launch counts (docs/packages.md), so that a round takes
/// less and fewer columns win longer. Fitted to every variant of Qwen3-30B-A3B's
/// experts at 1 to 4096 tokens on an H200
/// (docs/results/2026-11-30-experts-activation.md).
inline constexpr BlockCost kHopperSegments[] = {
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

inline constexpr Measurement kHopperMeasurement = {"NVIDIA H200", 132, "2026-11-30"};

/// Where sums have parts: a block whose registers hold many of them, and rows
/// that are not aligned.
inline constexpr Candidate kHopperParts[] = {
    {128, 64, 64, 8, 2, 8, "bulk", 40, 232, 10, 500000, 4500000, 3050},
    {64, 64, 64, 4, 1, 8, "plain", 0, 0, 20, 0, 0, 0},
};

/// Where few blocks leave multiprocessors idle, several compute one: each has its
/// parts of the sums. No unit has fewer than eight columns. Costs are fitted to
/// 512 to 4096 columns of 4096 elements on an H200
/// (docs/results/2026-11-30-split.md).
inline constexpr Candidate kHopperSplit[] = {
    {64, 32, 128, 9, 1, 8, "bulk", 0, 0, 10, 1856002, 900000, 965, 0, 2},
    {64, 64, 128, 6, 1, 8, "bulk", 0, 0, 10, 900000, 2500000, 252, 0, 8},
};
/// No GPU of the architecture has more.
inline constexpr int64_t kMostMultiprocessors = 144;

} // namespace bitpact::schedule

#endif // BITPACT_COMPILER_SCHEDULE_HOPPERTILES_H
