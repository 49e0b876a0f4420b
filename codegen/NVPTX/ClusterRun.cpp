// ClusterRun.cpp - runs the threads of a cluster
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/NVPTX/ClusterRun.h"

#include "codegen/NVPTX/ClusterMemory.h"
#include "codegen/NVPTX/ClusterProgram.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace bitpact;
using namespace bitpact::codegen;

using Kind = ClusterProgram::Kind;
using Step = ClusterProgram::Step;

namespace {

constexpr int64_t kWarp = 32;
/// Steps of a thread beyond which it is taken not to end.
constexpr int64_t kMostSteps = int64_t(1) << 22;

template <typename... Args>
std::string say(const char *format, Args &&...args) {
  return llvm::formatv(format, std::forward<Args>(args)...).str();
}

struct Warp {
  int64_t waiting = 0, times = 0;
};

struct Cta {
  ClusterMemory memory;
  std::vector<Warp> warps;
  int64_t live = 0;
};

struct Thread : ClusterThread {
  size_t at = 0;
  bool hasEnded = false, hasCome = false, isAtWarp = false;
  int64_t ofCluster = 0, ofWarp = 0; // meetings there before it came
  int64_t sent = 0, taken = 0, done = 0;
  std::vector<int> times; // of each step that brings or takes
};

class Run {
public:
  Run(const ClusterProgram &program, const ClusterLaunch &launch, int64_t ctas,
      int64_t threads, bool isUpward);
  std::optional<LintFinding> run();

private:
  bool advance(int64_t rank, int64_t number);
  bool advance(int64_t rank);
  bool step(Thread &thread, const Step &step);
  ClusterBarrier *barrierAt(int64_t rank, int64_t address);
  void send(Thread &thread, const Step &step);
  void take(Thread &thread, const Step &step);
  void arrive(ClusterBarrier *barrier, int64_t bytes = 0);
  void arriveThere(const Thread &thread, int64_t address, int64_t rank);
  void follow(Thread &thread, size_t edge);
  void settleCluster();
  void finish();
  template <typename... Args> void report(const char *format, Args &&...args);

