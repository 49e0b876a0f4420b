// Rules.cpp - rules D, PI, T and P1: dims, tensors and nodes of a contract
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dialects/Pact/Rules.h"

#include "contracts/algebra/RuleError.h"
#include "dialects/Pact/RuleChecker.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace bitpact;
using namespace bitpact::pact;

StringRef pact::formatName(Type type) {
  if (!type)
    return "";
  return type.isBF16()        ? "bf16"
         : type.isF16()       ? "f16"
         : type.isF32()       ? "f32"
         : type.isF64()       ? "f64"
         : type.isInteger(32) ? "i32"
         : type.isInteger(64) ? "i64"
                              : "";
}

Type pact::formatType(StringRef name, MLIRContext *context) {
  Builder builder(context);
  return llvm::StringSwitch<Type>(name)
      .Case("bf16", builder.getBF16Type())
      .Case("f16", builder.getF16Type())
      .Case("f32", builder.getF32Type())
      .Case("f64", builder.getF64Type())
      .Case("i32", builder.getI32Type())
      .Case("i64", builder.getI64Type())
      .Default({});
}

Type pact::elementwiseFormat(ArrayRef<Type> operands, MLIRContext *context) {
  Builder builder(context);
  for (Type type : operands)
    if (type && type.isF64())
      return type;
  return builder.getF32Type();
}

std::string RuleChecker::list(ArrayRef<StringRef> names) {
  if (names.empty())
    return "there are none";
  return "there " + std::string(names.size() == 1 ? "is " : "are ") +
         llvm::join(names, ", ");
}

LogicalResult RuleChecker::checkKeys(StringRef field, StringRef what,
                                     DictionaryAttr bound,
                                     ArrayRef<StringRef> names,
                                     StringRef missing, StringRef unknown,
                                     ArrayRef<StringRef> reported) {
  bool ok = true;
  for (StringRef name : names)
    if (!bound.contains(name)) {
      report({field, name})
          << what << " '" << name << "' of operator '" << op.getSymName()
          << "' is not bound in '" << field << "' [" << missing << "]";
      ok = false;
    }
  for (NamedAttribute entry : bound)
    if (!llvm::is_contained(names, entry.getName().getValue()) &&
        !llvm::is_contained(reported, entry.getName().getValue())) {
      report({field, entry.getName(), ""})
          << "'" << field << "' binds '" << entry.getName().getValue()
          << "', but operator '" << op.getSymName() << "' has no such " << what
          << "; " << list(names) << " [" << unknown << "]";
      ok = false;
    }
  return success(ok);
}

LogicalResult RuleChecker::checkDims() {
  SmallVector<StringRef> names;
  for (StringAttr dim : op.getDims().getAsRange<StringAttr>())
    names.push_back(dim);
  bool ok = succeeded(
      checkKeys("dims", "dim", contract.getDims(), names, "D1", "D1"));
  for (NamedAttribute entry : contract.getDims()) {
    auto extent = dyn_cast<IntegerAttr>(entry.getValue());
    if (extent &&
        (ShapedType::isDynamic(extent.getInt()) || extent.getInt() > 0))
      continue;
    InFlightDiagnostic diag = report({"dims", entry.getName()});
    diag << "dim '" << entry.getName().getValue() << "' has extent ";
    if (extent)
      diag << extent.getInt();
    else
      diag << entry.getValue();
    diag << "; allowed are \"*\" and positive integers [D3]";
    ok = false;
  }
  return success(ok);
}

/// P1 for one format in the contract; integers have no arithmetic.
LogicalResult RuleChecker::checkFormat(ArrayRef<StringRef> path, StringRef what,
                                       Attribute bound) {
  auto type = dyn_cast<TypeAttr>(bound);
  StringRef format = type ? formatName(type.getValue()) : "";
  bool integer = format == "i32" || format == "i64";
  if (!format.empty() && !integer)
    return success();
  report(path) << what << " has type " << bound
               << "; allowed are bf16, f16, f32 and f64"
               << (integer ? ", and i32 only for a tensor that a node names in "
                             "'offsets', i32 and i64 for an index"
                           : "")
               << " [P1]";
  return failure();
}

