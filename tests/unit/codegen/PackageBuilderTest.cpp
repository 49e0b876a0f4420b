// PackageBuilderTest.cpp - packages from contracts and code, byte for byte
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/Package/PackageBuilder.h"
#include "runtime/package/Reader.h"
#include "tests/unit/codegen/Module.h"
#include <filesystem>
#include <fstream>
#include <unistd.h>

using namespace bitpact;
using namespace bitpact::codegen;
namespace fs = std::filesystem;

namespace {

const std::string kDigest(64, 'a');

nlohmann::json contract() {
  return nlohmann::json::parse(R"({
    "bitpact": 1, "name": "toy/sum",
    "op": {"name": "sum", "version": 1, "dims": ["rows", "cols"],
      "params": [], "tensors": [
        {"name": "x", "kind": "in", "dims": ["rows", "cols"]},
        {"name": "y", "kind": "out", "dims": ["rows"]}], "body": []},
    "dims": {"rows": "*", "cols": 7}, "types": {"x": "bf16", "y": "f32"},
    "nodes": {}})");
}

CompiledCode code(const std::string &suffix) {
  return {{1, 2, 3}, suffix, "text\n", "s", {40, 0, 0, 0}, "13.0.88"};
}

package::Variant variant() {
  package::Variant result;
  result.contract = kDigest;
  result.roles = {"train", "rollout"};
  result.entry = "sum_rows";
  result.schedule = "row_per_program";
  result.launch.parallelDims = {"rows"};
  return result;
}

std::map<std::string, std::string> contentsOf(const fs::path &dir) {
  std::map<std::string, std::string> files;
  for (const auto &entry : fs::recursive_directory_iterator(dir))
    if (entry.is_regular_file()) {
      std::ifstream stream(entry.path(), std::ios::binary);
      files[fs::relative(entry.path(), dir).string()] =
          std::string(std::istreambuf_iterator<char>(stream), {});
    }
  return files;
}

struct ScratchDirectory {
  ScratchDirectory() {
    char pattern[] = "/tmp/bitpact-unit-XXXXXX";
    REQUIRE(mkdtemp(pattern));
    path = pattern;
  }
  ~ScratchDirectory() { fs::remove_all(path); }
  fs::path path;
};

/// y is the element of x at an index.
nlohmann::json takingContract() {
  nlohmann::json taking = contract();
  nlohmann::json index = {
      {"name", "at"}, {"kind", "index"}, {"dims", {"rows"}}};
  nlohmann::json &tensors = taking["op"]["tensors"];
  tensors.insert(tensors.begin() + 1, index);
  taking["op"]["body"].push_back(nlohmann::json{{"op", "take"}});
  taking["types"]["at"] = "i64";
  return taking;
}

PackageBuilder filled() {
  PackageBuilder builder;
  CHECK(builder.addContract(contract(), kDigest));
  const Target &cpu = *builtinTargets().find("cpu:x86-64-v3");
  const Target &cuda = *builtinTargets().find("cuda:sm_90a");
  CHECK(builder.addVariant(variant(), cpu, code("so")) ==
        "sum-aaaaaaaa-x86-64-v3-0");
  CHECK(builder.addVariant(variant(), cpu, code("so")) ==
        "sum-aaaaaaaa-x86-64-v3-1");
  CHECK(builder.addVariant(variant(), cuda, code("cubin")) ==
        "sum-aaaaaaaa-sm_90a-0");
  return builder;
}

} // namespace

TEST_CASE("a manifest holds contract, arguments, target and tools") {
  PackageBuilder builder = filled();
  const package::Manifest &manifest = builder.manifest();
  CHECK(manifest.producer.at("bitpact") == "0.1.0");
  CHECK(manifest.producer.at("llvm").rfind("22.", 0) == 0);
  CHECK(manifest.producer.at("ptxas") == "13.0.88");
  const package::ContractEntry &entry = manifest.contracts.at(0);
  CHECK(entry.op == "sum@1");
  CHECK(entry.dims.at("rows") == package::dynamicExtent);
  CHECK(entry.dims.at("cols") == 7);
  CHECK(entry.tensors.at(0).type == package::ElementType::BF16);
  const package::Variant &first = manifest.variants.at(0);
  CHECK(first.target.text() == "cpu:x86-64-v3");
  CHECK(first.resources.registers == 40);
  CHECK(first.tensors.at(1).isMutable);
  // x, its row stride, y, then rows and cols.
  REQUIRE(first.arguments.size() == 5);
  CHECK(first.arguments[1].kind == package::ArgumentKind::Stride);
  CHECK(first.arguments[3].dim == "rows");
  CHECK(first.arguments[4].dim == "cols");
}

TEST_CASE("a contract enters once") {
  PackageBuilder builder = filled();
  CHECK_FALSE(builder.addContract(contract(), kDigest));
  CHECK(builder.manifest().contracts.size() == 1);
}

TEST_CASE("a variant without its contract is refused") {
  PackageBuilder builder;
  CHECK_THROWS_WITH(builder.addVariant(variant(),
                                       *builtinTargets().find("cpu:x86-64-v3"),
                                       code("so")),
                    "a variant before its contract");
}

TEST_CASE("the same input gives the same package") {
  ScratchDirectory scratch;
  for (const char *name : {"one", "two"}) {
    CHECK(llvm::toString(filled().write((scratch.path / name).string())) == "");
    // What was written is what a runtime opens.
    CHECK(package::openPackage((scratch.path / name).string())
              .manifest.variants.size() == 3);
  }
  auto one = contentsOf(scratch.path / "one");
  CHECK(one == contentsOf(scratch.path / "two"));
  CHECK(one.size() == 8);
  CHECK(one.at("code/sum-aaaaaaaa-sm_90a-0.cubin") == "\1\2\3");
  CHECK(one.at("contracts/" + kDigest + ".json") ==
        package::canonicalText(contract()));
}

TEST_CASE("an unwritable directory is an error that names it") {
  llvm::Error error = filled().write("/proc/nowhere/pkg");
  REQUIRE(bool(error));
  CHECK(llvm::toString(std::move(error)).find("/proc/nowhere") !=
        std::string::npos);
}

TEST_CASE("kernels that take indices end with the fault word") {
  ScratchDirectory scratch;
  PackageBuilder builder;
  CHECK(builder.addContract(takingContract(), kDigest));
  builder.addVariant(variant(), *builtinTargets().find("cpu:x86-64-v3"),
                     code("so"));
  const package::Variant &made = builder.manifest().variants.at(0);
  REQUIRE(made.arguments.size() == 7);
  CHECK(made.arguments[2].kind == package::ArgumentKind::Pointer);
  CHECK(made.arguments[2].tensor == "at");
  CHECK(made.arguments[6].kind == package::ArgumentKind::Fault);
  CHECK_FALSE(made.tensors.at(1).isMutable);
  llvm::Error error = builder.write((scratch.path / "pkg").string());
  REQUIRE_FALSE(bool(error));
  package::Package opened =
      package::openPackage((scratch.path / "pkg").string());
  CHECK(opened.manifest.format == 2);
  CHECK(opened.manifest.contracts[0].tensors[1].kind ==
        package::TensorKind::Index);
  CHECK(opened.manifest.contracts[0].tensors[1].type ==
        package::ElementType::I64);
}
