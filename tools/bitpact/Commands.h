// Commands.h - what every command of the tool shares, and how one is added
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef BITPACT_TOOL_COMMANDS_H
#define BITPACT_TOOL_COMMANDS_H

#include <CLI/CLI.hpp>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace bitpact::tool {

/// One table for all commands.
enum ExitCode {
  Holds = 0,
  Differs = 1,
  UserMistake = 2,
  NotComparable = 3,
  Incomplete = 4,
  CompilerBug = 70,
};

/// A command that failed with messages of its own, for instance the
/// compiler's diagnostics.
struct Diagnostics {
  int status;
  nlohmann::json messages;
};

/// A command fills its options in when it is added and runs later.
struct Command {
  CLI::App *app = nullptr;
  /// Returns an exit code; user errors are thrown.
  std::function<int()> run;
};

struct Shared {
  /// Print one JSON object on stdout.
  bool json = false;
};

Command addCompile(CLI::App &app, Shared &shared);
Command addCheck(CLI::App &app, Shared &shared);
Command addRun(CLI::App &app, Shared &shared);
Command addReveal(CLI::App &app, Shared &shared);
Command addInspect(CLI::App &app, Shared &shared);
Command addBench(CLI::App &app, Shared &shared);
Command addFmt(CLI::App &app, Shared &shared);
Command addAttest(CLI::App &app, Shared &shared);
Command addAblate(CLI::App &app, Shared &shared);
Command addDiff(CLI::App &app, Shared &shared);
Command addGate(CLI::App &app, Shared &shared);
Command addTrace(CLI::App &app, Shared &shared);

/// An option that may be repeated; each time it takes one value (or a list with
/// commas), so that it does not swallow what follows.
template <typename T>
CLI::Option *addRepeated(CLI::App *command, const std::string &name,
                         std::vector<T> &values, const std::string &does,
                         bool commas = false) {
  CLI::Option *option = command->add_option(name, values, does);
  option->allow_extra_args(false);
  return commas ? option->delimiter(',') : option;
}

/// A subcommand with --json, a description and an example in its help.
CLI::App *addCommand(CLI::App &app, Shared &shared, const std::string &name,
                     const std::string &does, const std::string &example);

} // namespace bitpact::tool

#endif // BITPACT_TOOL_COMMANDS_H
