// FakeCudaTest.cpp - what the CUDA driver is asked, by a library that notes it
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Run with the fake libcuda.so.1 on the loader's path (ctest sets it).
#include "tests/unit/runtime/Fixture.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace bitpact;
using namespace bitpact::test;
using Catch::Contains;

namespace {

// As in fake_cuda.c.
struct FakeCudaLog {
  int contexts, modules, launches, capturing, failLaunch, pushed;
  int allocations, synchronizations, parameters;
  unsigned grid, block, shared, dynamicSharedSet;
  void *stream;
  uint64_t slots[8];
  unsigned parts, merges;
  int mapType, mapSwizzle, mapPromotion, mapFill;
  uint64_t mapExtents[3], mapPitch, mapApart;
  uint32_t mapBox[3], mapRank;
  int overlaps;
};

FakeCudaLog &fake() {
  void *library = ::dlopen("libcuda.so.1", RTLD_NOW);
  REQUIRE(library);
  void *log = ::dlsym(library, "fakeCudaLog");
  INFO("the fake libcuda.so.1 must be on the loader's path");
  REQUIRE(log);
  return *static_cast<FakeCudaLog *>(log);
}

package::Variant cudaVariant(const std::string &id, const std::string &arch) {
  package::Variant variant = variantOf(rowSumContract(), id, "row_sum");
  variant.target = {package::TargetKind::Cuda, arch, ""};
  variant.code.file = "code/" + id + ".cubin";
  variant.launch.threads = 128;
  variant.launch.programsPerCta = 4;
  variant.launch.sharedBytes = 65536;
  return variant;
}

const std::string elf = "\x7f"
                        "ELF of a fake";

struct Cuda {
  Cuda() {
    Package sample;
    sample.add(rowSumContract());
    sample.add(cudaVariant("generic", "sm_90"), elf);
    sample.add(cudaVariant("special", "sm_90a"), elf);
    sample.add(cudaVariant("ampere", "sm_80"), elf);
    package::Variant text = cudaVariant("text", "sm_90a");
    text.roles = {"decode"};
    sample.add(text, ".version 8.0");
    package::Variant big = cudaVariant("big", "sm_90a");
    big.roles = {"prefill"};
    big.launch.sharedBytes = 232448;
    sample.add(big, elf);
    package::Variant wide = cudaVariant("wide", "sm_90a");
    wide.roles = {"prefill"};
    wide.launch.threads = 512;
    sample.add(wide, elf);
    sample.write(scratch / "pkg");
    package = open(scratch / "pkg");
  }

  std::string lookupError(const OpenDevice &device, const char *role,
                          const char *id, bitpact_status expected) {
    bitpact_kernel *kernel = nullptr;
    CHECK(bitpact_kernel_lookup(package.get(), device.get(),
                                rowSumContract().digest.c_str(), role, id,
                                &kernel) == expected);
    return bitpact_last_error();
  }

  Scratch scratch;
  OpenPackage package;
};

// Tensors that say they lie on a CUDA device.
struct OnDevice {
  OnDevice(void *x, void *y, int64_t rows, int ordinal = 0)
      : x(x, {rows, 8}), y(y, {rows}), launch(this->x, this->y) {
    this->x.tensor.device = this->y.tensor.device = {kDLCUDA, ordinal};
  }
  Tensor x, y;
  Launch launch;
};

} // namespace

TEST_CASE_METHOD(Cuda, "a device runs only code of its own architecture") {
  OpenDevice hopper = device("cuda:0"), ampere = device("cuda:1");
  bitpact_device_info info = {};
  info.size = sizeof info;
  REQUIRE(bitpact_device_get_info(hopper.get(), &info) == BITPACT_OK);
  CHECK(std::string(info.description) == "Fake H200");
  CHECK(info.units == 132);
  REQUIRE(info.arch_count == 2);
  CHECK(std::string(info.archs[0]) == "sm_90a");
  CHECK(std::string(info.archs[1]) == "sm_90");

  alignas(256) float x[1024], y[128];
  OnDevice on(x, y, 9), other(x, y, 9, 1);
  CHECK(on.launch.select(package, kernel(package, hopper)) == "special");
  CHECK(other.launch.select(package, kernel(package, ampere)) == "ampere");
  CHECK(on.launch.run(kernel(package, ampere)) == BITPACT_BAD_TENSOR);
  CHECK_THAT(bitpact_last_error(),
             Contains("device 2:0") && Contains("must be on 'cuda:1'"));
  bitpact_device *none = nullptr;
  CHECK(bitpact_device_open("cuda:2", nullptr, &none) ==
        BITPACT_MISSING_DEVICE);
  CHECK(std::string(bitpact_last_error()) ==
        "device 'cuda:2' does not exist; the driver sees 2 CUDA devices");
}

