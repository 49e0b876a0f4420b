// Canonical.cpp - operators and definitions as lists of operations
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/Reader/Canonical.h"

#include "dialects/Pact/Rules.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace bitpact;
using namespace bitpact::reader;
using nlohmann::json;

using Ids = llvm::DenseMap<mlir::Value, std::string>;

static json argumentIds(Operation *op, const Ids &ids) {
  json args = json::array();
  for (mlir::Value operand : op->getOperands())
    args.push_back(ids.lookup(operand));
  return args;
}

/// The bits of a constant in lower-case hexadecimal, all digits of its width.
static std::string hexBits(const llvm::APInt &bits) {
  SmallString<32> text;
  bits.toString(text, 16, /*Signed=*/false, /*formatAsCLiteral=*/false,
                /*UpperCase=*/false);
  size_t width = (bits.getBitWidth() + 3) / 4;
  return std::string(width - text.size(), '0') + text.str().str();
}

static std::string typeName(Type type) {
  if (StringRef name = pact::formatName(type); !name.empty())
    return name.str();
  return "i" + std::to_string(type.getIntOrFloatBitWidth());
}

//===----------------------------------------------------------------------===//
// Operators
//===----------------------------------------------------------------------===//

static json operatorOp(Operation &op, const Ids &ids) {
  json entry = {{"op", op.getName().stripDialect().str()}};
  TypeSwitch<Operation *>(&op)
      .Case([&](pact::InputOp op) { entry["tensor"] = op.getTensor().str(); })
      .Case([&](pact::IndexOp op) { entry["tensor"] = op.getTensor().str(); })
      .Case([&](pact::SegmentOp op) { entry["over"] = op.getOver().str(); })
      .Case([&](pact::TakeOp op) { entry["over"] = op.getOver().str(); })
      .Case([&](pact::ParamOp op) { entry["param"] = op.getParam().str(); })
      .Case([&](pact::ExtentOp op) { entry["dim"] = op.getDim().str(); })
      .Case([&](pact::ConstantOp op) { entry["value"] = op.getValue().str(); })
      .Case([&](pact::ReduceOp op) {
        entry["node"] = op.getNode().str();
        entry["kind"] = stringifyReduceKind(op.getKind()).str();
        entry["over"] = op.getOver().str();
        if (op.getSite())
          entry["site"] = op.getSite()->str();
      })
      .Case([&](pact::ApplyOp op) {
        entry["site"] = op.getSite().str();
        if (op.getRounded())
          entry["rounded"] = op.getRounded()->str();
      })
      .Case([&](pact::OutputOp op) {
        entry["tensor"] = op.getTensor().str();
        entry["site"] = op.getSiteName().str();
      })
      .Default([&](Operation *op) {
        if (auto site = op->getAttrOfType<StringAttr>("site"))
          entry["site"] = site.str();
      });
  if (op.getNumOperands())
    entry["args"] = argumentIds(&op, ids);
  return entry;
}

static json dimNames(pact::RealType type) {
  json dims = json::array();
  for (StringAttr dim : type.getDims())
    dims.push_back(dim.str());
  return dims;
}

static json canonicalOperator(pact::OperatorOp op) {
  json dims = json::array(), params = json::array(), tensors = json::array(),
       body = json::array();
  for (StringAttr dim : op.getDims().getAsRange<StringAttr>())
    dims.push_back(dim.str());
  Ids ids;
  for (Operation &each : op.getBody().front()) {
    json entry = operatorOp(each, ids);
    if (each.getNumResults()) {
      std::string id = "v" + std::to_string(ids.size());
      entry["id"] = id;
      ids[each.getResult(0)] = id;
    }
    body.push_back(entry);
    if (auto param = dyn_cast<pact::ParamOp>(each))
      params.push_back(param.getParam().str());
    else if (auto input = dyn_cast<pact::InputOp>(each))
      tensors.push_back({{"name", input.getTensor().str()},
                         {"kind", "in"},
                         {"dims", dimNames(input.getResult().getType())}});
    else if (auto index = dyn_cast<pact::IndexOp>(each))
      tensors.push_back({{"name", index.getTensor().str()},
                         {"kind", "index"},
                         {"dims", dimNames(index.getResult().getType())}});
    else if (auto output = dyn_cast<pact::OutputOp>(each))
      tensors.push_back({{"name", output.getTensor().str()},
                         {"kind", "out"},
                         {"dims", dimNames(output.getValue().getType())}});
  }
  return {{"name", op.getSymName().str()},
          {"version", op.getVersion()},
          {"dims", dims},
          {"params", params},
          {"tensors", tensors},
          {"body", body}};
}

