// Entry.cpp - the three C functions, and which request goes where
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/include/bitpact_compiler.h"

#include "compiler/Entry/Compile.h"
#include "compiler/Entry/Definitions.h"
#include "compiler/Entry/DiagnosticList.h"
#include "compiler/Reader/Layout.h"
#include "compiler/Reader/Reader.h"
#include "contracts/algebra/RuleError.h"

#include "mlir/IR/MLIRContext.h"

#include <cstdlib>
#include <cstring>

using namespace bitpact;
using nlohmann::json;

namespace {

constexpr int done = 0, userError = 2, compilerDefect = 70;

/// What the request itself got wrong.
struct RequestError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

std::string textOf(const json &request, const char *key) {
  auto found = request.find(key);
  if (found == request.end() || !found->is_string())
    throw RequestError(std::string("the request needs a string '") + key + "'");
  return *found;
}

std::vector<std::string> textsOf(const json &request, const char *key) {
  auto found = request.find(key);
  std::vector<std::string> texts;
  bool good = found != request.end() && found->is_array() && !found->empty();
  if (good)
    for (const json &each : *found) {
      good &= each.is_string();
      texts.push_back(good ? each.get<std::string>() : "");
    }
  if (!good)
    throw RequestError(std::string("the request needs a list of strings '") +
                       key + "'");
  return texts;
}

json expand(const json &request, bitpact_compiler_progress progress,
            void *progressContext) {
  std::vector<std::string> paths = textsOf(request, "contracts");
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  entry::DiagnosticList diagnostics(&context);
  json contracts = json::array();
  auto library = reader::Library::load(entry::definitionsDirectory(), &context);
  bool ok = mlir::succeeded(library);
  for (size_t i = 0; mlir::succeeded(library) && i < paths.size(); ++i) {
    if (progress)
      progress(progressContext, paths[i].c_str(), i, paths.size());
    auto result = reader::readContract(paths[i], *library, &context);
    ok &= mlir::succeeded(result);
    if (mlir::succeeded(result))
      contracts.push_back({{"path", paths[i]},
                           {"canonical", result->canonical},
                           {"digest", result->digest}});
  }
  return {{"status", ok ? done : userError},
          {"diagnostics", diagnostics.list()},
          {"contracts", contracts}};
}

json format(const json &request) {
  std::string path = textOf(request, "contract");
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  entry::DiagnosticList diagnostics(&context);
  auto document = reader::readDocument(
      path, mlir::FileLineColLoc::get(&context, path, 0, 0));
  if (mlir::failed(document))
    return {{"status", userError}, {"diagnostics", diagnostics.list()}};
  return {{"status", done},
          {"diagnostics", diagnostics.list()},
          {"text", reader::layoutDocument(*document)}};
}

pipeline::CompileRequest compileRequest(const json &request) {
  pipeline::CompileRequest result;
  result.contracts = textsOf(request, "contracts");
  // None, or an empty list: the compiler chooses.
  if (auto targets = request.find("targets");
      targets != request.end() && *targets != json::array())
    result.targets = textsOf(request, "targets");
  result.roles = textsOf(request, "roles");
  for (const std::string &role : result.roles)
    if (role != "train" && role != "rollout" && role != "prefill" &&
        role != "decode")
      throw RequestError("role '" + role +
                         "' is none of train, rollout, prefill, decode");
  result.cache = request.value("cache", "");
  std::string phase = request.value("stop_after", "");
  if (phase.empty()) {
    result.output = textOf(request, "output");
  } else {
    result.stopAfter = pipeline::parsePhase(phase);
    if (!result.stopAfter)
      throw RequestError("stop-after '" + phase + "' is no phase; there are " +
                         pipeline::phaseNames());
    if (*result.stopAfter == pipeline::Phase::Package) {
      result.output = textOf(request, "output");
      result.stopAfter.reset();
    }
  }
  return result;
}

json answer(const char *text, bitpact_compiler_progress progress,
            void *context) {
  json request = json::parse(text ? text : "", nullptr, false);
  if (!request.is_object())
    throw RequestError("the request is no JSON object");
  std::string command = textOf(request, "command");
  if (command == "expand")
    return expand(request, progress, context);
  if (command == "format")
    return format(request);
  if (command == "compile")
    return entry::compile(compileRequest(request),
                          [=](const std::string &what, int done, int total) {
                            if (progress)
                              progress(context, what.c_str(), done, total);
                          });
  throw RequestError("unknown command '" + command +
                     "'; there are expand, format and compile");
}

json failed(int status, const std::string &message) {
  return {{"status", status},
          {"diagnostics", json::array({entry::plainError(message)})}};
}

} // namespace

char *bitpact_compiler_run(const char *request_json,
                           bitpact_compiler_progress progress, void *context) {
  json result;
  try {
    result = answer(request_json, progress, context);
  } catch (const RequestError &error) {
    result = failed(userError, error.what());
  } catch (const algebra::RuleError &error) {
    result = failed(userError, error.what());
  } catch (const std::exception &error) {
    result = failed(compilerDefect,
                    std::string("defect of the compiler: ") + error.what());
  }
  // Names of files need not be UTF-8; the answer is.
  std::string text =
      result.dump(-1, ' ', false, json::error_handler_t::replace);
  return strdup(text.c_str());
}

void bitpact_compiler_free(char *answer) { std::free(answer); }

int bitpact_compiler_abi(void) { return BITPACT_COMPILER_ABI; }
