// RowLowering.cpp - a contract and a schedule become a kernel
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/Lowering/RowLowering.h"

#include "codegen/Lowering/SplitPlan.h"
#include "codegen/Lowering/TreeEmitter.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace bitpact;
using namespace bitpact::lowering;

namespace {

struct Plans {
  RowFamily family;
  llvm::MapVector<Operation *, NodePlan> nodes;
};

/// What a split and several rows a lane ask of the whole operator.
llvm::Error checkRows(pact::OperatorOp op, const Plans &plans,
                      kernel::ScheduleAttr schedule) {
  if (schedule.getRowsPerLane() == 1 && !schedule.getSplit())
    return llvm::Error::success();
  const RowFamily &family = plans.family;
  auto refuse = [&](const llvm::Twine &why) {
    return llvm::createStringError("operator " + op.getSymName() + " " + why);
  };
  if (schedule.getSplit() && plans.nodes.size() != 1)
    return refuse("has " + llvm::Twine(plans.nodes.size()) +
                  " nodes; programs can share the rows of one");
  auto hasDim = [](pact::RealType type, StringRef dim) {
    return llvm::any_of(type.getDims(),
                        [&](StringAttr each) { return each == dim; });
  };
  for (pact::OutputOp output : op.getOps<pact::OutputOp>()) {
    auto type = cast<pact::RealType>(output.getValue().getType());
    if (hasDim(type, family.reducedDim))
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
        planNode(node, plans.family.extent, schedule);
    if (!plan)
      return llvm::createStringError("node " + reduce.getNode().str() + ": " +
                                     llvm::toString(plan.takeError()));
    plans.nodes.insert({reduce, std::move(*plan)});
  }
  if (llvm::Error error = checkRows(op, plans, schedule))
    return error;
  return plans;
}

/// Visits every element of a plan once, those of a pack together.
class ElementVisitor {
public:
  using Body = llvm::function_ref<void(ArrayRef<Instance>)>;

  ElementVisitor(RowContext &context, const NodePlan &plan, Body body)
      : context(context), plan(plan), body(body) {
    for (const SubDigit &sub : plan.order)
      bySize.push_back(&sub);
    llvm::stable_sort(bySize, [&](const SubDigit *a, const SubDigit *b) {
      return span(*a) > span(*b);
    });
  }

  void run(const Instance &from) { visit(0, from); }

private:
  int64_t span(const SubDigit &sub) const {
    return sub.weight * plan.digits[sub.digit].length;
  }

  void visit(size_t depth, const Instance &block) {
    if (depth == bySize.size())
      return body({block});
    const SubDigit &sub = *bySize[depth];
    Instance next = block;
    Affine &digit = next.digits[sub.digit];
    switch (sub.binding) {
    case Binding::Lanes:
      digit.addTerm(context.lane(), sub.weight);
      return visit(depth + 1, next);
    case Binding::Loop:
      context.loop(context.tripCount(plan, sub), {},
                   [&](Value index, ValueRange) {
                     digit.addTerm(index, sub.weight);
                     visit(depth + 1, next);
                     return SmallVector<Value>();
                   });
      return;
    case Binding::Split:
      llvm_unreachable("programs that share a row store no row");
    case Binding::Unroll:
      break;
    }
    SmallVector<Instance> group;
    bool last = depth + 1 == bySize.size() && plan.pack > 1;
    for (int64_t v = 0; v < sub.radix; ++v) {
      Instance one = block;
      one.digits[sub.digit].constant += v * sub.weight;
      if (context.present(plan, one).never())
        break;
      if (last)
        group.push_back(one);
      else
        visit(depth + 1, one);
    }
    if (!group.empty())
      body(group);
  }

  RowContext &context;
  const NodePlan &plan;
  Body body;
  SmallVector<const SubDigit *> bySize;
};

/// Stores the outputs that have the reduced dim.
class OutputPass {
public:
  OutputPass(RowContext &context, ElementEmitter &elements,
             ArrayRef<pact::OutputOp> outputs)
      : context(context), elements(elements), outputs(outputs) {}

  /// In the order of a node's plan, whose elements may be in registers.
  void run(const NodePlan &plan) { run(plan, context.wholeRow(plan)); }

