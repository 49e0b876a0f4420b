// Probes.cpp - what a tree does not tell: roundings, starts, fractions,
// products Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/evidence/reveal/Probes.h"

#include "tools/evidence/reveal/Way.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

using namespace bitpact::algebra;

namespace bitpact::reveal {
namespace {

/// Of a long way, the levels at both ends.
constexpr size_t endLevels = 64;

std::string formatOf(int bits) {
  for (Format format : {Format::BF16, Format::F16, Format::F32, Format::F64})
    if (precision(format) == bits)
      return std::string(name(format));
  return fmt::format("{} bits", bits);
}

class Prober {
public:
  Prober(Questions &asked, const RevealedTree &revealed,
         RecogniseOptions &options)
      : questions(asked), tree(revealed), text(options),
        signature(asked.signature()), way(wayOf(revealed)) {
    // Formats of a short range are used from the top.
    if (signature.terms.minExponent > -60)
      scale = std::ldexp(1.0, std::min(12, signature.terms.maxExponent));
  }

  std::vector<Finding> run();
  /// -1 where nothing can be asked.
  int64_t keptBits();

private:
  void add(std::string what, std::string value, std::string evidence,
           bool determined = true) {
    findings.push_back(
        {std::move(what), std::move(value), std::move(evidence), determined});
  }
  void unknown(std::string what, std::string why) {
    add(std::move(what), "could not be determined", std::move(why), false);
  }
  /// Terms that meet at a level, beside 1 at position 0; the 1 is taken away
  /// again where the way meets the next level. The result, less that 1.
  std::optional<Query> at(size_t level, double other) const;
  double less(size_t level, double result) const {
    return level + 1 < way.size() ? result / scale : result / scale - 1;
  }
  std::vector<double> ask(size_t level, const std::vector<double> &others);
  void widths();
  void start();
  void rounding();
  void subnormals();
  void fraction();
  int mostKept() const;
  void output();
  void product();
  void monotone();