LogicalResult RuleChecker::checkTensors() {
  SmallVector<StringRef> tensors, params, offsets, indices, bounds;
  op.walk([&](Operation *each) {
    if (auto input = dyn_cast<InputOp>(each))
      tensors.push_back(input.getTensor());
    else if (auto index = dyn_cast<IndexOp>(each))
      tensors.push_back(index.getTensor()), indices.push_back(tensors.back());
    else if (auto segment = dyn_cast<SegmentOp>(each))
      bounds.push_back(
          segment.getOffsets().getDefiningOp<InputOp>().getTensor());
    else if (auto output = dyn_cast<OutputOp>(each))
      tensors.push_back(output.getTensor());
    else if (auto param = dyn_cast<ParamOp>(each))
      params.push_back(param.getParam());
  });
  for (NamedAttribute entry : contract.getNodes())
    if (auto node = dyn_cast<NodeAttr>(entry.getValue()))
      if (node.getOffsets())
        offsets.push_back(node.getOffsets());

  bool used = true;
  for (InputOp input : op.getOps<InputOp>())
    if (input.getResult().use_empty() &&
        !llvm::is_contained(offsets, input.getTensor())) {
      report({"op"}) << "input '" << input.getTensor() << "' of operator '"
                     << op.getSymName()
                     << "' is used by nothing, and no node names it in "
                        "'offsets' [F6]";
      used = false;
    }

  bool ok = succeeded(
      checkKeys("types", "tensor", contract.getTypes(), tensors, "C6", "C2"));
  ok &= used;
  ok &= succeeded(
      checkKeys("params", "param", contract.getParams(), params, "C6", "C2"));
  for (NamedAttribute entry : contract.getTypes()) {
    auto type = dyn_cast<TypeAttr>(entry.getValue());
    if (type && type.getValue().isInteger(32) &&
        llvm::is_contained(offsets, entry.getName().getValue()))
      continue;
    if (llvm::is_contained(bounds, entry.getName().getValue())) {
      ok &= succeeded(checkBounds(entry.getName(), entry.getValue()));
      continue;
    }
    if (llvm::is_contained(indices, entry.getName().getValue())) {
      ok &= succeeded(checkIndex(entry.getName(), entry.getValue()));
      continue;
    }
    ok &= succeeded(
        checkFormat({"types", entry.getName()},
                    ("tensor '" + entry.getName().getValue() + "'").str(),
                    entry.getValue()));
  }
  for (NamedAttribute entry : contract.getParams())
    if (!isa<FloatAttr>(entry.getValue())) {
      report({"params", entry.getName()})
          << "param '" << entry.getName().getValue()
          << "' has no float format; allowed are bf16, f16, f32 and f64 [P1]";
      ok = false;
    }
  return success(ok);
}

LogicalResult RuleChecker::checkIndex(StringRef tensor, Attribute bound) {
  auto type = dyn_cast<TypeAttr>(bound);
  if (type && (type.getValue().isInteger(32) || type.getValue().isInteger(64)))
    return success();
  report({"types", tensor}) << "tensor '" << tensor << "' has type " << bound
                            << "; an index is i32 or i64 [P1]";
  return failure();
}

LogicalResult RuleChecker::checkBounds(StringRef tensor, Attribute bound) {
  auto type = dyn_cast<TypeAttr>(bound);
  if (type && type.getValue().isInteger(32))
    return success();
  report({"types", tensor}) << "tensor '" << tensor << "' has type " << bound
                            << "; offsets of a segment are i32 [P1]";
  return failure();
}

LogicalResult RuleChecker::checkNodes() {
  SmallVector<StringRef> names;
  SmallVector<ReduceOp> reductions(op.getOps<ReduceOp>());
  for (ReduceOp reduce : reductions)
    names.push_back(reduce.getNode());
  bool ok = succeeded(
      checkKeys("nodes", "node", contract.getNodes(), names, "C6", "C2"));
  for (ReduceOp reduce : reductions)
    if (auto node = contract.getNodes().getAs<NodeAttr>(reduce.getNode()))
      ok &= succeeded(checkNode(reduce, node));
  return success(ok);
}

