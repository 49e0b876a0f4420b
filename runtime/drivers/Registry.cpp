// Registry.cpp - device names and the drivers behind them
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/drivers/Driver.h"

namespace bitpact::drivers {

using runtime::fail;

int parseOrdinal(const std::string &argument, const std::string &kind) {
  bool digits = !argument.empty() && argument.size() <= 4;
  for (char c : argument)
    digits &= c >= '0' && c <= '9';
  if (!argument.empty() && !digits)
    fail(BITPACT_INVALID_ARGUMENT,
         "device '{0}:{1}': '{1}' is not a device number; write {0}:0", kind,
         argument);
  return digits ? std::stoi(argument) : 0;
}

std::shared_ptr<Device> openDevice(const std::string &name, uint32_t threads) {
  size_t colon = name.find(':');
  std::string kind = name.substr(0, colon);
  std::string argument =
      colon == std::string::npos ? "" : name.substr(colon + 1);
  if (kind == "cpu")
    return openCpu(argument, threads);
  if (kind == "cuda")
    return openCuda(argument);
  if (kind == "hip")
    return openHip(argument);
  if (kind == "null")
    return openNull(argument);
  fail(BITPACT_MISSING_DEVICE,
       "device '{}' is unknown; allowed: cpu, cpu:LEVEL (such as "
       "cpu:x86-64-v3), cuda:N, hip:N",
       name);
}

} // namespace bitpact::drivers
