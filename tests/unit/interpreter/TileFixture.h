// TileFixture.h - products, tile schedules by hand, kernels and inputs
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef BITPACT_TESTS_UNIT_INTERPRETER_TILEFIXTURE_H
#define BITPACT_TESTS_UNIT_INTERPRETER_TILEFIXTURE_H

#include "compiler/Interpreter/TileInterpreter.h"
#include "tests/unit/interpreter/Fixture.h"

namespace bitpact::tests {

/// `matmul@1` with every extent open; `element` is bf16 or f16, `atom` takes
/// it.
std::string matmulContract(const std::string &element, const std::string &atom,
                           const std::string &partition,
                           const std::string &merges,
                           const std::string &output = "bf16",
                           const std::string &in = "\"*\"");
/// That of `matmul.json` of the examples, open.
Case openMatmul();
/// Steps of eight on gfx942, and a chain of fma.
Case openCdna3(), openFma(const std::string &element = "f32");

tile::ScheduleAttr tiles(int64_t m, int64_t n, int64_t k, int64_t stages,
                         int64_t consumers, int64_t group,
                         llvm::StringRef copy = "bulk");
/// Those of targets, and small ones.
std::vector<tile::ScheduleAttr> allTiles();

struct TileKernel {
  mlir::OwningOpRef<mlir::ModuleOp> module;
  tile::FuncOp func;
};
/// A schedule that cannot keep the contract is a failure of the test.
TileKernel lower(const Case &of, tile::ScheduleAttr schedule);

interpreter::Dims productDims(int64_t tokens, int64_t out, int64_t in);
/// Inputs with wide exponents, zeros of both signs and, sometimes, what is not
/// finite, or plain normal values; and the outputs, which have no bytes.
interpreter::Tensors tensorsOf(const Case &of, const interpreter::Dims &dims,
                               std::mt19937 &random, bool plain = false);
/// Launches of all tiles at extents that end within blocks, whose bytes are the
/// oracle's; another one fails.
int agree(const Case &of, std::mt19937 &random);

/// What the proof says of a kernel of `of` after `plant`; before, it has
/// nothing to say.
std::string saidOf(const Case &of,
                   llvm::function_ref<void(tile::FuncOp)> plant);

/// Bits of elements of bf16.
uint16_t bitsAt(const reference::Tensor &tensor, int64_t i);
reference::Tensor bf16s(std::vector<int64_t> shape,
                        const std::vector<uint16_t> &bits);

} // namespace bitpact::tests

#endif
