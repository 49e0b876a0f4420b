// ForeignOptions.cpp - opens symbols and commands as they were typed
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/bitpact/ForeignOptions.h"
#include "tools/bitpact/Commands.h"
#include "tools/evidence/UserError.h"

#include <charconv>
#include <fmt/format.h>

using namespace bitpact::evidence;

namespace bitpact::tool {
namespace {

reveal::FunctionBox::Coordinate
coordinate(const std::vector<std::string> &texts) {
  reveal::FunctionBox::Coordinate at;
  for (const std::string &text : texts) {
    size_t equals = text.find('=');
    int64_t position = 0;
    const char *end = text.data() + text.size();
    bool good = equals != 0 && equals != std::string::npos;
    if (good) {
      auto [stop, error] =
          std::from_chars(text.data() + equals + 1, end, position);
      good = error == std::errc() && stop == end && position >= 0;
      if (text.substr(equals + 1) == "*") {
        good = true;
        position = reveal::FunctionBox::everywhere;
      }
    }
    if (!good)
      throw UserError(
          "--at", fmt::format("'{}' is not of the form DIM=POSITION or DIM=*",
                              text));
    at[text.substr(0, equals)] = position;
  }
  return at;
}

} // namespace

void addForeignOptions(CLI::App *command, ForeignOptions &options) {
  command->add_option("--library", options.library,
                      "A symbol of a shared library, LIBRARY:SYMBOL");
  command->add_option("--command", options.command,
                      "A program that answers paths of .npy files with one");
  command->add_option("--signature", options.signature,
                      "What it takes and computes, for instance "
                      "'f32 sum(i64 n, f32* x)', or cblas_sdot");
  addRepeated(command, "--at", options.at,
              "Which element of the output, DIM=POSITION; 0 otherwise. DIM=* "
              "asks along a dim, all of whose elements must have one tree",
              true);
  command
      ->add_option("--timeout", options.timeout,
                   "Seconds that one answer may take")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
}

ForeignSource::ForeignSource(const ForeignOptions &given)
    : options(given), at(coordinate(given.at)) {
  if (!options.library.empty() && !options.command.empty())
    throw UserError("--command", "is given beside --library; take one of them");
  if (!options.library.empty()) {
    path = foreign::parseSymbolPath(options.library);
    symbol = foreign::signatureFor(path.symbol, options.signature);
    return;
  }
  if (options.signature.empty())
    throw UserError("--command", "needs --signature, for instance 'f32[rows] "
                                 "sum(f32[rows, n] x)'");
  tensors = foreign::parseTensorSignature(options.signature);
  conversation = std::make_shared<foreign::Conversation>(
      options.command, options.signature, options.timeout);
}

bool ForeignSource::reduces(const std::string &dim) const {
  return dim == (tensors ? tensors->reduced
                         : foreign::dimsOf(symbol->operation).back());
}

std::unique_ptr<reveal::FunctionBox>
ForeignSource::open(const std::map<std::string, int64_t> &dims) const {
  std::unique_ptr<foreign::Function> function;
  if (symbol) {
    foreign::SymbolOptions how;
    how.timeout = options.timeout;
    function = std::make_unique<foreign::Symbol>(path, *symbol, dims, how);
  } else {
    function = std::make_unique<foreign::Command>(conversation, *tensors, dims);
  }
  return std::make_unique<reveal::FunctionBox>(std::move(function), at);
}

} // namespace bitpact::tool
