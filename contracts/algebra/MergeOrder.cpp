// MergeOrder.cpp - which digit is merged when, and how (rules T1-T8, S2-S5)
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "contracts/algebra/MergeOrder.h"

#include "contracts/algebra/RuleError.h"

#include <fmt/format.h>

#include <array>
#include <charconv>

namespace bitpact::algebra {
namespace {

template <class Enum, size_t N>
std::optional<Enum> lookUp(const std::array<std::string_view, N> &names,
                           std::string_view text) {
  for (size_t i = 0; i < N; ++i)
    if (names[i] == text)
      return static_cast<Enum>(i);
  return std::nullopt;
}

// Each indexed by its enum.
constexpr std::array<std::string_view, 4> kindNames{"sum", "dot", "max",
                                                    "exp_sum"};
constexpr std::array<std::string_view, 2> startNames{"identity", "first"};
constexpr std::array<std::string_view, 3> stateNames{"", "two_pass", "online"};
constexpr std::array<std::string_view, 7> formNames{
    "chain", "fold", "pairwise", "halving", "fused", "any", "carry"};

/// Words, where a parenthesis keeps what it holds together.
std::vector<std::string> words(std::string_view text) {
  std::vector<std::string> result;
  std::string word;
  int depth = 0;
  for (char c : text) {
    bool space = c == ' ' || c == '\t' || c == '\n' || c == '\r';
    depth += c == '(' ? 1 : c == ')' ? -1 : 0;
    if (!space) {
      word += c;
    } else if (depth <= 0 && !word.empty()) {
      result.push_back(std::move(word));
      word.clear();
    }
  }
  if (!word.empty())
    result.push_back(std::move(word));
  return result;
}

bool isPowerOfTwo(int64_t value) {
  return value > 0 && (value & (value - 1)) == 0;
}

} // namespace

std::string_view name(ReductionKind kind) {
  return kindNames[static_cast<size_t>(kind)];
}
std::optional<ReductionKind> parseReductionKind(std::string_view text) {
  return lookUp<ReductionKind>(kindNames, text);
}
int operandCount(ReductionKind kind) {
  return kind == ReductionKind::Dot || kind == ReductionKind::ExpSum ? 2 : 1;
}
ReductionKind stepKind(ReductionKind kind) {
  return kind == ReductionKind::ExpSum ? ReductionKind::Sum : kind;
}
std::string_view name(State state) {
  return stateNames[static_cast<size_t>(state)];
}
std::optional<State> parseState(std::string_view text) {
  return text.empty() ? std::nullopt : lookUp<State>(stateNames, text);
}
std::string_view name(Start start) {
  return startNames[static_cast<size_t>(start)];
}
std::optional<Start> parseStart(std::string_view text) {
  return lookUp<Start>(startNames, text);
}
std::string_view name(Form form) {
  return formNames[static_cast<size_t>(form)];
}
std::optional<Form> parseForm(std::string_view text) {
  return lookUp<Form>(formNames, text);
}

Atom Atom::parse(std::string_view text) {
  constexpr std::string_view known =
      "dot.nv(terms,fraction bits) and dot.cdna3";
  Atom atom;
  if (text == "dot.cdna3") {
    atom.family = std::string(text);
    atom.terms = 8;
    atom.fraction = 24;
    return atom;
  }
  size_t open = text.find('(');
  std::string_view family = text.substr(0, open);
  if (family == "dot.cdna3")
    throw RuleError("T8", fmt::format("'{}' is no atom: dot.cdna3 takes no "
                                      "argument",
                                      text));
  if (!family.empty() && family != "dot.nv" &&
      (open == std::string_view::npos || text.back() == ')'))
    throw RuleError("A2", fmt::format("there is no atom '{}'; there are: {}",
                                      text.substr(0, open), known));
  if (open == std::string_view::npos || family.empty() || text.back() != ')')
    throw RuleError("T8", fmt::format("'{}' is no atom; atoms are written {}",
                                      text, known));
  std::string_view inside = text.substr(open + 1, text.size() - open - 2);
  size_t comma = inside.find(',');
  auto number = [&](std::string_view digits, int64_t low, int64_t high,
                    std::string_view what) {
    int64_t value = 0;
    auto [end, error] =
        std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (error != std::errc() || end != digits.data() + digits.size() ||
        value < low || value > high)
      throw RuleError("T8", fmt::format("atom '{}': the number of {} must be "
                                        "from {} to {}",
                                        text, what, low, high));
    return value;
  };
  // The limits keep the exact sum of one step inside 64 bits.
  atom.family = std::string(family);
  atom.terms = number(inside.substr(0, comma), 1, 64, "terms");
  atom.fraction =
      number(comma == std::string_view::npos ? std::string_view()
                                             : inside.substr(comma + 1),
             8, 48, "fraction bits");
  return atom;
}

std::string Atom::text() const {
  if (family != "dot.nv")
    return family;
  return fmt::format("{}({},{})", family, terms, fraction);
}

MergeEntry MergeEntry::parse(std::string_view text) {
  auto fail = [&](std::string_view reason) {
    throw RuleError("T8", fmt::format("merge '{}': {}; a merge is: digit form "
                                      "[merge] [from format] [in format], with "
                                      "form one of chain carry fold pairwise "
                                      "halving fused(atom) any",
                                      text, reason));
  };
  std::vector<std::string> parts = words(text);
  if (parts.size() < 2)
    fail("it has no form");
  MergeEntry entry;
  entry.digit = parts[0];
  const std::string &form = parts[1];
  size_t open = form.find('(');
  std::optional<Form> parsed = parseForm(form.substr(0, open));
  if (!parsed)
    fail(fmt::format("'{}' is no form", form));
  entry.form = *parsed;
  if (entry.form == Form::Fused) {
    if (open == std::string::npos || form.back() != ')')
      fail("fused names its atom, fused(dot.nv(16,25))");
    entry.atom = Atom::parse(
        std::string_view(form).substr(open + 1, form.size() - open - 2));
  } else if (open != std::string::npos) {
    fail(fmt::format("'{}' takes no argument", name(entry.form)));
  }

  size_t next = 2;
  if (next < parts.size() && parts[next] == "merge") {
    entry.merge = true;
    ++next;
  }
  auto clause = [&](std::string_view keyword, std::optional<Format> &slot) {
    if (next >= parts.size() || parts[next] != keyword)
      return;
    if (next + 1 >= parts.size())
      fail(fmt::format("'{}' has no format", keyword));
    slot = parseFormat(parts[next + 1]);
    if (!slot || !isFloat(*slot))
      throw RuleError("P1",
                      fmt::format("merge '{}': unknown format '{}'; "
                                  "formats are {}",
                                  text, parts[next + 1], floatFormatNames()));
    next += 2;
  };
  clause("from", entry.from);
  clause("in", entry.in);
  if (next != parts.size())
    fail(fmt::format("'{}' is out of place", parts[next]));
  if ((entry.from || entry.in) &&
      (entry.form == Form::Chain || entry.form == Form::Carry ||
       entry.form == Form::Fused))
    fail(fmt::format("'{}' takes elements through the step primitive, which "
                     "says how it rounds; from and in are for merges of "
                     "partials",
                     name(entry.form)));
  return entry;
}

std::string MergeEntry::text() const {
  std::string result = digit + " " + std::string(name(form));
  if (atom)
    result += "(" + atom->text() + ")";
  if (merge)
    result += " merge";
  if (from)
    result += " from " + std::string(name(*from));
  if (in)
    result += " in " + std::string(name(*in));
  return result;
}

MergeOrder MergeOrder::parse(const std::vector<std::string> &texts) {
  std::vector<MergeEntry> entries;
  for (const std::string &text : texts)
    entries.push_back(MergeEntry::parse(text));
  return MergeOrder(std::move(entries));
}

MergeOrder MergeOrder::parse(std::string_view text) {
  std::vector<std::string> pieces(1);
  int depth = 0;
  for (char c : text) {
    depth += c == '(' ? 1 : c == ')' ? -1 : 0;
    if (c == ',' && depth <= 0)
      pieces.emplace_back();
    else
      pieces.back() += c;
  }
  return parse(pieces);
}

std::vector<std::string> MergeOrder::texts() const {
  std::vector<std::string> result;
  for (const MergeEntry &entry : entryList)
    result.push_back(entry.text());
  return result;
}

std::string MergeOrder::text() const {
  std::string result;
  for (const MergeEntry &entry : entryList)
    result += (result.empty() ? "" : ", ") + entry.text();
  return result;
}

std::vector<BoundMerge> MergeOrder::bind(const Partition &partition) const {
  std::vector<BoundMerge> result;
  std::vector<bool> merged(partition.size(), false);
  for (const MergeEntry &entry : entryList) {
    std::optional<int> digit = partition.find(entry.digit);
    if (!digit)
      throw RuleError("T1",
                      fmt::format("merge '{}': there is no digit '{}' in "
                                  "'{}'",
                                  entry.text(), entry.digit, partition.text()));
    if (merged[*digit])
      throw RuleError("T1",
                      fmt::format("digit '{}' is merged twice", entry.digit));
    merged[*digit] = true;
    result.push_back(
        {*digit, entry.form, entry.from, entry.in, entry.atom, entry.merge});
  }
  for (int i = 0; i < partition.size(); ++i)
    if (!merged[i])
      throw RuleError("T1", fmt::format("digit '{}' is never merged",
                                        partition.digits()[i].name));
  return result;
}

void MergeOrder::validateState(const std::vector<BoundMerge> &bound,
                               ReductionKind kind, State state) const {
  if ((kind == ReductionKind::ExpSum) != (state != State::None))
    throw RuleError(
        "S2", state == State::None
                  ? std::string("an exp_sum says how it meets its maximum: "
                                "state is two_pass or online")
                  : fmt::format("the state is {}, a {} has none; it is for "
                                "exp_sum",
                                name(state), name(kind)));
  bool meets = false, carried = false, merged = false;
  for (size_t i = 0; i < bound.size(); ++i) {
    auto fail = [&](const char *rule, std::string_view reason) {
      throw RuleError(
          rule, fmt::format("merge '{}': {}", entryList[i].text(), reason));
    };
    bool carry = bound[i].form == Form::Carry;
    if ((carry || bound[i].merge) && state != State::Online)
      fail("S3", fmt::format("{} is for states whose maximum runs, this is {}",
                             carry ? "carry" : "merge",
                             state == State::TwoPass
                                 ? std::string("a two_pass exp_sum")
                                 : fmt::format("a {}", name(kind))));
    if (merged && !bound[i].merge)
      fail("S5", "below it states are merged, and above that every merge is "
                 "one of states");
    if (bound[i].merge && bound[i].form != Form::Fold &&
        bound[i].form != Form::Pairwise && bound[i].form != Form::Halving)
      fail("S5", fmt::format("states meet by fold, pairwise or halving, not by "
                             "{}",
                             name(bound[i].form)));
    if (carry && carried && bound[i - 1].form != Form::Carry)
      fail("S4", fmt::format("below it is {}, and below that another carry; "
                             "carries are consecutive entries",
                             name(bound[i - 1].form)));
    carried |= carry;
    merged |= bound[i].merge;
    meets |= carry || bound[i].merge;
  }
  if (state == State::Online && !meets)
    throw RuleError("S3", "an online exp_sum has a carry or a merge of states; "
                          "without one its maximum does not run, which is "
                          "two_pass");
}

void MergeOrder::validate(const Partition &partition, ReductionKind kind,
                          Start start, State state) const {
  std::vector<BoundMerge> bound = bind(partition);
  validateState(bound, kind, state);
  for (size_t i = 0; i < bound.size(); ++i) {
    const BoundMerge &merge = bound[i];
    const Digit &digit = partition.digits()[merge.digit];
    auto fail = [&](const char *rule, std::string_view reason) {
      throw RuleError(rule,
                      fmt::format("merge '{}' of digit '{}': {}",
                                  entryList[i].text(), digit.text(), reason));
    };
    if (digit.kind != DigitKind::Fixed &&
        (merge.form == Form::Halving || merge.form == Form::Fused))
      fail("T3", "a digit whose number of blocks is open admits chain, carry, "
                 "fold, pairwise, any");
    if (merge.form == Form::Halving && !isPowerOfTwo(digit.radix))
      fail("T2", fmt::format("the radix {} is no power of two", digit.radix));
    if (merge.form == Form::Any && kind != ReductionKind::Max)
      fail("T4", fmt::format("the merge of a {} rounds, so its order is part "
                             "of the contract; any is for max",
                             name(stepKind(kind))));
    if (merge.form == Form::Chain && i > 0 &&
        bound[i - 1].form != Form::Chain && bound[i - 1].form != Form::Fused)
      fail("T5", fmt::format("a chain takes elements, below it is {}; over "
                             "partials write fold",
                             name(bound[i - 1].form)));
    if (merge.form != Form::Fused)
      continue;
    if (kind != ReductionKind::Dot)
      fail("T6",
           fmt::format("an atom takes products, this is a {}", name(kind)));
    if (i != 0)
      fail("T6", "fused must be the first merge");
    if (partition.length(merge.digit) != 1)
      fail("T6", fmt::format("fused must merge single elements, its blocks "
                             "have {}",
                             partition.length(merge.digit)));
    if (digit.radix > merge.atom->terms)
      fail("T6", fmt::format("the radix {} is above the {} terms of the atom",
                             digit.radix, merge.atom->terms));
    if (start != Start::Identity)
      fail("T7",
           fmt::format("the start is {}, an atom needs identity", name(start)));
  }
}

MergeOrder MergeOrder::renamed(const Partition &partition) const {
  std::vector<BoundMerge> bound = bind(partition);
  std::vector<MergeEntry> entries = entryList;
  for (size_t i = 0; i < entries.size(); ++i)
    entries[i].digit = "d" + std::to_string(bound[i].digit);
  return MergeOrder(std::move(entries));
}

StateEntries stateEntries(const std::vector<BoundMerge> &entries) {
  StateEntries result{0, 0, 0};
  int count = static_cast<int>(entries.size());
  while (result.merge < count && !entries[result.merge].merge)
    ++result.merge;
  while (result.carry < result.merge &&
         entries[result.carry].form != Form::Carry)
    ++result.carry;
  result.plain = result.carry;
  while (result.plain < result.merge &&
         entries[result.plain].form == Form::Carry)
    ++result.plain;
  return result;
}

int accumulatorEntries(const std::vector<BoundMerge> &entries) {
  size_t count = 0;
  while (count < entries.size() &&
         (entries[count].form == Form::Chain ||
          (count == 0 && entries[count].form == Form::Fused)))
    ++count;
  return static_cast<int>(count);
}

} // namespace bitpact::algebra
