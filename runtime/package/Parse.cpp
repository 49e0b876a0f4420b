// Parse.cpp - JSON to manifest, one field at a time, each refused by name
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/package/Field.h"

namespace bitpact::package {

using nlohmann::json;

namespace {

FileEntry parseFile(const Field &field) {
  field.keys({"file", "sha256", "bytes"});
  return {field["file"].text(), field["sha256"].text(),
          field["bytes"].integer(0, int64Max)};
}

ContractEntry parseContract(const Field &field) {
  field.keys({"digest", "name", "op", "file", "sha256", "tensors", "dims"});
  ContractEntry contract;
  contract.digest = field["digest"].text();
  contract.name = field["name"].text();
  contract.op = field["op"].text();
  contract.file = field["file"].text();
  contract.sha256 = field["sha256"].text();
  field["tensors"].items([&](const Field &item) {
    item.keys({"name", "kind", "dims", "type"});
    contract.tensors.push_back(
        {item["name"].text(),
         item["kind"].one({TensorKind::In, TensorKind::Out, TensorKind::Index}),
         item["dims"].texts(),
         item["type"].one({ElementType::BF16, ElementType::F16,
                           ElementType::F32, ElementType::F64, ElementType::I32,
                           ElementType::I64})});
  });
  field["dims"].entries([&](const std::string &dim, const Field &item) {
    contract.dims[dim] =
        item.isText("*") ? dynamicExtent : item.integer(1, int64Max);
  });
  return contract;
}

Argument parseArgument(const Field &field) {
  // The keys follow from the kind, so the kind is read first.
  Argument argument;
  field.entries([&](const std::string &key, const Field &item) {
    if (key == "kind")
      argument.kind = item.one({ArgumentKind::Pointer, ArgumentKind::Stride,
                                ArgumentKind::Dim, ArgumentKind::Workspace,
                                ArgumentKind::Fault, ArgumentKind::TensorMap,
                                ArgumentKind::Steady});
  });
  switch (argument.kind) {
  case ArgumentKind::Pointer:
  case ArgumentKind::Steady:
    field.keys({"kind", "tensor"});
    argument.tensor = field["tensor"].text();
    break;
  case ArgumentKind::Stride:
    field.keys({"kind", "tensor", "axis"});
    argument.tensor = field["tensor"].text();
    argument.axis = field["axis"].integer(0, maxRank - 1);
    break;
  case ArgumentKind::Dim:
    field.keys({"kind", "dim"});
    argument.dim = field["dim"].text();
    break;
  case ArgumentKind::Workspace:
  case ArgumentKind::Fault:
    field.keys({"kind"});
    break;
  case ArgumentKind::TensorMap: {
    field.keys({"kind", "tensor", "box"});
    argument.tensor = field["tensor"].text();
    Field box = field["box"];
    box.keys({"rows", "cols", "swizzle"}, {"part", "l2_promotion"});
    argument.box = {box["rows"].integer(1, 256), box["cols"].integer(1, 256),
                    box["swizzle"].integer(0, 128),
                    box.has("part") ? box["part"].integer(1, 256) : 0,
                    box.has("l2_promotion")
                        ? box["l2_promotion"].integer(64, 256)
                        : 0};
    break;
  }
  }
  return argument;
}

Conditions parseConditions(const Field &field) {
  field.keys({"dims", "align", "stride_multiple"});
  Conditions when;
  field["dims"].entries([&](const std::string &dim, const Field &item) {
    item.keys({"min", "max"});
    when.dims[dim] = {item["min"].integer(1, int64Max),
                      item["max"].integer(1, int64Max)};
  });
  field["align"].entries([&](const std::string &tensor, const Field &item) {
    when.align[tensor] = item.integer(1, 4096);
  });
  field["stride_multiple"].entries(
      [&](const std::string &tensor, const Field &item) {
        when.strideMultiple[tensor] = item.integer(1, int64_t(1) << 32);
      });
  return when;
}

Launch parseLaunch(const Field &field) {
  field.keys({"threads", "programs_per_cta", "rows_per_program",
              "parallel_dims", "shared_bytes"},
             {"split", "tiles", "ctas_per_unit", "ctas_per_program",
              "overlaps"});
  Launch launch = {field["threads"].integer(1, 1024),
                   field["programs_per_cta"].integer(1, 1024),
                   field["rows_per_program"].integer(1, int64_t(1) << 31),
                   field["parallel_dims"].texts(),
                   field["shared_bytes"].integer(0, 1 << 24),
                   {},
                   {},
                   0,
                   1,
                   false};
  if (field.has("tiles"))
    field["tiles"].items([&](const Field &item) {
      item.keys({"dim", "length"}, {"segments"});
      launch.tiles.push_back(
          {item["dim"].text(), item["length"].integer(1, int64_t(1) << 31),
           item.has("segments") ? item["segments"].text() : std::string()});
    });
  if (field.has("ctas_per_unit"))
    launch.ctasPerUnit = field["ctas_per_unit"].integer(1, 64);
  if (field.has("ctas_per_program"))
    launch.ctasPerProgram = field["ctas_per_program"].integer(1, 16);
  if (field.has("overlaps"))
    launch.overlaps = field["overlaps"].boolean();
  if (field.has("split")) {
    Field split = field["split"];
    split.keys({"dim", "length", "less"});
    launch.split = {split["dim"].text(),
                    split["length"].integer(1, int64_t(1) << 62),
                    split["less"].integer(0, 1 << 30)};
  }
  return launch;
}

Cost parseCost(const Field &field) {
  field.keys({"dim", "start", "tile", "element"}, {"evidence"});
  constexpr int64_t second = 1'000'000'000'000;
  return {field["dim"].text(), field["start"].integer(0, second),
          field["tile"].integer(0, second), field["element"].integer(0, second),
          field.has("evidence")
              ? field["evidence"].one({Evidence::Model, Evidence::Measured})
              : Evidence::None};
}

CostTable parseCostTable(const Field &field) {
  field.keys({"target", "device", "units", "date"});
  return {field["target"].text(), field["device"].text(),
          field["units"].integer(1, 1 << 20), field["date"].text()};
}

Variant parseVariant(const Field &field) {
  field.keys({"id", "contract", "target", "roles", "priority", "entry",
              "schedule", "code", "inspect", "arguments", "when", "tensors",
              "launch", "workspace", "resources", "evidence"},
             {"then", "cost", "library"});
  Variant variant;
  variant.id = field["id"].text();
  variant.contract = field["contract"].text();
  Field target = field["target"];
  target.keys({"kind", "arch", "features"});
  variant.target = {
      target["kind"].one({TargetKind::Cpu, TargetKind::Cuda, TargetKind::Hip}),
      target["arch"].text(), target["features"].text()};
  variant.roles = field["roles"].texts();
  variant.priority = field["priority"].integer(-1000000, 1000000);
  variant.entry = field["entry"].text();
  variant.schedule = field["schedule"].text();
  variant.code = parseFile(field["code"]);
  field["inspect"].items(
      [&](const Field &item) { variant.inspect.push_back(parseFile(item)); });
  field["arguments"].items([&](const Field &item) {
    variant.arguments.push_back(parseArgument(item));
  });
  variant.when = parseConditions(field["when"]);
  field["tensors"].items([&](const Field &item) {
    item.keys({"name", "mutable", "alias"});
    variant.tensors.push_back({item["name"].text(), item["mutable"].boolean(),
                               item["alias"].texts()});
  });
  variant.launch = parseLaunch(field["launch"]);
  if (field.has("then"))
    field["then"].items([&](const Field &item) {
      item.keys({"entry", "launch"});
      variant.then.push_back({item["entry"].text(), parseLaunch(item["launch"])});
    });
  if (field.has("library"))
    variant.library = field["library"].text();
  variant.workspace = field["workspace"].text();
  if (field.has("cost"))
    variant.cost = parseCost(field["cost"]);
  Field resources = field["resources"];
  resources.keys({"registers", "shared", "local", "spills"});
  variant.resources = {resources["registers"].integer(0, 1 << 30),
                       resources["shared"].integer(0, 1 << 30),
                       resources["local"].integer(0, 1 << 30),
                       resources["spills"].integer(0, 1 << 30)};
  Field evidence = field["evidence"];
  evidence.keys({"bits"});
  variant.evidence = evidence["bits"].one(
      {Evidence::None, Evidence::Model, Evidence::Measured});
  return variant;
}

} // namespace

void from_json(const json &value, Manifest &manifest) {
  Field field(value, "");
  if (!value.is_object())
    throw FormatError("the manifest must be an object");
  if (!value.contains("format"))
    throw FormatError("the manifest misses the key 'format'");
  // A newer format may have other keys: say so before looking at them.
  int64_t format = field["format"].integer(1, int64Max);
  if (format > formatVersion)
    throw FormatError(fmt::format(
        "format: is {}, this library reads formats 1 to {}; it is too old for "
        "this package",
        format, formatVersion));
  Field(value, "the manifest")
      .keys({"format", "sha256", "producer", "contracts", "variants"},
            {"costs"});
  Manifest parsed;
  parsed.format = format;
  parsed.sha256 = field["sha256"].text();
  field["producer"].entries([&](const std::string &tool, const Field &item) {
    parsed.producer[tool] = item.text();
  });
  field["contracts"].items([&](const Field &item) {
    parsed.contracts.push_back(parseContract(item));
  });
  field["variants"].items([&](const Field &item) {
    parsed.variants.push_back(parseVariant(item));
  });
  if (field.has("costs"))
    field["costs"].items([&](const Field &item) {
      parsed.costs.push_back(parseCostTable(item));
    });
  manifest = std::move(parsed);
}

} // namespace bitpact::package