TEST_CASE_METHOD(Cuda, "grid, block, shared memory, slots, stream and route") {
  FakeCudaLog &log = fake();
  OpenDevice cuda = device("cuda:0");
  OpenKernel kernel = test::kernel(package, cuda);
  CHECK(log.dynamicSharedSet == 65536);
  alignas(256) float x[1024], y[128];
  OnDevice on(x, y, 9);
  auto ignore = [](void *, const char *) {};
  REQUIRE(bitpact_records_drain(ignore, nullptr, nullptr) == BITPACT_OK);

  int before = log.launches;
  REQUIRE(on.launch.run(kernel) == BITPACT_OK);
  CHECK(log.launches == before + 1);
  CHECK(log.grid == 3); // 9 rows, 4 programs a CTA
  CHECK(log.block == 128);
  CHECK(log.shared == 65536);
  CHECK(log.stream == nullptr);
  CHECK(log.slots[0] == reinterpret_cast<uint64_t>(x));
  CHECK(log.slots[1] == 8);
  CHECK(log.slots[2] == reinterpret_cast<uint64_t>(y));
  CHECK(log.slots[3] == 9);
  CHECK(log.slots[4] == 8);
  CHECK(log.pushed == 0); // the context that was current is back

  int stream;
  on.launch.args.stream = &stream;
  log.capturing = 1;
  REQUIRE(on.launch.run(kernel) == BITPACT_OK);
  log.capturing = 0;
  CHECK(log.stream == &stream);

  std::vector<std::string> routes;
  REQUIRE(bitpact_records_drain(
              [](void *context, const char *line) {
                static_cast<std::vector<std::string> *>(context)->push_back(
                    nlohmann::json::parse(line)["route"]);
              },
              &routes, nullptr) == BITPACT_OK);
  CHECK(routes == std::vector<std::string>{"eager", "capture"});

  OnDevice none(nullptr, nullptr, 0);
  before = log.launches;
  CHECK(none.launch.run(kernel) == BITPACT_OK);
  CHECK(log.launches == before);

  log.failLaunch = 719;
  CHECK(on.launch.run(kernel) == BITPACT_DRIVER_ERROR);
  log.failLaunch = 0;
  CHECK(std::string(bitpact_last_error()) ==
        "cuLaunchKernel: CUDA_ERROR_LAUNCH_FAILED (719): unspecified launch "
        "failure");
}

TEST_CASE("a variant of two steps is two launches in one stream") {
  Scratch scratch;
  Package sample;
  sample.add(rowSumContract());
  package::Variant split = cudaVariant("split", "sm_90a");
  split.launch.split = {"hidden", 3, 0};
  package::Step merge{"row_sum_merge", {}};
  merge.launch.parallelDims = {"tokens"};
  merge.launch.threads = 32;
  split.then = {merge};
  sample.add(split, elf);
  sample.write(scratch / "pkg");
  OpenPackage package = open(scratch / "pkg");
  FakeCudaLog &log = fake();
  OpenDevice cuda = device("cuda:0");
  OpenKernel kernel = test::kernel(package, cuda);
  alignas(256) float x[1024], y[128];
  OnDevice on(x, y, 9);
  std::vector<std::string> records;
  auto keep = [](void *context, const char *line) {
    static_cast<std::vector<std::string> *>(context)->push_back(line);
  };
  REQUIRE(bitpact_records_drain(keep, &records, nullptr) == BITPACT_OK);
  records.clear();
  int before = log.launches;
  REQUIRE(on.launch.run(kernel) == BITPACT_OK);
  CHECK(log.launches == before + 2);
  CHECK(log.merges == 1); // the last
  CHECK(log.grid == 9);
  CHECK(log.parts == 1);
  CHECK(log.block == 32);
  REQUIRE(bitpact_records_drain(keep, &records, nullptr) == BITPACT_OK);
  CHECK(records.size() == 1);

  // A launch that fails is not followed by the next.
  log.failLaunch = 719;
  before = log.launches;
  CHECK(on.launch.run(kernel) == BITPACT_DRIVER_ERROR);
  log.failLaunch = 0;
  CHECK(log.launches == before);
}

