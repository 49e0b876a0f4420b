// Handles.h - what the opaque types of the C interface hold
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef BITPACT_RUNTIME_CORE_HANDLES_H
#define BITPACT_RUNTIME_CORE_HANDLES_H

#include "runtime/core/Kernel.h"

#include <memory>
#include <string>
#include <vector>

// Texts and arrays that infos point to, made when the package is opened.
struct bitpact_package {
  std::shared_ptr<const bitpact::package::Package> package;
  std::string producer;
  struct Tensor {
    std::vector<const char *> dims;
  };
  struct Contract {
    std::vector<Tensor> tensors;
    std::vector<std::pair<std::string, int64_t>> dims; // operator's order
  };
  struct Variant {
    uint32_t contract;
    std::string target, conditions;
    std::vector<const char *> roles, inspect;
  };
  std::vector<Contract> contracts;
  std::vector<Variant> variants;
};

struct bitpact_device {
  std::shared_ptr<bitpact::drivers::Device> device;
  std::vector<const char *> archs;
};

struct bitpact_kernel {
  std::shared_ptr<const bitpact::runtime::Kernel> kernel;
};

struct bitpact_event {
  std::shared_ptr<bitpact::drivers::Device> device;
  void *event;
};

#endif // BITPACT_RUNTIME_CORE_HANDLES_H
