// BuildId.cpp - which compiler this is, by the notes of the linker
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/Pipeline/Cache.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Config/llvm-config.h"

#include <cstring>
#include <elf.h>
#include <link.h>

using namespace bitpact;

namespace {

/// The note NT_GNU_BUILD_ID in one segment of notes, in hexadecimal.
std::string idIn(const char *notes, size_t bytes) {
  while (bytes >= sizeof(ElfW(Nhdr))) {
    ElfW(Nhdr) note;
    std::memcpy(&note, notes, sizeof note);
    size_t name = (note.n_namesz + 3) & ~size_t(3);
    size_t content = (note.n_descsz + 3) & ~size_t(3);
    size_t whole = sizeof note + name + content;
    if (whole > bytes)
      break;
    const char *text = notes + sizeof note;
    if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 &&
        !std::memcmp(text, "GNU", 4))
      return llvm::toHex(llvm::StringRef(text + name, note.n_descsz), true);
    notes += whole;
    bytes -= whole;
  }
  return "";
}

struct Search {
  uintptr_t here;
  std::string ids;
  bool complete = true;
};

int visit(dl_phdr_info *object, size_t, void *context) {
  auto &search = *static_cast<Search *>(context);
  bool own = false;
  std::string id;
  for (unsigned i = 0; i < object->dlpi_phnum; ++i) {
    const ElfW(Phdr) &segment = object->dlpi_phdr[i];
    uintptr_t begin = object->dlpi_addr + segment.p_vaddr;
    if (segment.p_type == PT_LOAD)
      own |= search.here >= begin && search.here < begin + segment.p_memsz;
    if (segment.p_type == PT_NOTE && id.empty())
      id = idIn(reinterpret_cast<const char *>(begin), segment.p_memsz);
  }
  llvm::StringRef name = object->dlpi_name ? object->dlpi_name : "";
  if (!own && !name.contains("LLVM") && !name.contains("MLIR"))
    return 0;
  search.complete &= !id.empty();
  search.ids += (search.ids.empty() ? "" : " ") + id;
  return 0;
}

} // namespace

std::string pipeline::buildId() {
  Search search{reinterpret_cast<uintptr_t>(&pipeline::buildId), "", true};
  dl_iterate_phdr(visit, &search);
  return search.complete && !search.ids.empty()
             ? LLVM_VERSION_STRING " " + search.ids
             : "";
}
