// Conversation.cpp - lines to a program and back, and what can go wrong
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/evidence/foreign/Conversation.h"
#include "tools/evidence/UserError.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fmt/format.h>
#include <stdlib.h>

namespace fs = std::filesystem;

namespace bitpact::evidence::foreign {
namespace {

/// Paths go into a line that is split at spaces.
std::string makeFolder() {
  std::error_code failure;
  std::string base = fs::temp_directory_path(failure).string();
  if (failure || base.find_first_of(" \t\n") != std::string::npos)
    base = "/tmp";
  std::string pattern = base + "/bitpact-reveal-XXXXXX";
  if (!::mkdtemp(pattern.data()))
    throw UserError(base, fmt::format("cannot make a folder for tensors: {}",
                                      strerror(errno)));
  return pattern;
}

const char *OneLine = "one line is answered for each that is given, and other "
                      "text goes to standard error";

} // namespace

std::string excerpt(const std::string &text) {
  std::string line = text.substr(0, 120);
  std::replace_if(
      line.begin(), line.end(), [](char c) { return uint8_t(c) < 32; }, ' ');
  return line + (text.size() > 120 ? "…" : "");
}

Conversation::Conversation(const std::string &command,
                           const std::string &declared, double timeout)
    : commandLine(command), declared(declared), folderPath(makeFolder()),
      timeout(timeout) {
  start();
}

Conversation::~Conversation() {
  process.reset();
  std::error_code ignored;
  fs::remove_all(folderPath, ignored);
}

void Conversation::start() {
  answered = 0;
  process = std::make_unique<Process>(
      std::vector<std::string>{"/bin/sh", "-c", commandLine},
      Process::Environment{{"BITPACT_REVEAL", declared}});
}

void Conversation::fail(const std::string &message, const std::string &shapes) {
  std::string words = process->errors(800);
  process->kill();
  process.reset();
  throw UserError(commandLine,
                  fmt::format("{}; input {}{}", message, shapes,
                              words.empty() ? "" : "; it said:\n" + words));
}

std::string Conversation::ask(const std::string &line,
                              const std::string &shapes) {
  if (!process)
    start();
  std::string answer;
  // What follows the first answer is waited for a little.
  double patience = answered == 1 ? 0.2 : 0;
  if (process->readLine(answer, patience) == Process::Answer::Line)
    fail(fmt::format("printed a line that is no answer: '{}'; {}",
                     excerpt(answer), OneLine),
         shapes);
  auto state = process->writeLine(line) ? process->readLine(answer, timeout)
                                        : Process::Answer::Ended;
  if (state == Process::Answer::TimedOut)
    fail(fmt::format("did not answer within {} s (--timeout sets the limit); "
                     "a program flushes each line that it prints",
                     timeout),
         shapes);
  if (state == Process::Answer::TooLong)
    fail("answered a line of more than 64 KiB", shapes);
  if (state == Process::Answer::Ended) {
    Process::Ending ending = process->ending();
    std::string why = ending.text;
    if (ending.status == 127 && !answered)
      why += ", the shell's word for a program that is not found";
    if (ending.status == 126 && !answered)
      why += ", the shell's word for a program that is not executable";
    fail(fmt::format("{} after {} answers", why, answered), shapes);
  }
  if (answer.starts_with("error:"))
    fail(fmt::format("answered '{}'", excerpt(answer)), shapes);
  if (!answer.ends_with(".npy"))
    fail(fmt::format("answered '{}', which is no path of a .npy file; {}",
                     excerpt(answer), OneLine),
         shapes);
  ++answered;
  return answer;
}

std::string Conversation::said(size_t atMost) const {
  return process ? process->errors(atMost) : "";
}

} // namespace bitpact::evidence::foreign
