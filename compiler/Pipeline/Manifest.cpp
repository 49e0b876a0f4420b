// Manifest.cpp - what the package says of every variant
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/Pipeline/Compilation.h"

#include "codegen/Lowering/RowLowering.h"
#include "codegen/Package/PackageBuilder.h"
#include "compiler/Pipeline/TileLaunch.h"

using namespace mlir;
using namespace bitpact;
using namespace bitpact::pipeline;

static package::Launch launchOf(const LaunchedKernel &kernel,
                                const lowering::RowFamily &family,
                                const codegen::Target &target) {
  package::Launch launch;
  kernel::ScheduleAttr schedule = kernel.schedule;
  if (target.kind() != codegen::TargetKind::Cpu)
    launch.threads = schedule.getLanes() * schedule.getProgramsPerGroup();
  launch.programsPerCta = schedule.getProgramsPerGroup();
  launch.rowsPerProgram = schedule.rowsPerProgram();
  if (!family.rowDim.empty())
    launch.parallelDims = {family.rowDim};
  if (kernel.split)
    launch.split = {kernel.split.getDim().str(), kernel.split.getLength(),
                    kernel.split.getLess()};
  return launch;
}

void Compilation::describeRows(const Job &job, package::Variant &variant) {
  pact::ContractOp contract = contractOf(job.contract);
  pact::OperatorOp op = operatorOf(job.contract);
  lowering::RowFamily family =
      llvm::cantFail(lowering::rowFamily(contract, op));
  variant.launch = launchOf(job.kernels.front(), family, *job.target);
  for (const LaunchedKernel &next : ArrayRef(job.kernels).drop_front())
    variant.then.push_back({next.entry, launchOf(next, family, *job.target)});
  variant.workspace =
      lowering::workspaceOf(contract, op, job.proposal.schedule);
  for (NamedAttribute bound : job.access) {
    std::string tensor = bound.getName().str();
    int64_t bytes = cast<IntegerAttr>(bound.getValue()).getInt();
    Type element = cast<TypeAttr>(contract.getTypes().get(tensor)).getValue();
    variant.when.align[tensor] = bytes;
    variant.when.strideMultiple[tensor] =
        bytes / (element.getIntOrFloatBitWidth() / 8);
  }
}

LogicalResult Compilation::package(CompileResult &result) {
  codegen::PackageBuilder builder;
  for (const reader::ReadResult &contract : contracts)
    builder.addContract(contract.canonical, contract.digest);
  for (const Job &job : jobs) {
    if (job.isLeftOut)
      continue;
    package::Variant variant;
    variant.contract = contracts[job.contract].digest;
    variant.roles = job.proposal.roles;
    variant.priority = job.proposal.priority;
    variant.entry = job.entry;
    variant.schedule = job.proposal.text();
    // No AMD GPU has run it, and no matrix unit of Ampere: the lint and the
    // published model stand behind it.
    bool isAmpere = job.target->arch() == "sm_80" && job.proposal.tiles;
    if (job.target->kind() == codegen::TargetKind::Hip || isAmpere)
      variant.evidence = package::Evidence::Model;
    if (job.proposal.tiles)
      describeTiles(contractOf(job.contract), operatorOf(job.contract),
                    job.proposal.tiles, job.tiles, variant);
    else
      describeRows(job, variant);
    const schedule::Proposal::Cost &cost = job.proposal.cost;
    if (!cost.dim.empty()) {
      variant.cost = {cost.dim, cost.start, cost.tile, cost.element,
                      cost.isModel ? package::Evidence::Model
                                   : package::Evidence::Measured};
      auto measured = schedule::measurementOf(*job.target);
      builder.setCosts(*job.target, measured->device, measured->units,
                       measured->date);
    }
    variant.launch.overlaps = job.proposal.overlaps;
    for (const auto &[dim, range] : job.proposal.dims)
      variant.when.dims[dim] = {range.first, range.second};
    result.variants.push_back(
        builder.addVariant(variant, *job.target, *job.code));
  }
  if (llvm::Error error = builder.write(request.output))
    return emitError(UnknownLoc::get(context))
           << llvm::toString(std::move(error));
  return success();
}
