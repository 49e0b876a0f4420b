// WitnessInputs.cpp - inputs on which two contracts are likely to differ
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "contracts/diff/WitnessInputs.h"

#include "contracts/reference/Arithmetic.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace bitpact::diff {

using reference::NodeFacts;
using reference::Operation;
using reference::OperationKind;
using reference::OperatorProgram;
using reference::Primitive;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double notANumber = std::numeric_limits<double>::quiet_NaN();

struct Range {
  int lowest; ///< exponent of the smallest subnormal
  int normal; ///< exponent of the smallest normal value
  int highest;
};
Range rangeOf(Format format) {
  switch (format) {
  case Format::BF16:
    return {-133, -126, 127};
  case Format::F16:
    return {-24, -14, 15};
  case Format::F32:
    return {-149, -126, 127};
  default:
    return {-1074, -1022, 1023};
  }
}

/// Exponents of a large value M and of the small ones around it. Half an ulp of
/// M, its square root for products, and M that swallows everything.
struct Ratio {
  int large, small;
};
constexpr Ratio ratios[] = {{30, 0}, {24, 0}, {12, 0},   {60, 0},  {25, 0},
                            {13, 0}, {9, 0},  {8, 0},    {100, 0}, {53, 0},
                            {27, 0}, {26, 0}, {15, -14}, {0, -12}, {15, -24},
                            {4, 0},  {5, 0},  {11, 0},   {10, 0},  {54, 0}};

/// Primitives of one kind in the order of the program.
std::vector<const Primitive *> functionsOf(const OperatorProgram &program) {
  std::vector<const Primitive *> functions;
  for (const Operation &operation : program.operations)
    if (operation.kind == OperationKind::Apply)
      functions.push_back(&program.primitives[operation.index]);
  for (const NodeFacts &node : program.nodes)
    for (int number : {node.weight, node.rescale})
      functions.push_back(number < 0 ? nullptr : &program.primitives[number]);
  return functions;
}

} // namespace

std::string_view name(WitnessKind kind) {
  constexpr std::string_view names[] = {
      "tree",  "zeros",        "domain",   "points",   "normal",
      "dense", "cancellation", "wide",     "scales",   "subnormal",
      "edges", "special",      "boundary", "approach", "climb"};
  return names[static_cast<int>(kind)];
}

double WitnessSource::normal() {
  int64_t sum = 0;
  for (int i = 0; i < 4; ++i)
    sum += static_cast<int64_t>(engine() >> 13) - (int64_t(1) << 50);
  return static_cast<double>(sum) * 0x1.bb67ae8584caap-1 * 0x1p-50;
}

InputLines::InputLines(const ContractPair &pair, const PairInput &input,
                       const std::vector<int64_t> &allExtents) {
  bool within = false;
  for (int dim : input.dims) {
    if (dim == pair.rowDim()) {
      rows = allExtents[dim];
      within = true;
      continue;
    }
    dims.push_back(dim);
    extents.push_back(allExtents[dim]);
    length *= allExtents[dim];
    if (within)
      inner *= allExtents[dim];
  }
  if (!within)
    inner = length;
}

bool InputLines::has(int dim) const {
  return std::count(dims.begin(), dims.end(), dim) > 0;
}

int64_t InputLines::position(int64_t k, int dim) const {
  for (size_t axis = dims.size(); axis-- > 0; k /= extents[axis])
    if (dims[axis] == dim)
      return k % extents[axis];
  return 0;
}

/// What the inputs of one batch share.
struct WitnessInputs::Fill {
  WitnessKind kind;
  uint64_t round;
  bool beyond;
  WitnessSource source;
  size_t carrier = 0; ///< of an aimed kind: the input that carries the pattern
  int style = 0;
  std::vector<int64_t> aimed{}; ///< by row: the position of M
};

