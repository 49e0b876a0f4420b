// FaultTest.cpp - index tensors, and the word that tells of bad indices
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tests/unit/runtime/Fixture.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <cmath>
#include <thread>

using namespace bitpact;
using namespace bitpact::test;
using Catch::Contains;

namespace {

constexpr DLDataType i64 = {kDLInt, 64, 1}, f32 = {kDLFloat, 32, 1};

struct Taken {
  Taken() {
    Package sample;
    sample.add(takenContract());
    sample.add(takenVariant("only"));
    sample.write(scratch / "pkg");
    package = open(scratch / "pkg");
    cpu = device("cpu", 2);
    kernel = test::kernel(package, cpu);
  }
  void prepare() {
    bitpact_dim dims[] = {{"tokens", 5}};
    REQUIRE(bitpact_kernel_prepare(kernel.get(), dims, 1) == BITPACT_OK);
  }
  uint32_t fault(const OpenKernel &of) {
    uint32_t word = 7;
    REQUIRE(bitpact_kernel_fault(of.get(), &word) == BITPACT_OK);
    return word;
  }
  std::vector<float> run(std::vector<int64_t> target) {
    auto rows = int64_t(target.size());
    std::vector<float> x = matrix(rows, 8), y(target.size(), -1);
    Tensor tx(x.data(), {rows, 8}), ty(y.data(), {rows});
    Tensor ti(target.data(), {rows}, i64);
    REQUIRE(Launch(tx, ti, ty).run(kernel) == BITPACT_OK);
    return y;
  }

  Scratch scratch;
  OpenPackage package;
  OpenDevice cpu;
  OpenKernel kernel;
};

} // namespace

TEST_CASE_METHOD(Taken, "an index tensor is i64 to the byte") {
  bitpact_tensor_info info = {};
  info.size = sizeof info;
  for (uint32_t i : {0u, 1u, 2u}) {
    REQUIRE(bitpact_contract_get_tensor(package.get(), 0, i, &info) ==
            BITPACT_OK);
    CHECK(info.is_index == (i == 1));
    CHECK(info.is_output == (i == 2));
  }
  REQUIRE(bitpact_contract_get_tensor(package.get(), 0, 1, &info) ==
          BITPACT_OK);
  CHECK(std::string(info.type) == "i64");
  CHECK(info.dtype.code == kDLInt);
  CHECK(info.dtype.bits == 64);
  // A caller who knows only what stood before `is_index`.
  info = {};
  info.size = offsetof(bitpact_tensor_info, is_index);
  info.is_index = 42;
  REQUIRE(bitpact_contract_get_tensor(package.get(), 0, 1, &info) ==
          BITPACT_OK);
  CHECK(info.is_index == 42);

  prepare();
  // matrix(): element i is (i * 7919) % 61 - 30.
  CHECK(run({0, 7, 3}) == std::vector<float>{-30, float(15 * 7919 % 61) - 30,
                                             float(19 * 7919 % 61) - 30});
  std::vector<float> x = matrix(2, 8), y(2);
  std::vector<int32_t> narrow = {1, 2};
  Tensor tx(x.data(), {2, 8}), ty(y.data(), {2});
  Tensor ti(narrow.data(), {2}, {kDLInt, 32, 1});
  CHECK(Launch(tx, ti, ty).run(kernel) == BITPACT_BAD_TENSOR);
  CHECK(std::string(bitpact_last_error()) ==
        "tensor 'target': dtype is i32, must be i64");
}

TEST_CASE_METHOD(Taken, "a bad index is told once, and no other") {
  prepare();
  CHECK(fault(kernel) == 0);
  run({0, 1, 7});
  CHECK(fault(kernel) == 0);
  for (int64_t bad :
       {int64_t(8), int64_t(-1), INT64_MAX, INT64_MIN, int64_t(1) << 32}) {
    std::vector<float> y = run({1, bad, 2});
    CHECK(std::isnan(y[1]));
    CHECK(y[2] == float(18 * 7919 % 61) - 30);
    run({0, 1, 2}); // a good launch does not hide it
    CHECK(fault(kernel) == 1);
    CHECK(fault(kernel) == 0);
  }
}

TEST_CASE_METHOD(Taken, "each kernel has its word, from prepare on") {
  std::vector<float> x = matrix(1, 8), y(1);
  std::vector<int64_t> target = {9};
  Tensor tx(x.data(), {1, 8}), ty(y.data(), {1}), ti(target.data(), {1}, i64);
  CHECK(fault(kernel) == 0);
  CHECK(Launch(tx, ti, ty).run(kernel) == BITPACT_BAD_STATE);
  CHECK_THAT(bitpact_last_error(),
             Contains("variant 'only'") && Contains("bitpact_kernel_prepare"));
  // Zero rows start no kernel, so nothing can be told.
  Tensor nx(nullptr, {0, 8}), ny(nullptr, {0}), ni(nullptr, {0}, i64);
  CHECK(Launch(nx, ni, ny).run(kernel) == BITPACT_OK);

  prepare();
  prepare(); // the word stays
  OpenKernel other = test::kernel(package, cpu);
  bitpact_dim dims[] = {{"tokens", 1}};
  REQUIRE(bitpact_kernel_prepare(other.get(), dims, 1) == BITPACT_OK);
  REQUIRE(Launch(tx, ti, ty).run(kernel) == BITPACT_OK);
  prepare();
  CHECK(fault(other) == 0);
  CHECK(fault(kernel) == 1);

  Package plain = rowSumPackage();
  plain.write(scratch / "plain");
  OpenPackage without = open(scratch / "plain");
  CHECK(fault(test::kernel(without, cpu)) == 0);
  CHECK(bitpact_kernel_fault(kernel.get(), nullptr) ==
        BITPACT_INVALID_ARGUMENT);
}

