// Bench.cpp - bitpact bench: variants beside a copy of the same bytes
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/evidence/Bench.h"

#include "tools/bitpact/Commands.h"
#include "tools/bitpact/DimOptions.h"
#include "tools/bitpact/Terminal.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <iostream>

using namespace bitpact::evidence;
using nlohmann::json;

namespace bitpact::tool {
namespace {

struct Options {
  std::string package;
  std::vector<std::string> dims;
  BenchOptions bench;
};

int runBench(Options options, const Shared &shared) {
  options.bench.extents = parseExtents(options.dims);
  Package package(options.package);
  BenchReport report;
  {
    ProgressLine progress;
    report = bench(package, options.bench, progress.callback());
  }
  int status = report.results.empty() ? Incomplete : Holds;
  if (shared.json) {
    json result = toJson(report);
    result["status"] = status;
    std::cout << result.dump(2) << '\n';
    return status;
  }
  for (const std::string &device : report.devices)
    fmt::print("{}\n", device);
  bool products =
      std::any_of(report.results.begin(), report.results.end(),
                  [](const BenchResult &one) { return one.operations > 0; });
  std::vector<std::string> head{"contract", "dims",      "device",
                                "variant",  "roles",     "us",
                                "GB/s",     "copy GB/s", "of copy"};
  if (products)
    head.push_back("TFLOP/s");
  Table table(head);
  for (const BenchResult &one : report.results) {
    std::vector<std::string> dims, roles;
    for (const auto &[dim, extent] : one.dims)
      dims.push_back(fmt::format("{}={}", dim, extent));
    for (const std::string &role : one.roles) {
      bool taken = std::find(one.chosenFor.begin(), one.chosenFor.end(),
                             role) != one.chosenFor.end();
      roles.push_back(role + (taken ? "*" : ""));
    }
    std::vector<std::string> line{
        one.contract->name,
        fmt::format("{}", fmt::join(dims, " ")),
        one.device,
        one.variant->id,
        fmt::format("{}", fmt::join(roles, " ")),
        fmt::format("{:.1f}", one.milliseconds * 1e3),
        fmt::format("{:.1f}", one.gigabytesPerSecond()),
        fmt::format("{:.1f}", one.bytes / one.copyMilliseconds * 1e-6),
        fmt::format("{:.2f}", one.ratio())};
    if (products)
      line.push_back(one.operations ? fmt::format("{:.3g}", one.teraflops())
                                    : "-");
    table.add(line);
  }
  table.print();
  fmt::print("Medians, interleaved with a copy of the same bytes (read plus "
             "written) over buffers beyond the cache. * taken by itself.\n");
  if (!report.overheads.empty()) {
    fmt::print("\n");
    Table launches({"contract", "dims", "device", "variant", "launch us",
                    "bare us", "added us"});
    for (const Overhead &one : report.overheads) {
      std::vector<std::string> dims;
      for (const auto &[dim, extent] : one.dims)
        dims.push_back(fmt::format("{}={}", dim, extent));
      launches.add({one.contract->name, fmt::format("{}", fmt::join(dims, " ")),
                    one.device, one.variant->id,
                    fmt::format("{:.2f}", one.microseconds),
                    fmt::format("{:.2f}", one.bareMicroseconds),
                    fmt::format("{:.2f}", one.added())});
    }
    launches.print();
    fmt::print("A launch on the host, by the runtime and by the driver alone "
               "(on a cpu: a call of the entry), medians.\n");
  }
  for (const std::string &note : report.notes)
    fmt::print("note: {}\n", note);
  if (report.results.empty())
    fmt::print("note: no variant of the package runs on these devices\n");
  return status;
}

} // namespace

Command addBench(CLI::App &app, Shared &shared) {
  auto options = std::make_shared<Options>();
  CLI::App *command =
      addCommand(app, shared, "bench",
                 "Every variant as a ratio to a copy of the same bytes",
                 "bitpact bench norm.pkg --device cuda:0 --rows 8192");
  command->add_option("PACKAGE", options->package, "A package")->required();
  command->add_option("--op,--contract", options->bench.contract,
                      "Only these: an operator, a name or a digest prefix");
  addRepeated(command, "--device", options->bench.devices,
              "cpu, cuda:0, …; may be repeated");
  addRepeated(command, "--rows", options->bench.rows, "Row counts, 1,64,8192",
              true)
      ->check(CLI::Range(int64_t(1), int64_t(1) << 40))
      ->capture_default_str();
  addRepeated(command, "--dim", options->dims,
              "Extents of an open dim: hidden=4096,12288");
  command->add_option("--rounds", options->bench.rounds, "Samples a contender")
      ->check(CLI::Range(1, 100000))
      ->capture_default_str();
  command->add_option("--threads", options->bench.threads,
                      "Threads of the cpu; 0: one a core");
  return {command, [options, &shared] { return runBench(*options, shared); }};
}

} // namespace bitpact::tool
