// FakeHipTest.cpp - what HIP is asked, by a library that notes it
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Run with the fake libamdhip64.so.6 on the loader's path (ctest sets it). No
// AMD GPU takes part.
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

// As in fake_hip.c.
struct FakeHipLog {
  int modules, launches, capturing, failLaunch, device, launchDevice;
  int allocations, synchronizations, parameters;
  unsigned grid, block, shared;
  void *stream;
  uint64_t slots[8];
};

FakeHipLog &fake() {
  void *library = ::dlopen("libamdhip64.so.6", RTLD_NOW);
  REQUIRE(library);
  void *log = ::dlsym(library, "fakeHipLog");
  INFO("the fake libamdhip64.so.6 must be on the loader's path");
  REQUIRE(log);
  return *static_cast<FakeHipLog *>(log);
}

package::Variant hipVariant(const std::string &id, const std::string &arch) {
  package::Variant variant = variantOf(rowSumContract(), id, "row_sum");
  variant.target = {package::TargetKind::Hip, arch, "xnack=any sramecc=any"};
  variant.code.file = "code/" + id + ".hsaco";
  variant.launch.threads = 256;
  variant.launch.programsPerCta = 4;
  variant.launch.sharedBytes = 4096;
  return variant;
}

const std::string elf = "\x7f"
                        "ELF of a fake";

