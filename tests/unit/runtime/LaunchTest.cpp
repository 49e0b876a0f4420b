// LaunchTest.cpp - lookups, selection, and results on the cpu
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tests/unit/runtime/Fixture.h"

#include <catch2/catch.hpp>

#include <atomic>
#include <thread>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

using namespace bitpact;
using namespace bitpact::test;
using Catch::Contains;

static std::string lookupError(const OpenPackage &package,
                               const OpenDevice &device, const char *role,
                               const char *variant, bitpact_status expected,
                               const std::string &digest) {
  bitpact_kernel *kernel = nullptr;
  CHECK(bitpact_kernel_lookup(package.get(), device.get(), digest.c_str(), role,
                              variant, &kernel) == expected);
  CHECK(kernel == nullptr);
  return bitpact_last_error();
}

// wide: priority 0, x at 64 bytes, strides a multiple of 16. narrow: any.
// serve: another role. next: a higher level.
static Package manyVariants() {
  Package sample;
  package::ContractEntry contract = rowSumContract();
  sample.add(contract);
  package::Variant narrow = variantOf(contract, "narrow", "row_sum");
  narrow.priority = 10;
  sample.add(narrow);
  package::Variant wide = variantOf(contract, "wide", "row_sum_plus_1000");
  wide.when.align = {{"x", 64}};
  wide.when.strideMultiple = {{"x", 16}};
  wide.when.dims = {{"tokens", {4, 100}}};
  sample.add(wide);
  package::Variant serve = variantOf(contract, "serve", "row_sum");
  serve.roles = {"decode"};
  sample.add(serve);
  return sample;
}

TEST_CASE("a variant is chosen by alignment, stride and dims") {
  Scratch scratch;
  manyVariants().write(scratch / "pkg");
  OpenPackage package = open(scratch / "pkg");
  OpenDevice cpu = device("cpu");
  OpenKernel kernel = test::kernel(package, cpu);
  alignas(64) float x[20 * 16] = {}, y[20];
  for (int i = 0; i < 20 * 16; ++i)
    x[i] = float(i % 16);
  Tensor ty(y, {4});
  DLDataType f32 = {kDLFloat, 32, 1};
  Tensor fits(x, {4, 8}, f32, {16, 1}), packed(x, {4, 8});
  Tensor shifted(x + 4, {4, 8}, f32, {16, 1});
  Tensor three(x, {3, 8}, f32, {16, 1}), y3(y, {3});
  CHECK(Launch(fits, ty).select(package, kernel) == "wide");
  CHECK(Launch(packed, ty).select(package, kernel) == "narrow");
  CHECK(Launch(shifted, ty).select(package, kernel) == "narrow");
  CHECK(Launch(three, y3).select(package, kernel) == "narrow");

  // It is the one that runs: 0 + … + 7 = 28, and the other adds 1000.
  REQUIRE(Launch(fits, ty).run(kernel) == BITPACT_OK);
  CHECK(y[3] == 1028);
  REQUIRE(Launch(three, y3).run(kernel) == BITPACT_OK);
  CHECK(y[2] == 28);

  // byte_offset counts as the pointer does.
  Tensor offset(x, {4, 8}, f32, {16, 1});
  offset.tensor.byte_offset = 16;
  CHECK(Launch(offset, ty).select(package, kernel) == "narrow");

  // A single row has no stride to speak of.
  Tensor row(x, {1, 8}, f32, {5, 1}), y1(y, {1});
  CHECK(Launch(row, y1).run(kernel) == BITPACT_OK);

  OpenKernel forced = test::kernel(package, cpu, "train", "wide");
  CHECK(Launch(fits, ty).select(package, forced) == "wide");
  CHECK(Launch(shifted, ty).run(forced) == BITPACT_MISSING_VARIANT);
  CHECK_THAT(bitpact_last_error(), Contains("wide: tensor 'x' is at 0x") &&
                                       Contains("64 bytes of alignment"));
  CHECK(Launch(packed, ty).run(forced) == BITPACT_MISSING_VARIANT);
  CHECK_THAT(bitpact_last_error(),
             Contains("has stride 8 at axis 0, it needs a multiple of 16"));
  CHECK(Launch(three, y3).run(forced) == BITPACT_MISSING_VARIANT);
  CHECK_THAT(bitpact_last_error(),
             Contains("dim 'tokens' is 3, it takes 4 to 100"));
}

