// ContractTables.h - what a contract says about dims, tensors, nodes and sites
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef BITPACT_REFERENCE_CONTRACTTABLES_H
#define BITPACT_REFERENCE_CONTRACTTABLES_H

#include "contracts/reference/OperatorProgram.h"

#include <map>
#include <set>
#include <string>
#include <utility>

namespace bitpact::reference {

/// The format of a text; throws RuleError P1.
Format formatAt(const nlohmann::json &text, const std::string &where,
                bool integers);

/// Reads the tables of canonical JSON into a program, and looks names up in
/// them. Every function throws RuleError for a name there is not.
class ContractTables {
public:
  ContractTables(const nlohmann::json &contract, OperatorProgram &program);

  int dim(const std::string &name) const;
  /// A tensor the body may load; it has a float format.
  int inputTensor(const std::string &name) const;
  /// A tensor that takes read at.
  int indexTensor(const std::string &name) const;
  /// A tensor of offsets, between which segments are.
  int boundsTensor(const std::string &name) const;
  const TensorFacts &outputTensor(const std::string &name) const;
  /// Format and value of a parameter.
  std::pair<Format, double> param(const std::string &name) const;
  /// The node of a reduction, which must fit what the operator says.
  int node(const std::string &name, const std::string &kind,
           const std::string &over);
  /// The primitive at a site.
  int primitiveAt(const std::string &site, PrimitiveKind kind);

  bool isExact(const std::string &site);
  Format siteFormat(const std::string &site);

  /// Throws unless every rounding site, primitive site and node was looked up.
  void checkAllUsed() const;

private:
  void readDims();
  void readTensors();
  Format tensorFormat(const std::string &name) const;
  int offsetsTensor(const std::string &name, const std::string &where);
  const nlohmann::json &rounding(const std::string &site);
  void readDomain(const nlohmann::json &domain, const std::string &over,
                  const std::string &where, NodeFacts &facts) const;
  void readReduction(const nlohmann::json &node, const std::string &where,
                     NodeFacts &facts) const;
  void readStep(const nlohmann::json &node, const std::string &where,
                NodeFacts &facts);
  void readState(const std::string &where, NodeFacts &facts);

  const nlohmann::json &contract;
  OperatorProgram &program;
  std::map<std::string, int> primitiveNumbers;
  std::set<std::string> usedSites, usedPrimitiveSites, usedNodes;
};

} // namespace bitpact::reference

#endif // BITPACT_REFERENCE_CONTRACTTABLES_H
