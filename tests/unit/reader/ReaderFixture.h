// ReaderFixture.h - contract files written for one test, read and judged
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef BITPACT_TESTS_UNIT_READER_READERFIXTURE_H
#define BITPACT_TESTS_UNIT_READER_READERFIXTURE_H

#include "compiler/Reader/Reader.h"
#include "contracts/reference/Evaluator.h"

#include "mlir/IR/MLIRContext.h"

#include <cstring>
#include <filesystem>
#include <optional>
#include <string>

namespace bitpact::test {

/// A directory of its own, gone at the end.
class Folder {
public:
  Folder();
  ~Folder();
  /// Writes a file and returns its path.
  std::string write(const std::string &name, const std::string &text) const;

private:
  std::filesystem::path path;
};

struct Outcome {
  std::optional<nlohmann::json> canonical;
  std::string digest;
  /// Every diagnostic as "file:line:col: message", file without directories.
  std::vector<std::string> messages;

  /// All messages, one a line.
  std::string text() const;
};

/// Reads the file at a path with the shipped definitions.
Outcome read(const std::string &path);
/// Reads a text as "test.json".
Outcome readText(const std::string &text);

/// A good contract for rms_norm over 16 elements, one key a line.
extern const std::string good;
/// The text with one occurrence of `from` replaced, which must be there.
std::string with(std::string text, const std::string &from,
                 const std::string &to);
/// The text is refused, with this message first.
void expectRefused(const std::string &text, const std::string &message);
/// The digest of a text, which must be a contract.
std::string digestOf(const std::string &text);
/// A tensor whose elements have these bytes.
template <class T>
reference::Tensor tensor(algebra::Format format, std::vector<int64_t> shape,
                         const std::vector<T> &values) {
  reference::Tensor result{format, std::move(shape), {}};
  result.bytes.resize(values.size() * sizeof(T));
  std::memcpy(result.bytes.data(), values.data(), result.bytes.size());
  return result;
}

} // namespace bitpact::test

#endif // BITPACT_TESTS_UNIT_READER_READERFIXTURE_H
