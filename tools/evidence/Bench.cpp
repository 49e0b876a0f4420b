// Bench.cpp - variants beside a plain copy of the same bytes, in one run
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/evidence/Bench.h"

#include "tools/evidence/Answer.h"
#include "tools/evidence/Indices.h"
#include "tools/evidence/Layout.h"
#include "tools/evidence/Overhead.h"
#include "tools/evidence/ParallelCopy.h"
#include "tools/evidence/Shape.h"

#include <algorithm>
#include <chrono>
#include <fmt/format.h>
#include <optional>
#include <unistd.h>

using nlohmann::json;

namespace bitpact::evidence {
namespace {

/// Buffers rotate through more memory than any cache keeps.
constexpr int64_t gpuFootprint = 512 << 20;
constexpr int64_t leastCpuFootprint = 256 << 20;
constexpr int64_t mostSets = 4096;
/// One sample lasts at least this long, by repeating short launches.
constexpr double sampleMilliseconds = 0.5;
constexpr int64_t mostLaunches = 256;

int64_t footprintOf(const Device &device) {
  if (device.kind != BITPACT_TARGET_CPU)
    return gpuFootprint;
  int64_t cache = sysconf(_SC_LEVEL3_CACHE_SIZE);
  return std::max(leastCpuFootprint, 4 * cache);
}

double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + values.size() / 2,
                   values.end());
  return values[values.size() / 2];
}

class Clock {
public:
  explicit Clock(const Device &device)
      : onHost(device.kind == BITPACT_TARGET_CPU) {
    for (auto *event : {&from, &to})
      if (!onHost) {
        bitpact_event *made = nullptr;
        require(bitpact_event_create(device.handle(), &made));
        event->reset(made, bitpact_event_destroy);
      }
  }
  template <typename Work> double milliseconds(Work work) {
    if (onHost) {
      auto start = std::chrono::steady_clock::now();
      work();
      std::chrono::duration<double, std::milli> spent =
          std::chrono::steady_clock::now() - start;
      return spent.count();
    }
    require(bitpact_event_record(from.get(), nullptr));
    work();
    require(bitpact_event_record(to.get(), nullptr));
    double spent = 0;
    require(bitpact_event_elapsed(from.get(), to.get(), &spent));
    return spent;
  }

private:
  bool onHost;
  std::shared_ptr<bitpact_event> from, to;
};

/// The tensors of one launch; the bench rotates through many.
struct BufferSet {
  std::vector<Placed> tensors;
  std::vector<View> views;
};

/// A contender does its work on the set of the given number.
struct Contender {
  const VariantSpec *variant;
  std::optional<Kernel> kernel;
  std::vector<double> samples;
};

class ShapeBench {
public:
  ShapeBench(const Package &packageToRun, const Device &benchDevice,
             const ContractSpec &contractToRun, Dims shapeDims)
      : package(packageToRun), device(benchDevice), contract(contractToRun),
        dims(std::move(shapeDims)), clock(device) {
    RowShape rows(contract);
    for (const TensorSpec &tensor : contract.tensors)
      if (rows.isColumns(tensor))
        operations = 2 * stepsOf(contract, dims);
    const Indices indices(contract);
    std::map<std::string, reference::Tensor> data;
    for (const TensorSpec &tensor : contract.tensors)
      if (!tensor.output)
        data[tensor.name] = indices.generate(Recipe::Dense, 1, tensor, dims,
                                             !rows.hasRows(tensor));
    int64_t held = 0; // more than is moved, where blocks are empty
    for (const TensorSpec &tensor : contract.tensors) {
      std::vector<int64_t> shape = shapeOf(tensor, dims);
      held += elementsOf(shape) * algebra::bytes(tensor.format);
      if (!shape.empty())
        shape.front() = indices.positionsRead(tensor, data, dims);
      bytes += elementsOf(shape) * algebra::bytes(tensor.format);
    }
    int64_t count = std::clamp<int64_t>(
        footprintOf(device) / std::max<int64_t>(held, 1), 2, mostSets);
    for (int64_t i = 0; i < count; ++i) {
      BufferSet &set = sets.emplace_back();
      for (const TensorSpec &tensor : contract.tensors) {
        set.tensors.emplace_back(tensor, device, allLayouts().front(),
                                 shapeOf(tensor, dims));
        set.tensors.back().put(
            0, tensor.output ? nullptr : data[tensor.name].bytes.data());
        set.views.push_back(set.tensors.back().view());
      }
    }
    half = std::max<int64_t>(bytes / 2, 1);
    // Whole copies side by side in two areas of the same footprint.
    copies = std::max<int64_t>(count / 2, 2);
    source = Buffer(device, copies * half);
    destination = Buffer(device, copies * half);
    source.fill(1);
    destination.fill(2);
  }

  void run(int64_t rounds, BenchReport &report);

private:
  double timeCopy(int64_t launches);
  double timeKernel(Contender &one, int64_t launches);
  int64_t launchesFor(double once) const {
    return std::clamp<int64_t>(
        static_cast<int64_t>(sampleMilliseconds / std::max(once, 1e-5)), 1,
        mostLaunches);
  }
  std::vector<std::string> chosenFor(const VariantSpec &variant);

  const Package &package;
  const Device &device;
  const ContractSpec &contract;
  Dims dims;
  Clock clock;
  int64_t operations = 0, bytes = 0, half = 0, copies = 0;
  std::vector<BufferSet> sets;
  Buffer source, destination;
  std::optional<ParallelCopy> hostCopy;
  size_t nextSet = 0;
  int64_t nextCopy = 0;
};

