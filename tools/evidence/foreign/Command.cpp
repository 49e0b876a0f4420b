// Command.cpp - the conversation with a program, in .npy files
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/evidence/foreign/Command.h"
#include "tools/evidence/TensorFile.h"
#include "tools/evidence/UserError.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <fstream>
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

void write(const std::string &file, const std::string &bytes) {
  std::ofstream stream(file, std::ios::binary | std::ios::trunc);
  stream.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  if (!stream.flush())
    throw UserError(file, "cannot be written");
}

/// At most one short line of what a program said.
std::string excerpt(const std::string &text) {
  std::string line = text.substr(0, 120);
  std::replace_if(
      line.begin(), line.end(), [](char c) { return uint8_t(c) < 32; }, ' ');
  return line + (text.size() > 120 ? "…" : "");
}

} // namespace

Command::Command(const std::string &command, const TensorSignature &given,
                 const std::map<std::string, int64_t> &dims,
                 const CommandOptions &options)
    : command(command), signature(given), options(options) {
  std::vector<std::string> known = signature.dims();
  for (const auto &[dim, extent] : dims)
    if (!std::count(known.begin(), known.end(), dim))
      throw UserError("--dim",
                      fmt::format("the signature has no dim '{}', but {}", dim,
                                  fmt::join(known, ", ")));
  auto place = [&](TensorType &tensor) {
    for (const std::string &dim : tensor.dims) {
      auto found = dims.find(dim);
      if (found == dims.end())
        throw UserError(fmt::format(
            "the extent of '{}' is needed: --dim {}=EXTENT", dim, dim));
      if (found->second < 1 || found->second > int64_t(1) << 31)
        throw UserError("--dim", fmt::format("{}={} is not in 1 … 2³¹", dim,
                                             found->second));
      tensor.shape.push_back(found->second);
    }
  };
  place(signature.output);
  for (TensorType &input : signature.inputs)
    place(input);
  folder = makeFolder();
  for (const TensorType &input : signature.inputs)
    files.push_back(folder + "/" + input.name + ".npy");
  start();
}

Command::~Command() {
  process.reset();
  std::error_code ignored;
  fs::remove_all(folder, ignored);
}

void Command::start() {
  std::string declared =
      fmt::format("{} {}(", signature.output.text(), nameOf(signature.formula));
  for (const TensorType &input : signature.inputs)
    declared += fmt::format("{}{} {}", declared.ends_with("(") ? "" : ", ",
                            input.text(), input.name);
  process = std::make_unique<Process>(
      std::vector<std::string>{"/bin/sh", "-c", command},
      Process::Environment{{"BITPACT_REVEAL", declared + ")"}});
}

void Command::fail(const std::string &message) {
  std::string said = process->errors(800);
  process->kill();
  process.reset();
  throw UserError(command,
                  fmt::format("{}; input {}{}", message, shapes(),
                              said.empty() ? "" : "; it said:\n" + said));
}

Tensor Command::read(const std::string &answer) const {
  Tensor tensor =
      readNpy(answer, signature.output.format == algebra::Format::BF16);
  TensorType found{"", tensor.format, {}, tensor.shape};
  if (found.text() != signature.output.text())
    throw UserError(command, fmt::format("answered {}, {} is declared; input "
                                         "{}",
                                         found.text(), signature.output.text(),
                                         shapes()));
  return tensor;
}

Tensor Command::one(const std::vector<Tensor> &tensors) {
  if (!process)
    start();
  std::string line;
  // What follows the first answer is waited for a little.
  double patience = answered == 1 ? 0.2 : 0;
  if (process->readLine(line, patience) == Process::Answer::Line)
    fail(fmt::format("printed a line that is no answer: '{}'; one line is "
                     "answered for each that is given, and other text goes to "
                     "standard error",
                     excerpt(line)));
  for (size_t i = 0; i < files.size(); ++i)
    write(files[i], npyBytes(tensors.at(i)));
  auto state = process->writeLine(fmt::format("{}", fmt::join(files, " ")))
                   ? process->readLine(line, options.timeout)
                   : Process::Answer::Ended;
  if (state == Process::Answer::TimedOut)
    fail(fmt::format("did not answer within {} s (--timeout sets the limit); "
                     "a program flushes each line that it prints",
                     options.timeout));
  if (state == Process::Answer::TooLong)
    fail("answered a line of more than 64 KiB");
  if (state == Process::Answer::Ended) {
    Process::Ending ending = process->ending();
    std::string why = ending.text;
    if (ending.status == 127 && !answered)
      why += ", the shell's word for a program that is not found";
    if (ending.status == 126 && !answered)
      why += ", the shell's word for a program that is not executable";
    fail(fmt::format("{} after {} answers", why, answered));
  }
  if (line.starts_with("error:"))
    fail(fmt::format("answered '{}'", excerpt(line)));
  if (!line.ends_with(".npy"))
    fail(fmt::format("answered '{}', which is no path of a .npy file; one line "
                     "is answered for each that is given, and other text goes "
                     "to standard error",
                     excerpt(line)));
  ++answered;
  return read(line);
}

std::vector<Tensor>
Command::call(const std::vector<std::vector<Tensor>> &runs) {
  std::vector<Tensor> outputs;
  outputs.reserve(runs.size());
  for (const std::vector<Tensor> &run : runs)
    outputs.push_back(one(run));
  return outputs;
}

std::vector<std::string> Command::notes() const {
  std::vector<std::string> list;
  if (std::string said = process ? process->errors(200) : ""; !said.empty())
    list.push_back(fmt::format("it said: {}", excerpt(said)));
  return list;
}

} // namespace bitpact::evidence::foreign
