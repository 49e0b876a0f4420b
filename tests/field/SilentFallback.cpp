// SilentFallback.cpp - what ran is recorded, and nothing else runs instead
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Seen elsewhere: the kernel that was configured was not the one that ran.
#include "tests/field/Fixture.h"

#include <catch2/catch.hpp>

using namespace bitpact::field;
using Catch::Matchers::Contains;
using nlohmann::json;

namespace {

std::vector<json> records() {
  std::vector<json> lines;
  bitpact::evidence::require(bitpact_records_drain(
      [](void *context, const char *line) {
        static_cast<std::vector<json> *>(context)->push_back(json::parse(line));
      },
      &lines, nullptr));
  return lines;
}

std::string refusal(const Compiled &compiled, const std::string &role,
                    const std::string &variant = "") {
  try {
    bitpact::evidence::Kernel kernel(compiled.package(), cpu(),
                                     compiled.contract("norm").digest, role,
                                     variant);
  } catch (const std::exception &error) {
    return error.what();
  }
  return "";
}

} // namespace

TEST_CASE("every launch names contract, code, variant and device") {
  Compiled compiled({"norm", "norm_rounded"});
  for (const char *name : {"norm", "norm_rounded"}) {
    const ContractSpec &contract = compiled.contract(name);
    Arena arena(contract, normalInputs(contract, 5, 100));
    for (const VariantSpec *variant : compiled.variants(contract)) {
      records();
      arena.launch(compiled, *variant, 0, 5);
      std::vector<json> lines = records();
      REQUIRE(lines.size() == 1);
      CHECK(lines[0].at("contract") == contract.digest);
      CHECK(lines[0].at("name") == contract.name);
      CHECK(lines[0].at("variant") == variant->id);
      CHECK(lines[0].at("code") == variant->codeSha256);
      CHECK(lines[0].at("target") == variant->target);
      CHECK(lines[0].at("device") == "cpu");
      CHECK(lines[0].at("role") == variant->roles.front());
      CHECK(lines[0].at("dims") == json{{"tokens", 5}, {"hidden", 100}});
    }
  }
}

TEST_CASE("a missing variant is an error that lists those there are") {
  Compiled compiled({"norm"});
  const ContractSpec &contract = compiled.contract("norm");
  auto lists = [&](const std::string &message) {
    INFO(message);
    for (const VariantSpec *variant : compiled.package().variantsOf(contract))
      CHECK_THAT(message, Contains(variant->id + " for " + variant->target));
  };
  SECTION("for another role") {
    std::string message = refusal(compiled, "decode");
    CHECK_THAT(message, Contains("field/norm") && Contains("'cpu'") &&
                            Contains("role 'decode'"));
    lists(message);
  }
  SECTION("of another name") {
    std::string message = refusal(compiled, "train", "norm-tuned");
    CHECK_THAT(message, Contains("'norm-tuned'"));
    lists(message);
  }
  SECTION("of a name that another role has") {
    const VariantSpec *only = nullptr;
    for (const VariantSpec *variant : compiled.variants(contract))
      if (variant->roles == std::vector<std::string>{"rollout"})
        only = variant;
    REQUIRE(only);
    lists(refusal(compiled, "train", only->id));
  }
}

TEST_CASE("tensors that no variant takes start nothing") {
  Compiled compiled({"norm"});
  const ContractSpec &contract = compiled.contract("norm");
  bitpact::evidence::Kernel kernel(compiled.package(), cpu(), contract.digest,
                                   "train");
  bitpact::evidence::Buffer memory(cpu(), 1 << 16);
  memory.fill(Arena::canary);
  std::vector<bitpact::evidence::View> views;
  for (const TensorSpec &tensor : contract.tensors) {
    bool rows = tensor.dims.size() == 2;
    std::vector<int64_t> shape{100}, strides{1};
    if (rows) {
      shape = {4, 100};
      // Elements of x lie two apart.
      strides = tensor.output ? std::vector<int64_t>{100, 1}
                              : std::vector<int64_t>{200, 2};
    }
    views.emplace_back(tensor, cpu(),
                       static_cast<uint8_t *>(memory.data()) +
                           (tensor.output ? 1 << 15
                            : rows        ? 0
                                          : 1 << 14),
                       shape, strides);
  }
  records();
  CHECK_THROWS_WITH(kernel.launch(views),
                    Contains("'x'") && Contains("stride"));
  CHECK(records().empty());
  std::vector<uint8_t> bytes(1 << 16);
  memory.download(bytes.data(), bytes.size());
  CHECK(std::count(bytes.begin(), bytes.end(), Arena::canary) == 1 << 16);
}
