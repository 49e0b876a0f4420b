// TensorTest.cpp - tensors that do not fit the contract, refused by name
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tests/unit/runtime/Fixture.h"

#include <catch2/catch.hpp>

using namespace bitpact;
using namespace bitpact::test;
using Catch::Contains;

namespace {

// x[tokens, 8] -> y[tokens, 8]; "inplace" lets y be x, "apart" does not.
struct Map {
  Map() {
    Package sample;
    package::ContractEntry contract = mapContract();
    sample.add(contract);
    sample.add(variantOf(contract, "apart", "doubled"));
    package::Variant inplace = variantOf(contract, "inplace", "doubled");
    inplace.priority = 1;
    inplace.tensors[1].alias = {"x"};
    sample.add(inplace);
    sample.write(scratch / "pkg");
    package = open(scratch / "pkg");
    cpu = device("cpu");
    kernel = test::kernel(package, cpu);
  }

  std::string error(const Tensor &x, const Tensor &y) {
    bitpact_status status = Launch(x, y).run(kernel);
    return status == BITPACT_BAD_TENSOR ? bitpact_last_error()
           : status == BITPACT_OK       ? "ok"
                                        : bitpact_status_name(status);
  }

  Scratch scratch;
  OpenPackage package;
  OpenDevice cpu;
  OpenKernel kernel;
  float a[256] = {}, b[256] = {};
};

const DLDataType f32 = {kDLFloat, 32, 1};
constexpr int64_t huge = int64_t(1) << 62;

} // namespace

TEST_CASE_METHOD(Map, "dtype, rank and shape") {
  Tensor y(b, {4, 8});
  CHECK(error(Tensor(a, {4, 8}), y) == "ok");
  CHECK(error(Tensor(a, {4, 8}, {kDLBfloat, 16, 1}), y) ==
        "tensor 'x': dtype is bf16, must be f32");
  CHECK(error(Tensor(a, {4, 8}, {kDLFloat, 32, 4}), y) ==
        "tensor 'x': dtype is f32x4, must be f32");
  CHECK(error(Tensor(a, {4, 8}, {kDLComplex, 64, 1}), y) ==
        "tensor 'x': dtype is code 5 of 64, must be f32");
  CHECK(error(Tensor(a, {32}), y) == "tensor 'x': rank is 1, must be 2");
  CHECK(error(Tensor(a, {4, 7}), y) ==
        "tensor 'x': dim 'hidden' (axis 1) is 7, the contract fixes 8");
  CHECK(error(Tensor(a, {3, 8}), y) == "tensor 'y': dim 'tokens' (axis 0) is "
                                       "4, but 3 in the tensors before it");
  CHECK(error(Tensor(a, {-1, 8}), y) ==
        "tensor 'x': dim 'tokens' (axis 0) is -1, must not be negative");
  CHECK(error(Tensor(nullptr, {4, 8}), y) == "tensor 'x': data is NULL");
  CHECK_THAT(error(Tensor(reinterpret_cast<char *>(a) + 2, {4, 8}), y),
             Contains("aligned to its element of 4 bytes"));
  CHECK_THAT(error(Tensor(a, {huge, 8}), Tensor(b, {huge, 8})),
             Contains("beyond the address space"));
}

TEST_CASE_METHOD(Map, "strides") {
  Tensor y(b, {4, 8});
  CHECK(error(Tensor(a, {4, 8}, f32, {16, 1}), y) == "ok");
  CHECK(error(Tensor(a, {4, 8}, f32, {0, 1}), y) == "ok"); // one row, repeated
  CHECK(error(Tensor(a, {4, 8}, f32, {1, 4}), y) ==
        "tensor 'x': stride of the innermost axis 1 is 4, must be 1");
  CHECK(error(Tensor(a, {4, 8}, f32, {-8, 1}), y) ==
        "tensor 'x': stride -8 of axis 0 must not be negative");
  CHECK(error(Tensor(a, {4, 8}), Tensor(b, {4, 8}, f32, {7, 1})) ==
        "tensor 'y': stride 7 of axis 0 makes elements of this output overlap; "
        "it must be at least 8");
  CHECK(error(Tensor(a, {4, 8}), Tensor(b, {4, 8}, f32, {0, 1})) ==
        "tensor 'y': stride 0 of axis 0 makes elements of this output overlap; "
        "it must be at least 1");
  CHECK_THAT(error(Tensor(a, {4, 8}, f32, {huge, 1}), y),
             Contains("beyond the address space"));
}

