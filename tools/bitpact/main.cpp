// main.cpp - the tool: parses the command line, runs one command, maps errors
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "contracts/algebra/RuleError.h"
#include "tools/bitpact/Commands.h"
#include "tools/bitpact/Terminal.h"
#include "tools/evidence/Check.h"
#include "tools/evidence/UserError.h"
#include "tools/evidence/foreign/Worker.h"

#include <fmt/format.h>
#include <iostream>

using namespace bitpact;
using namespace bitpact::tool;
using nlohmann::json;

CLI::App *tool::addCommand(CLI::App &app, Shared &shared,
                           const std::string &name, const std::string &does,
                           const std::string &example) {
  CLI::App *command = app.add_subcommand(name, does);
  command->footer("Example:\n  " + example +
                  "\n\nExit codes: 0 holds, 1 a bit differs, 2 user error, "
                  "3 not comparable, 4 evidence incomplete, 70 compiler bug");
  command->add_flag("--json", shared.json, "Print one JSON object");
  return command;
}

namespace {

/// Messages go to stderr for people and, with --json, to stdout for programs.
int fail(const Shared &shared, int status, const json &messages) {
  printDiagnostics(messages);
  if (shared.json)
    std::cout << json{{"status", status}, {"diagnostics", messages}}.dump(2)
              << '\n';
  return status;
}

json message(const std::string &text, const std::string &where = "") {
  json one{{"severity", "error"}, {"message", text}};
  if (!where.empty())
    one["file"] = where;
  return json::array({one});
}

int runCommand(const Shared &shared, const Command &command) {
  try {
    return command.run();
  } catch (const Diagnostics &diagnostics) {
    return fail(shared, diagnostics.status, diagnostics.messages);
  } catch (const evidence::LaunchStopped &stopped) {
    return fail(shared, Differs, message(stopped.what()));
  } catch (const evidence::UserError &error) {
    return fail(shared, UserMistake, message(error.what(), error.where()));
  } catch (const algebra::RuleError &error) {
    return fail(shared, UserMistake, message(error.what()));
  } catch (const std::length_error &) { // more elements than a vector holds
    return fail(shared, UserMistake, message("out of memory"));
  } catch (const std::bad_alloc &) {
    return fail(shared, UserMistake, message("out of memory"));
  } catch (const std::exception &error) {
    return fail(shared, CompilerBug,
                message(fmt::format("internal error: {}", error.what())));
  }
}

} // namespace

int main(int argc, char **argv) {
  if (evidence::foreign::isWorker(argc, argv))
    return evidence::foreign::runWorker(argc, argv);
  CLI::App app("Bitpact compiles numerical contracts to kernels that return "
               "the same bits, and checks that they do.",
               "bitpact");
  app.require_subcommand(1);
  app.set_version_flag("--version", "bitpact " BITPACT_VERSION);
  Shared shared;
  const Command commands[] = {
      addCompile(app, shared), addCheck(app, shared),   addRun(app, shared),
      addReveal(app, shared),  addInspect(app, shared), addBench(app, shared),
      addFmt(app, shared),     addDiff(app, shared),    addAblate(app, shared),
      addGate(app, shared),    addTrace(app, shared),   addAttest(app, shared)};
  std::string names;
  bool known = argc < 2 || argv[1][0] == '-';
  for (const Command &command : commands) {
    names += " " + command.app->get_name();
    known |= argc > 1 && command.app->get_name() == argv[1];
  }
  if (!known)
    return fail(shared, UserMistake,
                message(fmt::format("unknown command '{}'; there are{}",
                                    argv[1], names)));
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success &success) {
    return app.exit(success);
  } catch (const CLI::ParseError &error) {
    return fail(shared, UserMistake, message(error.what()));
  }
  for (const Command &command : commands)
    if (command.app->parsed())
      return runCommand(shared, command);
  return UserMistake;
}
