// ProposeTest.cpp - a contract no schedule keeps is told why, one by one
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/Targets.h"
#include "compiler/Schedule/Schedule.h"
#include "mlir/Parser/Parser.h"
#include "tests/unit/lowering/KernelProgram.h"

#include <catch2/catch.hpp>
#include <set>

using namespace bitpact;
using namespace bitpact::tests;

namespace {

/// The refusal of a contract: its error, then its notes.
std::vector<std::string> refusal(const std::string &text, const char *spec) {
  mlir::MLIRContext &context = compilerContext();
  auto module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
  REQUIRE(module);
  std::vector<std::string> said;
  mlir::ScopedDiagnosticHandler handler(&context, [&](mlir::Diagnostic &what) {
    said.push_back(what.str());
    for (mlir::Diagnostic &note : what.getNotes())
      said.push_back(note.str());
  });
  auto proposals = schedule::propose(
      *module->getOps<pact::ContractOp>().begin(),
      *module->getOps<pact::OperatorOp>().begin(),
      *codegen::builtinTargets().find(spec), {"train", "rollout"});
  REQUIRE(failed(proposals));
  return said;
}

std::string contract(const std::string &op, const std::string &dims,
                     const std::string &types, const std::string &nodes) {
  return R"(
!all = !pact.real<["tokens", "hidden"]>
!row = !pact.real<["tokens"]>
!one = !pact.real<[]>
pact.primitive @add step sum (%x: f32, %acc: f32) -> f32 {
  %r = arith.addf %acc, %x : f32
  pact.yield %r : f32
}
pact.operator @f version 1 dims ["tokens", "hidden"] {)" +
         op + R"(}
pact.contract "c" of @f dims {)" +
         dims + "} types {" + types + "} params {} nodes {" + nodes +
         R"(} rounding {y = #pact.rounding<f32 rne>} primitives {)" +
         (nodes.find("all =") != nodes.npos ? "all.step = @add, " : "") +
         (nodes.empty() ? "" : "sum.step = @add") + "}";
}

const char *const kSum = R"(
  %x = pact.input "x" : !all
  %s = pact.reduce "sum" sum over "hidden" (%x) : (!all) -> !row
)";

std::string node(const std::string &name, const std::string &rest) {
  return name + " = #pact.node<domain " + rest +
         " start identity accumulator f32";
}

} // namespace

TEST_CASE("offsets: each candidate says what it could not keep") {
  std::string text = contract(
      std::string(kSum) +
          "%at = pact.input \"at\" : !row\n pact.output \"y\" %s : !row\n",
      "tokens = ?, hidden = 64", "at = i32, x = f32, y = f32",
      node("sum", R"("hidden" partition "seq:@offsets k:*"
                     merge ["k chain", "seq fold"])") +
          " offsets \"at\">");
  for (const char *spec : {"cpu:x86-64-v3", "cuda:sm_90a"}) {
    std::vector<std::string> said = refusal(text, spec);
    REQUIRE(said.size() >= 3);
    CHECK(said[0] == "contract 'c': no schedule of target " +
                         std::string(spec) + " keeps it");
    // Candidates that differ in how they access memory alone are told once.
    std::set<std::string> candidates;
    for (size_t i = 1; i < said.size(); ++i) {
      INFO(said[i]);
      size_t colon = said[i].find(": ");
      CHECK(candidates.insert(said[i].substr(0, colon)).second);
      CHECK(said[i].substr(colon + 2) ==
            "node sum: offsets: tensor 'at' needs one dim, which no other "
            "tensor has; schedules take the number of blocks from it");
    }
    bool gpu = spec[1] == 'u';
    CHECK(candidates.lower_bound("row_per_group with ") !=
          candidates.lower_bound("row_per_lane"));
    CHECK(candidates.count(gpu ? "row_per_lane with 32 lanes"
                               : "row_per_lane with 8 lanes"));
  }
}

TEST_CASE("two reduced dims") {
  std::string text = contract(
      std::string(kSum) + R"(%t = pact.reduce "all" sum over "tokens" (%s)
        : (!row) -> !one
      pact.output "y" %t : !one
)",
      "tokens = 8, hidden = 64", "x = f32, y = f32",
      node("all", R"("tokens" partition "k:*" merge ["k chain"])") + ">, " +
          node("sum", R"("hidden" partition "k:*" merge ["k chain"])") + ">");
  std::vector<std::string> said = refusal(text, "cpu:x86-64-v4");
  REQUIRE(said.size() > 1);
  CHECK(said.back() ==
        "row_per_lane with 16 lanes: operator f reduces over 'hidden' and "
        "over 'tokens'; a schedule of rows accepts one reduced dim");
}

TEST_CASE("an atom that the target lacks is named, with those it has") {
  std::string text = R"m(
!all = !pact.real<["tokens", "hidden"]>
!row = !pact.real<["tokens"]>
pact.atom @"dot.nv(16,25)" dot product "exact" model "dot.nv" L 16 F 25
  : (bf16, bf16, f32) -> f32
pact.operator @f version 1 dims ["tokens", "hidden"] {
  %x = pact.input "x" : !all
  %s = pact.reduce "d" dot over "hidden" (%x, %x) : (!all, !all) -> !row
  pact.output "y" %s : !row
}
pact.contract "c" of @f dims {tokens = ?, hidden = 64}
  types {x = bf16, y = f32} params {}
  nodes {d = #pact.node<domain "hidden" partition "step:* k:16"
    merge ["k fused(dot.nv(16,25))", "step chain"] start identity
    product "exact" accumulator f32>}
  rounding {y = #pact.rounding<f32 rne>}
  primitives {d.step = @"dot.nv(16,25)"})m";
  CHECK(refusal(text, "cuda:sm_80") ==
        std::vector<std::string>{
            "contract 'c': primitive 'd.step': cuda:sm_80 has no atom "
            "'dot.nv(16,25)'; it has dot.fma.f32, dot.fma.f64, dot.nv(8,24), "
            "dot.nv(8,24).f16 [A4]"});
}
