// Registry.h - the targets there are, and how a user names them
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef BITPACT_CODEGEN_TARGET_REGISTRY_H
#define BITPACT_CODEGEN_TARGET_REGISTRY_H

#include "codegen/Target/Target.h"
#include "llvm/Support/Error.h"
#include <memory>

namespace bitpact::codegen {

class TargetRegistry {
public:
  void add(std::unique_ptr<Target> target);

  std::vector<const Target *> all() const;
  /// nullptr if there is none.
  const Target *find(llvm::StringRef spec) const;

  /// `cuda:sm_90a` names one; bare `cpu` or `cuda` every usable one of the
  /// kind. An unknown name is an error that lists those there are; so is a
  /// kind of which none is usable here.
  llvm::Expected<std::vector<const Target *>>
  parse(llvm::StringRef spec, const CompileOptions &options = {}) const;

private:
  std::string list() const;
  std::vector<std::unique_ptr<Target>> targets;
};

} // namespace bitpact::codegen

#endif
