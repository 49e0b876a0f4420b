// Compile.cpp - bitpact compile: contract files to a package
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/bitpact/CacheOption.h"
#include "tools/bitpact/Commands.h"
#include "tools/bitpact/Compiler.h"
#include "tools/bitpact/Terminal.h"
#include "tools/evidence/Runtime.h"
#include "tools/evidence/UserError.h"

#include <fmt/format.h>
#include <iostream>

using nlohmann::json;

namespace bitpact::tool {
namespace {

struct Options {
  std::vector<std::string> contracts, targets, roles{"train", "rollout"};
  std::string output, stopAfter;
  CacheOption cache;
};

void printPackage(const std::string &path) {
  evidence::Package package(path);
  Table table({"contract", "operator", "digest", "variants"});
  for (const evidence::ContractSpec &contract : package.contracts())
    table.add({contract.name, contract.op, shortDigest(contract.digest),
               std::to_string(package.variantsOf(contract).size())});
  table.print();
  fmt::print("{}: {} contracts, {} variants\n", path,
             package.contracts().size(), package.variants().size());
}

int compile(const Options &options, const Shared &shared) {
  if (options.output.empty() && options.stopAfter.empty())
    throw evidence::UserError("compile needs -o PACKAGE");
  Compiler compiler;
  json response;
  {
    ProgressLine progress;
    response = compiler.run({{"command", "compile"},
                             {"contracts", options.contracts},
                             {"output", options.output},
                             {"targets", options.targets},
                             {"roles", options.roles},
                             {"cache", options.cache.directory()},
                             {"stop_after", options.stopAfter}},
                            progress.callback());
  }
  // Warnings and notes of a compilation that succeeded.
  printDiagnostics(response.value("diagnostics", json::array()));
  if (shared.json)
    std::cout << response.dump(2) << '\n';
  else if (!options.stopAfter.empty())
    std::cout << response.value("text", "");
  else
    printPackage(options.output);
  return Holds;
}

} // namespace

Command addCompile(CLI::App &app, Shared &shared) {
  auto options = std::make_shared<Options>();
  CLI::App *command =
      addCommand(app, shared, "compile", "Compile contract files to a package",
                 "bitpact compile contracts/library/qwen3-8b/rms_norm.json "
                 "-o norm.pkg --target cpu --target cuda:sm_90a");
  command->add_option("CONTRACT", options->contracts, "Contract files")
      ->required();
  command->add_option("-o,--output", options->output,
                      "The package, a directory; a package that is there is "
                      "replaced");
  addRepeated(command, "--target", options->targets,
              "cpu, cpu:x86-64-v3, cuda:sm_90a, …; may be repeated; without "
              "it cpu, or where that lacks an atom of the contract the targets "
              "that have it");
  addRepeated(command, "--role", options->roles,
              "train, rollout, prefill, decode; may be repeated")
      ->capture_default_str();
  command->add_option("--stop-after", options->stopAfter,
                      "Print the IR after this phase, write no package");
  options->cache.addTo(*command);
  return {command, [options, &shared] { return compile(*options, shared); }};
}

} // namespace bitpact::tool
