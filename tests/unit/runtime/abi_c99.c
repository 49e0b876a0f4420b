// abi_c99.c - bitpact.h is plain C99
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/include/bitpact.h"

int bitpactTestFromC(void);

/* The C library's user: 0, or the line that went wrong. */
int bitpactTestFromC(void) {
  bitpact_device *device = NULL;
  bitpact_device_info info = {0};
  if (bitpact_abi_version() != BITPACT_ABI_VERSION)
    return __LINE__;
  if (bitpact_device_open("cpu", NULL, &device) != BITPACT_OK)
    return __LINE__;
  info.size = sizeof info;
  if (bitpact_device_get_info(device, &info) != BITPACT_OK)
    return __LINE__;
  if (info.target_kind != BITPACT_TARGET_CPU || info.arch_count == 0)
    return __LINE__;
  bitpact_device_close(device);
  return 0;
}
