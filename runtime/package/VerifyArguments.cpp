// VerifyArguments.cpp - what a variant's kernel is handed
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/package/Formula.h"
#include "runtime/package/Spelling.h"
#include "runtime/package/Verify.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

namespace bitpact::package {

// What CUDA's copy unit can describe.
static void tensorMap(const Argument &argument, const Variant &variant,
               const ContractEntry &contract, const std::string &at) {
  const ContractTensor *tensor = find(contract, argument.tensor);
  if (!tensor || (tensor->dims.size() != 2 && tensor->dims.size() != 3))
    fail("{}: tensor map of '{}', which is not a tensor of the contract with "
         "two or three dims",
         at, argument.tensor);
  if (variant.target.kind != TargetKind::Cuda)
    fail("{}: has a tensor map; only cuda has them", at);
  const Box &box = argument.box;
  int64_t bytes = box.cols * bytesOf(tensor->type);
  if (bytes % 16 || (box.swizzle != 0 && box.swizzle != 32 &&
                     box.swizzle != 64 && box.swizzle != 128) ||
      (box.swizzle && bytes > box.swizzle))
    fail("{}: tensor map of '{}': box of {} columns with swizzle {}; rows "
         "must be multiples of 16 bytes, and no longer than a swizzle of 32, "
         "64 or 128",
         at, argument.tensor, box.cols, box.swizzle);
  if (box.part > box.rows)
    fail("{}: tensor map of '{}': part is {}, at most the {} rows of the box "
         "are allowed",
         at, argument.tensor, box.part, box.rows);
  if (box.promotion != 0 && box.promotion != 64 && box.promotion != 128 &&
      box.promotion != 256)
    fail("{}: tensor map of '{}': l2_promotion is {}; 64, 128 and 256 are "
         "allowed",
         at, argument.tensor, box.promotion);
  auto align = variant.when.align.find(argument.tensor);
  auto multiple = variant.when.strideMultiple.find(argument.tensor);
  if (align == variant.when.align.end() || align->second % 16 ||
      multiple == variant.when.strideMultiple.end() ||
      multiple->second * bytesOf(tensor->type) % 16)
    fail("{}: tensor map of '{}' without the condition that its rows are "
         "aligned to 16 bytes",
         at, argument.tensor);
}

void verifyArguments(const Variant &variant, const ContractEntry &contract,
               const std::string &at) {
  if (variant.arguments.size() > maxArguments)
    fail("{}: {} arguments, at most {} are allowed", at,
         variant.arguments.size(), maxArguments);
  // The dims stand in the operator's order, which only this list tells.
  std::vector<std::string> order;
  bool workspace = false, fault = false;
  for (const Argument &argument : variant.arguments) {
    if (argument.kind == ArgumentKind::Dim)
      order.push_back(argument.dim);
    workspace |= argument.kind == ArgumentKind::Workspace;
    fault |= argument.kind == ArgumentKind::Fault;
  }
  std::set<std::string> named(order.begin(), order.end());
  bool complete =
      named.size() == order.size() && named.size() == contract.dims.size() &&
      std::all_of(named.begin(), named.end(), [&](const std::string &dim) {
        return contract.dims.count(dim);
      });
  if (!complete)
    fail("{}: the dims are {}, must be each dim of the contract once", at,
         order);
  std::vector<Argument> wanted =
      argumentList(contract.tensors, order, workspace, fault);
  // What is steady may follow, and then any maps.
  std::set<std::string> steady;
  for (const Argument &argument : variant.arguments)
    if (argument.kind == ArgumentKind::Steady) {
      once(steady, at + ": steady", argument.tensor);
      const ContractTensor *tensor = find(contract, argument.tensor);
      if (!tensor || tensor->kind == TensorKind::Out)
        fail("{}: '{}' is steady, which is not an input of the contract", at,
             argument.tensor);
      wanted.push_back(argument);
    }
  size_t maps = 0;
  for (const Argument &argument : variant.arguments)
    if (argument.kind == ArgumentKind::TensorMap) {
      tensorMap(argument, variant, contract, at);
      wanted.push_back(argument);
      ++maps;
    }
  if (maps > maxTensorMaps)
    fail("{}: more than {} tensor maps", at, maxTensorMaps);
  auto show = [](const Argument &argument) {
    switch (argument.kind) {
    case ArgumentKind::Pointer:
      return "pointer of " + argument.tensor;
    case ArgumentKind::Stride:
      return fmt::format("stride {} of {}", argument.axis, argument.tensor);
    case ArgumentKind::Dim:
      return "dim " + argument.dim;
    case ArgumentKind::Workspace:
      return std::string("workspace");
    case ArgumentKind::Fault:
      return std::string("fault word");
    case ArgumentKind::TensorMap:
      return "tensor map of " + argument.tensor;
    case ArgumentKind::Steady:
      return "steadiness of " + argument.tensor;
    }
    return std::string();
  };
  for (size_t i = 0; i < std::max(wanted.size(), variant.arguments.size());
       ++i) {
    std::string is = i < variant.arguments.size() ? show(variant.arguments[i])
                                                  : "missing",
                must = i < wanted.size() ? show(wanted[i]) : "absent";
    if (is != must)
      fail("{}[{}]: is {}, must be {}", at, i, is, must);
  }
  if (workspace == Formula::parse(variant.workspace).isZero())
    fail("{}: {} a workspace pointer, but workspace is '{}'", at,
         workspace ? "has" : "misses", variant.workspace);
}

} // namespace bitpact::package
