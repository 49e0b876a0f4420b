// TreeAgreementTest.cpp - evaluator and explicit trees against each other
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "contracts/algebra/TreeBuilder.h"
#include "contracts/reference/DotAtom.h"
#include "contracts/reference/ReductionPlan.h"
#include "tests/unit/reference/Contracts.h"

#include <catch2/catch.hpp>

#include <cmath>
#include <random>
#include <set>

using namespace bitpact::algebra;
using namespace bitpact::tests;
using bitpact::reference::Primitive;
using bitpact::reference::ReductionPlan;

/// Rounds to 8 or 11 bits by a scaled nearbyint.
static double toSixteen(Format format, double value) {
  if (value == 0 || !std::isfinite(value))
    return value;
  int lowest = format == Format::F16 ? -14 : -126;
  double unit = std::ldexp(1, std::max(std::ilogb(value), lowest) -
                                  precision(format) + 1);
  double rounded = std::copysign(std::nearbyint(value / unit) * unit, value);
  bool over = std::fabs(rounded) > (format == Format::F16 ? 65504 : 0x1.fep127);
  return over ? std::copysign(INFINITY, value) : rounded;
}

static double to(Format format, double value) {
  return format == Format::F64   ? value
         : format == Format::F32 ? static_cast<float>(value)
                                 : toSixteen(format, value);
}

static double maximum(double a, double b) {
  if (std::isnan(a) || std::isnan(b))
    return NAN;
  return a > b || (a == b && std::signbit(b)) ? a : b;
}

/// Evaluates a tree node by node, in the order of ids.
static double evaluate(const TreeStore &store, TreeId root, const Reduction &r,
                       const std::vector<double> &a,
                       const std::vector<double> &b, Format element) {
  std::vector<double> values(root + 1);
  for (TreeId id = 0; id <= root; ++id) {
    const TreeNode &n = store.node(id);
    auto leaf = [&](size_t i) { return store.node(n.children[i]).position; };
    auto child = [&](size_t i) { return values[n.children[i]]; };
    switch (n.kind) {
    case TreeKind::Identity:
      values[id] = r.kind == ReductionKind::Max ? -INFINITY : 0;
      break;
    case TreeKind::Leaf:
      break;
    case TreeKind::First:
      values[id] = r.kind == ReductionKind::Dot
                       ? to(r.accumulator, a[leaf(0)] * b[leaf(0)])
                       : a[leaf(0)];
      break;
    case TreeKind::Step:
      if (r.kind == ReductionKind::Max)
        values[id] = maximum(child(0), a[leaf(1)]);
      else if (r.kind == ReductionKind::Sum)
        values[id] = to(r.accumulator, child(0) + a[leaf(1)]);
      else if (r.accumulator == Format::F64)
        values[id] = std::fma(a[leaf(1)], b[leaf(1)], child(0));
      else
        values[id] = std::fma(static_cast<float>(a[leaf(1)]),
                              static_cast<float>(b[leaf(1)]),
                              static_cast<float>(child(0)));
      break;
    case TreeKind::Fused: {
      std::vector<double> left, right;
      for (size_t i = 1; i < n.children.size(); ++i) {
        left.push_back(a[leaf(i)]);
        right.push_back(b[leaf(i)]);
      }
      values[id] = bitpact::reference::dotStep(
          n.atom, element, left.data(), right.data(),
          static_cast<int>(left.size()), child(0));
      break;
    }
    case TreeKind::Merge:
      values[id] = r.kind == ReductionKind::Max
                       ? maximum(child(0), child(1))
                       : to(r.accumulator, child(0) + child(1));
      break;
    case TreeKind::Any:
      values[id] = -INFINITY;
      for (size_t i = 0; i < n.children.size(); ++i)
        values[id] = maximum(values[id], child(i));
      break;
    case TreeKind::Round:
      values[id] = to(n.format, child(0));
      break;
    default:
      FAIL("no node of a plain reduction");
    }
  }
  return values[root];
}

struct Shape {
  std::string partition, merge;
  bool offsets = false;
};

static std::vector<double> draw(std::mt19937 &random, Format format, int64_t n,
                                int recipe) {
  std::normal_distribution<double> normal;
  std::vector<double> values(n);
  for (double &value : values) {
    value = normal(random);
    if (recipe == 1) // wide exponents
      value = std::ldexp(value, static_cast<int>(random() % 24) - 12);
    if (recipe == 2) // signed zeros and few values
      value = std::copysign(static_cast<double>(random() % 2), value);
    if (recipe == 3 && random() % 8 == 0)
      value = random() % 2 ? INFINITY : NAN;
    if (recipe == 4) // f32 and bf16 subnormals
      value = std::ldexp(value, -130);
    value = to(format, value);
  }
  return values;
}

static bool same(double a, double b) {
  return std::isnan(a) ? std::isnan(b)
                       : a == b && std::signbit(a) == std::signbit(b);
}

/// Compares on extents and data of every kind. Returns the values on one.
static std::vector<double> agree(const Reduction &r, const Primitive &step,
                                 Format element, bool hasOffsets) {
  int wrong = 0;
  std::vector<double> witness;
  for (int64_t extent : {1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 33, 63, 96}) {
    Elements elements{extent};
    if (hasOffsets)
      elements.offsets = {0, extent / 3, extent / 3, extent / 2, extent};
    TreeStore store;
    TreeId root = *buildTree(store, r, elements);
    ReductionPlan plan(r, extent, elements.offsets);
    ReductionPlan::Scratch scratch;
    std::mt19937 random(static_cast<unsigned>(extent));
    for (int recipe = 0; recipe < 5; ++recipe) {
      std::vector<double> a = draw(random, element, extent, recipe);
      std::vector<double> b = draw(random, element, extent, recipe);
      double got = plan.evaluate(step, {a.data(), 1}, {b.data(), 1}, scratch);
      double expected = evaluate(store, root, r, a, b, element);
      wrong += !same(got, expected);
      if (recipe < 2)
        witness.push_back(got);
    }
  }
  CHECK(wrong == 0);
  return witness;
}

