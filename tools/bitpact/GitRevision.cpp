// GitRevision.cpp - contract files as they were at a revision of git
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/bitpact/GitRevision.h"

#include "tools/bitpact/Commands.h"
#include "tools/bitpact/Compiler.h"
#include "tools/evidence/UserError.h"

#include <fcntl.h>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <map>
#include <set>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

namespace fs = std::filesystem;
using bitpact::evidence::UserError;
using nlohmann::json;

namespace bitpact::tool {
namespace {

struct GitAnswer {
  int status = 0;
  std::string text;
};

/// Runs git without a shell; what it says on stderr is not for our users.
GitAnswer git(const std::string &directory, std::vector<std::string> args) {
  args.insert(args.begin(), {"git", "-C", directory});
  std::vector<char *> words;
  for (std::string &arg : args)
    words.push_back(arg.data());
  words.push_back(nullptr);
  int ends[2];
  if (pipe(ends))
    throw std::runtime_error("no pipe");
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_addclose(&actions, ends[0]);
  posix_spawn_file_actions_addclose(&actions, ends[1]);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null",
                                   O_WRONLY, 0);
  pid_t child = 0;
  int failed =
      posix_spawnp(&child, "git", &actions, nullptr, words.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  GitAnswer answer;
  char buffer[4096];
  for (ssize_t count;
       !failed && (count = read(ends[0], buffer, sizeof buffer)) > 0;)
    answer.text.append(buffer, static_cast<size_t>(count));
  close(ends[0]);
  if (failed)
    throw UserError("--git", "git cannot be run");
  int status = 0;
  waitpid(child, &status, 0);
  answer.status = WIFEXITED(status) ? WEXITSTATUS(status) : 1;
  return answer;
}

std::string firstLine(const std::string &text) {
  return text.substr(0, text.find('\n'));
}

class Revision {
public:
  Revision(const std::string &name, const std::string &path) : name(name) {
    std::error_code error;
    fs::path whole = fs::absolute(path, error).lexically_normal();
    fs::path start = whole.parent_path();
    while (!fs::is_directory(start, error) && start.has_relative_path())
      start = start.parent_path();
    GitAnswer top = git(start.string(), {"rev-parse", "--show-toplevel"});
    if (top.status)
      throw UserError(path, "--git: the file is in no git repository");
    root = firstLine(top.text);
    GitAnswer found = git(root, {"rev-parse", "--verify", "--quiet",
                                 "--end-of-options", name + "^{commit}"});
    if (found.status || found.text.empty())
      throw UserError("--git", fmt::format("there is no revision '{}' in the "
                                           "repository {}",
                                           name, root));
    commit = firstLine(found.text);
    fs::path folder = fs::weakly_canonical(whole.parent_path(), error);
    file = (folder / whole.filename()).lexically_relative(root).string();
    std::string type = typeOf(file);
    if (type.empty())
      throw UserError(path,
                      fmt::format("--git: there is no {} at {}", file, name));
    if (type != "blob")
      throw UserError(path, "--git is for contract files and model sets");
  }

  ContractSet read() {
    fetch(file);
    applyPresets();
    try {
      ContractSet set = readSet(inside(file));
      for (SourcedContract &one : set.contracts)
        one.path = named(one.path);
      set.path = named(set.path);
      return set;
    } catch (const UserError &error) {
      throw UserError(named(error.where()), named(error.what()));
    } catch (Diagnostics &diagnostics) {
      rename(diagnostics.messages);
      throw diagnostics;
    }
  }

private:
  std::string name, root, commit, file;
  TemporaryDirectory scratch;
  std::set<std::string> fetched;

  std::string inside(const std::string &path) const {
    return (fs::path(scratch.path()) / path).string();
  }

  std::string typeOf(const std::string &path) const {
    GitAnswer type = git(root, {"cat-file", "-t", commit + ":" + path});
    return type.status ? "" : firstLine(type.text);
  }

  /// Our copies' names as revision:path.
  std::string named(std::string text) const {
    std::string prefix = scratch.path() + "/";
    for (size_t at; (at = text.find(prefix)) != text.npos;)
      text.replace(at, prefix.size(), name + ":");
    return text;
  }

