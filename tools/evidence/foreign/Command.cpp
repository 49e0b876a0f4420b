// Command.cpp - the conversation with a program, in .npy files
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/evidence/foreign/Command.h"
#include "tools/evidence/TensorFile.h"
#include "tools/evidence/UserError.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <fstream>

namespace bitpact::evidence::foreign {
namespace {

void write(const std::string &file, const std::string &bytes) {
  std::ofstream stream(file, std::ios::binary | std::ios::trunc);
  stream.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  if (!stream.flush())
    throw UserError(file, "cannot be written");
}

} // namespace

Command::Command(std::shared_ptr<Conversation> with,
                 const TensorSignature &given,
                 const std::map<std::string, int64_t> &dims)
    : conversation(std::move(with)), signature(given) {
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
  for (const TensorType &input : signature.inputs)
    files.push_back(conversation->folder() + "/" + input.name + ".npy");
}

Tensor Command::read(const std::string &answer) const {
  Tensor tensor =
      readNpy(answer, signature.output.format == algebra::Format::BF16);
  TensorType found{"", tensor.format, {}, tensor.shape};
  if (found.text() != signature.output.text())
    throw UserError(name(), fmt::format("answered {}, {} is declared; input "
                                        "{}",
                                        found.text(), signature.output.text(),
                                        shapes()));
  return tensor;
}

Tensor Command::one(const std::vector<Tensor> &tensors) {
  for (size_t i = 0; i < files.size(); ++i)
    write(files[i], npyBytes(tensors.at(i)));
  return read(
      conversation->ask(fmt::format("{}", fmt::join(files, " ")), shapes()));
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
  if (std::string said = conversation->said(200); !said.empty())
    list.push_back(fmt::format("it said: {}", excerpt(lastLine(said))));
  return list;
}

} // namespace bitpact::evidence::foreign
