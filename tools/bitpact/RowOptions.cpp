// RowOptions.cpp - row records of a launch's outputs: bitpact run --rows
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/bitpact/RowOptions.h"

#include "contracts/algebra/CanonicalJson.h"
#include "contracts/diff/RunRecords.h"
#include "tools/evidence/TensorFile.h"
#include "tools/evidence/UserError.h"

#include <filesystem>
#include <fmt/format.h>
#include <numeric>

using namespace bitpact::evidence;
using nlohmann::json;
namespace fs = std::filesystem;

namespace bitpact::tool {
namespace {

std::string_view bytesOf(const reference::Tensor &tensor) {
  return {reinterpret_cast<const char *>(tensor.bytes.data()),
          tensor.bytes.size()};
}

} // namespace

void RowOptions::addTo(CLI::App *to) {
  command = to;
  to->add_flag("--rows", rows,
               "With --record: a record for every row of the outputs as well");
  to->add_option("--sequence-lengths", lengths,
                 "The rows are sequences 0, 1, … of these lengths, from "
                 "position 0; else one sequence")
      ->delimiter(',');
  to->add_option("--positions", positions,
                 "A JSON file with [SEQUENCE, POSITION] for every row");
  to->add_option("--layer", layer, "The layer of the rows")
      ->check(CLI::Range(int64_t(-1), int64_t(INT32_MAX)))
      ->capture_default_str();
  to->add_option("--site", site, "What the rows are called; else the operator");
  to->add_option("--keep", directory,
                 "Keep the outputs in this directory, for ulps");
}

void RowOptions::check(const std::string &recordFile) const {
  for (const char *option :
       {"--sequence-lengths", "--positions", "--layer", "--site", "--keep"})
    if (!rows && command->count(option))
      throw UserError(fmt::format("{} is for row records: add --rows", option));
  if (rows && recordFile.empty())
    throw UserError("--rows adds to a record file: add --record FILE");
  if (!lengths.empty() && !positions.empty())
    throw UserError("--sequence-lengths and --positions both name the rows; "
                    "one is allowed");
  for (int64_t length : lengths)
    if (length < 1)
      throw UserError(
          fmt::format("--sequence-lengths has {}, must be 1 or more", length));
}

std::vector<RowOptions::Key>
RowOptions::keysOf(int64_t rowCount, const std::string &output) const {
  std::vector<Key> keys;
  if (!positions.empty()) {
    json list = json::parse(openRegular(positions).first, nullptr, false);
    if (!list.is_array())
      throw UserError(positions, "is no JSON list of [SEQUENCE, POSITION]");
    for (const json &one : list) {
      bool fits = one.is_array() && one.size() == 2 && one[0] != "" &&
                  (one[0].is_string() || one[0].is_number_unsigned()) &&
                  one[1].is_number_unsigned() &&
                  one[1].get<uint64_t>() <= uint64_t(INT64_MAX);
      if (!fits)
        throw UserError(positions, fmt::format("entry {} is {}, must be "
                                               "[SEQUENCE, POSITION]",
                                               keys.size(), one.dump()));
      keys.emplace_back(one[0].is_string() ? one[0].get<std::string>()
                                           : one[0].dump(),
                        one[1].get<int64_t>());
    }
    if (int64_t(keys.size()) != rowCount)
      throw UserError(positions, fmt::format("names {} rows, output '{}' has "
                                             "{}",
                                             keys.size(), output, rowCount));
    return keys;
  }
  std::vector<int64_t> each =
      lengths.empty() ? std::vector<int64_t>{rowCount} : lengths;
  int64_t left = rowCount;
  for (int64_t length : each)
    left = length > left ? -1 : left - length;
  if (left != 0)
    throw UserError(fmt::format(
        "--sequence-lengths do not add up to the {} rows of output '{}'",
        rowCount, output));
  for (size_t s = 0; s < each.size(); ++s)
    for (int64_t position = 0; position < each[s]; ++position)
      keys.emplace_back(std::to_string(s), position);
  return keys;
}

/// The name holds a hash of the bytes: a chain of runs keeps each its own.
std::string RowOptions::keep(const std::string &output,
                             const reference::Tensor &tensor,
                             const std::string &recordFile,
                             OutputFiles &files) const {
  std::error_code error;
  if (!fs::is_directory(directory, error) &&
      !fs::create_directories(directory, error))
    throw UserError(directory,
                    fmt::format("cannot write: {}", error.message()));
  std::string name;
  for (char c : output) // a site's name may hold slashes
    name += std::isalnum(static_cast<unsigned char>(c)) || c == '-' || c == '_'
                ? c
                : '_';
  fs::path file = fs::path(directory) /
                  fmt::format("layer{}-{}-{:.12}.safetensors", layer, name,
                              algebra::sha256Hex(bytesOf(tensor)));
  TensorPath path = parseTensorPath(file.string());
  path.key = "rows";
  writeTensors(files, {{path, &tensor}});
  // Found again from the record file, wherever both are moved to.
  fs::path from = fs::absolute(recordFile).parent_path();
  return fs::absolute(file).lexically_relative(from).string() + ":rows";
}

std::string RowOptions::lines(const LaunchResult &result,
                              const ContractSpec &contract,
                              const std::string &device,
                              const std::string &recordFile, OutputFiles &files,
                              std::vector<std::string> &notes) const {
  diff::RowRecord row;
  row.layer = layer;
  row.contract = contract.digest;
  row.code = result.variant->codeSha256;
  row.device = device;
  std::string text;
  for (const auto &[name, tensor] : result.outputs) {
    if (tensor.shape.empty() || tensor.shape[0] == 0) {
      notes.push_back(fmt::format("output '{}' has no rows to record", name));
      continue;
    }
    row.site =
        site.empty() ? contract.op.substr(0, contract.op.find('@')) : site;
    if (result.outputs.size() > 1)
      row.site += "." + name;
    row.dtype = std::string(algebra::name(tensor.format));
    row.tensor =
        directory.empty() ? "" : keep(row.site, tensor, recordFile, files);
    std::vector<Key> keys = keysOf(tensor.shape[0], name);
    std::string_view bytes = bytesOf(tensor);
    size_t length = bytes.size() / keys.size();
    for (size_t r = 0; r < keys.size(); ++r) {
      row.sequence = keys[r].first;
      row.position = keys[r].second;
      row.hash = diff::hashRow(bytes.substr(r * length, length));
      row.row = int64_t(r);
      text += diff::rowLine(row);
    }
  }
  return text;
}

} // namespace bitpact::tool