WitnessInputs::WitnessInputs(const ContractPair &pair,
                             std::vector<int64_t> extents, uint64_t seed)
    : pair(pair), sizes(std::move(extents)), seed(seed),
      aims(aimAtTrees(pair, sizes)) {
  for (const NodeFacts &node : pair.programA().nodes)
    hasWeights |= node.reduction.kind == algebra::ReductionKind::ExpSum;
  for (const PairInput &input : pair.inputs())
    if (input.kind == PairInput::Float && (input.hasRows || pair.rowDim() < 0))
      carriers.push_back(input.name);
  if (carriers.empty())
    for (const PairInput &input : pair.inputs())
      if (input.kind == PairInput::Float)
        carriers.push_back(input.name);
  findPoints();
}

/// Arguments at which the primitives of a site give different bits; the second
/// argument of a weight is 0, the maximum.
void WitnessInputs::findPoints() {
  auto inA = functionsOf(pair.programA()), inB = functionsOf(pair.programB());
  if (inA.size() != inB.size())
    return;
  WitnessSource source(seed, 1000, 0);
  for (size_t i = 0; i < inA.size(); ++i) {
    if (!inA[i] || !inB[i] ||
        inA[i]->arguments.size() != inB[i]->arguments.size())
      continue;
    std::vector<reference::Register> file(
        std::max(inA[i]->registers(), inB[i]->registers()));
    for (int n = 0; n < 4096 && points.size() < 256; ++n) {
      double value = source.normal() * std::ldexp(1.0, source.between(-30, 30));
      if (n % 4 == 0)
        value = source.normal() * 64; // where exponentials have their values
      if (n % 4 == 1)
        value = std::ldexp(source.normal(), source.between(-149, 127));
      if (n < 8) {
        const double special[] = {0.,        -0.,        1.,  infinity,
                                  -infinity, notANumber, -1., 2.};
        value = special[n];
      }
      value = reference::roundTo(inA[i]->arguments[0], value);
      auto result = [&](const Primitive &primitive) {
        for (size_t k = 0; k < primitive.arguments.size(); ++k)
          file[k].real = k == 0 ? value : 0;
        return reference::encode(primitive.result, primitive.run(file.data()));
      };
      if (inA[i]->result != inB[i]->result ||
          result(*inA[i]) != result(*inB[i]))
        points.push_back(value);
    }
  }
}

bool WitnessInputs::applies(WitnessKind kind) const {
  if (kind == WitnessKind::Tree)
    return !aims.empty();
  if (kind == WitnessKind::Points)
    return !points.empty();
  if (kind == WitnessKind::Domain) {
    for (const TreeAim &aim : aims)
      if (existingExtent(pair.programA(), aim.node, sizes[aim.dim]) !=
          existingExtent(pair.programB(), aim.node, sizes[aim.dim]))
        return true;
    return false;
  }
  return true;
}

/// `value` in a type of both contracts, or in one that holds either.
double WitnessInputs::held(const PairInput &input, double value,
                           bool beyond) const {
  if (beyond || input.a == input.b)
    return reference::roundTo(input.carrier, value);
  return reference::roundTo(input.b, reference::roundTo(input.a, value));
}

Candidate WitnessInputs::batch(WitnessKind kind, uint64_t round, int64_t rows,
                               bool beyond) const {
  Candidate candidate;
  candidate.extents = sizes;
  if (pair.rowsAreOpen())
    candidate.extents[pair.rowDim()] = rows;
  Fill fill{kind, round, beyond,
            WitnessSource(seed, static_cast<uint64_t>(kind), round)};
  fill.carrier = round % std::max<size_t>(1, carriers.size());
  fill.style = static_cast<int>((round + static_cast<uint64_t>(kind)) % 4);
  fill.aimed.assign(rows, 0);
  for (int pass = 0; pass < 2; ++pass) // indices follow what rows aim at
    for (const PairInput &input : pair.inputs()) {
      if ((pass == 0) != (input.kind == PairInput::Float))
        continue;
      InputLines lines(pair, input, candidate.extents);
      std::vector<double> &values = candidate.values[input.name];
      values.assign(pair.elements(input, candidate.extents), 0);
      if (input.kind == PairInput::Offsets)
        fillOffsets(fill, input, candidate.extents, values);
      else if (input.kind == PairInput::Index)
        fillIndex(fill, input, lines, values);
      else if (std::find(carriers.begin(), carriers.end(), input.name) ==
               carriers.end())
        fillShared(fill, input, lines, values);
      else
        for (int64_t row = 0; row < lines.rows; ++row) {
          if (kind == WitnessKind::Tree || kind == WitnessKind::Domain ||
              kind == WitnessKind::Points)
            aimLine(fill, input, lines, row, values);
          else
            fillLine(fill, input, lines, row, values);
        }
    }
  return candidate;
}

