// TensorFile.h - tensors from and to .npy and .safetensors files
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef BITPACT_EVIDENCE_TENSORFILE_H
#define BITPACT_EVIDENCE_TENSORFILE_H

#include "contracts/reference/Tensor.h"
#include "tools/evidence/OutputFiles.h"

#include <cstdint>
#include <fstream>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace bitpact::evidence {

using reference::Tensor;

/// `acts.safetensors:layer0`, `x.npy`, `x.npy:bf16`.
struct TensorPath {
  enum class Kind { Npy, Safetensors };
  Kind kind;
  std::string file;
  /// The tensor's name in a .safetensors file, may be empty.
  std::string key;
  /// 16-bit integers of a .npy file are bf16 bits.
  bool bf16 = false;
};
TensorPath parseTensorPath(std::string_view text);

/// Reads one tensor. The file is untrusted: every size in its header is
/// checked against the file's own length before anything is allocated.
Tensor readTensor(const TensorPath &path);

/// Adds the files of these tensors to `files`; those with one .safetensors file
/// share it. bf16 goes to .npy as uint16, and the returned notes say so.
std::vector<std::string>
writeTensors(OutputFiles &files,
             const std::vector<std::pair<TensorPath, const Tensor *>> &outputs);

/// A file opened for reading, and its length. Throws UserError for what is no
/// regular file: a pipe or a device has no length.
std::pair<std::ifstream, uint64_t> openRegular(const std::string &file);

/// The two formats; used by the functions above and by their tests.
Tensor readNpy(const std::string &file, bool bf16);
std::string npyBytes(const Tensor &tensor);
Tensor readSafetensors(const std::string &file, const std::string &key);
std::string
safetensorsBytes(const std::map<std::string, const Tensor *> &tensors);

/// The number of elements of a shape read from a file; errors on negative
/// extents and on overflow.
int64_t checkedElements(const std::string &file,
                        const std::vector<int64_t> &shape);

} // namespace bitpact::evidence

#endif // BITPACT_EVIDENCE_TENSORFILE_H
