// CasePool.h - launches on symbols that several schedules are proved on
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef BITPACT_COMPILER_INTERPRETER_CASEPOOL_H
#define BITPACT_COMPILER_INTERPRETER_CASEPOOL_H

#include "compiler/Interpreter/TreeCase.h"

#include <mutex>

namespace bitpact::interpreter {

/// Cases of the contract that is proved at the time. Its schedules declare the
/// same terms: they are made once for as many threads as ask at a time. Whoever
/// takes a case has it alone until it comes back.
class CasePool {
public:
  std::unique_ptr<TreeCase> take(pact::ContractOp contract, pact::OperatorOp op,
                                 const Launch &launch);
  void giveBack(pact::ContractOp contract, const Launch &launch,
                std::unique_ptr<TreeCase> one);

private:
  std::mutex lock;
  pact::ContractOp current;
  std::vector<std::pair<Launch, std::unique_ptr<TreeCase>>> cases;
  int64_t terms = 0; ///< of all cases in here
};

} // namespace bitpact::interpreter

#endif
