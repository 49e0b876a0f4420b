// TileMutations.cpp - faults of the lowering of products of matrices
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dialects/Kernel/Tiles.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "tests/faults/Mutations.h"

using namespace mlir;
using namespace bitpact;
using namespace bitpact::faults;

namespace {

// Of one consumer the rows of the first are its own.
constexpr const char *kShared = "consumers=2 group=8 copy=bulk";
const Subject kBias{"product_bias", "cuda:sm_90a", kShared},
    kResidual{"product_residual", "cuda:sm_90a", kShared},
    kGated{"gated", "cuda:sm_90a", kShared},
    kGrouped{"grouped", "cuda:sm_90a", kShared},
    kSplit{"product_parts", "cuda:sm_90a", "split=8"};

template <typename Op> bool any(Op) { return true; }

template <typename Op, typename At, typename Change>
Mutation tileFault(std::string name, Subject subject, std::string says, At at,
                   Change change, int site = 0) {
  return on<Op>(Stage::Kernel, std::move(name), std::move(subject),
                Detector::Interpreter, {std::move(says)}, at, change, site);
}

Value plusOne(OpBuilder &builder, Value value) {
  return arith::AddIOp::create(
      builder, value.getLoc(), value,
      arith::ConstantIntOp::create(builder, value.getLoc(), 1, 32));
}

/// What the operand that is no sum of its own row would take.
bool addsRows(tile::LoadOp op) {
  return bool(op.getRow().getDefiningOp<arith::AddIOp>());
}

/// Where there are several.
bool countsBoxes(arith::DivUIOp op) {
  return llvm::any_of(op->getUsers(), [](Operation *user) {
    return isa<arith::SelectOp>(user) &&
           llvm::any_of(user->getUsers(), llvm::IsaPred<tile::FetchOp>);
  });
}

/// Of the first operand of a product, which the copy unit takes in boxes.
bool copiesBoxes(tile::FetchOp op) { return bool(op.getBoxes()); }

/// Whether a comparison asks if a tensor is steady.
bool asksSteady(arith::CmpIOp op) {
  auto slot = dyn_cast<BlockArgument>(op.getLhs());
  auto func = slot ? dyn_cast<tile::FuncOp>(slot.getOwner()->getParentOp())
                   : tile::FuncOp();
  return func && cast<StringAttr>(func.getSlots()[slot.getArgNumber()])
                     .getValue()
                     .ends_with(tile::kSteadySlot);
}

bool copiesEarly(tile::FetchOp op) {
  return bool(op.getBlock().getDefiningOp<tile::EarlyOp>());
}

/// What may have been copied early.
bool maybeCopied(tile::FetchOp op) { return bool(op.getUnless()); }

/// A kernel that copies nothing early, where another order than that of what is
/// copied early would be found first.
void copyNothingEarly(Operation *op) {
  op->getParentOfType<tile::FuncOp>().walk([](arith::CmpIOp each) {
    if (asksSteady(each))
      each.setPredicate(arith::CmpIPredicate::ult);
  });
}

/// How many stages further on a unit begins than the first.
bool addsStages(arith::MulIOp op) {
  auto func = op->getParentOfType<tile::FuncOp>();
  auto each = op.getRhs().getDefiningOp<arith::ConstantIntOp>();
  return op.getLhs().getDefiningOp<tile::UnitOp>() && each &&
         each.value() != func.getSchedule().colsPerUnit();
}

/// A rounding whose value goes on in f32.
bool goesOn(kernel::NarrowOp op) {
  return op->hasOneUse() && isa<arith::ExtFOp>(*op->getUsers().begin());
}

} // namespace