struct Hip {
  Hip() {
    Package sample;
    sample.add(rowSumContract());
    sample.add(hipVariant("mi300", "gfx942"), elf);
    sample.add(hipVariant("mi200", "gfx90a"), elf);
    package::Variant text = hipVariant("text", "gfx942");
    text.roles = {"decode"};
    sample.add(text, ".amdgcn_target");
    package::Variant big = hipVariant("big", "gfx942");
    big.roles = {"prefill"};
    big.launch.sharedBytes = 65536;
    sample.add(big, elf);
    package::Variant wide = hipVariant("wide", "gfx942");
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

// Tensors that say they lie on an AMD device.
struct OnDevice {
  OnDevice(void *x, void *y, int64_t rows, int ordinal = 0)
      : x(x, {rows, 8}), y(y, {rows}), launch(this->x, this->y) {
    this->x.tensor.device = this->y.tensor.device = {kDLROCM, ordinal};
  }
  Tensor x, y;
  Launch launch;
};

} // namespace

TEST_CASE_METHOD(Hip, "the architecture is the name before the first colon") {
  OpenDevice mi300 = device("hip:0"), mi200 = device("hip:1");
  bitpact_device_info info = {};
  info.size = sizeof info;
  REQUIRE(bitpact_device_get_info(mi300.get(), &info) == BITPACT_OK);
  CHECK(std::string(info.description) == "Fake MI300X");
  CHECK(info.units == 304);
  REQUIRE(info.arch_count == 1);
  CHECK(std::string(info.archs[0]) == "gfx942");

  alignas(256) float x[1024], y[128];
  OnDevice on(x, y, 9), other(x, y, 9, 1);
  CHECK(on.launch.select(package, kernel(package, mi300)) == "mi300");
  CHECK(other.launch.select(package, kernel(package, mi200)) == "mi200");
  CHECK(on.launch.run(kernel(package, mi200)) == BITPACT_BAD_TENSOR);
  CHECK_THAT(bitpact_last_error(), Contains("must be on 'hip:1'"));
}

TEST_CASE("devices that are not there, or say nothing of themselves") {
  bitpact_device *none = nullptr;
  CHECK(bitpact_device_open("hip:3", nullptr, &none) == BITPACT_MISSING_DEVICE);
  CHECK(std::string(bitpact_last_error()) ==
        "device 'hip:3' does not exist; the driver sees 3 HIP devices");
  CHECK(bitpact_device_open("hip:2", nullptr, &none) == BITPACT_DRIVER_ERROR);
  CHECK_THAT(bitpact_last_error(), Contains("names no architecture"));
}

TEST_CASE_METHOD(Hip, "grid, block, slots, stream, device and route") {
  FakeHipLog &log = fake();
  OpenDevice hip = device("hip:0");
  OpenKernel kernel = test::kernel(package, hip);
  alignas(256) float x[1024], y[128];
  OnDevice on(x, y, 9);
  auto ignore = [](void *, const char *) {};
  REQUIRE(bitpact_records_drain(ignore, nullptr, nullptr) == BITPACT_OK);

  log.device = 1; // of the thread, before
  int before = log.launches;
  REQUIRE(on.launch.run(kernel) == BITPACT_OK);
  CHECK(log.launches == before + 1);
  CHECK(log.launchDevice == 0);
  CHECK(log.device == 1); // and after
  log.device = 0;
  CHECK(log.grid == 3); // 9 rows, 4 programs a CTA
  CHECK(log.block == 256);
  CHECK(log.shared == 4096);
  CHECK(log.stream == nullptr);
  CHECK(log.slots[0] == reinterpret_cast<uint64_t>(x));
  CHECK(log.slots[1] == 8);
  CHECK(log.slots[2] == reinterpret_cast<uint64_t>(y));
  CHECK(log.slots[3] == 9);
  CHECK(log.slots[4] == 8);

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

  log.failLaunch = 719;
  CHECK(on.launch.run(kernel) == BITPACT_DRIVER_ERROR);
  log.failLaunch = 0;
  CHECK(std::string(bitpact_last_error()) ==
        "hipModuleLaunchKernel: hipErrorLaunchFailure (719): unspecified "
        "launch failure");
}

TEST_CASE_METHOD(Hip, "text, too much shared memory, too many threads") {
  OpenDevice hip = device("hip:0");
  CHECK_THAT(lookupError(hip, "decode", nullptr, BITPACT_BAD_PACKAGE),
             Contains("code/text.hsaco: is not an hsaco"));
  CHECK_THAT(lookupError(hip, "prefill", "big", BITPACT_BAD_PACKAGE),
             Contains("65536 + 1024 bytes of shared memory"));
  CHECK_THAT(lookupError(hip, "prefill", "wide", BITPACT_BAD_PACKAGE),
             Contains("launch.threads is 512, its code allows 256"));
  CHECK(fake().modules == 0); // nothing is left loaded
}

TEST_CASE_METHOD(Hip, "modules are given back") {
  FakeHipLog &log = fake();
  OpenDevice hip = device("hip:0");
  OpenKernel kernel = test::kernel(package, hip);
  CHECK(log.modules == 1);
  hip.reset();
  kernel.reset();
  CHECK(log.modules == 0);
}

TEST_CASE_METHOD(Hip, "the child of a fork is told, and may open anew") {
  OpenDevice hip = device("hip:0");
  OpenKernel kernel = test::kernel(package, hip);
  alignas(256) float x[1024], y[128];
  OnDevice on(x, y, 9);
  pid_t child = ::fork();
  if (child == 0) {
    bool told = on.launch.run(kernel) == BITPACT_FORKED;
    bitpact_device *again = nullptr;
    bool opened = bitpact_device_open("hip:0", nullptr, &again) == BITPACT_OK;
    ::_exit(told && opened ? 0 : 1);
  }
  int status = -1;
  REQUIRE(::waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
}

TEST_CASE("memory, streams and events reach HIP") {
  OpenDevice hip = device("hip:0");
  void *data = nullptr, *stream = nullptr;
  REQUIRE(bitpact_device_alloc(hip.get(), 64, &data) == BITPACT_OK);
  REQUIRE(bitpact_stream_create(hip.get(), &stream) == BITPACT_OK);
  REQUIRE(bitpact_device_fill(hip.get(), data, 5, 64, stream) == BITPACT_OK);
  char host[64];
  REQUIRE(bitpact_device_copy_out(hip.get(), host, data, 64) == BITPACT_OK);
  CHECK(host[63] == 5);
  bitpact_event *from = nullptr, *to = nullptr;
  double milliseconds = 0;
  REQUIRE(bitpact_event_create(hip.get(), &from) == BITPACT_OK);
  REQUIRE(bitpact_event_create(hip.get(), &to) == BITPACT_OK);
  REQUIRE(bitpact_event_record(from, stream) == BITPACT_OK);
  REQUIRE(bitpact_event_elapsed(from, to, &milliseconds) == BITPACT_OK);
  CHECK(milliseconds == 2.5);
  bitpact_event_destroy(from);
  bitpact_event_destroy(to);
  CHECK(bitpact_stream_destroy(hip.get(), stream) == BITPACT_OK);
  CHECK(bitpact_device_free(hip.get(), data) == BITPACT_OK);
  CHECK(bitpact_device_alloc(hip.get(), ~uint64_t(0), &data) ==
        BITPACT_OUT_OF_MEMORY);
}

TEST_CASE("the fault word lies on the device from prepare on") {
  Scratch scratch;
  Package sample;
  sample.add(takenContract());
  package::Variant variant = takenVariant("only");
  variant.target = {package::TargetKind::Hip, "gfx942",
                    "xnack=any sramecc=any"};
  variant.code.file = "code/only.hsaco";
  variant.entry = "row_sum";
  sample.add(variant, elf);
  sample.write(scratch / "pkg");
  OpenPackage package = open(scratch / "pkg");
  OpenDevice device = test::device("hip:0");
  OpenKernel kernel = test::kernel(package, device);
  FakeHipLog &log = fake();
  int held = log.allocations;

  alignas(256) float x[64], y[8];
  int64_t target[8] = {};
  Tensor tx(x, {8, 8}), ty(y, {8}), ti(target, {8}, {kDLInt, 64, 1});
  for (Tensor *tensor : {&tx, &ty, &ti})
    tensor->tensor.device = {kDLROCM, 0};
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
