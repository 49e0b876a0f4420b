// CodeMutations.cpp - faults of a target's conversion and of its instructions
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tests/faults/Mutations.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace bitpact;
using namespace bitpact::faults;

namespace {

const char *const kCpu = "cpu:x86-64-v3", *const kCuda = "cuda:sm_90a",
                  *const kHip = "hip:gfx942";

template <typename Op> bool any(Op) { return true; }

template <typename Op, typename At, typename Change>
Mutation codeFault(std::string name, Subject subject, Detector detector,
                   std::vector<std::string> says, At at, Change change,
                   int site = 0) {
  return on<Op>(Stage::LLVM, std::move(name), std::move(subject), detector,
                std::move(says), at, change, site);
}

/// Inline assembly on the operands of an operation, whose type its result has:
/// no intrinsic tells what it is.
Value assemble(OpBuilder &builder, Operation *op, ValueRange operands,
               StringRef instruction, StringRef constraints) {
  return LLVM::InlineAsmOp::create(
             builder, op->getLoc(), operands[0].getType(), operands,
             instruction, constraints,
             /*has_side_effects=*/false, /*is_align_stack=*/false,
             LLVM::tailcallkind::TailCallKind::None,
             LLVM::AsmDialectAttr::get(builder.getContext(),
                                       LLVM::AsmDialect::AD_ATT),
             ArrayAttr())
      .getRes();
}

/// An operation on vectors of a multiple of `lanes` elements is one on each of
/// their parts: a value of the kernel may lie across several registers.
Value inParts(OpBuilder &builder, Operation *op, int64_t lanes,
              llvm::function_ref<Value(ValueRange)> onPart) {
  auto vector = dyn_cast<VectorType>(op->getResult(0).getType());
  int64_t width = vector ? vector.getDimSize(0) : lanes;
  if (width == lanes || !vector)
    return onPart(op->getOperands());
  Location loc = op->getLoc();
  Value whole = LLVM::PoisonOp::create(builder, loc, vector);
  for (int64_t begin = 0; begin < width; begin += lanes) {
    SmallVector<int32_t> take, place(width);
    for (int64_t i = 0; i < lanes; ++i)
      take.push_back(begin + i);
    SmallVector<Value> parts;
    for (Value operand : op->getOperands())
      parts.push_back(LLVM::ShuffleVectorOp::create(builder, loc, operand,
                                                    operand, take));
    SmallVector<int32_t> widen;
    for (int64_t i = 0; i < width; ++i) {
      bool inside = i >= begin && i < begin + lanes;
      widen.push_back(inside ? i - begin : 0);
      place[i] = inside ? width + i : i;
    }
    Value part = onPart(parts);
    Value wide = LLVM::ShuffleVectorOp::create(builder, loc, part, part, widen);
    whole = LLVM::ShuffleVectorOp::create(builder, loc, whole, wide, place);
  }
  return whole;
}

bool comesInParts(Type type, int64_t lanes) {
  auto vector = dyn_cast<VectorType>(type);
  return lanes == 0 ? !vector : vector && vector.getDimSize(0) % lanes == 0;
}

/// `instruction` in place of an operation on floats of `lanes` elements (0: of
/// a scalar).
template <typename Op>
Mutation assembled(std::string name, Subject subject,
                   std::vector<std::string> says, const char *instruction,
                   const char *constraints, int64_t lanes) {
  return codeFault<Op>(
      std::move(name), std::move(subject), Detector::Lint, std::move(says),
      [lanes](Op op) {
        return comesInParts(op.getType(), lanes) &&
               getElementTypeOrSelf(op.getType()).isF32();
      },
      [=](Op op, OpBuilder &builder) {
        op->getResult(0).replaceAllUsesWith(
            inParts(builder, op, lanes, [&](ValueRange operands) {
              return assemble(builder, op, operands, instruction, constraints);
            }));
        op->erase();
      });
}

/// Instructions that do nothing to values, before the kernel returns.
Mutation appended(std::string name, Subject subject,
                  std::vector<std::string> says, const char *instructions,
                  const char *constraints) {
  return codeFault<LLVM::ReturnOp>(
      std::move(name), std::move(subject), Detector::Lint, std::move(says),
      any<LLVM::ReturnOp>, [=](LLVM::ReturnOp op, OpBuilder &builder) {
        LLVM::InlineAsmOp::create(
            builder, op.getLoc(), TypeRange(), ValueRange(), instructions,
            constraints, /*has_side_effects=*/true, /*is_align_stack=*/false,
            LLVM::tailcallkind::TailCallKind::None,
            LLVM::AsmDialectAttr::get(builder.getContext(),
                                      LLVM::AsmDialect::AD_ATT),
            ArrayAttr());
      });
}

Value callIntrinsic(OpBuilder &builder, Location loc, StringRef name,
                    Value argument) {
  return LLVM::CallIntrinsicOp::create(builder, loc, argument.getType(),
                                       builder.getStringAttr(name),
                                       ValueRange{argument})
      .getResults();
}

LLVM::FMulOp productIn(LLVM::FAddOp sum) {
  for (Value side : sum->getOperands())
    if (auto product = side.getDefiningOp<LLVM::FMulOp>();
        product && product->hasOneUse())
      return product;
  return LLVM::FMulOp();
}

Mutation contracted(std::string name, Subject subject,
                    std::vector<std::string> says) {
  return codeFault<LLVM::FAddOp>(
      std::move(name), std::move(subject), Detector::Lint, std::move(says),
      [](LLVM::FAddOp op) { return bool(productIn(op)); },
      [](LLVM::FAddOp op, OpBuilder &builder) {
        LLVM::FMulOp product = productIn(op);
        Value other =
            op->getOperand(op->getOperand(0) == product.getResult() ? 1 : 0);
        op.replaceAllUsesWith(
            LLVM::FMAOp::create(builder, op.getLoc(), op.getType(),
                                product.getLhs(), product.getRhs(), other)
                .getResult());
        op.erase();
        product.erase();
      });
}

std::optional<int64_t> integer(Value value) {
  auto constant = value.getDefiningOp<LLVM::ConstantOp>();
  if (!constant)
    return std::nullopt;
  if (auto number = dyn_cast<IntegerAttr>(constant.getValue()))
    return number.getValue().getSExtValue();
  if (auto dense = dyn_cast<DenseIntElementsAttr>(constant.getValue()))
    if (dense.isSplat())
      return dense.getSplatValue<APInt>().getSExtValue();
  return std::nullopt;
}

void fused(std::vector<Mutation> &table) {
  table.push_back(contracted("a contracted fma (x86)", {"mul_add", kCpu},
                             {"cpu:x86-64-v3: L6", "vfmadd"}));
  table.push_back(contracted("a contracted fma (PTX)", {"mul_add", kCuda},
                             {"cuda:sm_90a: L6", "fma.rn.f32"}));
  table.push_back(contracted("a contracted fma (gfx942)", {"mul_add", kHip},
                             {"hip:gfx942: L6", "fma"}));
}

void approximations(std::vector<Mutation> &table) {
  // x · rsqrtps(x), as compilers do under fast-math.
  table.push_back(codeFault<LLVM::SqrtOp>(
      "an approximate root (x86, IR)", {"rounded", kCpu}, Detector::Lint,
      {"x86-64-v3: L2", "rsqrt.ps"},
      [](LLVM::SqrtOp op) {
        return comesInParts(op.getType(), 8);
      },
      [](LLVM::SqrtOp op, OpBuilder &builder) {
        Value root = inParts(builder, op, 8, [&](ValueRange operands) {
          Value x = operands[0];
          Value r = callIntrinsic(builder, op.getLoc(),
                                  "llvm.x86.avx.rsqrt.ps.256", x);
          return LLVM::FMulOp::create(builder, op.getLoc(), x, r).getResult();
        });
        op.replaceAllUsesWith(root);
        op.erase();
      }));
  // What a conversion through `math.sqrt` gives on NVIDIA GPUs.
  table.push_back(codeFault<LLVM::SqrtOp>(
      "an approximate root (PTX, IR)", {"rounded", kCuda}, Detector::Lint,
      {"sm_90a: L2", "sqrt.approx"}, any<LLVM::SqrtOp>,
      [](LLVM::SqrtOp op, OpBuilder &builder) {
        op.replaceAllUsesWith(callIntrinsic(builder, op.getLoc(),
                                            "llvm.nvvm.sqrt.approx.f",
                                            op->getOperand(0)));
        op.erase();
      }));
  table.push_back(assembled<LLVM::SqrtOp>(
      "an approximate root (x86)", {"rounded", kCpu},
      {"cpu:x86-64-v3: L3", "vrsqrtps"}, "vrsqrtps $1, $0", "=x,x", 8));
  table.push_back(
      assembled<LLVM::SqrtOp>("an approximate root (PTX)", {"rounded", kCuda},
                              {"cuda:sm_90a: L3", "sqrt.approx.f32"},
                              "sqrt.approx.f32 $0, $1;", "=f,f", 0));
  table.push_back(assembled<LLVM::SqrtOp>(
      "an approximate root (gfx942)", {"rounded", kHip},
      {"hip:gfx942: L3", "v_sqrt_f32"}, "v_sqrt_f32 $0, $1", "=v,v", 0));
  table.push_back(assembled<LLVM::FDivOp>(
      "an approximate quotient (x86)", {"rounded", kCpu},
      {"cpu:x86-64-v3: L3", "vrcpps"}, "vrcpps $2, $0", "=x,x,x", 8));
  table.push_back(assembled<LLVM::FDivOp>(
      "an approximate quotient (PTX)", {"rounded", kCuda},
      {"cuda:sm_90a: L3", "div.full.f32"}, "div.full.f32 $0, $1, $2;", "=f,f,f",
      0));
  table.push_back(assembled<LLVM::FDivOp>(
      "an approximate quotient (gfx942)", {"rounded", kHip},
      {"hip:gfx942: L3", "v_rcp_f32"}, "v_rcp_f32 $0, $2", "=v,v,v", 0));
}

/// A line of the text of several quotients, written otherwise.
Mutation misdivided(std::string name, std::string line, std::string instead) {
  auto at = [line](LLVM::InlineAsmOp op) {
    return op.getAsmString().contains(line);
  };
  auto change = [line, instead](LLVM::InlineAsmOp op, OpBuilder &) {
    std::string text = op.getAsmString().str();
    op.setAsmString(text.replace(text.find(line), line.size(), instead));
  };
  return codeFault<LLVM::InlineAsmOp>(
      std::move(name), {"gated", kCuda, "tiles"}, Detector::Lint,
      {"cuda:sm_90a: L3", "rcp.approx.ftz.f32"}, at, change);
}

void quotients(std::vector<Mutation> &table) {
  table.push_back(misdivided("a quotient without its correction (PTX)",
                             "fma.rn.f32 q0, rest, near0, q0;\n", ""));
  table.push_back(misdivided("a remainder of another quotient (PTX)",
                             "fma.rn.f32 rest, less0, q0, over0;",
                             "fma.rn.f32 rest, less1, q0, over0;"));
  table.push_back(misdivided("quotients whose bounds do not count (PTX)",
                             "@usual bra divided;", "bra divided;"));
}

void environments(std::vector<Mutation> &table) {
  // The conversion to AMDGPU writes these attributes itself, after this.
  for (const char *target : {kCpu, kCuda})
    table.push_back(codeFault<LLVM::LLVMFuncOp>(
        std::string("subnormals flushed by an attribute, ") + target,
        {"rounded", target}, Detector::Lint, {"L1", "denormal-fp-math"},
        [](LLVM::LLVMFuncOp op) { return !op.isExternal(); },
        [](LLVM::LLVMFuncOp op, OpBuilder &builder) {
          SmallVector<Attribute> attributes;
          if (ArrayAttr had = op.getPassthroughAttr())
            attributes.append(had.begin(), had.end());
          attributes.push_back(builder.getStrArrayAttr(
              {"denormal-fp-math-f32", "preserve-sign,preserve-sign"}));
          op.setPassthroughAttr(builder.getArrayAttr(attributes));
        }));
  table.push_back(assembled<LLVM::FAddOp>(
      "subnormals flushed by an instruction (PTX)", {"mul_add", kCuda},
      {"cuda:sm_90a: L4", "add.rn.ftz.f32"}, "add.rn.ftz.f32 $0, $1, $2;",
      "=f,f,f", 0));
  table.push_back(assembled<LLVM::FAddOp>(
      "a sum rounded toward zero (PTX)", {"mul_add", kCuda},
      {"cuda:sm_90a: L5", "add.rz.f32"}, "add.rz.f32 $0, $1, $2;", "=f,f,f",
      0));
  table.push_back(appended("the mode of rounding changed (x86)",
                           {"mul_add", kCpu}, {"cpu:x86-64-v3: L4", "ldmxcsr"},
                           "vldmxcsr (%rsp)", "~{memory}"));
  table.push_back(appended("the mode of rounding changed (gfx942)",
                           {"mul_add", kHip}, {"hip:gfx942: L4"},
                           "s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 2), 3",
                           ""));
  table.push_back(appended("x87", {"mul_add", kCpu},
                           {"cpu:x86-64-v3: L9", "fld1"}, "fld1; fstp %st(0)",
                           ""));
  table.push_back(codeFault<LLVM::FAddOp>(
      "a sum that may be reassociated", {"mul_add", kCpu}, Detector::Lint,
      {"x86-64-v3: L1", "reassoc"}, any<LLVM::FAddOp>,
      [](LLVM::FAddOp op, OpBuilder &) {
        op.setFastmathFlags(LLVM::FastmathFlags::reassoc);
      }));
  // LLVM makes rows for sm_90a as for sm_80.
  table.push_back(codeFault<LLVM::FMulOp>(
      "a product that may be contracted", {"mul_add", kCuda}, Detector::Lint,
      {"sm_80: L1", "contract"}, any<LLVM::FMulOp>,
      [](LLVM::FMulOp op, OpBuilder &) {
        op.setFastmathFlags(LLVM::FastmathFlags::contract);
      }));
}

void memory(std::vector<Mutation> &table) {
  auto scalarStore = [](LLVM::StoreOp op) {
    return op.getValue().getType().isF32();
  };
  table.push_back(codeFault<LLVM::StoreOp>(
      "a sum over atomics (PTX)", {"pairwise", kCuda}, Detector::Lint,
      {"sm_80: L7"}, scalarStore, [](LLVM::StoreOp op, OpBuilder &builder) {
        LLVM::AtomicRMWOp::create(builder, op.getLoc(), LLVM::AtomicBinOp::fadd,
                                  op.getAddr(), op.getValue(),
                                  LLVM::AtomicOrdering::monotonic);
        op.erase();
      }));
  table.push_back(codeFault<LLVM::SqrtOp>(
      "a root by the C library", {"rounded", kCpu}, Detector::Lint, {"L10"},
      any<LLVM::SqrtOp>, [](LLVM::SqrtOp op, OpBuilder &builder) {
        auto module = op->getParentOfType<ModuleOp>();
        Type type = op.getType();
        OpBuilder outside = OpBuilder::atBlockEnd(module.getBody());
        auto called =
            LLVM::LLVMFuncOp::create(outside, op.getLoc(), "bitpact_sqrt",
                                     LLVM::LLVMFunctionType::get(type, {type}));
        op.replaceAllUsesWith(
            LLVM::CallOp::create(builder, op.getLoc(), called,
                                 ValueRange{op->getOperand(0)})
                .getResult());
        op.erase();
      }));
}

/// What only the bytes tell.
void values(std::vector<Mutation> &table) {
  table.push_back(codeFault<LLVM::AddOp>(
      "bf16 by truncation", {"rounded", kCpu}, Detector::Check, {"y["},
      [](LLVM::AddOp op) {
        return integer(op.getLhs()) == 0x7FFF || integer(op.getRhs()) == 0x7FFF;
      },
      [](LLVM::AddOp op, OpBuilder &) {
        op.replaceAllUsesWith(integer(op.getLhs()) == 0x7FFF ? op.getRhs()
                                                             : op.getLhs());
      }));
  table.push_back(codeFault<LLVM::SelectOp>(
      "a NaN that keeps its payload", {"unrounded", kCpu}, Detector::Check,
      {"y["},
      [](LLVM::SelectOp op) { return integer(op.getTrueValue()) == 0x7FC0; },
      [](LLVM::SelectOp op, OpBuilder &) {
        op.replaceAllUsesWith(op.getFalseValue());
      }));
  table.push_back(codeFault<LLVM::ShuffleVectorOp>(
      "two lanes of a shuffle exchanged", {"pairwise", kCpu}, Detector::Check,
      {"y["},
      [](LLVM::ShuffleVectorOp op) {
        // Of one vector of lanes into another order: an exchange.
        auto from = dyn_cast<VectorType>(op.getV1().getType());
        return from && from.getElementType().isF32() &&
               op.getMask().size() == size_t(from.getDimSize(0)) &&
               op.getMask()[0] != op.getMask()[1];
      },
      [](LLVM::ShuffleVectorOp op, OpBuilder &) {
        SmallVector<int32_t> mask(op.getMask());
        std::swap(mask[0], mask[1]);
        op.setMask(mask);
      }));
  table.push_back(codeFault<LLVM::FDivOp>(
      "a divisor taken twice", {"mul_add", kCpu}, Detector::Check, {"y["},
      any<LLVM::FDivOp>, [](LLVM::FDivOp op, OpBuilder &builder) {
        builder.setInsertionPointAfter(op);
        Value again = LLVM::FDivOp::create(builder, op.getLoc(), op.getResult(),
                                           op.getRhs());
        op.getResult().replaceAllUsesExcept(again, again.getDefiningOp());
      }));
  table.push_back(codeFault<LLVM::FAddOp>(
      "a step left out", {"pairwise", kCpu}, Detector::Check, {"y["},
      any<LLVM::FAddOp>,
      [](LLVM::FAddOp op, OpBuilder &) {
        op.replaceAllUsesWith(op->getOperand(0));
      },
      -1));
}

/// What only a GPU tells: here the packages are made for one (--keep).
void onDevices(std::vector<Mutation> &table) {
  table.push_back(codeFault<NVVM::ShflOp>(
      "a shuffle over another distance (PTX)", {"pairwise", kCuda},
      Detector::Check, {"y["},
      [](NVVM::ShflOp op) {
        std::optional<int64_t> distance = integer(op.getOffset());
        return distance && *distance > 1;
      },
      [](NVVM::ShflOp op, OpBuilder &builder) {
        Value half = LLVM::ConstantOp::create(
            builder, op.getLoc(),
            builder.getI32IntegerAttr(*integer(op.getOffset()) / 2));
        op.getOffsetMutable().assign(half);
      }));
  table.push_back(Mutation{"a barrier left out (PTX)",
                           {"gather", kCuda, "lanes=64"},
                           Stage::LLVM,
                           Detector::Check,
                           {"y["},
                           [](Operation *op) {
                             return op->getName().getStringRef().starts_with(
                                 "nvvm.barrier");
                           },
                           [](Operation *op, OpBuilder &) { op->erase(); },
                           0});
}

} // namespace

std::vector<Mutation> faults::codeMutations() {
  std::vector<Mutation> table;
  fused(table);
  approximations(table);
  quotients(table);
  environments(table);
  memory(table);
  values(table);
  onDevices(table);
  return table;
}
