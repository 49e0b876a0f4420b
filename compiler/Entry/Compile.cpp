// Compile.cpp - the request "compile"
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/Entry/Compile.h"

#include "codegen/Target/Target.h"
#include "compiler/Entry/Definitions.h"
#include "compiler/Entry/DiagnosticList.h"

#include "mlir/IR/MLIRContext.h"

using namespace bitpact;
using nlohmann::json;

json entry::compile(const pipeline::CompileRequest &request,
                    const pipeline::Progress &progress) {
  mlir::DialectRegistry registry;
  pipeline::registerDialects(registry);
  // Variants are compiled side by side in one context.
  mlir::MLIRContext context(registry);
  context.loadAllAvailableDialects();
  DiagnosticList diagnostics(&context);
  auto library = reader::Library::load(definitionsDirectory(), &context);
  mlir::FailureOr<pipeline::CompileResult> result = mlir::failure();
  if (mlir::succeeded(library))
    result = pipeline::compile(request, *library, &context, progress);
  json answer = {{"status", 0}, {"diagnostics", diagnostics.list()}};
  if (mlir::succeeded(result)) {
    answer["package"] = request.stopAfter ? "" : request.output;
    answer["variants"] = result->variants;
    answer["text"] = result->text;
    answer["from_cache"] = result->fromCache;
    answer["left_out"] = json::array();
    for (const pipeline::LeftOut &one : result->leftOut)
      answer["left_out"].push_back({{"contract", one.contract},
                                    {"target", one.target},
                                    {"schedule", one.schedule}});
    return answer;
  }
  answer["status"] = 2;
  for (const json &diagnostic : diagnostics.list())
    if (codegen::isCompilerBug(diagnostic.at("message").get<std::string>()))
      answer["status"] = 70;
  return answer;
}
