// OpenBlas.cpp - products by OpenBLAS
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/drivers/cpu/OpenBlas.h"

#include "runtime/drivers/ProductSlots.h"
#include "runtime/drivers/cpu/OpenBlasApi.h"
#include "runtime/drivers/cpu/Pool.h"

#include <limits>

namespace bitpact::drivers::openblas {
namespace {

class Product : public Code {
public:
  Product(const package::Variant &variant, const package::Pin &pin,
          const Api &api)
      : api(api), slots(variant, pin), type(pin.product.rows.type),
        threads(threadsOf(variant, pin)) {
    bool same = type == pin.product.columns.type &&
                type == pin.product.result.type &&
                (type == package::ElementType::F32 ||
                 type == package::ElementType::F64);
    if (!same)
      runtime::fail(BITPACT_BAD_PACKAGE,
                    "{}: the library multiplies f32 or f64 alone",
                    variant.code.file);
    if (api.threads() != threads)
      failLibrary(variant, pin, otherThreads());
  }

  // In the caller's thread, under the floating-point environment of all
  // launches; the library has threads of its own.
  void launch(const Work &work) override {
    if (api.threads() != threads)
      runtime::fail(BITPACT_BAD_STATE, "launch: {}", otherThreads());
    ProductCall call = slots.of(work);
    for (int64_t number : {call.m, call.n, call.k, call.rowsStride,
                           call.columnsStride, call.resultStride})
      if (number > std::numeric_limits<int>::max())
        runtime::fail(BITPACT_INVALID_ARGUMENT,
                      "launch: {} elements; the library counts to 2^31 - 1",
                      number);
    struct Context {
      const Product &product;
      const ProductCall &call;
    } context{*this, call};
    Pool::runAlone(
        [](const void *given, int64_t, int64_t) {
          const Context &context = *static_cast<const Context *>(given);
          const Api &api = context.product.api;
          if (context.product.type == package::ElementType::F32)
            multiply(api.single, context.call);
          else
            multiply(api.twice, context.call);
        },
        &context, 1);
  }

private:
  // How the library shares out a product, and so perhaps its bits, depends on
  // their number, which anybody in the process may set.
  static int64_t threadsOf(const package::Variant &variant,
                           const package::Pin &pin) {
    auto found = pin.algorithm.settings.find("threads");
    if (found == pin.algorithm.settings.end())
      runtime::fail(BITPACT_BAD_PACKAGE,
                    "{}: algorithm.settings misses the key 'threads'",
                    variant.code.file);
    return found->second;
  }
  std::string otherThreads() const {
    return fmt::format("the library runs {} threads, the variant is pinned to "
                       "{}: set OPENBLAS_NUM_THREADS={}",
                       api.threads(), threads, threads);
  }

  template <typename T>
  static void multiply(Gemm<T> gemm, const ProductCall &call) {
    gemm(rowMajor, noTranspose, transpose, int(call.m), int(call.n),
         int(call.k), T(1), static_cast<const T *>(call.rows),
         int(call.rowsStride), static_cast<const T *>(call.columns),
         int(call.columnsStride), T(0), static_cast<T *>(call.result),
         int(call.resultStride));
  }

  const Api &api;
  ProductSlots slots;
  package::ElementType type;
  int64_t threads;
};

} // namespace

std::unique_ptr<Code> makeCode(const package::Variant &variant,
                               const std::string &bytes) {
  package::Pin pin = package::parsePin(bytes, variant.code.file);
  std::string why;
  const Api *api = Api::find(why);
  if (!api)
    failLibrary(variant, pin, why);
  if (api->version != pin.version || api->core != pin.device)
    failLibrary(variant, pin,
                fmt::format("here is {} on {}", api->version, api->core));
  return std::make_unique<Product>(variant, pin, *api);
}

} // namespace bitpact::drivers::openblas
