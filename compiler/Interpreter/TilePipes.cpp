// TilePipes.cpp - stages, products and results of interpreted tile kernels
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/Interpreter/TileMachine.h"

using namespace mlir;
using namespace bitpact;
using namespace bitpact::interpreter;

Buffer &TileMachine::bufferOf(mlir::Value slot) {
  auto argument = cast<BlockArgument>(slot);
  return buffers.at(
      cast<StringAttr>(func.getSlots()[argument.getArgNumber()]).str());
}

LogicalResult TileMachine::offset(Role &role, tile::OffsetOp op) {
  const Buffer &buffer = bufferOf(op.getBuffer());
  int64_t index = number(role, op.getIndex());
  int64_t count = int64_t(buffer.cells.size());
  if (!role.ready)
    return error(role, op) << "reads '" << buffer.name
                           << "', which what precedes the launch may write";
  if (index < 0 || index >= count)
    return error(role, op) << "reads element " << index << " of '"
                           << buffer.name << "', which has " << count;
  const Cell &cell = buffer.cells[size_t(index)];
  if (!cell.isConcrete())
    return error(role, op) << "reads '" << buffer.name << "', which is not "
                           << "known";
  role.values[op] = int64_t(cell.bits);
  return success();
}

LogicalResult TileMachine::view(Role &role, tile::ViewOp op) {
  bool alongRows = op.getAlong() == "rows";
  int64_t rowStride =
      op.getStride() ? get<int64_t>(role, op.getStride()) : int64_t(alongRows);
  views.push_back(std::make_unique<TileView>(
      TileView{&bufferOf(op.getBuffer()), get<int64_t>(role, op.getRows()),
               get<int64_t>(role, op.getCols()), rowStride,
               int64_t(!alongRows)}));
  if (op.getCount()) {
    views.back()->count = get<int64_t>(role, op.getCount());
    views.back()->apart = get<int64_t>(role, op.getApart());
  }
  role.values[op] = static_cast<const TileView *>(views.back().get());
  return success();
}

//===----------------------------------------------------------------------===//
// The producer
//===----------------------------------------------------------------------===//

TileMachine::Outcome TileMachine::acquire(Role &role, tile::AcquireOp op) {
  Pipe *pipe = get<Pipe *>(role, op.getPipe());
  int64_t filling = pipe->acquired[writerOf(role)];
  if (sharesCopies) {
    int64_t met = pipe->waited[role.consumer];
    if (filling - pipe->stages >= (met ? pipe->freed[met - 1] : 0)) {
      error(role, op) << "takes a stage that consumers may still read: they "
                         "have not met since it was released";
      return Outcome::Failed;
    }
  } else {
    for (int64_t released : pipe->released)
      if (released + pipe->stages <= filling)
        return Outcome::Waits;
  }
  ++pipe->acquired[writerOf(role)];
  fill(role, *pipe, filling, op.getBlocks());
  return Outcome::Went;
}

/// The blocks of a filling, which may be that of a stage acquired later.
void TileMachine::fill(Role &role, Pipe &pipe, int64_t filling,
                       ResultRange values) {
  size_t blocks = values.size();
  while (filling >= int64_t(pipe.fillings.size()))
    pipe.fillings.push_back(
        {std::vector<std::optional<Window>>(blocks),
         std::vector<std::vector<bool>>(pipe.acquired.size(),
                                        std::vector<bool>(blocks))});
  for (auto [i, block] : llvm::enumerate(values)) {
    auto type = cast<tile::BlockType>(block.getType());
    role.values[block] =
        BlockRef{&pipe, filling, i, 0, type.getRows(), type.getCols()};
  }
}

LogicalResult TileMachine::early(Role &role, tile::EarlyOp op) {
  Pipe *pipe = get<Pipe *>(role, op.getPipe());
  int64_t number = this->number(role, op.getNumber());
  if (number < 0 || number >= pipe->stages)
    return error(role, op) << "stage " << number << " of " << pipe->stages;
  if (pipe->acquired[writerOf(role)])
    return error(role, op) << "after a stage has been acquired";
  fill(role, *pipe, number, op.getBlocks());
  return success();
}

