// Reader.h - open a package and believe nothing that is not verified.
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef BITPACT_RUNTIME_PACKAGE_READER_H
#define BITPACT_RUNTIME_PACKAGE_READER_H

#include "runtime/package/Format.h"

namespace bitpact::package {

struct Package {
  std::string path;
  Manifest manifest;
  std::vector<std::string> contractTexts; // beside manifest.contracts
};

// Reads the manifest and every file that it names, and checks all of them:
// canonical bytes, self-hash, sizes, SHA-256, one field against another, and
// that nothing else lies in the directory. Throws FormatError or FileError.
Package openPackage(const std::string &dir);

// Only the manifest, from its bytes; `where` names it in messages.
Manifest parseManifest(std::string_view bytes, const std::string &where);

// The bytes of one file of the package, read and verified anew: what the
// caller gets is what was hashed.
std::string readVerified(const std::string &dir, const FileEntry &);

} // namespace bitpact::package

#endif // BITPACT_RUNTIME_PACKAGE_READER_H
