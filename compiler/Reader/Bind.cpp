// Bind.cpp - texts of a contract file become attributes, each checked
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/Reader/Bind.h"

#include "compiler/Reader/Decimal.h"
#include "contracts/algebra/RuleError.h"
#include "dialects/Pact/Rules.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace bitpact;
using namespace bitpact::reader;
using Kind = reader::Value::Kind;

namespace {

/// Builds the attributes of one contract. After the first error it goes on, so
/// that one run reports all of them.
class Binder {
public:
  Binder(const reader::Value &root, const Library &library,
         MLIRContext *context)
      : root(root), library(library), builder(context) {}

  FailureOr<OwningOpRef<ModuleOp>> bind();

private:
  InFlightDiagnostic error(Location loc) {
    ok = false;
    return emitError(loc);
  }

  /// A dictionary of one attribute for every member of a field.
  template <typename Convert>
  DictionaryAttr convert(StringRef field, Convert each) {
    NamedAttrList entries;
    if (const reader::Value *object = root.get(field))
      for (const Member &member : object->members)
        if (Attribute attribute = each(member))
          entries.append(member.key, attribute);
    return entries.getDictionary(builder.getContext());
  }

  Attribute extent(const Member &member);
  Type format(const reader::Value &value, StringRef what, bool integer = false);
  Attribute param(const Member &member);
  Attribute rounding(const Member &member);
  Attribute primitive(const Member &member);
  Attribute node(const Member &member);
  /// A node's dim, and how much of it exists where it is padded.
  struct Domain {
    StringAttr dim;
    int64_t extent = 0, stored = 0;
  };
  Domain domain(StringRef node, const reader::Value &value);
  std::optional<algebra::State> state(StringRef node,
                                      const reader::Value *value);
  std::optional<algebra::MergeOrder> merge(const reader::Value &list);

  Location place(ArrayRef<StringRef> path) const;
  void placeOps(pact::OperatorOp op) const;

