// Select.cpp - tensors against the contract, variants against the tensors
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/core/Kernel.h"

#include <fmt/ranges.h>

#include <algorithm>

namespace bitpact::runtime {

template <typename... Args>
[[noreturn]] static void failTensor(fmt::format_string<Args...> text,
                                    Args &&...args) {
  fail(BITPACT_BAD_TENSOR, text, std::forward<Args>(args)...);
}

static std::string nameOf(DLDataType type) {
  std::string kind = fmt::format("code {} of ", int(type.code));
  if (type.code == kDLFloat)
    kind = "f";
  else if (type.code == kDLBfloat)
    kind = "bf";
  else if (type.code == kDLInt)
    kind = "i";
  else if (type.code == kDLUInt)
    kind = "u";
  std::string name = kind + std::to_string(int(type.bits));
  return type.lanes == 1 ? name : name + "x" + std::to_string(type.lanes);
}

// The bytes from the tensor's first element to past its last: `span`.
struct Extent {
  uint64_t begin, span;
};

static void bindShape(const Kernel &kernel, size_t index, const DLTensor &given,
                      Bound &bound) {
  const TensorPlan &plan = kernel.tensors[index];
  for (uint32_t axis = 0; axis < plan.rank; ++axis) {
    const DimPlan &dim = kernel.dims[plan.dims[axis]];
    int64_t extent = given.shape[axis];
    int64_t &known = bound.dims[plan.dims[axis]];
    if (extent < 0)
      failTensor("tensor '{}': dim '{}' (axis {}) is {}, must not be negative",
                 plan.name, dim.name, axis, extent);
    if (known < 0)
      known = extent;
    if (known == extent)
      continue;
    if (dim.extent != package::dynamicExtent)
      failTensor("tensor '{}': dim '{}' (axis {}) is {}, the contract fixes {}",
                 plan.name, dim.name, axis, extent, dim.extent);
    failTensor("tensor '{}': dim '{}' (axis {}) is {}, but {} in the tensors "
               "before it",
               plan.name, dim.name, axis, extent, known);
  }
}

// Elements of an output must not lie on each other: seen from the innermost
// axis outwards, each stride steps over all that lies inside.
static void checkOutputStrides(const TensorPlan &plan, const DLTensor &given,
                               const int64_t *strides) {
  uint32_t order[maxRank], axes = 0; // by ascending stride
  for (uint32_t axis = 0; axis < plan.rank; ++axis) {
    if (given.shape[axis] <= 1)
      continue;
    uint32_t at = axes++;
    for (; at > 0 && strides[order[at - 1]] > strides[axis]; --at)
      order[at] = order[at - 1];
    order[at] = axis;
  }
  int64_t span = 1;
  for (uint32_t i = 0; i < axes; ++i) {
    int64_t stride = strides[order[i]];
    if (stride < span)
      failTensor("tensor '{}': stride {} of axis {} makes elements of this "
                 "output overlap; it must be at least {}",
                 plan.name, stride, order[i], span);
    span += stride * (given.shape[order[i]] - 1);
  }
}

static Extent bindLayout(const TensorPlan &plan, const DLTensor &given,
                         int64_t *strides, uint64_t &data) {
  int64_t count = 1, last = 0;
  bool overflow = false;
  for (uint32_t axis = plan.rank; axis-- > 0;) {
    int64_t extent = given.shape[axis];
    int64_t stride = given.strides ? given.strides[axis] : count;
    overflow |= __builtin_mul_overflow(count, extent, &count);
    strides[axis] = 0;
    if (extent <= 1)
      continue;
    if (stride < 0)
      failTensor("tensor '{}': stride {} of axis {} must not be negative",
                 plan.name, stride, axis);
    if (axis + 1 == plan.rank && stride != 1)
      failTensor("tensor '{}': stride of the innermost axis {} is {}, must "
                 "be 1",
                 plan.name, axis, stride);
    int64_t reach;
    overflow |= __builtin_mul_overflow(extent - 1, stride, &reach) ||
                __builtin_add_overflow(last, reach, &last);
    strides[axis] = stride;
  }
  // An empty tensor has no bytes, whatever its strides.
  int64_t bytes = 0;
  if (count != 0)
    overflow |= __builtin_mul_overflow(last + 1, plan.elementBytes, &bytes);
  if (overflow || last == INT64_MAX)
    failTensor("tensor '{}': shape and strides reach beyond the address space",
               plan.name);
  if (count == 0) {
    data = 0;
    return {0, 0};
  }
  if (!given.data)
    failTensor("tensor '{}': data is NULL", plan.name);
  data = reinterpret_cast<uint64_t>(given.data) + given.byte_offset;
  if (data % uint64_t(plan.elementBytes))
    failTensor("tensor '{}': data is at {:#x}, must be aligned to its element "
               "of {} bytes",
               plan.name, data, plan.elementBytes);
  if (plan.isOutput)
    checkOutputStrides(plan, given, strides);
  return {data, uint64_t(bytes)};
}

// Two column blocks of one matrix: their rows interleave and never meet.
static bool rowsInterleave(const Kernel &kernel, const Bound &bound, size_t a,
                           size_t b, const DLTensor *const *given) {
  const TensorPlan &first = kernel.tensors[a], &second = kernel.tensors[b];
  if (first.rank != 2 || second.rank != 2)
    return false;
  int64_t pitch = bound.strides[a][0] * first.elementBytes;
  if (pitch <= 0 || pitch != bound.strides[b][0] * second.elementBytes)
    return false;
  int64_t widthA = given[a]->shape[1] * first.elementBytes;
  int64_t widthB = given[b]->shape[1] * second.elementBytes;
  uint64_t step = uint64_t(pitch);
  int64_t offset =
      int64_t((bound.data[b] % step + step - bound.data[a] % step) % step);
  return offset >= widthA && offset + widthB <= pitch;
}

static void checkOverlap(const Kernel &kernel, const DLTensor *const *given,
                         const Extent *extents, Bound &bound) {
  for (size_t out = 0; out < kernel.tensors.size(); ++out) {
    bound.sameAs[out] = 0;
    if (!kernel.tensors[out].isOutput || extents[out].span == 0)
      continue;
    for (size_t other = 0; other < kernel.tensors.size(); ++other) {
      const Extent &a = extents[out], &b = extents[other];
      bool apart = b.begin >= a.begin + a.span || a.begin >= b.begin + b.span;
      if (other == out || b.span == 0 || apart ||
          rowsInterleave(kernel, bound, out, other, given))
        continue;
      const TensorPlan &x = kernel.tensors[out], &y = kernel.tensors[other];
      bool same = a.begin == b.begin && x.type == y.type && x.rank == y.rank &&
                  std::equal(x.dims, x.dims + x.rank, y.dims) &&
                  std::equal(bound.strides[out], bound.strides[out] + x.rank,
                             bound.strides[other]);
      if (!same || y.isOutput)
        failTensor("tensor '{}': this output overlaps tensor '{}'", x.name,
                   y.name);
      bound.sameAs[out] |= 1u << other;
    }
  }
}

void bind(const Kernel &kernel, const bitpact_launch_args &args, Bound &bound) {
  if (args.tensor_count != kernel.tensors.size()) {
    std::vector<std::string> names;
    for (const TensorPlan &plan : kernel.tensors)
      names.push_back(plan.name);
    failTensor("{} tensors are given, the contract takes {}: {}",
               args.tensor_count, names.size(), fmt::join(names, ", "));
  }
  require(args.tensors, "tensors");
  if (args.steady >> kernel.tensors.size())
    fail(BITPACT_INVALID_ARGUMENT,
         "args.steady: is {:#x}, the contract has {} tensors", args.steady,
         kernel.tensors.size());
  Extent extents[maxTensors];
  for (size_t i = 0; i < kernel.dims.size(); ++i)
    bound.dims[i] = kernel.dims[i].extent; // -1 where the launch says
  bound.bytes = 0;
  bound.empty = true;
  for (size_t i = 0; i < kernel.tensors.size(); ++i) {
    const TensorPlan &plan = kernel.tensors[i];
    const DLTensor *given = args.tensors[i];
    if (!given)
      failTensor("tensor '{}': is NULL", plan.name);
    if (given->dtype.code != plan.dtype.code ||
        given->dtype.bits != plan.dtype.bits || given->dtype.lanes != 1)
      failTensor("tensor '{}': dtype is {}, must be {}", plan.name,
                 nameOf(given->dtype), package::name(plan.type));
    if (given->ndim != int(plan.rank))
      failTensor("tensor '{}': rank is {}, must be {}", plan.name, given->ndim,
                 plan.rank);
    if (plan.rank && !given->shape)
      failTensor("tensor '{}': shape is NULL", plan.name);
    if (!kernel.device->reaches(given->device))
      failTensor("tensor '{}': lies on DLPack device {}:{}, must be on '{}'",
                 plan.name, int(given->device.device_type),
                 given->device.device_id, kernel.device->name);
    bindShape(kernel, i, *given, bound);
    extents[i] = bindLayout(plan, *given, bound.strides[i], bound.data[i]);
    bound.bytes += int64_t(std::min<uint64_t>(extents[i].span, 1u << 30));
    if (plan.isOutput && extents[i].span)
      bound.empty = false;
  }
  checkOverlap(kernel, args.tensors, extents, bound);
  for (size_t i = 0; i < kernel.tensors.size(); ++i)
    if (const TensorPlan &plan = kernel.tensors[i]; plan.isOutput)
      if (args.steady & (bound.sameAs[i] | uint64_t(1) << i))
        failTensor("tensor '{}': the launch writes it; it cannot be steady",
                   plan.name);
  if (bound.empty)
    return;
  for (size_t i = 0; i < kernel.dims.size(); ++i)
    if (bound.dims[i] < 1)
      failTensor("dim '{}' is {}, must be at least 1 where outputs have "
                 "elements",
                 kernel.dims[i].name, bound.dims[i]);
}

// The copy unit writes pieces of 16 bytes: into what lies behind a row that
// ends within one.
static bool endsWithPiece(const Kernel &kernel, const Candidate &candidate,
                          const Bound &bound, size_t tensor) {
  const TensorPlan &plan = kernel.tensors[tensor];
  return !(candidate.mapped >> tensor & 1) || !plan.isOutput ||
         bound.dims[plan.dims[1]] * plan.elementBytes % 16 == 0;
}

// What a library multiplies: rows that do not overlap.
static bool hasRowsApart(const Kernel &kernel, const Candidate &candidate,
                         const Bound &bound, size_t tensor) {
  const TensorPlan &plan = kernel.tensors[tensor];
  return !candidate.isLibrary || plan.rank != 2 ||
         bound.dims[plan.dims[0]] == 1 ||
         bound.strides[tensor][0] >= bound.dims[plan.dims[1]];
}

// What a copy unit can be told: rows that follow each other, not too far apart.
static bool hasPitch(const Kernel &kernel, const Candidate &candidate,
                     const Bound &bound, size_t tensor) {
  const TensorPlan &plan = kernel.tensors[tensor];
  if (!(candidate.mapped >> tensor & 1) || bound.dims[plan.dims[0]] == 1)
    return true;
  constexpr int64_t most = int64_t(1) << 40; // bytes
  int64_t stride = bound.strides[tensor][0];
  return stride > 0 && stride < most / plan.elementBytes;
}

// The index of the first condition that does not hold is never needed when one
// fits, so the words for it are found in a second pass.
static bool fits(const Kernel &kernel, const Candidate &candidate,
                 const Bound &bound) {
  for (size_t i = 0; i < kernel.dims.size(); ++i)
    if (bound.dims[i] < candidate.dims[i].min ||
        bound.dims[i] > candidate.dims[i].max)
      return false;
  for (size_t i = 0; i < kernel.tensors.size(); ++i) {
    if (bound.data[i] & (candidate.align[i] - 1))
      return false;
    if (bound.sameAs[i] & ~candidate.alias[i])
      return false;
    for (uint32_t axis = 0; axis + 1 < kernel.tensors[i].rank; ++axis)
      if (bound.strides[i][axis] % candidate.strideMultiple[i])
        return false;
    if (!hasPitch(kernel, candidate, bound, i) ||
        !endsWithPiece(kernel, candidate, bound, i) ||
        !hasRowsApart(kernel, candidate, bound, i))
      return false;
  }
  return true;
}

static std::string misfit(const Kernel &kernel, const Candidate &candidate,
                          const Bound &bound) {
  for (size_t i = 0; i < kernel.dims.size(); ++i)
    if (bound.dims[i] < candidate.dims[i].min ||
        bound.dims[i] > candidate.dims[i].max)
      return fmt::format("dim '{}' is {}, it takes {} to {}",
                         kernel.dims[i].name, bound.dims[i],
                         candidate.dims[i].min, candidate.dims[i].max);
  for (size_t i = 0; i < kernel.tensors.size(); ++i) {
    const std::string &name = kernel.tensors[i].name;
    if (bound.data[i] & (candidate.align[i] - 1))
      return fmt::format("tensor '{}' is at {:#x}, it needs {} bytes of "
                         "alignment",
                         name, bound.data[i], candidate.align[i]);
    for (size_t other = 0; other < kernel.tensors.size(); ++other)
      if ((bound.sameAs[i] & ~candidate.alias[i]) >> other & 1)
        return fmt::format("output '{}' is the same tensor as '{}', which it "
                           "does not allow",
                           name, kernel.tensors[other].name);
    for (uint32_t axis = 0; axis + 1 < kernel.tensors[i].rank; ++axis)
      if (bound.strides[i][axis] % candidate.strideMultiple[i])
        return fmt::format("tensor '{}' has stride {} at axis {}, it needs a "
                           "multiple of {}",
                           name, bound.strides[i][axis], axis,
                           candidate.strideMultiple[i]);
    if (!endsWithPiece(kernel, candidate, bound, i))
      return fmt::format("tensor '{}' has rows of {} elements, it needs rows "
                         "of whole 16-byte pieces",
                         name, bound.dims[kernel.tensors[i].dims[1]]);
    if (!hasRowsApart(kernel, candidate, bound, i))
      return fmt::format("tensor '{}' has stride {}, it needs rows that do not "
                         "overlap",
                         name, bound.strides[i][0]);
    if (!hasPitch(kernel, candidate, bound, i))
      return fmt::format("tensor '{}' has stride {}, it needs rows that follow "
                         "each other within 2^40 bytes",
                         name, bound.strides[i][0]);
  }
  return "fits";
}

const Candidate &select(const Kernel &kernel, const Bound &bound) {
  const Candidate *best = nullptr;
  int64_t least = 0;
  for (const Candidate &candidate : kernel.candidates) {
    if (best && candidate.tier != best->tier)
      break;
    if (!fits(kernel, candidate, bound))
      continue;
    int64_t cost = costOf(kernel, candidate, bound);
    if (!best || cost < least) {
      best = &candidate;
      least = cost;
    }
  }
  if (best)
    return *best;
  std::string list;
  for (const Candidate &candidate : kernel.candidates)
    list += fmt::format("\n  {}: {}", kernel.variantOf(candidate).id,
                        misfit(kernel, candidate, bound));
  fail(BITPACT_MISSING_VARIANT, "no variant takes this launch:{}", list);
}

} // namespace bitpact::runtime
