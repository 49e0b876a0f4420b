// RowOptions.h - row records of a launch's outputs: bitpact run --rows
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef BITPACT_TOOL_ROWOPTIONS_H
#define BITPACT_TOOL_ROWOPTIONS_H

#include "tools/bitpact/Commands.h"
#include "tools/evidence/Launch.h"
#include "tools/evidence/OutputFiles.h"

namespace bitpact::tool {

class RowOptions {
public:
  void addTo(CLI::App *command);

  bool wanted() const { return rows; }
  /// Throws UserError for options that do not go together.
  void check(const std::string &recordFile) const;
  /// One line for each row of each output that has rows; outputs to keep are
  /// added to `files`, and what is left out to `notes`.
  std::string lines(const evidence::LaunchResult &result,
                    const evidence::ContractSpec &contract,
                    const std::string &device, const std::string &recordFile,
                    evidence::OutputFiles &files,
                    std::vector<std::string> &notes) const;

private:
  using Key = std::pair<std::string, int64_t>;
  std::vector<Key> keysOf(int64_t rowCount, const std::string &output) const;
  std::string keep(const std::string &output, const reference::Tensor &tensor,
                   const std::string &recordFile,
                   evidence::OutputFiles &files) const;

  bool rows = false;
  std::vector<int64_t> lengths;
  std::string positions, site, directory;
  int64_t layer = 0;
  CLI::App *command = nullptr;
};

} // namespace bitpact::tool

#endif // BITPACT_TOOL_ROWOPTIONS_H
