// PipelineTest.cpp - a wrong kernel does not get as far as code
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/Pipeline/Pipeline.h"
#include "codegen/Target/Target.h"
#include "dialects/Kernel/Tiles.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <mutex>

using namespace bitpact;

namespace {

/// What the compiler says of a contract of the library whose kernel `plant`
/// has changed; before, it compiles.
std::vector<std::string> saidOf(const std::string &contract,
                                const std::string &target,
                                std::function<void(mlir::ModuleOp)> plant) {
  mlir::DialectRegistry registry;
  pipeline::registerDialects(registry);
  mlir::MLIRContext context(registry);
  context.loadAllAvailableDialects();
  context.printOpOnDiagnostic(false);
  std::mutex guard;
  std::vector<std::string> said;
  mlir::ScopedDiagnosticHandler handler(&context, [&](mlir::Diagnostic &what) {
    std::lock_guard<std::mutex> lock(guard);
    said.push_back(what.str());
  });
  auto library = reader::Library::load(BITPACT_CONTRACTS, &context);
  REQUIRE(succeeded(library));
  pipeline::CompileRequest request;
  request.contracts = {BITPACT_CONTRACTS "/library/" + contract};
  request.output =
      std::filesystem::temp_directory_path() / "bitpact-interpreter.pkg";
  request.targets = {target};
  request.roles = {"train"};
  request.stopAfter = pipeline::Phase::Lower;
  REQUIRE(succeeded(pipeline::compile(request, *library, &context, {})));
  REQUIRE(said.empty());
  request.mutateKernel = std::move(plant);
  REQUIRE(failed(pipeline::compile(request, *library, &context, {})));
  // Variants are compiled side by side.
  CHECK(std::any_of(said.begin(), said.end(), [](const std::string &text) {
    return codegen::isCompilerBug(text) &&
           text.find("the proof of the kernel failed") != std::string::npos;
  }));
  return said;
}

} // namespace

TEST_CASE("a kernel whose tree is not the contract's is a compiler bug") {
  std::vector<std::string> said =
      saidOf("examples/sum.json", "cpu:x86-64-v3", [](mlir::ModuleOp module) {
        module.walk([](kernel::ExchangeOp op) {
          int64_t lanes =
              mlir::cast<mlir::VectorType>(op.getType()).getDimSize(0);
          op.setDistance(lanes / 2 / op.getDistance());
        });
      });
  REQUIRE(said.size() == 2);
  CHECK(said[0].find("does not keep its contract: node 'sum', row 0, extent "
                     "4096: the kernel's tree is not the contract's") !=
        std::string::npos);
}

TEST_CASE("so is a tile kernel whose consumers take the rows of another") {
  std::vector<std::string> said = saidOf(
      "qwen3-8b/linear.json", "cuda:sm_90a", [](mlir::ModuleOp module) {
        module.walk([](tile::RowsOp rows) {
          mlir::OpBuilder builder(rows);
          rows.getNumberMutable().set(mlir::arith::ConstantIntOp::create(
              builder, rows.getLoc(), 0, 32));
        });
      });
  CHECK(std::any_of(said.begin(), said.end(), [](const std::string &text) {
    return text.find("does not keep its contract: node 'dot', element [64, 0] "
                     "of 'y'") != std::string::npos;
  }));
}
