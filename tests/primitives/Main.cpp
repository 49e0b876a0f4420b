// Main.cpp - primitives on all inputs: kernels against evaluator against truth
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "contracts/algebra/CanonicalJson.h"
#include "tests/primitives/Kernels.h"
#include "tests/primitives/Sweep.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <fmt/format.h>
#include <fstream>
#include <iostream>
#include <iterator>
#include <limits>
#include <memory>
#include <mutex>
#include <sstream>
#include <thread>

using namespace bitpact;
using namespace bitpact::primitives;
using nlohmann::json;

namespace {

constexpr size_t block = size_t(1) << 19;

struct Options {
  std::string package, output, values, record;
  std::vector<std::string> devices{"cpu"}, only;
  uint32_t sample = 0; ///< 0: all inputs
  unsigned threads = std::thread::hardware_concurrency();
  bool errors = true;
};

/// Second arguments beside 0, at which the errors are measured.
std::vector<float> otherSeconds() {
  constexpr float inf = std::numeric_limits<float>::infinity();
  return {1.5f,
          -inf,
          inf,
          std::numeric_limits<float>::quiet_NaN(),
          std::numeric_limits<float>::max(),
          -0x1p-149f};
}

/// A NaN has many bit patterns on a machine and one in the evaluator. The
/// definition with `bits` as the integer view of a NaN must give the same.
json withNaNBits(json definition, const std::string &bits) {
  json body = json::array();
  int fresh = 0;
  for (json op : definition.at("body")) {
    bool view = op.at("op") == "bitcast" &&
                op.at("type").get<std::string>().starts_with("i");
    if (!view) {
      body.push_back(op);
      continue;
    }
    std::string id = op.at("id"), value = op.at("args").at(0);
    std::string plain = fmt::format("n{}", fresh++),
                isNaN = fmt::format("n{}", fresh++),
                other = fmt::format("n{}", fresh++);
    op["id"] = plain;
    body.push_back(op);
    body.push_back({{"id", isNaN},
                    {"op", "cmp"},
                    {"pred", "uno"},
                    {"type", "i1"},
                    {"args", {value, value}}});
    body.push_back({{"id", other},
                    {"op", "constant"},
                    {"type", op.at("type")},
                    {"bits", bits}});
    body.push_back({{"id", id},
                    {"op", "select"},
                    {"type", op.at("type")},
                    {"args", {isNaN, other, plain}}});
  }
  definition["body"] = body;
  return definition;
}

class Trial {
public:
  Trial(const Options &given, const evidence::Package &fromPackage,
        const evidence::ContractSpec &toRun)
      : options(given), package(fromPackage), contract(toRun),
        name(contract.name), definition(definitionOf(contract)),
        primitive(definition, contract.name),
        sweep(primitive, given.errors ? purposeOf(name) : std::nullopt) {}

  /// Returns whether everything is as it must be.
  bool run(json &report);

private:
  /// What one thread has of its own.
  struct Worker {
    Worker(const Options &options, const evidence::Package &package,
           const evidence::ContractSpec &contract) {
      for (const std::string &each : options.devices)
        devices.emplace_back(each, /*threads=*/1);
      for (const evidence::Device &device : devices)
        kernels.emplace_back(package, contract, device, block);
    }
    std::vector<evidence::Device> devices;
    std::vector<Kernels> kernels;
    std::vector<uint32_t> inputs, expected, got;
  };

  static json definitionOf(const evidence::ContractSpec &contract) {
    json text = json::parse(contract.text);
    return text.at("definitions").at(text.at("primitives").at("f"));
  }
  /// Errors are measured where there is no second argument, at 0.
  void visit(const Inputs &inputs, std::optional<float> second);
  void visitBlock(Worker &worker, std::optional<uint32_t> before,
                  std::optional<float> second);
  void compare(const std::string &whose, const Worker &worker, float second);
  void lookAtNaNs();
  /// Results known by hand, in a file of `values.txt`'s form.
  void lookAtValues();
  /// What contradicts the record of a run over all inputs, or "".
  std::string contradiction(const json &record, const json &entry) const;

