// PackageBox.cpp - a node of a kernel in a package, as a black box
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/evidence/reveal/PackageBox.h"

#include "tools/evidence/Elements.h"
#include "tools/evidence/Inputs.h"
#include "tools/evidence/UserError.h"
#include "tools/evidence/reveal/Questions.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <utility>

using namespace bitpact::evidence;
using bitpact::algebra::Format;
using bitpact::algebra::ReductionKind;
using nlohmann::json;

namespace bitpact::reveal {
namespace {

/// An element whose weight is 0 beside a maximum of 0, in every format.
constexpr double noWeight = -1000;

int64_t columnStep(const TensorSpec &tensor, const Dims &dims,
                   const std::string &dim) {
  int64_t step = 1;
  for (auto it = tensor.dims.rbegin(); it != tensor.dims.rend(); ++it) {
    if (*it == dim)
      return step;
    step *= dims.at(*it);
  }
  return 0;
}

} // namespace

PackageBox::PackageBox(const Package &package, const ContractSpec &spec,
                       const std::string &node, const Device &on,
                       const VariantSpec &variant, const Dims &dims)
    : contract(spec), device(on),
      kernel(package, on, spec.digest, variant.roles.front(), variant.id),
      extents(dims) {
  json text = json::parse(contract.text);
  nodeUse = useOf(text, node);
  for (const auto &[dim, extent] : dims)
    if (!contract.dims.count(dim))
      throw UserError(fmt::format("--dim '{}': the contract has {}", dim,
                                  fmt::join(contract.dimOrder, ", ")));
  signatureOf.subject = variant.id;
  describe(text);
  json ranges = variant.conditions.value("dims", json::object());
  for (const auto &[dim, range] : ranges.items()) {
    int64_t least = range.value("min", int64_t(0));
    int64_t most = range.value("max", INT64_MAX);
    if (dim == rowDim)
      mostRows = std::min(mostRows, most);
    else if (extents.at(dim) < least || extents.at(dim) > most)
      throw NotTaken(fmt::format("it takes {} from {} to {}, not {}", dim,
                                 least, most, extents.at(dim)));
  }
  Dims most = extents;
  most[rowDim] = std::max<int64_t>(fixedRows, mostRows);
  kernel.prepare(most);
}

void PackageBox::describe(const json &text) {
  const json &node = text.at("nodes").at(nodeUse.node);
  for (const TensorSpec &tensor : contract.tensors) {
    if (tensor.name == nodeUse.input)
      first.tensor = &tensor;
    if (tensor.name == nodeUse.second)
      second.tensor = &tensor;
    if (tensor.name == nodeUse.output)
      signatureOf.output = tensor.format;
  }
  for (const std::string &dim : first.tensor->dims)
    if (dim != nodeUse.dim) {
      if (!rowDim.empty())
        throw Undetermined(fmt::format("'{}' has rows along both {} and {}",
                                       nodeUse.input, rowDim, dim));
      rowDim = dim;
    }
  if (second.tensor)
    for (const std::string &dim : second.tensor->dims)
      if (dim != nodeUse.dim && dim != rowDim && dim != nodeUse.taken) {
        if (!columnDim.empty())
          throw Undetermined(fmt::format("'{}' has columns along both {} and "
                                         "{}",
                                         nodeUse.second, columnDim, dim));
        columnDim = dim;
      }
  for (const std::string &dim : contract.dimOrder) {
    int64_t extent = contract.dims.at(dim);
    if (extent >= 0 && extents.count(dim) && extents[dim] != extent)
      throw UserError(
          fmt::format("--dim '{}': the contract fixes it at {}", dim, extent));
    if (extent >= 0)
      extents[dim] = extent;
    else if (!extents.count(dim) && dim != rowDim)
      extents[dim] = dim == nodeUse.dim ? 1024 : 5;
  }
  fixedRows =
      rowDim.empty() ? 1 : std::max<int64_t>(0, contract.dims.at(rowDim));
  if (extents.count(rowDim))
    fixedRows = extents.at(rowDim);
  mostRows = 8192;
  ownRows = !second.tensor || rowDim.empty() ||
            std::count(second.tensor->dims.begin(), second.tensor->dims.end(),
                       rowDim) > 0;
  if (!columnDim.empty())
    columnCount = extents.at(columnDim);
  if (block() < 0)
    throw Undetermined(fmt::format("the offsets of '{}' have a single entry, "
                                   "which is no block",
                                   nodeUse.node));
  Signature &s = signatureOf;
  s.kind = nodeUse.kind;
  s.n = extents.at(nodeUse.dim);
  if (node.at("domain").is_object())
    s.n = node.at("domain").at(nodeUse.dim).at("extent").get<int64_t>();
  s.element = nodeUse.through.front();
  s.accumulator = algebra::parseFormat(
      node.at("precision").at("accumulator").get<std::string>());
  s.readout = nodeUse.direct ? Readout::Sum : Readout::Monotone;
  s.factors = !nodeUse.second.empty();
  // What every format on the way holds.
  bool product = s.factors || nodeUse.squares;
  s.terms = spaceOf(s.element, product);
  for (Format format : nodeUse.through) {
    TermSpace space = spaceOf(format, product);
    s.terms.precision = std::min(s.terms.precision, space.precision);
    s.terms.minExponent = std::max(s.terms.minExponent, space.minExponent);
    s.terms.maxExponent = std::min(s.terms.maxExponent, space.maxExponent);
  }
  if (nodeUse.squares) {
    s.terms.negative = false;
    s.terms.exponentStep = 2;
  }
  if (nodeUse.kind == ReductionKind::ExpSum) {
    s.terms.negative = s.terms.exact = false;
    s.terms.minExponent = -1000;
    s.terms.maxExponent = 0;
  } else if (nodeUse.scale != 1) {
    throw Undetermined(fmt::format("elements of '{}' are scaled by {} on their "
                                   "way into '{}'",
                                   nodeUse.input, nodeUse.scale, nodeUse.node));
  }
  for (const TensorSpec &tensor : contract.tensors)
    if (cutBy(contract, tensor) == nodeUse.dim && !tensor.output) {
      reference::Tensor offsets =
          generateInput(contract, tensor, Recipe::Normal, 1, extents, true);
      for (size_t i = 0; i < offsets.bytes.size(); i += 4) {
        int32_t value = 0;
        std::memcpy(&value, offsets.bytes.data() + i, 4);
        offsetList.push_back(value);
      }
    }
}

/// The element that makes a term.
double PackageBox::elementOf(double term) const {
  if (nodeUse.squares)
    return std::sqrt(term);
  if (nodeUse.kind == ReductionKind::ExpSum)
    return term == 0 ? noWeight : std::log(term) / nodeUse.scale;
  return term;
}

void PackageBox::store(Image &image, int64_t row, int64_t position,
                       double value) {
  image.changed = true;
  Format format = image.tensor->format;
  storeBits(format,
            image.bytes.data() + (image.begin + row * image.rowStep +
                                  position * image.positionStep) *
                                     algebra::bytes(format),
            encode(format, value));
}

/// The last block between offsets that has something to take: what is before
/// and behind it is not a number, and a kernel that reads there shows it.
int64_t PackageBox::block() const {
  if (nodeUse.taken.empty())
    return 0;
  int64_t last = extents.at(nodeUse.taken) - 1;
  for (const TensorSpec &tensor : contract.tensors)
    if (!tensor.output && cutBy(contract, tensor) == rowDim)
      last = std::min(last, extents.at(tensor.dims.front()) - 2);
  return last;
}

/// Lays out a launch of that many rows: other inputs for good, those of terms
/// with a background of zeros.
void PackageBox::prepare(int64_t rows) {
  if (rows == rowCount)
    return;
  rowCount = rows;
  if (!rowDim.empty())
    extents[rowDim] = rows;
  buffers.clear();
  for (const TensorSpec &tensor : contract.tensors) {
    int64_t elements = elementsOf(shapeOf(tensor, extents));
    int64_t size = algebra::bytes(tensor.format);
    buffers.emplace_back(device, elements * size);
    std::vector<uint8_t> bytes(elements * size);
    if (tensor.output || tensor.index)
      continue;
    if (std::string cut = cutBy(contract, tensor); !cut.empty()) {
      // Offsets of the node's own digits, or such that all rows are in a block.
      for (int64_t i = 0; i < elements; ++i) {
        auto value = static_cast<int32_t>(cut == nodeUse.dim ? offsetList[i]
                                          : i > block()      ? rows
                                                             : 0);
        std::memcpy(bytes.data() + 4 * i, &value, 4);
      }
    } else if (auto found = nodeUse.neutral.find(tensor.name);
               found != nodeUse.neutral.end()) {
      uint64_t bits = encode(tensor.format, found->second);
      for (int64_t i = 0; i < elements; ++i)
        storeBits(tensor.format, bytes.data() + i * size, bits);
    }
    buffers.back().upload(bytes.data(), bytes.size());
  }
  for (Image *image : {&first, &second}) {
    if (!image->tensor)
      continue;
    int64_t elements = elementsOf(shapeOf(*image->tensor, extents));
    bool isSecond = image == &second;
    image->rowStep = columnStep(*image->tensor, extents,
                                isSecond && !ownRows ? columnDim : rowDim);
    image->positionStep = columnStep(*image->tensor, extents, nodeUse.dim);
    image->begin =
        nodeUse.taken.empty()
            ? 0
            : block() * columnStep(*image->tensor, extents, nodeUse.taken);
    // What does not exist for the node is not a number.
    image->bytes.assign(elements * algebra::bytes(image->tensor->format), 0xff);
    int64_t count = isSecond && !ownRows ? columnCount : rows;
    image->rows.assign(count, {});
    for (int64_t row = 0; row < count; ++row) {
      double background = isSecond ? 1 : elementOf(0);
      for (int64_t position = 0; position < signatureOf.n; ++position)
        store(*image, row, position, background);
    }
  }
}

/// Changes a row from what it was to a query: consecutive queries often have
/// their background in common.
void PackageBox::put(Image &image, int64_t row, const Query &query,
                     bool factors) {
  Image::Row &was = image.rows[row];
  double zero = factors ? 1 : elementOf(0);
  double fill = factors || query.fill == 0 ? zero : elementOf(query.fill);
  bool keeps = was.fill == query.fill && was.filled == query.filled;
  if (factors || keeps || query.fill == 0 || query.filled) {
    if (!factors && !keeps) {
      // Back to zeros first, wherever the last background was.
      if (was.fill != 0 && !was.filled)
        for (int64_t p = 0; p < signatureOf.n; ++p)
          store(image, row, p, zero);
      else if (was.fill != 0)
        for (int64_t p : *was.filled)
          store(image, row, p, zero);
      for (int64_t p : was.touched)
        store(image, row, p, zero);
      if (query.fill != 0)
        for (int64_t p : *query.filled)
          store(image, row, p, fill);
    } else {
      auto background = [&](int64_t p) {
        if (factors || query.fill == 0)
          return zero;
        return !query.filled || std::binary_search(query.filled->begin(),
                                                   query.filled->end(), p)
                   ? fill
                   : zero;
      };
      for (int64_t p : was.touched)
        store(image, row, p, background(p));
    }
  } else {
    for (int64_t p = 0; p < signatureOf.n; ++p)
      store(image, row, p, fill);
  }
  was = {query.fill, query.filled, {}};
  for (const Term &term : query.terms) {
    Term both = signatureOf.factors ? shared(term, signatureOf.element) : term;
    store(image, row, term.position,
          factors ? both.factor : elementOf(both.value));
    was.touched.push_back(term.position);
  }
}

bool PackageBox::needsFactors(const Query &query) const {
  return std::any_of(query.terms.begin(), query.terms.end(),
                     [&](const Term &term) {
                       return shared(term, signatureOf.element).factor != 1;
                     });
}

std::vector<int64_t> PackageBox::columnsFor(const std::vector<Query> &queries,
                                            int64_t begin) const {
  auto total = static_cast<int64_t>(queries.size());
  int64_t most = std::min(total - begin, fixedRows ? fixedRows : mostRows);
  std::vector<int64_t> columns;
  if (ownRows) {
    columns.assign(most, 0);
    return columns;
  }
  int64_t free = (columnCount + 1) / 2, taken = 0;
  for (int64_t row = 0; row < most; ++row) {
    if (!needsFactors(queries[begin + row])) {
      columns.push_back(row % free);
    } else if (columnCount == 1 && row == 0) {
      return {0};
    } else if (taken == columnCount - free) {
      break;
    } else {
      columns.push_back(columnCount - ++taken);
    }
  }
  return columns;
}

/// Writes a launch: one query a row.
std::vector<View> PackageBox::layOut(const std::vector<Query> &queries,
                                     int64_t begin,
                                     const std::vector<int64_t> &columns) {
  auto count = static_cast<int64_t>(columns.size());
  for (int64_t column : usedColumns)
    put(second, column, {}, true);
  usedColumns.clear();
  for (int64_t row = 0; row < count; ++row) {
    const Query &query = queries[begin + row];
    put(first, row, query, false);
    if (second.tensor && ownRows) {
      put(second, row, query, true);
    } else if (second.tensor && needsFactors(query)) {
      put(second, columns[row], query, true);
      usedColumns.push_back(columns[row]);
    }
  }
  std::vector<View> views;
  for (size_t t = 0; t < buffers.size(); ++t) {
    const TensorSpec &tensor = contract.tensors[t];
    for (Image *image : {&first, &second})
      if (image->tensor == &tensor && std::exchange(image->changed, false))
        buffers[t].upload(image->bytes.data(), image->bytes.size());
    if (tensor.index && cutBy(contract, tensor).empty()) {
      // The row of an index reads where the query says.
      std::vector<uint8_t> bytes(buffers[t].bytes());
      int64_t size = algebra::bytes(tensor.format);
      for (int64_t row = 0; row < count; ++row)
        std::memcpy(bytes.data() + row * size, &queries[begin + row].reader,
                    size);
      buffers[t].upload(bytes.data(), bytes.size());
    }
    std::vector<int64_t> shape = shapeOf(tensor, extents), strides(shape);
    int64_t next = 1;
    for (size_t axis = shape.size(); axis-- > 0; next *= shape[axis])
      strides[axis] = next;
    views.emplace_back(tensor, device, buffers[t].data(), shape, strides);
  }
  return views;
}

std::vector<double> PackageBox::run(const std::vector<Query> &queries) {
  std::vector<double> results;
  auto total = static_cast<int64_t>(queries.size());
  for (int64_t begin = 0; begin < total;) {
    std::vector<int64_t> columns = columnsFor(queries, begin);
    auto count = static_cast<int64_t>(columns.size());
    // Few different sizes, so that what is laid out serves again.
    int64_t rows = 8;
    while (rows < count)
      rows *= 2;
    prepare(fixedRows ? fixedRows : std::min(rows, mostRows));
    kernel.launch(layOut(queries, begin, columns));
    if (kernel.takeFault())
      throw std::runtime_error("a launch for reveal met a bad index");
    size_t at = 0;
    while (contract.tensors[at].name != nodeUse.output)
      ++at;
    const TensorSpec &read = contract.tensors[at];
    std::vector<uint8_t> bytes(buffers[at].bytes());
    buffers[at].download(bytes.data(), bytes.size());
    int64_t rowStep = columnStep(read, extents, rowDim);
    int64_t readerStep = columnStep(read, extents, nodeUse.dim);
    int64_t step = columnStep(read, extents, columnDim);
    int64_t size = algebra::bytes(read.format);
    for (int64_t row = 0; row < count; ++row) {
      int64_t element = row * rowStep + columns[row] * step +
                        queries[begin + row].reader * readerStep;
      results.push_back(decode(
          read.format, loadBits(read.format, bytes.data() + element * size)));
    }
    begin += count;
  }
  return results;
}

} // namespace bitpact::reveal
