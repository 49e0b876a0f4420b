// CacheTest.cpp - what is kept, what is refused, what is thrown away
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/Pipeline/Cache.h"

#include <catch2/catch.hpp>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdlib.h>
#include <thread>

using namespace bitpact;
using pipeline::Cache;
namespace fs = std::filesystem;

namespace {

struct Directory {
  Directory() {
    char pattern[] = "/tmp/bitpact-cache-XXXXXX";
    REQUIRE(mkdtemp(pattern));
    path = pattern;
  }
  ~Directory() { fs::remove_all(path); }
  std::string path;
};

Cache::Entry entry(const std::string &object) {
  Cache::Entry made;
  made.code.object.assign(object.begin(), object.end());
  made.code.objectSuffix = "so";
  made.code.assembly = "line 1\nline 2\n";
  made.code.assemblySuffix = "s";
  made.code.resources = {1, 2, 3, 4};
  made.code.assemblerVersion = "13.0.1";
  made.schedule = "a schedule";
  made.access = "{x = 16}";
  made.kernels = {{"first", "one", ""}, {"second", "two", "a split"}};
  made.isLeftOut = object.empty();
  made.threads = 384;
  made.sharedBytes = 232448;
  made.maps = {{"x", 64, 32, 2}, {"weight", 128, 64}};
  return made;
}

bool same(const std::optional<Cache::Entry> &found,
          const Cache::Entry &expected) {
  const codegen::CompiledCode &b = expected.code;
  if (!found)
    return false;
  const codegen::CompiledCode &a = found->code;
  auto sameKernel = [](const Cache::Entry::Kernel &x,
                       const Cache::Entry::Kernel &y) {
    return x.entry == y.entry && x.schedule == y.schedule && x.split == y.split;
  };
  return found->isLeftOut == expected.isLeftOut &&
         std::equal(found->kernels.begin(), found->kernels.end(),
                    expected.kernels.begin(), expected.kernels.end(),
                    sameKernel) &&
         a.object == b.object && a.objectSuffix == b.objectSuffix &&
         a.assembly == b.assembly && a.assemblySuffix == b.assemblySuffix &&
         a.assemblerVersion == b.assemblerVersion &&
         a.resources.registers == b.resources.registers &&
         a.resources.shared == b.resources.shared &&
         a.resources.local == b.resources.local &&
         a.resources.spills == b.resources.spills &&
         found->schedule == expected.schedule &&
         found->access == expected.access &&
         found->threads == expected.threads &&
         found->sharedBytes == expected.sharedBytes &&
         found->maps == expected.maps;
}

std::string bytesOf(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}
void write(const std::string &path, const std::string &bytes) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
}

} // namespace

TEST_CASE("an entry comes back whole, under its own key alone") {
  Directory directory;
  Cache cache(directory.path + "/new/deep");
  CHECK_FALSE(cache.find("key"));
  Cache::Entry kept = entry(std::string("\0\n\xff binary", 9));
  cache.store("key", kept);
  CHECK(same(cache.find("key"), kept));
  CHECK_FALSE(cache.find("other"));
  // The file of another key in its place says which it is.
  fs::rename(cache.fileOf("key"), cache.fileOf("other"));
  CHECK_FALSE(cache.find("other"));

  Cache::Entry empty = entry("");
  empty.code.assembly = "";
  cache.store("empty", empty);
  CHECK(same(cache.find("empty"), empty));
  CHECK_FALSE(Cache("").isOn());
  CHECK_FALSE(Cache("").find("key"));
  Cache("").store("key", kept);
}

TEST_CASE("an altered or cut entry is as if it were not there") {
  Directory directory;
  Cache cache(directory.path);
  Cache::Entry kept = entry("some object code");
  cache.store("key", kept);
  const std::string path = cache.fileOf("key"), good = bytesOf(path);
  REQUIRE(good.size() > 300);
  for (size_t at = 0; at < good.size(); ++at) {
    std::string bad = good;
    bad[at] ^= 0x20;
    write(path, bad);
    INFO("byte " << at);
    CHECK_FALSE(cache.find("key"));
  }
  for (size_t length :
       {size_t(0), size_t(10), good.size() / 2, good.size() - 1}) {
    write(path, good.substr(0, length));
    CHECK_FALSE(cache.find("key"));
  }
  write(path, good + "x");
  CHECK_FALSE(cache.find("key"));
  // It is written again, and then as it was.
  cache.store("key", kept);
  CHECK(bytesOf(path) == good);
  CHECK(same(cache.find("key"), kept));
  // A directory in its place, which can be neither read nor replaced.
  fs::remove(path);
  fs::create_directories(path + "/inside");
  CHECK_FALSE(cache.find("key"));
  cache.store("key", kept);
  CHECK_FALSE(cache.find("key"));
  // Nothing is left lying about.
  size_t files = std::distance(fs::directory_iterator(directory.path), {});
  CHECK(files == 1);
}

TEST_CASE("a directory that cannot be written keeps nothing, and no more") {
  Directory directory;
  write(directory.path + "/file", "");
  Cache cache(directory.path + "/file/cache");
  cache.store("key", entry("code"));
  CHECK_FALSE(cache.find("key"));
  cache.prune();
}

TEST_CASE("many writers and readers of one key meet whole entries only") {
  Directory directory;
  Cache cache(directory.path);
  // Two entries under one key never happen; here they would show a mixture.
  Cache::Entry a = entry(std::string(100000, 'a')),
               b = entry(std::string(150000, 'b'));
  cache.store("key", a);
  std::atomic<int> broken{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 6; ++i)
    threads.emplace_back([&, i] {
      for (int n = 0; n < 40; ++n)
        if (i < 2) {
          cache.store("key", i ? a : b);
        } else {
          auto found = cache.find("key");
          broken += !same(found, a) && !same(found, b);
        }
    });
  for (std::thread &thread : threads)
    thread.join();
  CHECK(broken == 0);
  CHECK(std::distance(fs::directory_iterator(directory.path), {}) == 1);
}

TEST_CASE("beyond the limit, what was unused for longest goes") {
  Directory directory;
  Cache cache(directory.path, 40000);
  write(directory.path + "/not ours", std::string(100000, 'x'));
  auto now = fs::file_time_type::clock::now();
  for (int i = 0; i < 4; ++i) {
    cache.store(std::to_string(i), entry(std::string(9000, 'x')));
    fs::last_write_time(cache.fileOf(std::to_string(i)),
                        now - std::chrono::hours(10 - i));
  }
  cache.prune();
  CHECK(cache.find("0")); // below the limit; and now used last
  cache.store("4", entry(std::string(9000, 'x')));
  cache.prune();
  CHECK(cache.find("0"));
  CHECK_FALSE(cache.find("1"));
  CHECK_FALSE(cache.find("2"));
  CHECK(cache.find("3"));
  CHECK(cache.find("4"));
  CHECK(fs::exists(directory.path + "/not ours"));
}

TEST_CASE("a compiler knows which one it is") {
  CHECK(pipeline::buildId() == pipeline::buildId());
  // LLVM's version, this executable and at least one shared library.
  CHECK(pipeline::buildId().size() > 60);
}
