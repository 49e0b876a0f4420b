// Function.cpp - what is the same for all foreign code
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/evidence/foreign/Function.h"
#include "tools/evidence/UserError.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace bitpact::evidence::foreign {

const char *nameOf(Formula formula) {
  switch (formula) {
  case Formula::Sum:
    return "sum";
  case Formula::Max:
    return "max";
  case Formula::Dot:
    return "dot";
  case Formula::RmsNorm:
    return "rms_norm";
  }
  return "";
}

int64_t TensorType::elements() const {
  int64_t count = 1;
  for (int64_t extent : shape)
    count *= extent;
  return count;
}

int64_t TensorType::bytes() const {
  return elements() * algebra::bytes(format);
}

std::string TensorType::text() const {
  return fmt::format("{}[{}]", algebra::name(format), fmt::join(shape, ","));
}

std::string Function::shapes() const {
  std::string text;
  for (const TensorType &input : inputs())
    text += fmt::format("{}{}={}", text.empty() ? "" : " ", input.name,
                        input.text());
  return text;
}

void Function::requireDeterministic(
    const std::vector<std::vector<Tensor>> &runs) {
  std::vector<Tensor> first = call(runs), second = call(runs);
  for (size_t run = 0; run < runs.size(); ++run) {
    const auto &a = first[run].bytes, &b = second[run].bytes;
    auto differ = std::mismatch(a.begin(), a.end(), b.begin()).first;
    if (differ == a.end())
      continue;
    int64_t width = algebra::bytes(output().format);
    int64_t element = (differ - a.begin()) / width;
    auto hex = [&](const std::vector<uint8_t> &bytes) {
      std::string text;
      for (int64_t i = width; i-- > 0;)
        text += fmt::format("{:02X}", bytes[element * width + i]);
      return text;
    };
    throw UserError(
        name(), fmt::format("is not deterministic: one input, called twice, "
                            "gave element {} of the output as 0x{} and as "
                            "0x{}; input {}",
                            element, hex(a), hex(b), shapes()));
  }
}

} // namespace bitpact::evidence::foreign
