// Conversation.h - a program that answers each line with one line
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef BITPACT_EVIDENCE_FOREIGN_CONVERSATION_H
#define BITPACT_EVIDENCE_FOREIGN_CONVERSATION_H

#include "tools/evidence/foreign/Process.h"

#include <cstdint>
#include <memory>
#include <string>

namespace bitpact::evidence::foreign {

/// One process for all shapes that a command is asked about, and a folder for
/// its inputs. Throws UserError that names the command and what it did.
class Conversation {
public:
  /// `declared` is what the program finds in BITPACT_REVEAL.
  Conversation(const std::string &command, const std::string &declared,
               double timeout);
  ~Conversation();
  Conversation(const Conversation &) = delete;
  Conversation &operator=(const Conversation &) = delete;

  /// The path of a .npy file. `shapes` is for messages.
  std::string ask(const std::string &line, const std::string &shapes);

  const std::string &command() const { return commandLine; }
  const std::string &folder() const { return folderPath; }
  /// The end of what it wrote to standard error.
  std::string said(size_t atMost) const;

private:
  std::string commandLine, declared, folderPath;
  double timeout;
  std::unique_ptr<Process> process;
  int64_t answered = 0;

  void start();
  [[noreturn]] void fail(const std::string &message, const std::string &shapes);
};

/// At most one short line of what a program said.
std::string excerpt(const std::string &text);

} // namespace bitpact::evidence::foreign

#endif // BITPACT_EVIDENCE_FOREIGN_CONVERSATION_H
