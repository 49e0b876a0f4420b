// Run.cpp - bitpact run: launches a kernel on tensors from files
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/bitpact/Commands.h"
#include "tools/bitpact/RowOptions.h"
#include "tools/bitpact/Terminal.h"
#include "tools/evidence/Launch.h"
#include "tools/evidence/TensorFile.h"
#include "tools/evidence/UserError.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <iostream>

using namespace bitpact::evidence;
using nlohmann::json;

namespace bitpact::tool {
namespace {

struct Options {
  std::string package, op, contract, role = "train", device = "cpu", variant,
                                     record;
  std::vector<std::string> inputs, outputs;
  RowOptions rows;
};

/// `x=FILE` for every input, or every output, of the contract.
std::map<std::string, TensorPath>
bindPaths(const ContractSpec &contract, bool output,
          const std::vector<std::string> &options) {
  const char *kind = output ? "output" : "input";
  std::vector<std::string> names, missing;
  for (const TensorSpec &spec : contract.tensors)
    if (spec.output == output)
      names.push_back(spec.name);
  std::map<std::string, TensorPath> paths;
  for (const std::string &option : options) {
    size_t equals = option.find('=');
    if (equals == option.npos || equals == 0)
      throw UserError(
          fmt::format("--{} '{}' is not of the form NAME=FILE", kind, option));
    std::string name = option.substr(0, equals);
    if (std::find(names.begin(), names.end(), name) == names.end())
      throw UserError(fmt::format("--{} '{}': {} has no {} '{}'; it has {}",
                                  kind, option, contract.op, kind, name,
                                  fmt::join(names, ", ")));
    TensorPath path = parseTensorPath(option.substr(equals + 1));
    if (output && path.key.empty())
      path.key = name;
    if (!paths.emplace(name, path).second)
      throw UserError(fmt::format("{} '{}' is given twice", kind, name));
  }
  for (const std::string &name : names)
    if (!paths.count(name))
      missing.push_back(fmt::format("--{} {}=FILE", kind, name));
  if (!missing.empty())
    throw UserError(fmt::format("missing: {}", fmt::join(missing, ", ")));
  return paths;
}

std::string drainRecords() {
  std::string lines;
  require(bitpact_records_drain(
      [](void *context, const char *line) {
        *static_cast<std::string *>(context) += std::string(line) + '\n';
      },
      &lines, nullptr));
  return lines;
}

int run(const Options &options, const Shared &shared) {
  options.rows.check(options.record);
  Package package(options.package);
  const ContractSpec &contract =
      chooseContract(package, options.op, options.contract);
  std::map<std::string, TensorPath> inputs =
      bindPaths(contract, false, options.inputs);
  std::map<std::string, TensorPath> outputs =
      bindPaths(contract, true, options.outputs);

  LaunchRequest request;
  request.package = &package;
  request.contract = &contract;
  request.role = options.role;
  request.device = options.device;
  request.variant = options.variant;
  for (const auto &[name, path] : inputs)
    request.inputs[name] = readTensor(path);
  LaunchResult result = launch(request);

  std::vector<std::pair<TensorPath, const Tensor *>> written;
  for (const auto &[name, path] : outputs)
    written.emplace_back(path, &result.outputs.at(name));
  OutputFiles files;
  std::vector<std::string> notes = writeTensors(files, written);
  if (!options.record.empty()) {
    std::string lines = drainRecords();
    if (options.rows.wanted())
      lines += options.rows.lines(result, contract, options.device,
                                  options.record, files, notes);
    files.append(options.record, lines);
  }
  files.commit();

  if (shared.json) {
    json list = json::object();
    for (const auto &[name, path] : outputs)
      list[name] = {{"file", path.file},
                    {"shape", result.outputs.at(name).shape},
                    {"type", algebra::name(result.outputs.at(name).format)}};
    std::cout << json{{"status", Holds},       {"contract", contract.digest},
                      {"name", contract.name}, {"variant", result.variant->id},
                      {"role", options.role},  {"device", options.device},
                      {"dims", result.dims},   {"outputs", list},
                      {"notes", notes}}
                     .dump(2)
              << '\n';
    return Holds;
  }
  fmt::print("{} ({}) ran as {} on {}\n", contract.name,
             shortDigest(contract.digest), result.variant->id, options.device);
  for (const auto &[name, path] : outputs)
    fmt::print("{} [{}] {} -> {}\n", name,
               fmt::join(result.outputs.at(name).shape, ", "),
               algebra::name(result.outputs.at(name).format), path.file);
  for (const std::string &note : notes)
    fmt::print(stderr, "note: {}\n", note);
  return Holds;
}

} // namespace

Command addRun(CLI::App &app, Shared &shared) {
  auto options = std::make_shared<Options>();
  CLI::App *command = addCommand(
      app, shared, "run", "Launch a kernel on tensors from files",
      "bitpact run norm.pkg --op rms_norm --role rollout --device cuda:0 "
      "--input x=acts.safetensors:layer0 --input weight=w.npy:bf16 "
      "--output y=y.safetensors --record run.jsonl");
  command->add_option("PACKAGE", options->package, "A package")->required();
  command->add_option("--op", options->op, "An operator, as rms_norm")
      ->required();
  command->add_option("--contract", options->contract,
                      "A digest prefix or a name, if several contracts fit");
  command->add_option("--role", options->role, "What the launch is for")
      ->check(CLI::IsMember({"train", "rollout", "prefill", "decode"}))
      ->capture_default_str();
  command->add_option("--device", options->device, "cpu, cuda:0, …")
      ->capture_default_str();
  command->add_option("--variant", options->variant,
                      "Only this variant; else the best one that fits");
  addRepeated(command, "--input", options->inputs,
              "NAME=FILE.npy, NAME=FILE.npy:bf16 or "
              "NAME=FILE.safetensors:TENSOR");
  addRepeated(command, "--output", options->outputs,
              "NAME=FILE.npy or NAME=FILE.safetensors[:TENSOR]");
  command->add_option(
      "--record", options->record,
      "Add the launch's record, one line of JSON, to this file");
  options->rows.addTo(command);
  return {command, [options, &shared] { return run(*options, shared); }};
}

} // namespace bitpact::tool
