// Declared.h - the terms that a contract declares, element by element
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef BITPACT_COMPILER_INTERPRETER_DECLARED_H
#define BITPACT_COMPILER_INTERPRETER_DECLARED_H

#include "compiler/Interpreter/Machine.h"
#include "compiler/Interpreter/Whole.h"
#include "contracts/algebra/TreeBuilder.h"
#include "dialects/Pact/Pact.h"

#include <memory>

namespace bitpact::interpreter {

/// One reduction of one row: its declared tree, and the terms that the tree's
/// nodes stand for.
struct NodeTerms {
  std::string node;
  int64_t row = 0;
  algebra::ReductionKind kind = algebra::ReductionKind::Sum;
  bool hasOpenOrder = false; ///< some merge is `any`
  /// An online state: its terms are compared with maxima as sets, and there is
  /// no tree of partials to read.
  bool isOnline = false;
  Scalar accumulator = Scalar::F32;
  std::shared_ptr<algebra::TreeStore> store;
  algebra::TreeId tree = 0;
  std::vector<TermId> ofTree; ///< by TreeId; -1 where it is no partial
  std::vector<std::vector<TermId>> leaves; ///< by position, an argument each
  TermId result = -1;
  pact::PrimitiveOp step;
};

/// Reads the contract, its operator and its primitives; never a schedule or
/// what was lowered. Tensors are numbered in the order of `buffers`.
class Declared {
public:
  Declared(pact::ContractOp contract, pact::OperatorOp op, int64_t extent,
           const std::map<std::string, Buffer> &buffers, TermStore &terms,
           const std::vector<int64_t> &offsets = {}, WholePrimitives whole = {},
           LeftOut leftOut = {});
  virtual ~Declared() = default;

  /// What an output holds: at a position, of those that are not left out, of
  /// the reduced dim, or of the row.
  TermId output(pact::OutputOp output, int64_t row, int64_t position);
  /// The nodes met so far, in the order in which they depend on each other.
  std::vector<NodeTerms> &nodes() { return nodeList; }

protected:
  virtual TermId reduce(pact::ReduceOp op, int64_t row);
  virtual TermId load(pact::InputOp input, int64_t row, int64_t position);

  pact::ContractOp contract;
  pact::OperatorOp op;
  const std::map<std::string, Buffer> &buffers;
  TermStore &terms;

private:
  TermId value(mlir::Value f, int64_t row, int64_t position);
  TermId compute(mlir::Operation *op, int64_t row, int64_t position);
  TermId online(pact::ReduceOp op, pact::NodeAttr attr, const NodeTerms &node,
                int64_t row);
  TermId take(pact::TakeOp op, int64_t row);
  /// Positions that exist for a node, or where all agree for the operator.
  int64_t extentOf(pact::ReduceOp op);
  /// Without those left out; positions are counted without them.
  int64_t presentIn(pact::ReduceOp op) { return extentOf(op) - leftOut.length; }
  int64_t domain();
  TermId arithmetic(mlir::Operation *op, int64_t row, int64_t position);
  /// As an operand in `format`; constants and extents are rounded to it.
  TermId operand(mlir::Value f, Scalar format, int64_t row, int64_t position);
  /// The format that rule E1 counts for an operand.
  Scalar formatOf(mlir::Value f, int64_t row, int64_t position);
  Scalar widest(mlir::Operation *op, int64_t row, int64_t position);
  pact::MulOp exactProduct(mlir::Value f);
  pact::PrimitiveOp primitiveAt(llvm::StringRef site);
  pact::RoundingAttr rounding(llvm::StringRef site);

  int64_t extent;
  std::vector<int64_t> offsets;
  WholePrimitives whole;
  LeftOut leftOut;
  mlir::StringAttr reducedDim;
  /// By operation, row and position (-1: of the row).
  llvm::DenseMap<std::tuple<mlir::Operation *, int64_t, int64_t>, TermId> known;
  std::vector<NodeTerms> nodeList;
};

/// Rounds once to `format`, or extends exactly.
TermId convert(TermStore &terms, TermId value, Scalar format);

/// A primitive's body on terms, or the whole of it on symbols.
TermId applyPrimitive(TermStore &terms, pact::PrimitiveOp primitive,
                      llvm::ArrayRef<TermId> arguments,
                      const WholePrimitives &whole = {});

/// The terms that an accumulator begins with (sums and dots: +0, max: −Inf),
/// and that the first element gives where it seeds the accumulator.
TermId identityTerm(TermStore &terms, const NodeTerms &node);
TermId firstTerm(TermStore &terms, const NodeTerms &node,
                 llvm::ArrayRef<TermId> leaf);

} // namespace bitpact::interpreter

#endif
