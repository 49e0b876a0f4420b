// Isa.cpp - instruction set levels by cpuid
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/drivers/cpu/Isa.h"

#if defined(__x86_64__)
#include <cpuid.h>
#include <cstring>
#endif

namespace bitpact::drivers {

#if defined(__x86_64__)

std::vector<std::string> hostLevels() {
  std::vector<std::string> levels;
  __builtin_cpu_init();
  if (__builtin_cpu_supports("x86-64-v4"))
    levels.push_back("x86-64-v4");
  if (__builtin_cpu_supports("x86-64-v3"))
    levels.push_back("x86-64-v3");
  if (__builtin_cpu_supports("x86-64-v2"))
    levels.push_back("x86-64-v2");
  levels.push_back("x86-64");
  return levels;
}

std::string hostDescription() {
  unsigned registers[12];
  for (unsigned leaf = 0; leaf < 3; ++leaf)
    if (!__get_cpuid(0x80000002u + leaf, &registers[4 * leaf],
                     &registers[4 * leaf + 1], &registers[4 * leaf + 2],
                     &registers[4 * leaf + 3]))
      return "x86-64";
  char text[sizeof registers + 1] = {};
  std::memcpy(text, registers, sizeof registers);
  std::string brand = text;
  while (!brand.empty() && brand.back() == ' ')
    brand.pop_back();
  return brand;
}

#elif defined(__aarch64__)

std::vector<std::string> hostLevels() { return {"aarch64"}; }
std::string hostDescription() { return "AArch64"; }

#else

std::vector<std::string> hostLevels() { return {}; }
std::string hostDescription() { return "unknown processor"; }

#endif

} // namespace bitpact::drivers
