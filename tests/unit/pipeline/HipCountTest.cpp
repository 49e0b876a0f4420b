// HipCountTest.cpp - code for AMD GPUs has the operations of its kernel, each
// as often. Part of Bitpact, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The kernel is counted before it meets a target, the machine code by the lint.
// Loops are kept as they are, for otherwise LLVM would repeat their bodies; the
// code that is shipped differs from this in unrolling alone.
#include "codegen/AMDGPU/Lint.h"
#include "compiler/Pipeline/Pipeline.h"
#include "dialects/Kernel/KernelDialect.h"
#include "mlir/AsmParser/AsmParser.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Matchers.h"

#include <catch2/catch.hpp>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <mutex>
#include <stdlib.h>

using namespace bitpact;
using codegen::OpCounts;
using codegen::OpKind;
namespace fs = std::filesystem;

namespace {

using Change = std::function<bool(mlir::ModuleOp)>;

/// LLVM multiplies by the inverse of a power of two, which is exact. Extents
/// are integers that the kernel converts.
bool isByPowerOfTwo(mlir::arith::DivFOp div) {
  mlir::Operation *by = div.getRhs().getDefiningOp();
  llvm::APInt extent;
  while (by && by->getNumOperands() == 1 &&
         !mlir::matchPattern(by->getResult(0), mlir::m_ConstantInt(&extent)))
    by = by->getOperand(0).getDefiningOp();
  return by &&
         mlir::matchPattern(by->getResult(0), mlir::m_ConstantInt(&extent)) &&
         extent.isPowerOf2();
}

/// The smaller of x and -x, of which sigmoid and silu take the exponential.
bool isNegatedMagnitude(mlir::Operation *op) {
  auto least = mlir::dyn_cast<mlir::arith::MinimumFOp>(op);
  auto negated = least
                     ? least.getRhs().getDefiningOp<mlir::arith::NegFOp>()
                     : mlir::arith::NegFOp();
  return negated && negated.getOperand() == least.getLhs();
}

/// Operations of a kernel, which is in terms of lanes: one for each is one
/// instruction of a thread.
OpCounts countKernel(mlir::ModuleOp module) {
  OpCounts counts{};
  module.walk([&](mlir::Operation *op) {
    auto add = [&](OpKind kind) { ++counts[size_t(kind)]; };
    if (mlir::isa<mlir::arith::AddFOp, mlir::arith::SubFOp>(op))
      add(OpKind::Add);
    else if (mlir::isa<mlir::arith::MulFOp>(op))
      add(OpKind::Mul);
    else if (mlir::isa<kernel::FmaOp>(op))
      add(OpKind::Fma);
    else if (auto div = mlir::dyn_cast<mlir::arith::DivFOp>(op))
      add(isByPowerOfTwo(div) ? OpKind::Mul : OpKind::Div);
    else if (mlir::isa<kernel::SqrtOp>(op))
      add(OpKind::Sqrt);
    else if (isNegatedMagnitude(op))
      return; // the operand of what uses it has that sign
    else if (mlir::isa<mlir::arith::MaximumFOp, mlir::arith::MinimumFOp>(op))
      add(OpKind::Max);
  });
  return counts;
}

/// Loops stay loops.
void keepLoops(mlir::ModuleOp module) {
  mlir::MLIRContext *context = module.getContext();
  auto loop = mlir::cast<mlir::LLVM::LoopAnnotationAttr>(
      mlir::parseAttribute("#llvm.loop_annotation<unroll = <disable = true>, "
                           "peeled = <count = 0 : i32>>",
                           context));
  module.walk([&](mlir::Operation *op) {
    if (auto branch = mlir::dyn_cast<mlir::LLVM::BrOp>(op))
      branch.setLoopAnnotationAttr(loop);
    if (auto branch = mlir::dyn_cast<mlir::LLVM::CondBrOp>(op))
      branch.setLoopAnnotationAttr(loop);
  });
}

struct Compiled {
  std::map<std::string, OpCounts> kernels, code; // by entry
  OpCounts tiles{};                              // of a tile kernel
  std::string said;
  bool succeeded = false;
};

std::string textOf(const fs::path &path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

Compiled compile(const std::string &contract, const std::string &target,
                 const Change &change = {}) {
  Compiled result;
  char pattern[] = "/tmp/bitpact-hip-XXXXXX";
  REQUIRE(mkdtemp(pattern));
  mlir::DialectRegistry registry;
  pipeline::registerDialects(registry);
  mlir::MLIRContext context(registry);
  context.loadAllAvailableDialects();
  std::mutex guard;
  mlir::ScopedDiagnosticHandler handler(&context, [&](mlir::Diagnostic &what) {
    std::lock_guard<std::mutex> lock(guard);
    result.said += what.str() + "\n";
  });
  auto library = reader::Library::load(BITPACT_CONTRACTS, &context);
  REQUIRE(mlir::succeeded(library));
  pipeline::CompileRequest request;
  request.contracts = {contract};
  request.output = std::string(pattern) + "/a.pkg";
  request.targets = {target};
  request.roles = {"train", "rollout"};
  request.mutateKernel = [&](mlir::ModuleOp module) {
    std::lock_guard<std::mutex> lock(guard);
    for (auto func : module.getOps<kernel::FuncOp>())
      result.kernels[func.getSymName().str()] = countKernel(module);
  };
  int changed = 0;
  request.mutateLLVM = [&](mlir::ModuleOp module) {
    std::lock_guard<std::mutex> lock(guard);
    keepLoops(module);
    if (change)
      changed += change(module);
  };
  result.succeeded =
      mlir::succeeded(pipeline::compile(request, *library, &context, {}));
  if (result.succeeded) {
    nlohmann::json manifest =
        nlohmann::json::parse(textOf(request.output + "/manifest.json"));
    for (const nlohmann::json &variant : manifest.at("variants")) {
      std::string file = variant.at("inspect").at(0).at("file");
      codegen::LintExpectation expected{true};
      expected.chainsFma = true;
      expected.allowLocal = true;
      OpCounts counts{};
      codegen::lintGcn(textOf(fs::path(request.output) / file), expected,
                       &counts);
      std::string schedule = variant.at("schedule");
      if (schedule.rfind("tiles ", 0) == 0)
        result.tiles = counts;
      else
        result.code[variant.at("entry")] = counts;
    }
  }
  fs::remove_all(pattern);
  CHECK((!change || changed > 0));
  return result;
}

std::string show(const OpCounts &counts) {
  std::string text;
  for (OpKind kind : codegen::kOpKinds)
    text += codegen::nameOf(kind).str() + " " +
            std::to_string(counts[size_t(kind)]) + "  ";
  return text;
}

constexpr const char *kField = "/library/field/";

std::vector<std::string> libraryContracts() {
  std::vector<std::string> paths;
  for (const auto &entry :
       fs::recursive_directory_iterator(BITPACT_CONTRACTS "/library"))
    if (entry.path().extension() == ".json" &&
        entry.path().filename() != "model.json") // a set of contracts
      paths.push_back(entry.path());
  std::sort(paths.begin(), paths.end());
  return paths;
}

const char *const kTargets[] = {"hip:gfx90a", "hip:gfx942", "hip:gfx950"};

} // namespace

TEST_CASE("machine code of AMD GPUs has exactly its kernel's operations") {
  REQUIRE(libraryContracts().size() >= 8);
  int lacking = 0; // the target does not have the atom
  for (const std::string &contract : libraryContracts())
    for (const char *target : kTargets) {
      Compiled done = compile(contract, target);
      if (done.said.find("[A4]") != std::string::npos) {
        // Of atoms AMD GPUs have dot.cdna3, and that on gfx942.
        INFO(contract << " for " << target << "\n" << done.said);
        bool isCdna3 =
            done.said.find("no atom 'dot.cdna3'") != std::string::npos;
        CHECK((isCdna3
                   ? target != std::string("hip:gfx942")
                   : done.said.find("no atom 'dot.nv(") != std::string::npos));
        ++lacking;
        continue;
      }
      INFO(contract << " for " << target << "\n" << done.said);
      REQUIRE(done.succeeded);
      for (const auto &[entry, counts] : done.code) {
        OpCounts kernel = done.kernels.at(entry);
        INFO(entry << "\nkernel: " << show(kernel)
                   << "\ncode:   " << show(counts));
        // In kernels that write as others do LLVM drops what has an identity, as
        // 0 + x·x, -0 + x and max(-∞, x): nothing else, and nothing is added.
        if (contract.find(kField) != std::string::npos)
          for (OpKind kind : {OpKind::Add, OpKind::Max}) {
            CHECK(counts[size_t(kind)] <= kernel[size_t(kind)]);
            kernel[size_t(kind)] = counts[size_t(kind)];
          }
        CHECK(counts == kernel);
      }
    }
  CHECK(lacking > 0);
}

// A kernel of tiles names no elements. What a wave does follows from its part
// of a block, 64 x 64, and the depth of a stage, which stands twice: in the
// loop over stages, and in the one over the last.
TEST_CASE("products of matrices on AMD GPUs have the fma of a stage, twice") {
  const std::string library = BITPACT_CONTRACTS "/library/examples/";
  auto fmas = [&](const char *contract, const char *target) {
    Compiled done = compile(library + contract, target);
    INFO(contract << " for " << target << "\n" << done.said);
    REQUIRE(done.succeeded);
    CHECK(done.tiles[size_t(OpKind::Add)] == 0);
    CHECK(done.tiles[size_t(OpKind::Mul)] == 0);
    return done.tiles[size_t(OpKind::Fma)];
  };
  // 64 bytes of a row: 16 f32 or 32 bf16, one fma each for 2 x 2 blocks.
  for (const char *target : {"hip:gfx90a", "hip:gfx942"}) {
    CHECK(fmas("matmul_fma.json", target) == 2 * 2 * 2 * 16);
    CHECK(fmas("matmul_fma_bf16.json", target) == 2 * 2 * 2 * 32);
  }
  // 64 sums a lane, and a loop over pieces of 16 bytes.
  CHECK(fmas("matmul_fma.json", "hip:gfx950") == 2 * 64 * 4);
  CHECK(fmas("matmul_fma_bf16.json", "hip:gfx950") == 2 * 64 * 8);
}

namespace {

/// The first operation of a kind, whose users then see what `replace` gives.
template <typename Op>
bool changeFirst(
    mlir::ModuleOp module,
    llvm::function_ref<mlir::Value(mlir::OpBuilder &, Op)> replace) {
  Op first;
  module.walk([&](Op op) {
    first = op;
    return mlir::WalkResult::interrupt();
  });
  if (!first)
    return false;
  mlir::OpBuilder builder(first);
  builder.setInsertionPointAfter(first);
  mlir::Value value = replace(builder, first);
  mlir::Value result = first->getResult(0);
  result.replaceAllUsesExcept(value, value.getDefiningOp());
  return true;
}

} // namespace

TEST_CASE("an operation too many or too few in machine code is noticed") {
  using mlir::LLVM::FMAOp, mlir::LLVM::FMulOp, mlir::LLVM::FAddOp,
      mlir::LLVM::FDivOp, mlir::LLVM::SqrtOp;
  const struct {
    const char *what;
    OpKind kind;
    int difference;
    Change change;
  } faults[] = {
      {"one more addition", OpKind::Add, 1,
       [](mlir::ModuleOp module) {
         return changeFirst<FMAOp>(module, [](auto &builder, FMAOp op) {
           return FAddOp::create(builder, op.getLoc(), op.getResult(),
                                 op.getOperand(0));
         });
       }},
      {"one more product", OpKind::Mul, 1,
       [](mlir::ModuleOp module) {
         return changeFirst<FMAOp>(module, [](auto &builder, FMAOp op) {
           return FMulOp::create(builder, op.getLoc(), op.getResult(),
                                 op.getOperand(0));
         });
       }},
      {"one more fma", OpKind::Fma, 1,
       [](mlir::ModuleOp module) {
         return changeFirst<FMAOp>(module, [](auto &builder, FMAOp op) {
           return FMAOp::create(builder, op.getLoc(), op.getOperand(0),
                                op.getOperand(1), op.getResult());
         });
       }},
      {"one fma fewer", OpKind::Fma, -1,
       [](mlir::ModuleOp module) {
         return changeFirst<FMAOp>(
             module, [](auto &, FMAOp op) { return op.getOperand(2); });
       }},
      {"one more division", OpKind::Div, 1,
       [](mlir::ModuleOp module) {
         return changeFirst<SqrtOp>(module, [](auto &builder, SqrtOp op) {
           return FDivOp::create(builder, op.getLoc(), op.getResult(),
                                 op.getOperand());
         });
       }},
      {"one root fewer", OpKind::Sqrt, -1,
       [](mlir::ModuleOp module) {
         return changeFirst<SqrtOp>(
             module, [](auto &, SqrtOp op) { return op.getOperand(); });
       }},
  };
  const std::string contract =
      BITPACT_CONTRACTS "/library/qwen3-8b/rms_norm.json";
  for (const auto &fault : faults) {
    Compiled done = compile(contract, "hip:gfx942", fault.change);
    INFO(fault.what << "\n" << done.said);
    // The lint of every compilation may be the first to see it.
    if (!done.succeeded) {
      CHECK(done.said.find("compiler bug: hip:gfx942: L") != std::string::npos);
      continue;
    }
    for (const auto &[entry, counts] : done.code) {
      INFO(entry << "\nkernel: " << show(done.kernels.at(entry))
                 << "\ncode:   " << show(counts));
      CHECK(int(counts[size_t(fault.kind)]) ==
            int(done.kernels.at(entry)[size_t(fault.kind)]) + fault.difference);
    }
  }
}
