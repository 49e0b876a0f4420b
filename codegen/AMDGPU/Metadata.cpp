// Metadata.cpp - reads the note of an hsaco
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/AMDGPU/Metadata.h"
#include "llvm/BinaryFormat/ELF.h"
#include "llvm/BinaryFormat/MsgPackDocument.h"
#include "llvm/Object/ELFObjectFile.h"
#include <algorithm>

using namespace llvm;

namespace bitpact::codegen {
namespace {

/// The contents of the AMDGPU note; empty if there is none.
Expected<StringRef> noteOf(const object::ELF64LEFile &file) {
  auto headers = file.program_headers();
  if (!headers)
    return headers.takeError();
  for (const auto &header : *headers) {
    if (header.p_type != ELF::PT_NOTE)
      continue;
    Error error = Error::success();
    for (const auto &note : file.notes(header, error))
      if (note.getName() == "AMDGPU" &&
          note.getType() == ELF::NT_AMDGPU_METADATA)
        return note.getDescAsStringRef(std::max<size_t>(4, header.p_align));
    if (error)
      return error;
  }
  return StringRef();
}

unsigned number(msgpack::MapDocNode &map, StringRef key) {
  auto it = map.find(key);
  if (it == map.end() || it->second.getKind() != msgpack::Type::UInt)
    return 0;
  return unsigned(it->second.getUInt());
}

std::string text(msgpack::MapDocNode &map, StringRef key) {
  auto it = map.find(key);
  if (it == map.end() || !it->second.isString())
    return {};
  return it->second.getString().str();
}

HsaKernel kernelOf(msgpack::MapDocNode &map) {
  HsaKernel kernel;
  kernel.name = text(map, ".name");
  kernel.vgprs = number(map, ".vgpr_count");
  kernel.sgprs = number(map, ".sgpr_count");
  kernel.vgprSpills = number(map, ".vgpr_spill_count");
  kernel.sgprSpills = number(map, ".sgpr_spill_count");
  kernel.lds = number(map, ".group_segment_fixed_size");
  kernel.scratch = number(map, ".private_segment_fixed_size");
  kernel.wave = number(map, ".wavefront_size");
  kernel.threads = number(map, ".max_flat_workgroup_size");
  return kernel;
}

} // namespace

Resources HsaMetadata::resources() const {
  Resources most;
  for (const HsaKernel &kernel : kernels) {
    most.registers = std::max(most.registers, kernel.vgprs);
    most.shared = std::max(most.shared, kernel.lds);
    most.local = std::max(most.local, kernel.scratch);
    most.spills = std::max(most.spills, kernel.vgprSpills);
  }
  return most;
}

Expected<HsaMetadata> readHsaMetadata(ArrayRef<uint8_t> object) {
  StringRef bytes(reinterpret_cast<const char *>(object.data()), object.size());
  auto file = object::ELF64LEFile::create(bytes);
  if (!file)
    return file.takeError();
  HsaMetadata result;
  // ELFABIVERSION_AMDGPU_HSA_V2 is 0, and so on.
  result.codeObject = file->getHeader().e_ident[ELF::EI_ABIVERSION] + 2u;
  auto note = noteOf(*file);
  if (!note)
    return note.takeError();
  msgpack::Document document;
  if (note->empty() || !document.readFromBlob(*note, /*Multi=*/false) ||
      !document.getRoot().isMap())
    return createStringError("the object has no AMDGPU metadata");
  msgpack::MapDocNode &root = document.getRoot().getMap();
  result.target = text(root, "amdhsa.target");
  auto kernels = root.find("amdhsa.kernels");
  if (kernels != root.end() && kernels->second.isArray())
    for (msgpack::DocNode &node : kernels->second.getArray())
      if (node.isMap())
        result.kernels.push_back(kernelOf(node.getMap()));
  return result;
}

} // namespace bitpact::codegen
