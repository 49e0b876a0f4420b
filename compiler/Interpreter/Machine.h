// Machine.h - runs the programs of a launch, all lanes in lockstep
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef BITPACT_COMPILER_INTERPRETER_MACHINE_H
#define BITPACT_COMPILER_INTERPRETER_MACHINE_H

#include "compiler/Interpreter/Code.h"
#include "compiler/Interpreter/Term.h"

#include <map>

namespace bitpact::interpreter {

/// Positions of the reduced dim, from `first` on, that a run leaves out, and
/// with them the rounds of every loop that take them: Rounds.cpp.
struct LeftOut {
  int64_t first = 0, length = 0;
  /// Set where `length` is no multiple of what a loop takes in a round.
  int64_t advance = 0;
  bool operator==(const LeftOut &) const = default;
};

/// A tensor of the caller. Rows lie apart, so that a kernel which runs past
/// the end of one meets no element.
struct Buffer {
  std::string name;
  Scalar type = Scalar::F32;
  std::vector<int64_t> shape, strides;
  std::vector<Cell> cells; ///< contiguous, row-major
  bool isOutput = false;
  /// The axis of which positions are left out, or -1; they have no cells.
  int reducedAxis = -1;
  LeftOut leftOut;

  /// Elements along an axis that have cells.
  int64_t present(size_t axis) const {
    return shape[axis] - (int(axis) == reducedAxis ? leftOut.length : 0);
  }
  /// The index along every axis, as they are stored; false if there is none.
  bool indicesAt(int64_t offset, llvm::SmallVectorImpl<int64_t> &indices) const;
  /// The number of the element at an offset; nothing if there is none.
  std::optional<int64_t> elementAt(int64_t offset) const;
};

/// Strides for a tensor of that shape whose rows start at multiples of `align`
/// bytes.
std::vector<int64_t> paddedStrides(const std::vector<int64_t> &shape,
                                   Scalar type, int64_t align);

/// A failure, whether or not anybody is to hear why. An InFlightDiagnostic that
/// says nothing would count as success.
class BrokenPromise {
public:
  BrokenPromise() = default;
  explicit BrokenPromise(mlir::InFlightDiagnostic diagnostic)
      : diagnostic(std::move(diagnostic)), isHeard(true) {}
  template <typename Part> BrokenPromise &&operator<<(Part &&part) && {
    if (isHeard)
      diagnostic << std::forward<Part>(part);
    return std::move(*this);
  }
  operator mlir::LogicalResult() const { return mlir::failure(); }

private:
  mlir::InFlightDiagnostic diagnostic;
  bool isHeard = false;
};

/// Runs `func` on buffers and dims by slot name. Broken promises of the kernel
/// are errors at the operation that name it and the lane: an access outside
/// of a tensor or less aligned than stated, scratch read before it was written,
/// an exchange beyond the subgroup, an output element written twice, with an
/// unspecified value, or never.
class Machine {
public:
  Machine(kernel::FuncOp func, const Code &code, TermStore &terms,
          std::map<std::string, Buffer> &buffers,
          const std::map<std::string, int64_t> &dims,
          LeftOut *leftOut = nullptr, bool isSilent = false);

  /// All programs. Other kernels may follow on the same buffers.
  mlir::LogicalResult run();
  /// Whether a lane has set the fault word.
  bool hasFault() const { return faulted; }

private:
  struct Scratch {
    std::vector<Cell> cells;
    std::vector<bool> written;
  };

  mlir::LogicalResult bindSlots();
  mlir::LogicalResult runProgram();
  mlir::LogicalResult runBlock(const Block &block);
  mlir::LogicalResult runInstruction(const Instruction &what);
  mlir::LogicalResult compute(const Instruction &what);
  bool computeNumbers(const Instruction &what);
  mlir::LogicalResult whole(const Instruction &what);
  mlir::LogicalResult load(const Instruction &what);
  mlir::LogicalResult read(const Instruction &what);
  mlir::LogicalResult store(const Instruction &what);
  mlir::LogicalResult fault(const Instruction &what);
  template <typename AccessOp, typename Element, typename Repeat>
  mlir::LogicalResult access(const Instruction &what, AccessOp op,
                             uint32_t operandsBefore, uint32_t elements,
                             Element element, Repeat repeat);
  mlir::LogicalResult scratchAt(const Instruction &what, Place index,
                                int64_t &cell);
  mlir::LogicalResult exchange(const Instruction &what);
  mlir::LogicalResult gather(const Instruction &what);
  mlir::LogicalResult runFor(const Instruction &what);
  mlir::LogicalResult runWhile(const Instruction &what);
  mlir::LogicalResult runIf(const Instruction &what);

  /// What a round of a loop does besides arithmetic on elements: control flow,
  /// conditions and addresses, those along the reduced axis counted from the
  /// first.
  struct Round {
    uint64_t hash = 0;
    int64_t first = -1, least = 0, most = 0; ///< positions
    bool isOpaque = false;
  };
  void note(uint64_t value);
  void noteAccess(const Buffer &buffer, int64_t lane, uint32_t j,
                  int64_t offset);
  void noteOpaque();
  void noteResult(const Instruction &what);
  mlir::LogicalResult runDry(const Instruction &what);
  mlir::LogicalResult leaveOut(const Instruction &what, const Round &like,
                               int64_t advance, int64_t step, int64_t high,
                               int64_t &at);
  /// A value that control flow or an address depends on.
  mlir::LogicalResult uniform(const Instruction &what, Place place,
                              int64_t &value);
  void assign(const std::vector<Place> &to, const std::vector<Place> &from);
  BrokenPromise error(const Instruction &what, int64_t lane = -1);

  kernel::FuncOp func;
  const Code &code;
  TermStore &terms;
  std::map<std::string, Buffer> &buffers;
  const std::map<std::string, int64_t> &dims;
  std::vector<Buffer *> slots; ///< by argument
  std::vector<Cell> cells;
  std::vector<Cell> moved; ///< on their way from places to others
  std::vector<Scratch> scratch;
  int64_t program = 0, part = 0;
  bool faulted = false;
  LeftOut *leftOut;
  bool isSilent;
  std::vector<Round> rounds; ///< of the loops around, if any is left out
  bool isDry = false;
};

} // namespace bitpact::interpreter

#endif
