// Cache.h - code objects that were compiled before, by what made them
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef BITPACT_COMPILER_PIPELINE_CACHE_H
#define BITPACT_COMPILER_PIPELINE_CACHE_H

#include "codegen/NVPTX/TileLayout.h"
#include "codegen/Target/Target.h"

#include <optional>
#include <string>
#include <vector>

namespace bitpact::pipeline {

/// A directory with a file for each code object, named by the hash of
/// everything that made it. An entry says its own hash and its whole key, and
/// one that does not hold what it says is as if it were not there. Files
/// appear whole, by renaming; several processes may share a directory. Nothing
/// here can fail a compilation: what cannot be read is compiled, what cannot
/// be written is not kept.
class Cache {
public:
  static constexpr uint64_t kMostBytes = uint64_t(512) << 20;

  /// An empty directory's name keeps nothing.
  explicit Cache(std::string directory, uint64_t mostBytes = kMostBytes);

  struct Entry {
    codegen::CompiledCode code;
    /// The schedule that the code has in the end, and what its kernels ask of
    /// pointers: attributes as text.
    std::string schedule, access;
    /// Those that a launch runs, in order; `split` may be empty. Kernels of
    /// tiles are none of them.
    struct Kernel {
      std::string entry, schedule, split;
    };
    std::vector<Kernel> kernels;
    /// There is no code: registers do not suffice.
    bool isLeftOut = false;
    /// What a launch of tiles brings.
    int64_t threads = 0, sharedBytes = 0;
    std::vector<codegen::TensorMap> maps;
  };

  bool isOn() const { return !directory.empty(); }
  std::optional<Entry> find(const std::string &key) const;
  void store(const std::string &key, const Entry &entry) const;
  /// Removes what was unused for longest until three quarters of the limit
  /// are left, if there is more than the limit.
  void prune() const;

  /// Where the entry of a key is.
  std::string fileOf(const std::string &key) const;

private:
  std::string directory;
  uint64_t mostBytes;
};

/// Which compiler this is: the build ids of the object that this function is
/// in and of LLVM's and MLIR's, as the linker made them from their contents.
/// Empty if one has none; then nothing can be kept.
std::string buildId();

} // namespace bitpact::pipeline

#endif
