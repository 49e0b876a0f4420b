// LibraryTest.cpp - products by pinned libraries, with libraries of the test's
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tests/unit/runtime/Products.h"

#include <catch2/catch.hpp>

#include <cstdlib>
#include <cstring>
#include <functional>
#include <iterator>

using namespace bitpact;
using namespace bitpact::test;
using Catch::Contains;

namespace {

const std::string libraries[] = {"openblas", "cublaslt"};

// A setting of fake_openblas.c while it lives.
struct Setting {
  Setting(const char *name, const char *value) : name(name) {
    ::setenv(name, value, 1);
  }
  ~Setting() { ::unsetenv(name); }
  const char *name;
};

bitpact_status lookUp(const OpenPackage &package, const OpenDevice &device,
                      const char *variant, bitpact_kernel **kernel) {
  return bitpact_kernel_lookup(package.get(), device.get(),
                               productContract().digest.c_str(), "train",
                               variant, kernel);
}

// Numbers whose sums depend on the order.
std::vector<float> values(int64_t rows, int64_t columns) {
  std::vector<float> list = matrix(rows, columns);
  for (float &value : list)
    value /= 7;
  return list;
}

struct Attested {
  explicit Attested(const std::string &library, int64_t elements = 0)
      : variant(libraryVariant(library)), pin(libraryPin(library)),
        where(device(library == "openblas" ? "cpu" : "cuda:0")) {
    test::attest(variant, pin, elements);
  }
  OpenPackage write() {
    productPackage(variant, pin).write(scratch / "pkg");
    return open(scratch / "pkg");
  }
  // The status of looking the variant up by its name, or without one.
  bitpact_status load(const char *name, bitpact_kernel **kernel = nullptr) {
    OpenPackage package = write();
    bitpact_kernel *found = nullptr;
    bitpact_status status = lookUp(package, where, name, &found);
    OpenKernel closes(found);
    if (kernel)
      *kernel = closes.release();
    return status;
  }
  Scratch scratch;
  package::Variant variant;
  package::Pin pin;
  OpenDevice where;
};

} // namespace

TEST_CASE("a product by a pinned library has the contract's bytes") {
  for (const std::string &library : libraries) {
    INFO(library);
    Attested attested(library);
    OpenPackage package = attested.write();
    OpenKernel found = kernel(package, attested.where);
    std::vector<float> x = values(7, 8), weight = values(5, 8), y(7 * 9, -1);
    DLDataType f32 = {kDLFloat, 32, 1};
    // Rows of the result lie 9 elements apart.
    Tensor a(x.data(), {7, 8}), b(weight.data(), {5, 8}),
        c(y.data(), {7, 5}, f32, {9, 1});
    for (Tensor *tensor : {&a, &b, &c})
      if (library == "cublaslt")
        tensor->tensor.device = {kDLCUDA, 0};
    bitpact_status status = Launch(a, b, c).run(found);
    INFO(bitpact_last_error());
    REQUIRE(status == BITPACT_OK);
    std::vector<float> expected = chainOf(x, weight, 8);
    for (size_t i = 0; i < y.size(); ++i) {
      INFO("element " << i);
      float wanted = i % 9 < 5 ? expected[i / 9 * 5 + i % 9] : -1;
      CHECK(std::memcmp(&y[i], &wanted, sizeof wanted) == 0);
    }
    // Of 1 row nothing was attested, and rows that overlap are no matrix.
    Tensor lone(x.data(), {1, 8}), one(y.data(), {1, 5}),
        overlapping(x.data(), {7, 8}, f32, {4, 1});
    for (Tensor *tensor : {&lone, &one, &overlapping})
      tensor->tensor.device = a.tensor.device;
    CHECK(Launch(lone, b, one).run(found) == BITPACT_MISSING_VARIANT);
    CHECK_THAT(bitpact_last_error(),
               Contains("'tokens' is 1, it takes 2 to 100"));
    CHECK(Launch(overlapping, b, c).run(found) == BITPACT_MISSING_VARIANT);
    CHECK_THAT(bitpact_last_error(), Contains("rows that do not overlap"));
  }
}