void WitnessInputs::aimLine(Fill &fill, const PairInput &input,
                            const InputLines &lines, int64_t row,
                            std::vector<double> &values) const {
  auto set = [&](int64_t k, double value) {
    values[lines.at(row, k)] = held(input, value, fill.beyond);
  };
  WitnessSource &source = fill.source;
  bool carries = carriers[fill.carrier] == input.name;
  Range range =
      rangeOf(input.a == input.b || fill.beyond                 ? input.carrier
              : algebra::bits(input.a) < algebra::bits(input.b) ? input.a
                                                                : input.b);
  if (!carries) {
    double value = fill.round / carriers.size() % 2 ? 1 : 0;
    for (int64_t k = 0; k < lines.length; ++k)
      set(k, value);
    return;
  }
  uint64_t number = fill.round / carriers.size() * lines.rows + row;
  if (fill.kind == WitnessKind::Points) {
    double point = points[number % points.size()];
    int way = static_cast<int>(number / points.size() % 4);
    double value = way % 2 ? std::sqrt(std::fabs(point)) : point;
    for (int64_t k = 0; k < lines.length; ++k)
      set(k, way < 2 && !hasWeights ? value
             : k % 2                ? points[source.below(points.size())]
             : way == 3             ? value
                                    : 0);
    return;
  }
  const TreeAim &aim = aims[number % aims.size()];
  number /= aims.size();
  if (fill.kind == WitnessKind::Domain) {
    int64_t a = existingExtent(pair.programA(), aim.node, sizes[aim.dim]);
    int64_t b = existingExtent(pair.programB(), aim.node, sizes[aim.dim]);
    for (int64_t k = 0; k < lines.length; ++k) {
      int64_t at = lines.position(k, aim.dim);
      bool only = at >= std::min(a, b) && at < std::max(a, b);
      set(k, number % 2 ? (only ? 1 : 0) : source.normal() * (only ? 4 : 1));
    }
    return;
  }
  constexpr int ways = 5;
  int way = static_cast<int>(number % ways);
  auto [i, j] = aim.pairs[number / ways % aim.pairs.size()];
  Ratio ratio = ratios[(number / ways / aim.pairs.size() + number / ways) %
                       std::size(ratios)];
  int span = std::min(ratio.large - ratio.small, range.highest - range.lowest);
  int small = std::max(ratio.small, range.lowest);
  if (small + span > range.highest)
    small = range.highest - span;
  const double mantissas[] = {1, 1, 1.5, 1.25};
  double u = std::ldexp(mantissas[source.below(4)], small);
  // Powers of two, and values that are ties in bf16 or f16, or whose squares
  // are: what is added to them decides.
  const double larges[] = {1, 1, 1, 1.0625, 1 + 0x1p-8, 1.1875, 1 + 0x1p-11, 1};
  double m = std::ldexp(larges[source.below(8)], small + span);
  if (row < static_cast<int64_t>(fill.aimed.size()))
    fill.aimed[row] = i;
  int64_t third = source.below(sizes[aim.dim]);
  double scale = source.normal() * 8;
  double near = source.below(4) * 0.25;
  for (int64_t k = 0; k < lines.length; ++k) {
    int64_t at = lines.position(k, aim.dim);
    double value = 0;
    if (aim.kind == algebra::ReductionKind::ExpSum) {
      constexpr double log2 = 0.6931471805599453;
      const double logs[] = {24 * log2, 25 * log2, 23 * log2, 12 * log2};
      if (way == 0) // 1 and halves of its ulp
        value = at == i ? 0 : -logs[number % 4] + near;
      else if (way == 1) // only a few elements count
        value = at == i ? 0 : at == j || at == third ? -24 * log2 : -200;
      else if (way == 2) // maxima that run upward
        value = static_cast<double>(at) * 0.37 + source.normal();
      else if (way == 3) // and downward
        value = static_cast<double>(-at) * 0.21 + source.normal();
      else
        value = source.normal() * scale;
    } else if (way == 0) {
      value = at == i ? m : at == j ? -m : u;
    } else if (way == 1) {
      value = at == i ? m : u;
    } else if (way == 2) {
      value = at == i ? m : at == j ? -m : at % 2 ? u : -u;
    } else if (way == 3) {
      value = at == i ? m : at == j || at == third ? u : 0;
    } else {
      value = at == i ? m : at == j ? -m : at == third ? u : -0.0;
    }
    set(k, value);
  }
}

