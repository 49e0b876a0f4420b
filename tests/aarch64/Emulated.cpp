// Emulated.cpp - every contract of the library on AArch64, against the oracle
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// bitpact_aarch64 BITPACT "EMULATOR RUNNER" CONTRACT…: compiles the contracts
// for cpu:aarch64, runs every variant in the emulator and compares bytes with
// the reference evaluator. 1 where they differ, 77 where nothing can run.
#include "contracts/reference/Evaluator.h"
#include "runtime/package/Formula.h"
#include "runtime/package/Reader.h"
#include "tools/evidence/Indices.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <set>
#include <unistd.h>

using namespace bitpact;
using evidence::ContractSpec;
using evidence::Dims;
using evidence::TensorSpec;
namespace fs = std::filesystem;

namespace {

constexpr uint8_t guard = 0xff;
constexpr int64_t guardBytes = 256;

[[noreturn]] void stop(int status, const std::string &message) {
  std::cout << message << '\n';
  std::exit(status);
}

/// Rows packed, or moved off their alignment with NaN between them.
struct Layout {
  const char *name;
  int64_t padding, offset;
};
constexpr Layout layouts[] = {{"contiguous", 0, 0}, {"strided", 3, 1}};

/// The bytes of a tensor between guards.
struct Placed {
  Placed(const TensorSpec &tensor, const Layout &layout,
         std::vector<int64_t> shape, const uint8_t *rows)
      : width(algebra::bytes(tensor.format)), shape(std::move(shape)) {
    int64_t last = this->shape.empty() ? 1 : this->shape.back();
    count = evidence::elementsOf(this->shape) / last;
    rowBytes = last * width;
    pitch = rowBytes + (this->shape.size() > 1 ? layout.padding * width : 0);
    start = guardBytes + layout.offset * width;
    bytes.assign(start + count * pitch + guardBytes, guard);
    for (int64_t row = 0; rows && row < count; ++row)
      std::memcpy(&bytes[start + row * pitch], rows + row * rowBytes, rowBytes);
  }
  /// In elements, of every axis but the last.
  uint64_t stride(int64_t axis) const {
    int64_t stride = pitch / width;
    for (size_t inner = axis + 1; inner + 1 < shape.size(); ++inner)
      stride *= shape[inner];
    return uint64_t(shape[axis] > 1 ? stride : 0);
  }
  /// After the run: what the tensor must be, guards and all.
  bool equals(const uint8_t *found, const uint8_t *rows) const {
    std::vector<uint8_t> expected = bytes;
    for (int64_t row = 0; rows && row < count; ++row)
      std::memcpy(&expected[start + row * pitch], rows + row * rowBytes,
                  rowBytes);
    return std::equal(expected.begin(), expected.end(), found);
  }

  int64_t width, count, rowBytes, pitch, start;
  std::vector<int64_t> shape;
  std::vector<uint8_t> bytes;
};

/// Jobs for the runner, and what their buffers must hold afterwards.
struct Batch {
  std::string jobs;
  struct Expected {
    Placed placed;
    std::vector<uint8_t> rows; // empty: as it was
    std::string what;
  };
  std::vector<Expected> buffers;
  int64_t launches = 0, elements = 0;

