// DeviceTest.cpp - devices, their memory, forks, and what tools ask of packages
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tests/unit/runtime/Fixture.h"

#include <catch2/catch.hpp>

#include <cstring>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace bitpact;
using namespace bitpact::test;
using Catch::Contains;

extern "C" int bitpactTestFromC(void);

TEST_CASE("the interface is used from C99") { CHECK(bitpactTestFromC() == 0); }

TEST_CASE("devices that do not exist are refused with what there is") {
  auto message = [](const char *name,
                    bitpact_status expected = BITPACT_MISSING_DEVICE) {
    bitpact_device *device = nullptr;
    CHECK(bitpact_device_open(name, nullptr, &device) == expected);
    CHECK(device == nullptr);
    return std::string(bitpact_last_error());
  };
  CHECK_THAT(message("tpu"),
             Contains("device 'tpu' is unknown") && Contains("cuda:N"));
  CHECK_THAT(message("hip:99"), Contains("HIP device"));
  CHECK_THAT(message("hip:one", BITPACT_INVALID_ARGUMENT),
             Contains("'one' is not a device number"));
  CHECK_THAT(message("cpu:x86-64-v99"),
             Contains("does not run 'x86-64-v99'") && Contains(baseLevel));
  CHECK_THAT(message("cuda:one", BITPACT_INVALID_ARGUMENT),
             Contains("'one' is not a device number"));
  CHECK_THAT(message("cuda:99"), Contains("CUDA device"));
  CHECK_THAT(message("null:1"), Contains("there is only 'null'"));
  for (const char *wrong : {"null:tpu:v5", "null:cuda:", "null:cuda:sm_90a:",
                            "null:cuda:sm_90a:0", "null:cuda:sm_90a:1x"})
    CHECK_THAT(message(wrong), Contains("as null:cuda:sm_90a:132"));
}

TEST_CASE("memory and events of the cpu") {
  OpenDevice cpu = device("cpu", 3);
  bitpact_device_info info = {};
  info.size = sizeof info;
  REQUIRE(bitpact_device_get_info(cpu.get(), &info) == BITPACT_OK);
  CHECK(std::string(info.name) == "cpu");
  CHECK(info.units == 3);
  CHECK(info.arch_count >= 1);
  CHECK(std::string(info.archs[info.arch_count - 1]) == baseLevel);

  void *data = nullptr;
  REQUIRE(bitpact_device_alloc(cpu.get(), 100, &data) == BITPACT_OK);
  CHECK(reinterpret_cast<uintptr_t>(data) % 256 == 0);
  REQUIRE(bitpact_device_fill(cpu.get(), data, 7, 100, nullptr) == BITPACT_OK);
  char host[100] = {};
  REQUIRE(bitpact_device_copy_out(cpu.get(), host, data, 100) == BITPACT_OK);
  CHECK(host[99] == 7);
  CHECK(bitpact_device_copy_in(cpu.get(), nullptr, host, 1) ==
        BITPACT_INVALID_ARGUMENT);
  CHECK(bitpact_device_free(cpu.get(), data) == BITPACT_OK);
  CHECK(bitpact_device_alloc(cpu.get(), ~uint64_t(0), &data) ==
        BITPACT_OUT_OF_MEMORY);

  bitpact_event *from = nullptr, *to = nullptr;
  double milliseconds = -1;
  REQUIRE(bitpact_event_create(cpu.get(), &from) == BITPACT_OK);
  REQUIRE(bitpact_event_create(cpu.get(), &to) == BITPACT_OK);
  REQUIRE(bitpact_event_record(from, nullptr) == BITPACT_OK);
  REQUIRE(bitpact_event_record(to, nullptr) == BITPACT_OK);
  REQUIRE(bitpact_event_elapsed(from, to, &milliseconds) == BITPACT_OK);
  CHECK(milliseconds >= 0);
  bitpact_event_destroy(from);
  bitpact_event_destroy(to);
}

