// Drawing.h - a revealed tree as text and as an image
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef BITPACT_EVIDENCE_REVEAL_DRAWING_H
#define BITPACT_EVIDENCE_REVEAL_DRAWING_H

#include "tools/evidence/reveal/RevealedTree.h"

namespace bitpact::reveal {

/// A line a meeting of partials, chains in one line; of large trees only the
/// first part of every meeting in full, since the others mostly look like it.
std::string draw(const RevealedTree &tree, int64_t mostLines = 40);

/// A static SVG file: leaves at the bottom, the result on top. Subtrees are
/// drawn as one box where there is no room for them.
std::string svg(const RevealedTree &tree, const std::string &title);

} // namespace bitpact::reveal

#endif // BITPACT_EVIDENCE_REVEAL_DRAWING_H
