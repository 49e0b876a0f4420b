// TileSegmentTest.cpp - tile kernels whose rows are cut at offsets
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/Lowering/TileLowering.h"
#include "contracts/reference/Evaluator.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "tests/unit/interpreter/TileFixture.h"

#include <catch2/catch.hpp>

using namespace mlir;
using namespace bitpact;
using namespace bitpact::tests;
using Catch::Contains;
using interpreter::Dims;
using interpreter::Tensors;

namespace {

constexpr const char *kDims = R"("dims": {"tokens": "*",)";

std::string replaced(std::string text, const std::string &from,
                     const std::string &to) {
  size_t at = text.find(from);
  REQUIRE(at != std::string::npos);
  return text.replace(at, from.size(), to);
}

/// A product, and the same for rows that each take the matrix of a segment.
struct Pair {
  Case whole, grouped;
};

Pair pairOf(const std::string &product) {
  std::string text = replaced(product, "matmul@1", "grouped_matmul@1");
  text = replaced(text, kDims,
                  std::string(kDims) + R"( "experts": "*", "boundaries": "*",)");
  text = replaced(text, R"("types": {)", R"("types": {"offsets": "i32", )");
  return {readText(product), readText(text)};
}

Pair ofAtom() {
  return pairOf(matmulContract("bf16", "dot.nv(16,25)", "step:* k:16",
                               R"m("k fused(dot.nv(16,25))", "step chain")m"));
}

Pair ofFma() {
  return pairOf(
      matmulContract("f32", "dot.fma.f32", "k:*", R"("k chain")", "f32"));
}

Pair ofCdna3() {
  return pairOf(matmulContract("bf16", "dot.cdna3", "step:* k:8",
                               R"m("k fused(dot.cdna3)", "step chain")m"));
}

tile::ScheduleAttr own(int64_t m, int64_t n, int64_t k, int64_t group) {
  return tile::ScheduleAttr::get(&context(), m, n, k, 1, 1, group, "own", 0, 0,
                                 /*cluster=*/1, /*held=*/0, 2, 4, 4);
}

std::vector<tile::ScheduleAttr> schedules() {
  std::vector<tile::ScheduleAttr> all = allTiles();
  all.push_back(own(8, 12, 16, 2));
  all.push_back(own(4, 4, 32, 1));
  return all;
}

Dims dimsOf(const std::vector<int64_t> &offsets, int64_t tokens,
            int64_t experts, int64_t out, int64_t in) {
  return {{"tokens", tokens},
          {"experts", experts},
          {"boundaries", int64_t(offsets.size())},
          {"out", out},
          {"in", in}};
}

/// As a launch of one program a block has them (docs/packages.md).
int64_t programsOf(tile::ScheduleAttr schedule, const Dims &dims,
                   int64_t persistent) {
  if (!schedule.packsOwn())
    return persistent;
  int64_t tokens = dims.at("tokens"), m = schedule.getM();
  int64_t pieces =
      std::min(std::max(dims.at("boundaries") - 1, int64_t(1)), tokens);
  return (tokens + pieces * (m - 1)) / m *
         ((dims.at("out") - 1) / schedule.getN() + 1);
}

Tensors inputsOf(const Case &of, const Dims &dims,
                 const std::vector<int64_t> &offsets, std::mt19937 &random) {
  Tensors tensors = tensorsOf(of, dims, random);
  reference::Tensor &bounds = tensors.at("offsets");
  bounds.bytes.clear();
  for (int64_t offset : offsets)
    for (int byte = 0; byte < 4; ++byte)
      bounds.bytes.push_back(uint8_t(uint32_t(offset) >> 8 * byte));
  return tensors;
}

std::vector<uint8_t> sliced(const reference::Tensor &tensor, int64_t first,
                            int64_t count, int64_t elements) {
  size_t bytes = size_t(elements) * algebra::bytes(tensor.format);
  return {tensor.bytes.begin() + first * bytes,
          tensor.bytes.begin() + (first + count) * bytes};
}

/// The bytes of the products of each segment with its matrix, one after the
/// other, and nothing of segments.
std::vector<uint8_t> productsOf(const Case &whole, const Tensors &tensors,
                                const std::vector<int64_t> &offsets,
                                const Dims &dims) {
  reference::Evaluator oracle(whole.read.canonical);
  int64_t out = dims.at("out"), in = dims.at("in");
  std::vector<uint8_t> all;
  for (size_t e = 0; e + 1 < offsets.size(); ++e) {
    int64_t rows = offsets[e + 1] - offsets[e];
    if (rows == 0)
      continue;
    const reference::Tensor &x = tensors.at("x"), &w = tensors.at("weight");
    Tensors given;
    given["x"] = {x.format, {rows, in}, sliced(x, offsets[e], rows, in)};
    given["weight"] = {
        w.format, {out, in}, sliced(w, int64_t(e), 1, out * in)};
    std::vector<uint8_t> part = oracle.run(given, 1).at("y").bytes;
    all.insert(all.end(), part.begin(), part.end());
  }
  return all;
}

struct Ran {
  std::vector<uint8_t> bytes;
  bool fault;
};

Ran run(const TileKernel &kernel, const Tensors &tensors, const Dims &dims,
        int64_t persistent) {
  Said said;
  bool fault = false;
  tile::FuncOp func = kernel.func;
  auto got = interpreter::interpretNumbers(
      func, tensors, dims, programsOf(func.getSchedule(), dims, persistent),
      &fault);
  INFO(said.text);
  REQUIRE(succeeded(got));
  return {got->at("y").bytes, fault};
}

int agreeWithProducts(const Pair &of, std::mt19937 &random) {
  int runs = 0;
  for (tile::ScheduleAttr schedule : schedules()) {
    TileKernel kernel = lower(of.grouped, schedule);
    for (const std::vector<int64_t> &offsets :
         std::vector<std::vector<int64_t>>{
             {0, 1},
             {0, 0, 5, 5, 6, 6},
             {0, 17, 17, 18, 34, 137}}) {
      Dims dims = dimsOf(offsets, offsets.back(), int64_t(offsets.size()) - 1,
                         21, 97);
      Tensors tensors = inputsOf(of.grouped, dims, offsets, random);
      std::vector<uint8_t> wanted =
          productsOf(of.whole, tensors, offsets, dims);
      for (int64_t programs : {1, 3}) {
        INFO(schedule.text() << ", " << offsets.size() << " offsets to "
                             << offsets.back() << ", programs " << programs);
        Ran ran = run(kernel, tensors, dims, programs);
        REQUIRE(ran.bytes == wanted);
        REQUIRE(!ran.fault);
        ++runs;
      }
    }
  }
  return runs;
}

template <typename OpType> SmallVector<OpType> all(tile::FuncOp func) {
  SmallVector<OpType> found;
  func.walk([&](OpType op) { found.push_back(op); });
  return found;
}

template <typename OpType> OpType only(tile::FuncOp func) {
  SmallVector<OpType> found = all<OpType>(func);
  REQUIRE(found.size() == 1);
  return found.front();
}

} // namespace