//===----------------------------------------------------------------------===//
// Definitions
//===----------------------------------------------------------------------===//

static StringRef definitionOpName(Operation *op) {
  return TypeSwitch<Operation *, StringRef>(op)
      .Case([](arith::AddFOp) { return "add"; })
      .Case([](arith::SubFOp) { return "sub"; })
      .Case([](arith::MulFOp) { return "mul"; })
      .Case([](arith::DivFOp) { return "div"; })
      .Case([](pact::FmaOp) { return "fma"; })
      .Case([](pact::SqrtOp) { return "sqrt"; })
      .Case([](arith::MaximumFOp) { return "maximum"; })
      .Case([](arith::MinimumFOp) { return "minimum"; })
      .Case([](arith::NegFOp) { return "neg"; })
      .Case([](arith::CmpFOp) { return "cmp"; })
      .Case([](arith::SelectOp) { return "select"; })
      .Case<arith::ExtFOp, arith::TruncFOp, arith::SIToFPOp, arith::ExtSIOp,
            arith::TruncIOp>([](auto) { return "convert"; })
      .Case([](arith::BitcastOp) { return "bitcast"; })
      .Case([](arith::AddIOp) { return "iadd"; })
      .Case([](arith::SubIOp) { return "isub"; })
      .Case([](arith::AndIOp) { return "iand"; })
      .Case([](arith::OrIOp) { return "ior"; })
      .Case([](arith::XOrIOp) { return "ixor"; })
      .Case([](arith::ShLIOp) { return "ishl"; })
      .Case([](arith::ShRSIOp) { return "ishr"; })
      .Case([](arith::ShRUIOp) { return "ushr"; })
      .Case([](arith::CmpIOp) { return "icmp"; })
      .Case([](arith::ConstantOp) { return "constant"; })
      .Default([](Operation *) -> StringRef {
        llvm_unreachable("rule F8 admits no other operation");
      });
}

static json definitionOp(Operation &op, const Ids &ids) {
  json entry = {{"op", definitionOpName(&op).str()},
                {"type", typeName(op.getResult(0).getType())}};
  if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
    if (auto value = dyn_cast<FloatAttr>(constant.getValue()))
      entry["bits"] = hexBits(value.getValue().bitcastToAPInt());
    else
      entry["bits"] =
          hexBits(cast<IntegerAttr>(constant.getValue()).getValue());
    return entry;
  }
  if (auto cmp = dyn_cast<arith::CmpFOp>(op))
    entry["pred"] = arith::stringifyCmpFPredicate(cmp.getPredicate()).str();
  if (auto cmp = dyn_cast<arith::CmpIOp>(op))
    entry["pred"] = arith::stringifyCmpIPredicate(cmp.getPredicate()).str();
  entry["args"] = argumentIds(&op, ids);
  return entry;
}

static json typeNames(ArrayRef<Type> types) {
  json names = json::array();
  for (Type type : types)
    names.push_back(typeName(type));
  return names;
}

static json canonicalPrimitive(pact::PrimitiveOp primitive) {
  FunctionType type = primitive.getFunctionType();
  json result = {{"kind", stringifyPrimitiveKind(primitive.getKind()).str()},
                 {"args", typeNames(type.getInputs())},
                 {"result", typeName(type.getResult(0))}};
  if (primitive.getReduction())
    result["reduction"] = stringifyReduceKind(*primitive.getReduction()).str();
  if (primitive.getProduct())
    result["product"] = primitive.getProduct()->str();
  Ids ids;
  for (BlockArgument argument : primitive.getBody().getArguments())
    ids[argument] = "a" + std::to_string(argument.getArgNumber());
  json body = json::array();
  for (Operation &op : primitive.getBody().front()) {
    if (auto yield = dyn_cast<pact::YieldOp>(op)) {
      result["yield"] = ids.lookup(yield.getValue());
      break;
    }
    json entry = definitionOp(op, ids);
    std::string id = "v" + std::to_string(body.size());
    entry["id"] = id;
    ids[op.getResult(0)] = id;
    body.push_back(entry);
  }
  result["body"] = body;
  return result;
}

