// Phases.h - the ordered list of what the compiler does
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef BITPACT_COMPILER_PIPELINE_PHASES_H
#define BITPACT_COMPILER_PIPELINE_PHASES_H

#include "llvm/ADT/StringRef.h"
#include <optional>
#include <string>

namespace bitpact::pipeline {

enum class Phase {
  Read,       ///< Contract file and definitions become bound Pact IR.
  Schedule,   ///< Schedules that keep the contract are chosen for each target.
  Lower,      ///< Contract and schedule become a kernel with no target in it.
  Distribute, ///< On GPUs each lane becomes a thread; on CPUs lanes stay.
  Convert,    ///< The kernel becomes the target's dialect of LLVM.
  Assemble,   ///< LLVM and the assembler make PTX or assembly text.
  Package,    ///< Code is linted and written with its manifest.
};

inline constexpr Phase kPhases[] = {
    Phase::Read,    Phase::Schedule, Phase::Lower,  Phase::Distribute,
    Phase::Convert, Phase::Assemble, Phase::Package};

llvm::StringRef nameOf(Phase phase);
std::optional<Phase> parsePhase(llvm::StringRef name);
/// All names, for messages.
std::string phaseNames();

} // namespace bitpact::pipeline

#endif
