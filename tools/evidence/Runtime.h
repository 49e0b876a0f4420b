// Runtime.h - the C ABI of libbitpact as values and owners
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef BITPACT_EVIDENCE_RUNTIME_H
#define BITPACT_EVIDENCE_RUNTIME_H

#include "contracts/algebra/Format.h"
#include "runtime/include/bitpact.h"
#include "tools/evidence/UserError.h"

#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <vector>

namespace bitpact::evidence {

/// A device's driver refused, or a kernel did what the device does not allow.
class DriverError : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// A variant is pinned to a library that is not here as it was pinned.
class MissingLibrary : public UserError {
  using UserError::UserError;
};

/// The runtime's message as an exception: UserError for what a user can put
/// right, DriverError, std::runtime_error for the rest.
void require(bitpact_status status);

struct TensorSpec {
  std::string name;
  bool output = false, index = false;
  algebra::Format format = algebra::Format::F32;
  std::string type;
  DLDataType dtype{};
  std::vector<std::string> dims;
};

struct ContractSpec {
  uint32_t index = 0;
  std::string digest, name, op, text;
  std::vector<TensorSpec> tensors;
  std::vector<std::string> dimOrder;
  /// -1: given by the launch.
  std::map<std::string, int64_t> dims;
};

struct VariantSpec {
  uint32_t index = 0, contract = 0;
  std::string id, target, arch, entry, schedule, evidence, workspace;
  /// Empty, or the library that computes it.
  std::string library;
  bitpact_target_kind kind = BITPACT_TARGET_CPU;
  std::vector<std::string> roles, inspectFiles;
  int64_t priority = 0;
  std::string codeFile, codeSha256;
  int64_t codeBytes = 0;
  int64_t threads = 0, programsPerCta = 0, rowsPerProgram = 0, sharedBytes = 0;
  int64_t registers = 0, shared = 0, local = 0, spills = 0;
  nlohmann::json conditions;
};

class Package {
public:
  explicit Package(const std::string &path);

  bitpact_package *handle() const { return owner.get(); }
  const std::string &path() const { return packagePath; }
  const std::string &sha256() const { return manifestHash; }
  const nlohmann::json &producer() const { return tools; }
  const std::vector<ContractSpec> &contracts() const { return contractList; }
  const std::vector<VariantSpec> &variants() const { return variantList; }
  /// In the order of the package.
  std::vector<const VariantSpec *> variantsOf(const ContractSpec &) const;

private:
  std::shared_ptr<bitpact_package> owner;
  std::string packagePath, manifestHash;
  nlohmann::json tools;
  std::vector<ContractSpec> contractList;
  std::vector<VariantSpec> variantList;
};

class Device {
public:
  explicit Device(const std::string &name, uint32_t threads = 0);

  bitpact_device *handle() const { return owner.get(); }
  const std::shared_ptr<bitpact_device> &shared() const { return owner; }
  std::string name, description;
  bitpact_target_kind kind = BITPACT_TARGET_CPU;
  std::vector<std::string> archs;
  uint32_t units = 0;
  DLDevice dlDevice{};

  bool runs(const VariantSpec &variant) const;

private:
  std::shared_ptr<bitpact_device> owner;
};

/// "in", "out" or "index".
const char *kindOf(const TensorSpec &tensor);

/// The cpu, and the first GPU where there is one.
std::vector<std::string> devicesHere();

/// Memory on a device.
class Buffer {
public:
  Buffer() = default;
  Buffer(const Device &device, uint64_t bytes);
  void upload(const void *from, uint64_t count);
  void download(void *to, uint64_t count) const;
  void fill(uint8_t value);
  void *data() const { return owner.get(); }
  uint64_t bytes() const { return byteCount; }

private:
  std::shared_ptr<bitpact_device> device;
  std::shared_ptr<void> owner;
  uint64_t byteCount = 0;
};

/// A view of device memory as the runtime takes it.
struct View {
  View(const TensorSpec &spec, const Device &device, void *data,
       std::vector<int64_t> shape, std::vector<int64_t> strides);
  DLTensor get() const;

  DLTensor fields{};
  std::vector<int64_t> shape, strides;
};

/// A launch whose arguments are laid out: nothing but the call of the runtime.
class PreparedLaunch {
public:
  bitpact_status operator()() const {
    return bitpact_kernel_launch(kernel.get(), &args);
  }

  PreparedLaunch(PreparedLaunch &&) = default;

private:
  friend class Kernel;
  PreparedLaunch() = default;
  std::shared_ptr<bitpact_kernel> kernel;
  std::vector<View> views;
  std::vector<DLTensor> storage;
  std::vector<const DLTensor *> list;
  bitpact_launch_args args{};
};

class Kernel {
public:
  /// `variant` may be empty: the best one at each launch.
  Kernel(const Package &package, const Device &device,
         const std::string &digest, const std::string &role,
         const std::string &variant = "");

  /// Allocates the workspace for launches up to these dims.
  void prepare(const std::map<std::string, int64_t> &dims);
  /// The variant (its index in the package) that a launch would take, or -1
  /// if no variant's conditions hold.
  int64_t select(const std::vector<View> &tensors) const;
  /// Does not wait.
  void launch(const std::vector<View> &tensors, uint64_t site = 0) const;
  PreparedLaunch prepareLaunch(const std::vector<View> &tensors) const;
  uint64_t workspaceBytes() const { return workspace.bytes(); }
  /// Waits. Did a launch since the last call meet a bad index?
  bool takeFault() const;

private:
  bitpact_launch_args arguments(const std::vector<View> &tensors,
                                std::vector<DLTensor> &storage,
                                std::vector<const DLTensor *> &list) const;
  /// The inputs that no output of these is.
  uint64_t steadyAmong(const std::vector<DLTensor> &tensors) const;
  Device device;
  std::shared_ptr<bitpact_kernel> owner;
  Buffer workspace;
  std::vector<bool> outputs; ///< by tensor
  /// Whether inputs are steady, which they are, since copies to the device have
  /// ended: every other launch says so, so that both ways are run.
  mutable bool steady = false;
};

} // namespace bitpact::evidence

#endif // BITPACT_EVIDENCE_RUNTIME_H
