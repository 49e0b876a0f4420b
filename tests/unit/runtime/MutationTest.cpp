// MutationTest.cpp - a package with any byte changed, cut or added is refused
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tests/unit/runtime/Fixture.h"

#include <catch2/catch.hpp>

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