static json canonicalAtom(pact::AtomOp atom) {
  FunctionType type = atom.getFunctionType();
  return {{"kind", "atom"},
          {"reduction", stringifyReduceKind(atom.getReduction()).str()},
          {"product", atom.getProduct().str()},
          {"atom", atom.getAtom().str()},
          {"L", atom.getL()},
          {"F", atom.getF()},
          {"args", typeNames(type.getInputs())},
          {"result", typeName(type.getResult(0))}};
}

//===----------------------------------------------------------------------===//
// Contracts
//===----------------------------------------------------------------------===//

static json canonicalNode(pact::NodeAttr node) {
  json precision = {{"accumulator", typeName(node.getAccumulator())}};
  if (node.getProduct())
    precision["product"] = node.getProduct().str();
  std::string dim = node.getDomain().str();
  // A dim of which everything exists has one spelling.
  json domain = dim;
  if (node.getExtent() != node.getStored())
    domain = {
        {dim, {{"extent", node.getExtent()}, {"stored", node.getStored()}}}};
  json result = {{"domain", domain},
                 {"partition", node.getPartition().getValue().text()},
                 {"merge", node.getMerge().getValue().texts()},
                 {"start", algebra::name(node.getStart())},
                 {"precision", precision}};
  if (node.getState() != algebra::State::None)
    result["state"] = algebra::name(node.getState());
  if (node.getOffsets())
    result["offsets"] = node.getOffsets().str();
  return result;
}

static json canonicalRounding(pact::RoundingAttr rounding) {
  if (rounding.isExact())
    return "exact";
  return {{"format", typeName(rounding.getFormat())},
          {"mode", rounding.getMode().str()}};
}

json reader::canonicalContract(pact::ContractOp contract, ModuleOp module) {
  json result = {{"bitpact", 1}, {"name", contract.getContractName().str()}};
  if (contract.getDoc())
    result["doc"] = contract.getDoc()->str();
  for (const char *field : {"dims", "types", "params", "nodes", "rounding",
                            "primitives", "definitions"})
    result[field] = json::object();

  for (NamedAttribute entry : contract.getDims()) {
    int64_t extent = cast<IntegerAttr>(entry.getValue()).getInt();
    result["dims"][entry.getName().str()] =
        ShapedType::isDynamic(extent) ? json("*") : json(extent);
  }
  for (NamedAttribute entry : contract.getTypes())
    result["types"][entry.getName().str()] =
        typeName(cast<TypeAttr>(entry.getValue()).getValue());
  for (NamedAttribute entry : contract.getParams()) {
    auto value = cast<FloatAttr>(entry.getValue());
    result["params"][entry.getName().str()] = {
        {"format", typeName(value.getType())},
        {"bits", hexBits(value.getValue().bitcastToAPInt())}};
  }
  for (NamedAttribute entry : contract.getNodes())
    result["nodes"][entry.getName().str()] =
        canonicalNode(cast<pact::NodeAttr>(entry.getValue()));
  for (NamedAttribute entry : contract.getRounding())
    result["rounding"][entry.getName().str()] =
        canonicalRounding(cast<pact::RoundingAttr>(entry.getValue()));
  for (NamedAttribute entry : contract.getPrimitives())
    result["primitives"][entry.getName().str()] =
        cast<FlatSymbolRefAttr>(entry.getValue()).getValue().str();

  for (Operation &op : *module.getBody()) {
    if (auto oper = dyn_cast<pact::OperatorOp>(op))
      result["op"] = canonicalOperator(oper);
    else if (auto primitive = dyn_cast<pact::PrimitiveOp>(op))
      result["definitions"][primitive.getSymName().str()] =
          canonicalPrimitive(primitive);
    else if (auto atom = dyn_cast<pact::AtomOp>(op))
      result["definitions"][atom.getSymName().str()] = canonicalAtom(atom);
  }
  return result;
}