namespace {

/// Floats in rows of `hidden`, which the launch says.
package::ContractEntry openRows() {
  package::ContractEntry contract = mapContract();
  contract.dims["hidden"] = package::dynamicExtent;
  return contract;
}

/// Blocks of 64 rows, and a map of one tensor for the copy unit.
package::Variant mappedTiles(const package::ContractEntry &contract,
                             const char *tensor, int64_t columns) {
  package::Variant tiles = variantOf(contract, "tiles", "row_sum");
  tiles.target = {package::TargetKind::Cuda, "sm_90a", ""};
  tiles.code.file = "code/tiles.cubin";
  tiles.launch = {};
  tiles.launch.threads = 128;
  tiles.launch.tiles = {{"tokens", 64}, {"hidden", columns}};
  package::Argument map;
  map.kind = package::ArgumentKind::TensorMap;
  map.tensor = tensor;
  map.box = {64, 32, 128};
  tiles.arguments.push_back(map);
  tiles.when.align[tensor] = 16;
  tiles.when.strideMultiple[tensor] = 4;
  return tiles;
}

/// The error of a launch, or nothing.
std::string launchRows(OpenKernel &kernel, int64_t rows, int64_t columns,
                       int64_t pitch, int64_t pitchOut) {
  alignas(256) static float x[65 * 40], y[65 * 40];
  Tensor from(x, {rows, columns}, {kDLFloat, 32, 1}, {pitch, 1});
  Tensor to(y, {rows, columns}, {kDLFloat, 32, 1}, {pitchOut, 1});
  from.tensor.device = to.tensor.device = {kDLCUDA, 0};
  Launch one(from, to);
  return one.run(kernel) == BITPACT_OK ? "" : bitpact_last_error();
}

} // namespace

TEST_CASE("tiles: persistent programs, and a tensor map by value") {
  Scratch scratch;
  Package sample;
  package::ContractEntry contract = openRows();
  sample.add(contract);
  package::Variant tiles = mappedTiles(contract, "x", 8);
  tiles.launch.sharedBytes = 200000; // more than without asking
  tiles.launch.ctasPerUnit = 1;
  tiles.launch.overlaps = true;
  sample.add(tiles, elf);
  sample.write(scratch / "pkg");
  OpenPackage package = open(scratch / "pkg");
  FakeCudaLog &log = fake();
  OpenDevice cuda = device("cuda:0");
  OpenKernel kernel = test::kernel(package, cuda);
  CHECK(log.dynamicSharedSet == 200000);
  auto launch = [&](int64_t rows, int64_t columns, int64_t pitch) {
    return launchRows(kernel, rows, columns, pitch, columns);
  };
  log.parameters = 7;
  int overlapped = log.overlaps;
  REQUIRE(launch(64, 33, 40) == "");
  CHECK(log.overlaps == overlapped + 1); // and no launch of other packages
  // Tiles below each other run when others do.
  REQUIRE(launch(65, 33, 40) == "");
  CHECK(log.overlaps == overlapped + 1);
  CHECK(log.grid == 2 * 5); // of tokens and of hidden
  CHECK(log.shared == 200000);
  CHECK(log.slots[6] == 0xb0c5);
  CHECK(log.mapType == 7); // f32
  CHECK(log.mapExtents[0] == 33);
  CHECK(log.mapExtents[1] == 65);
  CHECK(log.mapPitch == 160);
  CHECK(log.mapBox[0] == 32);
  CHECK(log.mapBox[1] == 64);
  CHECK(log.mapSwizzle == 3);   // 128 bytes
  CHECK(log.mapPromotion == 3); // 256 bytes, where nothing is said
  CHECK(log.mapFill == 0);    // zeros
  // One row has no pitch of its own.
  REQUIRE(launch(1, 33, 1) == "");
  CHECK(log.mapPitch == 144);
  // Boxes of all rows, where these are no more than a block's, or of a part.
  for (auto [part, rows, box] :
       {std::tuple(16, 1, 1), {16, 64, 64}, {16, 65, 16}, {0, 1, 64}}) {
    Scratch other;
    Package with;
    with.add(contract);
    package::Variant parts = mappedTiles(contract, "x", 8);
    parts.arguments.back().box.part = part;
    with.add(parts, elf);
    with.write(other / "pkg");
    OpenPackage opened = open(other / "pkg");
    OpenKernel another = test::kernel(opened, cuda);
    REQUIRE(launchRows(another, rows, 33, 40, 33) == "");
    CHECK(log.mapBox[1] == uint32_t(box));
  }
  // How much the cache asks for at a time, as the driver numbers it.
  for (auto [bytes, number] : {std::pair(64, 1), {128, 2}, {256, 3}}) {
    Scratch other;
    Package with;
    with.add(contract);
    package::Variant asks = mappedTiles(contract, "x", 8);
    asks.arguments.back().box.promotion = bytes;
    with.add(asks, elf);
    with.write(other / "pkg");
    OpenPackage opened = open(other / "pkg");
    OpenKernel another = test::kernel(opened, cuda);
    REQUIRE(launchRows(another, 3, 33, 40, 33) == "");
    CHECK(log.mapPromotion == number);
  }
  // More tiles than the device has multiprocessors.
  REQUIRE(launch(1, 1100, 1100) == "");
  CHECK(log.grid == 132);
  // Rows that are one and the same are nothing to step through.
  CHECK_THAT(launch(3, 32, 0),
             Contains("tensor 'x' has stride 0, it needs rows that follow"));
  CHECK_THAT(launch(3, 32, 33), Contains("it needs a multiple of 4"));
  log.parameters = 0;
}

