// AblationSteps.h - the contracts between two contracts, a field at a time
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef BITPACT_DIFF_ABLATIONSTEPS_H
#define BITPACT_DIFF_ABLATIONSTEPS_H

#include "contracts/diff/Delta.h"

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

namespace bitpact::diff {

struct AblationStep {
  /// The paths of what it changes, "rounding.normed" or
  /// "types.y+rounding.y"; "all but …" for a combination.
  std::string name;
  std::vector<Change> changes;
  /// Why these go together: the rule that one alone breaks. Empty for one.
  std::string reason;
  nlohmann::json canonical;
  std::string digest;
};

/// A with these changes of ΔC taken from B. What belongs to several changes -
/// formats, forms and digits in `merge` - is taken apart. The result need not
/// be valid.
nlohmann::json withChanges(const nlohmann::json &a, const nlohmann::json &b,
                           const std::vector<Change> &changes);

/// Every change of `delta` in a step of its own, in its order; a change that is
/// not valid alone in the smallest valid set with it. No set comes twice.
std::vector<AblationStep> singleSteps(const nlohmann::json &a,
                                      const nlohmann::json &b,
                                      const Delta &delta);

/// All changes but those of one step, for each step where the rest is valid.
std::vector<AblationStep>
combinedSteps(const nlohmann::json &a, const nlohmann::json &b,
              const Delta &delta, const std::vector<AblationStep> &singles);

} // namespace bitpact::diff

#endif // BITPACT_DIFF_ABLATIONSTEPS_H
