// Launch.cpp - dims, workspace, and the launch itself
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/core/Kernel.h"
#include "runtime/core/Record.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>

namespace bitpact::runtime {

using package::ArgumentKind;

uint64_t workspaceBytes(const Candidate &candidate,
                        const int64_t extents[maxDims]) {
  int64_t total = 0;
  bool overflow = false;
  for (const TermPlan &term : candidate.workspace) {
    int64_t bytes = term.coefficient;
    for (const auto &[dim, divisor] : term.factors) {
      int64_t factor =
          extents[dim] / divisor + (extents[dim] % divisor != 0);
      overflow |= __builtin_mul_overflow(bytes, factor, &bytes);
    }
    overflow |= __builtin_add_overflow(total, bytes, &total);
  }
  if (overflow || total > package::maxWorkspace)
    fail(BITPACT_INVALID_ARGUMENT,
         "these dims need more workspace than the {} "
         "bytes that are allowed",
         package::maxWorkspace);
  return uint64_t(total);
}

// As many as the driver counts: of a program of several CTAs each.
static int64_t programsOf(const StepPlan &step,
                          const int64_t extents[maxDims], uint32_t units) {
  int64_t rows = 1;
  for (const TilePlan &tile : step.tiles)
    if (__builtin_mul_overflow(rows, tile.count(extents), &rows))
      fail(BITPACT_INVALID_ARGUMENT, "these dims have too many tiles");
  if (!step.tiles.empty()) {
    if (step.ctasPerUnit)
      rows = std::min(rows, step.programsAtOnce(units));
    if (__builtin_mul_overflow(rows, step.ctasPerProgram, &rows))
      fail(BITPACT_INVALID_ARGUMENT, "these dims have too many tiles");
    return rows;
  }
  for (uint8_t dim : step.parallelDims)
    if (__builtin_mul_overflow(rows, extents[dim], &rows))
      fail(BITPACT_INVALID_ARGUMENT, "the parallel dims have too many rows");
  return rows < 1 ? 0 : (rows - 1) / step.rowsPerProgram + 1;
}

// Tiles below each other share what they read of the other dim: they lose more by
// running at other times than a launch that begins early wins.
static bool mayOverlap(const StepPlan &step, const int64_t extents[maxDims]) {
  return step.tiles.empty() ||
         extents[step.tiles.front().dim] <= step.tiles.front().length;
}

static int64_t partsOf(const StepPlan &step, const int64_t extents[maxDims]) {
  if (step.splitDim < 0)
    return step.splitLength;
  int64_t extent = extents[step.splitDim] - step.splitLess;
  return extent / step.splitLength + (extent % step.splitLength > 0);
}

void resolveDims(const Kernel &kernel, const bitpact_dim *dims, uint32_t count,
                 int64_t extents[maxDims]) {
  if (count)
    require(dims, "dims");
  for (size_t i = 0; i < kernel.dims.size(); ++i)
    extents[i] = kernel.dims[i].extent;
  for (uint32_t i = 0; i < count; ++i) {
    require(dims[i].name, "dims[].name");
    auto found = std::find_if(
        kernel.dims.begin(), kernel.dims.end(),
        [&](const DimPlan &plan) { return plan.name == dims[i].name; });
    if (found == kernel.dims.end()) {
      std::vector<std::string> names;
      for (const DimPlan &plan : kernel.dims)
        names.push_back(plan.name);
      fail(BITPACT_INVALID_ARGUMENT,
           "dim '{}' is not one of the contract; it has {}", dims[i].name,
           fmt::join(names, ", "));
    }
    if (dims[i].extent < 1)
      fail(BITPACT_INVALID_ARGUMENT, "dim '{}' is {}, must be at least 1",
           dims[i].name, dims[i].extent);
    if (found->extent != package::dynamicExtent &&
        found->extent != dims[i].extent)
      fail(BITPACT_INVALID_ARGUMENT, "dim '{}' is {}, the contract fixes {}",
           dims[i].name, dims[i].extent, found->extent);
    extents[found - kernel.dims.begin()] = dims[i].extent;
  }
  for (size_t i = 0; i < kernel.dims.size(); ++i)
    if (extents[i] < 1)
      fail(BITPACT_INVALID_ARGUMENT,
           "dim '{}' is not given, and the contract "
           "does not fix it",
           kernel.dims[i].name);
}

void prepare(const Kernel &kernel, const int64_t extents[maxDims]) {
  kernel.device->checkFork();
  for (const Candidate &candidate : kernel.candidates) {
    for (const StepPlan &step : candidate.steps)
      programsOf(step, extents, kernel.device->units);
    workspaceBytes(candidate, extents);
    candidate.code->prepare();
  }
  if (kernel.fault)
    kernel.fault->allocate();
}

static void checkWorkspace(const bitpact_launch_args &args, uint64_t bytes) {
  if (bytes == 0)
    return;
  if (!args.workspace || args.workspace_bytes < bytes)
    fail(BITPACT_INVALID_ARGUMENT,
         "workspace: {} bytes are given, this launch needs {}",
         args.workspace ? args.workspace_bytes : 0, bytes);
  if (reinterpret_cast<uint64_t>(args.workspace) % 256)
    fail(BITPACT_INVALID_ARGUMENT,
         "workspace: is at {}, must be aligned to 256 bytes", args.workspace);
}

// Where there is one row nobody steps to the next, but the unit wants a pitch.
static drivers::MapWork mapOf(const Kernel &kernel, const Bound &bound,
                              const SlotPlan &slot, size_t index) {
  const TensorPlan &tensor = kernel.tensors[slot.tensor];
  uint32_t inner = tensor.rank - 2; // the axis of rows
  int64_t rows = bound.dims[tensor.dims[inner]],
          cols = bound.dims[tensor.dims[inner + 1]];
  auto bytes = [&](uint32_t axis) {
    return bound.strides[slot.tensor][axis] * tensor.elementBytes;
  };
  int64_t pitch =
      rows == 1 ? (cols * tensor.elementBytes + 15) / 16 * 16 : bytes(inner);
  int64_t count = inner ? bound.dims[tensor.dims[0]] : 1;
  int64_t apart = count == 1 ? rows * pitch : bytes(0);
  package::Box box = slot.box;
  box.rows = box.rowsOf(rows);
  return {index, bound.data[slot.tensor], tensor.type, rows, cols, pitch,
          tensor.rank, count, apart, box};
}

void run(const Kernel &kernel, const Candidate &candidate, const Bound &bound,
         const bitpact_launch_args &args) {
  std::array<uint64_t, package::maxArguments> slots;
  std::array<drivers::MapWork, package::maxTensorMaps> maps;
  size_t mapCount = 0;
  for (size_t i = 0; i < candidate.slots.size(); ++i) {
    const SlotPlan &slot = candidate.slots[i];
    switch (slot.kind) {
    case ArgumentKind::Pointer:
      slots[i] = bound.data[slot.tensor];
      break;
    case ArgumentKind::Stride:
      slots[i] = uint64_t(bound.strides[slot.tensor][slot.axis]);
      break;
    case ArgumentKind::Dim:
      slots[i] = uint64_t(bound.dims[slot.dim]);
      break;
    case ArgumentKind::Workspace:
      slots[i] = reinterpret_cast<uint64_t>(args.workspace);
      break;
    case ArgumentKind::Steady:
      slots[i] = args.steady >> slot.tensor & 1;
      break;
    case ArgumentKind::TensorMap:
      slots[i] = 0;
      maps[mapCount++] = mapOf(kernel, bound, slot, i);
      break;
    case ArgumentKind::Fault:
      slots[i] = kernel.fault->address();
      if (!slots[i])
        fail(BITPACT_BAD_STATE,
             "variant '{}' reports bad indices in a word that prepare "
             "allocates; call bitpact_kernel_prepare before the first launch",
             kernel.variantOf(candidate).id);
      break;
    }
  }
  for (size_t i = 0; i < candidate.steps.size(); ++i) {
    int64_t programs =
        programsOf(candidate.steps[i], bound.dims, kernel.device->units);
    int64_t parts = partsOf(candidate.steps[i], bound.dims), all;
    if (__builtin_mul_overflow(programs, parts, &all))
      fail(BITPACT_INVALID_ARGUMENT, "the launch has too many programs");
    if (all > 0)
      candidate.code->launch({slots.data(), candidate.slots.size(), programs,
                              bound.bytes, args.stream, i, parts, maps.data(),
                              mapCount,
                              mayOverlap(candidate.steps[i], bound.dims)});
  }
}

void launch(const Kernel &kernel, const bitpact_launch_args &args) {
  drivers::Device &device = *kernel.device;
  Bound bound;
  bind(kernel, args, bound);
  if (bound.empty) {
    device.checkFork();
    return;
  }
  const Candidate &candidate = select(kernel, bound);
  checkWorkspace(args, workspaceBytes(candidate, bound.dims));
  drivers::Route route = device.route(args.stream);
  run(kernel, candidate, bound, args);

  Record record = {};
  record.site = args.site;
  record.description = candidate.description;
  record.route = uint32_t(route);
  std::copy_n(bound.dims, kernel.dims.size(), record.dims);
  writeRecord(record);
}

} // namespace bitpact::runtime