  void put(uint64_t value) {
    jobs.append(reinterpret_cast<const char *>(&value), sizeof value);
  }
  void buffer(Placed placed, std::vector<uint8_t> rows, std::string what) {
    put(1);
    put(placed.bytes.size());
    put(uint64_t(placed.start));
    jobs.append(placed.bytes.begin(), placed.bytes.end());
    buffers.push_back({std::move(placed), std::move(rows), std::move(what)});
  }
};

struct Case {
  const ContractSpec &contract;
  const Dims &dims;
  const reference::Evaluator::Tensors &tensors; // inputs and outputs
  std::string what;
  bool fault;
};

int64_t quotient(int64_t extent, int64_t divisor) {
  return extent / divisor + (extent % divisor > 0);
}

int64_t workspaceBytes(const package::Variant &variant, const Dims &dims) {
  int64_t total = 0;
  for (const auto &term : package::Formula::parse(variant.workspace).terms) {
    int64_t bytes = term.coefficient;
    for (const auto &factor : term.factors)
      bytes *= quotient(dims.at(factor.dim), factor.divisor);
    total += bytes;
  }
  return total;
}

int64_t programsOf(const package::Launch &launch, const Dims &dims) {
  if (!launch.tiles.empty()) {
    int64_t tiles = 1;
    for (const package::Tile &tile : launch.tiles) {
      int64_t rows = dims.at(tile.dim);
      // As docs/packages.md says of tiles of segments.
      if (!tile.segments.empty())
        tiles *= (rows + std::min(rows, std::max<int64_t>(
                                            dims.at(tile.segments) - 1, 1)) *
                             (tile.length - 1)) /
                 tile.length;
      else
        tiles *= quotient(rows, tile.length);
    }
    return tiles;
  }
  int64_t rows = 1, parts = launch.split.length;
  for (const std::string &dim : launch.parallelDims)
    rows *= dims.at(dim);
  if (!launch.split.dim.empty())
    parts = quotient(dims.at(launch.split.dim) - launch.split.less,
                     launch.split.length);
  return quotient(rows, launch.rowsPerProgram) * parts;
}

void addLaunch(Batch &batch, const package::Variant &variant, const Case &one,
               const Layout &layout) {
  batch.put(variant.arguments.size());
  auto specOf = [&](const std::string &name) -> const TensorSpec & {
    for (const TensorSpec &spec : one.contract.tensors)
      if (spec.name == name)
        return spec;
    stop(1, "no tensor " + name);
  };
  auto placed = [&](const std::string &name) {
    const TensorSpec &spec = specOf(name);
    return Placed(spec, layout, evidence::shapeOf(spec, one.dims),
                  spec.output ? nullptr : one.tensors.at(name).bytes.data());
  };
  for (const package::Argument &argument : variant.arguments)
    switch (argument.kind) {
    case package::ArgumentKind::Pointer: {
      const TensorSpec &spec = specOf(argument.tensor);
      const auto &rows = one.tensors.at(argument.tensor).bytes;
      batch.buffer(placed(argument.tensor),
                   spec.output ? rows : std::vector<uint8_t>(),
                   one.what + " " + layout.name + " " + argument.tensor);
      if (spec.output)
        batch.elements += int64_t(rows.size()) / algebra::bytes(spec.format);
      break;
    }
    case package::ArgumentKind::Stride:
      batch.put(0);
      batch.put(placed(argument.tensor).stride(argument.axis));
      break;
    case package::ArgumentKind::Dim:
      batch.put(0);
      batch.put(uint64_t(one.dims.at(argument.dim)));
      break;
    case package::ArgumentKind::Workspace: {
      // Its bytes are the kernel's own affair, and NaN before it.
      TensorSpec bytes;
      bytes.format = algebra::Format::I32;
      bytes.dims = {"words"};
      batch.buffer(Placed(bytes, layouts[0],
                          {(workspaceBytes(variant, one.dims) + 3) / 4},
                          nullptr),
                   {}, "");
      break;
    }
    case package::ArgumentKind::Fault: {
      TensorSpec word;
      word.format = algebra::Format::I32;
      word.dims = {"one"};
      const std::vector<uint8_t> none(4), set = {1, 0, 0, 0};
      batch.buffer(Placed(word, layouts[0], {1}, none.data()),
                   one.fault ? set : none, one.what + " fault word");
      break;
    }
    }
  batch.put(uint64_t(programsOf(variant.launch, one.dims)));
  for (const package::Step &step : variant.then)
    batch.put(uint64_t(programsOf(step.launch, one.dims)));
  ++batch.launches;
}

struct Totals {
  int64_t products = 0, variants = 0, launches = 0, elements = 0,
          differing = 0;
};

void runBatch(const Batch &batch, const std::string &command,
              const std::string &scratch, const std::string &id,
              Totals &totals) {
  std::string in = scratch + "/jobs", out = scratch + "/results";
  std::ofstream(in, std::ios::binary) << batch.jobs;
  int status = std::system((command + " <" + in + " >" + out).c_str());
  if (status)
    stop(1, id + ": the emulator ended with " + std::to_string(status));
  std::ifstream stream(out, std::ios::binary);
  std::vector<uint8_t> results{std::istreambuf_iterator<char>(stream), {}};
  size_t at = 0, shown = 0;
  for (const Batch::Expected &one : batch.buffers) {
    if (at + one.placed.bytes.size() > results.size())
      stop(1, id + ": the results are cut short");
    bool equal =
        one.what.empty() ||
        one.placed.equals(&results[at],
                          one.rows.empty() ? nullptr : one.rows.data());
    at += one.placed.bytes.size();
    if (equal)
      continue;
    ++totals.differing;
    if (shown++ < 3)
      std::cout << "DIFFERS " << id << ": " << one.what << '\n';
  }
  if (at != results.size())
    stop(1, id + ": more results than buffers");
  ++totals.variants;
  totals.launches += batch.launches;
  totals.elements += batch.elements;
}

std::string entriesOf(const package::Variant &variant) {
  std::string entries = variant.entry;
  for (const package::Step &step : variant.then)
    entries += " " + step.entry;
  return entries;
}

bool fits(const package::Variant &variant, const Layout &layout) {
  return (layout.padding == 0 && layout.offset == 0) ||
         (variant.when.align.empty() && variant.when.strideMultiple.empty());
}

bool inRange(const package::Variant &variant, const Dims &dims) {
  for (const auto &[dim, range] : variant.when.dims)
    if (dims.at(dim) < range.min || dims.at(dim) > range.max)
      return false;
  return true;
}

/// Products of matrices multiply rows with columns.
bool isProduct(const ContractSpec &contract, const evidence::RowShape &shape) {
  return std::any_of(
      contract.tensors.begin(), contract.tensors.end(),
      [&](const TensorSpec &tensor) { return shape.isColumns(tensor); });
}

/// How many terms the sums of a product have in all.
int64_t termsOf(const ContractSpec &contract, const Dims &dims) {
  std::set<std::string> meet = evidence::reducedDims(contract);
  for (const TensorSpec &tensor : contract.tensors)
    if (tensor.output)
      meet.insert(tensor.dims.begin(), tensor.dims.end());
  int64_t terms = 1;
  for (const std::string &dim : meet)
    terms *= dims.at(dim);
  return terms;
}

/// Extents of a contract's dims. Of a product so small that an emulator has
/// them in no time, with blocks that are not whole and more than one of them in
/// either direction; none where the contract itself says more. Rows between
/// offsets are of fewer and of more segments than the weights are for.
std::vector<Dims> dimsOf(const ContractSpec &contract) {
  constexpr int64_t mostTerms = int64_t(1) << 20;
  evidence::RowShape shape(contract);
  std::vector<Dims> all;
  if (!isProduct(contract, shape)) {
    for (int64_t rows : shape.rowCounts({1, 3, 9}))
      for (const Dims &extents : shape.openExtents({}))
        all.push_back(shape.withRows(extents, rows));
    return all;
  }
  std::map<std::string, std::vector<int64_t>> given;
  for (const TensorSpec &tensor : contract.tensors)
    for (const std::string &dim : tensor.dims)
      if (contract.dims.at(dim) < 0 && !shape.isRow(dim)) {
        if (shape.isReduced(dim))
          given[dim] = {1, 33};
        else if (tensor.output)
          given[dim] = {1, 7, 203};
      }
  for (int64_t rows : {1, 3, 9, 171})
    for (const Dims &extents : shape.openExtents(given)) {
      Dims dims = shape.withRows(extents, rows);
      if (termsOf(contract, dims) <= mostTerms)
        all.push_back(dims);
    }
  return all;
}

void checkContract(const evidence::Package &package,
                   const package::Package &files, const ContractSpec &contract,
                   const std::string &emulator, const std::string &scratch,
                   Totals &totals) {
  evidence::RowShape shape(contract);
  evidence::Indices inputs(contract);
  reference::Evaluator oracle(nlohmann::json::parse(contract.text));
  std::map<std::string, Batch> batches;
  for (const Dims &dims : dimsOf(contract))
    for (evidence::Recipe recipe : evidence::allRecipes()) {
      reference::Evaluator::Tensors tensors;
      bool fault = false;
      for (const TensorSpec &spec : contract.tensors)
        if (!spec.output) {
          tensors[spec.name] =
              inputs.generate(recipe, 5, spec, dims, !shape.hasRows(spec));
          fault |= inputs.anyBad(spec, tensors[spec.name].bytes, dims);
        }
      for (auto &[name, tensor] : oracle.run(tensors))
        tensors[name] = tensor;
      std::string what = std::string(evidence::nameOf(recipe));
      for (const auto &[dim, extent] : dims)
        what += " " + dim + "=" + std::to_string(extent);
      Case one{contract, dims, tensors, what, fault};
      for (const package::Variant &variant : files.manifest.variants)
        if (variant.contract == contract.digest)
          for (const Layout &layout : layouts)
            if (fits(variant, layout) && inRange(variant, dims))
              addLaunch(batches[variant.id], variant, one, layout);
    }
  if (batches.empty()) {
    std::cout << contract.name
              << ": no extents that an emulator has in no time\n";
    return;
  }
  totals.products += isProduct(contract, shape);
  for (const package::Variant &variant : files.manifest.variants)
    if (variant.contract == contract.digest && batches.count(variant.id))
      runBatch(batches[variant.id],
               emulator + " " + package.path() + "/" + variant.code.file + " " +
                   entriesOf(variant),
               scratch, variant.id, totals);
}

} // namespace

