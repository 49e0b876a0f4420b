// Phases.cpp - names of the phases
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/Pipeline/Phases.h"

#include "llvm/Support/ErrorHandling.h"

using namespace bitpact::pipeline;

llvm::StringRef bitpact::pipeline::nameOf(Phase phase) {
  switch (phase) {
  case Phase::Read:
    return "read";
  case Phase::Schedule:
    return "schedule";
  case Phase::Lower:
    return "lower";
  case Phase::Distribute:
    return "distribute";
  case Phase::Convert:
    return "convert";
  case Phase::Assemble:
    return "assemble";
  case Phase::Package:
    return "package";
  }
  llvm_unreachable("a phase");
}

std::optional<Phase> bitpact::pipeline::parsePhase(llvm::StringRef name) {
  for (Phase phase : kPhases)
    if (nameOf(phase) == name)
      return phase;
  return std::nullopt;
}

std::string bitpact::pipeline::phaseNames() {
  std::string names;
  for (Phase phase : kPhases)
    names += (names.empty() ? "" : " ") + nameOf(phase).str();
  return names;
}
