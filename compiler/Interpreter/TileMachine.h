// TileMachine.h - runs the roles of a tile kernel side by side
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef BITPACT_COMPILER_INTERPRETER_TILEMACHINE_H
#define BITPACT_COMPILER_INTERPRETER_TILEMACHINE_H

#include "compiler/Interpreter/Machine.h"
#include "contracts/algebra/MergeOrder.h"
#include "dialects/Kernel/Tiles.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <variant>

namespace bitpact::interpreter {

/// A matrix in a tensor of the caller, as the kernel describes it: elements of
/// neighbouring rows and columns lie so far apart. A vector is a matrix in
/// which one of these is 0. A stack is of several, which lie so far apart.
struct TileView {
  Buffer *buffer;
  int64_t rows, cols, rowStride, colStride;
  int64_t count = 1, apart = 0;
  /// The element of the tensor; nothing beyond the extents of the view.
  /// Inside of them, but outside of the tensor, or of a matrix that the stack
  /// does not have, it is -1.
  std::optional<int64_t> elementAt(int64_t row, int64_t col,
                                   int64_t matrix = 0) const;
};

/// What a block holds: a part of a view, elements beyond its extents as zero,
/// and in rows that were not copied anything.
/// Inputs do not change during a launch, so that a copy of their elements is
/// where they come from.
struct Window {
  const TileView *view = nullptr;
  int64_t row = 0, col = 0, rows = 0, cols = 0;
  bool negative = false; ///< what is beyond is -0
  bool operator==(const Window &) const = default;
  /// A block that was packed: columns beyond the view's are not there.
  bool packed = false;
  /// Rows that were copied, where not all were.
  std::optional<int64_t> copied = {};
  int64_t matrix = 0; ///< of a stack
  bool holds(int64_t r) const { return !copied || r < *copied; }
  /// Columns that products take.
  int64_t present() const {
    return packed ? std::clamp(view->cols - col, int64_t(0), cols) : cols;
  }
};

/// Products of rows of two blocks that a sum takes into itself. A primitive is
/// an atom of one term.
struct TileProduct {
  Window a, b;
  algebra::Atom atom; ///< where there is no `chain`
  mutable tile::ChainOp chain;
  int64_t depth() const { return std::min(a.present(), b.present()); }
};

/// Sums, elements of a view, or what a map makes of other values. All elements
/// are computed alike: element (i, j) is made of row i of each `a` and row j of
/// each `b`, and of element (i, j) of what was loaded.
struct TileValues {
  std::vector<TileProduct> products;
  std::optional<Window> loaded;
  bool first = false; ///< the first product is the sum
  bool absent = false; ///< the kernel says that they are not there: NaN
  mutable tile::MapOp map;
  std::vector<std::shared_ptr<const TileValues>> from;
  /// Those of `from` as they are, in a slot, the n-th that it took.
  struct Slot {
    int64_t slot, taken;
  };
  std::optional<Slot> held;
  /// Columns of those of `from` that a unit brought: from which one on, and how
  /// many rows there are.
  struct Brought {
    int64_t left, rows;
  };
  std::optional<Brought> brought;
};

/// The cell of element (row, col); `leaf` gives that of sums and of loaded values.
Cell elementOf(
    const TileValues &values, TermStore &terms, int64_t row, int64_t col,
    llvm::function_ref<Cell(const TileValues &, int64_t, int64_t)> leaf);
/// What a region of scalar operations yields for these arguments.
Cell yielded(mlir::Block &body, llvm::ArrayRef<Cell> arguments,
             TermStore &terms);

/// A kernel without roles is one consumer. Of one with roles,
/// every role is a coroutine that runs until a pipe has nothing for it. What a
/// role finds does not depend on who runs first: a pipe has one writer, and a
/// reader waits for what has been written, so that one order stands for all.
///
/// Where consumers copy, they meet at every wait. What a consumer has released
/// when it comes there is what others may overwrite afterwards, so that this
/// does not depend on who runs first either.
///
/// Units that share a block have roles and pipes of their own, which run side by
/// side. What one brings when they meet is what it was made of then; what another
/// finds does not depend on who comes first, since all wait for all.
///
/// Broken promises are errors at the operation: reading a stage that has not
/// been committed or has been released, writing one that has been committed,
/// using values whose slot others have taken,
/// giving back one that products may still read, sums that other products have
/// gone on with or that were awaited before, roles that wait for each other,
/// and stages that nobody has taken in the end.
class TileMachine {
public:
  using Put = std::function<mlir::LogicalResult(
      tile::PutOp, const std::shared_ptr<const TileValues> &, const Window &)>;

  TileMachine(tile::FuncOp func, std::map<std::string, Buffer> &buffers,
              const std::map<std::string, int64_t> &dims, int64_t programs,
              Put put)
      : func(func), buffers(buffers), dims(dims), programs(programs),
        put(std::move(put)), sharesCopies(func.getSchedule().sharesCopies()) {}

  mlir::LogicalResult run();
  /// Whether a program has set the fault word.
  bool hasFault() const { return faulted; }

private:
  /// The n-th filling of a pipe's stages.
  struct Filling {
    std::vector<std::optional<Window>> blocks;
    std::vector<std::vector<bool>> fetched; ///< by writer and block
    int64_t bytes = 0; ///< that fetches copy
  };
  struct Pipe {
    tile::PipeOp op;
    int64_t stages;
    std::vector<Filling> fillings; ///< acquired so far
    /// By writer: the producer, or each consumer where they copy.
    std::vector<int64_t> acquired, committed;
    std::vector<int64_t> waited, released; ///< by consumer
    std::vector<int64_t> arrived;          ///< at meetings, by consumer
    /// Of each meeting: stages that all had released when they came.
    std::vector<int64_t> freed;