TEST_CASE("another version, device or algorithm is not what was attested") {
  for (const std::string &library : libraries) {
    INFO(library);
    {
      Attested other(library);
      other.pin.version = "98";
      CHECK(other.load(other.variant.id.c_str()) == BITPACT_MISSING_LIBRARY);
      CHECK_THAT(bitpact_last_error(),
                 Contains("by-" + library) &&
                     Contains("is pinned to " + library + " 98") &&
                     Contains("here is "));
    }
    Attested other(library);
    other.pin.device = "Fake A100";
    CHECK(other.load(nullptr) == BITPACT_MISSING_LIBRARY);
    CHECK_THAT(bitpact_last_error(), Contains("on Fake A100; here is "));
  }
  Attested settings("cublaslt");
  settings.pin.algorithm.settings["split_k"] = 2;
  CHECK(settings.load(nullptr) == BITPACT_BAD_PACKAGE);
  CHECK_THAT(bitpact_last_error(),
             Contains("algorithm.stored is that of id=66 tile=0 split_k=1") &&
                 Contains("split_k=2"));
  Attested bytes("cublaslt");
  bytes.pin.algorithm.stored.resize(64);
  CHECK(bytes.load(nullptr) == BITPACT_BAD_PACKAGE);
  CHECK_THAT(bitpact_last_error(),
             Contains("algorithm.stored has 64 digits, must have 128"));
  Attested threads("openblas");
  threads.pin.algorithm.settings.clear();
  CHECK(threads.load(nullptr) == BITPACT_BAD_PACKAGE);
  CHECK_THAT(bitpact_last_error(), Contains("misses the key 'threads'"));
}

TEST_CASE("a library that adds otherwise now fails the challenge") {
  {
    Attested attested("openblas");
    Setting halves("FAKE_BLAS", "halves");
    CHECK(attested.load(nullptr) == BITPACT_CHALLENGE_FAILED);
    CHECK_THAT(bitpact_last_error(),
               Contains("variant 'by-openblas'") &&
                   Contains("does not keep the contract any more") &&
                   Contains(attested.pin.challenge->sha256));
    CHECK(std::string(bitpact_status_name(BITPACT_CHALLENGE_FAILED)) ==
          "challenge failed");
  }
  // Two parts of K, and bytes and settings that say so: only results tell.
  Attested cut("cublaslt");
  cut.pin.algorithm.settings["split_k"] = 2;
  cut.pin.algorithm.stored.replace(2 * 14, 2, "02");
  cut.variant.workspace = "4096";
  cut.variant.arguments = package::argumentList(
      productContract().tensors, {"tokens", "out", "hidden"}, true);
  CHECK(cut.load(nullptr) == BITPACT_CHALLENGE_FAILED);
}

TEST_CASE("a short challenge repeats its data and hashes the ends") {
  for (const std::string &library : libraries)
    for (int64_t elements : {1, 7, 8, 39, 4096}) {
      INFO(library << ", " << elements);
      Attested attested(library, elements);
      CHECK(attested.load(nullptr) == BITPACT_OK);
      char &digit = attested.pin.challenge->sha256.back();
      digit = digit == '0' ? '1' : '0';
      CHECK(attested.load(nullptr) == BITPACT_CHALLENGE_FAILED);
    }
  // Rows that differ, or else few sums tell one order from another.
  for (int64_t elements : {5, 11, 23, 39}) {
    INFO(elements);
    Attested attested("openblas", elements);
    Setting halves("FAKE_BLAS", "halves");
    CHECK(attested.load(nullptr) == BITPACT_CHALLENGE_FAILED);
  }
}

