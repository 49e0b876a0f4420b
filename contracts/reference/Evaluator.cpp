// Evaluator.cpp - the oracle: what a contract's output bytes are
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "contracts/reference/Evaluator.h"

#include "contracts/reference/Execution.h"

namespace bitpact::reference {

Evaluator::Evaluator(const nlohmann::json &canonical)
    : program(
          std::make_unique<const OperatorProgram>(compileOperator(canonical))) {
}
Evaluator::~Evaluator() = default;
Evaluator::Evaluator(Evaluator &&) noexcept = default;
Evaluator &Evaluator::operator=(Evaluator &&) noexcept = default;

static Evaluator::Tensors evaluate(const OperatorProgram &program,
                                   const Evaluator::Tensors &inputs,
                                   bool allNamed, unsigned threads) {
  Execution execution(program, inputs, allNamed);
  execution.runRows(threads);
  return execution.takeResults();
}

Evaluator::Tensors Evaluator::run(const Tensors &inputs,
                                  unsigned threads) const {
  return evaluate(*program, inputs, /*allNamed=*/false, threads);
}

Evaluator::Tensors Evaluator::runNamed(const Tensors &inputs,
                                       unsigned threads) const {
  return evaluate(*program, inputs, /*allNamed=*/true, threads);
}

std::vector<std::string> Evaluator::rowDims() const {
  std::vector<std::string> names;
  for (const DimFacts &dim : program->dims)
    if (dim.isRow)
      names.push_back(dim.name);
  return names;
}

Evaluator::Tensors Evaluator::runAt(const Tensors &inputs,
                                    const std::vector<Place> &places,
                                    unsigned threads) const {
  Execution execution(*program, inputs, /*allNamed=*/false);
  std::vector<int64_t> rows;
  for (const Place &place : places)
    rows.push_back(execution.rowAt(place));
  execution.runRows(threads, rows);
  return execution.takeResults();
}

} // namespace bitpact::reference
