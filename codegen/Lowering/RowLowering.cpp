// RowLowering.cpp - a contract and a schedule become a kernel
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/Lowering/RowLowering.h"

#include "codegen/Lowering/OutputPass.h"
#include "codegen/Lowering/Signature.h"
#include "codegen/Lowering/SplitPlan.h"
#include "codegen/Lowering/StateEmitter.h"
#include "dialects/Pact/RowAxis.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace bitpact;
using namespace bitpact::lowering;

namespace {

struct Plans {
  RowFamily family;
  llvm::MapVector<Operation *, NodePlan> nodes;
  /// The exp_sum whose state gives a max its value.
  llvm::DenseMap<Operation *, pact::ReduceOp> states;
  /// How outputs with the reduced dim are visited.
  NodePlan outputs;
};

/// Whether the step is the maximum itself, so that any tree over the same
/// elements has its value.
bool isPlainMaximum(pact::ContractOp contract, pact::ReduceOp max) {
  auto step = SymbolTable::lookupNearestSymbolFrom<pact::PrimitiveOp>(
      contract, cast<FlatSymbolRefAttr>(contract.getPrimitives().get(
                    (max.getNode() + ".step").str())));
  Block &body = step.getBody().front();
  auto merge = dyn_cast<arith::MaximumFOp>(body.front());
  return merge && body.getNumArguments() == 2 &&
         merge.getLhs() != merge.getRhs() &&
         isa<BlockArgument>(merge.getLhs()) &&
         isa<BlockArgument>(merge.getRhs()) &&
         body.getTerminator()->getOperand(0) == merge.getResult();
}

bool isOnline(pact::ContractOp contract, pact::ReduceOp reduce) {
  auto node = cast<pact::NodeAttr>(contract.getNodes().get(reduce.getNode()));
  return node.getState() == algebra::State::Online;
}

/// An online exp_sum of the max; its state has the max too.
pact::ReduceOp stateOf(pact::ContractOp contract, pact::ReduceOp max) {
  if (max.getKind() != pact::ReduceKind::Max || !isPlainMaximum(contract, max))
    return {};
  for (Operation *user : max.getResult().getUsers()) {
    auto sum = dyn_cast<pact::ReduceOp>(user);
    if (sum && isOnline(contract, sum))
      return sum;
  }
  return {};
}

/// What a split and several rows a lane ask of the whole operator.
llvm::Error checkRows(pact::OperatorOp op, const Plans &plans,
                      kernel::ScheduleAttr schedule) {
  if (schedule.getRowsPerLane() == 1 && !schedule.getSplit())
    return llvm::Error::success();
  const RowFamily &family = plans.family;
  auto refuse = [&](const llvm::Twine &why) {
    return llvm::createStringError("operator " + op.getSymName() + " " + why);
  };
  if (!plans.states.empty())
    return refuse("has a running maximum; lanes with several rows, and rows "
                  "that programs share, are for values");
  bool isElementwise = pact::isElementwise(op);
  if (schedule.getSplit() && !isElementwise && plans.nodes.size() != 1)
    return refuse("has " + llvm::Twine(plans.nodes.size()) +
                  " nodes; programs can share the rows of one");
  auto hasDim = [](pact::RealType type, StringRef dim) {
    return llvm::any_of(type.getDims(),
                        [&](StringAttr each) { return each == dim; });
  };
  if (isElementwise && schedule.getSplit() && schedule.getAdjacent())
    return refuse("has no nodes; programs can share its rows on GPUs");
  for (pact::OutputOp output : op.getOps<pact::OutputOp>()) {
    auto type = cast<pact::RealType>(output.getValue().getType());
    if (isElementwise && schedule.getSplit() &&
        !hasDim(type, family.reducedDim))
      return refuse("has the output '" + output.getTensor() +
                    "' without the dim '" + family.reducedDim +
                    "'; programs can share rows of elements");
    if (hasDim(type, family.reducedDim) &&
        !(isElementwise && schedule.getRowsPerLane() == 1))
      return refuse("has the output '" + output.getTensor() +
                    "' with the reduced dim; only results of rows can leave "
                    "lanes with several rows, or rows that programs share");
    if (!family.rowDim.empty() && !hasDim(type, family.rowDim))
      return refuse("has the output '" + output.getTensor() +
                    "' without the dim '" + family.rowDim + "'");
  }
  if (schedule.getRowsPerLane() == 1)
    return llvm::Error::success();
  if (family.rowDim.empty())
    return refuse("has a single row, and lanes take several");
  for (auto &[tensor, type] : tensorTypes(op))
    if (hasDim(type, family.rowDim) &&
        type.getDims().back() != StringRef(family.rowDim))
      return refuse("has the tensor '" + tensor + "', in which neighbours in '" +
                    family.rowDim + "' do not lie side by side");
  return llvm::Error::success();
}

llvm::Expected<Plans> planAll(pact::ContractOp contract, pact::OperatorOp op,
                              kernel::ScheduleAttr schedule) {
  Plans plans;
  llvm::Expected<RowFamily> family = rowFamily(contract, op);
  if (!family)
    return family.takeError();
  plans.family = *family;
  for (pact::ReduceOp reduce : op.getOps<pact::ReduceOp>()) {
    if (pact::ReduceOp state = stateOf(contract, reduce)) {
      plans.states[reduce] = state;
      continue;
    }
    auto node = cast<pact::NodeAttr>(contract.getNodes().get(reduce.getNode()));
    if (StringAttr offsets = node.getOffsets()) {
      pact::RealType type = tensorTypes(op).at(offsets.str());
      if (type.getDims().size() != 1 ||
          type.getDims()[0] != StringRef(plans.family.offsetsDim))
        return llvm::createStringError(
            "node " + reduce.getNode().str() + ": offsets: tensor '" +
            offsets.str() +
            "' needs one dim, which no other tensor has; schedules take the "
            "number of blocks from it");
    }
    llvm::Expected<NodePlan> plan =
        planNode(node, node.extentOf(plans.family.extent), schedule);
    if (!plan)
      return llvm::createStringError("node " + reduce.getNode().str() + ": " +
                                     llvm::toString(plan.takeError()));
    plans.nodes.insert({reduce, std::move(*plan)});
  }
  if (llvm::Error error = checkRows(op, plans, schedule))
    return error;
  // Elements that do not exist for the nodes are elements of outputs.
  if (!plans.nodes.empty())
    plans.outputs = plans.nodes.back().second;
  if (plans.nodes.empty() || plans.outputs.extent != plans.family.extent)
    plans.outputs = planElements(plans.family.extent, schedule);
  return plans;
}

kernel::FuncOp createFunction(OpBuilder &builder, pact::ContractOp contract,
                              pact::OperatorOp op, const RowFamily &family,
                              kernel::ScheduleAttr schedule, StringRef symbol,
                              Type workspace, kernel::SplitAttr split) {
  Signature signature = signatureOf(contract, op);
  auto bufferOf = [&](Type element) {
    return kernel::BufferType::get(builder.getContext(), element);
  };
  if (workspace)
    signature.add(bufferOf(workspace), "workspace");
  bool hasOffsets = llvm::any_of(contract.getNodes(), [](NamedAttribute node) {
    return bool(cast<pact::NodeAttr>(node.getValue()).getOffsets());
  });
  if (hasOffsets || !op.getOps<pact::TakeOp>().empty())
    signature.add(bufferOf(builder.getI32Type()), kernel::FuncOp::kFaultSlot);
  auto func = kernel::FuncOp::create(
      builder, contract.getLoc(), symbol,
      signature.slots(builder.getContext()),
      family.rowDim, schedule, contract.getDigestAttr(), DictionaryAttr(),
      split);
  signature.addTo(func.getBody().emplaceBlock(), func.getLoc());
  return func;
}

/// Writes the body of one kernel.
class RowKernel {
public:
  /// `brokenPacks`: the plans for rows that are no whole packs.
  RowKernel(pact::ContractOp contract, pact::OperatorOp op, Plans &plans,
            Plans &brokenPacks, kernel::FuncOp func)
      : contract(contract), op(op), plans(plans), brokenPacks(brokenPacks),
        func(func), builder(func.getContext()) {
    builder.setInsertionPointToStart(&func.getBody().front());
  }

