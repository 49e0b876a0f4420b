// Worker.cpp - loads a symbol and calls it with guarded memory
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/evidence/foreign/Worker.h"
#include "tools/evidence/foreign/Signature.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <fcntl.h>
#include <ffi.h>
#include <fmt/format.h>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

using nlohmann::json;

namespace bitpact::evidence::foreign {
namespace {

/// What lies around an operand: no value that a sum could hide.
constexpr uint8_t Filler = 0xff;

ffi_type *ffiType(CType type) {
  switch (type) {
  case CType::Void:
    return &ffi_type_void;
  case CType::Char:
    return &ffi_type_uint8;
  case CType::BF16:
  case CType::F16:
    return &ffi_type_uint16;
  case CType::I32:
    return &ffi_type_sint32;
  case CType::I64:
    return &ffi_type_sint64;
  case CType::F32:
    return &ffi_type_float;
  case CType::F64:
    return &ffi_type_double;
  }
  return &ffi_type_void;
}

/// An operand's memory: starts on a cache line, and after at most 63 bytes of
/// filler comes a page that nobody may touch.
class Guarded {
public:
  explicit Guarded(size_t bytes) : used(bytes) {
    size_t page = static_cast<size_t>(::sysconf(_SC_PAGESIZE));
    padded = static_cast<size_t>(aligned(static_cast<int64_t>(bytes)));
    size_t body = (padded + page - 1) / page * page;
    mapped = body + 2 * page;
    void *memory = ::mmap(nullptr, mapped, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
      throw std::bad_alloc();
    base = static_cast<uint8_t *>(memory);
    ::mprotect(base, page, PROT_NONE);
    ::mprotect(base + page + body, page, PROT_NONE);
    std::memset(base + page, Filler, body);
    start = base + page + body - padded;
  }
  ~Guarded() { ::munmap(base, mapped); }
  Guarded(const Guarded &) = delete;
  Guarded &operator=(const Guarded &) = delete;

  uint8_t *data() const { return start; }
  size_t bytes() const { return used; }
  bool overrun() const {
    return std::any_of(start + used, start + padded,
                       [](uint8_t byte) { return byte != Filler; });
  }

private:
  uint8_t *base = nullptr, *start = nullptr;
  size_t mapped = 0, padded = 0, used = 0;
};

class Worker {
public:
  explicit Worker(int memory) : memory(memory) {}

  json answer(const json &request) {
    if (request.contains("library"))
      return load(request);
    return run(request.at("runs").get<int64_t>());
  }

private:
  json load(const json &request) {
    std::string library = request.at("library"), symbol = request.at("symbol");
    void *handle = ::dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!handle)
      return {{"error", fmt::format("cannot be loaded: {}", ::dlerror())},
              {"place", "library"}};
    ::dlerror();
    function = ::dlsym(handle, symbol.c_str());
    if (!function) {
      const char *why = ::dlerror();
      return {{"error", why ? why : "the symbol is null"}, {"place", "symbol"}};
    }
    operands.clear();
    outputs.clear();
    names.clear();
    for (const json &one : request.at("operands")) {
      operands.push_back(
          std::make_unique<Guarded>(one.at("bytes").get<size_t>()));
      outputs.push_back(one.at("output"));
      names.push_back(one.at("name"));
    }
    arguments(request.at("arguments"));
    result = static_cast<CType>(request.at("result").get<int>());
    if (ffi_prep_cif(&interface, FFI_DEFAULT_ABI,
                     static_cast<unsigned>(types.size()), ffiType(result),
                     types.data()) != FFI_OK)
      return {{"error", "the signature cannot be called"}, {"place", "symbol"}};
    return json{{"loaded", true}, {"environment", environment()}};
  }

  void arguments(const json &list) {
    types.clear();
    values.assign(list.size(), 0);
    referenced.assign(list.size(), 0);
    for (size_t i = 0; i < list.size(); ++i) {
      auto kind = static_cast<Argument::Kind>(list[i].at("kind").get<int>());
      uint64_t bits = list[i].at("bits");
      types.push_back(&ffi_type_pointer);
      if (kind == Argument::Kind::Value) {
        types.back() = ffiType(static_cast<CType>(list[i].at("type")));
        values[i] = bits;
      } else if (kind == Argument::Kind::Reference) {
        referenced[i] = bits;
        values[i] = reinterpret_cast<uint64_t>(&referenced[i]);
      } else {
        values[i] = reinterpret_cast<uint64_t>(
            operands[list[i].at("operand").get<size_t>()]->data());
      }
    }
    pointers.clear();
    for (uint64_t &value : values)
      pointers.push_back(&value);
  }

