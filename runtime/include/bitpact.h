/* bitpact.h - the C interface of the Bitpact runtime.
 * Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Open a package, open a device, look a kernel up once, prepare it, launch it.
 *
 * Every call returns a status; bitpact_last_error() then names the culprit, in
 * the calling thread, until that thread's next call that fails. No exception
 * leaves the library and nothing is printed. Every struct begins with `size`:
 * the caller sets it to sizeof the struct, so that structs can grow; the
 * library fills at most that many bytes. Strings in infos live as long as the
 * package or device they came from. All functions may be called from several
 * threads at once, except that closing an object must be the last use of it.
 */
#ifndef BITPACT_RUNTIME_INCLUDE_BITPACT_H
#define BITPACT_RUNTIME_INCLUDE_BITPACT_H

#include <dlpack/dlpack.h>
#include <stddef.h>
#include <stdint.h>

#if defined(BITPACT_BUILDING)
#define BITPACT_API __attribute__((visibility("default")))
#else
#define BITPACT_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

#define BITPACT_ABI_VERSION 1

typedef enum bitpact_status {
  BITPACT_OK = 0,
  BITPACT_INVALID_ARGUMENT = 1, /* a null or malformed argument of the call */
  BITPACT_NOT_FOUND = 2,        /* no such package, contract, index, role */
  BITPACT_BAD_PACKAGE = 3,      /* truncated, altered or malformed package */
  BITPACT_MISSING_VARIANT = 4,  /* nothing in the package fits; those it has
                                   are listed */
  BITPACT_MISSING_DEVICE = 5,   /* no such device, or no driver for it */
  BITPACT_BAD_TENSOR = 6,       /* dtype, rank, shape, strides, overlap */
  BITPACT_DRIVER_ERROR = 7,     /* what the device's driver reported */
  BITPACT_OUT_OF_MEMORY = 8,
  BITPACT_FORKED = 9, /* the object was made before a fork */
  BITPACT_BAD_STATE = 10,
  BITPACT_MISSING_LIBRARY = 11,  /* a variant is pinned to a library that is
                                    not here in that version */
  BITPACT_CHALLENGE_FAILED = 12, /* a pinned library gives other bytes than
                                    those it was admitted for */
  BITPACT_INTERNAL = 70
} bitpact_status;

/* The version this library implements; compare with BITPACT_ABI_VERSION. */
BITPACT_API uint32_t bitpact_abi_version(void);
BITPACT_API const char *bitpact_version(void);
BITPACT_API const char *bitpact_status_name(bitpact_status status);
BITPACT_API const char *bitpact_last_error(void);

/* What the library does (opens, loads), one line a message. NULL turns it
 * off, as at the start. */
typedef void (*bitpact_log_fn)(void *context, const char *message);
BITPACT_API void bitpact_set_log(bitpact_log_fn log, void *context);

/* ---- packages: no driver is touched ------------------------------------ */

typedef struct bitpact_package bitpact_package;

/* Reads and verifies every file of the package. */
BITPACT_API bitpact_status bitpact_package_open(const char *path,
                                                bitpact_package **package);
/* Kernels that came from the package stay valid. */
BITPACT_API void bitpact_package_close(bitpact_package *package);

typedef struct bitpact_package_info {
  size_t size;
  const char *path;
  int64_t format;
  const char *producer; /* JSON object: tool -> version */
  const char *sha256;   /* of the manifest */
  uint32_t contract_count;
  uint32_t variant_count;
} bitpact_package_info;
BITPACT_API bitpact_status bitpact_package_get_info(
    const bitpact_package *package, bitpact_package_info *info);

typedef struct bitpact_contract_info {
  size_t size;
  const char *digest; /* 64 hexadecimal digits */
  const char *name;
  const char *op;   /* rms_norm@1 */
  const char *text; /* canonical JSON */
  uint32_t tensor_count;
  uint32_t dim_count;
} bitpact_contract_info;
BITPACT_API bitpact_status
bitpact_contract_get_info(const bitpact_package *package, uint32_t contract,
                          bitpact_contract_info *info);

/* Tensors in the order in which a launch takes them. */
typedef struct bitpact_tensor_info {
  size_t size;
  const char *name;
  int is_output;
  const char *type; /* bf16 f16 f32 f64 i32 i64 */
  DLDataType dtype;
  uint32_t rank;
  const char *const *dims; /* rank names */
  int is_index; /* an input of integers that name elements of other tensors */
} bitpact_tensor_info;
BITPACT_API bitpact_status
bitpact_contract_get_tensor(const bitpact_package *package, uint32_t contract,
                            uint32_t tensor, bitpact_tensor_info *info);

