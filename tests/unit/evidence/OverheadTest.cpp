// OverheadTest.cpp - what bench starts without the runtime is the same launch
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// With the libcuda.so.1 of tests/unit/runtime, which notes launches.
#include "tools/evidence/Overhead.h"
#include "runtime/package/Reader.h"
#include "runtime/package/Writer.h"
#include "tests/unit/evidence/Temporary.h"
#include "tests/unit/evidence/TestPackage.h"
#include "tools/evidence/BareLaunch.h"
#include "tools/evidence/Layout.h"

#include <catch2/catch.hpp>
#include <cstring>
#include <dlfcn.h>
#include <functional>

using namespace bitpact;
using namespace bitpact::evidence;
using Catch::Contains;
using tests::Temporary;

namespace {

/// The head of that in fake_cuda.c.
struct Log {
  int contexts, modules, launches, capturing, failLaunch, pushed;
  int allocations, synchronizations, parameters;
  unsigned grid, block, shared, dynamicSharedSet;
  void *stream;
  uint64_t slots[8];
  unsigned parts, merges;
};

Log &log() {
  void *library = dlopen("libcuda.so.1", RTLD_NOW);
  return *static_cast<Log *>(dlsym(library, "fakeCudaLog"));
}

using Edit = std::function<void(package::Variant &)>;

/// One variant of a sum, by that entry, changed by `edit`.
Package packageOf(const Temporary &place, const std::string &entry,
                  const Edit &edit, int64_t hidden = 43) {
  tests::writeTestPackage(place.file("before.pkg"),
                          {tests::sumContract(hidden)}, {entry});
  package::Package before = package::openPackage(place.file("before.pkg"));
  package::Files files;
  files[before.manifest.contracts[0].file] = before.contractTexts[0];
  package::Variant &variant = before.manifest.variants[0];
  std::string code = package::readVerified(before.path, variant.code);
  edit(variant);
  files[variant.code.file] = variant.target.kind == package::TargetKind::Cpu
                                 ? code
                                 : "\x7f"
                                   "ELF of a fake";
  package::writePackage(place.file("sum.pkg"), before.manifest, files);
  return Package(place.file("sum.pkg"));
}

struct Measured {
  size_t overheads, notes;
  std::string note;
  int launches; // of every second, which are without the runtime, each
};

/// The last launch that is noted was without the runtime.
Measured measured(int64_t rows, const Edit &edit, int64_t hidden = 43) {
  Temporary place;
  auto onCuda = [&](package::Variant &variant) {
    variant.target = {package::TargetKind::Cuda, "sm_90a", ""};
    edit(variant);
  };
  Package package = packageOf(place, "row_sum", onCuda, hidden);
  BenchReport report;
  log().launches = 0;
  measureOverhead(package, Device("cuda:0"), package.contracts()[0],
                  {{"tokens", rows}, {"hidden", hidden}}, report);
  return {report.overheads.size(), report.notes.size(),
          report.notes.empty() ? "" : report.notes[0],
          log().launches / (2 * 52 * 200)};
}

} // namespace

TEST_CASE("programs that share a row are one call") {
  Measured split = measured(5, [](package::Variant &variant) {
    variant.launch.threads = 64;
    variant.launch.rowsPerProgram = 2;
    variant.launch.programsPerCta = 2;
    variant.launch.split = {"hidden", 16, 3};
  });
  INFO(split.note);
  CHECK(split.notes == 0);
  CHECK(split.overheads == 1);
  CHECK(split.launches == 1);
  CHECK(log().grid == 2);  // three programs of up to two rows
  CHECK(log().parts == 3); // of the other 40 elements 16, 16 and 8
  CHECK(log().block == 64);
  measured(5, [](package::Variant &variant) {
    variant.launch.split = {"", 7, 0};
  });
  CHECK(log().grid == 5);
  CHECK(log().parts == 7);
}