int main(int count, char **words) {
  if (count < 4)
    stop(2, "usage: bitpact_aarch64 BITPACT 'EMULATOR RUNNER' CONTRACT...");
  char pattern[] = "/tmp/bitpact-aarch64-XXXXXX";
  if (!mkdtemp(pattern))
    stop(1, "no temporary directory");
  struct Remove {
    std::string path;
    ~Remove() { fs::remove_all(path); }
  } remove{pattern};
  std::string scratch = pattern, target = scratch + "/a.pkg";
  std::string compile =
      std::string(words[1]) + " compile -o " + target + " --target cpu:aarch64";
  for (int i = 3; i < count; ++i)
    compile += std::string(" ") + words[i];
  if (int status =
          std::system((compile + " >" + scratch + "/log 2>&1").c_str())) {
    std::ifstream log(scratch + "/log");
    std::string text{std::istreambuf_iterator<char>(log), {}};
    bool none = text.find("this machine has no compiler") != text.npos;
    fs::remove_all(scratch);
    stop(none ? 77 : 1,
         (none ? "skipped: " : std::to_string(status) + ": ") + text);
  }
  evidence::Package package(target);
  package::Package files = package::openPackage(target);
  Totals totals;
  for (const ContractSpec &contract : package.contracts())
    checkContract(package, files, contract, words[2], scratch, totals);
  std::cout << package.contracts().size() << " contracts, " << totals.products
            << " products of matrices that ran, " << totals.variants
            << " variants, " << totals.launches << " launches, "
            << totals.elements << " outputs, " << totals.differing
            << " differing buffers\n";
  return totals.differing || !totals.launches || !totals.products;
}