LogicalResult TileMachine::fetch(Role &role, tile::FetchOp op) {
  BlockRef to = get<BlockRef>(role, op.getBlock());
  const TileView *from = get<const TileView *>(role, op.getView());
  if (to.filling < to.pipe->committed[writerOf(role)])
    return error(role, op) << "writes a stage that it has committed";
  Filling &filling = to.pipe->fillings[to.filling];
  Window window{
      from,    number(role, op.getRow()), number(role, op.getCol()), to.rows,
      to.cols, op.getNegative()};
  window.matrix = matrixOf(role, op.getMatrix());
  if (op.getUnless() && number(role, op.getUnless())) {
    const std::optional<Window> &block = filling.blocks[to.number];
    if (!block || !(*block == window))
      return error(role, op) << "leaves out what was not fetched early";
    return success();
  }
  if (filling.fetched[writerOf(role)][to.number])
    return error(role, op) << "writes a block of a stage a second time";
  filling.fetched[writerOf(role)][to.number] = true;
  if (from->buffer->isOutput)
    return error(role, op) << "reads output '" << from->buffer->name << "'";
  if (!role.ready && !isSteady(role, from->buffer->name))
    return error(role, op) << "reads '" << from->buffer->name
                           << "', which what precedes the launch may write";
  if (op.getBoxes()) {
    int64_t boxes = number(role, op.getBoxes()),
            rows = number(role, op.getBoxRows());
    if (boxes < 0 || rows < 1 || boxes > to.rows / rows)
      return error(role, op) << "copies " << boxes << " boxes of " << rows
                             << " rows to a block of " << to.rows;
    window.copied = boxes * rows;
  }
  auto element = op.getBlock().getType().getElementType();
  filling.bytes += window.copied.value_or(to.rows) * to.cols *
                   element.getIntOrFloatBitWidth() / 8;
  std::optional<Window> &block = filling.blocks[to.number];
  if (block && !(*block == window))
    return error(role, op) << "copies a share of another block than others do";
  block = window;
  return success();
}

LogicalResult TileMachine::commit(Role &role, tile::CommitOp op) {
  Pipe *pipe = get<Pipe *>(role, op.getPipe());
  size_t writer = writerOf(role);
  int64_t &committed = pipe->committed[writer];
  if (committed == pipe->acquired[writer])
    return error(role, op) << "no stage has been acquired";
  for (auto [i, fetched] :
       llvm::enumerate(pipe->fillings[committed].fetched[writer]))
    if (!fetched)
      return error(role, op) << "block " << i << " has not been fetched";
  // Whoever waits for the stage would go on too early, or never.
  int64_t expected = 0, copied = pipe->fillings[committed].bytes;
  for (Type type : op.getPipe().getType().getBlocks()) {
    auto block = cast<tile::BlockType>(type);
    expected += block.getRows() * block.getCols() *
                block.getElementType().getIntOrFloatBitWidth() / 8;
  }
  if (op.getBytes())
    expected = number(role, op.getBytes());
  if (!sharesCopies && expected != copied)
    return error(role, op) << "expects " << expected << " bytes of a stage, of "
                           << "which " << copied << " are copied";
  ++committed;
  return success();
}

//===----------------------------------------------------------------------===//
// Consumers
//===----------------------------------------------------------------------===//

TileMachine::Outcome TileMachine::wait(Role &role, tile::WaitOp op) {
  Pipe *pipe = get<Pipe *>(role, op.getPipe());
  int64_t &waited = pipe->waited[role.consumer];
  if (sharesCopies) {
    if (Outcome outcome = meet(role, op, *pipe); outcome != Outcome::Went)
      return outcome;
  } else if (waited == pipe->complete()) {
    return Outcome::Waits;
  }
  for (auto [i, block] : llvm::enumerate(op.getBlocks())) {
    auto type = cast<tile::BlockType>(block.getType());
    role.values[block] =
        BlockRef{pipe, waited, i, 0, type.getRows(), type.getCols()};
  }
  ++waited;
  return Outcome::Went;
}