    /// Stages that all writers have committed.
    int64_t complete() const {
      return *std::min_element(committed.begin(), committed.end());
    }
  };
  struct BlockRef {
    Pipe *pipe;
    int64_t filling;
    size_t number;
    int64_t row, rows, cols;
  };
  struct SumsRef {
    size_t chain, length;
  };
  using Value =
      std::variant<std::monostate, int64_t, const TileView *, Pipe *, BlockRef,
                   SumsRef, Window, std::shared_ptr<const TileValues>>;
  struct Frame {
    mlir::Block *block;
    mlir::Block::iterator at;
    mlir::scf::ForOp loop;
    int64_t i = 0, high = 0, step = 0;
  };
  struct Chain {
    std::vector<TileProduct> products;
    bool first = false, awaited = false;
  };
  struct Running {
    size_t chain;
    std::vector<BlockRef> read;
  };
  struct Role {
    int64_t consumer = -1; ///< the producer has none
    int64_t unit = 0, met = 0; ///< of several; how often it has met the others
    std::vector<Frame> frames;
    llvm::DenseMap<mlir::Value, Value> values;
    std::vector<Chain> chains;
    std::vector<Running> running; ///< products that may still read blocks
    std::map<int64_t, int64_t> taken; ///< how often a slot was
    bool ready = true; ///< what precedes the launch has ended
  };
  /// What units have brought, by their number.
  struct Meeting {
    mlir::Operation *op = nullptr;
    int64_t rows = 0;
    std::vector<std::vector<std::shared_ptr<const TileValues>>> brought;
  };
  enum class Outcome { Went, Waits, Failed };

  mlir::LogicalResult runProgram();
  mlir::LogicalResult runBefore(Role &role, mlir::Operation &op);
  mlir::LogicalResult bindSlots(Role &role);
  mlir::LogicalResult runRoles(llvm::ArrayRef<Role> outer,
                               tile::RolesOp roles);
  Outcome step(Role &role);
  Outcome execute(Role &role, mlir::Operation &op);
  mlir::LogicalResult scalar(Role &role, mlir::Operation &op);
  mlir::LogicalResult enter(Role &role, mlir::scf::ForOp loop);
  void leave(Role &role);
  Buffer &bufferOf(mlir::Value slot);
  mlir::LogicalResult view(Role &role, tile::ViewOp op);
  mlir::LogicalResult offset(Role &role, tile::OffsetOp op);
  size_t writerOf(const Role &role) const {
    return sharesCopies ? size_t(role.consumer) : 0;
  }
  Outcome acquire(Role &role, tile::AcquireOp op);
  mlir::LogicalResult early(Role &role, tile::EarlyOp op);
  void fill(Role &role, Pipe &pipe, int64_t filling, mlir::ResultRange values);
  bool isSteady(Role &role, llvm::StringRef tensor);
  mlir::LogicalResult fetch(Role &role, tile::FetchOp op);
  mlir::LogicalResult commit(Role &role, tile::CommitOp op);
  Outcome wait(Role &role, tile::WaitOp op);
  Outcome meet(Role &role, tile::WaitOp op, Pipe &pipe);
  mlir::LogicalResult release(Role &role, tile::ReleaseOp op);
  mlir::LogicalResult rows(Role &role, tile::RowsOp op);
  mlir::LogicalResult start(Role &role, tile::StartOp op);
  mlir::LogicalResult pack(Role &role, tile::PackOp op);
  int64_t matrixOf(Role &role, mlir::Value matrix) {
    return matrix ? number(role, matrix) : 0;
  }
  mlir::LogicalResult dot(Role &role, tile::DotOp op);
  mlir::LogicalResult chain(Role &role, tile::ChainOp op);
  mlir::LogicalResult settle(Role &role, tile::SettleOp op);
  mlir::LogicalResult await(Role &role, tile::AwaitOp op);
  mlir::LogicalResult load(Role &role, tile::LoadOp op);
  mlir::LogicalResult hold(Role &role, tile::HoldOp op);
  Outcome meetUnits(Role &role, tile::MeetOp op);
  mlir::LogicalResult bring(Role &role, tile::MeetOp op, Meeting &meeting);
  /// Whether all that the values are made of is still there.
  mlir::LogicalResult use(Role &role, mlir::Operation *op,
                          const TileValues &values);
  mlir::LogicalResult store(Role &role, tile::PutOp op);
  /// What the block holds, if this role may read it now.
  mlir::FailureOr<Window> read(Role &role, mlir::Operation *op, BlockRef block);
  /// The two blocks of a product; what of them is in a pipe is noted.
  mlir::FailureOr<TileProduct> operands(Role &role, mlir::Operation *op,
                                        mlir::Value a, mlir::Value b,
                                        std::vector<BlockRef> &inPipes);
  mlir::LogicalResult runAlone(Role &role);
  mlir::FailureOr<Chain *> chainOf(Role &role, mlir::Operation *op,
                                   mlir::Value sums);
  mlir::LogicalResult finish();

  template <typename T> T get(Role &role, mlir::Value value) {
    return std::get<T>(role.values.lookup(value));
  }
  /// As a signed number.
  int64_t number(Role &role, mlir::Value value);
  mlir::InFlightDiagnostic error(const Role &role, mlir::Operation *op);

  tile::FuncOp func;
  std::map<std::string, Buffer> &buffers;
  const std::map<std::string, int64_t> &dims;
  int64_t programs, program = 0;
  Put put;
  bool sharesCopies, faulted = false;
  std::vector<std::unique_ptr<TileView>> views;
  std::vector<std::unique_ptr<Pipe>> pipes;
  /// By consumer, the n-th of each.
  std::map<std::pair<int64_t, int64_t>, Meeting> meetings;
};

} // namespace bitpact::interpreter

#endif