TEST_CASE("kernels that follow each other are as many calls") {
  Measured two = measured(6, [](package::Variant &variant) {
    package::Step merge{"row_sum_merge", variant.launch};
    merge.launch.rowsPerProgram = 4;
    merge.launch.sharedBytes = 512;
    variant.then.push_back(merge);
    variant.launch.split = {"hidden", 16, 0};
    variant.workspace = "12*tokens";
    variant.arguments.insert(variant.arguments.end(),
                             {package::ArgumentKind::Workspace, {}, 0, {}, {}});
  });
  INFO(two.note);
  CHECK(two.overheads == 1);
  CHECK(two.launches == 2);
  CHECK(log().merges == 1);
  CHECK(log().grid == 2);
  CHECK(log().parts == 1);
  CHECK(log().shared == 512);
}

TEST_CASE("tiles are counted as the launch counts them") {
  auto tiles = [](int64_t rows, int64_t ofUnit) {
    Measured one = measured(rows, [&](package::Variant &variant) {
      variant.launch.parallelDims.clear();
      variant.launch.tiles = {{"tokens", 4}, {"hidden", 8}};
      variant.launch.ctasPerUnit = ofUnit;
    });
    INFO(one.note);
    CHECK(one.overheads == 1);
    return log().grid;
  };
  CHECK(tiles(65, 0) == 17 * 6);
  CHECK(tiles(129, 0) == 33 * 6);
  CHECK(tiles(129, 1) == 132);
  measured(65, [](package::Variant &variant) {
    variant.launch.parallelDims.clear();
    variant.launch.tiles = {{"tokens", 64, "hidden"}};
  });
  CHECK(log().grid == 42); // 65 + 42 * 63 rows hold 42 tiles and a part
}

TEST_CASE("nobody calls a tensor steady") {
  Measured one = measured(3, [](package::Variant &variant) {
    variant.arguments.push_back(
        {package::ArgumentKind::Steady, "x", 0, {}, {}});
    log().parameters = 6;
  });
  log().parameters = 0;
  INFO(one.note);
  CHECK(one.overheads == 1);
  CHECK(log().slots[5] == 0);
}

TEST_CASE("tensors that the copy unit must know are not launched without") {
  auto mapped = [](package::Variant &variant) {
    variant.arguments.push_back(
        {package::ArgumentKind::TensorMap, "x", 0, {}, {8, 8, 32}});
    variant.when.align["x"] = 16;
    variant.when.strideMultiple["x"] = 4;
    variant.launch.parallelDims.clear();
    variant.launch.tiles = {{"tokens", 8}};
  };
  Measured one = measured(3, mapped, 48);
  CHECK(one.overheads == 0);
  CHECK_THAT(one.note, Contains("no overhead was measured: its tensors are "
                                "described to the copy unit anew"));
}

TEST_CASE("a cpu runs all programs of all kernels") {
  Temporary place;
  // Each call adds its programs to y[0].
  Package package =
      packageOf(place, "count_programs", [](package::Variant &variant) {
        variant.then.push_back({"count_programs", variant.launch});
        variant.launch.rowsPerProgram = 2;
        variant.launch.split = {"hidden", 16, 0};
      });
  const ContractSpec &contract = package.contracts()[0];
  Device cpu("cpu");
  Dims dims{{"tokens", 5}, {"hidden", 43}};
  std::vector<Placed> placed;
  std::vector<View> views;
  for (const TensorSpec &tensor : contract.tensors) {
    placed.emplace_back(tensor, cpu, allLayouts().front(),
                        shapeOf(tensor, dims));
    placed.back().put(0, nullptr);
    views.push_back(placed.back().view());
  }
  std::string why;
  std::unique_ptr<BareLaunch> bare = BareLaunch::make(
      package, package.variants()[0], cpu, contract, dims, views, 0, why);
  INFO(why);
  REQUIRE(bare);
  REQUIRE((*bare)());
  float counted = 0;
  std::memcpy(&counted, placed[1].rows().data(), sizeof counted);
  CHECK(counted == 3 * 3 + 5);
}