TEST_CASE("segments of rows give the bytes of products of their own") {
  std::mt19937 random(1);
  int runs = int(schedules().size()) * 6;
  CHECK(agreeWithProducts(ofAtom(), random) == runs);
  CHECK(agreeWithProducts(ofFma(), random) == runs);
  CHECK(agreeWithProducts(ofCdna3(), random) == runs);
}

TEST_CASE("kernels of segments are proved") {
  for (const Pair &of : {ofAtom(), ofFma(), ofCdna3()})
    for (tile::ScheduleAttr schedule : schedules()) {
      TileKernel kernel = lower(of.grouped, schedule);
      Said said;
      auto proved = interpreter::proveSchedule(
          of.grouped.contract(), of.grouped.op(), kernel.func);
      INFO(schedule.text() << said.text);
      REQUIRE(succeeded(proved));
    }
}

TEST_CASE("offsets that are bad give NaN, and a fault") {
  Pair of = ofAtom();
  std::mt19937 random(2);
  for (const std::vector<int64_t> &offsets :
       std::vector<std::vector<int64_t>>{{0, 18},
                                         {1, 19},
                                         {0, 20},
                                         {0, -1, 19},
                                         {0, 20, 19},
                                         {0, 12, 4, 19},
                                         {0},
                                         {19}})
    for (tile::ScheduleAttr schedule : schedules()) {
      TileKernel kernel = lower(of.grouped, schedule);
      Dims dims = dimsOf(offsets, 19, 3, 9, 33);
      Ran ran =
          run(kernel, inputsOf(of.grouped, dims, offsets, random), dims, 3);
      std::vector<uint8_t> wanted;
      for (int i = 0; i < 19 * 9; ++i)
        wanted.insert(wanted.end(), {0xC0, 0x7F});
      INFO(schedule.text());
      REQUIRE(ran.bytes == wanted);
      REQUIRE(ran.fault);
    }
}

