// Subject.h - the product that a library is to compute, and for which extents
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef BITPACT_EVIDENCE_ATTEST_SUBJECT_H
#define BITPACT_EVIDENCE_ATTEST_SUBJECT_H

#include "runtime/package/Pin.h"
#include "runtime/package/Reader.h"
#include "tools/evidence/Shape.h"

namespace bitpact::evidence::attest {

using Ranges = std::map<std::string, package::Range>;

/// One contract of a package on a device.
struct Subject {
  package::Package stored;
  package::ContractEntry contract;
  package::PinnedProduct product;
  /// The first generated variant that runs on the device.
  package::Variant generated;
  /// Names of the generated variants that the runtime launches at the shapes.
  std::set<std::string> launched;
  /// Of the dims that the contract leaves open.
  Ranges ranges;
  /// Extents to be tried: of few all, of many the ends and some between.
  std::map<std::string, std::vector<int64_t>> extents;
  /// All combinations, with the fixed extents, the least of all first.
  std::vector<Dims> shapes;
};

/// Throws UserError where there is no product of two matrices, no generated
/// variant to hold a library against, or a range that does not fit.
Subject subjectOf(const Package &package, const ContractSpec &contract,
                  const Device &device, const Ranges &ranges);

/// "in=4096 out=6144 tokens=512"
std::string dimsText(const Dims &dims);

} // namespace bitpact::evidence::attest

#endif // BITPACT_EVIDENCE_ATTEST_SUBJECT_H
