// OutputFiles.h - files that appear together or not at all
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef BITPACT_EVIDENCE_OUTPUTFILES_H
#define BITPACT_EVIDENCE_OUTPUTFILES_H

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace bitpact::evidence {

/// Writes each file under a temporary name beside its own; commit() renames
/// them all, then adds lines to files that grow. Without it nothing is left
/// behind.
class OutputFiles {
public:
  OutputFiles() = default;
  ~OutputFiles();
  OutputFiles(const OutputFiles &) = delete;
  OutputFiles &operator=(const OutputFiles &) = delete;

  /// Throws UserError naming the file and the reason.
  void write(const std::string &file, std::string_view bytes);
  /// At the end of what the file holds, in one piece: several processes may
  /// add to one file.
  void append(const std::string &file, std::string_view bytes);
  void commit();

private:
  std::vector<std::pair<std::string, std::string>> pending;
  struct Growing {
    std::string file, bytes;
    int descriptor;
    bool isNew;
  };
  std::vector<Growing> growing;
};

} // namespace bitpact::evidence

#endif // BITPACT_EVIDENCE_OUTPUTFILES_H
