// Fmt.cpp - bitpact fmt: the canonical layout of a contract file
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/bitpact/Commands.h"
#include "tools/bitpact/Compiler.h"
#include "tools/evidence/OutputFiles.h"
#include "tools/evidence/UserError.h"

#include <fmt/format.h>
#include <fstream>
#include <iostream>
#include <sstream>

using nlohmann::json;

namespace bitpact::tool {
namespace {

struct Options {
  std::string contract;
  bool inPlace = false, check = false;
};

std::string contentsOf(const std::string &file) {
  std::ifstream stream(file, std::ios::binary);
  std::ostringstream text;
  text << stream.rdbuf();
  if (!stream)
    throw evidence::UserError(file, "cannot read the file");
  return text.str();
}

int format(const Options &options, const Shared &shared) {
  json response =
      Compiler().run({{"command", "format"}, {"contract", options.contract}},
                     [](const std::string &, int64_t, int64_t) {});
  auto text = response.at("text").get<std::string>();
  bool same = contentsOf(options.contract) == text;
  if (options.inPlace && !same) {
    evidence::OutputFiles files;
    files.write(options.contract, text);
    files.commit();
  }
  if (shared.json)
    std::cout << json{{"status", options.check && !same ? Differs : Holds},
                      {"contract", options.contract},
                      {"changed", !same},
                      {"text", text}}
                     .dump(2)
              << '\n';
  else if (options.check)
    fmt::print("{}: {}\n", options.contract,
               same ? "in canonical layout" : "not in canonical layout");
  else if (!options.inPlace)
    std::cout << text;
  return options.check && !same ? Differs : Holds;
}

} // namespace

Command addFmt(CLI::App &app, Shared &shared) {
  auto options = std::make_shared<Options>();
  CLI::App *command = addCommand(app, shared, "fmt",
                                 "Print a contract file in canonical layout",
                                 "bitpact fmt -i my_norm.json");
  command->add_option("CONTRACT", options->contract, "A contract file")
      ->required();
  CLI::Option *inPlace =
      command->add_flag("-i,--in-place", options->inPlace, "Rewrite the file");
  command
      ->add_flag("--check", options->check,
                 "Only tell; exit code 1 if the layout differs")
      ->excludes(inPlace);
  return {command, [options, &shared] { return format(*options, shared); }};
}

} // namespace bitpact::tool