TEST_CASE_METHOD(Taken, "one of many launches in many threads is enough") {
  prepare();
  std::vector<std::thread> callers;
  for (int caller = 0; caller < 4; ++caller)
    callers.emplace_back([&, caller] {
      for (int n = 0; n < 50; ++n) {
        std::vector<float> x(64, 1), y(8);
        std::vector<int64_t> target(8, caller == 2 && n == 13 ? 8 : 7);
        Tensor tx(x.data(), {8, 8}), ty(y.data(), {8});
        Tensor ti(target.data(), {8}, i64);
        Launch(tx, ti, ty).run(kernel);
      }
    });
  for (std::thread &caller : callers)
    caller.join();
  CHECK(fault(kernel) == 1);
}

TEST_CASE("the format grows: the least that has what a package uses") {
  Scratch scratch;
  rowSumPackage().write(scratch / "old");
  CHECK_THAT(readBytes(scratch / "old" + "/manifest.json"),
             Contains("\"format\":1,"));
  Package sample;
  sample.add(takenContract());
  sample.add(takenVariant("only"));
  sample.write(scratch / "new");
  std::string text = readBytes(scratch / "new" + "/manifest.json");
  CHECK_THAT(
      text, Contains("\"format\":2,") && Contains("\"kind\":\"fault\"") &&
                Contains("\"kind\":\"index\"") && Contains("\"type\":\"i64\""));

  auto refusal = [&](auto edit) {
    nlohmann::json value = nlohmann::json::parse(text);
    edit(value);
    value["sha256"] = package::manifestHash(value);
    try {
      package::parseManifest(package::canonicalText(value) + "\n", "m");
      return std::string("accepted");
    } catch (const package::FormatError &error) {
      return std::string(error.what());
    }
  };
  CHECK(refusal([](nlohmann::json &) {}) == "accepted");
  CHECK_THAT(refusal([](nlohmann::json &m) { m["format"] = 1; }),
             Contains("format: is 1") && Contains("need 2"));
  CHECK_THAT(refusal([](nlohmann::json &m) {
               m["contracts"][0]["tensors"][1]["type"] = "f32";
             }),
             Contains("tensors[1].type: is 'f32', must be i32 or i64"));
  CHECK_THAT(refusal([](nlohmann::json &m) {
               auto &arguments = m["variants"][0]["arguments"];
               std::swap(arguments[5], arguments[6]);
             }),
             Contains("arguments[5]: is fault word, must be dim hidden"));
  CHECK_THAT(refusal([](nlohmann::json &m) {
               m["variants"][0]["arguments"].push_back({{"kind", "fault"}});
             }),
             Contains("arguments[7]: is fault word, must be absent"));
}

// The bytes of a manifest that a writer of format 1 made.
static const std::string oldManifest =
    R"({"contracts":[{"digest":"892bb59ce77db372ff1ee132a91d7f896d8b83600f927)"
    R"(c745b79ee7d7da96a21","dims":{"hidden":8,"tokens":"*"},"file":"contract)"
    R"(s/892bb59ce77db372ff1ee132a91d7f896d8b83600f927c745b79ee7d7da96a21.jso)"
    R"(n","name":"old/row_sum","op":"row_sum@1","sha256":"e3b0c44298fc1c149af)"
    R"(bf4c8996fb92427ae41e4649b934ca495991b7852b855","tensors":[{"dims":["to)"
    R"(kens","hidden"],"kind":"in","name":"x","type":"f32"},{"dims":["tokens")"
    R"(],"kind":"out","name":"y","type":"i32"}]}],"format":1,"producer":{"bit)"
    R"(pact":"0.1.0","llvm":"22.1.8"},"sha256":"9a2c235c1796443a9937f6fa1d578)"
    R"(ef73505f057262fbdb45cd9d71b13a2477a","variants":[{"arguments":[{"kind")"
    R"(:"pointer","tensor":"x"},{"axis":0,"kind":"stride","tensor":"x"},{"kin)"
    R"(d":"pointer","tensor":"y"},{"dim":"tokens","kind":"dim"},{"dim":"hidde)"
    R"(n","kind":"dim"},{"kind":"workspace"}],"code":{"bytes":0,"file":"code/)"
    R"(only.so","sha256":"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca49)"
    R"(5991b7852b855"},"contract":"892bb59ce77db372ff1ee132a91d7f896d8b83600f)"
    R"(927c745b79ee7d7da96a21","entry":"row_sum","evidence":{"bits":"none"},")"
    R"(id":"only","inspect":[],"launch":{"parallel_dims":["tokens"],"programs)"
    R"(_per_cta":1,"rows_per_program":1,"shared_bytes":0,"threads":1},"priori)"
    R"(ty":0,"resources":{"local":0,"registers":0,"shared":0,"spills":0},"rol)"
    R"(es":["train"],"schedule":"one row a program","target":{"arch":"x86-64-)"
    R"(v3","features":"","kind":"cpu"},"tensors":[{"alias":[],"mutable":false)"
    R"(,"name":"x"},{"alias":[],"mutable":true,"name":"y"}],"when":{"align":{)"
    R"("x":16},"dims":{},"stride_multiple":{}},"workspace":"4*tokens"}]})"
    "\n";

TEST_CASE("a manifest of format 1, as it was written, is read") {
  package::Manifest manifest =
      package::parseManifest(oldManifest, "manifest.json");
  CHECK(manifest.format == 1);
  CHECK(manifest.contracts.at(0).tensors.at(1).type ==
        package::ElementType::I32);
  CHECK(manifest.variants.at(0).arguments.size() == 6);
  // And written as it was.
  CHECK(package::seal(manifest) == oldManifest);
}
