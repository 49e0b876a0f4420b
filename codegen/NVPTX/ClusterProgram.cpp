// ClusterProgram.cpp - from the LLVM and NVVM dialects
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/NVPTX/ClusterProgram.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace bitpact;
using namespace bitpact::codegen;

using Kind = ClusterProgram::Kind;
using Step = ClusterProgram::Step;

namespace {

constexpr unsigned kShared = 3;

unsigned widthOf(Type type) {
  return type.isInteger() ? type.getIntOrFloatBitWidth() : 64;
}

bool isShared(Type type) {
  auto pointer = dyn_cast<LLVM::LLVMPointerType>(type);
  return pointer && pointer.getAddressSpace() == kShared;
}

int64_t bytesOf(Type type) {
  if (auto vector = dyn_cast<VectorType>(type))
    return vector.getNumElements() *
           vector.getElementType().getIntOrFloatBitWidth() / 8;
  return type.isIntOrFloat() ? (type.getIntOrFloatBitWidth() + 7) / 8 : 8;
}

class Slicer {
public:
  explicit Slicer(LLVM::LLVMFuncOp kernel) : kernel(kernel) {}
  llvm::Expected<ClusterProgram> build();

private:
  std::optional<Step> effectOf(Operation *op);
  std::optional<Step> assemblyOf(LLVM::InlineAsmOp op);
  std::optional<Step> valueOf(Operation *op);
  void need(Value value);
  int registerOf(Value value);
  void addEdges(Operation *op, Block *block);

