// Progress.h - how far long work has come
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef BITPACT_EVIDENCE_PROGRESS_H
#define BITPACT_EVIDENCE_PROGRESS_H

#include <functional>
#include <string>

namespace bitpact::evidence {

using Progress =
    std::function<void(const std::string &what, int64_t done, int64_t total)>;

} // namespace bitpact::evidence

#endif // BITPACT_EVIDENCE_PROGRESS_H
