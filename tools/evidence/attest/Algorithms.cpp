// Algorithms.cpp - what a library offers for a product
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/evidence/attest/Algorithms.h"

#include "runtime/core/Error.h"
#include "runtime/drivers/cpu/OpenBlasApi.h"
#include "runtime/drivers/cuda/CublasLtApi.h"
#include "tools/evidence/UserError.h"
#include "tools/evidence/attest/Subject.h"

#include <algorithm>
#include <dlfcn.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace lt = bitpact::drivers::cublaslt;
namespace blas = bitpact::drivers::openblas;

namespace bitpact::evidence::attest {
namespace {

/// As much as frameworks give the library.
constexpr size_t workspaceLimit = size_t(32) << 20;
constexpr int mostSuggestions = 64;
/// What the variant's conditions promise of every row.
constexpr uint32_t alignment = 16;

/// The library works in the context that is current in this thread.
void makeCurrent(const Device &device) {
  void *driver = ::dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  auto find = [&](const char *symbol) {
    return driver ? ::dlsym(driver, symbol) : nullptr;
  };
  auto get = reinterpret_cast<int (*)(int *, int)>(find("cuDeviceGet"));
  auto retain =
      reinterpret_cast<int (*)(void **, int)>(find("cuDevicePrimaryCtxRetain"));
  auto current = reinterpret_cast<int (*)(void *)>(find("cuCtxSetCurrent"));
  int number = 0;
  void *context = nullptr;
  if (!get || !retain || !current || get(&number, device.dlDevice.device_id) ||
      retain(&context, number) || current(context))
    throw DriverError(
        fmt::format("device '{}' cannot be made current", device.name));
}

class LtOffer {
public:
  LtOffer(const lt::Api &api, const package::PinnedProduct &product,
          const OfferOptions &options)
      : api(api), product(product), options(options) {
    api.check(api.create(&handle), "cublasLtCreate");
    desc = lt::makeDesc(api);
    api.check(api.preferenceInit(&preference, sizeof preference),
              "cublasLtMatmulPreferenceInit");
    prefer(lt::preferenceWorkspace, workspaceLimit);
    for (int operand = 0; operand < 4; ++operand)
      prefer(lt::preferenceAlignA + operand, alignment);
  }
  ~LtOffer() {
    (void)api.descDestroy(desc);
    (void)api.destroy(handle);
  }
  LtOffer(const LtOffer &) = delete;

  void suggest(const Dims &dims) {
    lt::Layouts at = layoutsAt(dims);
    lt::Heuristic found[mostSuggestions] = {};
    int count = 0;
    // A shape that the library does not take suggests nothing.
    if (api.heuristic(handle, desc, &at.columns, &at.rows, &at.result,
                      &at.result, &preference, options.suggestions, found,
                      &count))
      return;
    for (int i = 0; i < count; ++i)
      if (found[i].state == 0)
        note(found[i].algorithm, i);
  }

  void checkAll(const std::vector<Dims> &shapes, Offer &offer) {
    std::stable_sort(all.begin(), all.end(), [](const auto &a, const auto &b) {
      return a.points > b.points;
    });
    for (const Ranked &one : all) {
      Algorithm algorithm{
          {lt::settingsOf(api, one.algorithm), lt::stored(one.algorithm)}, 0};
      std::string why;
      for (const Dims &dims : shapes) {
        lt::Layouts at = layoutsAt(dims);
        lt::Heuristic result = {};
        lt::Status status =
            api.algorithmCheck(handle, desc, &at.columns, &at.rows, &at.result,
                               &at.result, &one.algorithm, &result);
        if (status || result.workspace > workspaceLimit) {
          why = fmt::format("the library does not take it at {}: {}",
                            dimsText(dims),
                            status ? api.statusText(status)
                                   : "more than 32 MiB of workspace");
          break;
        }
        algorithm.workspaceBytes =
            std::max(algorithm.workspaceBytes, int64_t(result.workspace));
      }
      if (why.empty())
        offer.algorithms.push_back(algorithm);
      else
        offer.refused.emplace_back(algorithm, why);
    }
  }

private:
  struct Ranked {
    lt::Algorithm algorithm;
    int points = 0;
  };

