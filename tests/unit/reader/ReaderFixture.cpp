// ReaderFixture.cpp - contract files written for one test, read and judged
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tests/unit/reader/ReaderFixture.h"

#include <catch2/catch.hpp>

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Location.h"

#include <atomic>
#include <fstream>
#include <stdexcept>
#include <unistd.h>

using namespace bitpact;

const std::string test::good = R"({
  "bitpact": 1,
  "name": "test/rms_norm",
  "op": "rms_norm@1",
  "dims": { "tokens": "*", "hidden": 16 },
  "types": { "x": "bf16", "weight": "bf16", "y": "bf16" },
  "params": { "eps": "1e-6 f32" },
  "nodes": {
    "sum_sq": {
      "domain": "hidden",
      "partition": "sweep:* lane:4 pack:2",
      "merge": ["pack chain", "sweep chain", "lane halving"],
      "start": "identity",
      "precision": { "product": "exact", "accumulator": "f32" }
    }
  },
  "rounding": { "mean_sq": "f32 rne", "normed": "f32 rne", "y": "bf16 rne" },
  "primitives": { "sum_sq.step": "dot.fma.f32", "rsqrt": "rsqrt.div_sqrt.f32" }
}
)";

test::Folder::Folder() {
  static std::atomic<int> count{0};
  path = std::filesystem::temp_directory_path() /
         ("bitpact-reader-" + std::to_string(getpid()) + "-" +
          std::to_string(count++));
  std::filesystem::create_directories(path);
}

test::Folder::~Folder() { std::filesystem::remove_all(path); }

std::string test::Folder::write(const std::string &name,
                                const std::string &text) const {
  std::ofstream(path / name, std::ios::binary) << text;
  return (path / name).string();
}

std::string test::Outcome::text() const {
  std::string all;
  for (const std::string &message : messages)
    all += message + "\n";
  return all;
}

test::Outcome test::read(const std::string &path) {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  Outcome outcome;
  mlir::ScopedDiagnosticHandler handler(&context, [&](mlir::Diagnostic
                                                          &diagnostic) {
    std::string place = "?";
    if (auto loc =
            diagnostic.getLocation()->findInstanceOf<mlir::FileLineColLoc>())
      place =
          std::filesystem::path(loc.getFilename().str()).filename().string() +
          ":" + std::to_string(loc.getLine()) + ":" +
          std::to_string(loc.getColumn());
    outcome.messages.push_back(place + ": " + diagnostic.str());
    return mlir::success();
  });
  auto library = reader::Library::load(BITPACT_CONTRACTS, &context);
  if (mlir::failed(library))
    throw std::runtime_error("the shipped definitions do not load: " +
                             outcome.text());
  auto result = reader::readContract(path, *library, &context);
  if (mlir::succeeded(result)) {
    outcome.canonical = result->canonical;
    outcome.digest = result->digest;
  }
  return outcome;
}

test::Outcome test::readText(const std::string &text) {
  Folder folder;
  return read(folder.write("test.json", text));
}

std::string test::with(std::string text, const std::string &from,
                       const std::string &to) {
  size_t at = text.find(from);
  if (at == std::string::npos)
    throw std::logic_error("the text to change is not there: " + from);
  return text.replace(at, from.size(), to);
}

void test::expectRefused(const std::string &text, const std::string &message) {
  Outcome outcome = readText(text);
  CHECK_FALSE(outcome.canonical);
  REQUIRE_FALSE(outcome.messages.empty());
  CHECK_THAT(outcome.messages[0], Catch::Contains(message));
}

std::string test::digestOf(const std::string &text) {
  Outcome outcome = readText(text);
  INFO(outcome.text());
  REQUIRE(outcome.canonical);
  return outcome.digest;
}
