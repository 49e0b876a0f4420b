// TensorSignature.cpp - reads what a command is declared to compute
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/evidence/foreign/Command.h"
#include "tools/evidence/foreign/Scanner.h"

#include <algorithm>
#include <cctype>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace bitpact::evidence::foreign {
namespace {

class Parser : Scanner {
public:
  explicit Parser(std::string_view text)
      : Scanner(text, "_", "; for instance 'f32[rows] sum(f32[rows, n] x)'") {}

  TensorSignature parse() {
    TensorSignature signature;
    signature.text = std::string(text);
    signature.output = type();
    signature.formula = formula();
    expect('(');
    do {
      TensorType input = type();
      input.name = word("the name of an input");
      for (const TensorType &other : signature.inputs)
        if (other.name == input.name)
          fail(fmt::format("two inputs '{}'", input.name));
      signature.inputs.push_back(input);
    } while (accept(','));
    expect(')');
    skip();
    if (at < text.size())
      fail("text after the signature");
    signature.output.name = "output";
    check(signature);
    return signature;
  }

private:
  TensorType type() {
    TensorType type;
    std::string name = word("a type");
    auto format = algebra::parseFormat(name);
    if (!format || !algebra::isFloat(*format))
      fail(fmt::format("type '{}'; there are {}", name,
                       algebra::floatFormatNames()));
    type.format = *format;
    if (!accept('['))
      return type;
    if (accept(']'))
      return type;
    do {
      std::string dim = word("the name of a dim");
      if (std::isdigit(uint8_t(dim[0])))
        fail(fmt::format("dim '{}' is no name; --dim NAME=EXTENT gives extents",
                         dim));
      if (std::count(type.dims.begin(), type.dims.end(), dim))
        fail(fmt::format("dim '{}' twice in one tensor", dim));
      type.dims.push_back(dim);
    } while (accept(','));
    expect(']');
    return type;
  }

  Formula formula() {
    std::string name = word("what is computed");
    for (Formula one :
         {Formula::Sum, Formula::Max, Formula::Dot, Formula::RmsNorm})
      if (name == nameOf(one))
        return one;
    fail(fmt::format("formula '{}'; there are sum, max, dot and rms_norm",
                     name));
  }

  void check(TensorSignature &signature) {
    const auto &inputs = signature.inputs;
    const auto &kept = signature.output.dims;
    bool norm = signature.formula == Formula::RmsNorm;
    size_t needed = signature.formula == Formula::Dot ? 2 : 1;
    size_t most = needed + norm;
    if (inputs.size() < needed || inputs.size() > most)
      fail(fmt::format("{} has {} inputs, not {}", nameOf(signature.formula),
                       most == needed ? fmt::to_string(needed) : "1 or 2",
                       inputs.size()));
    for (const std::string &dim : kept)
      if (std::none_of(inputs.begin(), inputs.end(), [&](const auto &input) {
            return std::count(input.dims.begin(), input.dims.end(), dim);
          }))
        fail(fmt::format("no input has the output's dim '{}'", dim));
    if (norm) {
      if (inputs[0].dims.empty() || inputs[0].dims != kept)
        fail("the output of rms_norm has the dims of its first input");
      signature.reduced = kept.back();
      if (inputs.size() == 2 &&
          inputs[1].dims != std::vector<std::string>{signature.reduced})
        fail(fmt::format("the weight has one dim, '{}'", signature.reduced));
      return;
    }
    std::vector<std::string> reduced;
    for (const std::string &dim : signature.dims())
      if (!std::count(kept.begin(), kept.end(), dim))
        reduced.push_back(dim);
    if (reduced.size() != 1)
      fail(fmt::format("one dim is reduced, the one that the output lacks; "
                       "here {}",
                       reduced.empty() ? "there is none"
                                       : fmt::format("there are {}",
                                                     fmt::join(reduced, " "))));
    signature.reduced = reduced[0];
    for (const TensorType &input : inputs)
      if (!std::count(input.dims.begin(), input.dims.end(), reduced[0]))
        fail(fmt::format("input '{}' lacks the reduced dim '{}'", input.name,
                         reduced[0]));
    if (inputs.size() == 2 && inputs[0].format != inputs[1].format)
      fail("the two inputs of a dot have one type");
  }
};

} // namespace

std::vector<std::string> TensorSignature::dims() const {
  std::vector<std::string> all;
  auto add = [&](const TensorType &tensor) {
    for (const std::string &dim : tensor.dims)
      if (!std::count(all.begin(), all.end(), dim))
        all.push_back(dim);
  };
  add(output);
  for (const TensorType &input : inputs)
    add(input);
  return all;
}

TensorSignature parseTensorSignature(std::string_view text) {
  return Parser(text).parse();
}

} // namespace bitpact::evidence::foreign
