// MeetingMutations.cpp - faults in how CTAs bring each other values
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tests/faults/Mutations.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace bitpact;
using namespace bitpact::faults;

namespace {

const Subject kEight{"product_parts", "cuda:sm_90a", "split=8"},
    kTwo{"product_parts", "cuda:sm_90a", "split=2"};
/// Bytes that a thread brings with one instruction.
constexpr int64_t kStore = 16;

template <typename Op> bool any(Op) { return true; }

bool isOf(LLVM::InlineAsmOp op, StringRef text) {
  return op.getAsmString().contains(text);
}
bool waits(LLVM::InlineAsmOp op) { return isOf(op, "try_wait.parity.acquire"); }
bool expects(LLVM::InlineAsmOp op) { return isOf(op, "arrive.expect_tx"); }
bool brings(LLVM::InlineAsmOp op) { return isOf(op, "st.async"); }
bool arrives(LLVM::InlineAsmOp op) {
  return isOf(op, "arrive.release.cluster");
}

/// Where a unit begins to store what it brings.
bool timesRank(LLVM::MulOp op) {
  return op.getLhs().getDefiningOp<NVVM::ClusterId>() &&
         llvm::any_of(op->getUsers(), llvm::IsaPred<LLVM::AddOp>) &&
         op->getParentOfType<LLVM::LLVMFuncOp>()
             .walk([&](LLVM::InlineAsmOp store) {
               return brings(store) && store->getBlock() == op->getBlock()
                          ? WalkResult::interrupt()
                          : WalkResult::advance();
             })
             .wasInterrupted();
}

Value constant(OpBuilder &builder, Location loc, int64_t value) {
  return LLVM::ConstantOp::create(builder, loc,
                                  builder.getI32IntegerAttr(value));
}

void addTo(OpOperand &operand, OpBuilder &builder, int64_t more) {
  Location loc = operand.getOwner()->getLoc();
  operand.set(LLVM::AddOp::create(builder, loc, operand.get(),
                                  constant(builder, loc, more)));
}

/// The instruction that gives an address its CTA.
Operation *mappingOf(Value address) {
  while (auto sum = address.getDefiningOp<LLVM::AddOp>())
    address = sum.getLhs();
  return address.getDefiningOp();
}

void toNextUnit(Operation *mapping, OpBuilder &builder) {
  builder.setInsertionPoint(mapping);
  addTo(mapping->getOpOperand(1), builder, 1);
}

template <typename Op, typename At, typename Change>
Mutation meetingFault(std::string name, std::string says, At at, Change change,
                      int site = 0, Subject subject = kEight) {
  return on<Op>(Stage::LLVM, std::move(name), std::move(subject),
                Detector::Lint, {"cuda:sm_90a: L13", std::move(says)}, at,
                change, site);
}

auto erase = [](Operation *op, OpBuilder &) { op->erase(); };

auto otherParity = [](LLVM::InlineAsmOp op, OpBuilder &builder) {
  Value was = op->getOperand(1);
  op->setOperand(1, LLVM::XOrOp::create(builder, op.getLoc(), was,
                                        constant(builder, op.getLoc(), 1)));
};

} // namespace

