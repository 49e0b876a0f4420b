// RowPlan.h - how the digits of one node meet loops, registers and lanes
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef BITPACT_CODEGEN_LOWERING_ROWPLAN_H
#define BITPACT_CODEGEN_LOWERING_ROWPLAN_H

#include "dialects/Kernel/KernelDialect.h"
#include "dialects/Pact/Pact.h"
#include "llvm/Support/Error.h"
#include <optional>
#include <string>
#include <vector>

namespace bitpact::lowering {

inline constexpr int64_t kDynamic = mlir::ShapedType::kDynamic;

/// `Split`: the programs that share a row. It is the outermost merge.
enum class Binding { Loop, Unroll, Lanes, Split };

/// A digit of the partition once the extent is known, or kDynamic where it
/// depends on it.
struct DigitShape {
  int64_t radix;
  int64_t length;
  /// Elements of the block that this digit cuts.
  int64_t container;
  /// Whether a value of this digit may lie beyond the container.
  bool mayBeShort;
  /// Blocks between offsets: radix and length are not in the plan.
  bool isOffsets = false;
};

/// A digit, or a range of its bits, with what executes it. A digit that is
/// split keeps its tree: halving merges its high bits first, pairwise its low
/// bits.
struct SubDigit {
  unsigned digit;
  int64_t radix;
  /// One step of this sub-digit is that many values of the digit.
  int64_t weight;
  Binding binding;
  algebra::Form form;
  /// Rounding of parts that enter and of results, if it differs from the
  /// accumulator's format.
  std::optional<algebra::Format> from, in;
  /// How far apart in number the accumulators of neighbouring values are,
  /// where each value has accumulators of its own.
  int64_t slotStride = 0;
};

struct NodePlan {
  int64_t extent;
  std::vector<DigitShape> digits;
  /// Innermost merge first; a chain, if there is one, stands in front.
  std::vector<SubDigit> order;
  /// Where an online state changes: up to `carry` elements meet inside of a
  /// step, then come the digits that carry, from `plain` on accumulators that
  /// share a maximum meet, and from `merge` on states. All are the end of
  /// `order` for other nodes.
  size_t carry = 0, plain = 0, merge = 0;
  /// Accumulators that share a maximum, in a lane.
  int64_t slots = 1;
  /// Some digit between `plain` and `merge` is a loop.
  bool slotsInLoops = false;
  /// Consecutive elements of a lane that may move in one access; 1 if none.
  int64_t pack = 1;
  /// Such elements are present together or not at all.
  bool packPresentAsWhole = false;

  /// Names the digits and their shapes: plans with one key select the same
  /// elements, present or absent, with the same digit values.
  std::string key;

  /// Of a plan whose elements are the parts that another kernel left: values
  /// of the digit in a part.
  std::optional<int64_t> partWeight;

  size_t chainLength() const;
  /// The split, if there is one.
  const SubDigit *split() const {
    return !order.empty() && order.back().binding == Binding::Split
               ? &order.back()
               : nullptr;
  }
};

/// Plans one node under a schedule. `extent` is that of the node's domain. The error is a sentence that names the
/// field of the contract which the schedule cannot keep.
llvm::Expected<NodePlan> planNode(pact::NodeAttr node, int64_t extent,
                                  kernel::ScheduleAttr schedule);

/// Neighbouring lanes on neighbouring elements, for passes in which any order
/// will do: the steps in which all lanes have an element, or those with absent
/// ones too. A loop over the steps, or a single one where the extent is open.
NodePlan planAcross(int64_t lanes, int64_t extent, bool whole);
/// A plan that visits every element once and reduces nothing. Where programs share
/// a row, each has a stretch of it.
NodePlan planElements(int64_t extent, kernel::ScheduleAttr schedule);

/// One reduced dim or none, and one of rows: what `RowLowering` accepts.
struct RowFamily {
  std::string rowDim; // empty: a single row
  std::string reducedDim; // or, of element-wise operators, the last one
  int64_t extent;         // of the reduced dim as stored, kDynamic if any
  std::string offsetsDim; // of an input that is offsets alone, if there is one
  /// Positions that exist for the nodes, where all of them agree.
  int64_t domain;
};

/// The error says why the operator is none of rows.
llvm::Expected<RowFamily> rowFamily(pact::ContractOp contract,
                                    pact::OperatorOp op);

} // namespace bitpact::lowering

#endif
