// RowContext.h - positions, presence and memory accesses of one kernel
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef BITPACT_CODEGEN_LOWERING_ROWCONTEXT_H
#define BITPACT_CODEGEN_LOWERING_ROWCONTEXT_H

#include "codegen/Lowering/RowPlan.h"
#include "mlir/IR/Builders.h"

#include <map>

namespace bitpact::lowering {

/// constant + Σ value·scale, where a value is an i64 or a lane vector of i64.
struct Affine {
  llvm::SmallVector<std::pair<mlir::Value, int64_t>, 2> terms;
  int64_t constant = 0;

  void add(const Affine &other, int64_t scale);
  void addTerm(mlir::Value value, int64_t scale);
};

/// The digit values that select one element or one block of elements (digits
/// not yet chosen are 0).
struct Instance {
  llvm::SmallVector<Affine, 2> digits;
  /// Which of the neighbouring rows of a lane.
  int64_t column = 0;
  /// Every element that will be chosen is known to exist.
  bool whole = false;
  /// The block between two offsets (i64), or null: the whole dim.
  mlir::Value begin, end;
  /// Which accumulator of a state its elements belong to.
  Affine slot;
  /// A lane mask that must hold beside what the digits say; null if none.
  mlir::Value guard;

  Instance at(const SubDigit &sub, int64_t value) const;
  Instance at(const SubDigit &sub, mlir::Value value) const;
};

/// Whether something holds: known, or known only to the running kernel
/// (a lane vector of i1).
struct Presence {
  enum Kind { Always, Never, Sometimes } kind = Always;
  mlir::Value mask;
  bool always() const { return kind == Always; }
  bool never() const { return kind == Never; }
};

/// State while one `kernel.func` is built. Values that are computed once (base
/// addresses, loaded elements) are remembered as long as the builder stays in
/// the region in which they were made.
class RowContext {
public:
  RowContext(mlir::OpBuilder &builder, mlir::Location loc, kernel::FuncOp func,
             pact::ContractOp contract, pact::OperatorOp op,
             const RowFamily &family, kernel::ScheduleAttr schedule);

  mlir::OpBuilder &builder;
  mlir::Location loc;
  pact::ContractOp contract;
  pact::OperatorOp op;
  const RowFamily &family;
  kernel::ScheduleAttr schedule;

  //--- lane values -------------------------------------------------------===//
  int64_t lanes() const { return schedule.getLanes(); }
  mlir::VectorType laneType(mlir::Type element) const;
  mlir::Value i64(int64_t value);
  mlir::Value laneConstant(mlir::TypedAttr value);
  mlir::Value splat(mlir::Value uniform);
  mlir::Value lane() const { return laneIndex; }
  /// The lane's index in its subgroup.
  mlir::Value laneInSubgroup() const { return subgroupLane; }
  /// A scalar if every term is uniform, else a lane vector.
  mlir::Value materialize(const Affine &affine);

  //--- positions ---------------------------------------------------------===//
  Instance wholeRow(const NodePlan &plan) const;
  Affine position(const NodePlan &plan, const Instance &instance) const;
  /// Whether the first element of the block exists; blocks are filled from the
  /// front, so this is whether the block has any element.
  Presence present(const NodePlan &plan, const Instance &instance);
  /// `index`, a value of the leftmost digit, is one of a block that lies in
  /// the row with all of its length.
  void assumeWholeBlock(mlir::Value index) { wholeBlocks.insert(index); }
  /// Number of values of a sub-digit in the block, as i64.
  mlir::Value tripCount(const NodePlan &plan, const SubDigit &sub,
                        const Instance *block = nullptr);
  /// Of the last digit in a block whose other digits are all chosen: how many
  /// of its elements exist. The same for all lanes.
  mlir::Value presentCount(const NodePlan &plan, const Instance &block);
  /// Elements of the block that digit `i` cuts, where only the running kernel
  /// knows.
  mlir::Value containerOf(size_t i, const Instance &instance);
  /// The extent of the reduced dim or the number of rows, as i64.
  mlir::Value extentOf(llvm::StringRef dim);
  /// Both masks; null stands for one that always holds.
  mlir::Value both(mlir::Value a, mlir::Value b);

  //--- several rows a lane -----------------------------------------------===//
  /// The rows of lanes of `row_per_lane` kernels that have several, or parts.
  bool mapsRows() const { return rowsAreMapped; }
  int64_t columns() const { return schedule.getRowsPerLane(); }
  /// Values are those of this one of a lane's rows from here on.
  void setColumn(int64_t which) { column = which; }
  int64_t currentColumn() const { return column; }
  /// Whether all lanes may access neighbouring rows at once, none masked: i1,
  /// or null where they always may.
  mlir::Value rowsAreWhole();
  void mapRows(bool whole);
  /// Stores a value a column.
  void storeColumns(llvm::StringRef tensor, mlir::ValueRange values);

