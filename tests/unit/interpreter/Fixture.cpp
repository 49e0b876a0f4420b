// Fixture.cpp - contracts, schedules by hand, kernels and inputs
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tests/unit/interpreter/Fixture.h"

#include "codegen/Lowering/RowLowering.h"
#include "contracts/reference/Arithmetic.h"
#include "dialects/Kernel/Tiles.h"
#include "mlir/IR/Verifier.h"

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>

using namespace bitpact;
using namespace bitpact::tests;

mlir::MLIRContext &tests::context() {
  static mlir::MLIRContext *context = [] {
    mlir::DialectRegistry registry;
    registry.insert<pact::PactDialect, kernel::KernelDialect,
                    tile::TileDialect, mlir::arith::ArithDialect, mlir::scf::SCFDialect,
                    mlir::vector::VectorDialect>();
    auto *made = new mlir::MLIRContext(registry);
    made->loadAllAvailableDialects();
    made->printOpOnDiagnostic(false);
    return made;
  }();
  return *context;
}

static const reader::Library &library() {
  static const reader::Library *loaded = [] {
    auto library = reader::Library::load(BITPACT_CONTRACTS, &context());
    REQUIRE(succeeded(library));
    return new reader::Library(std::move(*library));
  }();
  return *loaded;
}

pact::ContractOp Case::contract() const {
  return *read.module.get().getOps<pact::ContractOp>().begin();
}

pact::OperatorOp Case::op() const {
  return *read.module.get().getOps<pact::OperatorOp>().begin();
}

mlir::StringAttr Case::reduced() const {
  return (*op().getOps<pact::ReduceOp>().begin()).getOverAttr();
}

int64_t Case::extent() const {
  return mlir::cast<mlir::IntegerAttr>(contract().getDims().get(reduced()))
      .getInt();
}

Case tests::readFile(const std::string &path) {
  Said said;
  auto read = reader::readContract(path, library(), &context());
  INFO(path << ": " << said.text);
  REQUIRE(succeeded(read));
  return {std::filesystem::path(path).stem(), std::move(*read)};
}

Case tests::readText(const std::string &text) {
  std::filesystem::path path =
      std::filesystem::temp_directory_path() /
      ("bitpact-interpreter-" + std::to_string(std::random_device()()) +
       ".json");
  std::ofstream(path) << text;
  Case result = readFile(path);
  std::filesystem::remove(path);
  return result;
}

static std::vector<std::string> contractsIn(const char *directory) {
  std::vector<std::string> paths;
  for (auto &entry : std::filesystem::directory_iterator(directory))
    if (entry.path().extension() == ".json")
      paths.push_back(entry.path());
  std::sort(paths.begin(), paths.end());
  return paths;
}

const std::vector<Case> &tests::generated() {
  static const std::vector<Case> *cases = [] {
    auto *read = new std::vector<Case>;
    for (const std::string &path : contractsIn(BITPACT_GENERATED))
      read->push_back(readFile(path));
    return read;
  }();
  return *cases;
}

std::vector<std::string> tests::randomContracts() {
  return contractsIn(BITPACT_RANDOM);
}

std::string tests::sumContract(const std::string &hidden,
                               const std::string &partition,
                               const std::string &merges,
                               const std::string &start) {
  return R"({"bitpact": 1, "name": "test/sum", "op": "sum@1",
  "dims": {"tokens": "*", "hidden": )" +
         hidden + R"(}, "types": {"x": "bf16", "y": "f32"},
  "nodes": {"sum": {"domain": "hidden", "partition": ")" +
         partition + R"(", "merge": [)" + merges + R"(], "start": ")" + start +
         R"(", "precision": {"accumulator": "f32"}}},
  "rounding": {"y": "f32 rne"}, "primitives": {"sum.step": "add.f32"}})";
}

std::string tests::stateContract(const std::string &vocab,
                                 const std::string &partition,
                                 const std::string &merges,
                                 const std::string &state,
                                 const std::string &start) {
  bool online = state == "online";
  bool meets = merges.find("merge") != std::string::npos;
  return R"({"bitpact": 1, "name": "test/state", "op": "log_sum_exp@1",
  "dims": {"tokens": "*", "vocab": )" +
         vocab + R"(}, "types": {"x": "f32", "y": "f32"},
  "nodes": {
    "max": {"domain": "vocab", "partition": "all:*", "merge": ["all any"],
            "start": "identity", "precision": {"accumulator": "f32"}},
    "sum": {"domain": "vocab", "partition": ")" +
         partition + R"(", "merge": [)" + merges + R"(], "start": ")" + start +
         R"(", "state": ")" + state +
         R"(", "precision": {"accumulator": "f32"}}},
  "rounding": {"y": "f32 rne"},
  "primitives": {"max.step": "max.f32", "sum.step": "add.f32",
    "sum.weight": "exp_diff.f32", "log": "log.f32")" +
         (online ? R"(, "sum.rescale": "exp_diff.f32")" : "") +
         (meets ? R"(, "sum.combine": "combine.mul_add.f32")" : "") + "}}";
}

