// Kernel.h - a looked-up kernel: names resolved to numbers, code loaded
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef BITPACT_RUNTIME_CORE_KERNEL_H
#define BITPACT_RUNTIME_CORE_KERNEL_H

#include "runtime/drivers/Driver.h"
#include "runtime/package/Formula.h"
#include "runtime/package/Pin.h"
#include "runtime/package/Reader.h"

#include <algorithm>
#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace bitpact::runtime {

using package::maxDims;
using package::maxRank;
using package::maxTensors;

DLDataType dataType(package::ElementType type);

// A tensor of the contract; dims are indices into Kernel::dims.
struct TensorPlan {
  std::string name;
  package::ElementType type;
  DLDataType dtype;
  int64_t elementBytes;
  bool isOutput;
  uint32_t rank;
  uint8_t dims[maxRank];
};

struct DimPlan {
  std::string name;
  int64_t extent; // package::dynamicExtent, or what the contract fixes
};

// What one launch brings, once it has been checked against the contract.
struct Bound {
  int64_t dims[maxDims];
  uint64_t data[maxTensors];
  int64_t strides[maxTensors][maxRank]; // 0 where the axis has one element
  uint32_t sameAs[maxTensors]; // bit i: this output is the very input i
  int64_t bytes;
  bool empty; // no output element exists
};

struct SlotPlan {
  package::ArgumentKind kind;
  uint8_t tensor, axis, dim;
  package::Box box; // of a tensor map
};

struct TermPlan {
  struct Factor {
    uint8_t dim;
    int64_t divisor;
  };
  int64_t coefficient;
  std::vector<Factor> factors;
};

// Blocks of a dim; with segments the most that pieces of it can have, whichever
// offsets cut it: each piece but one adds a short block.
struct TilePlan {
  uint8_t dim;
  int64_t length;
  int segments = -1; // the dim of the offsets
  int64_t count(const int64_t extents[maxDims]) const {
    if (segments < 0)
      return (extents[dim] - 1) / length + 1;
    int64_t pieces = std::min(std::max(extents[segments] - 1, int64_t(1)),
                              extents[dim]);
    return extents[dim] / length + // the same without an overflow
           (extents[dim] % length + pieces % length * (length - 1)) / length +
           pieces / length * (length - 1);
  }
};

// How many programs one kernel of a variant has.
struct StepPlan {
  std::vector<uint8_t> parallelDims;
  int64_t rowsPerProgram;
  int splitDim; // -1: none
  int64_t splitLength, splitLess;
  std::vector<TilePlan> tiles;
  int64_t ctasPerUnit, ctasPerProgram;

  // Programs that are there at one time, where the launch says how many. A
  // cluster lies within one group of multiprocessors; those of four CTAs and more
  // do not fill every group, which leaves up to an eighth of all without one.
  int64_t programsAtOnce(uint32_t units) const {
    int64_t filled = ctasPerProgram < 4 ? units : units - units / 8;
    return std::max(filled * ctasPerUnit / ctasPerProgram, int64_t(1));
  }
};

// One variant, with everything that a launch compares as numbers.
struct Candidate {
  uint32_t variant; // index in the package
  package::Range dims[maxDims];
  uint64_t align[maxTensors];
  int64_t strideMultiple[maxTensors];
  uint32_t alias[maxTensors]; // bit i: may be the same as input i
  uint32_t mapped = 0;        // bit i: a copy unit is told where tensor i lies
  bool isLibrary = false;     // and takes no rows that overlap
  std::vector<StepPlan> steps; // at least one, launched one after the other
  std::vector<SlotPlan> slots;
  std::vector<TermPlan> workspace;
  std::pair<int64_t, int64_t> tier; // rank of the architecture, priority
  // In picoseconds; `costDim` is -1 where the variant says nothing.
  int costDim = -1;
  package::Cost cost;
  uint32_t description; // of its records
  std::shared_ptr<drivers::Code> code;
};

// The word in device memory that a kernel sets when an index or offsets of a
// launch name what is not there. Launches of one kernel share it.
class FaultWord {
public:
  explicit FaultWord(std::shared_ptr<drivers::Device> device)
      : device(std::move(device)) {}
  ~FaultWord();
  FaultWord(const FaultWord &) = delete;

  void allocate(); // once; later calls do nothing
  uint64_t address() const {
    return reinterpret_cast<uint64_t>(data.load(std::memory_order_acquire));
  }
  // Waits for the device, then returns the word and sets it to 0.
  uint32_t take();

private:
  std::shared_ptr<drivers::Device> device;
  std::mutex mutex;
  std::atomic<void *> data{nullptr};
};

struct Kernel {
  std::shared_ptr<const package::Package> package;
  std::shared_ptr<drivers::Device> device;
  uint32_t contract;
  std::string role;
  std::vector<TensorPlan> tensors;
  std::vector<DimPlan> dims;         // in the operator's order
  std::vector<Candidate> candidates; // in order of trial
  std::vector<uint32_t> variants;    // of the candidates
  std::shared_ptr<FaultWord> fault;  // null where no candidate takes one

  const package::Variant &variantOf(const Candidate &candidate) const {
    return package->manifest.variants[candidate.variant];
  }
};

// Throws BITPACT_NOT_FOUND or BITPACT_MISSING_VARIANT, listing what there is.
std::shared_ptr<Kernel> lookup(std::shared_ptr<const package::Package> package,
                               std::shared_ptr<drivers::Device> device,
                               const std::string &digest,
                               const std::string &role,
                               const std::string *variant);

// Checks the tensors against the contract and each other (BITPACT_BAD_TENSOR).
void bind(const Kernel &kernel, const bitpact_launch_args &args, Bound &bound);

// Of the candidates whose conditions hold those of the first tier, and of these
// the one that takes least, or the first; throws BITPACT_MISSING_VARIANT.
const Candidate &select(const Kernel &kernel, const Bound &bound);

// What the candidate says that it takes; more than anything where it says
// nothing, or where that is more than a number holds.
int64_t costOf(const Kernel &kernel, const Candidate &candidate,
               const Bound &bound);

void launch(const Kernel &kernel, const bitpact_launch_args &args);

// The candidate on what has been bound, without a record.
void run(const Kernel &kernel, const Candidate &candidate, const Bound &bound,
         const bitpact_launch_args &args);

// Throws BITPACT_CHALLENGE_FAILED unless a pinned library gives the bytes that
// it was admitted for.
void challenge(const Kernel &kernel, const Candidate &candidate,
               const package::Pin &pin);

// Dims by name; `extents` is in the order of Kernel::dims.
void resolveDims(const Kernel &kernel, const bitpact_dim *dims, uint32_t count,
                 int64_t extents[maxDims]);
void prepare(const Kernel &kernel, const int64_t extents[maxDims]);
uint64_t workspaceBytes(const Candidate &candidate,
                        const int64_t extents[maxDims]);

} // namespace bitpact::runtime

#endif // BITPACT_RUNTIME_CORE_KERNEL_H