  void rename(json &value) const {
    if (value.is_string())
      value = named(value.get<std::string>());
    if (value.is_structured())
      for (json &inner : value)
        rename(inner);
  }

  /// The file and what it extends or lists. What is not there is left for the
  /// reader to say.
  void fetch(const std::string &path) {
    if (path.starts_with("../") || !fetched.insert(path).second)
      return;
    GitAnswer content = git(root, {"cat-file", "blob", commit + ":" + path});
    if (content.status)
      return;
    fs::create_directories(fs::path(inside(path)).parent_path());
    std::ofstream(inside(path), std::ios::binary) << content.text;
    json value = json::parse(content.text, nullptr, false, true);
    if (!value.is_object())
      return;
    auto follow = [&](const json &other) {
      if (other.is_string())
        fetch(beside(path, other));
    };
    follow(value.value("extends", json()));
    if (diff::ModelSet::looksLike(value) && value.contains("contracts") &&
        value.at("contracts").is_object())
      for (const json &one : value.at("contracts"))
        follow(one);
  }

  /// Presets of a library that is in the same repository are those of the
  /// revision: they are written out into the files that use them.
  void applyPresets() {
    std::error_code error;
    fs::path tool = fs::read_symlink("/proc/self/exe", error).parent_path();
    fs::path presets = fs::weakly_canonical(
        tool / ".." / "share" / "bitpact" / "contracts" / "presets", error);
    std::string folder = presets.lexically_relative(root).string();
    if (error || folder.empty() || folder.starts_with("..") ||
        !git(root, {"diff", "--quiet", commit, "--", folder}).status)
      return;
    json top = parsed(file);
    std::vector<std::string> contracts{file};
    if (diff::ModelSet::looksLike(top)) {
      contracts.clear();
      for (const json &one : top.value("contracts", json::object()))
        if (one.is_string())
          contracts.push_back(beside(file, one));
    }
    std::map<std::string, json> written;
    for (const std::string &path : contracts) {
      std::set<std::string> chain;
      json value = merged(path, chain);
      if (!value.is_object() || !value.contains("nodes") ||
          !value.at("nodes").is_object())
        continue; // the reader says what is wrong with it
      for (json &node : value.at("nodes"))
        if (node.is_object() && node.contains("use"))
          node = withPresets(node, folder);
      written[path] = std::move(value);
    }
    for (const auto &[path, value] : written)
      std::ofstream(inside(path), std::ios::binary) << value.dump(2) << '\n';
  }

  json parsed(const std::string &path) const {
    std::ifstream stream(inside(path));
    return json::parse(stream, nullptr, false, true);
  }

  static std::string beside(const std::string &path, const json &other) {
    return (fs::path(path).parent_path() / other.get<std::string>())
        .lexically_normal()
        .string();
  }

  /// The file on top of what it extends; null where that is no contract.
  json merged(const std::string &path, std::set<std::string> &chain) const {
    json value = parsed(path);
    if (!value.is_object() || !chain.insert(path).second)
      return nullptr;
    json base = value.value("extends", json());
    if (base.is_null())
      return value;
    json result = base.is_string() ? merged(beside(path, base), chain) : json();
    if (!result.is_object())
      return nullptr;
    value.erase("extends");
    result.merge_patch(value);
    return result;
  }

  json withPresets(const json &node, const std::string &folder) const {
    json result = json::object(), uses = node.at("use");
    if (uses.is_string())
      uses = json::array({uses});
    if (!uses.is_array())
      return node;
    for (const json &use : uses) {
      if (!use.is_string())
        return node;
      GitAnswer preset = git(root, {"cat-file", "blob",
                                    fmt::format("{}:{}/{}.json", commit, folder,
                                                use.get<std::string>())});
      json text = json::parse(preset.text, nullptr, false, true);
      if (preset.status || !text.is_object() || !text.contains("node"))
        throw UserError("--git", fmt::format("there is no preset '{}' at {}",
                                             use.get<std::string>(), name));
      result.merge_patch(text.at("node"));
    }
    json own = node;
    own.erase("use");
    result.merge_patch(own);
    return result;
  }
};

} // namespace

ContractSet readSetAt(const std::string &revision, const std::string &path) {
  return Revision(revision, path).read();
}

} // namespace bitpact::tool
