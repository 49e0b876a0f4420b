// Process.cpp - fork, exec, pipes, and what became of a child
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/evidence/foreign/Process.h"
#include "tools/evidence/UserError.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

extern char **environ;

namespace bitpact::evidence::foreign {
namespace {

using Clock = std::chrono::steady_clock;

/// Longer lines are no answer to anything.
constexpr size_t LineLimit = 1 << 16;

double secondsUntil(Clock::time_point end) {
  return std::chrono::duration<double>(end - Clock::now()).count();
}

Clock::time_point after(double seconds) {
  return Clock::now() + std::chrono::duration_cast<Clock::duration>(
                            std::chrono::duration<double>(seconds));
}

std::pair<Descriptor, Descriptor> makePipe() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC))
    throw UserError(fmt::format("cannot make a pipe: {}", strerror(errno)));
  return {Descriptor(ends[0]), Descriptor(ends[1])};
}

std::vector<char *> pointers(const std::vector<std::string> &texts) {
  std::vector<char *> list;
  for (const std::string &text : texts)
    list.push_back(const_cast<char *>(text.c_str()));
  list.push_back(nullptr);
  return list;
}

/// The parent's environment with some variables set.
std::vector<std::string> merged(const Process::Environment &changes) {
  std::vector<std::string> all;
  for (char **entry = environ; *entry; ++entry) {
    std::string_view text = *entry;
    bool replaced =
        std::any_of(changes.begin(), changes.end(), [&](const auto &change) {
          return text.starts_with(change.first + "=");
        });
    if (!replaced)
      all.emplace_back(text);
  }
  for (const auto &[name, value] : changes)
    all.push_back(name + "=" + value);
  return all;
}

} // namespace

void Descriptor::close() {
  if (number >= 0)
    ::close(number);
  number = -1;
}

Process::Process(const std::vector<std::string> &arguments,
                 const Environment &environment, int inherited) {
  auto [childInput, toChild] = makePipe();
  auto [fromChild, childOutput] = makePipe();
  auto [failure, childFailure] = makePipe();
  errorFile = Descriptor(::memfd_create("standard-error", MFD_CLOEXEC));
  std::vector<std::string> variables = merged(environment);
  std::vector<char *> argumentList = pointers(arguments);
  std::vector<char *> variableList = pointers(variables);
  pid_t parent = ::getpid();

  pid = ::fork();
  if (pid < 0)
    throw UserError(fmt::format("cannot fork: {}", strerror(errno)));
  if (pid == 0) { // Only calls that are safe after fork, up to exec.
    ::setpgid(0, 0);
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent)
      ::_exit(127);
    rlimit noCore{0, 0};
    ::setrlimit(RLIMIT_CORE, &noCore);
    ::signal(SIGPIPE, SIG_DFL);
    ::dup2(childInput.get(), 0);
    ::dup2(childOutput.get(), 1);
    ::dup2(errorFile.get(), 2);
    if (inherited >= 0)
      ::fcntl(inherited, F_SETFD, 0);
    ::execvpe(argumentList[0], argumentList.data(), variableList.data());
    int error = errno;
    [[maybe_unused]] ssize_t told =
        ::write(childFailure.get(), &error, sizeof error);
    ::_exit(127);
  }
  ::setpgid(pid, pid); // Both sides do it, so that neither is too early.
  childFailure.close();
  int error = 0;
  if (::read(failure.get(), &error, sizeof error) == sizeof error) {
    reap(10);
    throw UserError(arguments[0],
                    fmt::format("cannot be started: {}", strerror(error)));
  }
  input = std::move(toChild);
  output = std::move(fromChild);
}

Process::~Process() {
  input.close(); // An orderly program ends with its input.
  if (pid > 0 && !reap(0.2))
    kill();
}

bool Process::writeLine(std::string_view line) {
  std::string text(line);
  text += '\n';
  // The signal of a broken pipe would end the tool: it is held back here.
  sigset_t broken, before;
  sigemptyset(&broken);
  sigaddset(&broken, SIGPIPE);
  pthread_sigmask(SIG_BLOCK, &broken, &before);
  size_t done = 0;
  int error = 0;
  while (done < text.size() && !error) {
    ssize_t count =
        ::write(input.get(), text.data() + done, text.size() - done);
    if (count >= 0)
      done += static_cast<size_t>(count);
    else if (errno != EINTR)
      error = errno;
  }
  if (error == EPIPE) {
    timespec now{};
    sigtimedwait(&broken, nullptr, &now);
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return !error;
}

Process::Answer Process::readLine(std::string &line, double seconds) {
  Clock::time_point end = after(seconds);
  size_t searched = 0;
  while (true) {
    if (size_t newline = pending.find('\n', searched);
        newline != std::string::npos) {
      line = pending.substr(0, newline);
      if (line.ends_with('\r'))
        line.pop_back();
      pending.erase(0, newline + 1);
      return Answer::Line;
    }
    if (pending.size() > LineLimit)
      return Answer::TooLong;
    searched = pending.size();
    double left = std::max(secondsUntil(end), 0.0);
    pollfd one{output.get(), POLLIN, 0};
    int ready = ::poll(&one, 1, static_cast<int>(std::min(left, 1e6) * 1000));
    if (ready < 0 && errno == EINTR)
      continue;
    if (ready == 0) {
      if (secondsUntil(end) <= 0)
        return Answer::TimedOut;
      continue;
    }
    char buffer[4096];
    ssize_t count = ::read(output.get(), buffer, sizeof buffer);
    if (count < 0 && errno == EINTR)
      continue;
    if (count <= 0)
      return Answer::Ended;
    pending.append(buffer, static_cast<size_t>(count));
  }
}

bool Process::reap(double seconds) {
  Clock::time_point end = after(seconds);
  while (!reaped) {
    siginfo_t about{};
    if (!::waitid(P_PID, static_cast<id_t>(pid), &about,
                  WEXITED | WNOHANG | WNOWAIT) &&
        about.si_pid == pid) {
      ::kill(-pid, SIGKILL); // What it left running, while the id is its own.
      ::waitpid(pid, &waitStatus, 0);
      reaped = true;
      break;
    }
    if (secondsUntil(end) <= 0)
      break;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return reaped;
}

void Process::kill() {
  if (pid <= 0 || reaped)
    return;
  ::kill(-pid, SIGKILL);
  reap(10);
}

Process::Ending Process::ending() {
  Ending ending;
  if (!reap(1)) {
    kill();
    ending.text = "closed its output and did not end";
  } else if (WIFSIGNALED(waitStatus)) {
    ending.signal = WTERMSIG(waitStatus);
    ending.text = fmt::format("was ended by signal {} ({})", ending.signal,
                              strsignal(ending.signal));
  } else {
    ending.status = WEXITSTATUS(waitStatus);
    ending.text = fmt::format("exited with status {}", ending.status);
  }
  return ending;
}

std::string Process::errors(size_t atMost) const {
  struct stat about {};
  if (::fstat(errorFile.get(), &about) || about.st_size <= 0)
    return "";
  size_t size = static_cast<size_t>(about.st_size);
  size_t length = std::min(size, atMost);
  std::string text(length, '\0');
  ssize_t count = ::pread(errorFile.get(), text.data(), length,
                          static_cast<off_t>(size - length));
  text.resize(count > 0 ? static_cast<size_t>(count) : 0);
  while (!text.empty() && (text.back() == '\n' || text.back() == ' '))
    text.pop_back();
  return text;
}

std::string lastLine(const std::string &text) {
  return text.substr(text.rfind('\n') + 1); // npos + 1 is 0
}

} // namespace bitpact::evidence::foreign
