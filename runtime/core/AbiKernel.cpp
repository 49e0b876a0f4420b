// AbiKernel.cpp - C interface: kernels, launches, records
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/core/Handles.h"
#include "runtime/core/Record.h"

#include <algorithm>
#include <cstddef>
#include <cstring>

using namespace bitpact;
using runtime::fail;
using runtime::fillInfo;
using runtime::guard;
using runtime::require;

bitpact_status bitpact_kernel_lookup(const bitpact_package *package,
                                     bitpact_device *device,
                                     const char *contract_digest,
                                     const char *role, const char *variant,
                                     bitpact_kernel **kernel) {
  return guard([&] {
    require(package, "package");
    require(device, "device");
    require(contract_digest, "contract_digest");
    require(role, "role");
    require(kernel, "kernel");
    *kernel = nullptr;
    std::string only = variant ? variant : "";
    auto handle = std::make_unique<bitpact_kernel>();
    handle->kernel =
        runtime::lookup(package->package, device->device, contract_digest, role,
                        variant ? &only : nullptr);
    *kernel = handle.release();
  });
}

void bitpact_kernel_release(bitpact_kernel *kernel) { delete kernel; }

bitpact_status bitpact_kernel_get_info(const bitpact_kernel *kernel,
                                       bitpact_kernel_info *info) {
  return guard([&] {
    require(kernel, "kernel");
    const runtime::Kernel &plan = *kernel->kernel;
    fillInfo(info, {0, plan.contract, uint32_t(plan.variants.size()),
                    plan.variants.data()});
  });
}

bitpact_status bitpact_kernel_prepare(bitpact_kernel *kernel,
                                      const bitpact_dim *dims,
                                      uint32_t dim_count) {
  return guard([&] {
    require(kernel, "kernel");
    int64_t extents[package::maxDims];
    runtime::resolveDims(*kernel->kernel, dims, dim_count, extents);
    runtime::prepare(*kernel->kernel, extents);
  });
}

bitpact_status bitpact_kernel_workspace(const bitpact_kernel *kernel,
                                        const bitpact_dim *dims,
                                        uint32_t dim_count, uint64_t *bytes) {
  return guard([&] {
    require(kernel, "kernel");
    require(bytes, "bytes");
    int64_t extents[package::maxDims];
    runtime::resolveDims(*kernel->kernel, dims, dim_count, extents);
    uint64_t most = 0;
    for (const runtime::Candidate &candidate : kernel->kernel->candidates)
      most = std::max(most, runtime::workspaceBytes(candidate, extents));
    *bytes = most;
  });
}

bitpact_status bitpact_kernel_fault(bitpact_kernel *kernel, uint32_t *fault) {
  return guard([&] {
    require(kernel, "kernel");
    require(fault, "fault");
    *fault = 0;
    kernel->kernel->device->checkFork();
    if (kernel->kernel->fault)
      *fault = kernel->kernel->fault->take();
  });
}

// A copy, so that a later version can fill in what its caller does not know.
static bitpact_launch_args known(const bitpact_launch_args *args) {
  require(args, "args");
  // What every caller of ABI 1 knows.
  constexpr size_t least = offsetof(bitpact_launch_args, steady);
  if (args->size < least)
    fail(BITPACT_INVALID_ARGUMENT, "args.size: is {}, must be {}", args->size,
         sizeof(bitpact_launch_args));
  bitpact_launch_args all = {};
  std::memcpy(&all, args, std::min(args->size, sizeof all));
  return all;
}

bitpact_status bitpact_kernel_launch(bitpact_kernel *kernel,
                                     const bitpact_launch_args *args) {
  return guard([&] {
    require(kernel, "kernel");
    runtime::launch(*kernel->kernel, known(args));
  });
}

bitpact_status bitpact_kernel_select(const bitpact_kernel *kernel,
                                     const bitpact_launch_args *args,
                                     uint32_t *variant) {
  return guard([&] {
    require(kernel, "kernel");
    require(variant, "variant");
    runtime::Bound bound;
    runtime::bind(*kernel->kernel, known(args), bound);
    *variant = bound.empty ? kernel->kernel->candidates.front().variant
                           : runtime::select(*kernel->kernel, bound).variant;
  });
}

bitpact_status bitpact_records_configure(uint32_t capacity) {
  return guard([&] { runtime::configureRecords(capacity); });
}

bitpact_status bitpact_records_drain(bitpact_record_fn line, void *context,
                                     uint64_t *dropped) {
  return guard([&] {
    if (!line)
      fail(BITPACT_INVALID_ARGUMENT, "line: is NULL");
    uint64_t lost = runtime::drainRecords(line, context);
    if (dropped)
      *dropped = lost;
  });
}
