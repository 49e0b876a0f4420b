// JobCache.cpp - jobs whose code was compiled before
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/Pipeline/Compilation.h"

#include "codegen/NVPTX/Ptxas.h"
#include "codegen/Package/PackageBuilder.h"
#include "mlir/AsmParser/AsmParser.h"

using namespace mlir;
using namespace bitpact;
using namespace bitpact::pipeline;
using nlohmann::json;

/// Everything that the code depends on. The canonical text has the operator and
/// the primitives in it.
std::string Compilation::cacheKey(const Job &job) const {
  std::string assembler;
  if (job.target->kind() == codegen::TargetKind::Cuda) {
    if (auto ptxas = codegen::queryPtxas({}))
      assembler = "ptxas " + ptxas->version;
    else
      llvm::consumeError(ptxas.takeError()); // compiling will say it
  }
  const reader::ReadResult &contract = contracts[job.contract];
  return json{{"compiler", buildId()},
              {"assembler", assembler},
              {"contract",
               package::sha256Hex(package::canonicalText(contract.canonical))},
              {"target", job.target->spec()},
              {"features", job.target->features().str()},
              {"entry", job.entry},
              {"schedule", print(job.proposal.tiles
                                     ? Attribute(job.proposal.tiles)
                                     : Attribute(job.proposal.schedule))}}
      .dump();
}

bool Compilation::takeFromCache(Job &job, const std::string &key) {
  std::optional<Cache::Entry> entry = cache.find(key);
  if (!entry)
    return false;
  auto schedule = dyn_cast_or_null<kernel::ScheduleAttr>(
      parseAttribute(entry->schedule, context));
  auto access =
      dyn_cast_or_null<DictionaryAttr>(parseAttribute(entry->access, context));
  std::vector<LaunchedKernel> kernels;
  for (const Cache::Entry::Kernel &kernel : entry->kernels) {
    auto own = dyn_cast_or_null<kernel::ScheduleAttr>(
        parseAttribute(kernel.schedule, context));
    kernel::SplitAttr split;
    if (!kernel.split.empty())
      split = dyn_cast_or_null<kernel::SplitAttr>(
          parseAttribute(kernel.split, context));
    if (!own || (!kernel.split.empty() && !split))
      return false;
    kernels.push_back({kernel.entry, own, split});
  }
  if (!schedule || !access || kernels.empty())
    return false;
  job.kernels = std::move(kernels);
  job.proposal.schedule = schedule;
  job.access = access;
  job.code = std::move(entry->code);
  job.fromCache = true;
  return true;
}

/// Tiles keep the schedule that was proposed, which is a part of the key.
bool Compilation::takeTilesFromCache(Job &job, const std::string &key) {
  std::optional<Cache::Entry> entry = cache.find(key);
  if (!entry)
    return false;
  job.fromCache = true;
  job.isLeftOut = entry->isLeftOut;
  if (job.isLeftOut)
    return true;
  job.tiles.threads = entry->threads;
  job.tiles.sharedBytes = entry->sharedBytes;
  job.tiles.maps = std::move(entry->maps);
  job.code = std::move(entry->code);
  return true;
}

LogicalResult Compilation::compileOrTake(Job &job) {
  if (!cache.isOn())
    return compileJob(job);
  std::string key = cacheKey(job);
  bool isTiles = bool(job.proposal.tiles);
  if (isTiles ? takeTilesFromCache(job, key) : takeFromCache(job, key))
    return success();
  if (failed(compileJob(job)))
    return failure();
  Cache::Entry entry;
  entry.isLeftOut = job.isLeftOut;
  if (!job.isLeftOut)
    entry.code = *job.code;
  if (isTiles) {
    entry.threads = job.tiles.threads;
    entry.sharedBytes = job.tiles.sharedBytes;
    entry.maps = job.tiles.maps;
  } else {
    entry.schedule = print(job.proposal.schedule);
    entry.access = job.access ? print(job.access) : "{}";
    for (const LaunchedKernel &kernel : job.kernels)
      entry.kernels.push_back({kernel.entry, print(kernel.schedule),
                               kernel.split ? print(kernel.split) : ""});
  }
  cache.store(key, entry);
  return success();
}
