// Trial.cpp - compilations and packages, with and without a fault
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tests/faults/Trial.h"

#include "codegen/Targets.h"
#include "compiler/Pipeline/Pipeline.h"
#include "mlir/IR/SymbolTable.h"
#include "runtime/package/Format.h"

#include <filesystem>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <fstream>
#include <iterator>
#include <mutex>
#include <set>
#include <sstream>
#include <sys/wait.h>
#include <tuple>

using namespace bitpact;
using namespace bitpact::faults;
using nlohmann::json;
namespace fs = std::filesystem;

const char *faults::nameOf(Stage stage) {
  const char *const names[] = {"kernel", "code", "package"};
  return names[int(stage)];
}

const char *faults::nameOf(Detector detector) {
  const char *const names[] = {"nobody", "verifier", "interpreter",
                               "lint",   "loader",   "challenge", "check"};
  return names[int(detector)];
}

namespace {

bool runsHere(const codegen::Target &target) {
  return target.kind() == codegen::TargetKind::Cpu &&
         __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
}

/// The name of the first kernel of a variant's module, before and after
/// conversion.
std::string nameOfKernel(mlir::ModuleOp module) {
  for (mlir::Operation &op : *module.getBody())
    if (auto symbol = op.getAttrOfType<mlir::StringAttr>(
            mlir::SymbolTable::getSymbolAttrName());
        symbol && op.getNumRegions() && !op.getRegion(0).empty())
      return symbol.str();
  return "";
}

/// What a command prints, and its status.
std::pair<int, std::string> outputOf(const std::string &command) {
  FILE *pipe = popen((command + " 2>&1").c_str(), "r");
  std::string text;
  char buffer[4096];
  while (size_t n = pipe ? fread(buffer, 1, sizeof buffer, pipe) : 0)
    text.append(buffer, n);
  int ended = pipe ? pclose(pipe) : -1;
  return {WIFEXITED(ended) ? WEXITSTATUS(ended) : -1, text};
}

/// With an OpenBLAS whose sums are chains of fma.
constexpr char kWithLibrary[] =
    "LD_LIBRARY_PATH='" BITPACT_FAKE_LIBRARIES "' FAKE_BLAS=fma ";

std::string quoted(const std::string &path) { return "'" + path + "'"; }

/// The line that says all that must be said; nothing if none does.
std::optional<std::string> lineWith(const std::string &message,
                                    const std::vector<std::string> &says) {
  std::istringstream lines(message);
  for (std::string line; std::getline(lines, line);)
    if (std::all_of(says.begin(), says.end(), [&](const std::string &text) {
          return line.find(text) != line.npos;
        }))
      return line;
  return std::nullopt;
}

std::string bytesOf(const fs::path &path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

/// Faults that change which elements meet where, in kernels that run here: the
/// tree that reveal reads out of the kernel is another one, or there is none.
const std::set<std::string> &faultsOfTrees() {
  static const std::set<std::string> names{
      "an exchange over half the distance",
      "two levels of lanes merged in the other order",
      "a lane that merges with itself",
      "a reassociated sum",
      "a mask that is one element short",
      "a loop that ends a round early",
      "a loop that starts a round late",
      "a loop of double steps",
      "two accumulators exchanged by a round",
      "lanes one element closer together"};
  return names;
}

Outcome notSaid(const std::vector<std::string> &says,
                const std::string &message) {
  return {Outcome::Missed,
          fmt::format("no line says {}: {}", fmt::join(says, " and "), message),
          {},
          {}};
}

} // namespace

Trials::Compiled Trials::compile(const std::vector<std::string> &contracts,
                                 const std::string &target,
                                 const Mutation *mutation, bool prove) {
  Compiled result;
  result.package = fmt::format("{}/{}.pkg", scratch, packages++);
  mlir::DialectRegistry registry;
  pipeline::registerDialects(registry);
  mlir::MLIRContext context(registry);
  context.loadAllAvailableDialects();
  std::mutex guard;
  mlir::ScopedDiagnosticHandler handler(&context, [&](mlir::Diagnostic &what) {
    std::lock_guard<std::mutex> lock(guard);
    result.said += what.str() + "\n";
  });
  auto library = reader::Library::load(BITPACT_CONTRACTS, &context);
  if (failed(library))
    return result;
  pipeline::CompileRequest request;
  for (const std::string &contract : contracts)
    request.contracts.push_back(BITPACT_FAULT_CONTRACTS "/" + contract +
                                ".json");
  request.output = result.package;
  request.targets = {target};
  request.roles = {"train"};
  request.proveKernels = prove;
  if (mutation) {
    result.kernel = kernelOf(mutation->subject);
    auto hook = [&](mlir::ModuleOp module) {
      if (nameOfKernel(module) != result.kernel)
        return;
      std::vector<mlir::Operation *> sites;
      module.walk([&](mlir::Operation *op) {
        if (mutation->isSite(op))
          sites.push_back(op);
      });
      size_t chosen =
          mutation->site < 0 ? sites.size() - 1 : size_t(mutation->site);
      std::lock_guard<std::mutex> lock(guard);
      result.sites = int(sites.size());
      if (chosen >= sites.size())
        return;
      result.site = fmt::format("{} ({} of {})",
                                sites[chosen]->getName().getStringRef().str(),
                                chosen + 1, sites.size());
      mlir::OpBuilder builder(sites[chosen]);
      mutation->change(sites[chosen], builder);
    };
    (mutation->stage == Stage::Kernel ? request.mutateKernel
                                      : request.mutateLLVM) = hook;
  }
  result.succeeded =
      succeeded(pipeline::compile(request, *library, &context, {}));
  return result;
}

/// The schedules are asked for, so that no test knows how many there are.
std::string Trials::kernelOf(const Subject &subject) {
  mlir::DialectRegistry registry;
  pipeline::registerDialects(registry);
  mlir::MLIRContext context(registry);
  context.loadAllAvailableDialects();
  auto library = reader::Library::load(BITPACT_CONTRACTS, &context);
  pipeline::CompileRequest request;
  request.contracts = {BITPACT_FAULT_CONTRACTS "/" + subject.contract +
                       ".json"};
  request.targets = {subject.target};
  request.roles = {"train"};
  request.stopAfter = pipeline::Phase::Schedule;
  if (failed(library))
    return "";
  auto listed = pipeline::compile(request, *library, &context, {});
  if (failed(listed))
    return "";
  auto line = lineWith(listed->text, {subject.schedule});
  return line ? line->substr(0, line->find(' ')) : "";
}

Trials::Checked Trials::check(const std::string &package) {
  Checked result;
  std::string command = quoted(BITPACT_TOOL) + " check " + quoted(package) +
                        " --device cpu --rows 1,3,9,17 --repeat 1 --json";
  std::string text;
  std::tie(result.status, text) = outputOf(command);
  json report = json::parse(text, nullptr, false);
  if (!report.is_object() || !report.contains("variants")) {
    result.said = text;
    return result;
  }
  std::map<std::string, std::string> entries;
  json manifest = json::parse(std::ifstream(package + "/manifest.json"));
  for (const json &variant : manifest.at("variants"))
    entries[variant.at("id")] = variant.at("entry");
  for (const json &variant : report.at("variants")) {
    const json &first = variant.at("first");
    if (first.is_null())
      continue;
    std::string id = variant.at("variant"), where;
    for (const auto &[dim, extent] : first.at("dims").items())
      where += fmt::format(" {}={}", dim, extent.get<int64_t>());
    result.differences[entries.at(id)] = fmt::format(
        "{}: {}[{}] expected {}, got {} ({}{})", id,
        first.at("tensor").get<std::string>(),
        fmt::join(first.at("coordinate").get<std::vector<int64_t>>(), ", "),
        first.at("expected").get<std::string>(),
        first.at("actual").get<std::string>(),
        first.at("recipe").get<std::string>(), where);
  }
  return result;
}

Trials::Checked Trials::ask(const std::string &package) {
  json manifest = json::parse(std::ifstream(package + "/manifest.json"));
  std::string variant;
  for (const json &one : manifest.at("variants"))
    if (one.contains("library"))
      variant = one.at("id");
  Checked result;
  std::tie(result.status, result.said) = outputOf(fmt::format(
      "{}{} reveal '{}' --op matmul --variant '{}' --dim tokens=2",
      kWithLibrary, quoted(BITPACT_TOOL), package, variant));
  return result;
}

const Trials::Clean &Trials::clean(const std::vector<std::string> &contracts,
                                   const std::string &target, bool attested) {
  auto [known, isNew] = cleanRuns.try_emplace(
      fmt::format("{} for {}{}", fmt::join(contracts, " "), target,
                  attested ? ", attested" : ""));
  Clean &result = known->second;
  if (!isNew)
    return result;
  Compiled compiled = compile(contracts, target, nullptr, true);
  result.package = compiled.package;
  if (!compiled.succeeded)
    result.why = "without the fault: " + compiled.said;
  else if (runsHere(*codegen::builtinTargets().find(target)))
    if (Checked checked = check(compiled.package); checked.status != 0)
      result.why = fmt::format("without the fault: check ends with {} {}",
                               checked.status, checked.said);
  if (!attested || !result.why.empty())
    return result;
  result.package = fmt::format("{}/{}.pkg", scratch, packages++);
  auto [status, said] = outputOf(
      fmt::format("{}{} attest '{}' --device cpu --library openblas --range "
                  "tokens=2..9 --output '{}'",
                  kWithLibrary, quoted(BITPACT_TOOL), compiled.package,
                  result.package));
  if (status)
    result.why = fmt::format("attest ends with {} {}", status, said);
  else if (Checked asked = ask(result.package); asked.status)
    result.why = "without the fault: " + asked.said;
  return result;
}

bool Trials::isRevealed(const Compiled &compiled) {
  json manifest =
      json::parse(std::ifstream(compiled.package + "/manifest.json"));
  std::string variant;
  for (const json &one : manifest.at("variants"))
    if (one.at("entry") == compiled.kernel)
      variant = one.at("id");
  std::string command =
      quoted(BITPACT_TOOL) + " reveal " + quoted(compiled.package) + " --op " +
      manifest.at("contracts")[0].at("digest").get<std::string>() +
      " --variant '" + variant + "' --json >/dev/null 2>&1";
  int ended = std::system(command.c_str());
  int status = WIFEXITED(ended) ? WEXITSTATUS(ended) : -1;
  return status == 1 || status == 4;
}

Outcome Trials::judgeCheck(const Mutation &mutation, const Compiled &compiled) {
  if (!compiled.succeeded)
    return {
        Outcome::Missed, "the compiler refuses it: " + compiled.said, {}, {}};
  Checked checked = check(compiled.package);
  if (mutation.detector == Detector::Nobody)
    return {checked.status ? Outcome::Missed : Outcome::Caught,
            checked.status ? fmt::format("check ends with {} {}",
                                         checked.status, checked.said)
                           : "no fault, and none is reported",
            {},
            {}};
  if (checked.status != 1)
    return {Outcome::Missed,
            fmt::format("check ends with {} {}", checked.status, checked.said),
            {},
            {}};
  // The variant that was changed, and no other.
  std::string message;
  for (const auto &[kernel, text] : checked.differences) {
    if (kernel != compiled.kernel)
      return {Outcome::Missed, "differs and was not changed: " + text, {}, {}};
    message += text + "\n";
  }
  auto line = lineWith(message, mutation.says);
  return line ? Outcome{Outcome::Caught, *line, {}, {}}
              : notSaid(mutation.says, message);
}

Outcome Trials::judge(const Mutation &mutation, const Compiled &compiled) {
  if (mutation.detector == Detector::Check ||
      mutation.detector == Detector::Nobody)
    return judgeCheck(mutation, compiled);
  if (compiled.succeeded)
    return {Outcome::Missed, "the compiler made a package of it", {}, {}};
  if (fs::exists(compiled.package))
    return {Outcome::Missed, "a package was left behind", {}, {}};
  bool proof = compiled.said.find("the proof of the kernel failed") !=
               compiled.said.npos;
  if (proof != (mutation.detector == Detector::Interpreter))
    return {Outcome::Missed, "not by the detector: " + compiled.said, {}, {}};
  auto line = lineWith(compiled.said, mutation.says);
  return line ? Outcome{Outcome::Caught, *line, {}, {}}
              : notSaid(mutation.says, compiled.said);
}

Outcome Trials::keepFor(const std::string &name, const std::string &target,
                        const std::string &package) {
  std::string file = name;
  for (char &c : file)
    if (!std::isalnum(static_cast<unsigned char>(c)))
      c = '_';
  if (!fs::exists(package))
    return {Outcome::Missed, "the compiler refuses it", {}, {}};
  fs::create_directories(keep);
  fs::copy(package, fs::path(keep) / (file + ".pkg"),
           fs::copy_options::recursive | fs::copy_options::overwrite_existing);
  return {Outcome::NotRun, "kept for " + target, {}, {}};
}

Outcome Trials::run(const Mutation &mutation) {
  const std::string &name = mutation.subject.target;
  const codegen::Target *target = codegen::builtinTargets().find(name);
  if (!target)
    return {Outcome::Missed, "there is no target " + name, {}, {}};
  if (!target->isUsable({}))
    return {Outcome::NotRun, "no assembler for " + name, {}, {}};
  bool checks = mutation.detector == Detector::Check ||
                mutation.detector == Detector::Nobody;
  bool here = runsHere(*target);
  if (checks && !here && keep.empty())
    return {Outcome::NotRun, "this machine does not run " + name, {}, {}};
  const Clean &control = clean({mutation.subject.contract}, name);
  if (!control.why.empty())
    return {Outcome::Missed, control.why, {}, {}};

  Compiled compiled =
      compile({mutation.subject.contract}, name, &mutation, true);
  if (compiled.site.empty())
    return {Outcome::Missed,
            fmt::format("the fault was not planted: {} sites in kernel '{}'; "
                        "{}",
                        compiled.sites, compiled.kernel, compiled.said),
            {},
            {}};
  Outcome outcome = checks && !here
                        ? keepFor(mutation.name, name, compiled.package)
                        : judge(mutation, compiled);
  outcome.where = compiled.site;
  if (mutation.detector != Detector::Interpreter ||
      outcome.kind != Outcome::Caught)
    return outcome;
  // The same fault where nobody proves: on a CPU, bytes tell most of them.
  Compiled unproved =
      compile({mutation.subject.contract}, name, &mutation, false);
  if (!unproved.succeeded)
    outcome.without = "lint";
  else if (!runsHere(*target))
    outcome.without = "not run";
  else if (Checked checked = check(unproved.package); checked.status == 1)
    outcome.without = "check";
  else
    outcome.without = checked.status == 0 ? "nobody" : "a crash";
  if (unproved.succeeded && runsHere(*target) &&
      faultsOfTrees().count(mutation.name)) {
    Compiled asItIs;
    asItIs.package = control.package;
    asItIs.kernel = compiled.kernel;
    if (isRevealed(asItIs))
      return {Outcome::Missed,
              "reveal does not find the declared tree without the fault",
              {},
              {}};
    if (!isRevealed(unproved))
      return {Outcome::Missed,
              "reveal finds the declared tree in the wrong kernel",
              {},
              {}};
    outcome.without += ", reveal";
  }
  return outcome;
}

Outcome Trials::run(const PackageMutation &mutation) {
  const codegen::Target *target =
      codegen::builtinTargets().find(mutation.target);
  if (!target || !target->isUsable({}))
    return {Outcome::NotRun, "no assembler for " + mutation.target, {}, {}};
  bool away = mutation.detector == Detector::Check && !runsHere(*target);
  if (away && keep.empty())
    return {Outcome::NotRun,
            "this machine does not run " + mutation.target,
            {},
            {}};
  if (mutation.attested && !runsHere(*target))
    return {Outcome::NotRun,
            "this machine does not run " + mutation.target,
            {},
            {}};
  const Clean &control =
      clean(mutation.contracts, mutation.target, mutation.attested);
  if (!control.why.empty())
    return {Outcome::Missed, control.why, {}, {}};

  PackageFiles package;
  for (const auto &entry : fs::recursive_directory_iterator(control.package))
    if (entry.is_regular_file())
      package.files[fs::relative(entry.path(), control.package)] =
          bytesOf(entry.path());
  package.manifest = json::parse(package.files.at("manifest.json"));
  if (!mutation.change(package))
    return {Outcome::Missed,
            "the fault was not planted: nothing to change",
            {},
            {}};
  if (mutation.seal == PackageMutation::Sealed) {
    auto seal = [&](json &entry) {
      auto file = package.files.find(entry.at("file"));
      if (file == package.files.end())
        return;
      entry["sha256"] = package::sha256Hex(file->second);
      if (entry.contains("bytes"))
        entry["bytes"] = file->second.size();
    };
    for (json &contract : package.manifest.at("contracts"))
      seal(contract);
    for (json &variant : package.manifest.at("variants"))
      seal(variant.at("code"));
    package.manifest["sha256"] = package::manifestHash(package.manifest);
  }
  package.files["manifest.json"] =
      package::canonicalText(package.manifest) + "\n";
  std::string path = fmt::format("{}/{}.pkg", scratch, packages++);
  for (const auto &[name, bytes] : package.files) {
    fs::path file = fs::path(path) / name;
    if (fs::path(name).lexically_normal() != fs::path(name))
      continue; // a path that only the manifest may have
    fs::create_directories(file.parent_path());
    std::ofstream(file, std::ios::binary) << bytes;
  }
  if (away)
    return keepFor(mutation.name, mutation.target, path);
  Checked checked = mutation.attested ? ask(path) : check(path);
  int wanted = mutation.detector == Detector::Check ? 1 : 2;
  std::string message = checked.said;
  for (const auto &[kernel, text] : checked.differences)
    message += text + "\n";
  if (checked.status != wanted)
    return {Outcome::Missed,
            fmt::format("check ends with {} {}", checked.status, message),
            {},
            {}};
  auto line = lineWith(message, mutation.says);
  if (!line)
    return notSaid(mutation.says, message);
  return {Outcome::Caught,
          *line,
          mutation.seal == PackageMutation::Sealed ? "sealed again"
                                                   : "as altered",
          {}};
}
