// Process.h - a program that is spoken to by lines and may do anything
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef BITPACT_EVIDENCE_FOREIGN_PROCESS_H
#define BITPACT_EVIDENCE_FOREIGN_PROCESS_H

#include <string>
#include <string_view>
#include <sys/types.h>
#include <utility>
#include <vector>

namespace bitpact::evidence::foreign {

/// A file descriptor with an owner.
class Descriptor {
public:
  explicit Descriptor(int number = -1) : number(number) {}
  Descriptor(Descriptor &&other) noexcept
      : number(std::exchange(other.number, -1)) {}
  Descriptor &operator=(Descriptor &&other) noexcept {
    std::swap(number, other.number);
    return *this;
  }
  ~Descriptor() { close(); }

  void close();
  int get() const { return number; }

private:
  int number;
};

/// A child process in a process group of its own, with pipes for its standard
/// input and output. What it writes to standard error is kept. It cannot take
/// the parent with it, and it and its children end with the owner.
class Process {
public:
  using Environment = std::vector<std::pair<std::string, std::string>>;

  /// Throws UserError where the program cannot be started. `inherited` is one
  /// more descriptor for the child, under the same number.
  explicit Process(const std::vector<std::string> &arguments,
                   const Environment &environment = {}, int inherited = -1);
  ~Process();
  Process(const Process &) = delete;
  Process &operator=(const Process &) = delete;

  /// False if nobody reads any more.
  bool writeLine(std::string_view line);

  enum class Answer { Line, Ended, TimedOut, TooLong };
  /// The next line of its output, without the newline.
  Answer readLine(std::string &line, double seconds);

  struct Ending {
    /// "was ended by signal 11 (Segmentation fault)", "exited with status 3",
    /// "closed its output".
    std::string text;
    int status = -1, signal = 0; ///< whichever applies
  };
  /// After Answer::Ended; a process that lingers is ended first.
  Ending ending();
  /// Ends it and its children.
  void kill();

  /// What it wrote to standard error: at most so many characters at the end.
  std::string errors(size_t atMost = 2000) const;

private:
  pid_t pid = -1;
  int waitStatus = 0;
  bool reaped = false;
  Descriptor input, output, errorFile;
  std::string pending;

  bool reap(double seconds);
};

/// What stands after the last line break.
std::string lastLine(const std::string &text);

} // namespace bitpact::evidence::foreign

#endif // BITPACT_EVIDENCE_FOREIGN_PROCESS_H
