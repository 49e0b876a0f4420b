// Selection.cpp - which variant a launch would take, and why
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/bitpact/Selection.h"

#include "tools/bitpact/DimOptions.h"
#include "tools/bitpact/Terminal.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <limits>
#include <set>

using namespace bitpact::evidence;
using nlohmann::json;

namespace bitpact::tool {
namespace {

/// Multiprocessors of an H200. Packages before format 5 do not say of what their
/// costs are.
constexpr uint32_t kUnits = 132;

/// Of the variants' costs, null where there are none or nothing is said of them.
json costsOn(const VariantSpec &variant) {
  return variant.conditions.value("cost", json::object()).value("on", json());
}

/// "hip:gfx942" of "hip:gfx942:xnack=any sramecc=any".
std::string archOf(const VariantSpec &variant) {
  size_t features = variant.target.find(':', variant.target.find(':') + 1);
  return variant.target.substr(0, features);
}

/// Multiprocessors of the device that costs were measured on.
uint32_t unitsOf(const Package &package, const ContractSpec &contract,
                 const std::string &arch) {
  for (const VariantSpec *variant : package.variantsOf(contract))
    if (archOf(*variant) == arch)
      if (json on = costsOn(*variant); !on.is_null())
        return on.at("units");
  return kUnits;
}

/// "tokens=1,64,out=6144" as "tokens=1,64" and "out=6144".
std::vector<std::string> apart(const std::vector<std::string> &options) {
  std::vector<std::string> all;
  for (const std::string &option : options)
    for (size_t begin = 0, end = 0; end != option.npos; begin = end + 1) {
      end = option.find(',', begin);
      std::string piece = option.substr(begin, end - begin);
      if (all.empty() || piece.find('=') != piece.npos)
        all.push_back(piece);
      else
        all.back() += "," + piece;
    }
  return all;
}

/// In the package's order.
template <typename Of>
std::vector<std::string> distinct(const Package &package,
                                  const ContractSpec &contract, Of of) {
  std::vector<std::string> all;
  for (const VariantSpec *variant : package.variantsOf(contract))
    for (const std::string &one : of(*variant))
      if (std::find(all.begin(), all.end(), one) == all.end())
        all.push_back(one);
  return all;
}

std::vector<std::string> oneOf(std::vector<std::string> all,
                               const std::string &wanted, const char *option,
                               const ContractSpec &contract) {
  if (wanted.empty())
    return all;
  if (std::find(all.begin(), all.end(), wanted) == all.end())
    throw UserError(fmt::format("{} '{}': {} has variants for {}", option,
                                wanted, contract.name, fmt::join(all, ", ")));
  return {wanted};
}

/// Every combination of the extents given; the contract's own for the others.
std::vector<Dims> shapesOf(const ContractSpec &contract,
                           const std::vector<std::string> &options) {
  std::vector<Dims> shapes(1);
  std::map<std::string, std::vector<int64_t>> given =
      parseExtents(apart(options), "--select");
  for (const auto &[dim, extents] : given)
    if (!contract.dims.count(dim))
      throw UserError(fmt::format("--select '{}': {} has the dims {}", dim,
                                  contract.name,
                                  fmt::join(contract.dimOrder, ", ")));
  for (const std::string &dim : contract.dimOrder) {
    int64_t fixed = contract.dims.at(dim);
    auto found = given.find(dim);
    if (found == given.end() && fixed < 0)
      throw UserError(fmt::format("--select: {} leaves '{}' open; say {}=EXTENT",
                                  contract.name, dim, dim));
    if (found != given.end() && fixed >= 0 &&
        found->second != std::vector<int64_t>{fixed})
      throw UserError(fmt::format("--select '{}': {} fixes it at {}", dim,
                                  contract.name, fixed));
    std::vector<Dims> longer;
    for (const Dims &dims : shapes)
      for (int64_t extent :
           found == given.end() ? std::vector<int64_t>{fixed} : found->second) {
        longer.push_back(dims);
        longer.back()[dim] = extent;
      }
    shapes = std::move(longer);
  }
  return shapes;
}

/// Dense tensors that nobody reads, each at an address of its own.
std::vector<View> viewsOf(const ContractSpec &contract, const Device &device,
                          const Dims &dims) {
  constexpr int64_t distance = int64_t(1) << 55; // bytes
  std::vector<View> views;
  for (const TensorSpec &tensor : contract.tensors) {
    std::vector<int64_t> shape = shapeOf(tensor, dims), strides(shape.size());
    int64_t elements = 1;
    bool fits = true;
    for (size_t axis = shape.size(); axis-- > 0;) {
      strides[axis] = elements;
      fits &= !__builtin_mul_overflow(elements, shape[axis], &elements) &&
              elements < distance / 8;
    }
    if (!fits)
      throw UserError(fmt::format("--select: the tensor '{}' of {} elements is "
                                  "larger than any memory",
                                  tensor.name, fmt::join(shape, " x ")));
    auto *data = reinterpret_cast<void *>(distance * int64_t(views.size() + 1));
    views.emplace_back(tensor, device, data, shape, strides);
  }
  return views;
}

/// What the runtime says of the one variant that it was asked for.
std::string misfitOf(const Kernel &kernel, const std::vector<View> &views,
                     const std::string &variant) {
  if (kernel.select(views) >= 0)
    return "";
  std::string said = bitpact_last_error();
  size_t at = said.find(variant + ": ");
  return at == std::string::npos ? said : said.substr(at + variant.size() + 2);
}

Selection selectOn(const Package &package, const ContractSpec &contract,
                   const Device &device, const std::string &role,
                   const Dims &dims) {
  Selection selection{&contract, device.name, role, dims, {}, nullptr};
  std::vector<View> views = viewsOf(contract, device, dims);
  for (const VariantSpec *variant : package.variantsOf(contract))
    if (device.runs(*variant) && variant->library.empty() &&
        std::count(variant->roles.begin(), variant->roles.end(), role)) {
      Kernel alone(package, device, contract.digest, role, variant->id);
      selection.contenders.push_back(
          {variant, misfitOf(alone, views, variant->id),
           costOf(*variant, dims, device.units)});
    }
  std::stable_sort(selection.contenders.begin(), selection.contenders.end(),
                   [](const Contender &a, const Contender &b) {
                     return a.variant->priority < b.variant->priority;
                   });
  if (selection.contenders.empty())
    return selection;
  int64_t taken = Kernel(package, device, contract.digest, role).select(views);
  if (taken >= 0)
    selection.taken = &package.variants()[size_t(taken)];
  return selection;
}

std::string dimsText(const Selection &selection) {
  std::vector<std::string> parts;
  for (const std::string &dim : selection.contract->dimOrder)
    if (selection.contract->dims.at(dim) < 0) // not what the contract fixes
      parts.push_back(fmt::format("{}={}", dim, selection.dims.at(dim)));
  return fmt::format("{}", fmt::join(parts, ", "));
}

/// Of what devices the costs are by which the choices were made.
void printOrigins(const std::vector<Selection> &selections) {
  std::set<std::string> lines;
  for (const Selection &one : selections)
    for (const Contender &each : one.contenders)
      if (each.cost)
        lines.insert(fmt::format("costs for {}: {}", archOf(*each.variant),
                                 costsOrigin(*each.variant)));
  for (const std::string &line : lines)
    fmt::print("{}\n", line);
}

std::string costText(const std::optional<int64_t> &cost) {
  return cost ? microseconds(*cost) : "";
}

} // namespace

std::string costsOrigin(const VariantSpec &variant) {
  json on = costsOn(variant);
  if (on.is_null())
    return "the package does not say of which device";
  return fmt::format("measured on {} ({} multiprocessors), {}",
                     on.at("device").get<std::string>(),
                     on.at("units").get<int64_t>(),
                     on.at("date").get<std::string>());
}

std::string microseconds(int64_t picoseconds) {
  return fmt::format("{:.2f}", double(picoseconds) / 1e6);
}

std::optional<int64_t> costOf(const VariantSpec &variant, const Dims &dims,
                              uint32_t units) {
  if (!variant.conditions.contains("cost"))
    return std::nullopt;
  const json &cost = variant.conditions.at("cost");
  // What no 64 bits hold is dearer than any that they do.
  using Wide = __int128;
  Wide most = std::numeric_limits<int64_t>::max(), tiles = 1;
  const json lengths = cost.value("tiles", json::object()),
             segments = cost.value("segments", json::object());
  for (const auto &[dim, each] : lengths.items()) {
    Wide rows = dims.at(dim), length = each.get<int64_t>();
    // As many pieces as offsets can cut, whose last tiles may all be short.
    Wide pieces = 1;
    if (segments.contains(dim))
      pieces = std::min(
          rows, std::max<Wide>(
                    dims.at(segments.at(dim).get<std::string>()) - 1, 1));
    tiles = std::min(most, tiles * ((rows + pieces * (length - 1)) / length));
  }
  int64_t perUnit = cost.value("ctas_per_unit", int64_t(0)),
          perProgram = cost.value("ctas_per_program", int64_t(1));
  // Clusters of four and more do not fill every group of multiprocessors.
  int64_t filled = perProgram < 4 ? units : units - units / 8;
  Wide atOnce = perUnit ? std::max<Wide>(Wide(filled) * perUnit / perProgram, 1)
                        : tiles;
  Wide round = std::min<Wide>(
      most, cost.at("tile").get<int64_t>() +
                Wide(cost.at("element").get<int64_t>()) *
                    dims.at(cost.at("dim").get<std::string>()));
  return int64_t(std::min<Wide>(
      most, std::min(most, ((tiles - 1) / atOnce + 1) * round) +
                cost.at("start").get<int64_t>()));
}

/// The rules of docs/packages.md, of which the first that decided is named.
std::string Selection::why() const {
  if (!taken)
    return "no variant takes it";
  std::vector<const Contender *> tier;
  const Contender *mine = nullptr;
  bool skipped = false;
  for (const Contender &one : contenders) {
    if (one.variant == taken)
      mine = &one;
    skipped |= one.variant->priority < taken->priority;
    if (one.misfit.empty() && one.variant->priority == taken->priority)
      tier.push_back(&one);
  }
  std::string before =
      skipped ? "of those of a lower priority none fits; " : "";
  if (tier.size() == 1)
    return before +
           fmt::format("no other of priority {} fits", taken->priority);
  if (!mine || !mine->cost)
    return before +
           fmt::format("the first of {} that fit, without costs", tier.size());
  const Contender *next = nullptr;
  for (const Contender *one : tier)
    if (one != mine && one->cost && (!next || *one->cost < *next->cost))
      next = one;
  return before + fmt::format("the least cost of {} that fit", tier.size()) +
         (next ? fmt::format("; {} µs has {}", microseconds(*next->cost),
                             next->variant->id)
               : "");
}

std::vector<Selection> selectVariants(const Package &package,
                                      const ContractSpec &contract,
                                      const SelectOptions &options) {
  std::vector<std::string> targets = oneOf(
      distinct(package, contract,
               [](const VariantSpec &variant) {
                 return std::vector<std::string>{archOf(variant)};
               }),
      options.target, "--target", contract);
  std::vector<std::string> roles = oneOf(
      distinct(package, contract,
               [](const VariantSpec &variant) { return variant.roles; }),
      options.role, "--role", contract);
  std::vector<Selection> selections;
  for (const std::string &target : targets) {
    std::string units =
        target.rfind("cpu", 0) == 0
            ? ""
            : fmt::format(":{}", options.units
                                     ? options.units
                                     : unitsOf(package, contract, target));
    Device device("null:" + target + units);
    for (const Dims &dims : shapesOf(contract, options.extents))
      for (const std::string &role : roles)
        selections.push_back(selectOn(package, contract, device, role, dims));
  }
  return selections;
}

void printSelections(const std::vector<Selection> &selections) {
  auto same = [](const Selection &a, const Selection &b) {
    return a.contract == b.contract && a.device == b.device &&
           a.dims == b.dims && a.taken == b.taken && a.why() == b.why();
  };
  Table table({"contract", "device", "for", "launch", "takes", "µs", "because"});
  const Selection *last = nullptr;
  for (size_t i = 0; i < selections.size();) {
    const Selection &one = selections[i];
    std::vector<std::string> roles;
    for (; i < selections.size() && same(one, selections[i]); ++i)
      roles.push_back(selections[i].role);
    std::string cost;
    for (const Contender &each : one.contenders)
      if (each.variant == one.taken)
        cost = costText(each.cost);
    table.add({one.contract->name, one.device,
               fmt::format("{}", fmt::join(roles, ", ")), dimsText(one),
               one.taken ? one.taken->id : "none", cost, one.why()});
    last = &one;
  }
  table.print();
  printOrigins(selections);
  // Of a single question everything that was compared.
  if (!last || !same(selections.front(), *last))
    return;
  fmt::print("\n");
  Table all({"variant", "priority", "µs", "schedule", "fits"});
  for (const Contender &one : last->contenders)
    all.add({one.variant->id, std::to_string(one.variant->priority),
             costText(one.cost), one.variant->schedule,
             one.misfit.empty() ? one.variant == last->taken ? "taken" : "yes"
                                : one.misfit});
  all.print();
}

json toJson(const Selection &selection) {
  json contenders = json::array();
  for (const Contender &one : selection.contenders) {
    json entry{{"variant", one.variant->id},
               {"priority", one.variant->priority},
               {"fits", one.misfit.empty()},
               {"misfit", one.misfit}};
    if (one.cost) {
      entry["cost"] = *one.cost;
      entry["cost_on"] = costsOn(*one.variant);
    }
    contenders.push_back(entry);
  }
  return {{"contract", selection.contract->digest},
          {"name", selection.contract->name},
          {"device", selection.device},
          {"role", selection.role},
          {"dims", selection.dims},
          {"variant", selection.taken ? json(selection.taken->id) : json()},
          {"why", selection.why()},
          {"contenders", contenders}};
}

} // namespace bitpact::tool