kernel::ScheduleAttr tests::schedule(llvm::StringRef kind, int64_t lanes,
                                     int64_t subgroup, int64_t vectorBytes,
                                     int64_t unroll) {
  return kernel::ScheduleAttr::get(&context(), kind, lanes, subgroup, 1,
                                   vectorBytes, unroll);
}

std::vector<kernel::ScheduleAttr> tests::allSchedules() {
  return {schedule("row_per_group", 32, 32, 16, 128),
          schedule("row_per_group", 32, 32, 0, 4),
          schedule("row_per_group", 64, 64, 16, 128),
          schedule("row_per_group", 64, 64, 0, 16),
          schedule("row_per_group", 64, 32, 16, 128),
          schedule("row_per_group", 256, 32, 0, 128),
          schedule("row_per_group", 512, 64, 16, 2),
          schedule("row_per_group", 16, 16, 16, 128),
          schedule("row_per_group", 8, 8, 1, 64),
          schedule("row_per_group", 4, 4, 16, 128),
          schedule("row_per_lane", 32, 32, 0, 16),
          schedule("row_per_lane", 64, 64, 0, 1)};
}

std::optional<Kernel> tests::lower(const Case &of,
                                   kernel::ScheduleAttr schedule) {
  if (lowering::whyNot(of.contract(), of.op(), schedule))
    return std::nullopt;
  Kernel kernel;
  kernel.module = mlir::ModuleOp::create(of.contract().getLoc());
  auto steps = lowering::lowerRows(of.contract(), of.op(), schedule, "f",
                                   *kernel.module);
  REQUIRE(succeeded(steps));
  REQUIRE(succeeded(mlir::verify(*kernel.module)));
  kernel.steps = *steps;
  kernel.func = steps->front();
  return kernel;
}

static reference::Tensor shaped(const Case &of, llvm::StringRef name,
                                pact::RealType type, int64_t rows) {
  reference::Tensor tensor;
  auto element =
      mlir::cast<mlir::TypeAttr>(of.contract().getTypes().get(name)).getValue();
  tensor.format = element.isBF16()  ? algebra::Format::BF16
                  : element.isF16() ? algebra::Format::F16
                  : element.isF32() ? algebra::Format::F32
                                    : algebra::Format::F64;
  for (mlir::StringAttr dim : type.getDims())
    tensor.shape.push_back(dim == of.reduced() ? of.extent() : rows);
  return tensor;
}

interpreter::Tensors tests::inputs(const Case &of, int64_t rows,
                                   std::mt19937 &random) {
  interpreter::Tensors tensors;
  std::normal_distribution<double> normal;
  for (pact::InputOp input : of.op().getOps<pact::InputOp>()) {
    reference::Tensor tensor =
        shaped(of, input.getTensor(), input.getResult().getType(), rows);
    int64_t count = 1;
    for (int64_t extent : tensor.shape)
      count *= extent;
    bool special = random() % 3 == 0;
    for (int64_t i = 0; i < count; ++i) {
      double value = normal(random) * std::exp2(int(random() % 24) - 12);
      if (random() % 16 == 0)
        value = random() % 2 ? -0.0 : 0.0;
      if (special && random() % 512 == 0)
        value = random() % 2 ? HUGE_VAL : NAN;
      uint64_t bits = reference::encode(tensor.format, value);
      for (int byte = 0; byte < algebra::bytes(tensor.format); ++byte)
        tensor.bytes.push_back(uint8_t(bits >> 8 * byte));
    }
    tensors[input.getTensor().str()] = tensor;
  }
  return tensors;
}

interpreter::Tensors
tests::withOutputs(const Case &of, interpreter::Tensors tensors, int64_t rows) {
  for (pact::OutputOp output : of.op().getOps<pact::OutputOp>())
    tensors[output.getTensor().str()] =
        shaped(of, output.getTensor(),
               mlir::cast<pact::RealType>(output.getValue().getType()), rows);
  return tensors;
}

interpreter::Dims tests::dims(const Case &of, int64_t rows) {
  interpreter::Dims dims;
  for (mlir::Attribute each : of.op().getDims()) {
    auto dim = mlir::cast<mlir::StringAttr>(each);
    dims[dim.str()] = dim == of.reduced() ? of.extent() : rows;
  }
  return dims;
}
