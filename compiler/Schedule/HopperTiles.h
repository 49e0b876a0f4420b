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
/// (docs/results/2026-11-30-requests.md).
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
    {16, 32, 128, 18, 1, 8, "bulk", 0, 0, 10, 1400000, 100000, 1820},
    {16, 48, 128, 14, 1, 8, "bulk", 0, 0, 10, 1300000, 100000, 1950},
    {64, 32, 128, 9, 1, 8, "bulk", 0, 0, 10, 1417586, 100000, 1833},
    {64, 48, 128, 8, 1, 8, "bulk", 0, 0, 10, 1427055, 100760, 1957},
    {64, 64, 128, 7, 1, 8, "bulk", 0, 0, 10, 362723, 303424, 2931},
    {64, 128, 64, 9, 1, 8, "bulk", 0, 0, 10, 517015, 1247627, 3677},
    {64, 192, 64, 7, 1, 8, "bulk", 0, 0, 10, 1282893, 145606, 4884},
    {128, 128, 64, 6, 2, 8, "bulk", 40, 232, 10, 1071014, 530991, 6301},
    {128, 192, 64, 4, 2, 8, "bulk", 40, 232, 10, 1550055, 1611367, 9222},
    {128, 256, 64, 4, 2, 16, "bulk", 40, 232, 10, 300000, 315521, 11826},
    {128, 256, 64, 4, 2, 8, "plain", 88, 208, 20, 0, 0, 0},
};

/// Of sums without parts, of whole rows. 129 to 192 rows are one block of three
/// consumers: four warpgroups share 128 registers for each thread, of which a
/// producer that brings to them all does with 32. Two CTAs that have the rows of a
/// block bring each other the weights: where all rows there are make two blocks of 64,
/// the cache of the device gives each weight once. Wide blocks with stages of 128 are
/// for one row of blocks: each row of a box is 256 bytes of memory in turn.
inline constexpr Candidate kHopperWhole[] = {
    {16, 96, 128, 8, 1, 8, "bulk", 0, 0, 10, 4448834, 866301, 1834},
    {64, 96, 128, 5, 1, 8, "bulk", 0, 0, 10, 775020, 580967, 2007},
    {64, 192, 128, 3, 1, 8, "bulk", 0, 0, 10, 5000000, 1592206, 3701},
    {64, 96, 64, 10, 1, 8, "bulk", 0, 0, 10, 2437695, 300023, 3239},
    {64, 144, 64, 8, 1, 8, "bulk", 0, 0, 10, 2114089, 328441, 4174},
    {64, 160, 64, 8, 1, 8, "bulk", 0, 0, 10, 300000, 1842886, 4275},
    {64, 256, 64, 5, 1, 8, "bulk", 0, 0, 10, 2699393, 1602990, 6588},
    {128, 64, 64, 12, 2, 8, "bulk", 0, 0, 10, 1566634, 396735, 2171, 0, 1, 2},
    {128, 96, 64, 10, 2, 8, "bulk", 0, 0, 10, 590251, 126873, 3284, 0, 1, 2},
    {192, 96, 64, 6, 3, 8, "bulk", 32, 160, 10, 407545, 359156, 12528},
    {192, 192, 64, 4, 3, 8, "bulk", 32, 160, 10, 2422501, 319365, 13885},
};

/// What a block costs in another form of product than that of the lists.
struct BlockCost {
  int64_t m, n, k, start, tile, element;
};

/// Of products of one operand with two, by columns of both together, those blocks
/// that are offered: half of the stage is another matrix, and what is done with a
/// pair of sums takes longer than rounding one. Fitted to 1 to 8192 rows of
/// Qwen3-8B's on an H200 (docs/results/2026-11-30-requests.md; an element of the last:
/// 2026-12-01-swiglu.md).
inline constexpr BlockCost kHopperGated[] = {
    {16, 32, 128, 682881, 238512, 463},
    {64, 32, 128, 1208770, 175293, 1927},
    {64, 64, 128, 1351729, 100000, 3667},
    {64, 96, 64, 3656915, 100000, 5498},
    {64, 96, 128, 1063803, 5427319, 4612},
    {64, 192, 64, 962993, 219433, 8941},
    {64, 192, 128, 1985936, 3479214, 7429},
    {128, 128, 64, 4858235, 113710, 6456},
    {128, 192, 64, 1155886, 507801, 10139},
    {128, 256, 64, 5000000, 1397044, 12147},
    {192, 96, 64, 646341, 2614998, 6672},
    {192, 192, 64, 1843476, 553518, 13980},
};

/// Of the blocks above where rows are cut at offsets: several tiles are short, and
/// there are fewer than a launch counts (docs/packages.md), so that a round takes
/// less and fewer columns win longer. Fitted to every variant of Qwen3-30B-A3B's
/// experts at 1 to 4096 tokens on an H200
/// (docs/results/2026-11-30-experts-activation.md).
inline constexpr BlockCost kHopperSegments[] = {
    {16, 32, 128, 19563154, 30371, 1045},
    {16, 48, 128, 14213378, 323210, 1287},
    {64, 32, 128, 18045391, 10826, 1160},
    {64, 48, 128, 19603819, 145693, 1272},
    {64, 64, 128, 23241543, 49190, 1712},
    {64, 128, 64, 14167201, 1223266, 3412},
    {64, 192, 64, 38669012, 1367389, 3635},
    {128, 128, 64, 16040066, 6990, 4499},
    {128, 192, 64, 18682314, 1240836, 6372},
    {128, 256, 64, 17881590, 1756336, 8602},
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
    {64, 64, 128, 7, 1, 8, "bulk", 0, 0, 10, 900000, 2500000, 252, 0, 8},
};
/// No GPU of the architecture has more.
inline constexpr int64_t kMostMultiprocessors = 144;

} // namespace bitpact::schedule

#endif // BITPACT_COMPILER_SCHEDULE_HOPPERTILES_H
