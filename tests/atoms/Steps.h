// Steps.h - matrix-unit steps on a device: tiles in, accumulators out
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef BITPACT_TESTS_ATOMS_STEPS_H
#define BITPACT_TESTS_ATOMS_STEPS_H

#include <cstddef>
#include <cstdint>

namespace bitpact::tests {

/// One tile is D = A·B + C with A of 64 × 16, B of 16 × 8 and C, D of 64 × 8.
/// A is row-major; B is given column by column (8 × 16); C and D are row-major.
constexpr int tileRows = 64, tileColumns = 8, tileDepth = 16;
constexpr int aElements = tileRows * tileDepth;
constexpr int bElements = tileColumns * tileDepth;
constexpr int cElements = tileRows * tileColumns;

/// How a tile is computed.
enum Instruction : int {
  MmaK16,            ///< mma.sync m16n8k16
  MmaK8,             ///< mma.sync m16n8k8, twice
  WgmmaShared,       ///< wgmma m64n8k16, A and B from shared memory
  WgmmaRegister,     ///< A from registers
  WgmmaTransposedB,  ///< B lies row by row
  WgmmaTransposedAB, ///< A lies column by column as well
  instructionCount
};

/// The name of the device, or null with a reason in `why`.
const char *deviceName(const char **why);

/// Runs `tiles` tiles; a, b are 16-bit elements, c and d f32, all on the host.
/// Returns null, or what went wrong.
const char *runTiles(Instruction instruction, bool f16, int tiles,
                     const uint16_t *a, const uint16_t *b, const uint32_t *c,
                     uint32_t *d);

} // namespace bitpact::tests

#endif // BITPACT_TESTS_ATOMS_STEPS_H