static const std::vector<Shape> shapes{
    {"k:*", "k chain"},
    {"k:*", "k fold"},
    {"k:*", "k pairwise"},
    {"k:128", "k halving"},
    {"k:128", "k pairwise from bf16"},
    {"k:128", "k halving in bf16"},
    {"k:128", "k fold from f16 in bf16"},
    {"sweep:* lane:4 pack:2", "pack chain, sweep chain, lane halving"},
    {"sweep:* lane:4 pack:2", "sweep chain, pack chain, lane halving"},
    {"sweep:* lane:4 pack:2", "pack chain, sweep chain, lane pairwise"},
    {"sweep:* lane:4 pack:2", "pack chain, lane halving, sweep fold"},
    {"sweep:* lane:4 pack:2", "sweep chain, lane fold, pack pairwise"},
    {"sweep:* lane:4 pack:2", "lane chain, pack fold in bf16, sweep pairwise"},
    {"sweep:* lane:4 pack:2", "pack pairwise, lane halving, sweep pairwise"},
    {"rank:4@25 tile:* col:8", "col chain, tile fold, rank pairwise"},
    {"rank:4@25 tile:* col:8", "col chain, tile chain, rank halving"},
    {"rank:4@25 tile:* col:8", "tile chain, rank fold, col halving"},
    {"rank:*@25 col:32", "col halving, rank fold from bf16"},
    {"a:16 b:3@3 c:*", "c chain, b fold, a halving"},
    {"a:7 b:15", "a chain, b fold"},
    {"warp:4@32 sweep:* lane:8", "sweep chain, lane halving, warp fold"},
    {"s:@offsets k:*", "k chain, s fold", true},
    {"s:@offsets t:* k:4", "k chain, t pairwise, s pairwise", true},
    {"r:2@50 s:@offsets k:*", "k chain, s chain, r fold", true}};

TEST_CASE("sums and dots agree with their trees for every form") {
  nlohmann::json all = definitions();
  std::set<std::vector<double>> distinct;
  for (const Shape &shape : shapes) {
    INFO(shape.partition << " / " << shape.merge);
    for (Start start : {Start::Identity, Start::First}) {
      Reduction r{Partition::parse(shape.partition),
                  MergeOrder::parse(shape.merge), ReductionKind::Sum, start,
                  Format::F32};
      Primitive sum(all.at("sum.add.f32"), "sum");
      distinct.insert(agree(r, sum, Format::F32, shape.offsets));
      r.kind = ReductionKind::Dot;
      Primitive dot(all.at("dot.fma.f32"), "dot");
      agree(r, dot, Format::F32, shape.offsets);
      agree(r, dot, Format::BF16, shape.offsets);
      r.accumulator = Format::F64;
      agree(r, Primitive(all.at("dot.fma.f64"), "dot"), Format::F32,
            shape.offsets);
      r.kind = ReductionKind::Sum;
      r.accumulator = Format::F16;
      agree(r, Primitive(all.at("sum.add.f16"), "sum"), Format::F16,
            shape.offsets);
      r.accumulator = Format::BF16;
      agree(r, Primitive(all.at("sum.add.bf16"), "sum"), Format::BF16,
            shape.offsets);
    }
  }
  // The agreement means something: every shape has sums of its own. Only chain
  // and fold over all elements are one sum but for the signs of zeros, which
  // compare equal here, as they do for the two starts.
  CHECK(distinct.size() == shapes.size() - 1);
}

TEST_CASE("maxima agree with their trees") {
  Primitive step(definitions().at("max.maximum.f32"), "max");
  std::vector<Shape> all = shapes;
  all.push_back({"a:16 b:8", "b any, a any"});
  all.push_back({"a:16 b:8", "b chain, a any in bf16"});
  all.push_back({"s:@offsets k:*", "k any, s any", true});
  for (const Shape &shape : all) {
    INFO(shape.partition << " / " << shape.merge);
    for (Start start : {Start::Identity, Start::First})
      agree({Partition::parse(shape.partition), MergeOrder::parse(shape.merge),
             ReductionKind::Max, start, Format::F32},
            step, Format::F32, shape.offsets);
  }
}

TEST_CASE("atom chains agree with their trees") {
  for (const char *name : {"bf16", "f16"}) {
    Format element = *parseFormat(name);
    Primitive step(definitions().at(std::string("dot.nv(4,25).") + name), "nv");
    for (const Shape &shape :
         {Shape{"step:* k:4", "k fused(dot.nv(4,25)), step chain"},
          Shape{"step:* k:3", "k fused(dot.nv(4,25)), step fold"},
          Shape{"w:2@50 step:* k:4",
                "k fused(dot.nv(4,25)), step chain, w fold in bf16"},
          Shape{"s:@offsets step:* k:4",
                "k fused(dot.nv(4,25)), step chain, s pairwise", true}}) {
      INFO(shape.partition << " / " << shape.merge);
      agree({Partition::parse(shape.partition), MergeOrder::parse(shape.merge),
             ReductionKind::Dot, Start::Identity, Format::F32},
            step, element, shape.offsets);
    }
  }
}
