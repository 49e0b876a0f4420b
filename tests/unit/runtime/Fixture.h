// Fixture.h - temporary packages and tensors for the tests of the runtime
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef BITPACT_TESTS_UNIT_RUNTIME_FIXTURE_H
#define BITPACT_TESTS_UNIT_RUNTIME_FIXTURE_H

#include "runtime/include/bitpact.h"
#include "runtime/package/Reader.h"
#include "runtime/package/Writer.h"

#include <memory>
#include <string>
#include <vector>

namespace bitpact::test {

// A directory that goes with the test.
struct Scratch {
  Scratch();
  ~Scratch();
  std::string operator/(const std::string &name) const {
    return path + "/" + name;
  }
  std::string path;
};

std::string readBytes(const std::string &path);
void writeBytes(const std::string &path, const std::string &bytes);
std::vector<std::string> listing(const std::string &dir); // sorted
std::string kernelBytes(const std::string &file = "kernels.so");

// The contract of row_sum: x[tokens, hidden] f32 -> y[tokens].
package::ContractEntry
rowSumContract(package::ElementType result = package::ElementType::F32);
// x[tokens, hidden] f32 -> y[tokens, hidden] f32.
package::ContractEntry mapContract();
// x[tokens, hidden] f32, target[tokens] i64 (an index) -> y[tokens] f32.
package::ContractEntry takenContract();
// The canonical text that fits what the manifest says.
std::string contractText(const package::ContractEntry &contract);

// The least level, which every processor of this kind runs, and the one above.
extern const std::string baseLevel, nextLevel;

package::Variant variantOf(const package::ContractEntry &contract,
                           const std::string &id, const std::string &entry);

struct Package {
  package::Manifest manifest;
  package::Files files;
  void add(const package::ContractEntry &contract);
  void add(const package::Variant &variant,
           const std::string &bytes = kernelBytes());
  void write(const std::string &dir) const;
};
// One contract, one variant of row_sum for every role.
Package rowSumPackage();
// A variant of takenContract(), with a fault word.
package::Variant takenVariant(const std::string &id);

template <typename T, void (*Close)(T *)> struct Closer {
  void operator()(T *handle) const { Close(handle); }
};
using OpenPackage =
    std::unique_ptr<bitpact_package,
                    Closer<bitpact_package, bitpact_package_close>>;
using OpenDevice =
    std::unique_ptr<bitpact_device,
                    Closer<bitpact_device, bitpact_device_close>>;
using OpenKernel =
    std::unique_ptr<bitpact_kernel,
                    Closer<bitpact_kernel, bitpact_kernel_release>>;

OpenPackage open(const std::string &dir);
OpenDevice device(const std::string &name, uint32_t threads = 0);
OpenKernel kernel(const OpenPackage &package, const OpenDevice &device,
                  const std::string &role = "train",
                  const char *variant = nullptr, uint32_t contract = 0);

// A DLTensor that owns its shape and strides.
struct Tensor {
  Tensor(void *data, std::vector<int64_t> shape,
         DLDataType dtype = {kDLFloat, 32, 1},
         std::vector<int64_t> strides = {});
  Tensor(const Tensor &) = delete;
  std::vector<int64_t> shape, strides;
  DLTensor tensor;
};

struct Launch {
  Launch(const Tensor &x, const Tensor &y);
  Launch(const Tensor &x, const Tensor &index, const Tensor &y);
  Launch(const Launch &) = delete;
  bitpact_status run(const OpenKernel &kernel) const;
  // The id of the variant that would run, or the message of the failure.
  std::string select(const OpenPackage &package,
                     const OpenKernel &kernel) const;
  std::vector<const DLTensor *> tensors;
  bitpact_launch_args args;

private:
  explicit Launch(std::vector<const DLTensor *> tensors);
};

// rows x columns of small integers, whose sums are exact in any order.
std::vector<float> matrix(int64_t rows, int64_t columns);
std::vector<float> rowSums(const std::vector<float> &x, int64_t columns);

} // namespace bitpact::test

#endif // BITPACT_TESTS_UNIT_RUNTIME_FIXTURE_H
