// OfferTest.cpp - which algorithms of a library attest tries
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// With fake_cublaslt.c, whose heuristic names two parts of K before one.
#include "tools/evidence/UserError.h"
#include "tools/evidence/attest/Algorithms.h"

#include <catch2/catch.hpp>

using namespace bitpact;
using namespace bitpact::evidence;
using namespace bitpact::evidence::attest;
using Catch::Contains;

namespace {

package::PinnedProduct
productOf(package::ElementType type = package::ElementType::F32) {
  return {{"x", type}, {"weight", type}, {"y", type}, "tokens", "out", "in"};
}

Dims shape(int64_t tokens) {
  return {{"tokens", tokens}, {"out", 8}, {"in", 64}};
}

Offer offered(const std::vector<Dims> &shapes, const OfferOptions &options,
              const package::PinnedProduct &product = productOf()) {
  return offerOf("cublaslt", Device("cuda:0"), product, shapes, options);
}

} // namespace

TEST_CASE("suggestions of all shapes are tried, the best first") {
  Offer offer = offered({shape(1), shape(96)}, {});
  CHECK(offer.version == "99");
  CHECK(offer.device == "Fake H200");
  REQUIRE(offer.algorithms.size() == 2);
  CHECK(offer.algorithms[0].text() ==
        "id=66 tile=0 split_k=2 reduction=0 swizzle=0 custom=0 stages=0 "
        "inner=0 cluster=0");
  // Two parts leave 4 bytes for each of 96 * 8 outputs.
  CHECK(offer.algorithms[0].workspaceBytes == 3072);
  CHECK(offer.algorithms[1].pinned.settings.at("split_k") == 1);
  CHECK(offer.algorithms[1].workspaceBytes == 0);
  // The bytes hold what no setting shows.
  CHECK(offer.algorithms[1].pinned.stored.size() == 128);
  CHECK(offer.algorithms[1].pinned.stored.substr(126) == "01");
  CHECK(offer.refused.empty());
}

TEST_CASE("the heuristic's choice alone, or a setting of one's own") {
  OfferOptions options;
  options.suggestions = 1;
  Offer choice = offered({shape(1)}, options);
  REQUIRE(choice.algorithms.size() == 1);
  CHECK(choice.algorithms[0].pinned.settings.at("split_k") == 2);
  options.settings["split_k"] = 1;
  Offer pinned = offered({shape(1)}, options);
  REQUIRE(pinned.algorithms.size() == 1);
  CHECK(pinned.algorithms[0].pinned.settings.at("split_k") == 1);
  options.settings = {{"parts", 1}};
  CHECK_THROWS_WITH(offered({shape(1)}, options),
                    Contains("--algorithm parts=1: no such setting; cublaslt "
                             "has tile, split_k"));
}

TEST_CASE("what the library does not take everywhere is not tried") {
  Offer offer = offered({shape(1), shape(4097)}, {});
  CHECK(offer.algorithms.empty());
  REQUIRE(offer.refused.size() == 2);
  CHECK(offer.refused[0].second ==
        "the library does not take it at in=64 out=8 tokens=4097: "
        "FAKE_NOT_SUPPORTED");
  CHECK_THROWS_WITH(offered({shape(4097)}, {}),
                    Contains("suggests no algorithm for a product of f32 and "
                             "f32 that is f32"));
  CHECK_THROWS_WITH(
      offered({shape(1)}, {}, productOf(package::ElementType::BF16)),
      Contains("bf16"));
}