  const reader::Value &root;
  const Library &library;
  OpBuilder builder;
  bool ok = true;
};

Attribute Binder::extent(const Member &member) {
  const reader::Value &value = member.value;
  if (value.is(Kind::String) && value.text == "*")
    return builder.getI64IntegerAttr(ShapedType::kDynamic);
  int64_t number = 0;
  bool tooLarge = false;
  if (value.is(Kind::Number) &&
      value.text.find_first_of(".eE") == std::string::npos) {
    tooLarge = StringRef(value.text).getAsInteger(10, number);
    if (!tooLarge && number > 0)
      return builder.getI64IntegerAttr(number);
    error(value.loc) << "dim '" << member.key << "' has extent " << value.text
                     << "; allowed are \"*\" and positive integers"
                     << (tooLarge ? " below 2^63" : "") << " [D3]";
    return {};
  }
  error(value.loc) << "dim '" << member.key << "' is '" << value.text
                   << "'; allowed are \"*\" and positive integers [C4]";
  return {};
}

Type Binder::format(const reader::Value &value, StringRef what, bool integer) {
  Type type = pact::formatType(value.text, builder.getContext());
  if (type && (integer || isa<FloatType>(type)))
    return type;
  error(value.loc) << what << " has the unknown format '" << value.text
                   << "'; allowed are bf16, f16, f32 and f64"
                   << (integer ? ", i32 for offsets, i32 and i64 for an index"
                               : "")
                   << " [P1]";
  return {};
}

Attribute Binder::param(const Member &member) {
  auto [number, name] = StringRef(member.value.text).trim().split(' ');
  name = name.trim();
  Type type = pact::formatType(name, builder.getContext());
  if (!isa_and_nonnull<FloatType>(type)) {
    error(member.value.loc)
        << "param '" << member.key << "' is '" << member.value.text
        << "'; write a decimal number and its format, one of bf16, f16, f32 "
           "and f64, as in \"1e-6 f32\" [P1]";
    return {};
  }
  std::string reason;
  std::optional<llvm::APFloat> value =
      parseDecimal(number, cast<FloatType>(type).getFloatSemantics(), reason);
  if (value)
    return FloatAttr::get(type, *value);
  error(member.value.loc) << "param '" << member.key << "' is '" << number
                          << "', which " << reason << " [P1]";
  return {};
}

Attribute Binder::rounding(const Member &member) {
  StringRef text = StringRef(member.value.text).trim();
  MLIRContext *context = builder.getContext();
  if (text == "exact")
    return pact::RoundingAttr::get(context, {}, {});
  auto [name, mode] = text.split(' ');
  Type type = pact::formatType(name, context);
  mode = mode.trim();
  if (isa_and_nonnull<FloatType>(type) && mode == "rne")
    return pact::RoundingAttr::get(context, type, builder.getStringAttr(mode));
  error(member.value.loc)
      << "site '" << member.key << "' rounds to '" << member.value.text
      << "'; allowed are \"exact\" and one of bf16, f16, f32 and f64 with the "
         "mode rne, as in \"f32 rne\" [R4]";
  return {};
}

Attribute Binder::primitive(const Member &member) {
  if (library.findDefinition(member.value.text))
    return FlatSymbolRefAttr::get(builder.getContext(), member.value.text);
  error(member.value.loc) << "primitive '" << member.value.text << "' at site '"
                          << member.key << "' is unknown; there are "
                          << library.definitionNames() << " [A2]";
  return {};
}

std::optional<algebra::MergeOrder> Binder::merge(const reader::Value &list) {
  std::vector<algebra::MergeEntry> entries;
  bool parsed = true;
  for (const reader::Value &item : list.items) {
    try {
      entries.push_back(algebra::MergeEntry::parse(item.text));
    } catch (const algebra::RuleError &broken) {
      error(item.loc) << broken.what();
      parsed = false;
    }
  }
  if (!parsed)
    return std::nullopt;
  return algebra::MergeOrder(std::move(entries));
}

Binder::Domain Binder::domain(StringRef node, const reader::Value &value) {
  if (value.is(Kind::String))
    return {builder.getStringAttr(value.text)};
  if (value.members.size() != 1) {
    error(value.loc) << "domain of node '" << node << "' names "
                     << value.members.size() << " dims; write one [D2]";
    return {};
  }
  const Member &only = value.members[0];
  Domain result{builder.getStringAttr(only.key)};
  for (auto [key, number] : {std::pair("extent", &result.extent),
                             std::pair("stored", &result.stored)}) {
    const reader::Value &given = *only.value.get(key);
    if (!StringRef(given.text).getAsInteger(10, *number) && *number > 0)
      continue;
    error(given.loc) << "'" << key << "' of domain '" << only.key << "' is "
                     << given.text
                     << "; allowed are positive integers below 2^63 [D4]";
    return {};
  }
  return result;
}

std::optional<algebra::State> Binder::state(StringRef node,
                                            const reader::Value *value) {
  if (!value)
    return algebra::State::None;
  std::optional<algebra::State> state = algebra::parseState(value->text);
  if (!state)
    error(value->loc) << "state of node '" << node << "' is '" << value->text
                      << "'; allowed are two_pass and online [C4]";
  return state;
}

Attribute Binder::node(const Member &member) {
  const reader::Value &value = member.value;
  bool before = std::exchange(ok, true);
  std::optional<algebra::Partition> partition;
  try {
    partition = algebra::Partition::parse(value.get("partition")->text);
  } catch (const algebra::RuleError &broken) {
    error(value.get("partition")->loc)
        << "node '" << member.key << "': " << broken.what();
  }
  std::optional<algebra::MergeOrder> order = merge(*value.get("merge"));

  const reader::Value &startText = *value.get("start");
  std::optional<algebra::Start> start = algebra::parseStart(startText.text);
  if (!start)
    error(startText.loc) << "start of node '" << member.key << "' is '"
                         << startText.text
                         << "'; allowed are identity and first [C4]";

  Domain dims = domain(member.key, *value.get("domain"));
  std::optional<algebra::State> meets = state(member.key, value.get("state"));
  const reader::Value &precision = *value.get("precision");
  Type accumulator = format(*precision.get("accumulator"),
                            "the accumulator of node '" + member.key + "'");
  StringAttr product, offsets;
  if (const reader::Value *given = precision.get("product"))
    if (given->text == "exact" ||
        format(*given, "the product of node '" + member.key + "'"))
      product = builder.getStringAttr(given->text);
  if (const reader::Value *given = value.get("offsets"))
    offsets = builder.getStringAttr(given->text);

  bool good = std::exchange(ok, ok && before);
  if (!good)
    return {};
  MLIRContext *context = builder.getContext();
  return pact::NodeAttr::get(
      context, dims.dim, pact::PartitionAttr::get(context, *partition),
      pact::MergeAttr::get(context, *order), *start, accumulator, product,
      offsets, *meets, dims.extent, dims.stored);
}

/// The place of a field; of what holds it, where it is absent; of its key,
/// where the last element is empty.
Location Binder::place(ArrayRef<StringRef> path) const {
  const reader::Value *at = &root;
  Location loc = root.loc;
  Location key = root.loc;
  for (StringRef name : path) {
    if (name.empty())
      return key;
    const Member *member = at->find(name);
    if (!member)
      break;
    at = &member->value;
    loc = at->loc;
    key = member->loc;
  }
  return loc;
}

/// Ops of the operator point at what the contract says about them.
void Binder::placeOps(pact::OperatorOp op) const {
  op->setLoc(place({"op"}));
  for (Operation &each : op.getBody().front()) {
    Location loc = op.getLoc();
    if (auto input = dyn_cast<pact::InputOp>(each))
      loc = place({"types", input.getTensor()});
    else if (auto index = dyn_cast<pact::IndexOp>(each))
      loc = place({"types", index.getTensor()});
    else if (auto param = dyn_cast<pact::ParamOp>(each))
      loc = place({"params", param.getParam()});
    else if (auto reduce = dyn_cast<pact::ReduceOp>(each))
      loc = place({"nodes", reduce.getNode(), ""});
    else if (auto apply = dyn_cast<pact::ApplyOp>(each))
      loc = place({"primitives", apply.getSite()});
    else if (auto output = dyn_cast<pact::OutputOp>(each))
      loc = place({"rounding", output.getSiteName()});
    else if (auto site = each.getAttrOfType<StringAttr>("site"))
      loc = place({"rounding", site});
    each.setLoc(loc);
  }
}

FailureOr<OwningOpRef<ModuleOp>> Binder::bind() {
  const reader::Value &opText = *root.get("op");
  pact::OperatorOp definition = library.findOperator(opText.text);
  if (!definition)
    return error(opText.loc)
           << "unknown operator '" << opText.text << "'; there are "
           << library.operatorNames() << " [C7]";

  DictionaryAttr dims =
      convert("dims", [&](const Member &each) { return extent(each); });
  DictionaryAttr types = convert("types", [&](const Member &each) -> Attribute {
    Type type = format(each.value, "tensor '" + each.key + "'", true);
    return type ? TypeAttr::get(type) : Attribute();
  });
  DictionaryAttr params =
      convert("params", [&](const Member &each) { return param(each); });
  DictionaryAttr nodes =
      convert("nodes", [&](const Member &each) { return node(each); });
  DictionaryAttr roundings =
      convert("rounding", [&](const Member &each) { return rounding(each); });
  DictionaryAttr primitives = convert(
      "primitives", [&](const Member &each) { return primitive(each); });
  if (!ok)
    return failure();

  OwningOpRef<ModuleOp> module = ModuleOp::create(root.loc);
  builder.setInsertionPointToEnd(module->getBody());
  auto op = cast<pact::OperatorOp>(builder.clone(*definition));
  placeOps(op);
  llvm::StringSet<> cloned;
  for (NamedAttribute entry : primitives) {
    StringRef name = cast<FlatSymbolRefAttr>(entry.getValue()).getValue();
    if (!cloned.insert(name).second)
      continue;
    Operation *copy = builder.clone(*library.findDefinition(name));
    Location loc = place({"primitives", entry.getName()});
    copy->walk([&](Operation *each) { each->setLoc(loc); });
  }
  const reader::Value *doc = root.get("doc");
  auto contract = pact::ContractOp::create(
      builder, root.loc, builder.getStringAttr(root.get("name")->text),
      FlatSymbolRefAttr::get(definition.getSymNameAttr()), dims, types, params,
      nodes, roundings, primitives, StringAttr(),
      doc ? builder.getStringAttr(doc->text) : StringAttr());

  SymbolTable symbols(*module);
  if (failed(pact::checkContract(
          contract, op, [&](StringRef name) { return symbols.lookup(name); },
          [&](ArrayRef<StringRef> path) { return emitError(place(path)); })))
    return failure();
  return module;
}

} // namespace

FailureOr<OwningOpRef<ModuleOp>> reader::bindContract(const Value &root,
                                                      const Library &library,
                                                      MLIRContext *context) {
  return Binder(root, library, context).bind();
}