/// A consumer that comes has committed the stage and as many after it as need
/// not have arrived; it goes on when all have come.
TileMachine::Outcome TileMachine::meet(Role &role, tile::WaitOp op,
                                       Pipe &pipe) {
  int64_t meeting = pipe.waited[role.consumer];
  if (pipe.arrived[role.consumer] == meeting) {
    int64_t after = pipe.committed[role.consumer] - meeting - 1,
            ahead = int64_t(op.getAhead().value_or(0));
    if (after < 0) {
      error(role, op) << "waits for a stage that it has not committed";
      return Outcome::Failed;
    }
    if (after < ahead) {
      error(role, op) << "has committed " << after
                      << " stages after the one it waits for, where " << ahead
                      << " may not have arrived";
      return Outcome::Failed;
    }
    ++pipe.arrived[role.consumer];
    int64_t released = pipe.released[role.consumer];
    if (meeting == int64_t(pipe.freed.size()))
      pipe.freed.push_back(released);
    else
      pipe.freed[meeting] = std::min(pipe.freed[meeting], released);
  }
  for (int64_t arrived : pipe.arrived)
    if (arrived <= meeting)
      return Outcome::Waits;
  return Outcome::Went;
}

LogicalResult TileMachine::release(Role &role, tile::ReleaseOp op) {
  Pipe *pipe = get<Pipe *>(role, op.getPipe());
  int64_t &released = pipe->released[role.consumer];
  if (released == pipe->waited[role.consumer])
    return error(role, op) << "gives back a stage that it has not waited for";
  for (const Running &product : role.running)
    for (const BlockRef &block : product.read)
      if (block.pipe == pipe && block.filling == released)
        return error(role, op)
               << "gives back a stage that products may still read";
  ++released;
  return success();
}

LogicalResult TileMachine::rows(Role &role, tile::RowsOp op) {
  BlockRef block = get<BlockRef>(role, op.getBlock());
  int64_t part = number(role, op.getNumber());
  int64_t rows = op.getType().getRows();
  if (part < 0 || part >= block.rows / rows)
    return error(role, op) << "part " << part << " of " << block.rows / rows;
  block.row += part * rows;
  block.rows = rows;
  role.values[op] = block;
  return success();
}

FailureOr<Window> TileMachine::read(Role &role, Operation *op, BlockRef block) {
  if (role.consumer < 0 || block.filling >= block.pipe->waited[role.consumer])
    return error(role, op) << "reads a stage that it has not waited for";
  if (block.filling < block.pipe->released[role.consumer])
    return error(role, op) << "reads a stage that it has given back";
  Window window = *block.pipe->fillings[block.filling].blocks[block.number];
  window.row += block.row;
  window.rows = block.rows;
  if (window.copied)
    window.copied = *window.copied - block.row;
  window.cols = block.cols;
  return window;
}

/// Products change the sums where they are: what other products have gone on
/// with is no more.
FailureOr<TileMachine::Chain *> TileMachine::chainOf(Role &role, Operation *op,
                                                     mlir::Value sums) {
  SumsRef ref = get<SumsRef>(role, sums);
  Chain &chain = role.chains[ref.chain];
  if (chain.awaited)
    return error(role, op) << "takes sums that have been awaited";
  if (ref.length != chain.products.size())
    return error(role, op) << "takes sums that other products have gone on "
                              "with";
  return &chain;
}

LogicalResult TileMachine::start(Role &role, tile::StartOp op) {
  role.values[op] = SumsRef{role.chains.size(), 0};
  role.chains.emplace_back();
  return success();
}

LogicalResult TileMachine::pack(Role &role, tile::PackOp op) {
  const TileView *from = get<const TileView *>(role, op.getView());
  if (from->buffer->isOutput)
    return error(role, op) << "reads output '" << from->buffer->name << "'";
  tile::BlockType type = op.getType();
  Window window{from,
                number(role, op.getRow()),
                number(role, op.getCol()),
                type.getRows(),
                type.getCols(),
                /*negative=*/false,
                /*packed=*/true};
  window.matrix = matrixOf(role, op.getMatrix());
  if (op.getEnd())
    window.copied = number(role, op.getEnd()) - window.row;
  role.values[op] = window;
  return success();
}

