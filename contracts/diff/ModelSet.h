// ModelSet.h - the contracts of a model and how they hang together (M1-M7)
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef BITPACT_DIFF_MODELSET_H
#define BITPACT_DIFF_MODELSET_H

#include <nlohmann/json.hpp>

#include <map>
#include <string>
#include <vector>

namespace bitpact::diff {

/// A tensor of the contract at a site, written attn_norm.y.
struct Port {
  std::string site, tensor;
  std::string text() const { return site + "." + tensor; }
  auto operator<=>(const Port &) const = default;
};

struct Connection {
  std::string name;
  Port from;
  std::vector<Port> to;
  /// It leads to the next layer, and so may close a circle.
  bool next = false;
};

struct ModelSite {
  std::string name;
  /// As written, relative to the set.
  std::string file;
};

class ModelSet {
public:
  /// Throws RuleError M1-M7 whose place is path:line:column.
  static ModelSet parse(const std::string &text, const std::string &path);
  /// Is this text meant as a model set?
  static bool looksLike(const nlohmann::json &value);

  std::string path, name;
  std::vector<ModelSite> sites;
  std::vector<Connection> tensors;
  /// By site: dims that ranks may share.
  std::map<std::string, std::vector<std::string>> cut;

  /// Rules that need the contracts, in canonical form by site. Throws.
  void check(const std::map<std::string, nlohmann::json> &contracts) const;
  /// path:line:column of the n-th time that a string stands in the text.
  std::string placeOf(const std::string &quoted, int n = 1) const;

private:
  std::string text;
  void readSites(const nlohmann::json &value);
  void readTensors(const nlohmann::json &value);
  void readCut(const nlohmann::json &value);
  Port portAt(const nlohmann::json &value, const std::string &key) const;
  void checkCircles() const;
};

} // namespace bitpact::diff

#endif // BITPACT_DIFF_MODELSET_H