TEST_CASE("tiles: rows that the copy unit writes end with whole pieces") {
  Scratch scratch;
  Package sample;
  package::ContractEntry contract = openRows();
  sample.add(contract);
  sample.add(mappedTiles(contract, "y", 32), elf);
  sample.write(scratch / "pkg");
  OpenPackage package = open(scratch / "pkg");
  OpenDevice cuda = device("cuda:0");
  OpenKernel kernel = test::kernel(package, cuda);
  CHECK(launchRows(kernel, 2, 36, 40, 40) == "");
  CHECK(launchRows(kernel, 1, 4, 40, 40) == "");
  CHECK_THAT(launchRows(kernel, 2, 33, 40, 40),
             Contains("tensor 'y' has rows of 33 elements, it needs rows of "
                      "whole 16-byte pieces"));
  CHECK_THAT(launchRows(kernel, 1, 1, 40, 40), Contains("rows of 1 elements"));
}

TEST_CASE_METHOD(Cuda, "text, too much shared memory, too many threads") {
  OpenDevice cuda = device("cuda:0");
  CHECK_THAT(lookupError(cuda, "decode", nullptr, BITPACT_BAD_PACKAGE),
             Contains("code/text.cubin: is not a cubin"));
  CHECK_THAT(lookupError(cuda, "prefill", "big", BITPACT_BAD_PACKAGE),
             Contains("232448 + 1024 bytes of shared memory"));
  CHECK_THAT(lookupError(cuda, "prefill", "wide", BITPACT_BAD_PACKAGE),
             Contains("launch.threads is 512, its code allows 256"));
  CHECK(fake().modules == 0); // nothing is left loaded
}

TEST_CASE_METHOD(Cuda, "contexts and modules are given back") {
  FakeCudaLog &log = fake();
  REQUIRE(log.contexts == 0);
  OpenDevice cuda = device("cuda:0");
  CHECK(log.contexts == 1);
  OpenKernel kernel = test::kernel(package, cuda);
  CHECK(log.modules == 2);
  cuda.reset();
  CHECK(log.contexts == 1);
  kernel.reset();
  CHECK(log.modules == 0);
  CHECK(log.contexts == 0);
}

