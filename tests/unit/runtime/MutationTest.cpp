// MutationTest.cpp - a package with any byte changed, cut or added is refused
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tests/unit/runtime/Fixture.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <filesystem>
#include <sys/stat.h>
#include <unistd.h>

using namespace bitpact;
using namespace bitpact::test;
using Catch::Contains;
namespace fs = std::filesystem;

// Through the C interface: what a user of the library sees.
static std::string openMessage(const std::string &dir,
                               bitpact_status expected = BITPACT_BAD_PACKAGE) {
  bitpact_package *package = nullptr;
  bitpact_status status = bitpact_package_open(dir.c_str(), &package);
  CHECK(status == expected);
  CHECK((package == nullptr) == (status != BITPACT_OK));
  OpenPackage closes(package);
  return status == BITPACT_OK ? "accepted" : bitpact_last_error();
}

// Small code, so that each of its bytes can be tried.
static Package smallPackage() {
  Package sample;
  sample.add(rowSumContract());
  sample.add(variantOf(rowSumContract(), "only", "row_sum"),
             "\x7f"
             "ELF and a few bytes more");
  return sample;
}

TEST_CASE("every changed byte of every file is found at open") {
  Scratch scratch;
  std::string dir = scratch / "pkg";
  Package sample = smallPackage();
  sample.write(dir);
  REQUIRE(openMessage(dir, BITPACT_OK) == "accepted");
  // Each byte of the manifest, from memory; and of every file, from the disk.
  std::string manifest = readBytes(dir + "/manifest.json");
  for (size_t i = 0; i < manifest.size(); ++i)
    for (int bit = 0; bit < 8; ++bit) {
      std::string bad = manifest;
      bad[i] = char(bad[i] ^ (1 << bit));
      INFO("byte " << i << " bit " << bit);
      REQUIRE_THROWS_AS(package::parseManifest(bad, "manifest.json"),
                        package::FormatError);
    }
  size_t tried = 0;
  for (std::string file :
       {std::string("manifest.json"), sample.manifest.contracts[0].file,
        sample.manifest.variants[0].code.file}) {
    std::string path = dir + "/" + file, good = readBytes(path);
    size_t step = good.size() > 200 ? 7 : 1;
    for (size_t i = 0; i < good.size(); i += step) {
      std::string bad = good;
      bad[i] = char(bad[i] ^ 0x20);
      writeBytes(path, bad);
      bitpact_package *package = nullptr;
      INFO(file << " byte " << i);
      REQUIRE(bitpact_package_open(dir.c_str(), &package) ==
              BITPACT_BAD_PACKAGE);
      REQUIRE_THAT(bitpact_last_error(), Contains(file));
      ++tried;
    }
    writeBytes(path, good);
  }
  CHECK(tried > 200);
  CHECK(openMessage(dir, BITPACT_OK) == "accepted");
}

TEST_CASE("truncated, missing, foreign and wrong files are refused by name") {
  Scratch scratch;
  std::string dir = scratch / "pkg";
  smallPackage().write(dir);
  std::string code = dir + "/code/only.so", good = readBytes(code);

  for (size_t cut : {size_t(0), good.size() / 2, good.size() - 1}) {
    writeBytes(code, good.substr(0, cut));
    CHECK_THAT(openMessage(dir), Contains("code/only.so: has ") &&
                                     Contains("manifest.json says 25"));
  }
  fs::remove(code);
  CHECK_THAT(openMessage(dir), Contains("code/only.so: No such file") &&
                                   Contains("manifest.json names this file"));
  fs::create_directory(code);
  CHECK_THAT(openMessage(dir), Contains("is not a regular file"));
  fs::remove(code);
  REQUIRE(::mkfifo(code.c_str(), 0600) == 0);
  CHECK_THAT(openMessage(dir), Contains("is not a regular file"));
  fs::remove(code);
  writeBytes(code, good);

  writeBytes(dir + "/code/extra.so", "x");
  CHECK_THAT(openMessage(dir), Contains("code/extra.so: manifest.json does not "
                                        "name this file"));
  fs::remove(dir + "/code/extra.so");

  std::string manifest = readBytes(dir + "/manifest.json");
  for (size_t cut : {size_t(0), size_t(1), manifest.size() / 2}) {
    writeBytes(dir + "/manifest.json", manifest.substr(0, cut));
    CHECK_THAT(openMessage(dir), Contains("manifest.json: is not JSON"));
  }
  fs::remove(dir + "/manifest.json");
  CHECK_THAT(openMessage(dir, BITPACT_NOT_FOUND),
             Contains("so it is not a package"));
  CHECK_THAT(openMessage(scratch / "absent", BITPACT_NOT_FOUND),
             Contains("absent: No such file or directory"));
  CHECK_THAT(openMessage(code, BITPACT_NOT_FOUND),
             Contains("is not a directory"));
}