TEST_CASE("roles and forced variants; what is missing lists what there is") {
  Scratch scratch;
  manyVariants().write(scratch / "pkg");
  OpenPackage package = open(scratch / "pkg");
  OpenDevice cpu = device("cpu");
  std::string digest = rowSumContract().digest;

  OpenKernel decode = test::kernel(package, cpu, "decode");
  bitpact_kernel_info info = {};
  info.size = sizeof info;
  REQUIRE(bitpact_kernel_get_info(decode.get(), &info) == BITPACT_OK);
  REQUIRE(info.variant_count == 1);
  CHECK(info.variants[0] == 2);
  OpenKernel train = test::kernel(package, cpu, "train");
  REQUIRE(bitpact_kernel_get_info(train.get(), &info) == BITPACT_OK);
  REQUIRE(info.variant_count == 2);
  CHECK(info.variants[0] == 1); // priority 0 before priority 10
  CHECK(info.variants[1] == 0);

  CHECK_THAT(
      lookupError(package, cpu, "prefill", nullptr, BITPACT_MISSING_VARIANT,
                  digest),
      Contains("role 'prefill'") &&
          Contains("wide for cpu:" + baseLevel + ", roles train, rollout") &&
          Contains("serve for cpu:" + baseLevel + ", roles decode"));
  CHECK_THAT(lookupError(package, cpu, "train", "fast", BITPACT_MISSING_VARIANT,
                         digest),
             Contains("no variant 'fast'") && Contains("narrow for"));
  CHECK_THAT(lookupError(package, cpu, "serving", nullptr,
                         BITPACT_INVALID_ARGUMENT, digest),
             Contains("role 'serving'") &&
                 Contains("train, rollout, prefill, decode"));
  CHECK_THAT(
      lookupError(package, cpu, "train", nullptr, BITPACT_NOT_FOUND, "cafe"),
      Contains("contract 'cafe'") && Contains(digest + " test/row_sum"));
  OpenDevice null = device("null");
  CHECK_THAT(lookupError(package, null, "train", nullptr,
                         BITPACT_MISSING_VARIANT, digest),
             Contains("device 'null' (runs nothing)"));
}

TEST_CASE("the best level comes first; a forced level is the only one") {
  if (baseLevel == nextLevel)
    return;
  Scratch scratch;
  Package sample = rowSumPackage();
  package::Variant next = variantOf(rowSumContract(), "next", "row_sum");
  next.target.arch = nextLevel;
  next.priority = 100; // the level counts before the priority
  sample.add(next);
  package::Variant alien = variantOf(rowSumContract(), "alien", "row_sum");
  alien.target.arch = "x86-64-v99";
  sample.add(alien);
  sample.write(scratch / "pkg");
  OpenPackage package = open(scratch / "pkg");
  std::vector<float> x = matrix(2, 8), y(2);
  Tensor tx(x.data(), {2, 8}), ty(y.data(), {2});
  OpenDevice any = device("cpu"), base = device("cpu:" + baseLevel);
  CHECK(Launch(tx, ty).select(package, kernel(package, any)) == "next");
  CHECK(Launch(tx, ty).select(package, kernel(package, base)) == "only");
}

TEST_CASE("the same bits from any number of threads and callers") {
  Scratch scratch;
  rowSumPackage().write(scratch / "pkg");
  OpenPackage package = open(scratch / "pkg");
  for (int64_t rows : {1, 2, 7, 1025, 40000}) {
    std::vector<float> x = matrix(rows, 8), expected = rowSums(x, 8);
    for (uint32_t threads : {1u, 2u, 5u}) {
      OpenDevice cpu = device("cpu", threads);
      OpenKernel kernel = test::kernel(package, cpu);
      auto once = [&] {
        std::vector<float> y(size_t(rows), -1);
        Tensor tx(x.data(), {rows, 8}), ty(y.data(), {rows});
        return Launch(tx, ty).run(kernel) == BITPACT_OK && y == expected;
      };
      CHECK(once());
      std::vector<std::thread> callers;
      std::atomic<int> good{0};
      for (int i = 0; i < 4; ++i)
        callers.emplace_back([&] {
          for (int n = 0; n < 5; ++n)
            good += once();
        });
      for (std::thread &caller : callers)
        caller.join();
      CHECK(good == 20);
    }
  }
}

