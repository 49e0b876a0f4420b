// WitnessSurvey.cpp - searches witnesses of many pairs of contracts
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// WitnessSurvey FILE [ROUNDS [SEED]] reads pairs, one JSON object with "name",
// "change", "a" and "b" a line, and prints what became of each, one a line.
#include "contracts/algebra/RuleError.h"
#include "contracts/diff/Delta.h"
#include "contracts/diff/Witness.h"

#include <cstdlib>
#include <ctime>
#include <fstream>
#include <iostream>

using namespace bitpact;
using nlohmann::json;

namespace {

json survey(const json &pair, const diff::WitnessOptions &options) {
  json line{{"name", pair.at("name")}, {"change", pair.at("change")}};
  try {
    reference::Evaluator a(pair.at("a")), b(pair.at("b"));
  } catch (const algebra::RuleError &error) {
    line["verdict"] = "invalid";
    line["why"] = error.what();
    return line;
  }
  diff::Delta delta = diff::compare(pair.at("a"), pair.at("b"));
  line["verdict"] = delta.verdict();
  if (!delta.comparable || delta.verdict() == "equal")
    return line;
  std::clock_t begin = std::clock();
  diff::WitnessSearch search =
      diff::findWitness(pair.at("a"), pair.at("b"), options);
  line["seconds"] = double(std::clock() - begin) / CLOCKS_PER_SEC;
  line["tried"] = search.total();
  line["found"] = search.found.has_value();
  if (search.found) {
    line["by"] = search.found->kind;
    line["first"] = search.found->first.name;
  }
  return line;
}

} // namespace

int main(int argc, char **argv) {
  if (argc < 2) {
    std::cerr << "usage: WitnessSurvey FILE [ROUNDS [SEED]]\n";
    return 2;
  }
  diff::WitnessOptions options;
  options.shrunk = false;
  if (argc > 2)
    options.rounds = std::atoll(argv[2]);
  if (argc > 3)
    options.seed = std::strtoull(argv[3], nullptr, 10);
  std::ifstream file(argv[1]);
  for (std::string text; std::getline(file, text);)
    std::cout << survey(json::parse(text), options).dump() << std::endl;
  return file.eof() ? 0 : 2;
}