  /// Neighbouring lanes on neighbouring elements: nothing has to be reordered
  /// for a register. Elements are absent only in the last step.
  void runAcross() {
    const RowFamily &family = context.family;
    OpBuilder &builder = context.builder;
    int64_t lanes = context.lanes();
    NodePlan steps = planAcross(lanes, family.extent, /*whole=*/true);
    NodePlan rest = planAcross(lanes, family.extent, /*whole=*/false);
    Instance last = context.wholeRow(rest);
    if (family.extent != kDynamic) {
      int64_t whole = family.extent / lanes;
      if (whole)
        run(steps, context.wholeRow(steps));
      last.digits[0].constant = whole;
      if (family.extent % lanes)
        run(rest, last);
      return;
    }
    Value whole = arith::DivUIOp::create(builder, context.loc,
                                         context.extentOf(family.reducedDim),
                                         context.i64(lanes));
    context.loop(whole, {}, [&](Value index, ValueRange) {
      Instance step = context.wholeRow(steps);
      step.digits[0].addTerm(index, 1);
      run(steps, step);
      return SmallVector<Value>();
    });
    last.digits[0].addTerm(whole, 1);
    run(rest, last);
  }

private:
  void run(const NodePlan &plan, const Instance &from) {
    ElementVisitor(context, plan, [&](ArrayRef<Instance> group) {
      write(plan, group);
    }).run(from);
  }

  void write(const NodePlan &plan, ArrayRef<Instance> group) {
    for (pact::OutputOp output : outputs) {
      SmallVector<Value> values;
      for (const Instance &instance : group)
        values.push_back(elements.output(output, &plan, &instance));
      if (group.size() == size_t(plan.pack) &&
          context.packs(output.getTensor(), plan)) {
        context.store(output.getTensor(), plan, group, values);
        continue;
      }
      for (auto [instance, value] : llvm::zip(group, values))
        context.store(output.getTensor(), plan, instance, value);
    }
  }

  RowContext &context;
  ElementEmitter &elements;
  ArrayRef<pact::OutputOp> outputs;
};

/// Registers of a lane that wait for loads which are asked for at once.
constexpr int64_t kBytesAhead = 128;

/// Asks for all elements of a row at its beginning, those too that are needed
/// only once the reductions are done: one wait for memory instead of two. Only
/// where registers keep them.
void loadAhead(RowContext &context, const NodePlan &plan, pact::OperatorOp op) {
  int64_t elements = 1, bytes = 0;
  for (const SubDigit &sub : plan.order) {
    if (sub.binding == Binding::Loop)
      return;
    if (sub.binding == Binding::Unroll)
      elements *= sub.radix;
  }
  SmallVector<StringRef> tensors;
  for (pact::InputOp input : op.getOps<pact::InputOp>()) {
    StringRef tensor = input.getTensor();
    if (!context.packs(tensor, plan))
      continue;
    Type type =
        cast<TypeAttr>(context.contract.getTypes().get(tensor)).getValue();
    bytes += elements * type.getIntOrFloatBitWidth() / 8;
    tensors.push_back(tensor);
  }
  if (bytes > kBytesAhead)
    return;
  for (StringRef tensor : tensors)
    ElementVisitor(context, plan, [&](ArrayRef<Instance> group) {
      context.load(tensor, plan, group.front());
    }).run(context.wholeRow(plan));
}

kernel::FuncOp createFunction(OpBuilder &builder, pact::ContractOp contract,
                              pact::OperatorOp op, const RowFamily &family,
                              kernel::ScheduleAttr schedule, StringRef symbol,
                              Type workspace, kernel::SplitAttr split) {
  SmallVector<StringRef> order;
  for (Operation &each : op.getBody().front()) {
    if (auto input = dyn_cast<pact::InputOp>(each))
      order.push_back(input.getTensor());
    else if (auto output = dyn_cast<pact::OutputOp>(each))
      order.push_back(output.getTensor());
  }
  std::map<std::string, pact::RealType> types = tensorTypes(op);
  SmallVector<Type> arguments;
  SmallVector<std::string> names;
  for (StringRef tensor : order) {
    Type element = cast<TypeAttr>(contract.getTypes().get(tensor)).getValue();
    arguments.push_back(kernel::BufferType::get(builder.getContext(), element));
    names.push_back(tensor.str());
    size_t rank = types.at(tensor.str()).getDims().size();
    for (size_t axis = 0; axis + 1 < rank; ++axis) {
      arguments.push_back(builder.getI64Type());
      names.push_back(tensor.str() + ":" + std::to_string(axis));
    }
  }
  for (Attribute dim : op.getDims()) {
    arguments.push_back(builder.getI64Type());
    names.push_back(cast<StringAttr>(dim).str());
  }
  if (workspace) {
    arguments.push_back(
        kernel::BufferType::get(builder.getContext(), workspace));
    names.push_back("workspace");
  }
  SmallVector<StringRef> slots(names.begin(), names.end());
  auto func = kernel::FuncOp::create(
      builder, contract.getLoc(), symbol, builder.getStrArrayAttr(slots),
      family.rowDim, schedule, contract.getDigestAttr(), DictionaryAttr(),
      split);
  Block *entry = &func.getBody().emplaceBlock();
  entry->addArguments(arguments,
                      SmallVector<Location>(arguments.size(), func.getLoc()));
  return func;
}

/// Writes the body of one kernel.
class RowKernel {
public:
  RowKernel(pact::ContractOp contract, pact::OperatorOp op, Plans &plans,
            kernel::FuncOp func)
      : contract(contract), op(op), plans(plans), func(func),
        builder(func.getContext()) {
    builder.setInsertionPointToStart(&func.getBody().front());
  }

