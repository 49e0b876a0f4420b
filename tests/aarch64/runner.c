// runner.c - runs kernels of a shared object on AArch64, under an emulator
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/* runner OBJECT ENTRY…, jobs on stdin, their buffers on stdout. A job is
 *   u64 slots, then for each: u64 0, u64 value
 *                         or: u64 1, u64 bytes, u64 offset, the bytes
 *   for each entry: u64 programs
 * A buffer is aligned to 256 bytes; its slot is the address of its offset. */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { mostSlots = 96, mostEntries = 8 };
typedef void (*Entry)(const uint64_t *, int64_t, int64_t);

static void die(const char *what) {
  fprintf(stderr, "runner: %s\n", what);
  exit(2);
}

static int readAll(void *to, size_t bytes) {
  return fread(to, 1, bytes, stdin) == bytes;
}

static uint64_t number(void) {
  uint64_t value;
  if (!readAll(&value, sizeof value))
    die("a job is cut short");
  return value;
}

static uint64_t environment(void) {
  uint64_t fpcr;
  __asm__ volatile("mrs %0, fpcr" : "=r"(fpcr));
  return fpcr;
}

int main(int count, char **words) {
  if (count < 3 || count - 2 > mostEntries)
    die("usage: runner OBJECT ENTRY...");
  void *object = dlopen(words[1], RTLD_NOW);
  if (!object)
    die(dlerror());
  Entry entries[mostEntries];
  for (int i = 2; i < count; ++i)
    if (!(entries[i - 2] = (Entry)dlsym(object, words[i])))
      die("no such entry");
  uint64_t slotCount;
  while (readAll(&slotCount, sizeof slotCount)) {
    uint64_t slots[mostSlots], bytes[mostSlots];
    char *buffers[mostSlots];
    if (slotCount > mostSlots)
      die("too many slots");
    for (uint64_t i = 0; i < slotCount; ++i) {
      bytes[i] = 0;
      buffers[i] = NULL;
      if (number() == 0) {
        slots[i] = number();
        continue;
      }
      bytes[i] = number();
      uint64_t offset = number();
      buffers[i] = aligned_alloc(256, (bytes[i] + 511) & ~(uint64_t)255);
      if (!buffers[i] || !readAll(buffers[i], bytes[i]))
        die("a buffer is cut short");
      slots[i] = (uint64_t)(uintptr_t)(buffers[i] + offset);
    }
    for (int i = 2; i < count; ++i) {
      int64_t programs = (int64_t)number();
      /* In two pieces, as threads would share them out. */
      entries[i - 2](slots, 0, programs / 2);
      entries[i - 2](slots, programs / 2, programs);
    }
    if (environment() != 0)
      die("the floating-point environment was changed");
    for (uint64_t i = 0; i < slotCount; ++i)
      if (buffers[i] && fwrite(buffers[i], 1, bytes[i], stdout) != bytes[i])
        die("cannot write");
    for (uint64_t i = 0; i < slotCount; ++i)
      free(buffers[i]);
  }
  return fflush(stdout) ? 2 : 0;
}