std::vector<Mutation> faults::meetingMutations() {
  using Assembly = LLVM::InlineAsmOp;
  return {
      meetingFault<NVVM::ClusterWaitOp>(
          "units that do not wait for each other to begin",
          "without having waited", any<NVVM::ClusterWaitOp>, erase),
      meetingFault<NVVM::ClusterWaitOp>(
          "a unit that begins before others have", "or not yet",
          any<NVVM::ClusterWaitOp>,
          [](NVVM::ClusterWaitOp op, OpBuilder &) {
            op->getPrevNode()->erase();
            op->erase();
          }),
      meetingFault<NVVM::ClusterWaitOp>("a unit that ends before others have",
                                        "has ended", any<NVVM::ClusterWaitOp>,
                                        erase, -1),
      meetingFault<NVVM::ClusterArriveOp>("units that wait without having come",
                                          "without having come",
                                          any<NVVM::ClusterArriveOp>, erase),
      meetingFault<NVVM::ClusterArriveOp>(
          "units that wait in the end without having come",
          "without having come", any<NVVM::ClusterArriveOp>, erase, -1),
      meetingFault<Assembly>("bytes that nobody brings", "16 bytes are missing",
                             expects,
                             [](Assembly op, OpBuilder &builder) {
                               addTo(op->getOpOperand(1), builder, kStore);
                             }),
      meetingFault<Assembly>(
          "bytes that nobody expects", "-48 bytes missing", expects,
          [](Assembly op, OpBuilder &builder) {
            addTo(op->getOpOperand(1), builder, -kStore);
          },
          0, kTwo),
      meetingFault<Assembly>("bytes of which nobody is told",
                             "where 1 of 1 arrivals and -", expects, erase),
      meetingFault<Assembly>("values that go to another unit than their bytes",
                             "counts in CTA", brings,
                             [](Assembly op, OpBuilder &builder) {
                               toNextUnit(mappingOf(op->getOperand(0)),
                                          builder);
                             }),
      meetingFault<Assembly>(
          "values and their bytes to another unit", "not yet taken", brings,
          [](Assembly op, OpBuilder &builder) {
            toNextUnit(mappingOf(op->getOperand(0)), builder);
            toNextUnit(mappingOf(op->getOperands().back()), builder);
          }),
      meetingFault<Assembly>("values that are not brought",
                             "and 4096 bytes are missing", brings, erase),
      meetingFault<Assembly>("values that are brought beside their place",
                             "brought for its own", brings,
                             [](Assembly op, OpBuilder &builder) {
                               addTo(op->getOpOperand(0), builder, kStore);
                             }),
      meetingFault<LLVM::MulOp>(
          "all units with the place of the first", "not yet taken", timesRank,
          [](LLVM::MulOp op, OpBuilder &builder) {
            op->setOperand(0, constant(builder, op.getLoc(), 0));
          }),
      meetingFault<Assembly>("a wait until all was taken left out",
                             "not yet taken", waits, erase),
      meetingFault<Assembly>("a wait until all was taken, of the wrong parity",
                             "where 32 of 32 arrivals", waits, otherParity),
      meetingFault<Assembly>("a wait for what is brought left out",
                             "taken before it was brought", waits, erase, 1),
      meetingFault<Assembly>("a wait for what is brought, of the wrong parity",
                             "taken before it was brought", waits, otherParity,
                             1),
      meetingFault<Assembly>(
          "a wait that does not see what other units did",
          "does not see what they did", waits,
          [](Assembly op, OpBuilder &) {
            std::string text = op.getAsmString().str();
            constexpr StringLiteral scope = ".acquire.cluster";
            op.setAsmString(text.erase(text.find(scope), scope.size()));
          },
          1),
      meetingFault<Assembly>("a unit that is not told that all was taken",
                             "waits for ever", arrives, erase),
      meetingFault<Assembly>(
          "only this unit told that all was taken", "not yet taken", arrives,
          [](Assembly op, OpBuilder &builder) {
            op->setOperand(1, NVVM::ClusterId::create(builder, op.getLoc(),
                                                      builder.getI32Type()));
          }),
      meetingFault<NVVM::SyncWarpOp>("a lane that does not wait for its warp",
                                     "has not done", any<NVVM::SyncWarpOp>,
                                     erase),
      meetingFault<NVVM::MBarrierInitOp>(
          "a warp less waited for than there are", "left with 28 of 31",
          any<NVVM::MBarrierInitOp>,
          [](NVVM::MBarrierInitOp op, OpBuilder &builder) {
            addTo(op->getOpOperand(1), builder, -1);
          },
          -1),
  };
}