  /// `parts` says what the kernel before this one left, if it did.
  void emit(kernel::SplitAttr parts = {}) {
    RowContext context(builder, func.getLoc(), func, contract, op,
                       plans.family, func.getSchedule());
    if (parts && parts.getLess()) // blocks between offsets
      context.reduceParts(context.partCount(parts));
    if (!context.mapsRows()) {
      emitRows(context);
    } else if (Value whole = context.rowsAreWhole()) {
      auto branch = scf::IfOp::create(builder, func.getLoc(), whole,
                                      /*withElseRegion=*/true);
      for (bool taken : {true, false}) {
        OpBuilder::InsertionGuard guard(builder);
        RowContext::Scope scope(context);
        builder.setInsertionPointToStart(taken ? branch.thenBlock()
                                               : branch.elseBlock());
        context.mapRows(taken);
        emitRows(context);
      }
    } else {
      context.mapRows(true);
      emitRows(context);
    }
    kernel::ReturnOp::create(builder, func.getLoc());
    SmallVector<NamedAttribute> access;
    for (auto &[tensor, bytes] : context.alignments())
      access.push_back(
          builder.getNamedAttr(tensor, builder.getI64IntegerAttr(bytes)));
    func.setAccessAttr(builder.getDictionaryAttr(access));
  }

private:
  void emitRows(RowContext &context) {
    ElementEmitter elements(context);
    kernel::ScheduleAttr schedule = func.getSchedule();
    SmallVector<pact::OutputOp> wide;
    StringAttr reduced = builder.getStringAttr(plans.family.reducedDim);
    auto isWide = [&](pact::OutputOp output) {
      return llvm::is_contained(
          cast<pact::RealType>(output.getValue().getType()).getDims(), reduced);
    };
    const NodePlan &lastPlan = plans.nodes.back().second;
    if (!schedule.getAdjacent() &&
        llvm::any_of(op.getOps<pact::OutputOp>(), isWide))
      loadAhead(context, lastPlan, op);
    for (Operation &each : op.getBody().front()) {
      if (auto reduce = dyn_cast<pact::ReduceOp>(each)) {
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
      outputs.run(lastPlan);
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
        isa<pact::ConstantOp, pact::ExtentOp>(each) ||
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
  Plans &plans;
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
  OpBuilder builder = OpBuilder::atBlockEnd(into.getBody());
  SmallVector<kernel::FuncOp> steps;
  if (!schedule.getSplit()) {
    steps.push_back(createFunction(builder, contract, op, plans->family,
                                   schedule, symbol, Type(), {}));
    RowKernel(contract, op, *plans, steps.back()).emit();
    return steps;
  }
  auto &[reduce, plan] = plans->nodes.front();
  auto node = cast<pact::NodeAttr>(contract.getNodes().get(
      cast<pact::ReduceOp>(reduce).getNode()));
  kernel::SplitAttr split =
      splitOf(builder.getContext(), plan, plans->family);
  steps.push_back(createFunction(builder, contract, op, plans->family, schedule,
                                 symbol, node.getAccumulator(), split));
  RowKernel(contract, op, *plans, steps.back()).emit();
  plan = planOfMerge(plan);
  steps.push_back(createFunction(
      builder, contract, op, plans->family, scheduleOfMerge(schedule),
      (symbol + "_merge").str(), node.getAccumulator(), {}));
  RowKernel(contract, op, *plans, steps.back()).emit(split);
  return steps;
}

kernel::SplitAttr lowering::splitOf(pact::ContractOp contract,
                                    pact::OperatorOp op,
                                    kernel::ScheduleAttr schedule) {
  if (!schedule.getSplit())
    return {};
  Plans plans = llvm::cantFail(planAll(contract, op, schedule));
  return splitOf(contract.getContext(), plans.nodes.front().second,
                 plans.family);
}

std::string lowering::workspaceOf(pact::ContractOp contract,
                                  pact::OperatorOp op,
                                  kernel::ScheduleAttr schedule) {
  if (!schedule.getSplit())
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