// Each with its hashes in place and with a library that does what it says: a
// challenge's data come from the whole pin, so that others give other outputs.
TEST_CASE("a pin that was edited fails its challenge, if nothing before it") {
  using P = package::Pin &;
  const std::function<void(P)> edits[] = {
      [](P pin) { pin.challenge->seed = 8; },
      [](P pin) { pin.challenge->elements = 9; },
      [](P pin) { pin.challenge->dims["tokens"] = 6; },
      [](P pin) { pin.attestation->compared += 1; },
      [](P pin) { pin.attestation->launches += 1; },
      [](P pin) { pin.attestation->seed = 2; },
      [](P pin) { pin.attestation->data.push_back("special"); },
      [](P pin) { pin.attestation->revealed.pop_back(); },
      [](P pin) {
        pin.attestation->shapes.push_back("hidden=8 out=2 tokens=2");
      }};
  for (const std::string &library : libraries)
    for (size_t i = 0; i < std::size(edits); ++i) {
      INFO(library << ", edit " << i);
      Attested attested(library, 7);
      edits[i](attested.pin);
      CHECK(attested.load(nullptr) == BITPACT_CHALLENGE_FAILED);
    }
  // Another algorithm, in settings and in bytes; the fake one computes alike.
  Attested other("cublaslt", 7);
  other.pin.algorithm.settings["id"] = 67;
  CHECK(other.load(nullptr) == BITPACT_BAD_PACKAGE);
  CHECK_THAT(bitpact_last_error(),
             Contains("algorithm.stored is that of id=66") &&
                 Contains("id=67"));
  other.pin.algorithm.stored.replace(0, 2, "43");
  CHECK(other.load(nullptr) == BITPACT_CHALLENGE_FAILED);
}

TEST_CASE("what is not attested runs by its name alone") {
  for (const std::string &library : libraries) {
    Attested bare(library);
    bare.variant.evidence = package::Evidence::None;
    bare.pin.attestation.reset();
    bare.pin.challenge.reset();
    CHECK(bare.load(nullptr) == BITPACT_MISSING_VARIANT);
    CHECK_THAT(bitpact_last_error(), Contains("by-" + library));
    Setting halves("FAKE_BLAS", "halves"); // nobody asks what it adds
    CHECK(bare.load(bare.variant.id.c_str()) == BITPACT_OK);
  }
}

TEST_CASE("the threads of OpenBLAS are those that were attested") {
  Attested attested("openblas");
  bitpact_kernel *raw = nullptr;
  REQUIRE(attested.load(nullptr, &raw) == BITPACT_OK);
  OpenKernel found(raw);
  std::vector<float> x = matrix(2, 8), weight = matrix(1, 8), y(2);
  Tensor a(x.data(), {2, 8}), b(weight.data(), {1, 8}), c(y.data(), {2, 1});
  Launch launch(a, b, c);
  REQUIRE(launch.run(found) == BITPACT_OK);
  Setting more("FAKE_BLAS_THREADS", "4");
  CHECK(launch.run(found) == BITPACT_BAD_STATE);
  CHECK_THAT(bitpact_last_error(),
             Contains("runs 4 threads, the variant is pinned to 1"));
  CHECK(attested.load(nullptr) == BITPACT_MISSING_LIBRARY);
}

TEST_CASE("without the library the other variants serve") {
  Attested attested("openblas");
  attested.pin.version = "98";
  Package package = productPackage(attested.variant, attested.pin);
  package::Variant generated = libraryVariant("openblas");
  generated.id = "generated";
  generated.library.clear();
  generated.entry = "row_sum";
  generated.code.file = "code/generated.so";
  generated.priority = 1;
  package.add(generated);
  package.write(attested.scratch / "both");
  OpenPackage both = open(attested.scratch / "both");
  OpenKernel found = kernel(both, attested.where);
  std::vector<float> x = matrix(2, 8), weight = matrix(1, 8), y(2);
  Tensor a(x.data(), {2, 8}), b(weight.data(), {1, 8}), c(y.data(), {2, 1});
  CHECK(Launch(a, b, c).select(both, found) == "generated");
  // Asked for by its name, it is what is missing.
  bitpact_kernel *none = nullptr;
  CHECK(lookUp(both, attested.where, attested.variant.id.c_str(), &none) ==
        BITPACT_MISSING_LIBRARY);
  bitpact_variant_info info = {};
  info.size = sizeof info;
  REQUIRE(bitpact_variant_get_info(both.get(), 0, &info) == BITPACT_OK);
  CHECK(std::string(info.library) == "openblas");
  REQUIRE(bitpact_variant_get_info(both.get(), 1, &info) == BITPACT_OK);
  CHECK(std::string(info.library).empty());
}