  /// `parts` says what the kernel before this one left, if it did.
  void emit(kernel::SplitAttr parts = {}) {
    RowContext context(builder, func.getLoc(), func, contract, op,
                       plans.family, func.getSchedule());
    if (parts && parts.getLess()) // blocks between offsets
      context.reduceParts(context.partCount(parts));
    if (!context.mapsRows()) {
      emitRows(context, plans);
    } else if (Value whole = context.rowsAreWhole()) {
      auto branch = scf::IfOp::create(builder, func.getLoc(), whole,
                                      /*withElseRegion=*/true);
      for (bool taken : {true, false}) {
        OpBuilder::InsertionGuard guard(builder);
        RowContext::Scope scope(context);
        builder.setInsertionPointToStart(taken ? branch.thenBlock()
                                               : branch.elseBlock());
        context.mapRows(taken);
        emitRows(context, taken ? plans : brokenPacks);
      }
    } else {
      context.mapRows(true);
      emitRows(context, plans);
    }
    kernel::ReturnOp::create(builder, func.getLoc());
    SmallVector<NamedAttribute> access;
    for (auto &[tensor, bytes] : context.alignments())
      access.push_back(
          builder.getNamedAttr(tensor, builder.getI64IntegerAttr(bytes)));
    func.setAccessAttr(builder.getDictionaryAttr(access));
  }

private:
  void emitRows(RowContext &context, Plans &plans) {
    ElementEmitter elements(context);
    kernel::ScheduleAttr schedule = func.getSchedule();
    SmallVector<pact::OutputOp> wide;
    StringAttr reduced = builder.getStringAttr(plans.family.reducedDim);
    auto isWide = [&](pact::OutputOp output) {
      return llvm::is_contained(
          cast<pact::RealType>(output.getValue().getType()).getDims(), reduced);
    };
    if (!schedule.getAdjacent() && !plans.nodes.empty() &&
        llvm::any_of(op.getOps<pact::OutputOp>(), isWide))
      loadAhead(context, plans.nodes.back().second, op);
    for (Operation &each : op.getBody().front()) {
      if (auto reduce = dyn_cast<pact::ReduceOp>(each)) {
        if (elements.hasNode(reduce.getResult()))
          continue; // its state came with the max
        auto state = plans.states.find(reduce);
        pact::ReduceOp sum =
            state == plans.states.end() ? reduce : state->second;
        if (isOnline(contract, sum)) {
          emitState(context, elements, reduce, sum, plans.nodes[sum]);
          continue;
        }
        TreeEmitter tree(context, elements, reduce, plans.nodes[reduce]);
        TreeEmitter::Values values = tree.emit();
        if (func.getSplit())
          return context.storePart(values);
        for (auto [column, value] : llvm::enumerate(values)) {
          context.setColumn(column);
          elements.bindNode(reduce.getResult(), value);
        }
        auto node = cast<pact::NodeAttr>(
            contract.getNodes().get(reduce.getNode()));
        if (node.getOffsets())
          context.checkOffsets(node.getOffsets());
      } else if (auto output = dyn_cast<pact::OutputOp>(each)) {
        if (isWide(output))
          wide.push_back(output);
        else
          storeRows(context, elements, output);
      } else if (!func.getSplit()) {
        rowValue(context, elements, each);
      }
    }
    // Lanes in one register take elements in another order for the outputs,
    // where the plan has them reordered.
    OutputPass outputs(context, elements, wide);
    if (!wide.empty() && schedule.getAdjacent() &&
        schedule.rowsPerProgram() == 1)
      outputs.runAcross();
    else if (!wide.empty())
      outputs.run(plans.outputs);
  }

