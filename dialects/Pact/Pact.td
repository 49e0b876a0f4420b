// Pact.td - index of the Pact dialect, split by theme
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef BITPACT_DIALECTS_PACT_PACT_TD
#define BITPACT_DIALECTS_PACT_PACT_TD

include "dialects/Pact/PactBase.td"
include "dialects/Pact/PactTypes.td"
include "dialects/Pact/PactAttributes.td"
include "dialects/Pact/PactOperatorOps.td"
include "dialects/Pact/PactDefinitionOps.td"
include "dialects/Pact/PactContractOps.td"

#endif
