// KernelMutations.cpp - faults of lowering and schedule, in the Kernel dialect
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dialects/Kernel/KernelDialect.h"
#include "tests/faults/Mutations.h"

using namespace mlir;
using namespace bitpact;
using namespace bitpact::faults;

namespace {

const char *const kCpu = "cpu:x86-64-v3", *const kCuda = "cuda:sm_90a",
                  *const kHip = "hip:gfx942";
const Subject kPairwise{"pairwise", kCpu}, kRagged{"ragged", kCpu},
    kLong{"long", kCpu},
    kFirst{"first", kCpu}, kRounded{"rounded", kCpu}, kMulAdd{"mul_add", kCpu},
    kLayer{"layer", kCpu}, kLanes{"columns", kCpu, "row_per_lane"},
    kScratch{"scratch", kCpu};

template <typename Op> bool any(Op) { return true; }

template <typename Op, typename At, typename Change>
Mutation kernelFault(std::string name, Subject subject, std::string says, At at,
                     Change change, int site = 0) {
  return on<Op>(Stage::Kernel, std::move(name), std::move(subject),
                Detector::Interpreter, {std::move(says)}, at, change, site);
}

Value constantLike(OpBuilder &builder, Location loc, Type type, double value) {
  Attribute attr = builder.getFloatAttr(getElementTypeOrSelf(type), value);
  if (auto vector = dyn_cast<VectorType>(type))
    attr = DenseElementsAttr::get(vector, attr);
  return arith::ConstantOp::create(builder, loc, cast<TypedAttr>(attr));
}

/// The number that every lane of a constant has.
std::optional<APFloat> splat(Value value) {
  auto constant = value.getDefiningOp<arith::ConstantOp>();
  auto dense = constant ? dyn_cast<DenseElementsAttr>(constant.getValue())
                        : DenseElementsAttr();
  if (!dense || !dense.isSplat() || !isa<FloatType>(dense.getElementType()))
    return std::nullopt;
  return dense.getSplatValue<APFloat>();
}
bool isZero(arith::ConstantOp op, bool negative) {
  std::optional<APFloat> value = splat(op.getResult());
  return value && value->isZero() && value->isNegative() == negative &&
         !op->use_empty();
}
void setSplat(arith::ConstantOp op, double value) {
  auto dense = cast<DenseElementsAttr>(op.getValue());
  op.setValueAttr(DenseElementsAttr::get(
      dense.getType(), cast<Attribute>(OpBuilder(op).getFloatAttr(
                           dense.getElementType(), value))));
}

/// The integer constant behind a value or behind all its lanes.
arith::ConstantOp integerBehind(Value value) {
  if (auto broadcast = value.getDefiningOp<vector::BroadcastOp>())
    value = broadcast.getSource();
  auto constant = value.getDefiningOp<arith::ConstantOp>();
  return constant && isa<IntegerAttr>(constant.getValue())
             ? constant
             : arith::ConstantOp();
}
std::optional<int64_t> integer(Value value) {
  if (auto constant = integerBehind(value))
    return cast<IntegerAttr>(constant.getValue()).getInt();
  return std::nullopt;
}
/// The same value with another integer behind it.
Value withInteger(OpBuilder &builder, Value value, int64_t number) {
  Value made = arith::ConstantOp::create(builder, value.getLoc(),
                                         builder.getI64IntegerAttr(number));
  return isa<VectorType>(value.getType())
             ? vector::BroadcastOp::create(builder, value.getLoc(),
                                           value.getType(), made)
                   .getResult()
             : made;
}
Value plus(OpBuilder &builder, Value value, int64_t number) {
  return arith::AddIOp::create(builder, value.getLoc(), value,
                               withInteger(builder, value, number));
}

bool isSlot(Value value, StringRef name) {
  auto argument = dyn_cast<BlockArgument>(value);
  auto func = argument
                  ? dyn_cast<kernel::FuncOp>(argument.getOwner()->getParentOp())
                  : kernel::FuncOp();
  return func && func.slot(name) == argument;
}

/// Positions are below the extent of a row.
constexpr int64_t kExtent = 1000;
arith::CmpIOp raggedMask(Value mask) {
  if (auto broadcast = mask.getDefiningOp<vector::BroadcastOp>())
    mask = broadcast.getSource();
  auto cmp = mask.getDefiningOp<arith::CmpIOp>();
  return cmp && integer(cmp.getRhs()) == kExtent ? cmp : arith::CmpIOp();
}

/// The addition that takes a value as it is.
template <typename Op> Op userOf(Value value) {
  for (Operation *user : value.getUsers())
    if (auto op = dyn_cast<Op>(user))
      return op;
  return Op();
}

arith::MulFOp productIn(arith::AddFOp sum) {
  for (Value side : sum->getOperands())
    if (auto product = side.getDefiningOp<arith::MulFOp>();
        product && product->hasOneUse())
      return product;
  return arith::MulFOp();
}

bool roundsAndWidens(arith::ExtFOp op) {
  auto narrow = op.getIn().getDefiningOp<kernel::NarrowOp>();
  return narrow && narrow.getA().getType() == op.getType();
}
void takeUnrounded(arith::ExtFOp op, OpBuilder &) {
  op.replaceAllUsesWith(op.getIn().getDefiningOp<kernel::NarrowOp>().getA());
}

const char *const kTree = "the kernel's tree is not the contract's";

void mergeTrees(std::vector<Mutation> &table) {
  auto wide = [](kernel::ExchangeOp op) { return op.getDistance() > 1; };
  auto halve = [](kernel::ExchangeOp op, OpBuilder &) {
    op.setDistance(op.getDistance() / 2);
  };
  table.push_back(
      kernelFault<kernel::ExchangeOp>("an exchange over half the distance",
                                      kPairwise, "node 'sum'", wide, halve));
  table.push_back(kernelFault<kernel::ExchangeOp>(
      "an exchange over half the distance (CUDA)", {"pairwise", kCuda},
      "node 'sum'", wide, halve));
  table.push_back(kernelFault<kernel::ExchangeOp>(
      "an exchange over half the distance (HIP)", {"pairwise", kHip},
      "node 'sum'", wide, halve));
  auto next = [](kernel::ExchangeOp op) {
    auto sum = userOf<arith::AddFOp>(op.getResult());
    return sum ? userOf<kernel::ExchangeOp>(sum.getResult())
               : kernel::ExchangeOp();
  };
  table.push_back(kernelFault<kernel::ExchangeOp>(
      "two levels of lanes merged in the other order", kPairwise, kTree, next,
      [next](kernel::ExchangeOp op, OpBuilder &) {
        kernel::ExchangeOp second = next(op);
        uint64_t distance = op.getDistance();
        op.setDistance(second.getDistance());
        second.setDistance(distance);
      }));
  table.push_back(on<kernel::ExchangeOp>(
      Stage::Kernel, "an exchange that leaves its subgroup", {"pairwise", kHip},
      Detector::Verifier, {"distance"}, any<kernel::ExchangeOp>,
      [](kernel::ExchangeOp op, OpBuilder &) {
        op.setDistance(cast<VectorType>(op.getType()).getDimSize(0));
      }));
  table.push_back(kernelFault<arith::AddFOp>(
      "a lane that merges with itself", kPairwise, "node 'sum'",
      [](arith::AddFOp op) {
        return bool(op.getRhs().getDefiningOp<kernel::ExchangeOp>());
      },
      [](arith::AddFOp op, OpBuilder &) { op->setOperand(1, op.getLhs()); }));
  table.push_back(kernelFault<arith::AddFOp>(
      "a reassociated sum", kPairwise, kTree,
      [](arith::AddFOp op) {
        return bool(op.getLhs().getDefiningOp<arith::AddFOp>()) &&
               !op.getRhs().getDefiningOp<kernel::ExchangeOp>();
      },
      [](arith::AddFOp op, OpBuilder &builder) {
        auto inner = op.getLhs().getDefiningOp<arith::AddFOp>();
        Value right = arith::AddFOp::create(builder, op.getLoc(),
                                            inner.getRhs(), op.getRhs());
        op->setOperands({inner.getLhs(), right});
      },
      -1));
  table.push_back(kernelFault<kernel::GatherOp>(
      "another warp's partial taken twice", {"gather", kCuda, "lanes=64"},
      "node 'sum'", any<kernel::GatherOp>,
      [](kernel::GatherOp op, OpBuilder &) {
        op.getResult(1).replaceAllUsesWith(op.getResult(0));
      }));
  table.push_back(
      on<arith::AddFOp>(Stage::Kernel, "operands of an addition exchanged",
                        kPairwise, Detector::Nobody, {}, any<arith::AddFOp>,
                        [](arith::AddFOp op, OpBuilder &) {
                          op->setOperands({op.getRhs(), op.getLhs()});
                        }));
}

void starts(std::vector<Mutation> &table) {
  table.push_back(kernelFault<arith::ConstantOp>(
      "+0 for what is absent", kFirst, "node 'sum'",
      [](arith::ConstantOp op) { return isZero(op, true); },
      [](arith::ConstantOp op, OpBuilder &) { setSplat(op, 0.0); }));
  table.push_back(kernelFault<arith::ConstantOp>(
      "-0 where a chain begins at +0", kPairwise, "node 'sum'",
      [](arith::ConstantOp op) { return isZero(op, false); },
      [](arith::ConstantOp op, OpBuilder &) { setSplat(op, -0.0); }));
}

void raggedEnds(std::vector<Mutation> &table) {
  auto guarded = [](arith::SelectOp op) {
    return raggedMask(op.getCondition()) &&
           op.getTrueValue().getDefiningOp<arith::AddFOp>();
  };
  table.push_back(kernelFault<arith::SelectOp>(
      "a mask that is one element short", kRagged, "node 'sum'", guarded,
      [](arith::SelectOp op, OpBuilder &builder) {
        arith::CmpIOp mask = raggedMask(op.getCondition());
        op->setOperand(
            0, arith::CmpIOp::create(
                   builder, op.getLoc(), mask.getPredicate(), mask.getLhs(),
                   withInteger(builder, mask.getRhs(), kExtent - 1)));
      },
      -1));
  table.push_back(kernelFault<arith::SelectOp>(
      "no mask at the ragged end", kRagged, "unspecified value", guarded,
      [](arith::SelectOp op, OpBuilder &) {
        op.replaceAllUsesWith(op.getTrueValue());
      },
      -1));
  table.push_back(kernelFault<arith::SelectOp>(
      "absent and present exchanged", kRagged, "unspecified value", guarded,
      [](arith::SelectOp op, OpBuilder &) {
        op->setOperands(
            {op.getCondition(), op.getFalseValue(), op.getTrueValue()});
      }));
  table.push_back(kernelFault<kernel::LoadOp>(
      "a mask that is one element long", kRagged, "outside of tensor 'x'",
      [](kernel::LoadOp op) {
        return !op.getMasks().empty() && raggedMask(op.getMasks()[0]);
      },
      [](kernel::LoadOp op, OpBuilder &) {
        raggedMask(op.getMasks()[0]).setPredicate(arith::CmpIPredicate::sle);
      },
      -1));
}

bool isReductionLoop(scf::ForOp op) {
  std::optional<int64_t> rounds = integer(op.getUpperBound());
  return op->getNumResults() > 0 && rounds && *rounds > 3;
}

void loops(std::vector<Mutation> &table) {
  table.push_back(kernelFault<scf::ForOp>(
      "a loop that ends a round early", kLong, "node 'sum'", isReductionLoop,
      [](scf::ForOp op, OpBuilder &builder) {
        op.setUpperBound(withInteger(
            builder, op.getUpperBound(), *integer(op.getUpperBound()) - 1));
      }));
  table.push_back(kernelFault<scf::ForOp>(
      "a loop that starts a round late", kLong, "node 'sum'", isReductionLoop,
      [](scf::ForOp op, OpBuilder &builder) {
        op.setLowerBound(withInteger(builder, op.getLowerBound(), 1));
      }));
  table.push_back(kernelFault<scf::ForOp>(
      "a loop of double steps", kLong, "node 'sum'", isReductionLoop,
      [](scf::ForOp op, OpBuilder &builder) {
        op.setStep(withInteger(builder, op.getStep(), 2));
      }));
  table.push_back(kernelFault<scf::YieldOp>(
      "two accumulators exchanged by a round", kLong, "node 'sum'",
      [](scf::YieldOp op) { return op->getNumOperands() >= 2; },
      [](scf::YieldOp op, OpBuilder &) {
        Value first = op->getOperand(0);
        op->setOperand(0, op->getOperand(1));
        op->setOperand(1, first);
      }));
}

void addresses(std::vector<Mutation> &table) {
  table.push_back(kernelFault<kernel::LoadOp>(
      "lanes one element closer together", kPairwise, "node 'sum'",
      any<kernel::LoadOp>, [](kernel::LoadOp op, OpBuilder &) {
        op.setLaneStride(op.getLaneStride() - 1);
      }));
  table.push_back(kernelFault<kernel::LoadOp>(
      "an address one element on", kMulAdd, "outside of tensor 'weight'",
      [](kernel::LoadOp op) { return isSlot(op.getBuffer(), "weight"); },
      [](kernel::LoadOp op, OpBuilder &builder) {
        op.getOffsetMutable().assign(plus(builder, op.getOffset(), 1));
      },
      -1));
  table.push_back(kernelFault<kernel::StoreOp>(
      "a result stored one element on", kMulAdd, "tensor 'y'",
      any<kernel::StoreOp>, [](kernel::StoreOp op, OpBuilder &builder) {
        op.getOffsetMutable().assign(plus(builder, op.getOffset(), 1));
      }));
  table.push_back(kernelFault<kernel::StoreOp>(
      "a result stored by every lane", kPairwise, "a second time",
      [](kernel::StoreOp op) { return !op.getMasks().empty(); },
      [](kernel::StoreOp op, OpBuilder &) { op.getMasksMutable().clear(); }));
  table.push_back(kernelFault<kernel::FuncOp>(
      "an alignment that nobody asks of the caller", {"pairwise", kCuda},
      "is not aligned to 16 bytes",
      [](kernel::FuncOp op) {
        return op.getAccessAttr() && op.getAccessAttr().get("x");
      },
      [](kernel::FuncOp op, OpBuilder &builder) {
        op.setAccessAttr(builder.getDictionaryAttr({}));
      }));
  table.push_back(kernelFault<kernel::PeekOp>(
      "another cell of scratch", kScratch, "node 'sum'", any<kernel::PeekOp>,
      [](kernel::PeekOp op, OpBuilder &builder) {
        op.getIndexMutable().assign(
            arith::XOrIOp::create(builder, op.getLoc(), op.getIndex(),
                                  withInteger(builder, op.getIndex(), 1)));
      }));
  table.push_back(kernelFault<kernel::PokeOp>(
      "scratch that nobody wrote", kScratch, "never written", any<kernel::PokeOp>,
      [](kernel::PokeOp op, OpBuilder &) { op.erase(); }));
}

void rows(std::vector<Mutation> &table) {
  auto rowStride = [](arith::MulIOp op) { return isSlot(op.getRhs(), "x:0"); };
  auto takeHidden = [](arith::MulIOp op, OpBuilder &) {
    op->setOperand(1, op->getParentOfType<kernel::FuncOp>().slot("hidden"));
  };
  table.push_back(kernelFault<arith::MulIOp>("rows taken to lie side by side",
                                             kMulAdd, "tensor 'x'", rowStride,
                                             takeHidden));
  table.push_back(kernelFault<kernel::ProgramOp>(
      "programs that begin with the second row", kMulAdd, "outside of tensor",
      any<kernel::ProgramOp>, [](kernel::ProgramOp op, OpBuilder &builder) {
        builder.setInsertionPointAfter(op);
        Value next = plus(builder, op.getResult(), 1);
        op.getResult().replaceAllUsesExcept(next, next.getDefiningOp());
      }));
  auto rowMask = [](arith::CmpIOp op) {
    auto broadcast = op.getRhs().getDefiningOp<vector::BroadcastOp>();
    return broadcast && isSlot(broadcast.getSource(), "hidden");
  };
  table.push_back(kernelFault<arith::CmpIOp>(
      "the last row left out", kLanes, "an unspecified value", rowMask,
      [](arith::CmpIOp op, OpBuilder &builder) {
        op->setOperand(0, plus(builder, op.getLhs(), 1));
      }));
  table.push_back(kernelFault<arith::CmpIOp>(
      "a row after the last", kLanes, "outside of tensor", rowMask,
      [](arith::CmpIOp op, OpBuilder &) {
        op.setPredicate(arith::CmpIPredicate::sle);
      }));
  table.push_back(kernelFault<arith::MulIOp>(
      "programs a row too close together", kLanes, "tensor",
      [](arith::MulIOp op) {
        return op.getLhs().getDefiningOp<kernel::ProgramOp>() &&
               integer(op.getRhs()) == 8;
      },
      [](arith::MulIOp op, OpBuilder &builder) {
        op->setOperand(1, withInteger(builder, op.getRhs(), 7));
      },
      -1));
}

void arithmetic(std::vector<Mutation> &table) {
  table.push_back(kernelFault<arith::ExtFOp>("a rounding left out", kRounded,
                                             "output 'y'", roundsAndWidens,
                                             takeUnrounded));
  table.push_back(kernelFault<arith::ExtFOp>("a partial not rounded",
                                             {"partial", kCpu}, "bf16(",
                                             roundsAndWidens, takeUnrounded));
  table.push_back(kernelFault<kernel::NarrowOp>(
      "a value rounded twice", kRounded, "output 'y'",
      [](kernel::NarrowOp op) { return op.getA().getType() != op.getType(); },
      [](kernel::NarrowOp op, OpBuilder &builder) {
        auto type = cast<VectorType>(op.getA().getType());
        Value half = kernel::NarrowOp::create(
            builder, op.getLoc(),
            VectorType::get(type.getShape(), builder.getF16Type()), op.getA());
        op->setOperand(0,
                       arith::ExtFOp::create(builder, op.getLoc(), type, half));
      }));
  table.push_back(kernelFault<arith::AddFOp>(
      "a contracted fma", kMulAdd, "node 'sum_sq'",
      [](arith::AddFOp op) { return bool(productIn(op)); },
      [](arith::AddFOp op, OpBuilder &builder) {
        arith::MulFOp product = productIn(op);
        Value other =
            op.getLhs() == product.getResult() ? op.getRhs() : op.getLhs();
        op.replaceAllUsesWith(
            kernel::FmaOp::create(builder, op.getLoc(), op.getType(),
                                  product.getLhs(), product.getRhs(), other)
                .getResult());
      }));
  auto takeApart = [](kernel::FmaOp op, OpBuilder &builder) {
    Value product =
        arith::MulFOp::create(builder, op.getLoc(), op.getA(), op.getB());
    op.replaceAllUsesWith(
        arith::AddFOp::create(builder, op.getLoc(), product, op.getC())
            .getResult());
  };
  table.push_back(kernelFault<kernel::FmaOp>("an fma taken apart", kLayer,
                                             "node 'sum_sq'",
                                             any<kernel::FmaOp>, takeApart, 8));
  table.push_back(kernelFault<kernel::FmaOp>("an exact product rounded", kLayer,
                                             "output 'y'", any<kernel::FmaOp>,
                                             takeApart, -1));
  auto byConstant = [](arith::DivFOp op) {
    auto broadcast = op.getRhs().getDefiningOp<vector::BroadcastOp>();
    return broadcast && broadcast.getSource().getDefiningOp<arith::SIToFPOp>();
  };
  table.push_back(kernelFault<arith::DivFOp>(
      "a reciprocal instead of a division", kLayer, "div(", byConstant,
      [](arith::DivFOp op, OpBuilder &builder) {
        Value one = constantLike(builder, op.getLoc(), op.getType(), 1);
        Value inverse =
            arith::DivFOp::create(builder, op.getLoc(), one, op.getRhs());
        op.replaceAllUsesWith(
            arith::MulFOp::create(builder, op.getLoc(), op.getLhs(), inverse)
                .getResult());
      }));
  table.push_back(kernelFault<arith::SIToFPOp>(
      "an extent one short in the mean", kRounded, "output 'y'",
      [](arith::SIToFPOp op) { return integer(op.getIn()) == 512; },
      [](arith::SIToFPOp op, OpBuilder &builder) {
        op->setOperand(0, withInteger(builder, op.getIn(), 511));
      }));
  auto bySqrt = [](arith::DivFOp op) {
    return bool(op.getRhs().getDefiningOp<kernel::SqrtOp>());
  };
  table.push_back(kernelFault<arith::DivFOp>(
      "the root of a reciprocal", kMulAdd, "output 'y'", bySqrt,
      [](arith::DivFOp op, OpBuilder &builder) {
        auto root = op.getRhs().getDefiningOp<kernel::SqrtOp>();
        Value inverse = arith::DivFOp::create(builder, op.getLoc(), op.getLhs(),
                                              root.getA());
        op.replaceAllUsesWith(
            kernel::SqrtOp::create(builder, op.getLoc(), op.getType(), inverse)
                .getResult());
      }));
  auto isEps = [](arith::ConstantOp op) {
    std::optional<APFloat> value = splat(op.getResult());
    return value && value->convertToFloat() == 1e-6f;
  };
  table.push_back(kernelFault<arith::ConstantOp>(
      "eps in another format", kMulAdd, "output 'y'", isEps,
      [](arith::ConstantOp op, OpBuilder &) {
        APFloat value(1e-6f);
        bool inexact;
        value.convert(APFloat::BFloat(), APFloat::rmNearestTiesToEven,
                      &inexact);
        value.convert(APFloat::IEEEsingle(), APFloat::rmNearestTiesToEven,
                      &inexact);
        setSplat(op, value.convertToFloat());
      }));
  table.push_back(kernelFault<arith::MulFOp>(
      "the weight multiplied first", kMulAdd, "output 'y'",
      [](arith::MulFOp op) {
        return bool(op.getLhs().getDefiningOp<arith::MulFOp>());
      },
      [](arith::MulFOp op, OpBuilder &builder) {
        auto inner = op.getLhs().getDefiningOp<arith::MulFOp>();
        Value weighted = arith::MulFOp::create(builder, op.getLoc(),
                                               inner.getLhs(), op.getRhs());
        op->setOperands({weighted, inner.getRhs()});
      }));
  table.push_back(kernelFault<kernel::NarrowOp>(
      "a NaN stored as it comes", kMulAdd, "output 'y'",
      [](kernel::NarrowOp op) { return op.getA().getType() == op.getType(); },
      [](kernel::NarrowOp op, OpBuilder &) {
        op.replaceAllUsesWith(op.getA());
      }));
  table.push_back(kernelFault<arith::AddFOp>(
      "a step of a wide accumulator in f32", {"wide", kCpu}, "node 'sum'",
      [](arith::AddFOp op) {
        return bool(op.getRhs().getDefiningOp<arith::ExtFOp>());
      },
      [](arith::AddFOp op, OpBuilder &builder) {
        builder.setInsertionPointAfter(op);
        auto type = cast<VectorType>(op.getType());
        Value narrow = kernel::NarrowOp::create(
            builder, op.getLoc(),
            VectorType::get(type.getShape(), builder.getF32Type()),
            op.getResult());
        Value wide = arith::ExtFOp::create(builder, op.getLoc(), type, narrow);
        op.getResult().replaceAllUsesExcept(wide, narrow.getDefiningOp());
      },
      -1));
}

} // namespace

std::vector<Mutation> faults::kernelMutations() {
  std::vector<Mutation> table;
  mergeTrees(table);
  starts(table);
  raggedEnds(table);
  loops(table);
  addresses(table);
  rows(table);
  arithmetic(table);
  return table;
}
