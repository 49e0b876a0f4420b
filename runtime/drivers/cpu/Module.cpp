// Module.cpp - memfd, seal, dlopen
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/drivers/cpu/Module.h"

#include "runtime/core/Error.h"

#include <cerrno>
#include <cstring>
#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>
#include <vector>

#ifndef MFD_EXEC
#define MFD_EXEC 0x0010U
#endif

namespace bitpact::drivers {

using runtime::fail;

// Linux 6.3 wants MFD_EXEC said; older ones do not know it.
static int createMemoryFile() {
  unsigned flags = MFD_CLOEXEC | MFD_ALLOW_SEALING;
  int fd = ::memfd_create("bitpact-code", flags | MFD_EXEC);
  return fd < 0 && errno == EINVAL ? ::memfd_create("bitpact-code", flags) : fd;
}

static void writeAll(int fd, const std::string &bytes,
                     const std::string &file) {
  for (size_t done = 0; done < bytes.size();) {
    ssize_t put = ::write(fd, bytes.data() + done, bytes.size() - done);
    if (put < 0 && errno == EINTR)
      continue;
    if (put <= 0)
      fail(BITPACT_DRIVER_ERROR, "{}: cannot be copied to memory: {}", file,
           std::strerror(errno));
    done += size_t(put);
  }
}

// The loader takes an object of the same path for the same object. One that
// stayed mapped after its descriptor was closed must not stand in for this
// one, so a descriptor whose path is taken is passed over.
static std::string freePath(int &fd) {
  std::vector<int> taken;
  std::string path;
  while (true) {
    path = fmt::format("/proc/self/fd/{}", fd);
    void *stale = ::dlopen(path.c_str(), RTLD_NOW | RTLD_NOLOAD);
    if (!stale)
      break;
    ::dlclose(stale);
    taken.push_back(fd);
    fd = ::fcntl(fd, F_DUPFD_CLOEXEC, fd + 1);
    if (fd < 0)
      break;
  }
  for (int old : taken)
    ::close(old);
  if (fd < 0)
    fail(BITPACT_DRIVER_ERROR, "no file descriptor is left to load code");
  return path;
}

#if defined(__aarch64__)
constexpr unsigned hostMachine = EM_AARCH64;
#else
constexpr unsigned hostMachine = EM_X86_64;
#endif

// The loader maps what the headers say and faults on pages that are not there,
// so a cut object is found before.
static void checkObject(const std::string &bytes, const std::string &file) {
  auto refuse = [&](const char *why) {
    fail(BITPACT_BAD_PACKAGE, "{}: cannot be loaded: {}", file, why);
  };
  using Header = ElfW(Ehdr);
  using Segment = ElfW(Phdr);
  Header header;
  if (bytes.compare(0, SELFMAG, ELFMAG) != 0)
    refuse("it is not a shared object (no ELF header)");
  if (bytes.size() < sizeof header)
    refuse("its ELF header is cut short");
  std::memcpy(&header, bytes.data(), sizeof header);
  if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_type != ET_DYN ||
      header.e_phentsize != sizeof(Segment))
    refuse("it is not a 64-bit shared object");
  if (header.e_machine != hostMachine)
    refuse("it is code for another machine");
  uint64_t size = bytes.size();
  if (header.e_phoff > size ||
      header.e_phnum > (size - header.e_phoff) / sizeof(Segment))
    refuse("its program headers are cut short");
  for (unsigned i = 0; i < header.e_phnum; ++i) {
    Segment segment;
    std::memcpy(&segment, bytes.data() + header.e_phoff + i * sizeof segment,
                sizeof segment);
    if (segment.p_offset > size || segment.p_filesz > size - segment.p_offset)
      refuse("a segment is cut short");
  }
}

Module::Module(const std::string &bytes, const std::string &file) : file(file) {
  checkObject(bytes, file);
  try {
    fd = createMemoryFile();
    if (fd < 0)
      fail(BITPACT_DRIVER_ERROR, "{}: memory for code: {}", file,
           std::strerror(errno));
    writeAll(fd, bytes, file);
    if (::fcntl(fd, F_ADD_SEALS,
                F_SEAL_WRITE | F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL))
      fail(BITPACT_DRIVER_ERROR, "{}: code cannot be sealed: {}", file,
           std::strerror(errno));
    std::string path = freePath(fd);
    handle = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!handle)
      fail(BITPACT_BAD_PACKAGE, "{}: cannot be loaded: {}", file, ::dlerror());
  } catch (...) {
    if (fd >= 0)
      ::close(fd);
    throw;
  }
}

Module::~Module() {
  ::dlclose(handle);
  ::close(fd);
}

void *Module::symbol(const std::string &name) const {
  void *address = ::dlsym(handle, name.c_str());
  if (!address)
    fail(BITPACT_BAD_PACKAGE, "{}: has no entry '{}'", file, name);
  return address;
}

} // namespace bitpact::drivers
