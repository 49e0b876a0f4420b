// Data.h - generated test data: recipes that are the same on every machine
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef BITPACT_EVIDENCE_DATA_H
#define BITPACT_EVIDENCE_DATA_H

#include "contracts/reference/Tensor.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace bitpact::evidence {

enum class Recipe {
  /// Normal values that bf16 holds: exact products in f32.
  Normal,
  /// Normal values with every bit of the format in use.
  Dense,
  /// Each element scaled by its own power of two in [2^-40, 2^40].
  Wide,
  /// Subnormals of the format, zeros, and normals just above them.
  Subnormal,
  /// NaNs of every kind, infinities of one or both signs, largest values.
  Special,
  /// Rows of -0, of +0, of both, and with a single other element.
  Zeros,
  /// Every element of a row the same.
  Constant,
  /// Large values that cancel and small ones that remain.
  Cancellation,
};

const std::vector<Recipe> &allRecipes();
std::string_view nameOf(Recipe recipe);
/// Throws UserError that lists the recipes.
Recipe parseRecipe(std::string_view name);

/// Rows run along the last axis. A row's values depend on seed, recipe, tensor
/// name and the row's index alone, so fewer rows are a prefix of more rows.
/// `shared` tensors (weights) meet every row: a recipe that could hide whole
/// columns, such as Special, touches only few of their elements.
reference::Tensor generate(Recipe recipe, uint64_t seed,
                           std::string_view tensorName, algebra::Format format,
                           const std::vector<int64_t> &shape, bool shared);

} // namespace bitpact::evidence

#endif // BITPACT_EVIDENCE_DATA_H
