// StateMutations.cpp - faults in running maxima and in parts that programs
// share Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dialects/Kernel/KernelDialect.h"
#include "tests/faults/Mutations.h"

using namespace mlir;
using namespace bitpact;
using namespace bitpact::faults;

namespace {

const char *const kCpu = "cpu:x86-64-v3", *const kCuda = "cuda:sm_90a";
const Subject kState{"state", kCpu}, kTwoPass{"two_pass", kCpu},
    kParts{"parts", kCuda, "split"}, kColumns{"columns", kCuda, "split"};

template <typename Op, typename At, typename Change>
Mutation stateFault(std::string name, Subject subject, At at, Change change,
                    int site = 0,
                    std::string says = "does not keep its contract") {
  return on<Op>(Stage::Kernel, std::move(name), std::move(subject),
                Detector::Interpreter, {std::move(says)}, at, change, site);
}

/// e to a difference of maxima ends with a choice between it and 1.
bool isWeight(Value value) {
  auto choice = value.getDefiningOp<arith::SelectOp>();
  return choice && choice.getCondition().getDefiningOp<arith::CmpFOp>();
}
bool isCarried(Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  return argument && isa<scf::ForOp>(argument.getOwner()->getParentOp());
}
template <typename Op> Op from(Value value) {
  return value.getDefiningOp<Op>();
}
/// The maximum of two states: which is the left one depends on the lane.
arith::MaximumFOp metMaximum(Value value) {
  auto ordered = [](Value side) {
    auto choice = from<arith::SelectOp>(side);
    return choice && from<arith::CmpIOp>(choice.getCondition());
  };
  auto most = from<arith::MaximumFOp>(value);
  return most && ordered(most.getLhs()) && ordered(most.getRhs())
             ? most
             : arith::MaximumFOp();
}
bool combines(arith::AddFOp op) {
  auto scaled = [](Value value) {
    auto product = from<arith::MulFOp>(value);
    return product && isWeight(product.getRhs());
  };
  return scaled(op.getLhs()) && scaled(op.getRhs());
}

void carries(std::vector<Mutation> &table) {
  auto rescales = [](arith::MulFOp op) {
    return isWeight(op.getRhs()) && isCarried(op.getLhs());
  };
  table.push_back(
      stateFault<arith::MulFOp>("a rescale left out", kState, rescales,
                                [](arith::MulFOp op, OpBuilder &) {
                                  op.replaceAllUsesWith(op.getLhs());
                                }));
  auto fromOldMaximum = [](arith::SubFOp op) {
    return isCarried(op.getLhs()) && from<arith::MaximumFOp>(op.getRhs());
  };
  table.push_back(
      stateFault<arith::SubFOp>("a rescale upside down", kState, fromOldMaximum,
                                [](arith::SubFOp op, OpBuilder &) {
                                  op->setOperands({op.getRhs(), op.getLhs()});
                                }));
  table.push_back(stateFault<arith::SubFOp>(
      "a weight under the maximum before", kState,
      [](arith::SubFOp op) {
        auto most = from<arith::MaximumFOp>(op.getRhs());
        return most && isCarried(most.getLhs()) && !isCarried(op.getLhs());
      },
      [](arith::SubFOp op, OpBuilder &) {
        op->setOperand(1, from<arith::MaximumFOp>(op.getRhs()).getLhs());
      }));
  table.push_back(stateFault<scf::YieldOp>(
      "a running maximum that forgets a round", kState,
      [](scf::YieldOp op) {
        return op->getNumOperands() >= 2 &&
               from<arith::MaximumFOp>(op->getOperand(0));
      },
      [](scf::YieldOp op, OpBuilder &) {
        op->setOperand(
            0, cast<scf::ForOp>(op->getParentOp()).getRegionIterArgs()[0]);
      }));
  table.push_back(stateFault<arith::MaximumFOp>(
      "a maximum that leaves out an element", kState,
      [](arith::MaximumFOp op) {
        return from<kernel::LoadOp>(op.getLhs()) &&
               from<kernel::LoadOp>(op.getRhs());
      },
      [](arith::MaximumFOp op, OpBuilder &) {
        op.replaceAllUsesWith(op.getLhs());
      }));
  table.push_back(stateFault<arith::CmpIOp>(
      "an accumulator begun anew in each round", kState,
      [](arith::CmpIOp op) {
        return op.getPredicate() == arith::CmpIPredicate::eq &&
               isCarried(op.getLhs());
      },
      [](arith::CmpIOp op, OpBuilder &) {
        op.setPredicate(arith::CmpIPredicate::sge);
      }));
}

void meetings(std::vector<Mutation> &table) {
  table.push_back(stateFault<arith::SubFOp>(
      "two states met under the left one's maximum", kState,
      [](arith::SubFOp op) {
        arith::MaximumFOp most = metMaximum(op.getRhs());
        return most && op.getLhs() == most.getRhs();
      },
      [](arith::SubFOp op, OpBuilder &) {
        op->setOperand(1, metMaximum(op.getRhs()).getLhs());
      }));
  table.push_back(stateFault<kernel::ExchangeOp>(
      "a sum met with the maximum of another lane", kState,
      [](kernel::ExchangeOp op) {
        auto scaled = [](Operation *choice) {
          return llvm::any_of(choice->getUsers(), [](Operation *user) {
            return isa<arith::MulFOp>(user);
          });
        };
        return op.getDistance() > 1 && llvm::any_of(op->getUsers(), scaled);
      },
      [](kernel::ExchangeOp op, OpBuilder &) {
        op.setDistance(op.getDistance() / 2);
      }));
  table.push_back(
      stateFault<arith::AddFOp>("a state left out of a merge", kState, combines,
                                [](arith::AddFOp op, OpBuilder &) {
                                  op.replaceAllUsesWith(op.getLhs());
                                }));
  table.push_back(stateFault<arith::AddFOp>(
      "states merged as sums", kState, combines,
      [](arith::AddFOp op, OpBuilder &) {
        op->setOperands({from<arith::MulFOp>(op.getLhs()).getLhs(),
                         from<arith::MulFOp>(op.getRhs()).getLhs()});
      }));
  table.push_back(stateFault<kernel::ExchangeOp>(
      "two levels of states merged in the other order", kState,
      [](kernel::ExchangeOp) { return true; },
      [](kernel::ExchangeOp op, OpBuilder &) {
        op->getParentOfType<kernel::FuncOp>().walk([](kernel::ExchangeOp each) {
          if (each.getDistance() <= 2)
            each.setDistance(3 - each.getDistance());
        });
      }));
  table.push_back(stateFault<arith::MaximumFOp>(
      "weights under the maximum of half the lanes", kTwoPass,
      [](arith::MaximumFOp op) {
        return bool(from<kernel::ExchangeOp>(op.getRhs()));
      },
      [](arith::MaximumFOp op, OpBuilder &) {
        op.replaceAllUsesWith(op.getLhs());
      }));
}

//===----------------------------------------------------------------------===//
// Parts that programs share
//===----------------------------------------------------------------------===//

/// Whether an operation is of the kernel that merges parts.
bool isMerging(Operation *op) {
  auto func = op->getParentOfType<kernel::FuncOp>();
  return func && !func.getSplitAttr() && func.slot("workspace");
}
bool isWorkspace(Value buffer) {
  auto argument = dyn_cast<BlockArgument>(buffer);
  auto func = argument
                  ? dyn_cast<kernel::FuncOp>(argument.getOwner()->getParentOp())
                  : kernel::FuncOp();
  return func && func.slot("workspace") == argument;
}
Value number(OpBuilder &builder, Location loc, int64_t value) {
  return arith::ConstantOp::create(builder, loc,
                                   builder.getI64IntegerAttr(value));
}

/// Where a part begins: its number times the length of a part.
bool beginsPart(arith::MulIOp op) {
  return from<kernel::PartOp>(op.getLhs()) &&
         from<arith::ConstantOp>(op.getRhs());
}
void halveLength(arith::MulIOp op, OpBuilder &builder) {
  auto length =
      cast<IntegerAttr>(from<arith::ConstantOp>(op.getRhs()).getValue());
  op->setOperand(1, number(builder, op.getLoc(), length.getInt() / 2));
}
bool leavesPart(kernel::StoreOp op) { return isWorkspace(op.getBuffer()); }
void oneSlotOn(kernel::StoreOp op, OpBuilder &builder) {
  op.getOffsetMutable().assign(arith::AddIOp::create(
      builder, op.getLoc(), op.getOffset(), number(builder, op.getLoc(), 1)));
}
void firstSlot(kernel::StoreOp op, OpBuilder &builder) {
  op.getOffsetMutable().assign(number(builder, op.getLoc(), 0));
}
/// The addition that takes this one's sum on its left.
arith::AddFOp following(arith::AddFOp op) {
  for (Operation *user : op->getUsers())
    if (auto sum = dyn_cast<arith::AddFOp>(user);
        sum && sum.getLhs() == op.getResult())
      return sum;
  return arith::AddFOp();
}
bool addsPart(arith::AddFOp op) { return isMerging(op); }
void leaveOut(arith::AddFOp op, OpBuilder &) {
  op.replaceAllUsesWith(op.getLhs());
}

void parts(std::vector<Mutation> &table) {
  const std::pair<const Subject *, const char *> subjects[] = {
      {&kParts, "rows"}, {&kColumns, "columns"}};
  for (auto [subject, kind] : subjects) {
    std::string of = std::string(" (") + kind + ")";
    table.push_back(stateFault<arith::MulIOp>("parts that begin too early" + of,
                                              *subject, beginsPart, halveLength,
                                              0, "outside of tensor 'x'"));
    table.push_back(stateFault<kernel::StoreOp>(
        "a part in the slot after its own" + of, *subject, leavesPart,
        oneSlotOn, 0, "workspace"));
    table.push_back(stateFault<kernel::StoreOp>(
        "every part in the first slot" + of, *subject, leavesPart, firstSlot, 0,
        "workspace"));
    table.push_back(stateFault<arith::AddFOp>("a part that is not merged" + of,
                                              *subject, addsPart, leaveOut, 1));
    // The sums of the second and the third: those of the first two commute.
    table.push_back(stateFault<arith::AddFOp>(
        "two parts that change places" + of, *subject,
        [](arith::AddFOp op) { return isMerging(op) && following(op); },
        [](arith::AddFOp op, OpBuilder &builder) {
          arith::AddFOp next = following(op);
          Value here = op.getRhs(), there = next.getRhs();
          op->moveBefore(next);
          op->setOperand(1, there);
          next->setOperand(1, here);
        },
        1));
  }
  table.push_back(stateFault<arith::AddFOp>(
      "parts merged from the right", kParts,
      [](arith::AddFOp op) {
        return isMerging(op) && from<arith::AddFOp>(op.getLhs());
      },
      [](arith::AddFOp op, OpBuilder &builder) {
        auto inner = from<arith::AddFOp>(op.getLhs());
        Value right = arith::AddFOp::create(builder, op.getLoc(),
                                            inner.getRhs(), op.getRhs());
        op->setOperands({inner.getLhs(), right});
      },
      1));
}

} // namespace

std::vector<Mutation> faults::stateMutations() {
  std::vector<Mutation> table;
  carries(table);
  meetings(table);
  parts(table);
  return table;
}
