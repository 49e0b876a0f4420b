// SharedTexts.h - texts that several targets take, made once
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef BITPACT_CODEGEN_TARGET_SHAREDTEXTS_H
#define BITPACT_CODEGEN_TARGET_SHAREDTEXTS_H

#include "llvm/ADT/STLFunctionalExtras.h"

#include <future>
#include <map>
#include <mutex>
#include <optional>
#include <string>

namespace bitpact::codegen {

class SharedTexts {
public:
  using Maker = llvm::function_ref<std::optional<std::string>()>;

  /// What `make` gives for `key`: whoever comes first makes it, others wait.
  /// Nothing where it failed, which is said once.
  std::optional<std::string> get(const std::string &key, Maker make) {
    std::promise<std::optional<std::string>> promise;
    std::shared_future<std::optional<std::string>> text;
    bool isMine = false;
    {
      std::lock_guard<std::mutex> lock(mutex);
      auto [place, isNew] = texts.try_emplace(key);
      isMine = isNew;
      if (isMine)
        place->second = promise.get_future().share();
      text = place->second;
    }
    if (isMine) {
      try {
        promise.set_value(make());
      } catch (...) {
        promise.set_value(std::nullopt);
        throw;
      }
    }
    return text.get();
  }

  size_t size() const {
    std::lock_guard<std::mutex> lock(mutex);
    return texts.size();
  }

private:
  mutable std::mutex mutex;
  std::map<std::string, std::shared_future<std::optional<std::string>>> texts;
};

} // namespace bitpact::codegen

#endif
