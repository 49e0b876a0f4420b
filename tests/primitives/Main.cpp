// Main.cpp - primitives on all inputs: kernels against evaluator against truth
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "contracts/algebra/CanonicalJson.h"
#include "tests/primitives/Kernels.h"
#include "tests/primitives/Sweep.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <fmt/format.h>
#include <fstream>
#include <iostream>
#include <iterator>
#include <limits>
#include <sstream>
#include <thread>

using namespace bitpact;
using namespace bitpact::primitives;
using nlohmann::json;

namespace {

constexpr size_t block = size_t(1) << 22;

struct Options {
  std::string package, output, values;
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
  Trial(const Options &given, const evidence::Package &package,
        const evidence::ContractSpec &contract,
        const std::vector<evidence::Device> &devices)
      : options(given), name(contract.name), definition(definitionOf(contract)),
        primitive(definition, contract.name),
        sweep(primitive, given.errors ? purposeOf(name) : std::nullopt,
              given.threads) {
    for (const evidence::Device &device : devices)
      kernels.emplace_back(package, contract, device, block);
  }

  /// Returns whether everything is as it must be.
  bool run(json &report);

private:
  static json definitionOf(const evidence::ContractSpec &contract) {
    json text = json::parse(contract.text);
    return text.at("definitions").at(text.at("primitives").at("f"));
  }
  void visit(const Inputs &inputs, float second, bool measure);
  void compare(const std::string &whose, std::span<const uint32_t> inputs,
               float second);
  void lookAtNaNs();
  /// Results known by hand, in a file of `values.txt`'s form.
  void lookAtValues();

  const Options &options;
  std::string name;
  json definition;
  reference::Primitive primitive;
  Sweep sweep;
  std::vector<Kernels> kernels;
  std::vector<uint32_t> expected, got;
  uint64_t compared = 0, differing = 0;
  std::string firstDifference;
};

void Trial::compare(const std::string &whose, std::span<const uint32_t> inputs,
                    float second) {
  compared += inputs.size();
  if (std::memcmp(expected.data(), got.data(), inputs.size_bytes()) == 0)
    return;
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (expected[i] == got[i])
      continue;
    if (differing++ == 0)
      firstDifference =
          fmt::format("{} at {:08x}, {}: {:08x}, expected {:08x}", whose,
                      inputs[i], second, got[i], expected[i]);
  }
  compared += inputs.size();
}

void Trial::visit(const Inputs &inputs, float second, bool measure) {
  std::vector<uint32_t> bits;
  for (uint64_t first = 0; first < inputs.size(); first += block) {
    bits.resize(std::min<uint64_t>(block, inputs.size() - first));
    expected.resize(bits.size());
    got.resize(bits.size());
    inputs.fill(first, bits);
    sweep.run(bits, second, measure, expected);
    for (Kernels &each : kernels) {
      each.place(bits, second);
      for (size_t i = 0; i < each.ids().size(); ++i) {
        each.launch(i, got);
        compare(each.ids()[i], bits, second);
      }
    }
  }
}

void Trial::lookAtNaNs() {
  Inputs inputs = Inputs::sample(65537);
  std::vector<uint32_t> bits(inputs.size());
  inputs.fill(0, bits);
  expected.resize(bits.size());
  got.resize(bits.size());
  Sweep(primitive, std::nullopt, options.threads).run(bits, 0, false, expected);
  for (const char *view : {"7fffffff", "ffc00000", "7f800001", "ffffffff"}) {
    reference::Primitive other(withNaNBits(definition, view), name);
    Sweep(other, std::nullopt, options.threads).run(bits, 0, false, got);
    compare(fmt::format("with NaNs seen as {}", view), bits, 0);
  }
}

void Trial::lookAtValues() {
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
    std::vector<uint32_t> input{bits(words[1])};
    auto second = std::bit_cast<float>(bits(words[arguments]));
    expected = {bits(words.back())};
    got.resize(1);
    Sweep(primitive, std::nullopt, 1).run(input, second, false, got);
    compare("the evaluator, by hand,", input, second);
    for (Kernels &each : kernels) {
      each.place(input, second);
      for (size_t i = 0; i < each.ids().size(); ++i) {
        each.launch(i, got);
        compare(each.ids()[i] + ", by hand,", input, second);
      }
    }
  }
  if (found == 0)
    throw std::runtime_error(options.values + ": no values for " + name);
}

bool Trial::run(json &report) {
  Inputs inputs = options.sample ? Inputs::sample(options.sample) : Inputs(1);
  visit(inputs, 0, true);
  Findings found = sweep.findings;
  if (primitive.arguments.size() == 2)
    for (float second : otherSeconds())
      visit(Inputs::sample(options.sample ? options.sample : 257), second,
            false);
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
  for (const Kernels &each : kernels)
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
  if (differing)
    std::cout << "  " << firstDifference << std::endl;
  report.push_back(entry);
  return differing == 0 && found.wrong == 0 && found.doubts == 0 &&
         compared > 0;
}

int sweepPackage(const Options &options) {
  evidence::Package package(options.package);
  std::vector<evidence::Device> devices;
  for (const std::string &name : options.devices)
    devices.emplace_back(name);
  json report = json::array();
  bool ok = true;
  for (const evidence::ContractSpec &contract : package.contracts()) {
    if (!options.only.empty() &&
        std::find(options.only.begin(), options.only.end(), contract.name) ==
            options.only.end())
      continue;
    Trial trial(options, package, contract, devices);
    ok &= trial.run(report);
  }
  if (!options.output.empty())
    std::ofstream(options.output) << report.dump(1) << "\n";
  return ok && !report.empty() ? 0 : 1;
}

} // namespace

int main(int argc, char **argv) {
  Options options;
  CLI::App app("Runs the primitives of a package that primitives.py made on "
               "all 2^32 inputs, compares kernels and reference evaluator, and "
               "measures errors against MPFR.");
  app.add_option("package", options.package)->required();
  app.add_option("--device", options.devices);
  app.add_option("--only", options.only, "names of primitives");
  app.add_option("--sample", options.sample,
                 "each so many-th input and all special neighbourhoods");
  app.add_option("--values", options.values, "a file of known results")
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