TEST_CASE_METHOD(Cuda, "the child of a fork is told, and may open anew") {
  OpenDevice cuda = device("cuda:0");
  OpenKernel kernel = test::kernel(package, cuda);
  alignas(256) float x[1024], y[128];
  OnDevice on(x, y, 9);
  pid_t child = ::fork();
  if (child == 0) {
    void *data = nullptr;
    bool told =
        on.launch.run(kernel) == BITPACT_FORKED &&
        std::string(bitpact_last_error()).find("opened before a fork") !=
            std::string::npos &&
        bitpact_device_alloc(cuda.get(), 8, &data) == BITPACT_FORKED;
    bitpact_device *again = nullptr;
    bool opened = bitpact_device_open("cuda:0", nullptr, &again) == BITPACT_OK;
    ::_exit(told && opened ? 0 : 1);
  }
  int status = -1;
  REQUIRE(::waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
  CHECK(on.launch.run(kernel) == BITPACT_OK);
}

TEST_CASE("memory, streams and events reach the driver") {
  OpenDevice cuda = device("cuda:0");
  void *data = nullptr, *stream = nullptr;
  REQUIRE(bitpact_device_alloc(cuda.get(), 64, &data) == BITPACT_OK);
  REQUIRE(bitpact_stream_create(cuda.get(), &stream) == BITPACT_OK);
  REQUIRE(bitpact_device_fill(cuda.get(), data, 5, 64, stream) == BITPACT_OK);
  char host[64];
  REQUIRE(bitpact_device_copy_out(cuda.get(), host, data, 64) == BITPACT_OK);
  CHECK(host[63] == 5);
  bitpact_event *from = nullptr, *to = nullptr;
  double milliseconds = 0;
  REQUIRE(bitpact_event_create(cuda.get(), &from) == BITPACT_OK);
  REQUIRE(bitpact_event_create(cuda.get(), &to) == BITPACT_OK);
  REQUIRE(bitpact_event_record(from, stream) == BITPACT_OK);
  REQUIRE(bitpact_event_elapsed(from, to, &milliseconds) == BITPACT_OK);
  CHECK(milliseconds == 2.5);
  bitpact_event_destroy(from);
  bitpact_event_destroy(to);
  CHECK(bitpact_stream_destroy(cuda.get(), stream) == BITPACT_OK);
  CHECK(bitpact_device_free(cuda.get(), data) == BITPACT_OK);
  CHECK(bitpact_device_alloc(cuda.get(), ~uint64_t(0), &data) ==
        BITPACT_OUT_OF_MEMORY);
}

TEST_CASE("the fault word lies on the device from prepare on") {
  Scratch scratch;
  Package sample;
  sample.add(takenContract());
  package::Variant variant = takenVariant("only");
  variant.target = {package::TargetKind::Cuda, "sm_90a", ""};
  variant.code.file = "code/only.cubin";
  variant.entry = "row_sum";
  sample.add(variant, elf);
  sample.write(scratch / "pkg");
  OpenPackage package = open(scratch / "pkg");
  OpenDevice device = test::device("cuda:0");
  OpenKernel kernel = test::kernel(package, device);
  FakeCudaLog &log = fake();
  int held = log.allocations;

  alignas(256) float x[64], y[8];
  int64_t target[8] = {};
  Tensor tx(x, {8, 8}), ty(y, {8}), ti(target, {8}, {kDLInt, 64, 1});
  for (Tensor *tensor : {&tx, &ty, &ti})
    tensor->tensor.device = {kDLCUDA, 0};
  Launch launch(tx, ti, ty);
  CHECK(launch.run(kernel) == BITPACT_BAD_STATE);
  bitpact_dim dims[] = {{"tokens", 8}};
  REQUIRE(bitpact_kernel_prepare(kernel.get(), dims, 1) == BITPACT_OK);
  CHECK(log.allocations == held + 1);
  log.parameters = 7;
  REQUIRE(launch.run(kernel) == BITPACT_OK);
  log.parameters = 0;
  CHECK(log.allocations == held + 1); // a launch allocates nothing
  CHECK(log.slots[2] == reinterpret_cast<uint64_t>(target));
  // The fake's memory is the host's, so the test can be the kernel.
  auto *word = reinterpret_cast<uint32_t *>(log.slots[6]);
  REQUIRE(word);
  CHECK(*word == 0);
  *word = 1;
  uint32_t fault = 0;
  int waits = log.synchronizations;
  REQUIRE(bitpact_kernel_fault(kernel.get(), &fault) == BITPACT_OK);
  CHECK(fault == 1);
  CHECK(log.synchronizations == waits + 1);
  CHECK(*word == 0);
  kernel.reset();
  CHECK(log.allocations == held);
}
