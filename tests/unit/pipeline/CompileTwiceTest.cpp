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
                                const std::string &cache,
                                unsigned threads = 0) {
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
  request.threads = threads;
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

/// Twice, and once more without one entry of the cache.
void compileThrice(const std::string &contract,
                   const std::vector<std::string> &targets, bool leavesOut) {
  INFO(contract);
  Directory directory;
  std::string cache = directory.path + "/cache";
  pipeline::CompileResult first =
      compile(contract, targets, directory.path + "/first.pkg", cache);
  CHECK(first.fromCache == 0);
  CHECK(first.leftOut.empty() != leavesOut);
  CHECK(first.assembled >= int(first.variants.size()));
  CHECK(first.proved > 0);
  pipeline::CompileResult second =
      compile(contract, targets, directory.path + "/second.pkg", cache);
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
      compile(contract, targets, directory.path + "/third.pkg", cache);
  CHECK(third.fromCache == jobs - 1);
  CHECK(third.assembled > 0);
  CHECK(third.proved > 0);
  CHECK(filesOf(directory.path + "/third.pkg") ==
        filesOf(directory.path + "/first.pkg"));
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
      {"qwen3-8b/o_rank8", {"cuda:sm_90a"}},
  };
  for (const auto &kind : kinds)
    compileThrice(std::string(BITPACT_CONTRACTS "/library/") + kind.contract +
                      ".json",
                  kind.targets, /*leavesOut=*/false);
}

TEST_CASE("that registers do not suffice is kept too") {
  compileThrice(BITPACT_TESTS "/Schedule/Inputs/folded.json", {"cuda:sm_90a"},
                /*leavesOut=*/true);
}

TEST_CASE("a package does not depend on how many jobs run at a time") {
  const struct {
    const char *contract;
    std::vector<std::string> targets;
  } kinds[] = {
      {"examples/sum_parts", {"cpu", "cuda", "hip"}},
      {"examples/column_sum", {"cpu:x86-64-v3", "cuda"}},
      {"qwen3-8b/linear", {"cpu:x86-64-v4", "cuda:sm_90a"}},
  };
  for (const auto &kind : kinds) {
    INFO(kind.contract);
    std::string contract = std::string(BITPACT_CONTRACTS "/library/") +
                           kind.contract + ".json";
    Directory directory;
    std::map<unsigned, std::map<std::string, std::string>> packages;
    for (unsigned threads : {1u, 5u}) {
      std::string package =
          directory.path + "/" + std::to_string(threads) + ".pkg";
      compile(contract, kind.targets, package, "", threads);
      packages[threads] = filesOf(package);
    }
    CHECK(packages[1].size() > 3);
    CHECK(packages[1] == packages[5]);
  }
}

TEST_CASE("code of a target does not depend on which others there are") {
  // sm_80 and sm_90a share PTX of rows.
  for (const char *name : {"examples/column_sum", "qwen3-8b/rms_norm"}) {
    INFO(name);
    std::string contract =
        std::string(BITPACT_CONTRACTS "/library/") + name + ".json";
    Directory directory;
    compile(contract, {"cuda"}, directory.path + "/all.pkg", "");
    std::map<std::string, std::string> all =
        filesOf(directory.path + "/all.pkg");
    int met = 0;
    for (const char *target : {"cuda:sm_80", "cuda:sm_90a", "cuda:sm_100a"}) {
      std::string package = directory.path + "/" + target + ".pkg";
      compile(contract, {target}, package, "");
      for (const auto &[path, bytes] : filesOf(package))
        if (path.starts_with("code/")) {
          INFO(path);
          CHECK(all[path] == bytes);
          ++met;
        }
    }
    CHECK(met > 6);
  }
}

TEST_CASE("what is spilled beside free registers takes no loads from a round") {
  Directory directory;
  // Its divisions are calls, around which something is spilled in any case.
  pipeline::CompileResult result = compile(
      BITPACT_CONTRACTS "/library/examples/packed_column_sum.json",
      {"cuda:sm_80"}, directory.path + "/sum.pkg", "");
  CHECK(result.assembled == int(result.variants.size()));
  std::string manifest = filesOf(directory.path + "/sum.pkg")["manifest.json"];
  size_t unrolled = 0, spilled = 0;
  for (size_t at = 0; (at = manifest.find("unroll=128 ", at)) != manifest.npos;
       ++at)
    ++unrolled;
  for (size_t at = 0; (at = manifest.find("\"spills\":", at)) != manifest.npos;
       ++at)
    spilled += manifest[at + 9] != '0';
  CHECK(unrolled == result.variants.size());
  CHECK(spilled > 0);
}