void WitnessInputs::fillLine(Fill &fill, const PairInput &input,
                             const InputLines &lines, int64_t row,
                             std::vector<double> &values) const {
  WitnessSource &source = fill.source;
  Range range = rangeOf(input.carrier);
  int64_t length = lines.length;
  auto set = [&](int64_t k, double value) {
    values[lines.at(row, k)] = held(input, value, fill.beyond);
  };
  auto anywhere = [&] { return source.below(length); };
  auto each = [&](auto &&make) {
    for (int64_t k = 0; k < length; ++k)
      set(k, make());
  };
  double largest = std::ldexp(2 - std::ldexp(1.0, -6), range.highest);
  switch (fill.kind) {
  case WitnessKind::Zeros: {
    int way = static_cast<int>(row % 6);
    each([&] { return way == 1 || (way == 2 && source.below(2)) ? 0. : -0.; });
    if (way == 3)
      set(anywhere(), source.normal());
    if (way == 4)
      set(anywhere(), 0);
    if (way == 5)
      set(anywhere(), std::ldexp(source.sign(), range.lowest));
    return;
  }
  case WitnessKind::Normal:
    return each(
        [&] { return reference::roundTo(Format::BF16, source.normal()); });
  case WitnessKind::Dense:
    return each([&] { return source.normal(); });
  case WitnessKind::Cancellation: {
    for (int64_t k = 0; k + 1 < length; k += 2) {
      double value = std::ldexp(source.normal(), source.between(0, 12));
      value = held(input, value, fill.beyond);
      set(k, value);
      set(k + 1, source.below(8) ? -value : -value + source.normal() * 0x1p-9);
    }
    if (length % 2)
      set(length - 1, source.normal() * 0x1p-8);
    for (int64_t k = length - 1; k > 0; --k)
      std::swap(values[lines.at(row, k)],
                values[lines.at(row, source.below(k + 1))]);
    return;
  }
  case WitnessKind::Wide: {
    int low = std::max(-40, range.normal + 2);
    int high = std::min(40, range.highest - 3);
    return each(
        [&] { return std::ldexp(source.normal(), source.between(low, high)); });
  }
  case WitnessKind::Scales: {
    int exponent = static_cast<int>(range.lowest +
                                    (range.highest - range.lowest) * row /
                                        std::max<int64_t>(1, lines.rows - 1));
    bool constant = source.below(4) == 0;
    double one = source.normal();
    return each(
        [&] { return std::ldexp(constant ? one : source.normal(), exponent); });
  }
  case WitnessKind::Subnormal:
    return each([&] {
      int64_t way = source.below(8);
      return source.sign() *
             (way == 0 ? 0
              : way == 1
                  ? std::ldexp(source.normal(), range.normal)
                  : std::ldexp(double(source.below(way == 2 ? 4 : 1 << 20)),
                               range.lowest));
    });
  case WitnessKind::Edges: {
    // Powers whose squares and products leave the format on either side.
    int half = range.highest / 2;
    const int exponents[] = {range.lowest, range.normal, range.highest, half,
                             -half,        -half - 8,    -half - 11,    0};
    int way = static_cast<int>(row % 8);
    return each([&] {
      int exponent = way < 7 ? exponents[way] : exponents[source.below(8)];
      int64_t what = source.below(4);
      if (what == 0 && way == 7)
        return source.sign() * largest;
      return std::ldexp(source.normal(), exponent - static_cast<int>(what));
    });
  }
  case WitnessKind::Special: {
    each([&] { return source.normal(); });
    int way = static_cast<int>(row % 6);
    if (way < 2 || way == 4)
      set(anywhere(), way == 1 ? -infinity : infinity);
    if (way == 2 || way == 4)
      set(anywhere(), -infinity);
    if (way == 3)
      set(anywhere(), notANumber);
    if (way == 5)
      for (int n = 0; n < 3; ++n)
        set(anywhere(), largest * source.sign());
    return;
  }
  default:
    return each([&] { return source.normal(); });
  }
}

