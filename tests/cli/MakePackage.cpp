// MakePackage.cpp - packages of hand-written kernels for the tool's tests
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// MakePackage DIRECTORY writes
//   DIRECTORY/sum.pkg    two right variants of one sum over 43 elements
//   DIRECTORY/two.pkg    two sums, over 43 and over 8 elements
//   DIRECTORY/norm.pkg   rms_norm over 43 elements
//   DIRECTORY/wrong.pkg  a right and a wrong variant of the sum
//   DIRECTORY/product.pkg  two right variants of a product over 43 elements,
//                        with open columns, and one with pairs of elements
//   DIRECTORY/grouped.pkg  a product with the weights of a row's expert
//   DIRECTORY/none.pkg   a contract without variants
#include "tests/unit/evidence/TestPackage.h"

using namespace bitpact::tests;

int main(int argc, char **argv) {
  if (argc != 2)
    return 2;
  std::string directory = argv[1];
  writeTestPackage(directory + "/sum.pkg", {sumContract()},
                   {"sum_right", "sum_right_blocks"});
  writeTestPackage(directory + "/two.pkg",
                   {sumContract(43, "test/sum43"), sumContract(8, "test/sum8")},
                   {"sum_right"});
  writeTestPackage(directory + "/norm.pkg", {normContract()}, {"norm_right"});
  writeTestPackage(directory + "/wrong.pkg", {sumContract()},
                   {"sum_right", "sum_pairwise"});
  writeTestPackage(directory + "/product.pkg", {productContract(-1, 43)},
                   {"product_right", "product_columns", "product_pairs"});
  writeTestPackage(directory + "/grouped.pkg", {groupedContract(-1)},
                   {"grouped_right"});
  writeTestPackage(directory + "/none.pkg", {sumContract()}, {});
  return 0;
}
