// Fixture.cpp - packages of the field contracts, and launches of every variant
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tests/field/Fixture.h"

#include "tools/evidence/Data.h"

#include <catch2/catch.hpp>
#include <cstring>

using namespace bitpact;
using namespace bitpact::field;

const evidence::Device &field::cpu() {
  static evidence::Device device("cpu");
  return device;
}

Compiled::Compiled(const std::vector<std::string> &contracts) {
  std::string command = "'" BITPACT_TOOL "' compile";
  for (const std::string &name : contracts)
    command += " '" BITPACT_FIELD_CONTRACTS "/" + name + ".json'";
  command += " -o '" + directory.file("p") +
             "' --target cpu --role train --role rollout >" +
             directory.file("log");
  REQUIRE(std::system(command.c_str()) == 0);
  opened = std::make_unique<evidence::Package>(directory.file("p"));
}

const ContractSpec &Compiled::contract(const std::string &name) const {
  return *evidence::chooseContracts(*opened, "field/" + name).at(0);
}

std::vector<const VariantSpec *>
Compiled::variants(const ContractSpec &contract) const {
  std::vector<const VariantSpec *> here;
  for (const VariantSpec *variant : opened->variantsOf(contract))
    if (cpu().runs(*variant))
      here.push_back(variant);
  REQUIRE(here.size() >= 2);
  REQUIRE(here[0]->schedule != here[1]->schedule);
  return here;
}

Arena::Arena(const ContractSpec &spec, const Tensors &inputs,
             const evidence::Layout &layout)
    : contract(spec) {
  evidence::Dims dims;
  for (const TensorSpec &tensor : contract.tensors)
    if (!tensor.output)
      for (size_t axis = 0; axis < tensor.dims.size(); ++axis)
        dims[tensor.dims[axis]] = inputs.at(tensor.name).shape[axis];
  for (const TensorSpec &tensor : contract.tensors) {
    placed.emplace_back(tensor, cpu(), layout, evidence::shapeOf(tensor, dims));
    if (!tensor.output)
      placed.back().put(Placed::inputPoison,
                        inputs.at(tensor.name).bytes.data());
  }
}

std::vector<uint8_t> Arena::launch(const Compiled &compiled,
                                   const VariantSpec &variant, int64_t first,
                                   int64_t count) {
  evidence::Kernel kernel(compiled.package(), cpu(), contract.digest,
                          variant.roles.front(), variant.id);
  std::vector<evidence::View> views;
  for (size_t i = 0; i < placed.size(); ++i) {
    if (contract.tensors[i].output)
      placed[i].put(canary, nullptr);
    views.push_back(contract.tensors[i].dims.front() == "tokens"
                        ? placed[i].slice(first, count)
                        : placed[i].view());
  }
  kernel.launch(views);
  std::vector<uint8_t> output;
  surroundIntact = true;
  for (size_t i = 0; i < placed.size(); ++i) {
    std::vector<uint8_t> bytes = placed[i].rows();
    surroundIntact &= placed[i].surroundIntact();
    if (contract.tensors[i].output)
      output = std::move(bytes);
  }
  return output;
}

Tensor field::expected(const ContractSpec &contract, const Tensors &inputs) {
  return reference::Evaluator(nlohmann::json::parse(contract.text))
      .run(inputs)
      .begin()
      ->second;
}

Tensors field::normalInputs(const ContractSpec &contract, int64_t rows,
                            int64_t hidden, uint64_t seed) {
  Tensors inputs;
  for (const TensorSpec &tensor : contract.tensors)
    if (!tensor.output)
      inputs[tensor.name] = evidence::generate(
          evidence::Recipe::Normal, seed, tensor.name, tensor.format,
          evidence::shapeOf(tensor, {{"tokens", rows}, {"hidden", hidden}}),
          tensor.dims.size() == 1);
  return inputs;
}

template <typename Bits>
static Tensor tensorOf(algebra::Format format, std::vector<int64_t> shape,
                       const std::vector<Bits> &bits) {
  Tensor tensor{format, std::move(shape), {}};
  tensor.bytes.resize(bits.size() * sizeof(Bits));
  std::memcpy(tensor.bytes.data(), bits.data(), tensor.bytes.size());
  return tensor;
}

Tensor field::floats(std::vector<int64_t> shape,
                     const std::vector<uint32_t> &bits) {
  return tensorOf(algebra::Format::F32, std::move(shape), bits);
}

Tensor field::bf16s(std::vector<int64_t> shape,
                    const std::vector<uint16_t> &bits) {
  return tensorOf(algebra::Format::BF16, std::move(shape), bits);
}
