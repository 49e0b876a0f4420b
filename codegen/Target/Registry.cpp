// Registry.cpp - looks targets up by the names users type
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/Target/Registry.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace bitpact::codegen {

void TargetRegistry::add(std::unique_ptr<Target> target) {
  targets.push_back(std::move(target));
}

std::vector<const Target *> TargetRegistry::all() const {
  std::vector<const Target *> result;
  for (const auto &target : targets)
    result.push_back(target.get());
  return result;
}

const Target *TargetRegistry::find(StringRef spec) const {
  for (const auto &target : targets)
    if (target->spec() == spec)
      return target.get();
  return nullptr;
}

std::string TargetRegistry::list() const {
  std::vector<std::string> specs;
  for (const auto &target : targets) {
    std::string kind = nameOf(target->kind()).str();
    if (!is_contained(specs, kind))
      specs.push_back(kind);
    specs.push_back(target->spec());
  }
  return join(specs, ", ");
}

Expected<std::vector<const Target *>>
TargetRegistry::parse(StringRef spec, const CompileOptions &options) const {
  if (const Target *target = find(spec))
    return std::vector<const Target *>{target};
  std::vector<const Target *> usable;
  bool known = false;
  for (const auto &target : targets) {
    if (nameOf(target->kind()) != spec)
      continue;
    known = true;
    if (target->isUsable(options))
      usable.push_back(target.get());
  }
  if (!known)
    return createStringError("unknown target '" + spec.str() + "'; there are " +
                             list());
  if (usable.empty())
    return createStringError(
        "no '" + spec.str() +
        "' target can be compiled for here: " + "its tools are not installed");
  return usable;
}

} // namespace bitpact::codegen
