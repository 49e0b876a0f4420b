// Check.h - every variant of a package against the oracle, byte by byte
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef BITPACT_EVIDENCE_CHECK_H
#define BITPACT_EVIDENCE_CHECK_H

#include "tools/evidence/Data.h"
#include "tools/evidence/Progress.h"
#include "tools/evidence/Runtime.h"

#include <optional>
#include <span>

namespace bitpact::evidence {

struct CheckOptions {
  /// Empty: those that are here.
  std::vector<std::string> devices;
  /// Empty: every contract of the package. A prefix of the digest, or a name.
  std::string contract;
  std::vector<int64_t> rows;
  std::vector<Recipe> recipes = allRecipes();
  /// Extents for dims that the contract leaves open and reduces.
  std::map<std::string, std::vector<int64_t>> extents;
  /// Seeds per recipe.
  int64_t trials = 1;
  /// Launches of the same case.
  int64_t repeat = 2;
  uint64_t seed = 1;
  /// Of a product of matrices with more than 2^26 steps, at least so many
  /// outputs are evaluated; 0: all of them.
  int64_t samples = 4096;
  /// Cases that would take a cpu minutes are left out.
  bool bounded = true;

  /// Both sides of the row counts at which kernels like to change shape.
  static std::vector<int64_t> defaultRows();
};

/// The first of the elements that differ in one comparison.
struct Difference {
  std::string recipe, layout, tensor;
  /// "the reference evaluator", "launch 1 of the same case", "row 5 alone".
  std::string against;
  uint64_t seed = 0;
  std::map<std::string, int64_t> dims;
  std::vector<int64_t> coordinate;
  std::string expected, actual;
  int64_t differing = 0, elements = 0;
  /// Variants that gave the same bytes as this one in the same case.
  std::vector<std::string> sameBytes;
  /// Bytes outside the tensor were written, at this distance from its start.
  std::optional<int64_t> stray;
};

/// A kernel that the device stopped. After it the device does no more work in
/// this process, so that nothing else can be said about the package.
class LaunchStopped : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct VariantReport {
  const ContractSpec *contract = nullptr;
  const VariantSpec *variant = nullptr;
  std::string device;
  int64_t launches = 0, elements = 0, differing = 0, differences = 0;
  /// Cases of more steps of an atom than a cpu does in a moment.
  int64_t leftOut = 0;
  /// Layouts that the variant's conditions exclude, with the number of cases.
  std::map<std::string, int64_t> excluded;
  std::optional<Difference> first;
};

struct Unchecked {
  const ContractSpec *contract = nullptr;
  const VariantSpec *variant = nullptr;
  std::string why;
};

/// A product of which the oracle evaluated some outputs; all were compared
/// with those of a launch.
struct SampledCase {
  const ContractSpec *contract = nullptr;
  std::map<std::string, int64_t> dims;
  int64_t places = 0, outputs = 0;
  std::string launch;
};

struct CheckReport {
  uint64_t seed = 0;
  std::vector<std::string> devices;
  std::vector<std::string> recipes;
  std::vector<int64_t> rows;
  int64_t cases = 0, sampledCases = 0, oracleRuns = 0;
  std::vector<SampledCase> sampled;
  std::vector<VariantReport> variants;
  std::vector<Unchecked> unchecked;
  /// Contracts of which no variant ran.
  std::vector<const ContractSpec *> withoutEvidence;

  bool equal() const;
  bool complete() const { return withoutEvidence.empty(); }
  int64_t differing() const;
};

/// The package must outlive the report.
CheckReport check(const Package &package, const CheckOptions &options,
                  const Progress &progress);

nlohmann::json toJson(const CheckReport &report);
nlohmann::json toJson(const Difference &difference);

/// Counts elements whose bytes differ and describes the first.
std::optional<Difference> compare(const TensorSpec &tensor,
                                  const std::vector<int64_t> &shape,
                                  std::span<const uint8_t> expected,
                                  std::span<const uint8_t> actual);

} // namespace bitpact::evidence

#endif // BITPACT_EVIDENCE_CHECK_H
