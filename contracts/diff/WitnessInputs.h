// WitnessInputs.h - inputs on which two contracts are likely to differ
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef BITPACT_DIFF_WITNESSINPUTS_H
#define BITPACT_DIFF_WITNESSINPUTS_H

#include "contracts/diff/TreeAim.h"

#include <cstdint>
#include <random>
#include <string_view>

namespace bitpact::diff {

enum class WitnessKind : uint8_t {
  Tree,   ///< +M, -M and units, M and half an ulp, aimed at trees that differ
  Zeros,  ///< rows of -0, of +0, of both, with single other elements
  Domain, ///< what lies in the domain of one of them alone
  Points, ///< arguments at which two primitives differ
  Normal,
  Dense,        ///< every bit of the format in use
  Cancellation, ///< large values that cancel and small ones that remain
  Wide,
  Scales, ///< normal rows, each scaled by its own power of two
  Subnormal,
  Edges, ///< largest and smallest values, and where squares over- or underflow
  Special,  ///< NaNs and infinities
  Boundary, ///< one element moved to where an output of A changes
  Approach, ///< many elements, each moving an output of A half as far as before
  Climb     ///< rows that differ inside, changed until it shows further out
};
std::string_view name(WitnessKind kind);

/// Generators are fixed by the standard, distributions are not: values are made
/// from integers alone.
class WitnessSource {
public:
  WitnessSource(uint64_t seed, uint64_t kind, uint64_t round) {
    std::seed_seq sequence{
        static_cast<uint32_t>(seed), static_cast<uint32_t>(seed >> 32),
        static_cast<uint32_t>(kind), static_cast<uint32_t>(round)};
    engine.seed(sequence);
  }
  uint64_t bits() { return engine(); }
  int64_t below(int64_t bound) {
    return static_cast<int64_t>(engine() % static_cast<uint64_t>(bound));
  }
  int between(int low, int high) {
    return low + static_cast<int>(below(high - low + 1));
  }
  double sign() { return engine() & 1 ? -1.0 : 1.0; }
  /// Nearly normal: the sum of four uniform values, variance 1.
  double normal();

private:
  std::mt19937_64 engine;
};

/// The elements of an input that belong to one row.
class InputLines {
public:
  InputLines(const ContractPair &pair, const PairInput &input,
             const std::vector<int64_t> &extents);
  int64_t rows = 1;   ///< 1 for an input that every row shares
  int64_t length = 1; ///< elements of a row
  int64_t at(int64_t row, int64_t k) const {
    return (k / inner * rows + row) * inner + k % inner;
  }
  /// The coordinate of the k-th element of a row along a dim that it has.
  int64_t position(int64_t k, int dim) const;
  bool has(int dim) const;

private:
  int64_t inner = 1;
  std::vector<int> dims;
  std::vector<int64_t> extents;
};

/// Batches of unrelated rows: rows are independent, so one evaluation judges
/// many inputs.
class WitnessInputs {
public:
  WitnessInputs(const ContractPair &pair, std::vector<int64_t> extents,
                uint64_t seed);

  /// `rows` inputs of one kind. Where the types of the contracts differ, values
  /// are such that both types hold them, unless `beyond`.
  Candidate batch(WitnessKind kind, uint64_t round, int64_t rows,
                  bool beyond) const;

  /// Is there something for this kind to aim at?
  bool applies(WitnessKind kind) const;
  bool logarithmic() const { return hasWeights; }
  const std::vector<int64_t> &extents() const { return sizes; }

private:
  struct Fill;
  void fillLine(Fill &fill, const PairInput &input, const InputLines &lines,
                int64_t row, std::vector<double> &values) const;
  void aimLine(Fill &fill, const PairInput &input, const InputLines &lines,
               int64_t row, std::vector<double> &values) const;
  void fillShared(Fill &fill, const PairInput &input, const InputLines &lines,
                  std::vector<double> &values) const;
  void fillIndex(Fill &fill, const PairInput &input, const InputLines &lines,
                 std::vector<double> &values) const;
  void fillOffsets(Fill &fill, const PairInput &input,
                   const std::vector<int64_t> &extents,
                   std::vector<double> &values) const;
  double held(const PairInput &input, double value, bool beyond) const;
  void findPoints();

  const ContractPair &pair;
  std::vector<int64_t> sizes;
  uint64_t seed;
  std::vector<TreeAim> aims;
  std::vector<double> points;
  bool hasWeights = false; ///< elements are logarithms of what is summed
  std::vector<std::string> carriers; ///< float inputs that have rows
};

} // namespace bitpact::diff

#endif // BITPACT_DIFF_WITNESSINPUTS_H
