// CheckLaunches.cpp - launches of a case, and what they wrote
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/evidence/Checker.h"

#include "tools/evidence/Elements.h"

#include <algorithm>
#include <fmt/format.h>
#include <numeric>

namespace bitpact::evidence {

void Checker::checkLayout(const Case &one, const Layout &layout,
                          const Device &device) {
  if (leavesOut(one, device)) {
    for (Runner &runner : runners)
      if (runner.device == &device)
        ++report.variants[runner.report].leftOut;
    return;
  }
  std::vector<Placed> placed = place(one, layout, device);
  for (Runner &runner : runners)
    if (runner.device == &device)
      launchAndCompare(runner, one, layout, placed);
}

std::vector<Placed> Checker::place(const Case &one, const Layout &layout,
                                   const Device &device) const {
  std::vector<Placed> placed;
  for (const TensorSpec &tensor : one.contract.tensors) {
    placed.emplace_back(tensor, device, layout, one.shape(tensor));
    if (tensor.output)
      placed.back().put(0xa5, nullptr);
    else
      placed.back().put(Placed::inputPoison, one.bytes(tensor).data());
  }
  return placed;
}

std::vector<View> Checker::viewsOf(const std::vector<Placed> &placed) {
  std::vector<View> views;
  for (const Placed &tensor : placed)
    views.push_back(tensor.view());
  return views;
}

std::vector<uint8_t> Checker::written(const Runner &runner,
                                      const TensorSpec &tensor,
                                      Placed &placed) {
  std::vector<uint8_t> bytes = placed.rows();
  if (tensor.output && !runner.variant->library.empty())
    canonicalizeNans(tensor.format, bytes);
  return bytes;
}

void Checker::launchAndCompare(Runner &runner, const Case &one,
                               const Layout &layout,
                               std::vector<Placed> &placed) {
  VariantReport &variant = report.variants[runner.report];
  std::vector<View> views = viewsOf(placed);
  if (runner.kernel.select(views) < 0) {
    ++variant.excluded[layout.name];
    return;
  }
  current = given.size();
  for (int64_t turn = 0; turn < options.repeat; ++turn)
    launchOnce(runner, one, layout, placed, views, turn);
}

void Checker::launchOnce(Runner &runner, const Case &one, const Layout &layout,
                         std::vector<Placed> &placed,
                         const std::vector<View> &views, int64_t turn) try {
  VariantReport &variant = report.variants[runner.report];
  // Another canary each time: an element that is not written is never the
  // same twice.
  for (size_t i = 0; i < placed.size(); ++i)
    if (one.contract.tensors[i].output)
      placed[i].put(turn % 2 ? 0x5a : 0xa5, nullptr);
  runner.kernel.launch(views);
  ++variant.launches;
  checkFault(runner, one, layout);
  std::string outputs;
  for (size_t i = 0; i < placed.size(); ++i) {
    const TensorSpec &tensor = one.contract.tensors[i];
    std::vector<uint8_t> bytes = written(runner, tensor, placed[i]);
    if (tensor.output) {
      outputs.append(bytes.begin(), bytes.end());
      variant.elements += elementsOf(one.shape(tensor));
    }
    if (!tensor.output) {
      if (auto difference =
              compare(tensor, one.shape(tensor), one.bytes(tensor), bytes))
        record(runner, one, layout, *difference, "the input before the launch");
    } else if (auto difference = one.fromOracle(tensor, bytes)) {
      record(runner, one, layout, *difference, "the reference evaluator");
    } else if (one.answer.isSampled()) {
      if (auto other =
              compare(tensor, one.shape(tensor), one.bytes(tensor), bytes))
        record(runner, one, layout, *other, one.answer.launch);
    }
    if (!placed[i].surroundIntact()) {
      Difference stray;
      stray.tensor = tensor.name;
      stray.stray = placed[i].strayByte();
      record(runner, one, layout, stray, "what lay around the tensor");
    }
  }
  size_t hash = std::hash<std::string>()(outputs);
  if (turn == 0) {
    given.emplace_back(runner.variant->id, hash);
  } else if (hash != given[current].second) {
    Difference unequal;
    unequal.tensor = "an output";
    record(
        runner, one, layout, unequal,
        fmt::format("launch 1 of the same case (this is launch {})", turn + 1));
  }
} catch (const DriverError &error) {
  stopped(runner, one, layout, error);
}

void Checker::stopped(const Runner &runner, const Case &one,
                      const Layout &layout, const DriverError &error) {
  std::string dims;
  for (const auto &[dim, extent] : one.dims)
    dims += fmt::format("{}={} ", dim, extent);
  throw LaunchStopped(fmt::format(
      "{} ({}), variant {} on {}: the launch failed with data {}, seed {}, "
      "{}{}: {}; the device does no more work in this process, so nothing "
      "after it was checked",
      one.contract.name, one.contract.digest.substr(0, 12), runner.variant->id,
      runner.device->name, one.answer.recipe, one.answer.seed, dims,
      layout.name, error.what()));
}

void Checker::checkLoneRows(const Case &one, const Device &device) {
  int64_t rows = shape.rowsOf(one.dims);
  std::vector<int64_t> chosen{0, rows / 2, rows - 1};
  if (rows <= smallRows) {
    chosen.resize(rows);
    std::iota(chosen.begin(), chosen.end(), 0);
  }
  const Layout &layout = allLayouts().front();
  Dims lone = shape.withRows(one.dims, 1);
  std::vector<Placed> placed;
  for (const TensorSpec &tensor : one.contract.tensors) {
    placed.emplace_back(tensor, device, layout,
                        shapeOf(tensor, tensor.output ? lone : one.dims));
    if (!tensor.output)
      placed.back().put(Placed::inputPoison, one.bytes(tensor).data());
  }
  for (Runner &runner : runners)
    for (int64_t row : chosen) {
      if (runner.device != &device)
        break;
      VariantReport &variant = report.variants[runner.report];
      std::vector<View> views;
      for (size_t i = 0; i < placed.size(); ++i) {
        const TensorSpec &tensor = one.contract.tensors[i];
        views.push_back(!tensor.output && shape.hasRows(tensor)
                            ? placed[i].slice(row, 1)
                            : placed[i].view());
        if (tensor.output)
          placed[i].put(0xa5, nullptr);
        else if (shape.cutsRows(tensor))
          placed[i].put(
              Placed::inputPoison,
              inputs->ofRow(tensor, one.bytes(tensor), one.dims, row).data());
      }
      if (runner.kernel.select(views) < 0) {
        ++variant.excluded["lone row"];
        continue;
      }
      runner.kernel.launch(views);
      ++variant.launches;
      checkFault(runner, one, layout, row);
      for (size_t i = 0; i < placed.size(); ++i) {
        const TensorSpec &tensor = one.contract.tensors[i];
        if (!tensor.output)
          continue;
        std::vector<uint8_t> bytes = written(runner, tensor, placed[i]);
        variant.elements += elementsOf(shapeOf(tensor, lone));
        std::span<const uint8_t> expected =
            one.bytes(tensor).subspan(row * bytes.size(), bytes.size());
        if (auto difference =
                compare(tensor, shapeOf(tensor, lone), expected, bytes))
          record(runner, one, layout, *difference,
                 fmt::format("{} (row {} of {} launched alone)",
                             one.answer.isSampled() ? one.answer.launch
                                                    : "the reference evaluator",
                             row, rows));
      }
    }
  fresh.clear();
}

void Checker::checkFault(Runner &runner, const Case &one, const Layout &layout,
                         int64_t row) {
  bool bad = false;
  Dims dims = row < 0 ? one.dims : shape.withRows(one.dims, 1);
  for (const TensorSpec &tensor : one.contract.tensors) {
    std::span<const uint8_t> bytes = one.bytes(tensor);
    std::vector<uint8_t> own;
    if (row >= 0 && shape.hasRows(tensor)) {
      size_t each = bytes.size() / shape.rowsOf(one.dims);
      bytes = bytes.subspan(row * each, each);
    } else if (row >= 0 && shape.cutsRows(tensor)) {
      own = inputs->ofRow(tensor, bytes, one.dims, row);
      bytes = own;
    }
    bad |= inputs->anyBad(tensor, bytes, dims);
  }
  if (runner.kernel.takeFault() == bad)
    return;
  Difference difference;
  difference.tensor = "fault word";
  difference.expected = bad ? "1" : "0";
  difference.actual = bad ? "0" : "1";
  record(runner, one, layout, difference,
         bad ? "the indices, of which one names no element"
             : "the indices, which all name elements");
}

void Checker::record(Runner &runner, const Case &one, const Layout &layout,
                     Difference difference, const std::string &against) {
  VariantReport &variant = report.variants[runner.report];
  ++variant.differences;
  variant.differing += difference.differing;
  if (variant.first)
    return;
  difference.recipe = one.answer.recipe;
  difference.seed = one.answer.seed;
  difference.layout = layout.name;
  difference.dims = one.dims;
  difference.against = against;
  variant.first = difference;
  fresh.emplace_back(runner.report, current);
}

void Checker::noteSameBytes() {
  for (auto [index, own] : fresh)
    for (size_t i = 0; i < given.size(); ++i)
      if (i != own && given[i].second == given[own].second)
        report.variants[index].first->sameBytes.push_back(given[i].first);
  fresh.clear();
  given.clear();
}

} // namespace bitpact::evidence
