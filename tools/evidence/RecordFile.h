// RecordFile.h - record files by name, with their mistakes as user errors
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef BITPACT_EVIDENCE_RECORDFILE_H
#define BITPACT_EVIDENCE_RECORDFILE_H

#include "contracts/diff/Gate.h"

namespace bitpact::evidence {

/// Throws UserError with file:line:col.
diff::ReadReport readRecordFile(const std::string &file,
                                const diff::RecordSink &sink);

/// What the gate keeps of a file.
diff::RunSummary readRunSummary(const std::string &file);

} // namespace bitpact::evidence

#endif // BITPACT_EVIDENCE_RECORDFILE_H
