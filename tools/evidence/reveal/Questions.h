// Questions.h - queries in batches, counted; and what has no answer
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef BITPACT_EVIDENCE_REVEAL_QUESTIONS_H
#define BITPACT_EVIDENCE_REVEAL_QUESTIONS_H

#include "tools/evidence/Progress.h"
#include "tools/evidence/reveal/BlackBox.h"

#include <stdexcept>

namespace bitpact::reveal {

/// Results do not tell it. The text says why, and is shown to the user.
class Undetermined : public std::runtime_error {
public:
  using std::runtime_error::runtime_error;
};

/// A kernel that does not take the extents that were asked for.
class NotTaken : public Undetermined {
public:
  using Undetermined::Undetermined;
};

/// A box that is asked slice by slice. Some queries are asked again at the end:
/// a box that answers otherwise is not deterministic.
class Questions {
public:
  Questions(BlackBox &blackBox, evidence::Progress progress)
      : box(blackBox), report(std::move(progress)) {}

  const Signature &signature() const { return box.signature(); }
  int64_t n() const { return box.signature().n; }

  std::vector<double> ask(const std::vector<Query> &queries);
  double ask(const Query &query) { return ask(std::vector{query}).front(); }

  /// Rows so far.
  int64_t rows() const { return rowCount; }
  int64_t batches() const { return batchCount; }
  void say(const std::string &what) { phase = what; }

  /// Asks what was kept once more, and throws Undetermined if an answer is not
  /// the bits that it was.
  void askAgain();

private:
  BlackBox &box;
  evidence::Progress report;
  std::string phase = "questions";
  int64_t rowCount = 0, batchCount = 0;
  std::vector<std::pair<Query, double>> kept;
};

} // namespace bitpact::reveal

#endif // BITPACT_EVIDENCE_REVEAL_QUESTIONS_H
