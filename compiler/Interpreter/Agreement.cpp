// Agreement.cpp - whether a kernel's terms are the contract's, and no more
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/Interpreter/Agreement.h"

#include "compiler/Interpreter/CasePool.h"
#include "compiler/Interpreter/Steps.h"

using namespace mlir;
using namespace bitpact;
using namespace bitpact::interpreter;

/// Terms that a pool keeps, of about 50 bytes.
static constexpr int64_t kMostTerms = int64_t(1) << 22;

std::unique_ptr<TreeCase> CasePool::take(pact::ContractOp contract,
                                         pact::OperatorOp op,
                                         const Launch &launch) {
  {
    std::lock_guard<std::mutex> guard(lock);
    auto found = llvm::find_if(
        cases, [&](const auto &each) { return each.first == launch; });
    if (current == contract && found != cases.end()) {
      std::unique_ptr<TreeCase> one = std::move(found->second);
      cases.erase(found);
      terms -= one->terms.size();
      return one;
    }
  }
  return std::make_unique<TreeCase>(contract, op, launch,
                                    WholePrimitives(contract));
}

void CasePool::giveBack(pact::ContractOp contract, const Launch &launch,
                        std::unique_ptr<TreeCase> one) {
  std::lock_guard<std::mutex> guard(lock);
  if (current != contract) {
    cases.clear();
    terms = 0;
    current = contract;
  }
  if (terms + one->terms.size() > kMostTerms)
    return;
  terms += one->terms.size();
  cases.emplace_back(launch, std::move(one));
}

bool interpreter::treesAgree(pact::ContractOp contract, pact::OperatorOp op,
                             ArrayRef<kernel::FuncOp> steps, Launch &launch,
                             CasePool *pool) {
  const Launch key = launch;
  std::unique_ptr<TreeCase> on =
      pool ? pool->take(contract, op, key)
           : std::make_unique<TreeCase>(contract, op, key,
                                        WholePrimitives(contract));
  std::map<std::string, Buffer> tensors = on->tensors(steps);
  auto isSame = [&](pact::OutputOp, int64_t, int64_t, TermId expected,
                    TermId actual) {
    return success(expected == actual ||
                   (on->hasOpenOrder() && on->terms.withSets(expected) ==
                                              on->terms.withSets(actual)));
  };
  bool result = succeeded(runSteps(
                    steps, on->terms, tensors, on->dims(), nullptr, on->whole,
                    launch.leftOut.length ? &launch.leftOut : nullptr,
                    /*isSilent=*/true)) &&
                succeeded(on->forEachElement(tensors, isSame));
  if (pool)
    pool->giveBack(contract, key, std::move(on));
  return result;
}