LogicalResult RuleChecker::checkNode(ReduceOp reduce, NodeAttr node) {
  StringRef name = reduce.getNode();
  bool ok = true;
  if (node.getDomain().getValue() != reduce.getOver()) {
    report({"nodes", name, "domain"})
        << "domain of node '" << name << "' is '" << node.getDomain().getValue()
        << "', but the node reduces over '" << reduce.getOver() << "' [D2]";
    ok = false;
  }

  const algebra::Partition &partition = node.getPartition().getValue();
  auto extent = contract.getDims().getAs<IntegerAttr>(reduce.getOver());
  if (extent && (node.getExtent() || node.getStored())) {
    if (failed(checkStored(reduce, node, extent.getInt())))
      return failure();
    extent = Builder(op).getI64IntegerAttr(node.getExtent());
  }
  // An extent that D1 or D3 refused has been reported already.
  if (extent && ShapedType::isDynamic(extent.getInt())) {
    if (std::optional<int64_t> capacity = partition.capacity()) {
      report({"nodes", name, "partition"})
          << "digits '" << partition.text() << "' cover " << *capacity
          << " elements, but dim '" << reduce.getOver()
          << "' has any extent; one digit needs the radix * [PI5]";
      ok = false;
    }
  } else if (extent && extent.getInt() > 0) {
    ok &= succeeded(ask({"nodes", name, "partition"}, name,
                        [&] { partition.validate(extent.getInt()); }));
  }
  ok &= succeeded(checkOffsets(reduce, node));
  ok &= succeeded(ask({"nodes", name, "merge"}, name, [&] {
    node.getMerge().getValue().validate(
        partition, static_cast<algebra::ReductionKind>(reduce.getKind()),
        node.getStart(), node.getState());
  }));
  ok &= succeeded(checkFormat({"nodes", name, "precision", "accumulator"},
                              ("accumulator of node '" + name + "'").str(),
                              TypeAttr::get(node.getAccumulator())));
  return success(ok);
}

LogicalResult RuleChecker::checkOffsets(ReduceOp reduce, NodeAttr node) {
  StringRef name = reduce.getNode();
  bool cuts = node.getPartition().getValue().offsetsDigit().has_value();
  if (cuts && !node.getOffsets()) {
    report({"nodes", name, "partition"})
        << "node '" << name << "' cuts a digit with @offsets; its key "
        << "'offsets' must name an i32 input of operator '" << op.getSymName()
        << "' [PI7]";
    return failure();
  }
  if (!node.getOffsets())
    return success();
  if (!cuts) {
    report({"nodes", name, "offsets"})
        << "node '" << name << "' names offsets '"
        << node.getOffsets().getValue()
        << "', but no digit of its partition is cut with @offsets [PI7]";
    return failure();
  }
  bool isInput = llvm::any_of(op.getOps<InputOp>(), [&](InputOp input) {
    return input.getTensorAttr() == node.getOffsets();
  });
  auto type = contract.getTypes().getAs<TypeAttr>(node.getOffsets());
  if (isInput && type && type.getValue().isInteger(32))
    return success();
  report({"nodes", name, "offsets"})
      << "offsets '" << node.getOffsets().getValue() << "' of node '" << name
      << "' must be an input of operator '" << op.getSymName()
      << "' with type i32 [PI7]";
  return failure();
}

LogicalResult RuleChecker::ask(ArrayRef<StringRef> path, StringRef node,
                               llvm::function_ref<void()> question) {
  try {
    question();
    return success();
  } catch (const algebra::RuleError &error) {
    report(path) << "node '" << node << "': " << error.message() << " ["
                 << error.rule() << "]";
    return failure();
  }
}

static_assert(static_cast<int>(ReduceKind::Sum) ==
                  static_cast<int>(algebra::ReductionKind::Sum) &&
              static_cast<int>(ReduceKind::Dot) ==
                  static_cast<int>(algebra::ReductionKind::Dot) &&
              static_cast<int>(ReduceKind::Max) ==
                  static_cast<int>(algebra::ReductionKind::Max) &&
              static_cast<int>(ReduceKind::ExpSum) ==
                  static_cast<int>(algebra::ReductionKind::ExpSum));

LogicalResult pact::checkContract(ContractOp contract, OperatorOp op,
                                  FindDefinition find, ReportField report) {
  RuleChecker checker{contract, op, find, report};
  bool ok = succeeded(checker.checkDims());
  ok &= succeeded(checker.checkTensors());
  bool nodes = succeeded(checker.checkNodes());
  ok &= nodes && succeeded(checker.checkDomains());
  ok &= succeeded(checker.checkRounding());
  // Formats of values are known only once everything before is in order.
  if (!ok)
    return failure();
  return checker.checkPrimitives();
}
