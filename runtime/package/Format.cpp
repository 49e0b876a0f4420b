// Format.cpp - names of the format's integers, and a manifest as JSON
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/package/Format.h"

#include <nlohmann/json.hpp>

namespace bitpact::package {

using nlohmann::json;

const char *name(TargetKind kind) {
  switch (kind) {
  case TargetKind::Cpu:
    return "cpu";
  case TargetKind::Cuda:
    return "cuda";
  case TargetKind::Hip:
    return "hip";
  }
  return "?";
}

const char *name(ElementType type) {
  switch (type) {
  case ElementType::BF16:
    return "bf16";
  case ElementType::F16:
    return "f16";
  case ElementType::F32:
    return "f32";
  case ElementType::F64:
    return "f64";
  case ElementType::I32:
    return "i32";
  case ElementType::I64:
    return "i64";
  }
  return "?";
}

const char *name(TensorKind kind) {
  switch (kind) {
  case TensorKind::In:
    return "in";
  case TensorKind::Out:
    return "out";
  case TensorKind::Index:
    return "index";
  }
  return "?";
}

const char *name(ArgumentKind kind) {
  switch (kind) {
  case ArgumentKind::Pointer:
    return "pointer";
  case ArgumentKind::Stride:
    return "stride";
  case ArgumentKind::Dim:
    return "dim";
  case ArgumentKind::Workspace:
    return "workspace";
  case ArgumentKind::Fault:
    return "fault";
  case ArgumentKind::TensorMap:
    return "tensor_map";
  case ArgumentKind::Steady:
    return "steady";
  }
  return "?";
}

const char *name(Evidence evidence) {
  switch (evidence) {
  case Evidence::None:
    return "none";
  case Evidence::Model:
    return "model";
  case Evidence::Measured:
    return "measured";
  }
  return "?";
}

int64_t bytesOf(ElementType type) {
  switch (type) {
  case ElementType::BF16:
  case ElementType::F16:
    return 2;
  case ElementType::F32:
  case ElementType::I32:
    return 4;
  case ElementType::F64:
  case ElementType::I64:
    return 8;
  }
  return 0;
}

std::string Target::text() const {
  std::string text = std::string(package::name(kind)) + ":" + arch;
  return features.empty() ? text : text + ":" + features;
}

static json fileJson(const FileEntry &entry) {
  return {
      {"file", entry.file}, {"sha256", entry.sha256}, {"bytes", entry.bytes}};
}

static json argumentJson(const Argument &argument) {
  json value = {{"kind", name(argument.kind)}};
  if (!argument.tensor.empty())
    value["tensor"] = argument.tensor;
  if (argument.kind == ArgumentKind::Stride)
    value["axis"] = argument.axis;
  if (argument.kind == ArgumentKind::Dim)
    value["dim"] = argument.dim;
  if (argument.kind == ArgumentKind::TensorMap) {
    value["box"] = {{"rows", argument.box.rows},
                    {"cols", argument.box.cols},
                    {"swizzle", argument.box.swizzle}};
    if (argument.box.part)
      value["box"]["part"] = argument.box.part;
    if (argument.box.promotion)
      value["box"]["l2_promotion"] = argument.box.promotion;
  }
  return value;
}

static json contractJson(const ContractEntry &contract) {
  json tensors = json::array(), dims = json::object();
  for (const ContractTensor &tensor : contract.tensors)
    tensors.push_back({{"name", tensor.name},
                       {"kind", name(tensor.kind)},
                       {"dims", tensor.dims},
                       {"type", name(tensor.type)}});
  for (const auto &[dim, extent] : contract.dims)
    dims[dim] = extent == dynamicExtent ? json("*") : json(extent);
  return {{"digest", contract.digest},
          {"name", contract.name},
          {"op", contract.op},
          {"file", contract.file},
          {"sha256", contract.sha256},
          {"tensors", tensors},
          {"dims", dims}};
}

static json conditionsJson(const Conditions &when) {
  json dims = json::object();
  for (const auto &[dim, range] : when.dims)
    dims[dim] = {{"min", range.min}, {"max", range.max}};
  json align = json::object(), multiple = json::object();
  for (const auto &[tensor, bytes] : when.align)
    align[tensor] = bytes;
  for (const auto &[tensor, elements] : when.strideMultiple)
    multiple[tensor] = elements;
  return {{"dims", dims}, {"align", align}, {"stride_multiple", multiple}};
}

static json launchJson(const Launch &launch) {
  json value = {{"threads", launch.threads},
                {"programs_per_cta", launch.programsPerCta},
                {"rows_per_program", launch.rowsPerProgram},
                {"parallel_dims", launch.parallelDims},
                {"shared_bytes", launch.sharedBytes}};
  if (launch.split != Split())
    value["split"] = {{"dim", launch.split.dim},
                      {"length", launch.split.length},
                      {"less", launch.split.less}};
  if (!launch.tiles.empty()) {
    json tiles = json::array();
    for (const Tile &tile : launch.tiles) {
      tiles.push_back({{"dim", tile.dim}, {"length", tile.length}});
      if (!tile.segments.empty())
        tiles.back()["segments"] = tile.segments;
    }
    value["tiles"] = tiles;
  }
  if (launch.ctasPerUnit)
    value["ctas_per_unit"] = launch.ctasPerUnit;
  if (launch.ctasPerProgram > 1)
    value["ctas_per_program"] = launch.ctasPerProgram;
  if (launch.overlaps)
    value["overlaps"] = true;
  return value;
}

static json variantJson(const Variant &variant) {
  json inspect = json::array(), arguments = json::array(),
       tensors = json::array();
  for (const FileEntry &entry : variant.inspect)
    inspect.push_back(fileJson(entry));
  for (const Argument &argument : variant.arguments)
    arguments.push_back(argumentJson(argument));
  for (const TensorUse &use : variant.tensors)
    tensors.push_back(
        {{"name", use.name}, {"mutable", use.isMutable}, {"alias", use.alias}});
  const Resources &resources = variant.resources;
  json steps = json::array();
  for (const Step &step : variant.then)
    steps.push_back(
        {{"entry", step.entry}, {"launch", launchJson(step.launch)}});
  json value =
         {{"id", variant.id},
          {"contract", variant.contract},
          {"target",
           {{"kind", name(variant.target.kind)},
            {"arch", variant.target.arch},
            {"features", variant.target.features}}},
          {"roles", variant.roles},
          {"priority", variant.priority},
          {"entry", variant.entry},
          {"schedule", variant.schedule},
          {"code", fileJson(variant.code)},
          {"inspect", inspect},
          {"arguments", arguments},
          {"when", conditionsJson(variant.when)},
          {"tensors", tensors},
          {"launch", launchJson(variant.launch)},
          {"workspace", variant.workspace},
          {"resources",
           {{"registers", resources.registers},
            {"shared", resources.shared},
            {"local", resources.local},
            {"spills", resources.spills}}},
          {"evidence", {{"bits", name(variant.evidence)}}}};
  if (!variant.then.empty())
    value["then"] = steps;
  if (variant.cost != Cost())
    value["cost"] = {{"dim", variant.cost.dim},
                     {"start", variant.cost.start},
                     {"tile", variant.cost.tile},
                     {"element", variant.cost.element}};
  if (variant.cost.evidence != Evidence::None)
    value["cost"]["evidence"] = name(variant.cost.evidence);
  if (!variant.library.empty())
    value["library"] = variant.library;
  return value;
}

void to_json(json &value, const Manifest &manifest) {
  json contracts = json::array(), variants = json::array();
  for (const ContractEntry &contract : manifest.contracts)
    contracts.push_back(contractJson(contract));
  for (const Variant &variant : manifest.variants)
    variants.push_back(variantJson(variant));
  value = {{"format", manifest.format},
           {"sha256", manifest.sha256},
           {"producer", manifest.producer},
           {"contracts", contracts},
           {"variants", variants}};
  for (const CostTable &table : manifest.costs)
    value["costs"].push_back({{"target", table.target},
                              {"device", table.device},
                              {"units", table.units},
                              {"date", table.date}});
}

const CostTable *Manifest::costsOf(const Target &target) const {
  for (const CostTable &table : costs)
    if (table.target == target.text())
      return &table;
  return nullptr;
}

std::vector<Argument> argumentList(const std::vector<ContractTensor> &tensors,
                                   const std::vector<std::string> &dimOrder,
                                   bool workspace, bool fault) {
  std::vector<Argument> arguments;
  for (const ContractTensor &tensor : tensors) {
    arguments.push_back({ArgumentKind::Pointer, tensor.name, 0, "", {}});
    for (size_t axis = 0; axis + 1 < tensor.dims.size(); ++axis)
      arguments.push_back(
          {ArgumentKind::Stride, tensor.name, int64_t(axis), "", {}});
  }
  for (const std::string &dim : dimOrder)
    arguments.push_back({ArgumentKind::Dim, "", 0, dim, {}});
  if (workspace)
    arguments.push_back({ArgumentKind::Workspace, "", 0, "", {}});
  if (fault)
    arguments.push_back({ArgumentKind::Fault, "", 0, "", {}});
  return arguments;
}

} // namespace bitpact::package
