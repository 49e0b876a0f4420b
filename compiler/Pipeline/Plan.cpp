// Plan.cpp - which targets and schedules a compilation has
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/Pipeline/Compilation.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace bitpact;
using namespace bitpact::pipeline;

std::string pipeline::rangesText(const schedule::Proposal &proposal) {
  constexpr int64_t any = std::numeric_limits<int64_t>::max();
  std::string text;
  for (const auto &[dim, range] : proposal.dims) {
    if (range.first > 1)
      text += " from " + std::to_string(range.first);
    if (range.second != any)
      text += " up to " + std::to_string(range.second);
    text += " " + dim;
  }
  return text;
}

/// A target that was asked for by its name must have the contract's atoms, and
/// `propose` says what it lacks. Of a kind, as `cuda`, and where nothing was
/// asked for, those are taken that have them; in the latter case every target
/// there is if no CPU has. What is left out is said by name.
FailureOr<std::vector<const codegen::Target *>>
Compilation::targetsOf(size_t i) {
  pact::ContractOp contract = contractOf(i);
  SmallVector<StringRef> sites, atoms;
  for (NamedAttribute bound : contract.getPrimitives()) {
    auto name = cast<FlatSymbolRefAttr>(bound.getValue());
    if (!SymbolTable::lookupNearestSymbolFrom<pact::AtomOp>(contract, name))
      continue;
    sites.push_back(bound.getName().getValue());
    atoms.push_back(name.getValue());
  }
  std::vector<const codegen::Target *> has;
  std::vector<std::string> lacks, without;
  auto add = [&](const codegen::Target *target) {
    bool isNamed = llvm::is_contained(request.targets, target->spec());
    for (StringRef atom : atoms)
      if (!isNamed && !target->hasAtom(atom)) {
        lacks.push_back(target->missingAtomMessage(atom));
        without.push_back(target->spec());
        return;
      }
    has.push_back(target);
  };
  for (const codegen::Target *target : targets)
    add(target);
  if (has.empty() && request.targets.empty())
    for (const codegen::Target *target : codegen::builtinTargets().all())
      if (!llvm::is_contained(targets, target))
        add(target);
  if (has.empty()) {
    InFlightDiagnostic error =
        contract.emitError()
        << "contract '" << contract.getContractName() << "': primitive '"
        << sites.front() << "': no target"
        << (request.targets.empty() ? "" : " asked for") << " has the atom '"
        << atoms.front() << "' [A4]";
    for (const std::string &text : lacks)
      error.attachNote() << text;
    return failure();
  }
  if (!without.empty()) {
    std::vector<std::string> names;
    for (const codegen::Target *target : has)
      names.push_back(target->spec());
    contract.emitRemark() << "contract '" << contract.getContractName()
                          << "': compiled for " << llvm::join(names, ", ")
                          << "; left out, without its atom '" << atoms.front()
                          << "': " << llvm::join(without, ", ");
  }
  return has;
}

LogicalResult Compilation::plan() {
  static const std::vector<std::string> here = {"cpu"};
  for (const std::string &spec :
       request.targets.empty() ? here : request.targets) {
    auto named = codegen::builtinTargets().parse(spec);
    if (!named)
      return emitError(UnknownLoc::get(context))
             << llvm::toString(named.takeError());
    for (const codegen::Target *target : *named)
      if (!llvm::is_contained(targets, target))
        targets.push_back(target);
  }
  for (size_t i = 0; i < contracts.size(); ++i) {
    FailureOr<std::vector<const codegen::Target *>> own = targetsOf(i);
    if (failed(own))
      return failure();
    for (const codegen::Target *target : *own) {
      auto proposals = schedule::propose(contractOf(i), operatorOf(i), *target,
                                         request.roles);
      if (failed(proposals))
        return failure();
      for (auto [n, proposal] : llvm::enumerate(*proposals))
        jobs.push_back({i,
                        target,
                        proposal,
                        "bitpact_" + operatorOf(i).getSymName().str() + "_" +
                            contracts[i].digest.substr(0, 12) + "_" +
                            std::to_string(n),
                        {},
                        {},
                        {},
                        false,
                        {},
                        false,
                        {},
                        {},
                        false});
    }
  }
  return success();
}
