// Layout.h - the canonical layout of a contract file
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef BITPACT_COMPILER_READER_LAYOUT_H
#define BITPACT_COMPILER_READER_LAYOUT_H

#include "compiler/Reader/Document.h"

namespace bitpact::reader {

/// The same keys, values and comments with two spaces of indentation, the keys
/// of a contract and of a node in the order of the specification, and every
/// list or object on one line where it fits in 80 columns. Laying out the
/// result again gives the same text.
std::string layoutDocument(const Document &document);

} // namespace bitpact::reader

#endif // BITPACT_COMPILER_READER_LAYOUT_H
