// CublasLtApi.cpp - finds cuBLASLt
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/drivers/cuda/CublasLtApi.h"

#include "runtime/core/Error.h"

#include <dlfcn.h>
#include <memory>
#include <mutex>

namespace bitpact::drivers::cublaslt {

using runtime::fail;

int dataType(package::ElementType type) {
  switch (type) {
  case package::ElementType::F32:
    return 0;
  case package::ElementType::F64:
    return 1;
  case package::ElementType::F16:
    return 2;
  case package::ElementType::BF16:
    return 14;
  case package::ElementType::I32:
  case package::ElementType::I64:
    break;
  }
  fail(BITPACT_BAD_PACKAGE, "cublaslt: no product of {}", package::name(type));
}

static std::unique_ptr<Api> load(std::string &why) {
  void *library = nullptr;
  for (const char *name : {"libcublasLt.so.13", "libcublasLt.so.12"})
    if (!library && !(library = ::dlopen(name, RTLD_NOW | RTLD_LOCAL)))
      why = why.empty() ? ::dlerror() : why;
  if (!library)
    return nullptr;
  auto api = std::make_unique<Api>();
  bool complete = true;
  auto find = [&](auto &member, const char *symbol) {
    void *address = ::dlsym(library, symbol);
    member = reinterpret_cast<std::decay_t<decltype(member)>>(address);
    if (!address) {
      why = std::string("libcublasLt has no ") + symbol;
      complete = false;
    }
  };
#define BITPACT_CUBLASLT_FIND(member, symbol, parameters)                      \
  find(api->member, #symbol);
  BITPACT_CUBLASLT_FUNCTIONS(BITPACT_CUBLASLT_FIND)
#undef BITPACT_CUBLASLT_FIND
  find(api->versionNumber, "cublasLtGetVersion");
  find(api->statusText, "cublasLtGetStatusString");
  return complete ? std::move(api) : nullptr;
}

const Api *Api::find(std::string &why) {
  // A failure is not remembered: whoever calls may load the library meanwhile.
  static std::mutex mutex;
  static std::unique_ptr<Api> api;
  std::lock_guard<std::mutex> lock(mutex);
  if (!api)
    api = load(why);
  return api.get();
}

void Api::check(Status status, const char *what) const {
  if (status)
    fail(BITPACT_DRIVER_ERROR, "{}: {} ({})", what, statusText(status), status);
}

Layouts layouts(const Api &api, package::ElementType operands,
                package::ElementType result, const Shape &shape) {
  Layouts made;
  auto init = [&](Layout &layout, package::ElementType type, int64_t rows,
                  int64_t columns, int64_t stride) {
    api.check(api.layoutInit(&layout, sizeof layout, dataType(type),
                             uint64_t(rows), uint64_t(columns), stride),
              "cublasLtMatrixLayoutInit");
  };
  init(made.columns, operands, shape.k, shape.n, shape.columnsStride);
  init(made.rows, operands, shape.k, shape.m, shape.rowsStride);
  init(made.result, result, shape.n, shape.m, shape.resultStride);
  return made;
}

Desc makeDesc(const Api &api) {
  Desc desc = nullptr;
  api.check(api.descCreate(&desc, computeF32, scaleF32),
            "cublasLtMatmulDescCreate");
  int32_t transpose = operationTranspose, none = operationNone;
  api.check(api.descSet(desc, descTransposeA, &transpose, sizeof transpose),
            "cublasLtMatmulDescSetAttribute");
  api.check(api.descSet(desc, descTransposeB, &none, sizeof none),
            "cublasLtMatmulDescSetAttribute");
  return desc;
}

std::map<std::string, int64_t> settingsOf(const Api &api,
                                          const Algorithm &algorithm) {
  std::map<std::string, int64_t> found;
  for (const Setting &setting : settings) {
    uint64_t value = 0; // little-endian
    size_t written = 0;
    api.check(api.algorithmGet(&algorithm, setting.attribute, &value,
                               setting.bytes, &written),
              setting.name);
    found[setting.name] = int64_t(value);
  }
  return found;
}

std::string settingsText(const std::map<std::string, int64_t> &found) {
  std::string text;
  for (const Setting &setting : settings)
    if (auto one = found.find(setting.name); one != found.end())
      text += fmt::format("{}{}={}", text.empty() ? "" : " ", one->first,
                          one->second);
  return text;
}

std::string stored(const Algorithm &algorithm) {
  const auto *bytes = reinterpret_cast<const unsigned char *>(&algorithm);
  std::string digits;
  for (size_t i = 0; i < sizeof algorithm; ++i)
    digits += fmt::format("{:02x}", bytes[i]);
  return digits;
}

bool restore(const std::string &digits, Algorithm &algorithm) {
  if (digits.size() != 2 * sizeof algorithm)
    return false;
  auto *bytes = reinterpret_cast<unsigned char *>(&algorithm);
  for (size_t i = 0; i < sizeof algorithm; ++i)
    bytes[i] = static_cast<unsigned char>(
        std::stoi(digits.substr(2 * i, 2), nullptr, 16));
  return true;
}

} // namespace bitpact::drivers::cublaslt
