// WitnessReport.h - a witness for people, as JSON and as files
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef BITPACT_TOOL_WITNESSREPORT_H
#define BITPACT_TOOL_WITNESSREPORT_H

#include "contracts/diff/Witness.h"

#include <nlohmann/json.hpp>
#include <string>

namespace bitpact::tool {

void printWitness(const diff::WitnessSearch &search);

nlohmann::json toJson(const diff::WitnessSearch &search);

/// The inputs as `DIR/NAME.npy`; one that the contracts take in different types
/// or extents as `NAME.a.npy` and `NAME.b.npy`. Returns the files. Throws
/// UserError.
std::vector<std::string> writeWitness(const diff::Witness &witness,
                                      const std::string &directory);

} // namespace bitpact::tool

#endif // BITPACT_TOOL_WITNESSREPORT_H
