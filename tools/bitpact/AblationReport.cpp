// AblationReport.cpp - the steps of an ablation for people, as JSON and files
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/bitpact/AblationReport.h"

#include "contracts/diff/ContractFile.h"
#include "tools/bitpact/Compiler.h"
#include "tools/bitpact/Terminal.h"
#include "tools/evidence/OutputFiles.h"
#include "tools/evidence/UserError.h"

#include <filesystem>
#include <fmt/format.h>
#include <fmt/ranges.h>

using bitpact::evidence::UserError;
using nlohmann::json;

namespace bitpact::tool {
namespace {

std::string fieldsOf(const diff::AblationStep &step) {
  std::vector<std::string> names;
  for (const diff::Change &change : step.changes)
    if (std::string name(diff::name(change.field));
        std::find(names.begin(), names.end(), name) == names.end())
      names.push_back(name);
  return fmt::format("{}", fmt::join(names, " "));
}

std::string shareText(const diff::AblationResult &result) {
  if (!result.differing())
    return "0";
  return fmt::format("{:.4g} %",
                     100. * double(result.differing()) /
                         double(std::max<int64_t>(1, result.elements())));
}

std::string histogramText(const diff::UlpHistogram &histogram) {
  std::vector<std::string> parts;
  auto add = [&](const std::string &label, int64_t count) {
    if (count)
      parts.push_back(fmt::format("{}: {}", label, count));
  };
  add("0", histogram.equal);
  add("sign of 0", histogram.zeroSign);
  add("<1", histogram.below);
  for (size_t i = 0; i < histogram.ulps.size(); ++i)
    add(diff::UlpHistogram::label(i), histogram.ulps[i]);
  add("Inf/NaN", histogram.classChanges);
  return fmt::format("{}", fmt::join(parts, "  "));
}

void addRow(Table &table, const std::string &name, const std::string &fields,
            const diff::AblationResult &result) {
  std::string first = "-";
  if (result.first)
    first = fmt::format("{}[{}]", result.first->name,
                        fmt::join(result.first->element.coordinate, ", "));
  diff::UlpHistogram histogram = result.histogram();
  table.add({name, fields, first, shareText(result),
             std::to_string(histogram.largest), histogramText(histogram)});
}

json histogramJson(const diff::UlpHistogram &histogram) {
  json ulps = json::object();
  for (size_t i = 0; i < histogram.ulps.size(); ++i)
    if (histogram.ulps[i])
      ulps[diff::UlpHistogram::label(i)] = histogram.ulps[i];
  return {{"equal", histogram.equal},
          {"zero_sign", histogram.zeroSign},
          {"below_one", histogram.below},
          {"ulps", std::move(ulps)},
          {"class_changes", histogram.classChanges},
          {"largest", histogram.largest}};
}

json resultJson(const diff::AblationResult &result) {
  json outputs = json::object();
  for (const auto &[name, comparison] : result.outputs)
    outputs[name] = {{"elements", comparison.elements},
                     {"differing", comparison.differing},
                     {"histogram", histogramJson(comparison.histogram)}};
  json one{{"outputs", std::move(outputs)},
           {"elements", result.elements()},
           {"differing", result.differing()},
           {"equals_b", result.reachesGoal}};
  if (result.first)
    one["first"] = {{"name", result.first->name},
                    {"coordinate", result.first->element.coordinate},
                    {"a", diff::bitsText(result.first->element.a)},
                    {"step", diff::bitsText(result.first->element.b)}};
  return one;
}

json stepJson(const diff::AblationStep &step) {
  json changes = json::array();
  for (const diff::Change &change : step.changes)
    changes.push_back({{"field", diff::name(change.field)},
                       {"node", change.node},
                       {"path", change.path},
                       {"before", change.before},
                       {"after", change.after}});
  json one{{"name", step.name},
           {"digest", step.digest},
           {"changes", std::move(changes)}};
  if (!step.reason.empty())
    one["together_since"] = step.reason;
  return one;
}

/// A file's name from a step's: no more than paths have.
std::string fileName(size_t number, const std::string &step) {
  std::string name = fmt::format("{:02}-", number);
  for (char c : step)
    name += c == ' ' || c == '/' ? '_' : c;
  if (name.size() > 120)
    name.resize(120);
  return name + ".json";
}

void readBack(const std::vector<std::string> &files,
              const std::vector<const std::string *> &digests) {
  std::optional<Compiler> compiler;
  try {
    compiler.emplace();
  } catch (const UserError &) {
    return; // no compiler here: whoever compiles the files checks them
  }
  json answer = compiler->run({{"command", "expand"}, {"contracts", files}},
                              [](const std::string &, int64_t, int64_t) {});
  for (size_t i = 0; i < files.size(); ++i) {
    auto found = answer.at("contracts").at(i).at("digest").get<std::string>();
    if (found != *digests[i])
      throw UserError(
          files[i],
          fmt::format("reads back as {}, the step is {}: the library here has "
                      "other definitions under the names that the contracts "
                      "use",
                      shortDigest(found), shortDigest(*digests[i])));
  }
}

} // namespace

void printReport(const AblationReport &report) {
  fmt::print("A  {} ({}) {}\nB  {} ({}) {}\n\n", report.a.name,
             operatorOf(report.a), shortDigest(report.a.digest), report.b.name,
             operatorOf(report.b), shortDigest(report.b.digest));
  if (!report.whole) {
    fmt::print("{}{}\n", report.delta.verdict(),
               report.delta.comparable ? ": there is no step"
                                       : ": " + report.delta.reason);
    return;
  }
  fmt::print("data: {}\n\n", report.data);
  Table table({"step from A", "field", "first apart at", "elements differing",
               "max ulp", "elements by ulps"});
  size_t row = 0;
  for (const auto *steps : {&report.singles, &report.combined})
    for (const diff::AblationStep &step : *steps)
      addRow(table, step.name, fieldsOf(step), report.results[row++]);
  addRow(table, "all: B", "", *report.whole);
  table.print();
  fmt::print("\n");
  for (const diff::AblationStep &step : report.singles)
    if (step.changes.size() > 1)
      fmt::print("{}: together, since one alone is no contract: {}\n",
                 step.name, step.reason);
  std::vector<std::string> alone;
  for (size_t i = 0; i < report.singles.size(); ++i)
    if (report.results[i].reachesGoal)
      alone.push_back(report.singles[i].name);
  if (!report.whole->differing())
    fmt::print("A and B give the same bytes on this input\n");
  else if (alone.empty())
    fmt::print("no single step gives the bytes of B\n");
  else
    fmt::print("alone gives the bytes of B: {}\n", fmt::join(alone, ", "));
  for (const std::string &file : report.files)
    fmt::print("wrote {}\n", file);
}

json toJson(const AblationReport &report) {
  json result{{"verdict", report.delta.verdict()},
              {"a", {{"name", report.a.name}, {"digest", report.a.digest}}},
              {"b", {{"name", report.b.name}, {"digest", report.b.digest}}}};
  if (!report.delta.comparable)
    result["reason"] = report.delta.reason;
  if (!report.whole)
    return result;
  result["data"] = report.data;
  result["seed"] = report.seed;
  json steps = json::array();
  size_t row = 0;
  for (const auto *list : {&report.singles, &report.combined})
    for (const diff::AblationStep &step : *list) {
      json one = stepJson(step);
      one["single"] = list == &report.singles;
      one.update(resultJson(report.results[row]));
      if (row < report.files.size())
        one["file"] = report.files[row];
      ++row;
      steps.push_back(std::move(one));
    }
  result["steps"] = std::move(steps);
  result["all"] = resultJson(*report.whole);
  return result;
}

std::vector<std::string> writeSteps(const AblationReport &report,
                                    const std::string &directory) {
  std::error_code error;
  std::filesystem::create_directories(directory, error);
  if (error)
    throw UserError(directory, fmt::format("cannot make the directory: {}",
                                           error.message()));
  evidence::OutputFiles out;
  json baseline = diff::contractFile(report.a.canonical);
  std::vector<std::string> files{directory + "/baseline.json"};
  std::vector<const std::string *> digests{&report.a.digest};
  out.write(files.front(), baseline.dump(2) + "\n");
  for (const auto *list : {&report.singles, &report.combined})
    for (const diff::AblationStep &step : *list) {
      json named = diff::contractFile(step.canonical);
      json patch = diff::mergePatch(baseline, named);
      patch["bitpact"] = 1;
      patch["extends"] = "baseline.json";
      patch["name"] = report.a.name + "/" + step.name;
      patch["doc"] = fmt::format("{} with {} of {}", report.a.name, step.name,
                                 report.b.name);
      files.push_back(directory + "/" + fileName(files.size(), step.name));
      digests.push_back(&step.digest);
      out.write(files.back(), patch.dump(2) + "\n");
    }
  out.commit();
  readBack(files, digests);
  files.erase(files.begin());
  return files;
}

} // namespace bitpact::tool