  Thread &threadOf(int64_t rank, int64_t number) {
    return threads[size_t(rank * perCta + number)];
  }
  const ClusterProgram &program;
  int64_t perCta;
  bool isUpward;
  std::vector<Cta> ctas;
  std::vector<Thread> threads;
  int64_t arrived = 0, meetings = 0, live; // of the cluster
  const Thread *current = nullptr;
  const Step *now = nullptr;
  std::optional<LintFinding> finding;
};

Run::Run(const ClusterProgram &program, const ClusterLaunch &launch,
         int64_t count, int64_t perCta, bool isUpward)
    : program(program), perCta(perCta), isUpward(isUpward), ctas(size_t(count)),
      live(count * perCta) {
  Thread begin;
  begin.registers = program.registers;
  llvm::copy(launch.arguments, begin.registers.begin());
  begin.cells.resize(program.cells);
  begin.times.resize(program.steps.size());
  begin.clusters = launch.clusters;
  threads.assign(size_t(live), begin);
  for (auto [i, thread] : llvm::enumerate(threads)) {
    thread.rank = int64_t(i) / perCta;
    thread.number = int64_t(i) % perCta;
  }
  for (Cta &cta : ctas) {
    cta.warps.resize(size_t(perCta / kWarp));
    cta.live = perCta;
  }
}

template <typename... Args>
void Run::report(const char *format, Args &&...args) {
  if (finding)
    return;
  std::string text;
  if (auto assembly = now ? dyn_cast<LLVM::InlineAsmOp>(now->op) : nullptr)
    text = assembly.getAsmString().str();
  else if (now)
    text = now->op->getName().getStringRef().str();
  finding = {LintRule::L13, text,
             say("CTA {0}, thread {1}", current->rank, current->number),
             say(format, std::forward<Args>(args)...)};
}

/// Null, and a finding, where there is none.
ClusterBarrier *Run::barrierAt(int64_t rank, int64_t address) {
  int64_t there = ClusterProgram::rankOf(address, rank);
  if (there < 0 || there >= int64_t(ctas.size())) {
    report("there is no CTA {0} in the cluster", there);
    return nullptr;
  }
  Cta &cta = ctas[size_t(there)];
  auto found = cta.memory.barriers.find(ClusterProgram::offsetOf(address));
  if (found == cta.memory.barriers.end()) {
    report("CTA {0} has no barrier at {1}, or not yet", there,
           ClusterProgram::offsetOf(address));
    return nullptr;
  }
  if (!cta.live) {
    report("CTA {0} has ended", there);
    return nullptr;
  }
  found->second.isShared |= there != rank;
  return &found->second;
}

void Run::send(Thread &thread, const Step &step) {
  int64_t to = thread.registers[size_t(step.operands[0])],
          counted = thread.registers[size_t(step.operands[1])];
  ClusterBarrier *barrier = barrierAt(thread.rank, counted);
  if (!barrier)
    return;
  int64_t there = ClusterProgram::rankOf(to, thread.rank),
          counts = ClusterProgram::rankOf(counted, thread.rank);
  if (there != counts)
    return report("what is brought to CTA {0} counts in CTA {1}", there,
                  counts);
  ++thread.sent;
  std::string wrong = ctas[size_t(there)].memory.bring(
      ClusterProgram::offsetOf(to), step.number, thread.number,
      ++thread.times[size_t(&step - program.steps.data())]);
  if (!wrong.empty())
    return report("in CTA {0} {1}", there, wrong);
  barrier->bytes -= step.number;
  barrier->settle();
}

void Run::take(Thread &thread, const Step &step) {
  ++thread.taken;
  std::string wrong = ctas[size_t(thread.rank)].memory.take(
      ClusterProgram::offsetOf(thread.registers[size_t(step.operands[0])]),
      step.number, thread.number,
      ++thread.times[size_t(&step - program.steps.data())], thread.sent > 0);
  if (!wrong.empty())
    report("{0}", wrong);
}

void Run::arrive(ClusterBarrier *barrier, int64_t bytes) {
  if (!barrier)
    return;
  barrier->bytes += bytes;
  if (--barrier->pending < 0)
    return report("more arrivals than a phase has");
  barrier->settle();
}

/// A lane speaks for its warp.
void Run::arriveThere(const Thread &thread, int64_t address, int64_t rank) {
  int64_t first = thread.number / kWarp * kWarp;
  for (int64_t i = first; i < first + kWarp; ++i)
    if (threadOf(thread.rank, i).taken < thread.taken)
      return report("says what thread {0} of its warp has not done", i);
  arrive(barrierAt(thread.rank, ClusterProgram::addressIn(
                                    rank, ClusterProgram::offsetOf(address))));
}

void Run::settleCluster() {
  if (live && arrived == live) {
    arrived = 0;
    ++meetings;
  }
}

void Run::follow(Thread &thread, size_t number) {
  const ClusterProgram::Edge &edge = program.edges[number];
  SmallVector<int64_t, 4> values;
  for (auto [from, to] : edge.moves)
    values.push_back(thread.registers[size_t(from)]);
  for (auto [move, value] : llvm::zip(edge.moves, values))
    thread.registers[size_t(move.second)] = value;
  thread.at = edge.step;
}

/// Whether the thread goes on to the next step, or to where it branched.
bool Run::step(Thread &thread, const Step &step) {
  auto at = [&](int i) { return thread.registers[size_t(step.operands[i])]; };
  Cta &cta = ctas[size_t(thread.rank)];
  Warp &warp = cta.warps[size_t(thread.number / kWarp)];
  switch (step.kind) {
  case Kind::Init: {
    ClusterBarrier &barrier =
        cta.memory.barriers[ClusterProgram::offsetOf(at(0))];
    barrier.count = barrier.pending = at(1);
    break;
  }
  case Kind::Arrive:
    arrive(barrierAt(thread.rank, at(0)), step.number ? at(1) : 0);
    break;
  case Kind::ArriveThere:
    arriveThere(thread, at(0), at(1));
    break;
  case Kind::Wait: {
    ClusterBarrier *barrier = barrierAt(thread.rank, at(0));
    if (!barrier || (barrier->phases & 1) == at(1))
      return false;
    if (barrier->isShared && !step.number)
      report("waits for other CTAs, and does not see what they did");
    break;
  }
  case Kind::Send:
    send(thread, step);
    break;
  case Kind::Take:
    take(thread, step);
    break;
  case Kind::StoreCell:
    thread.cells[size_t(step.number)] = at(0);
    break;
  case Kind::WarpSync:
    if (!thread.isAtWarp) {
      thread.isAtWarp = true;
      thread.ofWarp = warp.times;
      if (++warp.waiting == kWarp) {
        warp.waiting = 0;
        ++warp.times;
      }
    }
    if (warp.times == thread.ofWarp)
      return false;
    thread.isAtWarp = false;
    break;
  case Kind::ClusterArrive:
    if (thread.hasCome)
      report("comes to the cluster a second time, without having waited");
    thread.hasCome = true;
    thread.ofCluster = meetings;
    ++arrived;
    settleCluster();
    break;
  case Kind::ClusterWait:
    if (!thread.hasCome)
      report("waits for the cluster without having come");
    else if (meetings == thread.ofCluster)
      return false;
    thread.hasCome = false;
    break;
  case Kind::Jump:
    return follow(thread, size_t(step.number)), true;
  case Kind::Branch:
    return follow(thread, size_t(step.number) + !at(0)), true;
  case Kind::Return:
    thread.hasEnded = true;
    --cta.live;
    --live;
    settleCluster();
    return true;
  default:
    thread.registers[size_t(step.result)] = ClusterProgram::masked(
        ClusterProgram::valueOf(step, thread), step.width);
  }
  ++thread.at;
  return true;
}

/// Until it has to wait; whether it came any further.
bool Run::advance(int64_t rank, int64_t number) {
  Thread &thread = threadOf(rank, number);
  current = &thread;
  int64_t before = thread.done;
  while (!thread.hasEnded && !finding) {
    now = &program.steps[thread.at];
    if (!step(thread, *now))
      break;
    if (++thread.done > kMostSteps)
      report("does not end");
  }
  return thread.done != before;
}

/// As far as it comes by itself, so that a CTA is a block ahead of others
/// wherever nothing holds it.
bool Run::advance(int64_t rank) {
  bool came = false;
  for (bool goesOn = true; goesOn && !finding;) {
    goesOn = false;
    for (int64_t i = 0; i < perCta && !finding; ++i)
      goesOn |= advance(rank, isUpward ? i : perCta - 1 - i);
    came |= goesOn;
  }
  return came;
}

std::optional<LintFinding> Run::run() {
  int64_t count = int64_t(ctas.size());
  for (bool goesOn = true; goesOn && !finding;) {
    goesOn = false;
    for (int64_t i = 0; i < count && !finding; ++i)
      goesOn |= advance(isUpward ? i : count - 1 - i);
  }
  if (!finding)
    finish();
  return finding;
}

/// Nobody can go on: a barrier that somebody waits at says more than the end of
/// all, where others wait for him.
void Run::finish() {
  const Thread *waiting = nullptr;
  for (const Thread &thread : threads)
    if (!thread.hasEnded &&
        (!waiting || (program.steps[thread.at].kind == Kind::Wait &&
                      program.steps[waiting->at].kind != Kind::Wait)))
      waiting = &thread;
  if (waiting) {
    current = waiting;
    now = &program.steps[waiting->at];
    if (now->kind != Kind::Wait)
      return report("waits for ever");
    int64_t at =
        ClusterProgram::offsetOf(waiting->registers[size_t(now->operands[0])]);
    ClusterBarrier &barrier = ctas[size_t(waiting->rank)].memory.barriers[at];
    return report("waits for ever at the barrier at {0}, where {1} of {2} "
                  "arrivals and {3} bytes are missing",
                  at, barrier.pending, barrier.count, barrier.bytes);
  }
  now = nullptr;
  for (auto [rank, cta] : llvm::enumerate(ctas)) {
    current = &threadOf(int64_t(rank), 0);
    if (std::string left = cta.memory.left(); !left.empty())
      report("{0}", left);
  }
}

} // namespace

std::vector<LintFinding>
codegen::lintCluster(LLVM::LLVMFuncOp kernel,
                     llvm::ArrayRef<ClusterLaunch> launches) {
  llvm::Expected<ClusterProgram> program = ClusterProgram::of(kernel);
  if (!program)
    return {{LintRule::L13, "", ("@" + kernel.getSymName()).str(),
             llvm::toString(program.takeError())}};
  auto first = [&](StringRef name) {
    auto sizes = kernel->getAttrOfType<DenseI32ArrayAttr>(name);
    return sizes ? int64_t(sizes[0]) : int64_t(1);
  };
  int64_t ctas = first(NVVM::NVVMDialect::getClusterDimAttrName()),
          threads = first(NVVM::NVVMDialect::getReqntidAttrName());
  for (auto [i, launch] : llvm::enumerate(launches))
    if (auto found = Run(*program, launch, ctas, threads, i % 2 == 0).run())
      return {*found};
  return {};
}
