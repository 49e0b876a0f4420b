// Verify.cpp - one field of a manifest against the others
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/package/Verify.h"

#include "runtime/package/Formula.h"
#include "runtime/package/Pin.h"
#include "runtime/package/Spelling.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <set>

namespace bitpact::package {

void once(std::set<std::string> &seen, const std::string &at,
          const std::string &item) {
  if (!seen.insert(item).second)
    fail("{}: '{}' is there twice", at, item);
}

const ContractTensor *find(const ContractEntry &contract,
                           const std::string &name) {
  for (const ContractTensor &tensor : contract.tensors)
    if (tensor.name == name)
      return &tensor;
  return nullptr;
}

namespace {

template <typename List>
bool contains(const List &list, const std::string &item) {
  return std::find(std::begin(list), std::end(list), item) != std::end(list);
}

struct Checker {
  const Manifest &manifest;
  std::set<std::string> files, variants, costTargets;
  std::map<std::string, const ContractEntry *> contracts;

  void contract(const ContractEntry &contract, const std::string &at) {
    checkHash(at + ".digest", contract.digest);
    checkHash(at + ".sha256", contract.sha256);
    if (!contracts.emplace(contract.digest, &contract).second)
      fail("{}.digest: '{}' is there twice", at, contract.digest);
    std::string file = "contracts/" + contract.digest + ".json";
    if (contract.file != file)
      fail("{}.file: is '{}', must be '{}'", at, contract.file, file);
    once(files, at + ".file", contract.file);
    size_t cut = contract.op.find('@');
    if (cut == std::string::npos || !isIdentifier(contract.op.substr(0, cut)))
      fail("{}.op: is '{}', must be OPERATOR@VERSION", at, contract.op);
    if (contract.dims.size() > maxDims)
      fail("{}.dims: {} dims, at most {} are allowed", at, contract.dims.size(),
           maxDims);
    for (const auto &[dim, extent] : contract.dims)
      checkIdentifier(at + ".dims", dim);
    tensors(contract, at + ".tensors");
  }

  void tensors(const ContractEntry &contract, const std::string &at) {
    if (contract.tensors.empty() || contract.tensors.size() > maxTensors)
      fail("{}: {} tensors, 1 to {} are allowed", at, contract.tensors.size(),
           maxTensors);
    std::set<std::string> seen;
    for (size_t i = 0; i < contract.tensors.size(); ++i) {
      const ContractTensor &tensor = contract.tensors[i];
      std::string here = fmt::format("{}[{}]", at, i);
      checkIdentifier(here + ".name", tensor.name);
      once(seen, here + ".name", tensor.name);
      bool integer =
          tensor.type == ElementType::I32 || tensor.type == ElementType::I64;
      if (tensor.kind == TensorKind::Index && !integer)
        fail("{}.type: is '{}', must be i32 or i64 for an index", here,
             name(tensor.type));
      if (tensor.dims.size() > maxRank)
        fail("{}.dims: rank {}, at most {} is allowed", here,
             tensor.dims.size(), maxRank);
      std::set<std::string> own;
      for (const std::string &dim : tensor.dims) {
        if (!contract.dims.count(dim))
          fail("{}.dims: '{}' is not a dim of the contract", here, dim);
        once(own, here + ".dims", dim);
      }
    }
  }

  void file(const FileEntry &entry, const std::string &at,
            const std::string &id) {
    checkPath(at + ".file", entry.file, "code");
    if (entry.file.compare(5, id.size() + 1, id + ".") != 0)
      fail("{}.file: is '{}', must be code/{}.SUFFIX, after the variant", at,
           entry.file, id);
    checkHash(at + ".sha256", entry.sha256);
    once(files, at + ".file", entry.file);
  }

