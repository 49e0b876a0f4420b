// Algorithms.h - what a library offers for a product
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef BITPACT_EVIDENCE_ATTEST_ALGORITHMS_H
#define BITPACT_EVIDENCE_ATTEST_ALGORITHMS_H

#include "runtime/package/Pin.h"
#include "tools/evidence/Shape.h"

namespace bitpact::evidence::attest {

/// One configuration, and the workspace that it asks for at most.
struct Algorithm {
  package::PinnedAlgorithm pinned;
  int64_t workspaceBytes = 0;

  /// "id=66 tile=36 split_k=1"
  std::string text() const;
};

struct OfferOptions {
  /// For each shape, so many of the algorithms that the library's own heuristic
  /// names, the best first.
  int suggestions = 8;
  /// Settings that are put in place of those suggested: split_k=1.
  std::map<std::string, int64_t> settings;
};

struct Offer {
  std::string version, device;
  /// Those that the library takes at every shape, the most often and the
  /// earliest suggested first.
  std::vector<Algorithm> algorithms;
  /// The others, and at which shape it refuses them.
  std::vector<std::pair<Algorithm, std::string>> refused;
};

/// What the library offers on that device. Throws UserError where the library
/// is not here, has no product of these types or no such setting.
Offer offerOf(const std::string &library, const Device &device,
              const package::PinnedProduct &product,
              const std::vector<Dims> &shapes, const OfferOptions &options);

} // namespace bitpact::evidence::attest

#endif // BITPACT_EVIDENCE_ATTEST_ALGORITHMS_H
