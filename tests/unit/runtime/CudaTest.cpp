// CudaTest.cpp - a launch on a real GPU, eager and captured, where there is one
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tests/unit/runtime/Fixture.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <chrono>
#include <dlfcn.h>

using namespace bitpact;
using namespace bitpact::test;
using Catch::Contains;

// The functions of graph capture, which the runtime itself does not need.
template <typename... Args>
static void driver(const char *symbol, Args... args) {
  void *library = ::dlopen("libcuda.so.1", RTLD_NOW);
  REQUIRE(library);
  auto call = reinterpret_cast<int (*)(Args...)>(::dlsym(library, symbol));
  REQUIRE(call);
  INFO(symbol);
  REQUIRE(call(args...) == 0);
}

TEST_CASE("row_sum on cuda:0, eager and replayed from a graph") {
  bitpact_device *opened = nullptr;
  bitpact_status status = bitpact_device_open("cuda:0", nullptr, &opened);
  OpenDevice cuda(opened);
  if (status == BITPACT_MISSING_DEVICE) {
    CHECK_THAT(bitpact_last_error(), Contains("CUDA device"));
    WARN("skipped: " << bitpact_last_error());
    return;
  }
  REQUIRE(status == BITPACT_OK);
  bitpact_device_info info = {};
  info.size = sizeof info;
  REQUIRE(bitpact_device_get_info(cuda.get(), &info) == BITPACT_OK);
  if (std::string(info.archs[0]) != "sm_90a") {
    WARN("skipped: the code of this test is for sm_90a, not " << info.archs[0]);
    return;
  }

  Scratch scratch;
  Package sample;
  sample.add(rowSumContract());
  package::Variant variant = variantOf(rowSumContract(), "gpu", "row_sum");
  variant.target = {package::TargetKind::Cuda, "sm_90a", ""};
  variant.code.file = "code/gpu.cubin";
  variant.launch.threads = 32;
  variant.launch.programsPerCta = 32;
  sample.add(variant, kernelBytes("row_sum.cubin"));
  sample.write(scratch / "pkg");
  OpenPackage package = open(scratch / "pkg");
  OpenKernel kernel = test::kernel(package, cuda);
  auto ignore = [](void *, const char *) {};
  REQUIRE(bitpact_records_drain(ignore, nullptr, nullptr) == BITPACT_OK);

  const int64_t rows = 1025;
  std::vector<float> x = matrix(rows, 8), expected = rowSums(x, 8), y(rows);
  void *dx = nullptr, *dy = nullptr, *stream = nullptr;
  REQUIRE(bitpact_device_alloc(cuda.get(), rows * 32, &dx) == BITPACT_OK);
  REQUIRE(bitpact_device_alloc(cuda.get(), rows * 4, &dy) == BITPACT_OK);
  REQUIRE(bitpact_stream_create(cuda.get(), &stream) == BITPACT_OK);
  REQUIRE(bitpact_device_copy_in(cuda.get(), dx, x.data(), rows * 32) ==
          BITPACT_OK);
  Tensor tx(dx, {rows, 8}), ty(dy, {rows});
  tx.tensor.device = ty.tensor.device = {kDLCUDA, 0};
  Launch launch(tx, ty);
  launch.args.stream = stream;
  auto result = [&] {
    REQUIRE(bitpact_device_synchronize(cuda.get()) == BITPACT_OK);
    REQUIRE(bitpact_device_copy_out(cuda.get(), y.data(), dy, rows * 4) ==
            BITPACT_OK);
    return y;
  };
  bitpact_dim dims[] = {{"tokens", rows}};
  REQUIRE(bitpact_kernel_prepare(kernel.get(), dims, 1) == BITPACT_OK);

  // Captured before it ever ran; capture forbids what prepare must have done.
  void *graph = nullptr, *executable = nullptr;
  driver("cuStreamBeginCapture_v2", stream, 0 /* global */);
  REQUIRE(launch.run(kernel) == BITPACT_OK);
  driver("cuStreamEndCapture", stream, &graph);
  REQUIRE(bitpact_device_fill(cuda.get(), dy, 0xFF, rows * 4, stream) ==
          BITPACT_OK);
  CHECK(result() != expected);
  // Up to here no context was current; graphs want one.
  void *context = nullptr;
  driver("cuDevicePrimaryCtxRetain", &context, 0);
  driver("cuCtxSetCurrent", context);
  driver("cuGraphInstantiateWithFlags", &executable, graph, 0ull);
  driver("cuGraphLaunch", executable, stream);
  CHECK(result() == expected);

  REQUIRE(bitpact_device_fill(cuda.get(), dy, 0xFF, rows * 4, stream) ==
          BITPACT_OK);
  REQUIRE(launch.run(kernel) == BITPACT_OK);
  CHECK(result() == expected);

  std::vector<std::string> routes;
  REQUIRE(bitpact_records_drain(
              [](void *context, const char *line) {
                static_cast<std::vector<std::string> *>(context)->push_back(
                    nlohmann::json::parse(line)["route"]);
              },
              &routes, nullptr) == BITPACT_OK);
  CHECK(routes == std::vector<std::string>{"capture", "eager"});

  auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < 500; ++i)
    REQUIRE(launch.run(kernel) == BITPACT_OK);
  std::chrono::duration<double, std::micro> spent =
      std::chrono::steady_clock::now() - begin;
  WARN("launch on " << info.description << ": " << spent.count() / 500
                    << " us");
  driver("cuGraphExecDestroy", executable);
  driver("cuGraphDestroy", graph);
  driver("cuCtxSetCurrent", static_cast<void *>(nullptr));
  driver("cuDevicePrimaryCtxRelease_v2", 0);
  CHECK(bitpact_stream_destroy(cuda.get(), stream) == BITPACT_OK);
  CHECK(bitpact_device_free(cuda.get(), dx) == BITPACT_OK);
  CHECK(bitpact_device_free(cuda.get(), dy) == BITPACT_OK);
}