typedef struct bitpact_dim_info {
  size_t size;
  const char *name;
  int64_t extent; /* -1: given by the launch */
} bitpact_dim_info;
BITPACT_API bitpact_status
bitpact_contract_get_dim(const bitpact_package *package, uint32_t contract,
                         uint32_t dim, bitpact_dim_info *info);

typedef enum bitpact_target_kind {
  BITPACT_TARGET_CPU = 1,
  BITPACT_TARGET_CUDA = 2,
  BITPACT_TARGET_HIP = 3
} bitpact_target_kind;

typedef struct bitpact_variant_info {
  size_t size;
  const char *id;
  uint32_t contract; /* index in the package */
  bitpact_target_kind target_kind;
  const char *target; /* cuda:sm_90a */
  uint32_t role_count;
  const char *const *roles;
  int64_t priority; /* lower is tried first */
  const char *entry;
  const char *schedule;
  const char *evidence; /* none model measured */
  const char *code_file;
  const char *code_sha256;
  int64_t code_bytes;
  uint32_t inspect_count;
  const char *const *inspect_files; /* relative to the package's path */
  int64_t threads, programs_per_cta, rows_per_program, shared_bytes;
  int64_t registers, shared, local, spills;
  const char *workspace;  /* bytes, as a formula over the dims */
  const char *conditions; /* JSON object: dims, align, stride_multiple, cost */
  const char *library;    /* "", or what computes it: cublaslt openblas */
} bitpact_variant_info;
BITPACT_API bitpact_status
bitpact_variant_get_info(const bitpact_package *package, uint32_t variant,
                         bitpact_variant_info *info);

/* ---- devices ------------------------------------------------------------ */

typedef struct bitpact_device bitpact_device;

typedef struct bitpact_device_options {
  size_t size;
  uint32_t threads; /* cpu: 0 takes one a core. Never changes a bit. */
} bitpact_device_options;

/* "cpu", "cpu:x86-64-v3" (only variants of that level), "cuda:0", "hip:0".
 * `options` may be NULL. */
BITPACT_API bitpact_status
bitpact_device_open(const char *name, const bitpact_device_options *options,
                    bitpact_device **device);
/* Kernels that came from the device stay valid. */
BITPACT_API void bitpact_device_close(bitpact_device *device);

typedef struct bitpact_device_info {
  size_t size;
  const char *name;        /* cuda:0 */
  const char *description; /* NVIDIA H200 */
  bitpact_target_kind target_kind;
  uint32_t arch_count; /* what it runs, best first: sm_90a, sm_90 */
  const char *const *archs;
  uint32_t units; /* threads of a cpu, multiprocessors of a gpu */
  DLDevice dl_device;
} bitpact_device_info;
BITPACT_API bitpact_status bitpact_device_get_info(const bitpact_device *device,
                                                   bitpact_device_info *info);

/* Memory and time, for tools that have no framework. Streams are those of the
 * device's driver (CUstream); NULL is its default stream, the only one of a
 * cpu. Allocations are aligned to 256 bytes. copy_in and copy_out return when
 * the copy is done; copy and fill are ordered in the stream. */
BITPACT_API bitpact_status bitpact_device_alloc(bitpact_device *device,
                                                uint64_t bytes, void **data);
BITPACT_API bitpact_status bitpact_device_free(bitpact_device *device,
                                               void *data);
BITPACT_API bitpact_status bitpact_device_copy_in(bitpact_device *device,
                                                  void *to_device,
                                                  const void *from_host,
                                                  uint64_t bytes);
BITPACT_API bitpact_status bitpact_device_copy_out(bitpact_device *device,
                                                   void *to_host,
                                                   const void *from_device,
                                                   uint64_t bytes);
BITPACT_API bitpact_status bitpact_device_copy(bitpact_device *device, void *to,
                                               const void *from, uint64_t bytes,
                                               void *stream);
BITPACT_API bitpact_status bitpact_device_fill(bitpact_device *device, void *to,
                                               uint8_t value, uint64_t bytes,
                                               void *stream);
BITPACT_API bitpact_status bitpact_device_synchronize(bitpact_device *device);
BITPACT_API bitpact_status bitpact_stream_create(bitpact_device *device,
                                                 void **stream);
BITPACT_API bitpact_status bitpact_stream_destroy(bitpact_device *device,
                                                  void *stream);

typedef struct bitpact_event bitpact_event;
BITPACT_API bitpact_status bitpact_event_create(bitpact_device *device,
                                                bitpact_event **event);
BITPACT_API bitpact_status bitpact_event_record(bitpact_event *event,
                                                void *stream);
/* Waits for `to`. */
BITPACT_API bitpact_status bitpact_event_elapsed(bitpact_event *from,
                                                 bitpact_event *to,
                                                 double *milliseconds);
BITPACT_API void bitpact_event_destroy(bitpact_event *event);