void WitnessInputs::fillShared(Fill &fill, const PairInput &input,
                               const InputLines &lines,
                               std::vector<double> &values) const {
  WitnessSource &source = fill.source;
  for (int64_t k = 0; k < lines.length; ++k) {
    double value = 1;
    if (fill.kind == WitnessKind::Zeros && fill.round % 2 == 0)
      value = source.below(2) ? 1 : -0.0;
    else if (fill.kind == WitnessKind::Edges && source.below(8) == 0)
      value = std::ldexp(source.sign(),
                         rangeOf(input.carrier).highest - source.between(0, 3));
    else if (fill.kind == WitnessKind::Subnormal && source.below(2))
      value = std::ldexp(source.normal(), rangeOf(input.carrier).normal);
    else if (fill.kind == WitnessKind::Special && source.below(61) == 0)
      value = source.below(2) ? infinity : 0;
    else if (fill.style == 1)
      value = reference::roundTo(Format::BF16, source.normal());
    else if (fill.style == 2)
      value = source.normal();
    else if (fill.style == 3)
      value = std::ldexp(source.normal(), source.between(-8, 8));
    values[k] = held(input, value, fill.beyond);
  }
}

void WitnessInputs::fillIndex(Fill &fill, const PairInput &input,
                              const InputLines &lines,
                              std::vector<double> &values) const {
  int64_t extent = input.over < 0 ? 1 : sizes[input.over];
  for (int64_t row = 0; row < lines.rows; ++row)
    for (int64_t k = 0; k < lines.length; ++k) {
      int64_t way = fill.source.below(8);
      int64_t at = fill.source.below(extent);
      if (way == 0)
        at = extent - 1;
      if (fill.kind == WitnessKind::Tree &&
          row < static_cast<int64_t>(fill.aimed.size()))
        at = fill.aimed[row];
      if (fill.kind == WitnessKind::Special && way == 1)
        at = fill.source.below(2) ? -1 : extent;
      values[lines.at(row, k)] = static_cast<double>(at);
    }
}

void WitnessInputs::fillOffsets(Fill &fill, const PairInput &input,
                                const std::vector<int64_t> &extents,
                                std::vector<double> &values) const {
  int64_t extent = input.over < 0 ? 1 : extents[input.over];
  for (double &value : values)
    value = static_cast<double>(
        fill.kind == WitnessKind::Tree ? 0 : fill.source.below(extent + 1));
  values.front() = 0;
  if (values.size() > 1)
    values.back() = static_cast<double>(extent);
  std::sort(values.begin(), values.end());
  // Blocks beyond what is taken at them hold nothing: rows there are NaN.
  if (input.numbered >= 0)
    for (size_t i = static_cast<size_t>(extents[input.numbered]);
         i < values.size(); ++i)
      values[i] = static_cast<double>(extent);
}

} // namespace bitpact::diff
