// Module.h - a shared object that is loaded from verified bytes
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef BITPACT_RUNTIME_DRIVERS_CPU_MODULE_H
#define BITPACT_RUNTIME_DRIVERS_CPU_MODULE_H

#include <string>

namespace bitpact::drivers {

// The bytes go to a sealed file in memory, and that is what the loader maps:
// a change on disk after the check changes nothing.
class Module {
public:
  Module(const std::string &bytes, const std::string &file);
  ~Module();
  Module(const Module &) = delete;

  // Throws BITPACT_BAD_PACKAGE if there is no such symbol.
  void *symbol(const std::string &name) const;

private:
  std::string file;
  int fd = -1;
  void *handle = nullptr;
};

} // namespace bitpact::drivers

#endif // BITPACT_RUNTIME_DRIVERS_CPU_MODULE_H