TEST_CASE("the child of a fork still launches on the cpu, without threads") {
  Scratch scratch;
  rowSumPackage().write(scratch / "pkg");
  OpenPackage package = open(scratch / "pkg");
  OpenDevice cpu = device("cpu", 4);
  OpenKernel kernel = test::kernel(package, cpu);
  const int64_t rows = 40000;
  std::vector<float> x = matrix(rows, 8), y(rows), expected = rowSums(x, 8);
  Tensor tx(x.data(), {rows, 8}), ty(y.data(), {rows});
  Launch launch(tx, ty);
  REQUIRE(launch.run(kernel) == BITPACT_OK);
  pid_t child = ::fork();
  if (child == 0) {
    ::alarm(20); // a hang is a failure
    std::fill(y.begin(), y.end(), 0.0f);
    bool good = launch.run(kernel) == BITPACT_OK && y == expected;
    kernel.reset();
    cpu.reset(); // must not wait for threads that are not there
    ::_exit(good ? 0 : 1);
  }
  int status = -1;
  REQUIRE(::waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
}

TEST_CASE("errors are a thread's own; the log says what is done") {
  std::vector<std::string> lines;
  bitpact_set_log(
      [](void *context, const char *message) {
        static_cast<std::vector<std::string> *>(context)->push_back(message);
      },
      &lines);
  OpenDevice cpu = device("cpu");
  bitpact_set_log(nullptr, nullptr);
  REQUIRE(lines.size() == 1);
  CHECK_THAT(lines[0], Contains("opened device cpu"));

  bitpact_device *none = nullptr;
  bitpact_device_open("tpu", nullptr, &none);
  std::string other = "unset";
  std::thread([&] { other = bitpact_last_error(); }).join();
  CHECK(other.empty());
  CHECK_THAT(bitpact_last_error(), Contains("tpu"));
}

TEST_CASE("tools enumerate a package without reading JSON") {
  Scratch scratch;
  Package sample = rowSumPackage();
  package::Variant &variant = sample.manifest.variants[0];
  variant.when.align = {{"x", 16}};
  variant.resources.registers = 32;
  variant.inspect.push_back({"code/only.s", "", 0});
  sample.files["code/only.s"] = "text";
  sample.write(scratch / "pkg");
  OpenPackage package = open(scratch / "pkg");

  bitpact_package_info about = {};
  about.size = sizeof about;
  REQUIRE(bitpact_package_get_info(package.get(), &about) == BITPACT_OK);
  CHECK(about.contract_count == 1);
  CHECK(about.variant_count == 1);
  CHECK(std::string(about.producer) == "{\"bitpact\":\"test\"}");

  bitpact_contract_info contract = {};
  contract.size = sizeof contract;
  REQUIRE(bitpact_contract_get_info(package.get(), 0, &contract) == BITPACT_OK);
  CHECK(std::string(contract.name) == "test/row_sum");
  CHECK(std::string(contract.op) == "row_sum@1");
  CHECK(contract.text == contractText(rowSumContract()));
  REQUIRE(contract.tensor_count == 2);
  REQUIRE(contract.dim_count == 2);

  bitpact_tensor_info tensor = {};
  tensor.size = sizeof tensor;
  REQUIRE(bitpact_contract_get_tensor(package.get(), 0, 1, &tensor) ==
          BITPACT_OK);
  CHECK(std::string(tensor.name) == "y");
  CHECK(tensor.is_output == 1);
  CHECK(std::string(tensor.type) == "f32");
  CHECK(tensor.dtype.bits == 32);
  REQUIRE(tensor.rank == 1);
  CHECK(std::string(tensor.dims[0]) == "tokens");

  bitpact_dim_info dim = {};
  dim.size = sizeof dim;
  REQUIRE(bitpact_contract_get_dim(package.get(), 0, 0, &dim) == BITPACT_OK);
  CHECK(std::string(dim.name) == "tokens"); // the operator's order
  CHECK(dim.extent == -1);

  bitpact_variant_info info = {};
  info.size = sizeof info;
  REQUIRE(bitpact_variant_get_info(package.get(), 0, &info) == BITPACT_OK);
  CHECK(std::string(info.id) == "only");
  CHECK(info.target == "cpu:" + baseLevel);
  REQUIRE(info.role_count == 2);
  CHECK(std::string(info.roles[1]) == "rollout");
  CHECK(info.registers == 32);
  CHECK(std::string(info.evidence) == "none");
  REQUIRE(info.inspect_count == 1);
  CHECK(std::string(info.inspect_files[0]) == "code/only.s");
  CHECK(std::string(info.conditions) ==
        "{\"align\":{\"x\":16},\"dims\":{},\"stride_multiple\":{}}");

  // An older caller's shorter struct is filled as far as it goes.
  info.size = offsetof(bitpact_variant_info, priority);
  info.priority = 77;
  REQUIRE(bitpact_variant_get_info(package.get(), 0, &info) == BITPACT_OK);
  CHECK(info.priority == 77);
  info.size = 0;
  CHECK(bitpact_variant_get_info(package.get(), 0, &info) ==
        BITPACT_INVALID_ARGUMENT);
  info.size = sizeof info;
  CHECK(bitpact_variant_get_info(package.get(), 1, &info) == BITPACT_NOT_FOUND);
  CHECK(std::string(bitpact_last_error()) ==
        "variant 1 does not exist; there are 1");
}