FailureOr<TileProduct> TileMachine::operands(Role &role, Operation *op,
                                             mlir::Value a, mlir::Value b,
                                             std::vector<BlockRef> &inPipes) {
  TileProduct product{{}, {}, {}, {}};
  for (auto [value, window] :
       {std::pair(a, &product.a), std::pair(b, &product.b)}) {
    Value held = role.values.lookup(value);
    if (auto *packed = std::get_if<Window>(&held)) {
      *window = *packed;
      continue;
    }
    inPipes.push_back(std::get<BlockRef>(held));
    FailureOr<Window> found = read(role, op, inPipes.back());
    if (failed(found))
      return failure();
    *window = *found;
  }
  return product;
}

LogicalResult TileMachine::dot(Role &role, tile::DotOp op) {
  std::vector<BlockRef> inPipes;
  FailureOr<TileProduct> product =
      operands(role, op, op.getA(), op.getB(), inPipes);
  if (failed(product))
    return failure();
  // Atoms of one arithmetic for several formats have names of their own.
  StringRef name = op.getAtom();
  if (name == "dot.fma.f32") {
    product->atom = {name.str(), 1, 0};
  } else {
    StringRef family = name;
    if (!name.contains(')'))
      family.consume_back(".f16");
    else
      family = name.take_front(name.find(')') + 1);
    try {
      product->atom = algebra::Atom::parse(family.str());
    } catch (const std::exception &) {
      return error(role, op) << "there is no atom '" << name << "'";
    }
  }
  // Whole steps, as many as have a column.
  if (op.getCount()) {
    int64_t columns = this->number(role, op.getCount());
    if (columns < 1 || columns > product->a.cols)
      return error(role, op)
             << "has " << columns << " columns of " << product->a.cols;
    product->a.cols = product->b.cols =
        std::min(product->a.cols, (columns + product->atom.terms - 1) /
                                     product->atom.terms * product->atom.terms);
  }
  size_t number = role.chains.size();
  if (op.getSums()) {
    if (failed(chainOf(role, op, op.getSums())))
      return failure();
    number = get<SumsRef>(role, op.getSums()).chain;
  } else {
    role.chains.emplace_back();
  }
  Chain &chain = role.chains[number];
  chain.products.push_back(*product);
  role.running.push_back({number, inPipes});
  role.values[op] = SumsRef{number, chain.products.size()};
  return success();
}

LogicalResult TileMachine::chain(Role &role, tile::ChainOp op) {
  std::vector<BlockRef> inPipes;
  FailureOr<TileProduct> product =
      operands(role, op, op.getA(), op.getB(), inPipes);
  FailureOr<Chain *> chain = chainOf(role, op, op.getSums());
  if (failed(product) || failed(chain))
    return failure();
  product->chain = op;
  (*chain)->products.push_back(*product);
  role.values[op] = SumsRef{get<SumsRef>(role, op.getSums()).chain,
                            (*chain)->products.size()};
  return success();
}

LogicalResult TileMachine::settle(Role &role, tile::SettleOp op) {
  if (failed(chainOf(role, op, op.getSums())))
    return failure();
  size_t behind = std::min(size_t(op.getBehind()), role.running.size());
  role.running.erase(role.running.begin(), role.running.end() - behind);
  role.values[op] = role.values.lookup(op.getSums());
  return success();
}

LogicalResult TileMachine::await(Role &role, tile::AwaitOp op) {
  FailureOr<Chain *> chain = chainOf(role, op, op.getSums());
  if (failed(chain))
    return failure();
  size_t number = get<SumsRef>(role, op.getSums()).chain;
  llvm::erase_if(role.running, [&](const Running &product) {
    return product.chain == number;
  });
  auto made = std::make_shared<TileValues>();
  made->products = std::move((*chain)->products);
  made->first = (*chain)->first;
  made->absent = op.getExists() && !this->number(role, op.getExists());
  (*chain)->awaited = true;
  role.values[op] = std::shared_ptr<const TileValues>(made);
  return success();
}