TEST_CASE("rows behind those of the last matrix are NaN, and no others") {
  Pair of = ofAtom();
  std::mt19937 random(3);
  std::vector<int64_t> offsets = {0, 6, 11, 19};
  Dims dims = dimsOf(offsets, 19, 2, 9, 33);
  Tensors tensors = inputsOf(of.grouped, dims, offsets, random);
  std::vector<uint8_t> wanted =
      productsOf(of.whole, tensors, {0, 6, 11}, dims);
  for (int i = 0; i < 8 * 9; ++i)
    wanted.insert(wanted.end(), {0xC0, 0x7F});
  for (tile::ScheduleAttr schedule : schedules()) {
    INFO(schedule.text());
    Ran ran = run(lower(of.grouped, schedule), tensors, dims, 3);
    REQUIRE(ran.bytes == wanted);
    REQUIRE(ran.fault);
  }
  // Segments without a matrix that have no row are no fault.
  offsets = {0, 6, 19, 19};
  tensors = inputsOf(of.grouped, dims, offsets, random);
  wanted = productsOf(of.whole, tensors, {0, 6, 19}, dims);
  Ran ran = run(lower(of.grouped, schedules().front()), tensors, dims, 3);
  CHECK(ran.bytes == wanted);
  CHECK(!ran.fault);
}

TEST_CASE("a block that does not end with its segment") {
  std::string said = saidOf(ofAtom().grouped, [](tile::FuncOp func) {
    only<tile::PutOp>(func).getEndMutable().clear();
  });
  CHECK_THAT(said, Contains("a second time"));
}

TEST_CASE("a segment that takes the first matrix") {
  std::string said = saidOf(ofAtom().grouped, [](tile::FuncOp func) {
    auto fetch = all<tile::FetchOp>(func)[1];
    OpBuilder builder(fetch);
    fetch.getMatrixMutable().assign(
        arith::ConstantIntOp::create(builder, fetch.getLoc(), 0, 32));
  });
  CHECK_THAT(said, Contains("the kernel's tree is not the contract's"));
  CHECK_THAT(said, Contains("weight[0, "));
}

TEST_CASE("a segment without a matrix whose sums leave") {
  std::string said = saidOf(ofAtom().grouped, [](tile::FuncOp func) {
    only<tile::AwaitOp>(func).getExistsMutable().clear();
  });
  CHECK_THAT(said, Contains("the contract has "));
}

TEST_CASE("a segment that begins at the first row of all") {
  std::string said = saidOf(ofAtom().grouped, [](tile::FuncOp func) {
    auto fetch = all<tile::FetchOp>(func).front();
    auto row = fetch.getRow().getDefiningOp<arith::AddIOp>();
    REQUIRE(row);
    fetch.getRowMutable().assign(row.getRhs());
  });
  CHECK_THAT(said, Contains("the kernel's tree is not the contract's"));
}

TEST_CASE("a fault that nobody hears of, and one that is none") {
  for (bool always : {false, true}) {
    std::string said = saidOf(ofAtom().grouped, [&](tile::FuncOp func) {
      auto fault = only<tile::FaultOp>(func);
      OpBuilder builder(fault);
      fault.getMaskMutable().assign(
          arith::ConstantIntOp::create(builder, fault.getLoc(), always, 1));
    });
    CHECK_THAT(said, Contains(always ? "the kernel sets the fault word"
                                     : "the kernel does not set the fault"));
  }
}

TEST_CASE("an offset that no tensor has") {
  std::string said = saidOf(ofAtom().grouped, [](tile::FuncOp func) {
    for (tile::OffsetOp offset : all<tile::OffsetOp>(func))
      if (auto least = offset.getIndex().getDefiningOp<arith::MinUIOp>())
        offset.getIndexMutable().assign(least.getLhs());
  });
  CHECK_THAT(said, Contains("of 'offsets', which has"));
}

TEST_CASE("what tiles take of a stack") {
  Pair of = ofAtom();
  auto why = lowering::whyNot(of.grouped.contract(), of.grouped.op(),
                              tiles(128, 256, 64, 4, 2, 8));
  CHECK(!why);
}