  /// The sum, and if it is another node the maximum.
  void emitState(RowContext &context, ElementEmitter &elements,
                 pact::ReduceOp node, pact::ReduceOp sum, NodePlan &plan) {
    StateEmitter emitter(context, elements, sum, plan);
    StateEmitter::State state = emitter.emit();
    elements.bindNode(sum.getResult(), state.sum);
    if (sum != node)
      elements.bindNode(node.getResult(), state.maximum);
  }

  void storeRows(RowContext &context, ElementEmitter &elements,
                 pact::OutputOp output) {
    if (!context.mapsRows())
      return context.storeRow(output.getTensor(),
                              elements.output(output, nullptr, nullptr));
    SmallVector<Value> values;
    for (int64_t column = 0; column < context.columns(); ++column) {
      context.setColumn(column);
      values.push_back(
          context.unlessFault(elements.output(output, nullptr, nullptr)));
    }
    context.storeColumns(output.getTensor(), values);
  }

  /// Values of a row are computed once, outside of every loop. An exact
  /// product has no value of its own.
  void rowValue(RowContext &context, ElementEmitter &elements,
                Operation &each) {
    StringAttr reduced = builder.getStringAttr(plans.family.reducedDim);
    auto type = dyn_cast<pact::RealType>(each.getResult(0).getType());
    if (llvm::is_contained(type.getDims(), reduced) ||
        isa<pact::ConstantOp, pact::ExtentOp, pact::IndexOp>(each) ||
        each.getResult(0).use_empty()) // offsets
      return;
    auto site = each.getAttrOfType<StringAttr>("site");
    bool exact =
        site && !isa<pact::ApplyOp>(each) &&
        cast<pact::RoundingAttr>(contract.getRounding().get(site)).isExact();
    if (exact)
      return;
    for (int64_t column = 0; column < context.columns(); ++column) {
      context.setColumn(column);
      elements.value(each.getResult(0), nullptr, nullptr);
    }
  }