std::vector<Mutation> faults::tileMutations() {
  const std::string other = "does not keep its contract: element ";
  const std::string tree = "the kernel's tree is not the contract's";
  std::vector<Mutation> all = {
      tileFault<tile::LoadOp>(
          "a bias of the next column", kBias, other, any<tile::LoadOp>,
          [](tile::LoadOp op, OpBuilder &builder) {
            op.getColMutable().set(plusOne(builder, op.getCol()));
          }),
      tileFault<tile::ViewOp>(
          "a bias along the rows", kBias, other,
          [](tile::ViewOp op) { return op.getAlong() == "cols"; },
          [](tile::ViewOp op, OpBuilder &) { op.setAlong("rows"); }),
      tileFault<kernel::NarrowOp>("a product that is not rounded", kBias, other,
                                  goesOn,
                                  [](kernel::NarrowOp op, OpBuilder &) {
                                    (*op->getUsers().begin())
                                        ->getResult(0)
                                        .replaceAllUsesWith(op.getA());
                                  }),
      tileFault<arith::AddFOp>(
          "a product that is rounded too early", kResidual, other,
          any<arith::AddFOp>,
          [](arith::AddFOp op, OpBuilder &builder) {
            Value sum = op.getRhs();
            Value near = kernel::NarrowOp::create(builder, op.getLoc(),
                                                  builder.getBF16Type(), sum);
            op.getRhsMutable().set(arith::ExtFOp::create(builder, op.getLoc(),
                                                         sum.getType(), near));
          }),
      tileFault<tile::LoadOp>("a residual one row further down", kResidual,
                              other, any<tile::LoadOp>,
                              [](tile::LoadOp op, OpBuilder &builder) {
                                op.getRowMutable().set(
                                    plusOne(builder, op.getRow()));
                              }),
      tileFault<tile::LoadOp>(
          "a residual of the rows of the first consumer", kResidual, other,
          addsRows,
          [](tile::LoadOp op, OpBuilder &) {
            op.getRowMutable().set(
                op.getRow().getDefiningOp<arith::AddIOp>().getLhs());
          }),
      tileFault<arith::AddFOp>(
          "a residual that is taken away", kResidual, other, any<arith::AddFOp>,
          [](arith::AddFOp op, OpBuilder &builder) {
            Value less = arith::SubFOp::create(builder, op.getLoc(),
                                               op.getRhs(), op.getLhs());
            op.replaceAllUsesWith(less);
          }),
      tileFault<tile::FetchOp>(
          "stages in descending order", kResidual, tree, copiesBoxes,
          [](tile::FetchOp op, OpBuilder &builder) {
            copyNothingEarly(op);
            auto loop = op->getParentOfType<scf::ForOp>();
            auto depth = op.getCol().getDefiningOp<arith::MulIOp>();
            builder.setInsertionPoint(depth);
            Value last = arith::SubIOp::create(
                builder, op.getLoc(), loop.getUpperBound(), loop.getStep());
            depth->setOperand(0,
                              arith::SubIOp::create(builder, op.getLoc(), last,
                                                    loop.getInductionVar()));
          }),
      tileFault<tile::FetchOp>(
          "rows of the weight one further down", kResidual, tree, maybeCopied,
          [](tile::FetchOp op, OpBuilder &builder) {
            copyNothingEarly(op);
            op.getRowMutable().set(plusOne(builder, op.getRow()));
          }),
      tileFault<tile::ReadyOp>(
          "a first operand that is copied before the launch may read it",
          kResidual, "which what precedes the launch may write",
          any<tile::ReadyOp>,
          [](tile::ReadyOp op, OpBuilder &) {
            op->moveBefore(op->getBlock(), op->getBlock()->end());
          }),
      tileFault<arith::CmpIOp>(
          "a weight copied early that is not steady", kResidual,
          "which what precedes the launch may write", asksSteady,
          [](arith::CmpIOp op, OpBuilder &) {
            op.setPredicate(arith::CmpIPredicate::uge);
          }),
      tileFault<tile::FetchOp>(
          "a column of the weight copied early from beside", kResidual,
          "leaves out what was not fetched early", copiesEarly,
          [](tile::FetchOp op, OpBuilder &builder) {
            op.getColMutable().set(plusOne(builder, op.getCol()));
          }),
      tileFault<tile::FetchOp>(
          "a stage more left out than was copied early", kResidual,
          "leaves out what was not fetched early", maybeCopied,
          [](tile::FetchOp op, OpBuilder &builder) {
            auto before = op.getUnless().getDefiningOp<arith::CmpIOp>();
            builder.setInsertionPoint(before);
            before.getRhsMutable().set(plusOne(builder, before.getRhs()));
          }),
      tileFault<tile::FetchOp>(
          "a stage copied early and again", kResidual,
          "writes a block of a stage a second time", maybeCopied,
          [](tile::FetchOp op, OpBuilder &) { op.getUnlessMutable().clear(); }),
      tileFault<arith::DivUIOp>(
          "a box that is left out although it has rows", kGrouped, tree,
          countsBoxes,
          [](arith::DivUIOp op, OpBuilder &) {
            // Rounded down: also in the bytes that the stage expects.
            op->setOperand(0, op.getLhs().getDefiningOp<arith::AddIOp>().getLhs());
          }),
      tileFault<tile::CommitOp>(
          "a byte more than is copied", kResidual, "bytes of a stage, of which",
          [](tile::CommitOp op) { return bool(op.getBytes()); },
          [](tile::CommitOp op, OpBuilder &builder) {
            op.getBytesMutable().assign(plusOne(builder, op.getBytes()));
          }),
      tileFault<tile::DotOp>(
          "sums that begin anew in every stage", kResidual, tree,
          [](tile::DotOp op) { return bool(op.getSums()); },
          [](tile::DotOp op, OpBuilder &) { op.getSumsMutable().clear(); }),
      tileFault<tile::RowsOp>(
          "all consumers with the rows of the first", kResidual, tree,
          any<tile::RowsOp>,
          [](tile::RowsOp op, OpBuilder &builder) {
            op.getNumberMutable().set(
                arith::ConstantIntOp::create(builder, op.getLoc(), 0, 32));
          },
          -1),
      tileFault<tile::SettleOp>(
          "a stage that is given back too early", kResidual,
          "gives back a stage that products may still read",
          any<tile::SettleOp>,
          [](tile::SettleOp op, OpBuilder &) {
            op.setBehind(op.getBehind() + 1);
          }),
      tileFault<tile::MapOp>("gate and up exchanged", kGated, other,
                             any<tile::MapOp>,
                             [](tile::MapOp op, OpBuilder &) {
                               Value gate = op.getOperand(0);
                               op->setOperand(0, op.getOperand(1));
                               op->setOperand(1, gate);
                             }),
      tileFault<tile::DotOp>(
          "a stage of up with the weight of gate", kGated, tree,
          [](tile::DotOp op) { return bool(op.getSums()); },
          [](tile::DotOp op, OpBuilder &) {
            auto stage = cast<OpResult>(op.getB());
            op.getBMutable().set(
                stage.getOwner()->getResult(stage.getResultNumber() - 1));
          },
          -1),
      tileFault<tile::FetchOp>(
          "up copied from the weight of gate", kGated, other,
          any<tile::FetchOp>,
          [](tile::FetchOp op, OpBuilder &) {
            copyNothingEarly(op);
            auto gate = cast<tile::FetchOp>(op->getPrevNode());
            op.getViewMutable().set(gate.getView());
          },
          -1),
      tileFault<tile::SettleOp>(
          "a stage that is given back while up is multiplied", kGated,
          "gives back a stage that products may still read",
          [](tile::SettleOp op) { return op.getBehind() == 2; },
          [](tile::SettleOp op, OpBuilder &) {
            // The other one waits for what is behind it too.
            for (Operation *each : op->getBlock()->getOps<tile::SettleOp>())
              cast<tile::SettleOp>(each).setBehind(3);
          }),
      tileFault<kernel::NarrowOp>("an activation that is not rounded", kGated,
                                  other, goesOn,
                                  [](kernel::NarrowOp op, OpBuilder &) {
                                    (*op->getUsers().begin())
                                        ->getResult(0)
                                        .replaceAllUsesWith(op.getA());
                                  }),
      tileFault<tile::PutOp>(
          "a block that goes on into the next segment", kGrouped,
          "a second time", any<tile::PutOp>,
          [](tile::PutOp op, OpBuilder &) { op.getEndMutable().clear(); }),
      tileFault<tile::FetchOp>(
          "every segment with the first matrix", kGrouped, tree,
          [](tile::FetchOp op) { return bool(op.getMatrix()); },
          [](tile::FetchOp op, OpBuilder &builder) {
            op.getMatrixMutable().assign(
                arith::ConstantIntOp::create(builder, op.getLoc(), 0, 32));
          }),
      tileFault<tile::AwaitOp>(
          "sums of rows that have no matrix", kGrouped, tree,
          any<tile::AwaitOp>,
          [](tile::AwaitOp op, OpBuilder &) { op.getExistsMutable().clear(); }),
      tileFault<tile::FaultOp>(
          "bad offsets that nobody hears of", kGrouped,
          "the kernel does not set the fault word", any<tile::FaultOp>,
          [](tile::FaultOp op, OpBuilder &builder) {
            op.getMaskMutable().assign(
                arith::ConstantIntOp::create(builder, op.getLoc(), 0, 1));
          }),
      tileFault<arith::MulIOp>(
          "every unit with the parts of the first", kSplit, other, addsStages,
          [](arith::MulIOp op, OpBuilder &builder) {
            op->getParentOfType<tile::FuncOp>().walk([&](arith::MulIOp each) {
              builder.setInsertionPoint(each);
              if (addsStages(each))
                each->setOperand(1, arith::ConstantIntOp::create(
                                        builder, each.getLoc(), 0, 32));
            });
          }),
      tileFault<tile::MeetOp>(
          "what the second and the third unit bring exchanged", kSplit, other,
          any<tile::MeetOp>,
          [](tile::MeetOp op, OpBuilder &) {
            OpOperand &second = *op.getParts()[1].use_begin(),
                      &third = *op.getParts()[2].use_begin();
            Value was = second.get();
            second.set(third.get());
            third.set(was);
          }),
      tileFault<tile::MeetOp>(
          "a unit that adds its own part only", kSplit, other,
          any<tile::MeetOp>,
          [](tile::MeetOp op, OpBuilder &) {
            op.getParts()[3].replaceAllUsesWith(op.getParts()[2]);
          }),
      tileFault<tile::MeetOp>(
          "rows that a unit does not bring", kSplit,
          "nothing that is specified", any<tile::MeetOp>,
          [](tile::MeetOp op, OpBuilder &builder) {
            op.getRowsMutable().set(
                arith::ConstantIntOp::create(builder, op.getLoc(), 1, 32));
          }),
      tileFault<tile::PutOp>(
          "the columns of the first unit by all", kSplit, "a second time",
          any<tile::PutOp>,
          [](tile::PutOp op, OpBuilder &) {
            op.getColMutable().set(
                op.getCol().getDefiningOp<arith::AddIOp>().getLhs());
          }),
      on<LLVM::SMinOp>(Stage::LLVM, "a NaN as the conversion leaves it",
                       kResidual, Detector::Check, {"y["}, any<LLVM::SMinOp>,
                       [](LLVM::SMinOp op, OpBuilder &) {
                         op.replaceAllUsesWith(op.getA());
                       }),
  };
  return all;
}