  void variant(const Variant &variant, const std::string &at) {
    if (!isFileName(variant.id))
      fail("{}.id: is '{}', must be letters, digits, '.', '_' and '-', not "
           "beginning with '.'",
           at, variant.id);
    once(variants, at + ".id", variant.id);
    auto found = contracts.find(variant.contract);
    if (found == contracts.end())
      fail("{}.contract: '{}' is not a contract of the package", at,
           variant.contract);
    const ContractEntry &contract = *found->second;
    const Target &target = variant.target;
    if (!isFileName(target.arch))
      fail("{}.target.arch: is '{}', must be a name such as sm_90a or "
           "x86-64-v3",
           at, target.arch);
    if (variant.roles.empty())
      fail("{}.roles: is empty; allowed: {}", at, fmt::join(roleNames, ", "));
    std::set<std::string> seen;
    for (const std::string &role : variant.roles) {
      if (!contains(roleNames, role))
        fail("{}.roles: '{}' is not a role; allowed: {}", at, role,
             fmt::join(roleNames, ", "));
      once(seen, at + ".roles", role);
    }
    checkIdentifier(at + ".entry", variant.entry);
    if (!variant.library.empty())
      library(variant, at);
    file(variant.code, at + ".code", variant.id);
    for (size_t i = 0; i < variant.inspect.size(); ++i)
      file(variant.inspect[i], fmt::format("{}.inspect[{}]", at, i),
           variant.id);
    workspace(variant, contract, at + ".workspace");
    verifyArguments(variant, contract, at + ".arguments");
    conditions(variant, contract, at + ".when");
    uses(variant, contract, at + ".tensors");
    launch(variant.launch, contract, at + ".launch");
    if (variant.then.size() >= maxSteps)
      fail("{}.then: {} steps, at most {} are allowed", at,
           variant.then.size(), maxSteps - 1);
    for (size_t i = 0; i < variant.then.size(); ++i) {
      std::string here = fmt::format("{}.then[{}]", at, i);
      checkIdentifier(here + ".entry", variant.then[i].entry);
      launch(variant.then[i].launch, contract, here + ".launch");
    }
    cost(variant, contract, at + ".cost");
  }

  void cost(const Variant &variant, const ContractEntry &contract,
            const std::string &at) {
    if (variant.cost == Cost())
      return;
    if (!contract.dims.count(variant.cost.dim))
      fail("{}.dim: '{}' is not a dim of the contract", at, variant.cost.dim);
    if (variant.launch.tiles.empty() || !variant.then.empty())
      fail("{}: is that of one launch of tiles, which the variant is not", at);
    bool isSaid = variant.cost.evidence != Evidence::None;
    if (isSaid && !manifest.costsOf(variant.target))
      fail("{}.evidence: is {}, but costs does not name the device for {}", at,
           name(variant.cost.evidence), variant.target.text());
    if (!isSaid && manifest.costsOf(variant.target))
      fail("{}: misses the key 'evidence', as costs names the device for {}; "
           "allowed: model, measured",
           at, variant.target.text());
  }

  void costTable(const CostTable &table, const std::string &at) {
    once(costTargets, at + ".target", table.target);
    if (std::none_of(manifest.variants.begin(), manifest.variants.end(),
                     [&](const Variant &variant) {
                       return variant.cost != Cost() &&
                              variant.target.text() == table.target;
                     }))
      fail("{}.target: is '{}', of which no variant has a cost", at,
           table.target);
    if (table.device.empty() || table.device.size() > 200 ||
        !std::all_of(table.device.begin(), table.device.end(),
                     [](char c) { return c >= ' ' && c <= '~'; }))
      fail("{}.device: is '{}', must be a device's name of 1 to 200 printable "
           "characters",
           at, table.device);
    if (!isDate(table.date))
      fail("{}.date: is '{}', must be a date such as 2026-11-30", at,
           table.date);
  }

  void library(const Variant &variant, const std::string &at) {
    if (!contains(libraryNames, variant.library))
      fail("{}.library: is '{}'; allowed: {}", at, variant.library,
           fmt::join(libraryNames, ", "));
    if (variant.entry != entryOf(variant.library))
      fail("{}.entry: is '{}', must be {}, as the library is {}", at,
           variant.entry, entryOf(variant.library), variant.library);
    TargetKind kind =
        variant.library == "cublaslt" ? TargetKind::Cuda : TargetKind::Cpu;
    if (variant.target.kind != kind)
      fail("{}.target.kind: is {}, must be {}, as the library is {}", at,
           name(variant.target.kind), name(kind), variant.library);
    if (!variant.then.empty())
      fail("{}.then: a library's variant is one step", at);
  }

