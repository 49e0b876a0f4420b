// Products.h - packages whose product a library computes
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef BITPACT_TESTS_UNIT_RUNTIME_PRODUCTS_H
#define BITPACT_TESTS_UNIT_RUNTIME_PRODUCTS_H

#include "runtime/package/Pin.h"
#include "tests/unit/runtime/Fixture.h"

namespace bitpact::test {

// x[tokens, hidden], weight[out, hidden] -> y[tokens, out], f32.
package::ContractEntry productContract();

// A variant for 2 to 100 rows and 1 to 64 columns, and what it is pinned to;
// without evidence.
package::Variant libraryVariant(const std::string &library);
package::Pin libraryPin(const std::string &library);

// The outputs of the challenge, added one after the other with each product
// rounded; and what was attested of that.
std::vector<float> chainOf(const std::vector<float> &x,
                           const std::vector<float> &weight, int64_t hidden);
// With `elements`, as many of a tensor's differ, and are hashed at either end.
void attest(package::Variant &variant, package::Pin &pin, int64_t elements = 0);

Package productPackage(const package::Variant &variant,
                       const package::Pin &pin);

} // namespace bitpact::test

#endif // BITPACT_TESTS_UNIT_RUNTIME_PRODUCTS_H
