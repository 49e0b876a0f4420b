// Trial.cpp - one compilation, with or without a fault, and who noticed
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tests/faults/Trial.h"

#include "codegen/Targets.h"
#include "compiler/Pipeline/Pipeline.h"
#include "mlir/IR/SymbolTable.h"

#include <filesystem>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <fstream>
#include <mutex>
#include <nlohmann/json.hpp>
#include <sys/wait.h>

using namespace bitpact;
using namespace bitpact::faults;
using nlohmann::json;

namespace {

bool runsHere(const codegen::Target &target) {
  return target.kind() == codegen::TargetKind::Cpu &&
         __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
}

/// The name of the only kernel of a variant's module, before and after
/// conversion.
std::string kernelOf(mlir::ModuleOp module) {
  std::string name;
  for (mlir::Operation &op : *module.getBody())
    if (auto symbol = op.getAttrOfType<mlir::StringAttr>(
            mlir::SymbolTable::getSymbolAttrName());
        symbol && op.getNumRegions() && !op.getRegion(0).empty())
      name = symbol.str();
  return name;
}

std::string quoted(const std::string &path) { return "'" + path + "'"; }

} // namespace

Trials::Compiled Trials::compile(const std::string &contract,
                                 const std::string &target,
                                 const Mutation *mutation) {
  Compiled result;
  result.package = fmt::format("{}/{}.pkg", scratch, packages++);
  mlir::DialectRegistry registry;
  pipeline::registerDialects(registry);
  mlir::MLIRContext context(registry);
  context.loadAllAvailableDialects();
  std::mutex guard;
  mlir::ScopedDiagnosticHandler handler(&context, [&](mlir::Diagnostic &what) {
    std::lock_guard<std::mutex> lock(guard);
    result.said += what.str() + "\n";
  });
  auto library = reader::Library::load(BITPACT_CONTRACTS, &context);
  if (failed(library))
    return result;
  pipeline::CompileRequest request;
  request.contracts = {BITPACT_FAULT_CONTRACTS "/" + contract + ".json"};
  request.output = result.package;
  request.targets = {target};
  request.roles = {"train", "rollout"};
  // The proof would be the first to meet a wrong kernel; these faults are for
  // what comes after it.
  request.proveKernels = !mutation;
  if (mutation) {
    auto hook = [&](mlir::ModuleOp module) {
      int places = mutation->apply(module);
      std::lock_guard<std::mutex> lock(guard);
      if (places)
        result.changed[kernelOf(module)] += places;
    };
    (mutation->stage == Stage::Kernel ? request.mutateKernel
                                      : request.mutateLLVM) = hook;
  }
  result.succeeded =
      succeeded(pipeline::compile(request, *library, &context, {}));
  return result;
}

Trials::Checked Trials::check(const std::string &package) {
  Checked result;
  std::string command = quoted(BITPACT_TOOL) + " check " + quoted(package) +
                        " --device cpu --rows 1,3 --repeat 1 --json 2>&1";
  FILE *pipe = popen(command.c_str(), "r");
  std::string text;
  char buffer[4096];
  while (size_t n = pipe ? fread(buffer, 1, sizeof buffer, pipe) : 0)
    text.append(buffer, n);
  int ended = pipe ? pclose(pipe) : -1;
  result.status = WIFEXITED(ended) ? WEXITSTATUS(ended) : -1;
  json report = json::parse(text, nullptr, false);
  if (!report.is_object() || !report.contains("variants")) {
    result.said = text;
    return result;
  }
  std::map<std::string, std::string> entries;
  json manifest = json::parse(std::ifstream(package + "/manifest.json"));
  for (const json &variant : manifest.at("variants"))
    entries[variant.at("id")] = variant.at("entry");
  for (const json &variant : report.at("variants")) {
    const json &first = variant.at("first");
    if (first.is_null())
      continue;
    std::string id = variant.at("variant");
    std::string where;
    for (const auto &[dim, extent] : first.at("dims").items())
      where += fmt::format(" {}={}", dim, extent.get<int64_t>());
    result.differences[entries.at(id)] = fmt::format(
        "{}: {}[{}] expected {}, got {} ({}{})", id,
        first.at("tensor").get<std::string>(),
        fmt::join(first.at("coordinate").get<std::vector<int64_t>>(), ", "),
        first.at("expected").get<std::string>(),
        first.at("actual").get<std::string>(),
        first.at("recipe").get<std::string>(), where);
  }
  return result;
}

std::string &Trials::clean(const std::string &contract,
                           const std::string &target) {
  auto [known, isNew] = cleanRuns.try_emplace(contract + " for " + target);
  if (!isNew)
    return known->second;
  Compiled compiled = compile(contract, target, nullptr);
  if (!compiled.succeeded)
    return known->second = "without the fault: " + compiled.said;
  if (!runsHere(*codegen::builtinTargets().find(target)))
    return known->second;
  Checked checked = check(compiled.package);
  if (checked.status != 0)
    known->second = fmt::format("without the fault: check ends with {} {}",
                                checked.status, checked.said);
  return known->second;
}

Outcome Trials::run(const Mutation &mutation) {
  const codegen::Target *target =
      codegen::builtinTargets().find(mutation.target);
  if (!target)
    return {Outcome::Missed, "there is no target " + mutation.target};
  if (!target->isUsable({}))
    return {Outcome::NotRun, "no assembler for " + mutation.target};
  if (mutation.detector == Detector::Check && !runsHere(*target))
    return {Outcome::NotRun, "this machine does not run " + mutation.target};
  if (const std::string &why = clean(mutation.contract, mutation.target);
      !why.empty())
    return {Outcome::Missed, why};

  Compiled compiled = compile(mutation.contract, mutation.target, &mutation);
  if (compiled.changed.empty())
    return {Outcome::Missed, "the mutation changes nothing: " + compiled.said};
  std::string message;
  if (mutation.detector == Detector::Lint) {
    if (compiled.succeeded)
      return {Outcome::Missed, "the compiler made a package of it"};
    if (std::filesystem::exists(compiled.package))
      return {Outcome::Missed, "a package was left behind"};
    message = compiled.said;
  } else {
    if (!compiled.succeeded)
      return {Outcome::Missed, "the compiler refuses it: " + compiled.said};
    Checked checked = check(compiled.package);
    if (checked.status != 1)
      return {Outcome::Missed, fmt::format("check ends with {} {}",
                                           checked.status, checked.said)};
    // The variants that were changed, and no others.
    for (const auto &[kernel, places] : compiled.changed)
      if (!checked.differences.count(kernel))
        return {Outcome::Missed, kernel + " was changed and does not differ"};
    for (const auto &[kernel, text] : checked.differences) {
      if (!compiled.changed.count(kernel))
        return {Outcome::Missed, "differs and was not changed: " + text};
      message += text + "\n";
    }
  }
  // All that must be said, in one line.
  for (size_t at = 0, end; at < message.size(); at = end + 1) {
    end = std::min(message.find('\n', at), message.size());
    std::string line = message.substr(at, end - at);
    bool all = true;
    for (const std::string &text : mutation.says)
      all &= line.find(text) != line.npos;
    if (all)
      return {Outcome::Caught, line};
  }
  return {Outcome::Missed,
          fmt::format("no line says {}: {}", fmt::join(mutation.says, " and "),
                      message)};
}
