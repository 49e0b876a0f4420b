// Compiler.cpp - the compiler, loaded when a command needs it
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/bitpact/Compiler.h"

#include "tools/bitpact/Commands.h"
#include "tools/evidence/UserError.h"

#include <cstdlib>
#include <dlfcn.h>
#include <filesystem>
#include <fmt/format.h>

namespace fs = std::filesystem;
using nlohmann::json;

namespace bitpact::tool {
namespace {

constexpr const char *libraryName = "libbitpact-compiler.so";

void *openCompiler() {
  std::error_code error;
  fs::path directory = fs::read_symlink("/proc/self/exe", error).parent_path();
  std::string reason;
  for (const fs::path &path :
       {directory / libraryName, directory / ".." / "lib" / libraryName,
        fs::path(libraryName)}) {
    bool found = path.has_parent_path() && fs::exists(path, error);
    if (path.has_parent_path() && !found)
      continue;
    // Local and deep: LLVM's symbols stay out of everything else.
    if (void *library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL))
      return library;
    if (const char *text = dlerror(); text && found)
      reason = text;
  }
  throw evidence::UserError(
      reason.empty()
          ? fmt::format("this machine has no compiler ({} is neither beside "
                        "the tool, nor in ../lib, nor on the loader's path); "
                        "check, run, inspect and bench of packages work "
                        "without it",
                        libraryName)
          : fmt::format("the compiler cannot be loaded: {}", reason));
}

void reportProgress(void *context, const char *what, int done, int total) {
  (*static_cast<const evidence::Progress *>(context))(what, done, total);
}

} // namespace

Compiler::Compiler() {
  void *library = openCompiler();
  auto abi = reinterpret_cast<decltype(&bitpact_compiler_abi)>(
      dlsym(library, "bitpact_compiler_abi"));
  runRequest = reinterpret_cast<decltype(runRequest)>(
      dlsym(library, "bitpact_compiler_run"));
  freeAnswer = reinterpret_cast<decltype(freeAnswer)>(
      dlsym(library, "bitpact_compiler_free"));
  if (!abi || !runRequest || !freeAnswer || abi() != BITPACT_COMPILER_ABI)
    throw evidence::UserError(
        fmt::format("{} is of another version than this tool", libraryName));
}

json Compiler::run(const json &request, const evidence::Progress &progress) {
  char *answer = runRequest(request.dump().c_str(), reportProgress,
                            const_cast<evidence::Progress *>(&progress));
  if (!answer)
    throw std::runtime_error("the compiler gave no answer");
  std::string text = answer;
  freeAnswer(answer);
  json response = json::parse(text, nullptr, false);
  if (!response.is_object() || !response.contains("status"))
    throw std::runtime_error("the compiler gave no JSON answer: " + text);
  if (int status = response["status"].get<int>())
    throw Diagnostics{status, response.value("diagnostics", json::array())};
  return response;
}

TemporaryDirectory::TemporaryDirectory() {
  std::error_code error;
  std::string pattern =
      (fs::temp_directory_path(error) / "bitpact-XXXXXX").string();
  if (error || !mkdtemp(pattern.data()))
    throw evidence::UserError("cannot make a temporary directory; set TMPDIR "
                              "to a writable one");
  directory = pattern;
}

TemporaryDirectory::~TemporaryDirectory() {
  std::error_code ignored;
  fs::remove_all(directory, ignored);
}

} // namespace bitpact::tool
