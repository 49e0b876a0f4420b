// MergeOrder.h - which digit is merged when, and how (rules T1-T8, S2-S5)
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef BITPACT_ALGEBRA_MERGEORDER_H
#define BITPACT_ALGEBRA_MERGEORDER_H

#include "contracts/algebra/Format.h"
#include "contracts/algebra/Partition.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bitpact::algebra {

enum class ReductionKind : uint8_t {
  Sum,
  Dot,
  Max,
  ExpSum ///< sum of weights of (element, maximum): the state of a softmax
};
std::string_view name(ReductionKind kind);
std::optional<ReductionKind> parseReductionKind(std::string_view text);
/// Operands of a reduction: one, or two for `dot` and `exp_sum`.
int operandCount(ReductionKind kind);
/// What its step primitive is a step of: an `exp_sum` sums weights.
ReductionKind stepKind(ReductionKind kind);

enum class Start : uint8_t { Identity, First };
std::string_view name(Start start);
std::optional<Start> parseStart(std::string_view text);

/// How an `exp_sum` meets its maximum: known before, or as it runs.
enum class State : uint8_t { None, TwoPass, Online };
/// "two_pass", "online"; "" for None.
std::string_view name(State state);
std::optional<State> parseState(std::string_view text);

enum class Form : uint8_t {
  Chain,
  Fold,
  Pairwise,
  Halving,
  Fused,
  Any,
  Carry ///< the accumulators are rescaled, the next step goes on top of them
};
std::string_view name(Form form);
std::optional<Form> parseForm(std::string_view text);

/// A unit's dot step with its parameters, `dot.nv(16,25)`.
struct Atom {
  std::string family;
  /// Terms that one step takes at most.
  int64_t terms = 0;
  /// Fraction bits kept relative to the largest exponent.
  int64_t fraction = 0;

  /// Throws RuleError: T8 for syntax, A2 for an atom there is not.
  static Atom parse(std::string_view text);
  std::string text() const;
  bool operator==(const Atom &) const = default;
};

/// `digit form [merge] [from F1] [in F2]`.
struct MergeEntry {
  std::string digit;
  Form form = Form::Chain;
  /// Parts are rounded to this format when they enter.
  std::optional<Format> from;
  /// Every merge result is rounded to this format.
  std::optional<Format> in;
  /// Set exactly if `form` is Fused.
  std::optional<Atom> atom;
  /// The parts are complete states, each with a maximum of its own.
  bool merge = false;

  static MergeEntry parse(std::string_view text);
  std::string text() const;
  bool operator==(const MergeEntry &) const = default;
};

/// An entry with the index in Π of its digit.
struct BoundMerge {
  int digit;
  Form form;
  std::optional<Format> from, in;
  std::optional<Atom> atom;
  bool merge = false;
};

/// T: one entry a digit, innermost merge first.
class MergeOrder {
public:
  MergeOrder() = default;
  explicit MergeOrder(std::vector<MergeEntry> entries)
      : entryList(std::move(entries)) {}

  /// From one text an entry, or one text with commas between entries. Both
  /// throw RuleError T8 or P1.
  static MergeOrder parse(const std::vector<std::string> &texts);
  static MergeOrder parse(std::string_view text);

  const std::vector<MergeEntry> &entries() const { return entryList; }

  /// Canonical, single spaces; entries joined with ", ".
  std::string text() const;
  std::vector<std::string> texts() const;

  /// The entries with digit indices. Throws T1 unless every digit of
  /// `partition` occurs exactly once.
  std::vector<BoundMerge> bind(const Partition &partition) const;

  /// Throws RuleError unless all of T1-T7 and S2-S5 hold.
  void validate(const Partition &partition, ReductionKind kind, Start start,
                State state = State::None) const;

  /// The same order over `partition.renamed()`.
  MergeOrder renamed(const Partition &partition) const;

  bool operator==(const MergeOrder &) const = default;

private:
  void validateState(const std::vector<BoundMerge> &bound, ReductionKind kind,
                     State state) const;

  std::vector<MergeEntry> entryList;
};

/// Leading entries that together are one accumulator: an optional `fused`, then
/// every `chain`. The last of them is the outermost digit of the visit.
int accumulatorEntries(const std::vector<BoundMerge> &entries);

/// Where an online state changes: [0, carry) merges elements inside one step,
/// [carry, plain) is the run of `carry`, [plain, merge) merges accumulators
/// that share a maximum, and from `merge` on states meet.
struct StateEntries {
  int carry, plain, merge;
};
StateEntries stateEntries(const std::vector<BoundMerge> &entries);

} // namespace bitpact::algebra

#endif // BITPACT_ALGEBRA_MERGEORDER_H