TEST_CASE("code that changes after the package was opened does not run") {
  Scratch scratch;
  std::string dir = scratch / "pkg";
  rowSumPackage().write(dir);
  OpenPackage package = open(dir);
  OpenDevice cpu = device("cpu");
  std::string code = dir + "/code/only.so", good = readBytes(code);
  std::string bad = good;
  bad[bad.size() / 2] ^= 1;
  writeBytes(code, bad);
  bitpact_kernel *refused = nullptr;
  CHECK(bitpact_kernel_lookup(package.get(), cpu.get(),
                              rowSumContract().digest.c_str(), "train", nullptr,
                              &refused) == BITPACT_BAD_PACKAGE);
  CHECK_THAT(bitpact_last_error(), Contains("the file was altered"));

  // Loaded from verified bytes: what happens to the file then is of no matter.
  writeBytes(code, good);
  OpenKernel kernel = test::kernel(package, cpu);
  writeBytes(code, std::string(good.size(), '\0'));
  std::vector<float> x = matrix(3, 8), y(3);
  Tensor tx(x.data(), {3, 8}), ty(y.data(), {3});
  CHECK(Launch(tx, ty).run(kernel) == BITPACT_OK);
  CHECK(y == rowSums(x, 8));
}

TEST_CASE("symbolic links inside of a package are refused, one to it is not") {
  Scratch scratch;
  std::string dir = scratch / "pkg";
  Package sample = smallPackage();
  sample.write(dir);
  for (std::string name :
       {std::string("manifest.json"), sample.manifest.contracts[0].file,
        sample.manifest.variants[0].code.file, std::string("code"),
        std::string("contracts")}) {
    std::string path = dir + "/" + name, away = scratch / "away";
    fs::rename(path, away);
    fs::create_symlink(away, path);
    CHECK_THAT(openMessage(dir),
               Contains(name + ": is a symbolic link; a package holds its "
                               "files itself"));
    fs::remove(path);
    fs::rename(away, path);
    CHECK(openMessage(dir, BITPACT_OK) == "accepted");
  }
  fs::create_symlink(dir, scratch / "link");
  CHECK(openMessage(scratch / "link", BITPACT_OK) == "accepted");
}

TEST_CASE("a manifest that was sealed anew must fit its contracts") {
  Scratch scratch;
  std::string dir = scratch / "pkg";
  Package sample = smallPackage();
  sample.write(dir);
  const std::string text = readBytes(dir + "/manifest.json");
  auto resealed = [&](auto edit) {
    nlohmann::json value = nlohmann::json::parse(text);
    edit(value, value["contracts"][0], value["variants"][0]);
    value["sha256"] = package::manifestHash(value);
    writeBytes(dir + "/manifest.json", package::canonicalText(value) + "\n");
    std::string said = openMessage(dir);
    writeBytes(dir + "/manifest.json", text);
    CHECK_THAT(said, Contains(sample.manifest.contracts[0].file));
    return said;
  };
  using json = nlohmann::json;
  // The two tensors change places, in everything that names them by place.
  CHECK_THAT(resealed([](json &, json &c, json &v) {
               std::swap(c["tensors"][0], c["tensors"][1]);
               std::swap(v["tensors"][0], v["tensors"][1]);
               json &a = v["arguments"];
               a = {a[2], a[0], a[1], a[3], a[4]};
             }),
             Contains("tensors: manifest.json says [y, x], the contract says "
                      "[x, y]"));
  CHECK_THAT(resealed([](json &, json &, json &v) {
               std::swap(v["arguments"][3], v["arguments"][4]);
             }),
             Contains("arguments of variant 'only', dims: manifest.json says "
                      "[hidden, tokens], the contract says [tokens, hidden]"));
  CHECK_THAT(resealed([](json &, json &c, json &) {
               c["tensors"][0]["type"] = "i32";
             }),
             Contains("tensor 'x', type: manifest.json says i32, the contract "
                      "says f32"));
  CHECK_THAT(resealed([](json &, json &c, json &v) {
               c["tensors"][0]["kind"] = "out";
               v["tensors"][0]["mutable"] = true;
             }),
             Contains("tensor 'x', kind: manifest.json says out"));
  CHECK_THAT(resealed([](json &, json &c, json &) { c["dims"]["hidden"] = 9; }),
             Contains("dims: manifest.json says {\"hidden\": \"9\""));
  CHECK_THAT(resealed([](json &, json &c, json &) { c["op"] = "row_sum@2"; }),
             Contains("op: manifest.json says row_sum@2, the contract says "
                      "row_sum@1"));
  CHECK_THAT(resealed([](json &, json &c, json &) { c["name"] = "other"; }),
             Contains("name: manifest.json says other"));
  CHECK_THAT(resealed([](json &m, json &, json &v) {
               m["format"] = 2;
               v["arguments"].push_back({{"kind", "fault"}});
             }),
             Contains("manifest.json says a fault word, the contract says no "
                      "fault word"));
  // And a contract text that is none.
  std::string file = dir + "/" + sample.manifest.contracts[0].file;
  const std::string contract = readBytes(file);
  for (std::string bad : {std::string("{}"), std::string("[1]"),
                          std::string("nothing"), std::string(100000, '[')}) {
    writeBytes(file, bad);
    resealed([&](json &, json &c, json &) {
      c["sha256"] = package::sha256Hex(bad);
    });
  }
  writeBytes(file, contract);
  CHECK(openMessage(dir, BITPACT_OK) == "accepted");
}
