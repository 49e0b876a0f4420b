// Main.cpp - plants every fault and prints who caught it
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tests/faults/Trial.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fmt/format.h>

using namespace bitpact::faults;

namespace {

class Table {
public:
  /// With words, only the faults whose names contain one of them.
  explicit Table(std::vector<std::string> words) : words(std::move(words)) {}

  template <typename Fault>
  void add(Trials &trials, const Fault &fault, Stage stage) {
    if (!words.empty() &&
        std::none_of(words.begin(), words.end(), [&](const std::string &word) {
          return fault.name.find(word) != fault.name.npos;
        }))
      return;
    Outcome outcome = trials.run(fault);
    std::string by = nameOf(fault.detector);
    if (outcome.kind == Outcome::Missed)
      by = "MISSED";
    else if (outcome.kind == Outcome::NotRun)
      by = "not run";
    fmt::print("{:<47} {:<8} {:<12} {:<13} {:<32} {}\n", fault.name,
               nameOf(stage), by, outcome.without, outcome.where,
               outcome.message.substr(0, 400));
    std::fflush(stdout);
    missed += outcome.kind == Outcome::Missed;
    notRun += outcome.kind == Outcome::NotRun;
    if (outcome.kind == Outcome::Caught)
      ++(fault.detector == Detector::Nobody ? controls
                                            : caught[fault.detector]);
  }

  int finish() const {
    int all = 0;
    std::string by;
    for (const auto &[detector, count] : caught) {
      all += count;
      by += fmt::format("{}{} {}", by.empty() ? "" : ", ", nameOf(detector),
                        count);
    }
    fmt::print("{} faults caught ({}), {} missed, {} not run; {} changes that "
               "are no faults passed\n",
               all, by, missed, notRun, controls);
    return missed || !all ? 1 : 0;
  }

private:
  std::vector<std::string> words;
  std::map<Detector, int> caught;
  int missed = 0, notRun = 0, controls = 0;
};

} // namespace

/// faults [--keep DIRECTORY] [WORD...]: all faults, or those with such a word
/// in their name. Packages for devices that are not here are left in DIRECTORY.
int main(int argc, char **argv) {
  std::vector<std::string> words(argv + 1, argv + argc);
  std::string keep;
  if (words.size() > 1 && words[0] == "--keep") {
    keep = words[1];
    words.erase(words.begin(), words.begin() + 2);
  }
  std::string scratch =
      (std::filesystem::temp_directory_path() / "bitpact-faults-XXXXXX")
          .string();
  if (!mkdtemp(scratch.data())) {
    fmt::print(stderr, "error: no directory {}\n", scratch);
    return 70;
  }
  Trials trials(scratch, keep);
  Table table(words);
  fmt::print("{:<47} {:<8} {:<12} {:<13} {:<32} {}\n", "fault", "planted in",
             "caught by", "unproved", "site", "message");
  for (const auto &mutations :
       {kernelMutations(), stateMutations(), tileMutations(), codeMutations(),
        meetingMutations()})
    for (const Mutation &mutation : mutations)
      table.add(trials, mutation, mutation.stage);
  for (const auto &mutations : {packageMutations(), pinMutations()})
    for (const PackageMutation &mutation : mutations)
      table.add(trials, mutation, Stage::Package);
  std::error_code ignored;
  std::filesystem::remove_all(scratch, ignored);
  return table.finish();
}
