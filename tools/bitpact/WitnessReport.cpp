// WitnessReport.cpp - a witness for people, as JSON and as files
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/bitpact/WitnessReport.h"

#include "tools/evidence/TensorFile.h"
#include "tools/evidence/UserError.h"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <fmt/ranges.h>

using bitpact::diff::Element;
using bitpact::reference::Tensor;
using nlohmann::json;

namespace bitpact::tool {
namespace {

constexpr size_t elementsShown = 12;

int64_t countOf(const Tensor &tensor) {
  int64_t count = 1;
  for (int64_t extent : tensor.shape)
    count *= extent;
  return count;
}

/// The bits that most elements have: the others are what is special.
uint64_t commonBits(const Tensor &tensor) {
  std::map<uint64_t, int64_t> counts;
  for (int64_t i = 0; i < countOf(tensor); ++i)
    ++counts[diff::elementAt(tensor, i).bits];
  auto most = std::max_element(
      counts.begin(), counts.end(),
      [](const auto &a, const auto &b) { return a.second < b.second; });
  return most->first;
}

std::vector<int64_t> coordinateOf(const Tensor &tensor, int64_t index) {
  std::vector<int64_t> coordinate(tensor.shape.size());
  for (size_t axis = coordinate.size(); axis-- > 0; index /= tensor.shape[axis])
    coordinate[axis] = index % tensor.shape[axis];
  return coordinate;
}

std::string describe(const Tensor &tensor) {
  Element common{tensor.format};
  uint64_t bits = commonBits(tensor);
  std::vector<std::string> others;
  size_t count = 0;
  for (int64_t i = 0; i < countOf(tensor); ++i) {
    Element element = diff::elementAt(tensor, i);
    if (element.bits == bits)
      common = element;
    else if (++count <= elementsShown)
      others.push_back(fmt::format("[{}] {}",
                                   fmt::join(coordinateOf(tensor, i), ", "),
                                   diff::valueText(element)));
  }
  std::string text =
      fmt::format("[{}] {}, all {}", fmt::join(tensor.shape, ", "),
                  algebra::name(tensor.format), diff::valueText(common));
  if (others.empty())
    return text;
  text += fmt::format(" but {}", fmt::join(others, ", "));
  if (count > others.size())
    text += fmt::format(" and {} more", count - others.size());
  return text;
}

std::string textOf(const Element &element) {
  return fmt::format("{} ({})", diff::valueText(element),
                     diff::bitsText(element));
}

std::string textOf(const diff::Parting &parting) {
  return fmt::format("{}[{}]: A {}, B {}", parting.name,
                     fmt::join(parting.element.coordinate, ", "),
                     textOf(parting.element.a), textOf(parting.element.b));
}

std::string triedText(const diff::WitnessSearch &search) {
  std::vector<std::string> parts;
  for (const auto &[kind, count] : search.tried)
    parts.push_back(fmt::format("{} {}", count, kind));
  return fmt::format("{}", fmt::join(parts, ", "));
}

json elementJson(const Element &element) {
  return {{"type", algebra::name(element.format)},
          {"value", diff::valueText(element)},
          {"bits", diff::bitsText(element)}};
}

json partingJson(const diff::Parting &parting) {
  return {{"name", parting.name},
          {"coordinate", parting.element.coordinate},
          {"a", elementJson(parting.element.a)},
          {"b", elementJson(parting.element.b)}};
}

json tensorJson(const Tensor &tensor) {
  uint64_t bits = commonBits(tensor);
  Element common{tensor.format, bits, 0};
  json others = json::array();
  for (int64_t i = 0; i < countOf(tensor); ++i) {
    Element element = diff::elementAt(tensor, i);
    if (element.bits == bits) {
      common = element;
      continue;
    }
    json one = elementJson(element);
    one.erase("type");
    one["coordinate"] = coordinateOf(tensor, i);
    others.push_back(std::move(one));
  }
  return {{"shape", tensor.shape},
          {"type", algebra::name(tensor.format)},
          {"all", diff::valueText(common)},
          {"but", std::move(others)}};
}

} // namespace

void printWitness(const diff::WitnessSearch &search) {
  if (!search.found) {
    fmt::print("no witness: {} inputs give the same bytes (seed {}): {}\n",
               search.total(), search.seed, triedText(search));
    return;
  }
  const diff::Witness &witness = *search.found;
  fmt::print("witness (seed {}, by {}, after {} inputs)\n", search.seed,
             witness.kind, search.total());
  for (const auto &[name, tensor] : witness.inputsA) {
    const Tensor &other = witness.inputsB.at(name);
    bool same = tensor == other;
    fmt::print("  {}{} {}\n", name, same ? "" : " of A", describe(tensor));
    if (!same)
      fmt::print("  {} of B {}\n", name, describe(other));
  }
  fmt::print("first apart at {}\n", textOf(witness.first));
  for (const auto &[name, comparison] : witness.outputs)
    fmt::print("{}; {} of {} elements differ\n",
               textOf(diff::Parting{name, *comparison.first}),
               comparison.differing, comparison.elements);
}

json toJson(const diff::WitnessSearch &search) {
  json tried = json::object();
  for (const auto &[kind, count] : search.tried)
    tried[kind] = count;
  json result{{"seed", search.seed},
              {"tried", std::move(tried)},
              {"found", search.found.has_value()}};
  if (!search.found)
    return result;
  const diff::Witness &witness = *search.found;
  json inputs = json::object(), outputs = json::object();
  for (const auto &[name, tensor] : witness.inputsA) {
    const Tensor &other = witness.inputsB.at(name);
    inputs[name] = tensor == other ? tensorJson(tensor)
                                   : json{{"a", tensorJson(tensor)},
                                          {"b", tensorJson(other)}};
  }
  for (const auto &[name, comparison] : witness.outputs) {
    outputs[name] = partingJson({name, *comparison.first});
    outputs[name]["differing"] = comparison.differing;
    outputs[name]["elements"] = comparison.elements;
  }
  result["by"] = witness.kind;
  result["dims"] = witness.extents;
  result["inputs"] = std::move(inputs);
  result["outputs"] = std::move(outputs);
  result["first"] = partingJson(witness.first);
  return result;
}

std::vector<std::string> writeWitness(const diff::Witness &witness,
                                      const std::string &directory) {
  std::error_code error;
  std::filesystem::create_directories(directory, error);
  if (error)
    throw evidence::UserError(directory, fmt::format("cannot make the "
                                                     "directory: {}",
                                                     error.message()));
  std::vector<std::pair<evidence::TensorPath, const Tensor *>> tensors;
  std::vector<std::string> files;
  auto add = [&](const std::string &name, const Tensor &tensor) {
    files.push_back(fmt::format("{}/{}.npy", directory, name));
    tensors.push_back({evidence::parseTensorPath(files.back()), &tensor});
  };
  for (const auto &[name, tensor] : witness.inputsA) {
    const Tensor &other = witness.inputsB.at(name);
    if (tensor == other) {
      add(name, tensor);
    } else {
      add(name + ".a", tensor);
      add(name + ".b", other);
    }
  }
  evidence::OutputFiles out;
  writeTensors(out, tensors);
  out.commit();
  return files;
}

} // namespace bitpact::tool
