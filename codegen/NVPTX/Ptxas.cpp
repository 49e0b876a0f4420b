// Ptxas.cpp - finding and running the PTX assembler
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/NVPTX/Ptxas.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/Regex.h"
#include <map>
#include <mutex>

using namespace llvm;

namespace bitpact::codegen {
namespace {

constexpr char kHowToGet[] =
    "get it with `pip install nvidia-cuda-nvcc` or with the CUDA toolkit 13";

/// A file that goes when its scope does.
class ScratchFile {
public:
  static Expected<ScratchFile> create(StringRef suffix) {
    SmallString<128> path;
    if (std::error_code error =
            sys::fs::createTemporaryFile("bitpact", suffix, path))
      return createStringError(error, "no temporary file: " + error.message());
    return ScratchFile(path);
  }
  StringRef path() const { return name; }
  Expected<std::string> read() const {
    auto buffer = MemoryBuffer::getFile(name);
    if (!buffer)
      return createStringError(buffer.getError(), "cannot read " + name);
    return (*buffer)->getBuffer().str();
  }

private:
  explicit ScratchFile(StringRef path)
      : name(path), remover(std::make_unique<FileRemover>(path)) {}
  std::string name;
  std::unique_ptr<FileRemover> remover;
};

struct Output {
  int status;
  std::string text; // stdout, then stderr
};

Expected<Output> execute(StringRef program, ArrayRef<StringRef> arguments) {
  auto out = ScratchFile::create("out");
  if (!out)
    return out.takeError();
  auto err = ScratchFile::create("err");
  if (!err)
    return err.takeError();
  SmallVector<StringRef> all{program};
  append_range(all, arguments);
  std::optional<StringRef> redirects[] = {StringRef(""), out->path(),
                                          err->path()};
  std::string error;
  int status =
      sys::ExecuteAndWait(program, all, std::nullopt, redirects, 0, 0, &error);
  if (status < 0)
    return createStringError("cannot run " + program.str() + ": " + error);
  auto first = out->read();
  if (!first)
    return first.takeError();
  auto second = err->read();
  if (!second)
    return second.takeError();
  return Output{status, *first + *second};
}

/// Places under one Python installation where the wheel puts ptxas.
void addWheel(StringRef prefix, std::vector<std::string> &paths) {
  std::error_code error;
  for (sys::fs::directory_iterator it(prefix + "/lib", error), end;
       !error && it != end; it.increment(error)) {
    if (!sys::path::filename(it->path()).starts_with("python3"))
      continue;
    for (StringRef site : {"site-packages", "dist-packages"})
      for (StringRef part : {"cu13", "cuda_nvcc"})
        paths.push_back(
            (it->path() + "/" + site + "/nvidia/" + part + "/bin/ptxas").str());
  }
}

std::vector<std::string> candidates() {
  std::vector<std::string> paths;
  if (auto found = sys::findProgramByName("ptxas"))
    paths.push_back(*found);
  paths.emplace_back("/usr/local/cuda/bin/ptxas");
  if (auto python = sys::findProgramByName("python3")) {
    // The environment's own prefix, then that of the interpreter behind it.
    addWheel(sys::path::parent_path(sys::path::parent_path(*python)), paths);
    SmallString<128> real;
    if (!sys::fs::real_path(*python, real))
      addWheel(sys::path::parent_path(sys::path::parent_path(real)), paths);
  }
  SmallString<128> home;
  if (sys::path::home_directory(home))
    addWheel((home + "/.local").str(), paths);
  addWheel("/usr/local", paths);
  addWheel("/usr", paths);
  return paths;
}

} // namespace

Expected<std::string> findPtxas(const CompileOptions &options) {
  if (!options.ptxasPath.empty()) {
    if (sys::fs::can_execute(options.ptxasPath))
      return options.ptxasPath;
    return createStringError("there is no ptxas at " + options.ptxasPath +
                             "; " + kHowToGet);
  }
  for (const std::string &path : candidates())
    if (sys::fs::can_execute(path))
      return path;
  return createStringError(
      "the CUDA target needs ptxas, which is not in PATH, not in "
      "/usr/local/cuda/bin and not in a Python environment; " +
      std::string(kHowToGet));
}

Expected<PtxasInfo> queryPtxas(const CompileOptions &options) {
  auto path = findPtxas(options);
  if (!path)
    return path.takeError();
  static std::mutex mutex;
  static std::map<std::string, PtxasInfo> known;
  std::lock_guard<std::mutex> lock(mutex);
  if (auto it = known.find(*path); it != known.end())
    return it->second;
  auto version = execute(*path, {"--version"});
  if (!version)
    return version.takeError();
  auto help = execute(*path, {"--help"});
  if (!help)
    return help.takeError();
  PtxasInfo info{*path, "", {}};
  SmallVector<StringRef> match;
  if (!Regex("V([0-9]+\\.[0-9]+\\.[0-9]+)").match(version->text, &match))
    return createStringError(*path +
                             " does not answer --version as ptxas does");
  info.version = match[1].str();
  StringRef rest = help->text;
  for (Regex arch("'(sm_[0-9]+[af]?)'"); arch.match(rest, &match);
       rest = rest.substr(match[0].end() - rest.begin()))
    if (!is_contained(info.archs, match[1]))
      info.archs.push_back(match[1].str());
  return known[*path] = info;
}

PtxasReport parsePtxasLog(StringRef log) {
  PtxasReport report;
  Regex frame("([0-9]+) bytes stack frame, ([0-9]+) bytes spill stores, "
              "([0-9]+) bytes spill loads");
  Regex registers("Used ([0-9]+) registers"), shared("([0-9]+) bytes smem");
  Regex serialised("C75(1[0-7])");
  auto number = [](StringRef text) {
    unsigned value = 0;
    text.getAsInteger(10, value);
    return value;
  };
  auto raise = [&](unsigned &slot, StringRef text) {
    slot = std::max(slot, number(text));
  };
  SmallVector<StringRef> lines, match;
  log.split(lines, '\n');
  for (StringRef line : lines) {
    Resources &resources = report.resources;
    if (frame.match(line, &match)) {
      raise(resources.local, match[1]);
      resources.spills = std::max<unsigned>(
          resources.spills, number(match[2]) + number(match[3]));
    }
    if (registers.match(line, &match))
      raise(resources.registers, match[1]);
    if (shared.match(line, &match))
      raise(resources.shared, match[1]);
    if (serialised.match(line))
      report.failures.push_back(line.trim().str());
  }
  return report;
}

Expected<PtxasResult> runPtxas(StringRef ptx, StringRef arch,
                               const CompileOptions &options) {
  auto info = queryPtxas(options);
  if (!info)
    return info.takeError();
  auto input = ScratchFile::create("ptx");
  if (!input)
    return input.takeError();
  auto output = ScratchFile::create("cubin");
  if (!output)
    return output.takeError();
  if (Error error = writeToOutput(input->path(), [&](raw_ostream &stream) {
        stream << ptx;
        return Error::success();
      }))
    return error;
  // Every rounding is stated in the text; -fmad=false says it once more.
  auto run =
      execute(info->path, {(Twine("-arch=") + arch).str(), "-O3", "-v",
                           "-fmad=false", "-o", output->path(), input->path()});
  if (!run)
    return run.takeError();
  if (run->status != 0)
    return createStringError("ptxas failed:\n" + run->text);
  auto cubin = output->read();
  if (!cubin)
    return cubin.takeError();
  return PtxasResult{
      {cubin->begin(), cubin->end()}, parsePtxasLog(run->text), info->version};
}

} // namespace bitpact::codegen
