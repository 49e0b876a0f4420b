// Writer.h - write a package in one step, or leave nothing behind.
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef BITPACT_RUNTIME_PACKAGE_WRITER_H
#define BITPACT_RUNTIME_PACKAGE_WRITER_H

#include "runtime/package/Format.h"

namespace bitpact::package {

// Relative path -> bytes. manifest.json is not among them.
using Files = std::map<std::string, std::string>;

// Fills hash and size of every file entry from `files`, seals the manifest,
// writes all of it to a temporary sibling of `dir` and renames that to `dir`.
// An existing package at `dir` is replaced; anything else there is left alone
// and refused. Throws FormatError for a manifest that a reader would refuse,
// FileError for a directory that cannot be written; then nothing is left
// behind and what was at `dir` is still there.
void writePackage(const std::string &dir, Manifest manifest,
                  const Files &files);

} // namespace bitpact::package

#endif // BITPACT_RUNTIME_PACKAGE_WRITER_H
