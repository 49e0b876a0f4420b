// RegistryTest.cpp - targets by name, and their facts
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tests/unit/codegen/Module.h"

using namespace bitpact::codegen;

static std::vector<std::string> names(llvm::StringRef spec,
                                      const CompileOptions &options = {}) {
  auto targets = builtinTargets().parse(spec, options);
  if (!targets)
    return {"error: " + llvm::toString(targets.takeError())};
  std::vector<std::string> result;
  for (const Target *target : *targets)
    result.push_back(target->spec());
  return result;
}

TEST_CASE("a target is named by kind and architecture") {
  CHECK(names("cpu:x86-64-v3") == std::vector<std::string>{"cpu:x86-64-v3"});
  CHECK(names("cuda:sm_90a") == std::vector<std::string>{"cuda:sm_90a"});
}

TEST_CASE("a bare kind means all of it") {
  CHECK(names("cpu") == std::vector<std::string>{
                            "cpu:x86-64-v3", "cpu:x86-64-v4", "cpu:aarch64"});
  CHECK(names("hip") ==
        std::vector<std::string>{"hip:gfx90a", "hip:gfx942", "hip:gfx950"});
}

TEST_CASE("an unknown target lists those there are") {
  const std::string list =
      "there are cpu, cpu:x86-64-v3, cpu:x86-64-v4, cpu:aarch64, cuda, "
      "cuda:sm_80, cuda:sm_90a, cuda:sm_100a, hip, hip:gfx90a, hip:gfx942, "
      "hip:gfx950";
  for (std::string spec : {"cuda:sm_75", "tpu", "", "cpu:"})
    CHECK(names(spec) == std::vector<std::string>{"error: unknown target '" +
                                                  spec + "'; " + list});
}

TEST_CASE("a bare kind whose tools are missing is an error") {
  CHECK(names("cuda", {"/nowhere/ptxas"}) ==
        std::vector<std::string>{"error: no 'cuda' target can be compiled for "
                                 "here: its tools are not installed"});
}

TEST_CASE("facts that schedules rely on") {
  const Capabilities &hopper =
      builtinTargets().find("cuda:sm_90a")->capabilities();
  CHECK(hopper.subgroupWidth == 32);
  CHECK(hopper.maxThreadsPerCta == 1024);
  CHECK(hopper.sharedBytesMax == 232448);
  CHECK(hopper.vectorBits == 128);
  const Capabilities &v4 =
      builtinTargets().find("cpu:x86-64-v4")->capabilities();
  CHECK(v4.vectorBits == 512);
  CHECK(v4.subgroupWidth == 1);
  const Capabilities &arm =
      builtinTargets().find("cpu:aarch64")->capabilities();
  CHECK(arm.vectorBits == 128);
  CHECK(arm.registers == 32);
  const Capabilities &mi300 =
      builtinTargets().find("hip:gfx942")->capabilities();
  CHECK(mi300.subgroupWidth == 64);
  CHECK(mi300.sharedBytesMax == 65536);
}

TEST_CASE("A4 lists the atoms a target has") {
  for (const Target *target : builtinTargets().all()) {
    CHECK(target->hasAtom("dot.fma.f32"));
    CHECK(target->hasAtom("dot.fma.f64"));
    // CPUs execute every atom.
    bool isCpu = target->kind() == TargetKind::Cpu;
    CHECK(target->hasAtom("dot.cdna3") ==
          (isCpu || target->spec() == "hip:gfx942"));
    CHECK(target->hasAtom("dot.nv(8,24)") ==
          (isCpu || target->spec() == "cuda:sm_80"));
    CHECK(target->hasAtom("dot.nv(16,25)") ==
          (isCpu || target->spec() == "cuda:sm_90a"));
  }
  CHECK(
      builtinTargets().find("cuda:sm_100a")->missingAtomMessage("dot.cdna3") ==
      "cuda:sm_100a has no atom 'dot.cdna3'; it has dot.fma.f32, "
      "dot.fma.f64 [A4]");
}