  LLVM::LLVMFuncOp kernel;
  ClusterProgram program;
  llvm::DenseMap<Value, int> registers;
  llvm::DenseMap<Value, int64_t> cells;
  llvm::DenseSet<Value> needed;
  SmallVector<Value> worklist;
  Operation *unknown = nullptr;
};

Step stepOf(Kind kind, Operation *op, int64_t number = 0) {
  Step step;
  step.kind = kind;
  step.op = op;
  step.number = number;
  if (op->getNumResults() == 1)
    step.width = widthOf(op->getResult(0).getType());
  return step;
}

/// What is written as PTX, by what stands in it.
std::optional<Step> Slicer::assemblyOf(LLVM::InlineAsmOp op) {
  StringRef text = op.getAsmString();
  if (text.contains("st.async"))
    return stepOf(Kind::Send, op, int64_t(op.getNumOperands() - 2) * 4);
  if (text.contains("mbarrier.try_wait.parity"))
    return stepOf(Kind::Wait, op, text.contains(".acquire.cluster"));
  if (text.contains("mbarrier.arrive.expect_tx.shared::cta"))
    return stepOf(Kind::Arrive, op, 1);
  if (text.contains("mbarrier.arrive.release.cluster.shared::cluster"))
    return stepOf(Kind::ArriveThere, op);
  if (text.contains("mbarrier") || text.contains("barrier.cluster"))
    unknown = op;
  if (text.contains(".sync.aligned")) // products, which warps begin as one
    return stepOf(Kind::WarpSync, op);
  return std::nullopt;
}

/// Of what matters in itself, with the operands that it needs in their order.
std::optional<Step> Slicer::effectOf(Operation *op) {
  return llvm::TypeSwitch<Operation *, std::optional<Step>>(op)
      .Case([&](LLVM::InlineAsmOp op) { return assemblyOf(op); })
      .Case<NVVM::MBarrierInitOp>(
          [](Operation *op) { return stepOf(Kind::Init, op); })
      // Bytes of the copy unit are the proof's, of the kernel before it.
      .Case<NVVM::MBarrierArriveOp, NVVM::MBarrierArriveExpectTxOp>(
          [](Operation *op) { return stepOf(Kind::Arrive, op); })
      .Case<NVVM::ClusterArriveOp>(
          [](Operation *op) { return stepOf(Kind::ClusterArrive, op); })
      .Case<NVVM::ClusterWaitOp>(
          [](Operation *op) { return stepOf(Kind::ClusterWait, op); })
      .Case<NVVM::SyncWarpOp, NVVM::WgmmaWaitGroupSyncOp>(
          [](Operation *op) { return stepOf(Kind::WarpSync, op); })
      .Case([&](LLVM::LoadOp op) -> std::optional<Step> {
        if (!isShared(op.getAddr().getType()))
          return std::nullopt;
        return stepOf(Kind::Take, op, bytesOf(op.getType()));
      })
      .Case([&](LLVM::StoreOp op) -> std::optional<Step> {
        if (!cells.count(op.getAddr()))
          return std::nullopt;
        return stepOf(Kind::StoreCell, op, cells.lookup(op.getAddr()));
      })
      .Case<LLVM::BrOp>([](Operation *op) { return stepOf(Kind::Jump, op); })
      .Case<LLVM::CondBrOp>(
          [](Operation *op) { return stepOf(Kind::Branch, op); })
      .Case<LLVM::ReturnOp>(
          [](Operation *op) { return stepOf(Kind::Return, op); })
      .Default([&](Operation *op) -> std::optional<Step> {
        StringRef name = op->getName().getStringRef();
        if (name.contains("mbarrier") && !name.contains("fence"))
          unknown = op;
        return std::nullopt;
      });
}

SmallVector<Value> operandsOf(const Step &step) {
  Operation *op = step.op;
  switch (step.kind) {
  case Kind::Send: // where to, and which barrier
    return {op->getOperand(0), op->getOperand(op->getNumOperands() - 1)};
  case Kind::Wait:
    return {op->getOperand(0), op->getOperand(1)};
  case Kind::Arrive:
    return step.number
               ? SmallVector<Value>{op->getOperand(0), op->getOperand(1)}
               : SmallVector<Value>{op->getOperand(0)};
  case Kind::Init:
    return {op->getOperand(0), op->getOperand(1)};
  case Kind::StoreCell:
  case Kind::Branch:
    return {op->getOperand(0)};
  case Kind::WarpSync:
  case Kind::Jump:
  case Kind::LoadCell:
    return {};
  default:
    return llvm::to_vector(op->getOperands());
  }
}

/// Of a value, how it is made.
std::optional<Step> Slicer::valueOf(Operation *op) {
  return llvm::TypeSwitch<Operation *, std::optional<Step>>(op)
      .Case([](LLVM::AddOp op) { return stepOf(Kind::Add, op); })
      .Case([](LLVM::SubOp op) { return stepOf(Kind::Sub, op); })
      .Case([](LLVM::MulOp op) { return stepOf(Kind::Mul, op); })
      .Case([](LLVM::UDivOp op) { return stepOf(Kind::UDiv, op); })
      .Case([](LLVM::URemOp op) { return stepOf(Kind::URem, op); })
      .Case([](LLVM::AndOp op) { return stepOf(Kind::And, op); })
      .Case([](LLVM::OrOp op) { return stepOf(Kind::Or, op); })
      .Case([](LLVM::XOrOp op) { return stepOf(Kind::Xor, op); })
      .Case([](LLVM::ShlOp op) { return stepOf(Kind::Shl, op); })
      .Case([](LLVM::LShrOp op) { return stepOf(Kind::LShr, op); })
      .Case([](LLVM::AShrOp op) { return stepOf(Kind::AShr, op); })
      .Case([](LLVM::UMinOp op) { return stepOf(Kind::UMin, op); })
      .Case([](LLVM::UMaxOp op) { return stepOf(Kind::UMax, op); })
      .Case([](LLVM::SMinOp op) { return stepOf(Kind::SMin, op); })
      .Case([](LLVM::SMaxOp op) { return stepOf(Kind::SMax, op); })
      .Case([](LLVM::SelectOp op) { return stepOf(Kind::Select, op); })
      .Case([](LLVM::ICmpOp op) {
        Step step = stepOf(Kind::Compare, op);
        step.width = widthOf(op.getLhs().getType());
        step.predicate = op.getPredicate();
        return step;
      })
      .Case<LLVM::TruncOp, LLVM::ZExtOp, LLVM::PtrToIntOp,
            LLVM::AddrSpaceCastOp>(
          [](Operation *op) { return stepOf(Kind::Resize, op); })
      .Case([](LLVM::SExtOp op) {
        return stepOf(Kind::SignExtend, op, widthOf(op.getArg().getType()));
      })
      .Case([](LLVM::GEPOp op) -> std::optional<Step> {
        if (op.getIndices().size() != 1)
          return std::nullopt;
        Step step = stepOf(Kind::Offset, op, bytesOf(op.getElemType()));
        step.width = op.getDynamicIndices().empty()
                         ? 32
                         : widthOf(op.getDynamicIndices()[0].getType());
        return step;
      })
      .Case([](LLVM::InlineAsmOp op) -> std::optional<Step> {
        if (!op.getAsmString().starts_with("mapa.shared::cluster"))
          return std::nullopt;
        return stepOf(Kind::Map, op);
      })
      .Case([&](LLVM::LoadOp op) -> std::optional<Step> {
        if (!cells.count(op.getAddr()))
          return std::nullopt;
        return stepOf(Kind::LoadCell, op, cells.lookup(op.getAddr()));
      })
      .Case([](NVVM::ThreadIdXOp op) { return stepOf(Kind::Thread, op); })
      .Case([](NVVM::ClusterId op) { return stepOf(Kind::Rank, op); })
      .Case([](NVVM::ClusterIdXOp op) { return stepOf(Kind::Cluster, op); })
      .Case([](NVVM::ClusterDimXOp op) { return stepOf(Kind::Clusters, op); })
      .Default([](Operation *) { return std::nullopt; });
}

int Slicer::registerOf(Value value) {
  auto [at, isNew] =
      registers.try_emplace(value, int(program.registers.size()));
  if (isNew)
    program.registers.push_back(0);
  return at->second;
}

void Slicer::need(Value value) {
  if (needed.insert(value).second)
    worklist.push_back(value);
}

void Slicer::addEdges(Operation *op, Block *block) {
  auto branch = cast<BranchOpInterface>(op);
  for (unsigned i = 0; i < op->getNumSuccessors(); ++i) {
    ClusterProgram::Edge edge{0, {}};
    SuccessorOperands given = branch.getSuccessorOperands(i);
    for (BlockArgument argument : op->getSuccessor(i)->getArguments())
      if (needed.contains(argument))
        edge.moves.push_back(
            {registerOf(given[argument.getArgNumber()]), registerOf(argument)});
    program.edges.push_back(std::move(edge));
  }
}

llvm::Expected<ClusterProgram> Slicer::build() {
  for (BlockArgument argument : kernel.getArguments())
    registerOf(argument);
  kernel.walk([&](LLVM::AllocaOp op) {
    cells.try_emplace(op.getResult(), int64_t(program.cells++));
  });
  llvm::DenseMap<Operation *, Step> effects;
  kernel.walk([&](Operation *op) {
    if (std::optional<Step> step = effectOf(op)) {
      for (Value operand : operandsOf(*step))
        need(operand);
      effects.try_emplace(op, *step);
    }
  });
  llvm::DenseMap<Operation *, Step> values;
  while (!worklist.empty() && !unknown) {
    Value value = worklist.pop_back_val();
    if (auto argument = dyn_cast<BlockArgument>(value)) {
      if (argument.getOwner()->isEntryBlock())
        continue;
      for (Block *before : argument.getOwner()->getPredecessors()) {
        auto branch = cast<BranchOpInterface>(before->getTerminator());
        for (unsigned i = 0; i < before->getNumSuccessors(); ++i)
          if (before->getSuccessor(i) == argument.getOwner())
            need(branch.getSuccessorOperands(i)[argument.getArgNumber()]);
      }
      continue;
    }
    Operation *op = value.getDefiningOp();
    if (auto constant = dyn_cast<LLVM::ConstantOp>(op)) {
      if (auto number = dyn_cast<IntegerAttr>(constant.getValue())) {
        program.registers[size_t(registerOf(value))] = ClusterProgram::masked(
            number.getValue().getSExtValue(), widthOf(value.getType()));
        continue;
      }
    } else if (isa<LLVM::AddressOfOp>(op) && isShared(value.getType())) {
      program.registers[size_t(registerOf(value))] = ClusterProgram::kBase;
      continue;
    } else if (isa<LLVM::ZeroOp>(op)) {
      registerOf(value);
      continue;
    }
    std::optional<Step> step = valueOf(op);
    if (!step) {
      unknown = op;
      break;
    }
    for (Value operand : operandsOf(*step))
      need(operand);
    values.try_emplace(op, *step);
  }
  if (unknown)
    return llvm::createStringError(
        llvm::formatv("what '{0}' does to barriers is not known",
                      unknown->getName().getStringRef())
            .str());
  llvm::DenseMap<Block *, size_t> begins;
  for (Block &block : kernel.getBody()) {
    begins[&block] = program.steps.size();
    for (Operation &op : block) {
      auto found = effects.find(&op);
      bool isEffect = found != effects.end();
      if (!isEffect && (found = values.find(&op)) == values.end())
        continue;
      Step step = found->second;
      for (auto [i, operand] : llvm::enumerate(operandsOf(step)))
        step.operands[i] = registerOf(operand);
      if (!isEffect)
        step.result = registerOf(op.getResult(0));
      if (auto address = dyn_cast<LLVM::GEPOp>(op);
          address && address.getDynamicIndices().empty()) {
        step.operands[1] = int(program.registers.size());
        program.registers.push_back(
            ClusterProgram::masked(address.getRawConstantIndices()[0], 32));
      }
      if (op.getNumSuccessors()) {
        step.number = int64_t(program.edges.size());
        addEdges(&op, &block);
      }
      program.steps.push_back(step);
    }
  }
  size_t edge = 0;
  for (Block &block : kernel.getBody())
    for (Block *next : block.getTerminator()->getSuccessors())
      program.edges[edge++].step = begins.lookup(next);
  return std::move(program);
}

} // namespace

llvm::Expected<ClusterProgram> ClusterProgram::of(LLVM::LLVMFuncOp kernel) {
  return Slicer(kernel).build();
}