#if defined(__x86_64__)
TEST_CASE("every thread rounds to nearest and keeps subnormals; then as was") {
  Scratch scratch;
  Package sample;
  auto contract = rowSumContract(package::ElementType::I32);
  sample.add(contract);
  sample.add(variantOf(contract, "state", "float_state"));
  sample.write(scratch / "pkg");
  OpenPackage package = open(scratch / "pkg");
  OpenDevice cpu = device("cpu", 4);
  OpenKernel kernel = test::kernel(package, cpu);
  for (int64_t rows : {1, 40000}) { // in the caller alone, and in all threads
    std::vector<float> x = matrix(rows, 8);
    std::vector<int32_t> y(size_t(rows), 0);
    Tensor tx(x.data(), {rows, 8});
    Tensor ty(y.data(), {rows}, {kDLInt, 32, 1});
    const unsigned odd = 0x1F80 | 0x8040 | 0x6000; // FTZ, DAZ, towards zero
    unsigned before = _mm_getcsr();
    _mm_setcsr(odd);
    bitpact_status status = Launch(tx, ty).run(kernel);
    unsigned after = _mm_getcsr();
    _mm_setcsr(before);
    REQUIRE(status == BITPACT_OK);
    CHECK(after == odd);
    CHECK(y == std::vector<int32_t>(size_t(rows), 0x1F80));
  }
}
#endif

TEST_CASE("zero rows are a launch that does nothing") {
  Scratch scratch;
  rowSumPackage().write(scratch / "pkg");
  OpenPackage package = open(scratch / "pkg");
  OpenDevice cpu = device("cpu");
  OpenKernel kernel = test::kernel(package, cpu);
  Tensor tx(nullptr, {0, 8}), ty(nullptr, {0});
  CHECK(Launch(tx, ty).run(kernel) == BITPACT_OK);
  Tensor wrong(nullptr, {0, 9});
  CHECK(Launch(wrong, ty).run(kernel) == BITPACT_BAD_TENSOR);
}

TEST_CASE("workspace: as much as the formula says, checked at launch") {
  Scratch scratch;
  Package sample;
  package::ContractEntry contract = rowSumContract();
  sample.add(contract);
  package::Variant pairs = variantOf(contract, "pairs", "row_sum_pairs");
  pairs.arguments =
      package::argumentList(contract.tensors, {"tokens", "hidden"}, true);
  pairs.workspace = "4*tokens + 16";
  pairs.launch.rowsPerProgram = 2;
  sample.add(pairs);
  sample.write(scratch / "pkg");
  OpenPackage package = open(scratch / "pkg");
  OpenDevice cpu = device("cpu");
  OpenKernel kernel = test::kernel(package, cpu);

  bitpact_dim dims[] = {{"tokens", 5}};
  uint64_t bytes = 0;
  REQUIRE(bitpact_kernel_prepare(kernel.get(), dims, 1) == BITPACT_OK);
  REQUIRE(bitpact_kernel_workspace(kernel.get(), dims, 1, &bytes) ==
          BITPACT_OK);
  CHECK(bytes == 4 * 5 + 16);

  std::vector<float> x = matrix(5, 8), y(5);
  Tensor tx(x.data(), {5, 8}), ty(y.data(), {5});
  alignas(256) char space[512];
  Launch launch(tx, ty);
  CHECK(launch.run(kernel) == BITPACT_INVALID_ARGUMENT);
  CHECK_THAT(bitpact_last_error(),
             Contains("workspace: 0 bytes are given, this launch needs 36"));
  launch.args.workspace = space;
  launch.args.workspace_bytes = 35;
  CHECK(launch.run(kernel) == BITPACT_INVALID_ARGUMENT);
  launch.args.workspace = space + 1;
  launch.args.workspace_bytes = 36;
  CHECK(launch.run(kernel) == BITPACT_INVALID_ARGUMENT);
  CHECK_THAT(bitpact_last_error(), Contains("aligned to 256 bytes"));
  launch.args.workspace = space;
  REQUIRE(launch.run(kernel) == BITPACT_OK);
  CHECK(y == rowSums(x, 8));

  auto prepareError = [&](bitpact_dim dim) {
    CHECK(bitpact_kernel_prepare(kernel.get(), &dim, 1) ==
          BITPACT_INVALID_ARGUMENT);
    return std::string(bitpact_last_error());
  };
  CHECK_THAT(prepareError({"rows", 5}),
             Contains("dim 'rows'") && Contains("tokens, hidden"));
  CHECK_THAT(prepareError({"hidden", 9}), Contains("the contract fixes 8"));
  CHECK_THAT(prepareError({"hidden", 8}),
             Contains("dim 'tokens' is not given"));
  CHECK_THAT(prepareError({"tokens", 0}), Contains("must be at least 1"));
  CHECK_THAT(prepareError({"tokens", INT64_MAX}), Contains("more workspace"));
}

