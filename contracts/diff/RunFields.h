// RunFields.h - the fields of a run and of a sequence: what the gate compares
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef BITPACT_DIFF_RUNFIELDS_H
#define BITPACT_DIFF_RUNFIELDS_H

#include "contracts/diff/RecordLine.h"
#include "contracts/diff/RunRecords.h"

namespace bitpact::diff {

constexpr int digestDigits = 64;

RunRecord runRecord(const Fields &fields);
SequenceRecord sequenceRecord(const Fields &fields);

} // namespace bitpact::diff

#endif // BITPACT_DIFF_RUNFIELDS_H