TEST_CASE_METHOD(Map, "overlap is refused unless it is allowed and identical") {
  for (int i = 0; i < 256; ++i)
    a[i] = float(i);
  Tensor x(a, {4, 8});
  CHECK(Launch(x, x).select(package, kernel) == "inplace");
  REQUIRE(Launch(x, x).run(kernel) == BITPACT_OK);
  CHECK(a[31] == 62);
  CHECK(a[32] == 32);

  OpenKernel apart = test::kernel(package, cpu, "train", "apart");
  CHECK(Launch(x, x).run(apart) == BITPACT_MISSING_VARIANT);
  CHECK_THAT(bitpact_last_error(),
             Contains("apart: output 'y' is the same tensor as 'x', which it "
                      "does not allow"));
  CHECK(error(x, Tensor(a + 8, {4, 8})) ==
        "tensor 'y': this output overlaps tensor 'x'");
  CHECK(error(Tensor(a, {4, 8}, f32, {16, 1}), Tensor(a, {4, 8})) ==
        "tensor 'y': this output overlaps tensor 'x'");
  CHECK(error(x, Tensor(a + 32, {4, 8})) == "ok"); // just behind it

  // Two halves of the columns of one matrix do not meet; three do.
  Tensor left(a, {4, 8}, f32, {16, 1}), right(a + 8, {4, 8}, f32, {16, 1});
  Tensor middle(a + 4, {4, 8}, f32, {16, 1});
  CHECK(error(left, right) == "ok");
  CHECK(error(right, left) == "ok");
  CHECK(error(left, middle) == "tensor 'y': this output overlaps tensor 'x'");
}

TEST_CASE_METHOD(Map, "device, count and arguments of the call") {
  Tensor x(a, {4, 8}), y(b, {4, 8});
  x.tensor.device = {kDLCUDA, 1};
  CHECK(error(x, y) ==
        "tensor 'x': lies on DLPack device 2:1, must be on 'cpu'");
  x.tensor.device = {kDLCPU, 0};

  Launch one(x, y);
  one.args.tensor_count = 1;
  CHECK(one.run(kernel) == BITPACT_BAD_TENSOR);
  CHECK(std::string(bitpact_last_error()) ==
        "1 tensors are given, the contract takes 2: x, y");
  Launch missing(x, y);
  missing.tensors[1] = nullptr;
  CHECK(missing.run(kernel) == BITPACT_BAD_TENSOR);
  CHECK(std::string(bitpact_last_error()) == "tensor 'y': is NULL");
  Launch small(x, y);
  small.args.size = 8;
  CHECK(small.run(kernel) == BITPACT_INVALID_ARGUMENT);
  CHECK_THAT(bitpact_last_error(), Contains("args.size: is 8"));
  Launch stream(x, y);
  stream.args.stream = this;
  CHECK(stream.run(kernel) == BITPACT_INVALID_ARGUMENT);
  CHECK_THAT(bitpact_last_error(), Contains("stream: is not NULL"));
  CHECK(bitpact_kernel_launch(nullptr, &small.args) ==
        BITPACT_INVALID_ARGUMENT);
  CHECK(std::string(bitpact_last_error()) == "kernel: is NULL");
  CHECK(bitpact_kernel_launch(kernel.get(), nullptr) ==
        BITPACT_INVALID_ARGUMENT);
}