  template <typename T> void prefer(int attribute, T value) {
    api.check(api.preferenceSet(&preference, attribute, &value, sizeof value),
              "cublasLtMatmulPreferenceSetAttribute");
  }

  lt::Layouts layoutsAt(const Dims &dims) const {
    int64_t m = dims.at(product.rowDim), n = dims.at(product.columnDim),
            k = dims.at(product.depthDim);
    return lt::layouts(api, product.rows.type, product.result.type,
                       {m, n, k, k, k, n});
  }

  void note(lt::Algorithm algorithm, int place) {
    for (const lt::Setting &setting : lt::settings)
      if (auto wanted = options.settings.find(setting.name);
          wanted != options.settings.end()) {
        auto value = uint64_t(wanted->second);
        if (api.algorithmSet(&algorithm, setting.attribute, &value,
                             setting.bytes))
          return; // this algorithm has no such choice
      }
    auto settings = lt::settingsOf(api, algorithm);
    auto same = std::find_if(all.begin(), all.end(), [&](const Ranked &one) {
      return lt::settingsOf(api, one.algorithm) == settings;
    });
    if (same == all.end())
      same = all.insert(all.end(), {algorithm, 0});
    same->points += options.suggestions - place;
  }

  const lt::Api &api;
  const package::PinnedProduct &product;
  const OfferOptions &options;
  lt::Handle handle = nullptr;
  lt::Desc desc = nullptr;
  lt::Preference preference = {};
  std::vector<Ranked> all;
};

Offer offerOfLt(const Device &device, const package::PinnedProduct &product,
                const std::vector<Dims> &shapes, const OfferOptions &options) {
  std::vector<std::string> names;
  for (const lt::Setting &setting : lt::settings)
    if (setting.attribute != 0)
      names.emplace_back(setting.name);
  for (const auto &[name, value] : options.settings)
    if (std::find(names.begin(), names.end(), name) == names.end())
      throw UserError(
          fmt::format("--algorithm {}={}: no such setting; cublaslt "
                      "has {}",
                      name, value, fmt::join(names, ", ")));
  std::string why;
  const lt::Api *api = lt::Api::find(why);
  if (!api)
    throw UserError(fmt::format("cublaslt is not here: {}", why));
  makeCurrent(device);
  try {
    Offer offer{api->version(), device.description, {}, {}};
    LtOffer found(*api, product, options);
    for (const Dims &dims : shapes)
      found.suggest(dims);
    found.checkAll(shapes, offer);
    if (offer.algorithms.empty() && offer.refused.empty())
      throw UserError(fmt::format(
          "cublaslt {} suggests no algorithm for a product of {} and {} that "
          "is {}{}",
          offer.version, package::name(product.rows.type),
          package::name(product.columns.type),
          package::name(product.result.type),
          options.settings.empty() ? "" : ", with those settings"));
    return offer;
  } catch (const runtime::Failure &failure) {
    throw DriverError(failure.what());
  }
}

} // namespace

std::string Algorithm::text() const {
  std::string text = lt::settingsText(pinned.settings);
  for (const auto &[name, value] : pinned.settings)
    if (text.find(name + "=") == std::string::npos)
      text += fmt::format("{}{}={}", text.empty() ? "" : " ", name, value);
  return text;
}

Offer offerOf(const std::string &library, const Device &device,
              const package::PinnedProduct &product,
              const std::vector<Dims> &shapes, const OfferOptions &options) {
  if (library == "cublaslt")
    return offerOfLt(device, product, shapes, options);
  if (!options.settings.empty())
    throw UserError(fmt::format("--algorithm {}: openblas has one algorithm, "
                                "for the threads that it runs",
                                options.settings.begin()->first));
  std::string why;
  const blas::Api *api = blas::Api::find(why);
  if (!api)
    throw UserError(fmt::format("openblas is not here: {}", why));
  return {
      api->version, api->core, {{{{{"threads", api->threads()}}, ""}, 0}}, {}};
}

} // namespace bitpact::evidence::attest
