// TileUnits.h - parts of sums that several units compute
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef BITPACT_CODEGEN_LOWERING_TILEUNITS_H
#define BITPACT_CODEGEN_LOWERING_TILEUNITS_H

#include "codegen/Lowering/TileParts.h"

#include <map>

namespace bitpact::lowering {

/// What each unit of a program brings of a sum, and where it stands in the tree.
/// Units do the same, so many elements further on.
struct UnitParts {
  /// Of unit 0: one whole tree, or, where that of the sum leaves none to a unit,
  /// its chains, which then meet one at a time.
  std::vector<const PartTree *> own;
  /// What all units bring, by number: those of a unit follow each other.
  std::map<const PartTree *, size_t> numbers;
  /// Elements from what a unit takes to what the next one does.
  int64_t apart = 0;
};

/// The error says why so many units, which take `stage` elements at a time, cannot
/// divide the parts evenly.
llvm::Expected<UnitParts> unitParts(const PartTree &tree, int64_t units,
                                    int64_t stage);

/// Bits of a value of each slot of a unit: see `slotBits` of TileParts.h.
std::vector<unsigned> slotBits(const UnitParts &parts, unsigned accumulator);

/// Bits of each value that a unit brings of the operator's one node; none where
/// units cannot divide its parts.
std::vector<unsigned> broughtBits(pact::ContractOp contract, pact::OperatorOp op,
                                  int64_t units, int64_t stage);

} // namespace bitpact::lowering

#endif // BITPACT_CODEGEN_LOWERING_TILEUNITS_H
