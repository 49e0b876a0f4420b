// Error.h - failures inside the runtime, statuses outside
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef BITPACT_RUNTIME_CORE_ERROR_H
#define BITPACT_RUNTIME_CORE_ERROR_H

#include "runtime/include/bitpact.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <exception>
#include <string>
#include <utility>

namespace bitpact::runtime {

// What a C call reports: thrown inside, never across the C interface.
class Failure : public std::exception {
public:
  Failure(bitpact_status status, std::string message)
      : status(status), message(std::move(message)) {}
  const char *what() const noexcept override { return message.c_str(); }

  const bitpact_status status;

private:
  std::string message;
};

template <typename... Args>
[[noreturn]] void fail(bitpact_status status, fmt::format_string<Args...> text,
                       Args &&...args) {
  throw Failure(status, fmt::format(text, std::forward<Args>(args)...));
}

// Turns the exception in flight into a status and this thread's message.
bitpact_status reportCurrent() noexcept;
const char *lastError() noexcept;

void setLog(bitpact_log_fn log, void *context);
void log(const std::string &message);

// The body of every C function.
template <typename Body> bitpact_status guard(Body body) noexcept {
  try {
    body();
    return BITPACT_OK;
  } catch (...) {
    return reportCurrent();
  }
}

template <typename T> void require(const T *pointer, const char *what) {
  if (!pointer)
    fail(BITPACT_INVALID_ARGUMENT, "{}: is NULL", what);
}

// Fills as much of the caller's struct as the caller knows.
template <typename Info> void fillInfo(Info *to, Info from) {
  require(to, "info");
  size_t room = to->size;
  if (room < sizeof(size_t) || room > (size_t(1) << 16))
    fail(BITPACT_INVALID_ARGUMENT,
         "info.size: is {}, must be sizeof the struct", room);
  from.size = room;
  std::memcpy(to, &from, std::min(room, sizeof(Info)));
}

// How often this process is the child of a fork since the library was loaded.
uint32_t forkCount() noexcept;

} // namespace bitpact::runtime

#endif // BITPACT_RUNTIME_CORE_ERROR_H
