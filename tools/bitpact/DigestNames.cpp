// DigestNames.cpp - what the digests of records stand for
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/bitpact/DigestNames.h"

#include "tools/bitpact/Terminal.h"
#include "tools/evidence/Runtime.h"

#include <filesystem>

namespace bitpact::tool {

DigestNames::DigestNames(const std::vector<std::string> &sources) {
  for (const std::string &path : sources) {
    for (SourcedContract &one : readContracts(path)) {
      names[one.digest] = one.name;
      contracts.emplace(one.digest, std::move(one));
    }
    std::error_code error;
    if (std::filesystem::is_directory(path, error)) {
      evidence::Package package(path);
      // Variants may share one code object.
      std::map<std::string, std::string> code;
      for (const evidence::VariantSpec &one : package.variants())
        if (std::string &name = code[one.codeSha256]; name.empty())
          name = one.id;
        else
          name += "/" + one.id;
      names.merge(code);
    }
  }
}

void DigestNames::add(const diff::RunSummary &run) {
  for (const auto &[digest, name] : run.names)
    if (!name.empty())
      names.try_emplace(digest, name);
}

const SourcedContract *DigestNames::contract(const std::string &digest) const {
  auto found = contracts.find(digest);
  return found == contracts.end() ? nullptr : &found->second;
}

std::string DigestNames::text(const std::string &digest) const {
  if (digest.empty())
    return "none";
  auto found = names.find(digest);
  return (found == names.end() ? "" : found->second + " ") +
         shortDigest(digest);
}

std::string DigestNames::text(const std::set<std::string> &digests) const {
  std::string all;
  for (const std::string &digest : digests)
    all += (all.empty() ? "" : ", ") + text(digest);
  return all;
}

} // namespace bitpact::tool