  json run(int64_t runs) {
    struct stat about {};
    ::fstat(memory, &about);
    size_t size = static_cast<size_t>(about.st_size);
    void *mapped =
        ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, memory, 0);
    if (mapped == MAP_FAILED)
      return {{"error", "cannot map the shared memory"}, {"place", "symbol"}};
    auto *header = static_cast<SharedHeader *>(mapped);
    uint8_t *at = static_cast<uint8_t *>(mapped) + SharedAlignment;
    json answer{{"done", runs}};
    for (int64_t i = 0; i < runs; ++i) {
      header->started = static_cast<uint64_t>(i) + 1;
      at = one(at, answer);
    }
    ::munmap(mapped, size);
    answer["environment"] = environment();
    return answer;
  }

  /// One call; returns where the next one's operands lie.
  uint8_t *one(uint8_t *at, json &answer) {
    uint8_t *from = at;
    for (auto &operand : operands) {
      std::memcpy(operand->data(), from, operand->bytes());
      from += aligned(static_cast<int64_t>(operand->bytes()));
    }
    union {
      ffi_arg whole;
      float f32;
      double f64;
      uint64_t bits;
    } returned{};
    ffi_call(&interface, FFI_FN(function), &returned, pointers.data());
    for (size_t i = 0; i < operands.size(); ++i) {
      Guarded &operand = *operands[i];
      if (i + 1 == operands.size() && result != CType::Void)
        std::memcpy(at, &returned, operand.bytes());
      else if (outputs[i])
        std::memcpy(at, operand.data(), operand.bytes());
      else if (std::memcmp(at, operand.data(), operand.bytes()))
        answer["changed"] = names[i];
      if (operand.overrun())
        answer["overrun"] = names[i];
      at += aligned(static_cast<int64_t>(operand.bytes()));
    }
    return at;
  }

  /// A library may change how every later operation rounds.
  static std::string environment() {
    std::string text;
#if defined(__x86_64__)
    unsigned state = _mm_getcsr();
    if (state & 0x8000)
      text += "flush-to-zero is on";
    if (state & 0x0040)
      text +=
          std::string(text.empty() ? "" : ", ") + "denormals-are-zero is on";
    if (state & 0x6000)
      text +=
          std::string(text.empty() ? "" : ", ") + "rounding is not to nearest";
#endif
    return text;
  }

  int memory;
  void *function = nullptr;
  CType result = CType::Void;
  std::vector<std::unique_ptr<Guarded>> operands;
  std::vector<bool> outputs;
  std::vector<std::string> names;
  ffi_cif interface {};
  std::vector<ffi_type *> types;
  std::vector<uint64_t> values, referenced;
  std::vector<void *> pointers;
};

} // namespace

bool isWorker(int argc, char **argv) {
  return argc == 3 && !std::strcmp(argv[1], WorkerArgument);
}

int runWorker(int argc, char **argv) {
  // Foreign code may print: what it writes to standard output goes where its
  // errors go, at once, and the conversation moves to other descriptors.
  FILE *requests = ::fdopen(::fcntl(0, F_DUPFD_CLOEXEC, 10), "r");
  FILE *answers = ::fdopen(::fcntl(1, F_DUPFD_CLOEXEC, 10), "w");
  int nothing = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  if (!requests || !answers || nothing < 0)
    return 70;
  ::dup2(nothing, 0);
  ::dup2(2, 1);
  std::setvbuf(stdout, nullptr, _IONBF, 0);
  Worker worker(std::atoi(argv[2]));
  char *line = nullptr;
  size_t capacity = 0;
  while (::getline(&line, &capacity, requests) > 0) {
    std::string text = worker.answer(json::parse(line))
                           .dump(-1, ' ', true, json::error_handler_t::replace);
    std::fprintf(answers, "%s\n", text.c_str());
    std::fflush(answers);
  }
  std::free(line);
  ::_exit(0); // Without what the library would do at exit.
}

} // namespace bitpact::evidence::foreign
