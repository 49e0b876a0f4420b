// PipelineTest.cpp - a wrong kernel does not get as far as code
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/Pipeline/Pipeline.h"
#include "codegen/Target/Target.h"
#include "dialects/Kernel/KernelDialect.h"

#include <catch2/catch.hpp>
#include <filesystem>
#include <mutex>

using namespace bitpact;

TEST_CASE("a kernel whose tree is not the contract's is a compiler bug") {
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
  request.contracts = {BITPACT_CONTRACTS "/library/examples/sum.json"};
  request.output =
      std::filesystem::temp_directory_path() / "bitpact-interpreter.pkg";
  request.targets = {"cpu:x86-64-v3"};
  request.roles = {"train"};
  request.stopAfter = pipeline::Phase::Lower;
  REQUIRE(succeeded(pipeline::compile(request, *library, &context, {})));
  request.mutateKernel = [](mlir::ModuleOp module) {
    module.walk([](kernel::ExchangeOp op) {
      int64_t lanes = mlir::cast<mlir::VectorType>(op.getType()).getDimSize(0);
      op.setDistance(lanes / 2 / op.getDistance());
    });
  };
  REQUIRE(failed(pipeline::compile(request, *library, &context, {})));
  REQUIRE(said.size() == 2);
  CHECK(said[0].find("does not keep its contract: node 'sum', row 0, extent "
                     "4096: the kernel's tree is not the contract's") !=
        std::string::npos);
  CHECK(codegen::isCompilerBug(said[1]));
  CHECK(said[1].find("the proof of the kernel failed") != std::string::npos);
}
