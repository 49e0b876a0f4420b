// Bench.h - variants beside a plain copy of the same bytes, in one run
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef BITPACT_EVIDENCE_BENCH_H
#define BITPACT_EVIDENCE_BENCH_H

#include "tools/evidence/Progress.h"
#include "tools/evidence/Runtime.h"

namespace bitpact::evidence {

struct BenchOptions {
  std::vector<std::string> devices;
  std::string contract;
  std::vector<int64_t> rows{1, 64, 1024, 8192};
  std::map<std::string, std::vector<int64_t>> extents;
  /// Rounds; in each one, every contender is timed once.
  int64_t rounds = 31;
  /// Of a cpu; 0: one a core.
  uint32_t threads = 0;
};

struct BenchResult {
  const ContractSpec *contract = nullptr;
  const VariantSpec *variant = nullptr;
  std::string device;
  std::vector<std::string> roles;
  /// Roles for which a launch of this shape takes this variant by itself.
  std::vector<std::string> chosenFor;
  std::map<std::string, int64_t> dims;
  /// Read and written by the kernel; the copy reads half of it and writes as
  /// much.
  int64_t bytes = 0;
  /// Of a product of matrices, multiplications and additions; else 0.
  int64_t operations = 0;
  double milliseconds = 0, copyMilliseconds = 0;
  double ratio() const { return copyMilliseconds / milliseconds; }
  double teraflops() const { return operations / milliseconds * 1e-9; }
  double gigabytesPerSecond() const { return bytes / milliseconds * 1e-6; }
};

/// Times on the host of one launch, by the runtime and by the driver alone.
struct Overhead {
  const ContractSpec *contract = nullptr;
  const VariantSpec *variant = nullptr;
  std::string device, role;
  std::map<std::string, int64_t> dims;
  double microseconds = 0, bareMicroseconds = 0;
  double added() const { return microseconds - bareMicroseconds; }
};

struct BenchReport {
  std::vector<std::string> devices;
  std::vector<BenchResult> results;
  std::vector<Overhead> overheads;
  /// Variants whose conditions exclude a shape, and why others did not run.
  std::vector<std::string> notes;
};

BenchReport bench(const Package &package, const BenchOptions &options,
                  const Progress &progress);
nlohmann::json toJson(const BenchReport &report);

} // namespace bitpact::evidence

#endif // BITPACT_EVIDENCE_BENCH_H
