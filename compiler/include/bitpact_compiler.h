/* bitpact_compiler.h - the compiler as a shared library: JSON in, JSON out
   Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
   SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */

#ifndef BITPACT_COMPILER_H
#define BITPACT_COMPILER_H

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define BITPACT_COMPILER_API __attribute__((visibility("default")))
#else
#define BITPACT_COMPILER_API
#endif

/* Grows when a request or an answer changes its meaning. */
#define BITPACT_COMPILER_ABI 1

/* What is being done, and how much of it: `done` of `total`. */
typedef void (*bitpact_compiler_progress)(void *context, const char *what,
                                          int done, int total);

/* Runs one request and returns its answer, to be freed with
   bitpact_compiler_free; null only when memory is exhausted. `progress` may be
   null. Requests, by "command":
     {"command":"expand","contracts":[paths]}
       -> "contracts":[{"path","canonical","digest"}]
     {"command":"format","contract":path}
       -> "text"
     {"command":"compile","contracts":[paths],"output":dir,
      "targets":["cpu","cuda:sm_90a"],"roles":["train"],"stop_after":"",
      "cache":dir}
       -> "package", "variants":[ids], "text", "from_cache":number
     ("cache" may be left out; the package is the same with and without. So may
     "targets": then CPUs, or where they lack an atom of a contract the targets
     that have it)
   Every answer has "status", 0 done, 2 the user's error, 70 a defect of the
   compiler, and "diagnostics":[{"severity","file","line","column","message",
   "notes":[...]}]; line 0 says that the whole file is meant. */
BITPACT_COMPILER_API char *
bitpact_compiler_run(const char *request_json,
                     bitpact_compiler_progress progress, void *context);
BITPACT_COMPILER_API void bitpact_compiler_free(char *answer);
BITPACT_COMPILER_API int bitpact_compiler_abi(void);

#ifdef __cplusplus
}
#endif

#endif /* BITPACT_COMPILER_H */
