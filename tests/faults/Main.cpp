// Main.cpp - plants every fault and prints who caught it
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tests/faults/Trial.h"

#include <cstdlib>
#include <filesystem>
#include <fmt/format.h>

using namespace bitpact::faults;

/// With arguments, only the faults whose names contain one of them.
int main(int argc, char **argv) {
  auto wanted = [&](const std::string &name) {
    for (int i = 1; i < argc; ++i)
      if (name.find(argv[i]) != name.npos)
        return true;
    return argc == 1;
  };
  std::string scratch =
      (std::filesystem::temp_directory_path() / "bitpact-faults-XXXXXX")
          .string();
  if (!mkdtemp(scratch.data())) {
    fmt::print(stderr, "error: no directory {}\n", scratch);
    return 70;
  }
  Trials trials(scratch);
  int planted = 0, caught = 0, missed = 0;
  fmt::print("{:<27} {:<9} {}\n", "fault", "caught by", "message");
  for (const Mutation &mutation : mutations()) {
    if (!wanted(mutation.name))
      continue;
    Outcome outcome = trials.run(mutation);
    const char *by = mutation.detector == Detector::Check ? "check" : "lint";
    if (outcome.kind == Outcome::Missed)
      by = "NOBODY";
    else if (outcome.kind == Outcome::NotRun)
      by = "not run";
    fmt::print("{:<27} {:<9} {}\n", mutation.name, by, outcome.message);
    std::fflush(stdout);
    ++planted;
    caught += outcome.kind == Outcome::Caught;
    missed += outcome.kind == Outcome::Missed;
  }
  std::error_code ignored;
  std::filesystem::remove_all(scratch, ignored);
  fmt::print("{} of {} faults caught, {} missed\n", caught, planted, missed);
  return missed || !planted ? 1 : 0;
}
