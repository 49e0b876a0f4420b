// WriterTest.cpp - a package appears whole or not at all
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tests/unit/runtime/Fixture.h"

#include <catch2/catch.hpp>

#include <filesystem>
#include <unistd.h>

using namespace bitpact;
using namespace bitpact::test;
using Catch::Contains;
using Names = std::vector<std::string>;
namespace fs = std::filesystem;

template <typename Error>
static std::string writeError(const Package &package, const std::string &dir) {
  try {
    package.write(dir);
    return "written";
  } catch (const Error &error) {
    return error.what();
  }
}

TEST_CASE("a package is written, read back, and replaced") {
  Scratch scratch;
  Package sample = rowSumPackage();
  sample.write(scratch / "pkg");
  CHECK(listing(scratch.path) == Names{"pkg"});
  CHECK(listing(scratch / "pkg") ==
        Names{"code", "contracts", "manifest.json"});
  package::Package first = package::openPackage(scratch / "pkg");
  CHECK(first.contractTexts == Names{contractText(rowSumContract())});
  CHECK(first.manifest.variants[0].code.bytes == int64_t(kernelBytes().size()));

  // The same input gives the same bytes.
  std::string before = readBytes(scratch / "pkg/manifest.json");
  sample.write(scratch / "pkg/");
  CHECK(readBytes(scratch / "pkg/manifest.json") == before);

  sample.manifest.variants[0].schedule = "another";
  sample.write(scratch / "pkg");
  CHECK(listing(scratch.path) == Names{"pkg"});
  CHECK(package::openPackage(scratch / "pkg").manifest.variants[0].schedule ==
        "another");
}

TEST_CASE("what is not a package is not overwritten") {
  Scratch scratch;
  fs::create_directory(scratch / "home");
  writeBytes(scratch / "home/thesis.txt", "years of work");
  CHECK_THAT(writeError<package::FileError>(rowSumPackage(), scratch / "home"),
             Contains("home: exists and is not a package"));
  CHECK(listing(scratch / "home") == Names{"thesis.txt"});
  CHECK_THAT(writeError<package::FileError>(rowSumPackage(),
                                            scratch / "home/thesis.txt"),
             Contains("exists and is not a package"));
  CHECK(listing(scratch.path) == Names{"home"});
  // A manifest does not make a package, nor does one with other files in it.
  writeBytes(scratch / "home/manifest.json", "{}");
  CHECK_THAT(writeError<package::FileError>(rowSumPackage(), scratch / "home"),
             Contains("home: exists and is not a package"));
  CHECK(listing(scratch / "home") == Names{"manifest.json", "thesis.txt"});
  rowSumPackage().write(scratch / "pkg");
  writeBytes(scratch / "pkg/notes.txt", "mine");
  CHECK_THAT(writeError<package::FileError>(rowSumPackage(), scratch / "pkg"),
             Contains("pkg: exists and is not a package"));
  fs::remove(scratch / "pkg/notes.txt");
  CHECK_THAT(
      writeError<package::FileError>(rowSumPackage(), scratch / "pkg/inner"),
      Contains("lies inside of the package"));
  package::openPackage(scratch / "pkg");
  fs::create_directory(scratch / "empty");
  rowSumPackage().write(scratch / "empty");
  CHECK(package::openPackage(scratch / "empty").manifest.variants.size() == 1);
}

TEST_CASE("a place that cannot be written leaves nothing behind") {
  Scratch scratch;
  CHECK_THAT(
      writeError<package::FileError>(rowSumPackage(), scratch / "no/such/pkg"),
      Contains("no/such/pkg: cannot be written") &&
          Contains("No such file or directory"));
  CHECK_THAT(writeError<package::FileError>(rowSumPackage(), "/proc/pkg"),
             Contains("/proc/pkg: cannot be written"));
  CHECK_THAT(writeError<package::FileError>(rowSumPackage(), "/"),
             Contains("not a name for a new package"));
  CHECK(listing(scratch.path).empty());
}

TEST_CASE("a manifest that a reader would refuse is not written") {
  Scratch scratch;
  Package bad = rowSumPackage();
  bad.manifest.variants[0].roles = {"serve"};
  CHECK_THAT(writeError<package::FormatError>(bad, scratch / "pkg"),
             Contains("roles: 'serve' is not a role"));
  bad = rowSumPackage();
  bad.files.erase("code/only.so");
  CHECK_THAT(writeError<package::FormatError>(bad, scratch / "pkg"),
             Contains("code/only.so: the manifest names it"));
  bad = rowSumPackage();
  bad.files["code/../../escape"] = "x";
  CHECK_THAT(writeError<package::FormatError>(bad, scratch / "pkg"),
             Contains("code/../../escape: the manifest does not name it"));
  CHECK(listing(scratch.path).empty());
}
