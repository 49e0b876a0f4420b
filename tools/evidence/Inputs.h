// Inputs.h - generated data for the inputs of a contract
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef BITPACT_EVIDENCE_INPUTS_H
#define BITPACT_EVIDENCE_INPUTS_H

#include "tools/evidence/Data.h"
#include "tools/evidence/Shape.h"

namespace bitpact::evidence {

/// The dim that a tensor of offsets cuts; empty for other tensors.
std::string cutBy(const ContractSpec &contract, const TensorSpec &tensor);

/// Values of the recipe, or offsets that ascend from 0 to the extent: with
/// empty blocks, blocks of one element and such that end near powers of two.
/// Every other list of Special does not: an entry of it is another number.
reference::Tensor generateInput(const ContractSpec &contract,
                                const TensorSpec &tensor, Recipe recipe,
                                uint64_t seed, const Dims &dims, bool shared);

} // namespace bitpact::evidence

#endif // BITPACT_EVIDENCE_INPUTS_H
