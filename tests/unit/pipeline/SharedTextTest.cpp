// SharedTextTest.cpp - PTX that architectures share is what each would have
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/NVPTX/ObjectCode.h"
#include "codegen/Target/SharedTexts.h"
#include "compiler/Pipeline/Pipeline.h"

#include <catch2/catch.hpp>

#include <atomic>
#include <thread>

using namespace bitpact;

namespace {

struct Pair {
  bool isCommon;
  std::string old, young;
};

/// Of every variant for sm_80, PTX that was made for it and for sm_90a.
std::vector<Pair> pairsOf(const std::string &contract) {
  mlir::DialectRegistry registry;
  pipeline::registerDialects(registry);
  mlir::MLIRContext context(registry);
  context.loadAllAvailableDialects();
  auto library = reader::Library::load(BITPACT_CONTRACTS, &context);
  REQUIRE(mlir::succeeded(library));
  pipeline::CompileRequest request;
  request.contracts = {std::string(BITPACT_CONTRACTS "/library/") + contract +
                       ".json"};
  request.targets = {"cuda:sm_80"};
  request.roles = {"train", "rollout"};
  request.stopAfter = pipeline::Phase::Convert;
  request.proveKernels = false;
  request.threads = 1;
  std::vector<Pair> pairs;
  request.mutateLLVM = [&](mlir::ModuleOp module) {
    Pair pair{codegen::isCommon(module), "", ""};
    if (pair.isCommon)
      for (auto [arch, text] : {std::pair("sm_80", &pair.old),
                                std::pair("sm_90a", &pair.young)}) {
        mlir::OwningOpRef<mlir::ModuleOp> own = module.clone();
        auto ptx = codegen::emitPtx(*own, arch);
        *text = mlir::succeeded(ptx) ? *ptx : "";
      }
    pairs.push_back(std::move(pair));
  };
  REQUIRE(mlir::succeeded(pipeline::compile(request, *library, &context, {})));
  return pairs;
}

/// What comes after the version of PTX, of which every architecture asks for its
/// own least, and the target.
std::string bodyOf(const std::string &text, const std::string &target) {
  std::string last = ".target " + target + "\n";
  size_t at = text.find(last);
  REQUIRE(at != text.npos);
  return text.substr(at + last.size());
}

} // namespace

TEST_CASE("rows have one text for sm_80 and sm_90a, but for its target") {
  for (const char *contract :
       {"examples/column_sum", "examples/packed_column_sum",
        "examples/layer_norm", "examples/log_sum_exp", "examples/silu_and_mul",
        "examples/sum_serial", "qwen3-8b/add_rms_norm", "qwen3-8b/softmax",
        "qwen3-8b/selected_logprob_bf16", "qwen3-8b/rms_norm_rounded"}) {
    INFO(contract);
    std::vector<Pair> pairs = pairsOf(contract);
    CHECK(pairs.size() > 0);
    for (const Pair &pair : pairs) {
      CHECK(pair.isCommon);
      std::string old = bodyOf(pair.old, "sm_80");
      CHECK(old.size() > 500);
      CHECK(old == bodyOf(pair.young, "sm_90a"));
    }
  }
}

TEST_CASE("tiles have instructions of their architecture") {
  std::vector<Pair> pairs = pairsOf("examples/matmul_ampere");
  CHECK(pairs.size() > 0);
  for (const Pair &pair : pairs)
    CHECK_FALSE(pair.isCommon);
}

TEST_CASE("a text is made once, for all who ask at a time") {
  codegen::SharedTexts texts;
  std::atomic<int> made = 0, equal = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i)
    threads.emplace_back([&, i] {
      std::string key(1, char('a' + i % 2));
      auto text = texts.get(key, [&]() -> std::optional<std::string> {
        ++made;
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
        return key + key;
      });
      equal += text == key + key;
    });
  for (std::thread &thread : threads)
    thread.join();
  CHECK(made == 2);
  CHECK(equal == 8);
  CHECK(texts.size() == 2);
  // What failed is not tried again, and what threw is nothing to the others.
  CHECK_FALSE(texts.get("c", [] { return std::optional<std::string>(); }));
  CHECK_FALSE(texts.get("c", [] { return std::optional<std::string>("c"); }));
  CHECK_THROWS(texts.get("d", []() -> std::optional<std::string> {
    throw std::runtime_error("d");
  }));
  CHECK_FALSE(texts.get("d", [] { return std::optional<std::string>("d"); }));
}