  Questions &questions;
  const RevealedTree &tree;
  RecogniseOptions &text;
  const Signature &signature;
  std::vector<Level> way;
  std::vector<Finding> findings;
  /// What stands for 1.
  double scale = 1;
  int bits = 0;
};

std::optional<Query> Prober::at(size_t level, double other) const {
  Query query;
  query.terms = {{0, scale}, {way[level].least, other * scale}};
  if (level + 1 < way.size())
    query.terms.push_back({way[level + 1].least, -scale});
  if (std::fabs(other * scale) < std::ldexp(1.0, signature.terms.minExponent))
    return std::nullopt;
  return query;
}

/// What is left of terms too small to be made is 0.
std::vector<double> Prober::ask(size_t level,
                                const std::vector<double> &others) {
  std::vector<Query> queries;
  std::vector<double> left(others.size());
  std::vector<size_t> of;
  for (size_t i = 0; i < others.size(); ++i)
    if (std::optional<Query> query = at(level, others[i])) {
      queries.push_back(*query);
      of.push_back(i);
    }
  std::vector<double> results = questions.ask(queries);
  for (size_t k = 0; k < of.size(); ++k)
    left[of[k]] = less(level, results[k]);
  return left;
}

/// The significant bits that outlive each level of the way.
void Prober::widths() {
  text.levelBits.assign(way.size(), -1);
  const int widths[] = {8, 11, 24, 53};
  std::vector<Query> queries;
  std::vector<std::pair<size_t, int>> of;
  for (size_t level = 0; level < way.size(); ++level) {
    if (level >= endLevels && level + endLevels < way.size())
      continue;
    for (int width : widths)
      if (std::optional<Query> query = at(level, std::ldexp(1.0, 1 - width))) {
        queries.push_back(*query);
        of.emplace_back(level, width);
      }
  }
  std::vector<double> results = questions.ask(queries);
  int output = precision(signature.output);
  for (size_t k = 0; k < of.size(); ++k) {
    auto [level, width] = of[k];
    if (less(level, results[k]) == std::ldexp(1.0, 1 - width))
      text.levelBits[level] = std::max(text.levelBits[level], width);
  }
  // What the output rounds away anyway is not known of the root.
  if (text.levelBits.back() == output)
    text.levelBits.back() = -1;
  bits = *std::max_element(text.levelBits.begin(), text.levelBits.end());
  if (bits < 0) {
    bits = precision(signature.accumulator.value_or(Format::F32));
    unknown("accumulator", fmt::format("all sums are read through {}",
                                       name(signature.output)));
    return;
  }
  if (text.levelBits.back() < 0 && bits < output)
    bits = output;
  for (Format format : {Format::BF16, Format::F16, Format::F32, Format::F64})
    if (precision(format) == bits)
      text.accumulator = format;
  int least = bits;
  for (int width : text.levelBits)
    if (width > 0)
      least = std::min(least, width);
  add("accumulator", formatOf(bits),
      fmt::format("{} significant bits of 1 + 2^-e outlive a step{}", bits,
                  least < bits
                      ? fmt::format("; {} where some partials meet", least)
                      : ""));
}

void Prober::start() {
  Query query;
  for (int64_t i = 0; i < signature.n; ++i)
    query.terms.push_back({i, -0.0});
  double result = questions.ask(query);
  if (result != 0)
    return unknown("start",
                   fmt::format("terms of -0 alone give {:.9g}", result));
  bool first = std::signbit(result);
  text.start = first ? Start::First : Start::Identity;
  add("start", std::string(name(text.start)),
      first ? "terms of -0 alone give -0: nothing was added to them"
            : "terms of -0 alone give +0: an accumulator begins with +0, or a "
              "place without an element holds one");
}

void Prober::rounding() {
  // Where a partial is rounded to fewer bits, the step does not show.
  size_t level = 0;
  while (level < way.size() && text.levelBits[level] != bits)
    ++level;
  // With a level below there is room for an odd number.
  if (level + 1 < way.size() && text.levelBits[level + 1] == bits)
    ++level;
  if (level == way.size())
    return unknown("rounding", "no level shows the accumulator's last bit");
  double last = std::ldexp(1.0, 1 - bits);
  std::vector<double> left = ask(level, {0.5 * last, 0.75 * last});
  bool up = left[1] == last, tieUp = left[0] == last;
  std::string mode = "toward zero or down";
  std::string seen = "1 + 3/4 of the last place is 1";
  if (up) {
    mode = tieUp ? "to nearest, ties away" : "to nearest, ties to even";
    seen = tieUp ? "half of the last place above 1 is rounded up"
                 : "of the last place above 1, a half is rounded down";
    // From an odd number the tie goes up, if ties go to even.
    if (!tieUp && level > 0 && text.levelBits[level - 1] == bits) {
      Query odd = *at(level, 0.5 * last);
      odd.terms.push_back({way[level - 1].least, last * scale});
      if (less(level, questions.ask(odd)) == 2 * last)
        seen += ", and up from an odd number";
      else
        mode = "to nearest, ties toward zero or down";
    } else if (!tieUp) {
      seen += " (there is no room to try an odd number)";
    }
  } else if (Query negative = *at(level, -0.75 * last); true) {
    for (Term &term : negative.terms)
      if (term.position != way[level].least)
        term.value = -term.value;
    double result = questions.ask(negative) / scale;
    if (level + 1 == way.size())
      result += 1;
    mode = result == 0 ? "toward zero" : "down";
    seen += result == 0 ? ", and so is its negative" : ", its negative is not";
  }
  text.nearest = mode == "to nearest, ties to even";
  add("rounding", mode, seen);
}

void Prober::subnormals() {
  Format element = signature.element;
  if (element == Format::F16)
    return unknown("subnormals",
                   "those of f16 are no subnormals of what adds them");
  if (signature.output == Format::F16 || signature.factors)
    return unknown("subnormals",
                   signature.factors
                       ? "products that small are not asked for"
                       : "they are no numbers of the output's format");
  double normal = std::ldexp(1.0, signature.terms.minExponent);
  bool whole = precision(signature.output) >= precision(element) &&
               (signature.output == Format::F64) == (element == Format::F64);
  if (!whole)
    return unknown("subnormals", "the output's format is another one");
  std::vector<double> results = questions.ask(
      {{0, nullptr, {{0, normal / 2}}, 0},
       {0, nullptr, {{0, 1.5 * normal}, {way[0].least, -normal}}, 0}});
  bool kept = results[0] == normal / 2, made = results[1] == normal / 2;
  add("subnormals",
      kept && made
          ? "kept"
          : fmt::format(
                "{}{}", kept ? "" : "terms become zero",
                made ? "" : std::string(kept ? "" : ", ") + "sums become zero"),
      fmt::format("half of the least normal number gives {:.9g}, and so much "
                  "as a difference gives {:.9g}",
                  results[0], results[1]));
}

void Prober::fraction() {
  int64_t width = tree.widest();
  if (width <= 2 || tree.at(tree.root()).any)
    return;
  if (way[0].elements.size() < 2)
    return unknown("fraction", "the step at position 0 has too few elements");
  int64_t kept = keptBits();
  text.fraction = kept;
  auto terms = static_cast<int64_t>(way[0].elements.size()) + 1;
  add("step", fmt::format("{} terms at once", terms), "");
  add("fraction",
      kept == mostKept() ? fmt::format("{} bits at least", kept)
                         : fmt::format("{} bits", kept),
      fmt::format("1 - 1 + 2^-f is seen up to f = {}", kept));
}

/// So many bits below `scale` the terms and the output reach.
int Prober::mostKept() const {
  int least = std::max(signature.terms.minExponent,
                       signature.output == Format::F16 ? -24 : -126);
  return std::min(64, std::ilogb(scale) - least);
}

int64_t Prober::keptBits() {
  if (way.empty() || tree.widest() <= 2 || tree.at(tree.root()).any ||
      way[0].elements.size() < 2)
    return -1;
  std::vector<Query> queries;
  for (int f = 1; f <= mostKept(); ++f)
    queries.push_back({0,
                       nullptr,
                       {{0, scale},
                        {way[0].elements[0], -scale},
                        {way[0].elements[1], std::ldexp(scale, -f)}},
                       0});
  std::vector<double> results = questions.ask(queries);
  size_t kept = 0;
  while (kept < results.size() &&
         results[kept] == std::ldexp(scale, -static_cast<int>(kept) - 1))
    ++kept;
  return static_cast<int64_t>(kept);
}

/// What a result rounds when it is stored, where it has fewer bits than the
/// accumulator.
void Prober::output() {
  int stored = precision(signature.output);
  if (stored >= bits || signature.n < 2)
    return;
  double half = std::ldexp(0.5, 1 - stored);
  auto beside = [&](double one, double other) {
    return Query{0, nullptr, {{0, one * scale}, {way[0].least, other * scale}}};
  };
  double odd = 1 + 2 * half;
  std::vector<double> results =
      questions.ask({beside(1, half), beside(1, 1.5 * half), beside(odd, half),
                     beside(-1, -1.5 * half)});
  for (double &result : results)
    result /= scale;
  std::string mode = "toward zero";
  if (results[1] != 1)
    mode = results[0] != 1           ? "to nearest, ties away"
           : results[2] == 1 + 4 * half ? "to nearest, ties to even"
                                        : "to nearest, ties toward zero";
  else if (results[3] != -1)
    mode = "down";
  add("output", fmt::format("{}, {}", name(signature.output), mode),
      fmt::format("beside 1, three quarters of the last place are stored as "
                  "{:.9g}, half of it as {:.9g}",
                  results[1], results[0]));
}

void Prober::product() {
  if (!signature.factors)
    return;
  int element = precision(signature.element);
  int q = (bits + 1) / 2;
  if (2 * element <= bits)
    return add("product", "exact",
               fmt::format("products of {} have no more than {} bits: rounded "
                           "or not, they are the same",
                           name(signature.element), bits));
  if (q >= element)
    return unknown("product", "no factors are fine enough");
  double factor = 1 + std::ldexp(1.0, -q);
  std::vector<Query> queries;
  for (auto [i, j] : {std::pair{int64_t(0), way[0].least},
                      std::pair{way[0].least, int64_t(0)}})
    queries.push_back(
        {0, nullptr, {{i, factor, factor}, {j, -1 - std::ldexp(2.0, -q)}}, 0});
  std::vector<double> results = questions.ask(queries);
  bool exact = results[0] == std::ldexp(1.0, -2 * q) ||
               results[1] == std::ldexp(1.0, -2 * q);
  add("product", exact ? "exact" : "rounded",
      fmt::format("(1 + 2^-{0})² - (1 + 2^{1}) is {2}, {3}", q, 1 - q,
                  exact ? fmt::format("2^-{}", 2 * q) : "0",
                  exact ? "as a fused step gives"
                        : "as a product that is rounded first gives"));
}

/// No term is negative, or the result is no sum: much less can be seen.
void Prober::monotone() {
  if (signature.terms.negative) {
    for (const char *what : {"start", "rounding", "subnormals"})
      unknown(what, "the output is not the sum");
    return;
  }
  add("start", "makes no difference", "no term is negative: +0 adds nothing");
  add("rounding", "to nearest",
      "0.39 of a sum's last place vanishes, 0.78 of it adds one");
  if (signature.kind == ReductionKind::Dot) {
    int bitsOf = precision(signature.accumulator.value_or(Format::F32));
    if (2 * precision(signature.element) <= bitsOf)
      add("product", "exact", "squares have no more bits than the accumulator");
    else
      unknown("product", "only sums of exact squares were looked at");
  }
  if (signature.kind == ReductionKind::ExpSum)
    unknown("state", "two_pass or online: the same partials meet in both");
  unknown("subnormals", "the output is not the sum");
}

std::vector<Finding> Prober::run() {
  questions.say("probes");
  text.kind = signature.kind;
  text.accumulator = signature.accumulator.value_or(Format::F32);
  if (way.empty() || tree.at(tree.root()).any)
    return findings;
  if (signature.readout != Readout::Sum || !signature.terms.negative) {
    monotone();
    return findings;
  }
  widths();
  rounding();
  start();
  fraction();
  product();
  output();
  subnormals();
  return findings;
}

} // namespace

std::vector<Finding> probe(Questions &questions, const RevealedTree &tree,
                           RecogniseOptions &text) {
  return Prober(questions, tree, text).run();
}

int64_t probeFraction(Questions &questions, const RevealedTree &tree) {
  RecogniseOptions unused;
  return Prober(questions, tree, unused).keptBits();
}

} // namespace bitpact::reveal