  const Options &options;
  const evidence::Package &package;
  const evidence::ContractSpec &contract;
  std::string name;
  json definition;
  reference::Primitive primitive;
  Sweep sweep;
  std::vector<std::unique_ptr<Worker>> workers;
  std::mutex mutex;
  uint64_t compared = 0, differing = 0;
  std::string firstDifference;
};

void Trial::compare(const std::string &whose, const Worker &worker,
                    float second) {
  const auto &[devices, kernels, inputs, expected, got] = worker;
  bool same = std::memcmp(expected.data(), got.data(),
                          expected.size() * sizeof expected[0]) == 0;
  std::lock_guard lock(mutex);
  compared += inputs.size();
  if (same)
    return;
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (expected[i] == got[i])
      continue;
    if (differing++ == 0)
      firstDifference =
          fmt::format("{} at {:08x}, {}: {:08x}, expected {:08x}", whose,
                      inputs[i], second, got[i], expected[i]);
  }
}

void Trial::visitBlock(Worker &worker, std::optional<uint32_t> before,
                       std::optional<float> second) {
  worker.expected.resize(worker.inputs.size());
  worker.got.resize(worker.inputs.size());
  float value = second.value_or(0);
  if (second)
    sweep.run(worker.inputs, value, worker.expected);
  else
    sweep.measure(worker.inputs, before, worker.expected);
  for (Kernels &each : worker.kernels) {
    each.place(worker.inputs, value);
    for (size_t i = 0; i < each.ids().size(); ++i) {
      each.launch(i, worker.got);
      compare(each.ids()[i], worker, value);
    }
  }
}

void Trial::visit(const Inputs &inputs, std::optional<float> second) {
  std::atomic<uint64_t> next{0};
  std::exception_ptr failure;
  std::atomic<bool> failed{false};
  auto work = [&](Worker &worker) {
    try {
      for (uint64_t first;
           (first = next.fetch_add(block)) < inputs.size() && !failed;) {
        worker.inputs.resize(std::min<uint64_t>(block, inputs.size() - first));
        inputs.fill(first, worker.inputs);
        std::optional<uint32_t> before;
        if (first > 0)
          inputs.fill(first - 1, {&before.emplace(), 1});
        visitBlock(worker, before, second);
      }
    } catch (...) {
      std::lock_guard lock(mutex);
      failure = std::current_exception();
      failed = true;
    }
  };
  uint64_t blocks = (inputs.size() + block - 1) / block;
  size_t count = std::clamp<uint64_t>(blocks, 1, options.threads);
  while (workers.size() < count)
    workers.push_back(std::make_unique<Worker>(options, package, contract));
  std::vector<std::thread> others;
  for (size_t i = 1; i < count; ++i)
    others.emplace_back(work, std::ref(*workers[i]));
  work(*workers.front());
  for (std::thread &other : others)
    other.join();
  if (failure)
    std::rethrow_exception(failure);
}

void Trial::lookAtNaNs() {
  Worker &worker = *workers.front();
  Inputs inputs = Inputs::sample(65537);
  worker.inputs.resize(inputs.size());
  inputs.fill(0, worker.inputs);
  worker.expected.resize(inputs.size());
  worker.got.resize(inputs.size());
  sweep.run(worker.inputs, 0, worker.expected);
  for (const char *view : {"7fffffff", "ffc00000", "7f800001", "ffffffff"}) {
    reference::Primitive other(withNaNBits(definition, view), name);
    Sweep(other, std::nullopt).run(worker.inputs, 0, worker.got);
    compare(fmt::format("with NaNs seen as {}", view), worker, 0);
  }
}

void Trial::lookAtValues() {
  Worker &worker = *workers.front();
  std::ifstream file(options.values);
  std::string line;
  size_t found = 0;
  auto bits = [](const std::string &word) {
    float value = std::strtof(word.c_str(), nullptr);
    return std::isnan(value) ? 0x7fc00000 : std::bit_cast<uint32_t>(value);
  };
  while (std::getline(file, line)) {
    std::istringstream stream(line);
    std::vector<std::string> words(std::istream_iterator<std::string>(stream),
                                   {});
    if (words.empty() || words.front() != name)
      continue;
    ++found;
    size_t arguments = primitive.arguments.size();
    if (words.size() != arguments + 3 || words[arguments + 1] != "=")
      throw std::runtime_error(options.values + ": " + line);
    worker.inputs = {bits(words[1])};
    auto second = std::bit_cast<float>(bits(words[arguments]));
    worker.expected = {bits(words.back())};
    worker.got.resize(1);
    sweep.run(worker.inputs, second, worker.got);
    compare("the evaluator, by hand,", worker, second);
    for (Kernels &each : worker.kernels) {
      each.place(worker.inputs, second);
      for (size_t i = 0; i < each.ids().size(); ++i) {
        each.launch(i, worker.got);
        compare(each.ids()[i] + ", by hand,", worker, second);
      }
    }
  }
  if (found == 0)
    throw std::runtime_error(options.values + ": no values for " + name);
}