double ShapeBench::timeCopy(int64_t launches) {
  double spent = clock.milliseconds([&] {
    for (int64_t i = 0; i < launches; ++i) {
      int64_t at = (nextCopy++ % copies) * half;
      char *to = static_cast<char *>(destination.data()) + at;
      const char *from = static_cast<const char *>(source.data()) + at;
      if (hostCopy)
        (*hostCopy)(to, from, half);
      else
        require(bitpact_device_copy(device.handle(), to, from, half, nullptr));
    }
  });
  return spent / static_cast<double>(launches);
}

double ShapeBench::timeKernel(Contender &one, int64_t launches) {
  double spent = clock.milliseconds([&] {
    for (int64_t i = 0; i < launches; ++i)
      one.kernel->launch(sets[nextSet++ % sets.size()].views);
  });
  return spent / static_cast<double>(launches);
}

std::vector<std::string> ShapeBench::chosenFor(const VariantSpec &variant) {
  std::vector<std::string> roles;
  for (const std::string &role : variant.roles) {
    Kernel kernel(package, device, contract.digest, role);
    if (kernel.select(sets.front().views) == variant.index)
      roles.push_back(role);
  }
  return roles;
}

void ShapeBench::run(int64_t rounds, BenchReport &report) {
  if (device.kind == BITPACT_TARGET_CPU)
    hostCopy.emplace(std::max(1u, device.units));
  std::vector<Contender> contenders;
  for (const VariantSpec *variant : package.variantsOf(contract)) {
    if (!device.runs(*variant))
      continue;
    Kernel kernel(package, device, contract.digest, variant->roles.front(),
                  variant->id);
    kernel.prepare(dims);
    if (kernel.select(sets.front().views) < 0) {
      report.notes.push_back(fmt::format("{}: its conditions exclude {}",
                                         variant->id, json(dims).dump()));
      continue;
    }
    contenders.push_back({variant, std::move(kernel), {}});
  }
  if (contenders.empty())
    return;
  // Warm up, and see how many launches make a sample.
  timeCopy(1);
  int64_t copyLaunches = launchesFor(timeCopy(3));
  std::vector<int64_t> launches;
  for (Contender &one : contenders) {
    timeKernel(one, 1);
    launches.push_back(launchesFor(timeKernel(one, 3)));
  }
  std::vector<double> copySamples;
  for (int64_t round = 0; round < rounds; ++round) {
    copySamples.push_back(timeCopy(copyLaunches));
    for (size_t i = 0; i < contenders.size(); ++i)
      contenders[i].samples.push_back(timeKernel(contenders[i], launches[i]));
  }
  double copy = median(copySamples);
  for (Contender &one : contenders)
    report.results.push_back({&contract, one.variant, device.name,
                              one.variant->roles, chosenFor(*one.variant), dims,
                              bytes, operations, median(one.samples), copy});
}

} // namespace

BenchReport bench(const Package &package, const BenchOptions &options,
                  const Progress &progress) {
  BenchReport report;
  std::vector<Device> devices;
  for (const std::string &name :
       options.devices.empty() ? devicesHere() : options.devices) {
    devices.emplace_back(name, options.threads);
    report.devices.push_back(devices.back().name + ": " +
                             devices.back().description);
  }
  std::vector<const ContractSpec *> contracts =
      chooseContracts(package, options.contract);
  RowShape::requireOpen(contracts, options.extents);
  int64_t done = 0,
          total = static_cast<int64_t>(contracts.size() * devices.size() *
                                       options.rows.size());
  for (const ContractSpec *contract : contracts) {
    RowShape shape(*contract);
    for (const Device &device : devices) {
      for (int64_t rows : shape.rowCounts(options.rows)) {
        progress(
            fmt::format("{} on {}, {} rows", contract->name, device.name, rows),
            done++, total);
        for (const Dims &dims : shape.openExtents(options.extents))
          ShapeBench(package, device, *contract, shape.withRows(dims, rows))
              .run(options.rounds, report);
      }
      measureOverhead(
          package, device, *contract,
          shape.withRows(shape.openExtents(options.extents).front(), 1),
          report);
    }
  }
  return report;
}

json toJson(const BenchReport &report) {
  json results = json::array();
  for (const BenchResult &one : report.results)
    results.push_back({{"contract", one.contract->digest},
                       {"name", one.contract->name},
                       {"op", one.contract->op},
                       {"variant", one.variant->id},
                       {"target", one.variant->target},
                       {"schedule", one.variant->schedule},
                       {"device", one.device},
                       {"roles", one.roles},
                       {"chosen_for", one.chosenFor},
                       {"dims", one.dims},
                       {"bytes", one.bytes},
                       {"operations", one.operations},
                       {"milliseconds", one.milliseconds},
                       {"copy_milliseconds", one.copyMilliseconds},
                       {"gigabytes_per_second", one.gigabytesPerSecond()},
                       {"ratio", one.ratio()}});
  json overheads = json::array();
  for (const Overhead &one : report.overheads)
    overheads.push_back({{"contract", one.contract->digest},
                         {"name", one.contract->name},
                         {"variant", one.variant->id},
                         {"device", one.device},
                         {"role", one.role},
                         {"dims", one.dims},
                         {"microseconds", one.microseconds},
                         {"bare_microseconds", one.bareMicroseconds},
                         {"added_microseconds", one.added()}});
  return {{"devices", report.devices},
          {"results", results},
          {"overheads", overheads},
          {"notes", report.notes}};
}

} // namespace bitpact::evidence
