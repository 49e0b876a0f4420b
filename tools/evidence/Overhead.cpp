// Overhead.cpp - what the runtime adds to a launch by the driver alone
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/evidence/Overhead.h"

#include "tools/evidence/BareLaunch.h"
#include "tools/evidence/Indices.h"
#include "tools/evidence/Layout.h"

#include <algorithm>
#include <chrono>
#include <fmt/format.h>

namespace bitpact::evidence {
namespace {

/// Few enough for the queue of a GPU, so that no launch waits for room.
constexpr int launchesEach = 200;
constexpr int batches = 51;

template <typename Launch>
double microsecondsEach(const Device &device, Launch &launch) {
  auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < launchesEach; ++i)
    launch();
  std::chrono::duration<double, std::micro> spent =
      std::chrono::steady_clock::now() - start;
  require(bitpact_device_synchronize(device.handle()));
  return spent.count() / launchesEach;
}

double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + values.size() / 2,
                   values.end());
  return values[values.size() / 2];
}

} // namespace

void measureOverhead(const Package &package, const Device &device,
                     const ContractSpec &contract, const Dims &dims,
                     BenchReport &report) {
  std::vector<const VariantSpec *> variants = package.variantsOf(contract);
  auto runs = std::find_if(
      variants.begin(), variants.end(),
      [&](const VariantSpec *variant) { return device.runs(*variant); });
  if (runs == variants.end())
    return;
  std::string role = (*runs)->roles.front();
  Kernel kernel(package, device, contract.digest, role);
  kernel.prepare(dims);
  RowShape rows(contract);
  Indices inputs(contract);
  std::vector<Placed> placed;
  std::vector<View> views;
  for (const TensorSpec &tensor : contract.tensors) {
    placed.emplace_back(tensor, device, allLayouts().front(),
                        shapeOf(tensor, dims));
    placed.back().put(0, tensor.output
                             ? nullptr
                             : inputs
                                   .generate(Recipe::Dense, 1, tensor, dims,
                                             !rows.hasRows(tensor))
                                   .bytes.data());
    views.push_back(placed.back().view());
  }
  int64_t index = kernel.select(views);
  if (index < 0)
    return;
  const VariantSpec &variant = package.variants().at(index);
  std::string why;
  std::unique_ptr<BareLaunch> bare =
      BareLaunch::make(package, variant, device, contract, dims, views,
                       kernel.workspaceBytes(), why);
  if (!bare) {
    report.notes.push_back(
        fmt::format("{}: no overhead was measured: {}", variant.id, why));
    return;
  }
  PreparedLaunch ours = kernel.prepareLaunch(views);
  bool good = true;
  auto withRuntime = [&] { good &= ours() == BITPACT_OK; };
  auto withoutIt = [&] { good &= (*bare)(); };
  microsecondsEach(device, withRuntime);
  microsecondsEach(device, withoutIt);
  std::vector<double> runtimeTimes, bareTimes;
  for (int batch = 0; batch < batches; ++batch) {
    runtimeTimes.push_back(microsecondsEach(device, withRuntime));
    bareTimes.push_back(microsecondsEach(device, withoutIt));
    // A full ring of records would be cheaper than one with room.
    require(
        bitpact_records_drain([](void *, const char *) {}, nullptr, nullptr));
  }
  if (!good) {
    report.notes.push_back(
        fmt::format("{}: no overhead was measured: a launch failed: {}",
                    variant.id, bitpact_last_error()));
    return;
  }
  report.overheads.push_back({&contract, &variant, device.name, role, dims,
                              median(runtimeTimes), median(bareTimes)});
}

} // namespace bitpact::evidence