  //--- parts of a split --------------------------------------------------===//
  /// The part that this program has; null without a split.
  mlir::Value part() const { return partIndex; }
  /// How many there are.
  mlir::Value partCount(kernel::SplitAttr split);
  /// Makes parts between offsets the elements of the reduction.
  void reduceParts(mlir::Value count) { partsOfMerge = count; }
  void storePart(mlir::ValueRange values);
  mlir::Value loadPart(mlir::Value number, mlir::Type element);
  /// `present` of a block that is the same for all lanes, as i1.
  mlir::Value partExists(const NodePlan &plan, const Instance &instance);

  //--- memory ------------------------------------------------------------===//
  /// One integer of a tensor of offsets, as i64.
  mlir::Value readOffset(llvm::StringRef tensor, mlir::Value index);
  /// Outputs are NaN unless the offsets ascend from 0 to the extent.
  void checkOffsets(llvm::StringRef tensor);
  mlir::Value unlessFault(mlir::Value output);
  /// The element of a tensor that has the reduced dim.
  mlir::Value load(llvm::StringRef tensor, const NodePlan &plan,
                   const Instance &instance);
  /// What `load` gives for an element that has been loaded before.
  void provide(llvm::StringRef tensor, const NodePlan &plan,
               const Instance &instance, mlir::Value value);
  /// The element of a tensor that has not.
  mlir::Value loadRow(llvm::StringRef tensor);
  /// The position that an index tensor gives for a row, as lanes of i64; −1 in
  /// lanes without a row.
  mlir::Value loadIndex(llvm::StringRef tensor);
  /// Sets the fault word if the mask holds in a lane that has a row.
  void fault(mlir::Value mask);
  /// Stores values at `plan.pack` (or one) consecutive positions.
  void store(llvm::StringRef tensor, const NodePlan &plan,
             llvm::ArrayRef<Instance> instances, mlir::ValueRange values);
  void storeRow(llvm::StringRef tensor, mlir::Value value);
  /// Says that the next row's element of that position will be needed.
  void prefetchNextRow(llvm::StringRef tensor, const NodePlan &plan,
                       const Instance &instance);
  /// Elements from consecutive positions can be stored in one access.
  bool packs(llvm::StringRef tensor, const NodePlan &plan);
  /// Tensor → bytes to which its first element and rows must be aligned.
  const std::map<std::string, int64_t> &alignments() const { return aligned; }

  //--- regions -----------------------------------------------------------===//
  /// A loop from 0 to `count` with carried values. What is remembered inside
  /// is forgotten after it.
  llvm::SmallVector<mlir::Value>
  loop(mlir::Value count, mlir::ValueRange initial,
       llvm::function_ref<llvm::SmallVector<mlir::Value>(mlir::Value iv,
                                                         mlir::ValueRange)>
           body);
  /// Forgets what is remembered from here on when it goes out of scope.
  struct Scope {
    explicit Scope(RowContext &context);
    ~Scope();
    RowContext &context;
  };
  /// Scratch lives as long as the program.
  mlir::Value scratch(int64_t size, mlir::Type cell);

  /// Elementwise values that have been computed for an instance.
  mlir::Value remembered(const std::string &key) const;
  void remember(const std::string &key, mlir::Value value);

private:
  struct Address {
    mlir::Value uniform;     // i64
    mlir::Value laneOffsets; // null or lane vector of i64
    int64_t laneStride = 0;
  };
  llvm::SmallVector<std::string> dimsOf(llvm::StringRef tensor);
  Address address(llvm::StringRef tensor, const Affine *position);
  void chooseRows();
  bool hasColumns(llvm::StringRef tensor);
  mlir::Value loadColumn(llvm::StringRef tensor, const Affine *position,
                         const std::string &key, mlir::Value presence);
  llvm::SmallVector<mlir::Value> columnMasks(int64_t group, bool stores);
  mlir::Value rowCount();
  Address partAddress(mlir::Value number, const Affine &rows);
  int64_t partAlign(mlir::Type element);
  mlir::Value rowMask(llvm::StringRef tensor);
  bool isWholeBlock(const Affine &first) const;
  std::string keyOf(llvm::StringRef tensor, const NodePlan &plan,
                    const Affine &position);
  int64_t alignOf(llvm::StringRef tensor, mlir::Type element, int64_t pack);
  llvm::SmallVector<mlir::Value> masksFor(llvm::StringRef tensor,
                                          const NodePlan &plan,
                                          llvm::ArrayRef<Instance> instances);

  kernel::FuncOp func;
  mlir::Value laneIndex, subgroupLane, rowsInRange;
  Affine row;
  mlir::Value partIndex, firstRow, partsOfMerge, offsetsHold;
  bool rowsAreMapped = false, wholeRows = false;
  int64_t column = 0, rowPack = 1;
  /// Of each access: its first row, and that row before it was kept within
  /// the tensor.
  llvm::SmallVector<Affine> rowStarts, rowsWanted;
  llvm::DenseSet<mlir::Value> wholeBlocks;
  std::map<std::string, int64_t> aligned;
  std::vector<std::map<std::string, mlir::Value>> memory;
};

/// `tensor` of the operator → its dims, inputs and outputs alike.
std::map<std::string, pact::RealType> tensorTypes(pact::OperatorOp op);

} // namespace bitpact::lowering

#endif