std::string Trial::contradiction(const json &record, const json &entry) const {
  for (const json &known : record) {
    if (known.at("name") != name)
      continue;
    if (known.at("definition") != entry.at("definition"))
      return "the record is of another definition";
    if (!entry.contains("ulp"))
      return "";
    if (entry.at("ulp") > known.at("ulp"))
      return fmt::format("the record has at most {} ulp",
                         known.at("ulp").get<double>());
    for (const char *steps : {"falls", "rises"})
      if (entry.at(steps) > known.at(steps))
        return fmt::format("the record has {} {}", known.at(steps).dump(),
                           steps);
    return "";
  }
  return "the record does not have it";
}

bool Trial::run(json &report) {
  Inputs inputs = options.sample ? Inputs::sample(options.sample) : Inputs(1);
  visit(inputs, std::nullopt);
  const Findings &found = sweep.findings;
  if (primitive.arguments.size() == 2)
    for (float second : otherSeconds())
      visit(Inputs::sample(options.sample ? options.sample : 257), second);
  lookAtNaNs();
  if (!options.values.empty())
    lookAtValues();

  bool measured = options.errors && purposeOf(name).has_value();
  json entry{
      {"name", name},
      {"definition", algebra::sha256Hex(algebra::canonicalText(definition))},
      {"inputs", found.inputs},
      {"compared", compared},
      {"differing", differing}};
  std::string line = fmt::format("{:22} {} inputs, {} results compared, {} "
                                 "differing",
                                 name, found.inputs, compared, differing);
  for (const Kernels &each : workers.front()->kernels)
    for (const std::string &id : each.ids())
      entry["kernels"].push_back(id);
  if (measured) {
    entry["ulp"] = found.error;
    entry["at"] = fmt::format("{:08x}", found.worst);
    entry["falls"] = found.falls;
    entry["rises"] = found.rises;
    line +=
        fmt::format("; {:.4f} ulp at {:a}; {} falls ({:08x}), {} rises "
                    "({:08x})",
                    found.error, std::bit_cast<float>(found.worst), found.falls,
                    found.firstFall, found.rises, found.firstRise);
    if (found.wrong)
      line += fmt::format("; {} of the wrong kind, first at {:08x}",
                          found.wrong, found.firstWrong);
    if (found.doubts)
      line += fmt::format("; the C library is off at {} inputs", found.doubts);
  }
  std::cout << line << std::endl;
  std::string against;
  if (!options.record.empty()) {
    std::ifstream file(options.record);
    against = contradiction(json::parse(file), entry);
  }
  if (!against.empty())
    std::cout << "  " << options.record << ": " << against << std::endl;
  if (differing)
    std::cout << "  " << firstDifference << std::endl;
  report.push_back(entry);
  return differing == 0 && found.wrong == 0 && found.doubts == 0 &&
         compared > 0 && against.empty();
}

int sweepPackage(const Options &options) {
  evidence::Package package(options.package);
  json report = json::array();
  bool ok = true;
  for (const evidence::ContractSpec &contract : package.contracts()) {
    if (!options.only.empty() &&
        std::find(options.only.begin(), options.only.end(), contract.name) ==
            options.only.end())
      continue;
    Trial trial(options, package, contract);
    ok &= trial.run(report);
    // Written each time, so that a run that is cut short leaves something.
    if (!options.output.empty())
      std::ofstream(options.output) << report.dump(1) << "\n";
  }
  return ok && !report.empty() ? 0 : 1;
}

} // namespace

int main(int argc, char **argv) {
  Options options;
  CLI::App app("Runs the primitives of a package that primitives.py made on "
               "all 2^32 inputs, compares kernels and reference evaluator, and "
               "measures errors against MPFR.");
  app.add_option("package", options.package)->required();
  app.add_option("--device", options.devices)->take_all();
  app.add_option("--only", options.only, "names of primitives");
  app.add_option("--sample", options.sample,
                 "each so many-th input and all special neighbourhoods");
  app.add_option("--values", options.values, "a file of known results")
      ->check(CLI::ExistingFile);
  app.add_option("--record", options.record,
                 "findings of a run over all inputs, not to be exceeded")
      ->check(CLI::ExistingFile);
  app.add_option("--threads", options.threads);
  app.add_option("--json", options.output, "a file for the findings");
  app.add_flag("!--no-errors", options.errors, "compare bits only");
  CLI11_PARSE(app, argc, argv);
  try {
    return sweepPackage(options);
  } catch (const std::exception &error) {
    std::cerr << "error: " << error.what() << std::endl;
    return 2;
  }
}