TEST_CASE("a package whose code is not code is refused at lookup") {
  Scratch scratch;
  Package sample;
  sample.add(rowSumContract());
  sample.add(variantOf(rowSumContract(), "text", "row_sum"), "not an object");
  package::Variant symbol = variantOf(rowSumContract(), "symbol", "absent");
  sample.add(symbol);
  package::Variant broken = variantOf(rowSumContract(), "broken", "row_sum");
  sample.add(broken, kernelBytes().substr(0, 1000));
  sample.write(scratch / "pkg");
  OpenPackage package = open(scratch / "pkg");
  OpenDevice cpu = device("cpu");
  std::string digest = rowSumContract().digest;
  auto message = [&](const char *id) {
    return lookupError(package, cpu, "train", id, BITPACT_BAD_PACKAGE, digest);
  };
  CHECK_THAT(
      message("text"),
      Contains("code/text.so: cannot be loaded: it is not a shared object"));
  CHECK_THAT(message("symbol"), Contains("code/symbol.so: has no entry "
                                         "'absent'"));
  CHECK_THAT(
      message("broken"),
      Contains("code/broken.so: cannot be loaded: a segment is cut short"));
}

TEST_CASE("kernels outlive the package and the device they came from") {
  Scratch scratch;
  rowSumPackage().write(scratch / "pkg");
  OpenPackage package = open(scratch / "pkg");
  OpenDevice cpu = device("cpu");
  OpenKernel kernel = test::kernel(package, cpu);
  package.reset();
  cpu.reset();
  std::vector<float> x = matrix(9, 8), y(9);
  Tensor tx(x.data(), {9, 8}), ty(y.data(), {9});
  CHECK(Launch(tx, ty).run(kernel) == BITPACT_OK);
  CHECK(y == rowSums(x, 8));
}

TEST_CASE("steps run in order, and find what the one before left") {
  Scratch scratch;
  Package sample;
  package::ContractEntry contract = rowSumContract();
  contract.dims["hidden"] = package::dynamicExtent;
  sample.add(contract);
  package::Variant parts = variantOf(contract, "parts", "row_sum_parts");
  parts.arguments =
      package::argumentList(contract.tensors, {"tokens", "hidden"}, true);
  parts.workspace = "4*ceil(hidden/4)*tokens";
  parts.launch.split = {"hidden", 4, 0};
  package::Step merge{"row_sum_merge", parts.launch};
  merge.launch.split = {};
  merge.launch.rowsPerProgram = 2;
  parts.then = {merge};
  sample.add(parts);
  sample.write(scratch / "pkg");
  OpenPackage package = open(scratch / "pkg");
  OpenDevice cpu = device("cpu", 3);
  OpenKernel kernel = test::kernel(package, cpu);

  // Beyond the size below which no thread is woken, too.
  for (auto [tokens, hidden] :
       {std::pair<int64_t, int64_t>{1, 1}, {3, 9}, {7, 8}, {65, 4097}}) {
    bitpact_dim dims[] = {{"tokens", tokens}, {"hidden", hidden}};
    uint64_t bytes = 0;
    REQUIRE(bitpact_kernel_workspace(kernel.get(), dims, 2, &bytes) ==
            BITPACT_OK);
    CHECK(bytes == uint64_t(4 * ((hidden + 3) / 4) * tokens));
    std::vector<float> x = matrix(tokens, hidden), y(tokens);
    Tensor tx(x.data(), {tokens, hidden}), ty(y.data(), {tokens});
    std::vector<char> space(bytes + 256);
    Launch launch(tx, ty);
    launch.args.workspace =
        space.data() + 256 - reinterpret_cast<uint64_t>(space.data()) % 256;
    launch.args.workspace_bytes = bytes;
    REQUIRE(launch.run(kernel) == BITPACT_OK);
    CHECK(y == rowSums(x, hidden));
  }
}
