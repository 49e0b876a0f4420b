// CublasLt.cpp - products by a pinned algorithm of cuBLASLt
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/drivers/cuda/CublasLt.h"

#include "runtime/drivers/ProductSlots.h"
#include "runtime/drivers/cuda/CublasLtApi.h"
#include "runtime/package/Formula.h"

namespace bitpact::drivers::cublaslt {
namespace {

class Product : public Code {
public:
  Product(const package::Variant &variant, const package::Pin &pin,
          const Api &api)
      : api(api), slots(variant, pin), operands(pin.product.rows.type),
        result(pin.product.result.type) {
    if (pin.product.columns.type != operands)
      runtime::fail(BITPACT_BAD_PACKAGE,
                    "{}: operands are {} and {}; the library takes one type",
                    variant.code.file, package::name(operands),
                    package::name(pin.product.columns.type));
    for (const auto &term : package::Formula::parse(variant.workspace).terms) {
      if (!term.factors.empty())
        runtime::fail(BITPACT_BAD_PACKAGE,
                      "variant '{}': workspace is '{}', must be a number",
                      variant.id, variant.workspace);
      workspaceBytes = size_t(term.coefficient);
    }
    api.check(api.create(&handle), "cublasLtCreate");
    try {
      desc = makeDesc(api);
      pinAlgorithm(variant, pin);
    } catch (...) {
      free();
      throw;
    }
  }
  ~Product() override { free(); }
  Product(const Product &) = delete;

  void launch(const Work &work) override {
    ProductCall call = slots.of(work);
    Layouts at = layouts(api, operands, result,
                         {call.m, call.n, call.k, call.rowsStride,
                          call.columnsStride, call.resultStride});
    const float one = 1, zero = 0;
    api.check(api.matmul(handle, desc, &one, call.columns, &at.columns,
                         call.rows, &at.rows, &zero, call.result, &at.result,
                         call.result, &at.result, &algorithm, call.workspace,
                         call.workspace ? workspaceBytes : 0, work.stream),
              "cublasLtMatmul");
  }

private:
  // What the library stored is what runs; what the pin says of it must be true.
  void pinAlgorithm(const package::Variant &variant, const package::Pin &pin) {
    if (!restore(pin.algorithm.stored, algorithm))
      runtime::fail(BITPACT_BAD_PACKAGE,
                    "{}: algorithm.stored has {} digits, must have {}",
                    variant.code.file, pin.algorithm.stored.size(),
                    2 * sizeof algorithm);
    std::map<std::string, int64_t> found = settingsOf(api, algorithm);
    if (found != pin.algorithm.settings)
      runtime::fail(BITPACT_BAD_PACKAGE,
                    "{}: algorithm.stored is that of {}, but the settings are "
                    "{}",
                    variant.code.file, settingsText(found),
                    settingsText(pin.algorithm.settings));
  }

  void free() {
    if (desc)
      (void)api.descDestroy(desc);
    (void)api.destroy(handle);
  }

  const Api &api;
  ProductSlots slots;
  package::ElementType operands, result;
  size_t workspaceBytes = 0;
  Handle handle = nullptr;
  Desc desc = nullptr;
  Algorithm algorithm = {};
};

} // namespace

std::unique_ptr<Code> makeCode(const package::Variant &variant,
                               const std::string &bytes,
                               const std::string &device) {
  package::Pin pin = package::parsePin(bytes, variant.code.file);
  std::string why;
  const Api *api = Api::find(why);
  if (!api)
    failLibrary(variant, pin, why);
  if (api->version() != pin.version || device != pin.device)
    failLibrary(variant, pin,
                fmt::format("here is {} on {}", api->version(), device));
  return std::make_unique<Product>(variant, pin, *api);
}

} // namespace bitpact::drivers::cublaslt