  pact::ContractOp contract;
  pact::OperatorOp op;
  Plans &plans, &brokenPacks;
  kernel::FuncOp func;
  OpBuilder builder;
};

/// The kernel that merges parts has a row in each lane.
kernel::ScheduleAttr scheduleOfMerge(kernel::ScheduleAttr schedule) {
  int64_t warp = schedule.getSubgroup();
  return kernel::ScheduleAttr::get(schedule.getContext(), "row_per_lane", warp,
                                   warp, /*programsPerGroup=*/1,
                                   schedule.getAdjacent() ? 1 : 0,
                                   schedule.getUnroll(), schedule.getAdjacent(),
                                   /*rowsPerLane=*/1, /*split=*/0);
}

} // namespace

std::optional<std::string> lowering::whyNot(pact::ContractOp contract,
                                            pact::OperatorOp op,
                                            kernel::ScheduleAttr schedule) {
  llvm::Expected<Plans> plans = planAll(contract, op, schedule);
  if (plans)
    return std::nullopt;
  return llvm::toString(plans.takeError());
}

FailureOr<SmallVector<kernel::FuncOp>>
lowering::lowerRows(pact::ContractOp contract, pact::OperatorOp op,
                    kernel::ScheduleAttr schedule, StringRef symbol,
                    ModuleOp into) {
  llvm::Expected<Plans> plans = planAll(contract, op, schedule);
  if (!plans) {
    contract.emitError() << llvm::toString(plans.takeError());
    return failure();
  }
  Plans brokenPacks = *plans;
  for (auto &[reduce, plan] : brokenPacks.nodes)
    plan = planOfBrokenPacks(plan, rowPackOf(contract, schedule));
  OpBuilder builder = OpBuilder::atBlockEnd(into.getBody());
  SmallVector<kernel::FuncOp> steps;
  if (!schedule.getSplit() || plans->nodes.empty()) {
    // Stretches of a row have no parts to merge.
    kernel::SplitAttr split;
    if (schedule.getSplit())
      split = splitOf(builder.getContext(), plans->outputs, plans->family);
    steps.push_back(createFunction(builder, contract, op, plans->family,
                                   schedule, symbol, Type(), split));
    RowKernel(contract, op, *plans, brokenPacks, steps.back()).emit();
    return steps;
  }
  auto &[reduce, plan] = plans->nodes.front();
  auto node = cast<pact::NodeAttr>(contract.getNodes().get(
      cast<pact::ReduceOp>(reduce).getNode()));
  kernel::SplitAttr split =
      splitOf(builder.getContext(), plan, plans->family);
  steps.push_back(createFunction(builder, contract, op, plans->family, schedule,
                                 symbol, node.getAccumulator(), split));
  RowKernel(contract, op, *plans, brokenPacks, steps.back()).emit();
  plan = planOfMerge(plan);
  steps.push_back(createFunction(
      builder, contract, op, plans->family, scheduleOfMerge(schedule),
      (symbol + "_merge").str(), node.getAccumulator(), {}));
  RowKernel(contract, op, *plans, *plans, steps.back()).emit(split);
  return steps;
}

kernel::SplitAttr lowering::splitOf(pact::ContractOp contract,
                                    pact::OperatorOp op,
                                    kernel::ScheduleAttr schedule) {
  if (!schedule.getSplit())
    return {};
  Plans plans = llvm::cantFail(planAll(contract, op, schedule));
  return splitOf(contract.getContext(),
                 plans.nodes.empty() ? plans.outputs
                                     : plans.nodes.front().second,
                 plans.family);
}

std::string lowering::workspaceOf(pact::ContractOp contract,
                                  pact::OperatorOp op,
                                  kernel::ScheduleAttr schedule) {
  if (!schedule.getSplit() || pact::isElementwise(op))
    return "0";
  Plans plans = llvm::cantFail(planAll(contract, op, schedule));
  auto &[reduce, plan] = plans.nodes.front();
  auto node = cast<pact::NodeAttr>(contract.getNodes().get(
      cast<pact::ReduceOp>(reduce).getNode()));
  kernel::SplitAttr split = splitOf(contract.getContext(), plan, plans.family);
  std::string text =
      std::to_string(node.getAccumulator().getIntOrFloatBitWidth() / 8);
  // One part too many where the dim counts the ends of the parts.
  if (split.getDim().empty())
    text += llvm::formatv("*{0}", split.getLength());
  else if (split.getLength() == 1)
    text += llvm::formatv("*{0}", split.getDim());
  else
    text += llvm::formatv("*ceil({0}/{1})", split.getDim(), split.getLength());
  if (!plans.family.rowDim.empty())
    text += "*" + plans.family.rowDim;
  return text;
}
