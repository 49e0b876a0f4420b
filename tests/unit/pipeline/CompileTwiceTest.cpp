// CompileTwiceTest.cpp - what was compiled before is not compiled again
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/Pipeline/Pipeline.h"

#include <catch2/catch.hpp>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <stdlib.h>

using namespace bitpact;
namespace fs = std::filesystem;

namespace {

struct Directory {
  Directory() {
    char pattern[] = "/tmp/bitpact-twice-XXXXXX";
    REQUIRE(mkdtemp(pattern));
    path = pattern;
  }
  ~Directory() { fs::remove_all(path); }
  std::string path;
};

/// A process of its own, as far as the compiler can tell: a new context.
pipeline::CompileResult compile(const std::string &contract,
                                const std::vector<std::string> &targets,
                                const std::string &output,
                                const std::string &cache) {
  mlir::DialectRegistry registry;
  pipeline::registerDialects(registry);
  mlir::MLIRContext context(registry);
  context.loadAllAvailableDialects();
  auto library = reader::Library::load(BITPACT_CONTRACTS, &context);
  REQUIRE(mlir::succeeded(library));
  pipeline::CompileRequest request;
  request.contracts = {contract};
  request.output = output;
  request.targets = targets;
  request.roles = {"train", "rollout"};
  request.cache = cache;
  auto result = pipeline::compile(request, *library, &context, {});
  REQUIRE(mlir::succeeded(result));
  return *result;
}

/// By the path in the package.
std::map<std::string, std::string> filesOf(const std::string &package) {
  std::map<std::string, std::string> files;
  for (const auto &entry : fs::recursive_directory_iterator(package))
    if (entry.is_regular_file()) {
      std::ifstream file(entry.path(), std::ios::binary);
      files[fs::relative(entry.path(), package)] = {
          std::istreambuf_iterator<char>(file), {}};
    }
  return files;
}

} // namespace

TEST_CASE("a second compilation assembles and proves nothing") {
  const struct {
    const char *contract;
    std::vector<std::string> targets;
  } kinds[] = {
      // Rows, of which some take two kernels.
      {"examples/sum_parts", {"cpu", "cuda", "hip"}},
      // Tiles that CPUs pack, that consumers copy, and rows.
      {"examples/matmul_fma", {"cpu", "cuda:sm_80", "hip"}},
      // An atom, which some kinds lack on some targets; tensor maps.
      {"qwen3-8b/linear", {"cpu", "cuda", "hip"}},
      // Two products, and parts: layouts of their own.
      {"examples/swiglu", {"cuda:sm_90a"}},
      {"examples/matmul_ranks", {"cuda:sm_90a"}},
      // Blocks for which ptxas has no registers, which is kept too.
      {"qwen3-8b/o_rank8", {"cuda:sm_90a"}},
  };
  for (const auto &kind : kinds) {
    std::string contract = std::string(BITPACT_CONTRACTS "/library/") +
                           kind.contract + ".json";
    INFO(contract);
    Directory directory;
    std::string cache = directory.path + "/cache";
    pipeline::CompileResult first =
        compile(contract, kind.targets, directory.path + "/first.pkg", cache);
    CHECK(first.fromCache == 0);
    CHECK(first.assembled >= int(first.variants.size()));
    CHECK(first.proved > 0);
    pipeline::CompileResult second =
        compile(contract, kind.targets, directory.path + "/second.pkg", cache);
    int jobs = int(first.variants.size() + first.leftOut.size());
    CHECK(second.fromCache == jobs);
    CHECK(second.leftOut == first.leftOut);
    CHECK(second.assembled == 0);
    CHECK(second.proved == 0);
    CHECK(second.variants == first.variants);
    CHECK(filesOf(directory.path + "/second.pkg") ==
          filesOf(directory.path + "/first.pkg"));
    // Without one of them, that one alone is made again.
    fs::remove(fs::directory_iterator(cache)->path());
    pipeline::CompileResult third =
        compile(contract, kind.targets, directory.path + "/third.pkg", cache);
    CHECK(third.fromCache == jobs - 1);
    CHECK(third.assembled > 0);
    CHECK(third.proved > 0);
    CHECK(filesOf(directory.path + "/third.pkg") ==
          filesOf(directory.path + "/first.pkg"));
  }
}
