// Worker.h - the child process in which a foreign symbol is called
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef BITPACT_EVIDENCE_FOREIGN_WORKER_H
#define BITPACT_EVIDENCE_FOREIGN_WORKER_H

#include <cstdint>

namespace bitpact::evidence::foreign {

/// The first argument with which the tool starts itself as a worker; the second
/// is the descriptor of the memory that both share.
inline constexpr const char *WorkerArgument = "--call-foreign-symbol";

/// Was the process started as a worker?
bool isWorker(int argc, char **argv);

/// Serves one parent on standard input and output until its input ends.
///
/// Each request is a line of JSON and so is each answer. {"library", "symbol",
/// "operands", "arguments", "result"} loads a symbol for one shape; {"runs": N}
/// calls it N times, on operands that lie in the shared memory and whose
/// outputs are put there.
int runWorker(int argc, char **argv);

/// The shared memory: `started` counts the calls that were begun, so that the
/// parent knows which one ended the child. The operands of a run follow.
struct SharedHeader {
  uint64_t started;
};
inline constexpr int64_t SharedAlignment = 64;
inline int64_t aligned(int64_t bytes) {
  return (bytes + SharedAlignment - 1) / SharedAlignment * SharedAlignment;
}

} // namespace bitpact::evidence::foreign

#endif // BITPACT_EVIDENCE_FOREIGN_WORKER_H
