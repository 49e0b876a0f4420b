// Error.cpp - status, message, log, fork
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/core/Error.h"

#include "runtime/package/Format.h"

#include <atomic>
#include <mutex>
#include <new>
#include <pthread.h>

namespace bitpact::runtime {

static thread_local std::string lastMessage;

static bitpact_status report(bitpact_status status,
                             const char *message) noexcept {
  try {
    lastMessage = message;
  } catch (...) {
    lastMessage.clear();
  }
  return status;
}

bitpact_status reportCurrent() noexcept {
  try {
    throw;
  } catch (const Failure &failure) {
    return report(failure.status, failure.what());
  } catch (const package::FormatError &error) {
    return report(BITPACT_BAD_PACKAGE, error.what());
  } catch (const package::FileError &error) {
    return report(BITPACT_NOT_FOUND, error.what());
  } catch (const std::bad_alloc &) {
    return report(BITPACT_OUT_OF_MEMORY, "out of memory");
  } catch (const std::exception &error) {
    return report(BITPACT_INTERNAL, error.what());
  } catch (...) {
    return report(BITPACT_INTERNAL, "unknown exception");
  }
}

const char *lastError() noexcept { return lastMessage.c_str(); }

static std::mutex logMutex;
static std::atomic<bitpact_log_fn> logFunction{nullptr};
static void *logContext = nullptr;

void setLog(bitpact_log_fn function, void *context) {
  std::lock_guard<std::mutex> lock(logMutex);
  logContext = context;
  logFunction = function;
}

void log(const std::string &message) {
  if (!logFunction.load(std::memory_order_relaxed))
    return;
  std::lock_guard<std::mutex> lock(logMutex);
  if (bitpact_log_fn function = logFunction)
    function(logContext, message.c_str());
}

static std::atomic<uint32_t> forks{0};
[[maybe_unused]] static const int forkHandler =
    pthread_atfork(nullptr, nullptr, [] { forks.fetch_add(1); });

uint32_t forkCount() noexcept { return forks.load(std::memory_order_relaxed); }

} // namespace bitpact::runtime
