// FakeTiles.h - launches of tiles on a device that is not there
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// With the fake libcuda.so.1, whose device has 132 multiprocessors.
#ifndef BITPACT_TESTS_UNIT_RUNTIME_FAKETILES_H
#define BITPACT_TESTS_UNIT_RUNTIME_FAKETILES_H

#include "tests/unit/runtime/Fixture.h"

#include <catch2/catch.hpp>

#include <dlfcn.h>

namespace bitpact::test::fake {

inline package::ContractEntry contract() {
  package::ContractEntry contract = mapContract();
  contract.dims["hidden"] = package::dynamicExtent;
  return contract;
}

inline package::Variant tiles(const std::string &id, int64_t tokens,
                              int64_t hidden, int64_t ctasPerProgram,
                              package::Cost cost, int64_t priority = 10) {
  package::Variant variant = variantOf(contract(), id, "row_sum");
  variant.target = {package::TargetKind::Cuda, "sm_90a", ""};
  variant.code.file = "code/" + id + ".cubin";
  variant.priority = priority;
  variant.launch = {};
  variant.launch.threads = 128;
  variant.launch.tiles = {{"tokens", tokens}, {"hidden", hidden}};
  variant.launch.ctasPerUnit = 1;
  variant.launch.ctasPerProgram = ctasPerProgram;
  variant.cost = cost;
  return variant;
}

struct Tiles {
  explicit Tiles(const std::vector<package::Variant> &variants) {
    Package sample;
    sample.add(contract());
    for (const package::Variant &variant : variants)
      sample.add(variant, "\x7f"
                          "ELF of a fake");
    sample.write(scratch / "pkg");
    package = open(scratch / "pkg");
    kernel = test::kernel(package, cuda);
  }
  /// The variant, or what went wrong.
  std::string select(int64_t rows, int64_t columns) {
    Tensor from(data, {rows, columns}), to(data + (1 << 19), {rows, columns});
    from.tensor.device = to.tensor.device = {kDLCUDA, 0};
    return Launch(from, to).select(package, kernel);
  }
  struct Log { // the head of that in fake_cuda.c
    int contexts, modules, launches, capturing, failLaunch, pushed;
    int allocations, synchronizations, parameters;
    unsigned grid, block, shared, dynamicSharedSet;
    void *stream;
    uint64_t slots[8];
  };
  static Log &log() {
    void *library = ::dlopen("libcuda.so.1", RTLD_NOW);
    return *static_cast<Log *>(::dlsym(library, "fakeCudaLog"));
  }
  unsigned gridOf(int64_t rows, int64_t columns) {
    Tensor from(data, {rows, columns}), to(data + (1 << 19), {rows, columns});
    from.tensor.device = to.tensor.device = {kDLCUDA, 0};
    REQUIRE(Launch(from, to).run(kernel) == BITPACT_OK);
    return log().grid;
  }
  /// What the kernel is told of x, in its last slot, or why it is not launched.
  /// `size` is that of the caller's struct.
  std::string steadiness(uint64_t bits, size_t size) {
    Tensor from(data, {3, 5}), to(data + (1 << 19), {3, 5});
    from.tensor.device = to.tensor.device = {kDLCUDA, 0};
    Launch launch(from, to);
    launch.args.size = size;
    launch.args.steady = bits;
    log().parameters = 7;
    bitpact_status status = launch.run(kernel);
    log().parameters = 0;
    return status == BITPACT_OK ? std::to_string(log().slots[6])
                                : bitpact_last_error();
  }

  Scratch scratch;
  OpenPackage package;
  OpenDevice cuda = device("cuda:0");
  OpenKernel kernel;
  alignas(256) static inline float data[1 << 20];
};

} // namespace bitpact::test::fake

#endif // BITPACT_TESTS_UNIT_RUNTIME_FAKETILES_H
