// RecordReader.cpp - a file of records, line by line, and what it lacks
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "contracts/diff/RecordReader.h"

#include "contracts/diff/RecordLine.h"

#include <algorithm>
#include <fmt/format.h>

namespace bitpact::diff {
namespace {

/// The longest line: a sequence of a few million tokens, listed.
constexpr size_t maxLine = size_t(64) << 20;

/// The next line without its newline; `whole` says that it had one.
bool nextLine(std::istream &stream, std::string &line, bool &whole) {
  line.clear();
  whole = false;
  std::streambuf &from = *stream.rdbuf();
  for (int c; (c = from.sbumpc()) != std::char_traits<char>::eof();) {
    if (c == '\n') {
      whole = true;
      return true;
    }
    if (line.size() == maxLine)
      throw RecordError(fmt::format("a line of more than {} bytes", maxLine),
                        maxLine + 1);
    line += char(c);
  }
  return !line.empty();
}

bool isBlank(const std::string &line) {
  return line.find_first_not_of(" \t\r") == line.npos;
}

/// Adds up what writers say they wrote and what was seen.
class Counts {
public:
  void launch(const LaunchRecord &launch) {
    ++sites[launch.site];
    dropped = std::max(dropped, launch.dropped);
    if (launch.numbered)
      take(launch.sequence);
  }
  void end(const EndRecord &end) {
    endDropped += end.dropped;
    add(declared.sequences, end.sequences);
    add(declared.launches, end.launches);
    add(declared.rows, end.rows);
    add(declared.logprobs, end.logprobs);
    for (auto [site, count] : end.sites)
      declared.sites[site] += count;
  }
  void finish(ReadReport &report) const {
    auto say = [&](std::string text) {
      report.incomplete.push_back(std::move(text));
    };
    if (uint64_t lost = std::max(dropped, endDropped))
      say(fmt::format("{} launch records were dropped: the ring was full",
                      lost));
    // Each process numbers its launches without a gap.
    if (numbers.size() > 1)
      say(fmt::format("launch record {} is missing: after {} comes {}",
                      numbers.begin()->second, numbers.begin()->second - 1,
                      std::next(numbers.begin())->first));
    match(say, "sequence", declared.sequences, report.sequences);
    match(say, "launch", declared.launches, report.launches);
    match(say, "row", declared.rows, report.rows);
    match(say, "log-prob", declared.logprobs, report.logprobs);
    for (auto [site, count] : declared.sites) {
      auto found = sites.find(site);
      uint64_t seen = found == sites.end() ? 0 : found->second;
      if (seen != count)
        say(fmt::format("site {}: the device counted {} launches, the file "
                        "has {} records",
                        site, count, seen));
    }
  }

private:
  /// Numbers are dense, so their intervals are few.
  void take(uint64_t number) {
    auto after = numbers.upper_bound(number);
    auto before = after == numbers.begin() ? numbers.end() : std::prev(after);
    bool joins = before != numbers.end() && number <= before->second;
    if (joins && number < before->second)
      return;
    if (joins)
      before->second = number + 1;
    else
      before = numbers.emplace(number, number + 1).first;
    if (after != numbers.end() && after->first == before->second) {
      before->second = after->second;
      numbers.erase(after);
    }
  }
  static void add(std::optional<uint64_t> &sum,
                  const std::optional<uint64_t> &more) {
    if (more)
      sum = sum.value_or(0) + *more;
  }
  template <typename Say>
  static void match(Say &say, const char *kind,
                    const std::optional<uint64_t> &said, uint64_t seen) {
    if (said && *said != seen)
      say(fmt::format("bitpact_end counts {} {} records, the file has {}",
                      *said, kind, seen));
  }

  EndRecord declared;
  std::map<uint64_t, uint64_t> sites;
  /// [first, second) of launch numbers.
  std::map<uint64_t, uint64_t> numbers;
  uint64_t dropped = 0, endDropped = 0;
};

} // namespace

ReadReport readRecords(std::istream &stream, const RecordSink &sink) {
  ReadReport report;
  Counts counts;
  std::string line;
  bool whole = false, anyRecord = false;
  while (nextLine(stream, line, whole)) {
    ++report.lines;
    if (isBlank(line))
      continue;
    try {
      AnyRecord record = parseRecord(parseRecordLine(line, whole));
      anyRecord = true;
      report.runs += std::holds_alternative<RunRecord>(record);
      report.sequences += std::holds_alternative<SequenceRecord>(record);
      report.launches += std::holds_alternative<LaunchRecord>(record);
      report.rows += std::holds_alternative<RowRecord>(record);
      report.logprobs += std::holds_alternative<LogprobRecord>(record);
      report.ends += std::holds_alternative<EndRecord>(record);
      if (auto *launch = std::get_if<LaunchRecord>(&record))
        counts.launch(*launch);
      if (auto *end = std::get_if<EndRecord>(&record))
        counts.end(*end);
      sink(record, report.lines);
    } catch (const RecordError &error) {
      // Something else than records is the caller's mistake, not damage.
      size_t first = line.find_first_not_of(" \t\r");
      if (!error.damaged() || (!anyRecord && line[first] != '{'))
        throw error.at(report.lines);
      if (++report.damaged <= 5)
        report.incomplete.push_back(
            whole ? fmt::format("line {}:{}: {}", report.lines, error.column(),
                                error.what())
                  : fmt::format("line {}, the last one, is cut after {} bytes",
                                report.lines, line.size()));
    }
  }
  if (report.damaged > 5)
    report.incomplete.push_back(
        fmt::format("{} damaged lines in all", report.damaged));
  if (!anyRecord)
    report.incomplete.push_back("no record in the file");
  counts.finish(report);
  return report;
}

} // namespace bitpact::diff