/* ---- kernels ------------------------------------------------------------ */

typedef struct bitpact_kernel bitpact_kernel;

/* Every variant of the contract that is made for this role and runs on this
 * device, best first, loaded. `variant` names the only one to take, or is
 * NULL. There is no fallback: no variant is BITPACT_MISSING_VARIANT. A variant
 * that is pinned to a library is there only if the library is, in that version
 * and on that device (the log says where it is not); if it is the only one,
 * that is BITPACT_MISSING_LIBRARY. It repeats its challenge now, and other
 * bytes than those it was admitted for are BITPACT_CHALLENGE_FAILED. */
BITPACT_API bitpact_status bitpact_kernel_lookup(const bitpact_package *package,
                                                 bitpact_device *device,
                                                 const char *contract_digest,
                                                 const char *role,
                                                 const char *variant,
                                                 bitpact_kernel **kernel);
BITPACT_API void bitpact_kernel_release(bitpact_kernel *kernel);

typedef struct bitpact_kernel_info {
  size_t size;
  uint32_t contract; /* index in the package */
  uint32_t variant_count;
  const uint32_t *variants; /* indices in the package, in order of trial */
} bitpact_kernel_info;
BITPACT_API bitpact_status bitpact_kernel_get_info(const bitpact_kernel *kernel,
                                                   bitpact_kernel_info *info);

typedef struct bitpact_dim {
  const char *name;
  int64_t extent;
} bitpact_dim;

/* Does what must not happen during a launch or a graph capture, for launches
 * up to these dims. Dims that the contract fixes may be left out. */
BITPACT_API bitpact_status bitpact_kernel_prepare(bitpact_kernel *kernel,
                                                  const bitpact_dim *dims,
                                                  uint32_t dim_count);
/* Enough for every variant and for every launch up to these dims. */
BITPACT_API bitpact_status
bitpact_kernel_workspace(const bitpact_kernel *kernel, const bitpact_dim *dims,
                         uint32_t dim_count, uint64_t *bytes);

typedef struct bitpact_launch_args {
  size_t size;
  const DLTensor *const *tensors; /* in the contract's order */
  uint32_t tensor_count;
  void *stream;
  void *workspace; /* aligned to 256 bytes, may be NULL if 0 bytes */
  uint64_t workspace_bytes;
  uint64_t site; /* the caller's number for this call site, for records */
  /* May be missing from the end, and is 0 then. Bit i: tensor i is an input that
   * nothing writes which may still run when the launch begins: neither work that
   * precedes it in its stream nor any other. Weights between two updates are. A
   * kernel may then read them while it waits for what precedes it. */
  uint64_t steady;
} bitpact_launch_args;

/* Takes, of the variants whose conditions hold, those of the first priority, and
 * of these the one that says the least cost, or the first. Numbers are compared
 * and a kernel is started; nothing is allocated, waited for or looked up, so it
 * may be captured in a graph. On a cpu it returns when the work is done. */
BITPACT_API bitpact_status
bitpact_kernel_launch(bitpact_kernel *kernel, const bitpact_launch_args *args);
/* Indices that lie outside of what they index, and offsets that do not ascend
 * from 0 to their extent, never lead to a read: what depends on them is NaN,
 * and the kernel notes a fault. This waits for the device, sets `fault` to 1 if
 * a launch of this kernel had a fault since the last call, or to 0, and clears
 * it. Not during a graph capture. A kernel that can fault must be prepared
 * before its first launch (BITPACT_BAD_STATE). */
BITPACT_API bitpact_status bitpact_kernel_fault(bitpact_kernel *kernel,
                                                uint32_t *fault);
/* Which variant that launch would take (index in the package). */
BITPACT_API bitpact_status
bitpact_kernel_select(const bitpact_kernel *kernel,
                      const bitpact_launch_args *args, uint32_t *variant);

/* ---- records ------------------------------------------------------------ */

/* One record a launch, in a ring that is allocated once for the process. When
 * the ring is full, new records are dropped and counted. A launch over zero
 * rows starts no kernel and leaves no record.
 * configure sets the capacity (rounded up to a power of two; 16384 at the
 * start) and must come before the first device is opened. */
BITPACT_API bitpact_status bitpact_records_configure(uint32_t capacity);
typedef void (*bitpact_record_fn)(void *context, const char *json_line);
/* Hands every record to `line`, oldest first, each as one line of JSON
 * without its newline. `dropped`, if not NULL, receives how many were dropped
 * since the last drain. `line` may launch, but not drain. */
BITPACT_API bitpact_status bitpact_records_drain(bitpact_record_fn line,
                                                 void *context,
                                                 uint64_t *dropped);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* BITPACT_RUNTIME_INCLUDE_BITPACT_H */
