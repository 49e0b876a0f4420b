// SpillSort.h - sorts more fixed-size items than memory should hold
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef BITPACT_EVIDENCE_SPILLSORT_H
#define BITPACT_EVIDENCE_SPILLSORT_H

#include "tools/evidence/UserError.h"

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <memory>
#include <queue>
#include <type_traits>
#include <vector>

namespace bitpact::evidence {

/// Items are added, then taken in ascending order. Every `chunk` items go,
/// sorted, to a temporary file without a name, and are merged on the way out.
template <typename Item> class SpillSort {
  static_assert(std::is_trivially_copyable_v<Item>);

public:
  explicit SpillSort(size_t chunk) : chunk(std::max<size_t>(chunk, 1)) {}

  void add(const Item &item) {
    held.push_back(item);
    ++count;
    if (held.size() == chunk)
      spill();
  }
  uint64_t size() const { return count; }
  /// How many sorted pieces lie in the file.
  size_t pieces() const { return runs.size(); }

  /// After the last add().
  void sort() {
    if (runs.empty()) {
      std::sort(held.begin(), held.end());
      return;
    }
    if (!held.empty())
      spill();
    held = {};
    for (size_t i = 0; i < runs.size(); ++i)
      advance(i);
  }
  bool next(Item &item) {
    if (runs.empty()) {
      if (taken == held.size())
        return false;
      item = held[taken++];
      return true;
    }
    if (heads.empty())
      return false;
    size_t from = heads.top().second;
    item = heads.top().first;
    heads.pop();
    advance(from);
    return true;
  }

private:
  struct Run {
    uint64_t start, end; // items of the file
    std::vector<Item> buffer;
    size_t at = 0;
  };
  struct Later {
    bool operator()(const std::pair<Item, size_t> &a,
                    const std::pair<Item, size_t> &b) const {
      return b.first < a.first;
    }
  };
  struct Close {
    void operator()(std::FILE *file) const { std::fclose(file); }
  };

  [[noreturn]] static void fail() {
    throw UserError(std::string("a temporary file: ") + std::strerror(errno));
  }
  void spill() {
    std::sort(held.begin(), held.end());
    if (!file)
      file.reset(std::tmpfile());
    if (!file || std::fwrite(held.data(), sizeof(Item), held.size(),
                             file.get()) != held.size())
      fail();
    runs.push_back({written, written + held.size(), {}});
    written += held.size();
    held.clear();
  }
  /// Puts the next item of a piece among the heads.
  void advance(size_t index) {
    Run &run = runs[index];
    if (run.at == run.buffer.size()) {
      run.buffer.resize(std::min<uint64_t>(run.end - run.start, bufferItems));
      run.at = 0;
      if (run.buffer.empty())
        return;
      if (fseeko(file.get(), off_t(run.start * sizeof(Item)), SEEK_SET) ||
          std::fread(run.buffer.data(), sizeof(Item), run.buffer.size(),
                     file.get()) != run.buffer.size())
        fail();
      run.start += run.buffer.size();
    }
    heads.emplace(run.buffer[run.at++], index);
  }

  static constexpr uint64_t bufferItems = 4096;
  size_t chunk;
  uint64_t count = 0, written = 0;
  std::vector<Item> held;
  size_t taken = 0;
  std::unique_ptr<std::FILE, Close> file;
  std::vector<Run> runs;
  std::priority_queue<std::pair<Item, size_t>,
                      std::vector<std::pair<Item, size_t>>, Later>
      heads;
};

} // namespace bitpact::evidence

#endif // BITPACT_EVIDENCE_SPILLSORT_H