  void launch(const Launch &launch, const ContractEntry &contract,
              const std::string &at) {
    std::set<std::string> seen;
    for (const std::string &dim : launch.parallelDims) {
      if (!contract.dims.count(dim))
        fail("{}.parallel_dims: '{}' is not a dim of the contract", at, dim);
      once(seen, at + ".parallel_dims", dim);
    }
    if (!launch.split.dim.empty() && !contract.dims.count(launch.split.dim))
      fail("{}.split.dim: '{}' is not a dim of the contract", at,
           launch.split.dim);
    std::set<std::string> tiled;
    for (const Tile &tile : launch.tiles) {
      if (!contract.dims.count(tile.dim))
        fail("{}.tiles: '{}' is not a dim of the contract", at, tile.dim);
      once(tiled, at + ".tiles", tile.dim);
      if (!tile.segments.empty() && !contract.dims.count(tile.segments))
        fail("{}.tiles: segments is '{}', which is not a dim of the contract",
             at, tile.segments);
    }
    if (!launch.tiles.empty() &&
        (!launch.parallelDims.empty() || launch.split != Split()))
      fail("{}: has tiles beside rows or a split; programs are one of them",
           at);
    if (launch.ctasPerUnit && launch.tiles.empty())
      fail("{}.ctas_per_unit: is {}, but there are no tiles", at,
           launch.ctasPerUnit);
    if (launch.overlaps && launch.tiles.empty())
      fail("{}.overlaps: is true, but there are no tiles", at);
    if (launch.ctasPerProgram > 1 && launch.tiles.empty())
      fail("{}.ctas_per_program: is {}, but there are no tiles", at,
           launch.ctasPerProgram);
    if (launch.ctasPerProgram > 1 && launch.programsPerCta > 1)
      fail("{}: has {} CTAs a program and {} programs a CTA", at,
           launch.ctasPerProgram, launch.programsPerCta);
  }

  void conditions(const Variant &variant, const ContractEntry &contract,
                  const std::string &at) {
    for (const auto &[dim, range] : variant.when.dims) {
      if (!contract.dims.count(dim))
        fail("{}.dims: '{}' is not a dim of the contract", at, dim);
      if (range.min > range.max)
        fail("{}.dims.{}: min {} is above max {}", at, dim, range.min,
             range.max);
    }
    for (const auto &[tensor, bytes] : variant.when.align) {
      if (!find(contract, tensor))
        fail("{}.align: '{}' is not a tensor of the contract", at, tensor);
      if (bytes & (bytes - 1))
        fail("{}.align.{}: is {}, must be a power of two", at, tensor, bytes);
    }
    for (const auto &[tensor, elements] : variant.when.strideMultiple)
      if (!find(contract, tensor))
        fail("{}.stride_multiple: '{}' is not a tensor of the contract", at,
             tensor);
  }

  void uses(const Variant &variant, const ContractEntry &contract,
            const std::string &at) {
    if (variant.tensors.size() != contract.tensors.size())
      fail("{}: {} tensors, the contract has {}", at, variant.tensors.size(),
           contract.tensors.size());
    for (size_t i = 0; i < variant.tensors.size(); ++i) {
      const TensorUse &use = variant.tensors[i];
      const ContractTensor &tensor = contract.tensors[i];
      if (use.name != tensor.name)
        fail("{}[{}].name: is '{}', must be '{}', as in the contract", at, i,
             use.name, tensor.name);
      if (use.isMutable != (tensor.kind == TensorKind::Out))
        fail("{}[{}].mutable: is {}, but the contract says '{}'", at, i,
             use.isMutable, name(tensor.kind));
      for (const std::string &alias : use.alias) {
        const ContractTensor *other = find(contract, alias);
        if (!use.isMutable || !other || other->kind != TensorKind::In)
          fail("{}[{}].alias: '{}' with '{}': only an output may be the same "
               "as an input",
               at, i, use.name, alias);
      }
    }
  }

  void workspace(const Variant &variant, const ContractEntry &contract,
                 const std::string &at) {
    try {
      for (const Formula::Term &term : Formula::parse(variant.workspace).terms)
        for (const Formula::Factor &factor : term.factors)
          if (!contract.dims.count(factor.dim))
            fail("names '{}', which is not a dim of the contract", factor.dim);
    } catch (const FormatError &error) {
      fail("{}: {}", at, error.what());
    }
  }
};

} // namespace

void verify(const Manifest &manifest) {
  if (manifest.format < 1 || manifest.format > formatVersion)
    fail("format: is {}, this library knows formats 1 to {}", manifest.format,
         formatVersion);
  if (manifest.format < formatOf(manifest))
    fail("format: is {}, its variants need {}", manifest.format,
         formatOf(manifest));
  if (!manifest.producer.count("bitpact"))
    fail("producer: misses the key 'bitpact'");
  Checker checker{manifest, {}, {}, {}, {}};
  for (size_t i = 0; i < manifest.contracts.size(); ++i)
    checker.contract(manifest.contracts[i], fmt::format("contracts[{}]", i));
  for (size_t i = 0; i < manifest.variants.size(); ++i)
    checker.variant(manifest.variants[i], fmt::format("variants[{}]", i));
  for (size_t i = 0; i < manifest.costs.size(); ++i)
    checker.costTable(manifest.costs[i], fmt::format("costs[{}]", i));
}

} // namespace bitpact::package
