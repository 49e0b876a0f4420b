// ExecutionRows.cpp - evaluates the rows of a run
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "contracts/reference/Execution.h"

#include <algorithm>
#include <cstring>
#include <exception>
#include <limits>
#include <thread>

namespace bitpact::reference {
namespace {

template <class Bits, Format F>
void load(const uint8_t *bytes, const std::vector<int64_t> &source,
          int64_t base, double *out) {
  for (size_t i = 0; i < source.size(); ++i) {
    Bits bits;
    std::memcpy(&bits, bytes + (base + source[i]) * sizeof(Bits), sizeof(Bits));
    out[i] = decode(F, bits);
  }
}

void loadElements(const Tensor &tensor, const std::vector<int64_t> &source,
                  int64_t base, double *out) {
  const uint8_t *bytes = tensor.bytes.data();
  switch (tensor.format) {
  case Format::BF16:
    return load<uint16_t, Format::BF16>(bytes, source, base, out);
  case Format::F16:
    return load<uint16_t, Format::F16>(bytes, source, base, out);
  case Format::F32:
    return load<uint32_t, Format::F32>(bytes, source, base, out);
  default:
    return load<uint64_t, Format::F64>(bytes, source, base, out);
  }
}

template <class Bits, Format F>
void save(uint8_t *bytes, const std::vector<int64_t> &target, int64_t base,
          const double *values) {
  for (size_t i = 0; i < target.size(); ++i) {
    Bits bits = static_cast<Bits>(encode(F, values[i]));
    std::memcpy(bytes + (base + target[i]) * sizeof(Bits), &bits, sizeof(Bits));
  }
}

} // namespace

/// A thread's values of the row it is at.
struct Execution::Worker {
  std::vector<std::vector<double>> values;
  std::vector<int64_t> row;  // by dim
  std::vector<bool> changed; // by dim: since the row before
  bool firstRow = true;
  ReductionPlan::Scratch scratch;
  StatePlan::Scratch states;
  std::vector<double> weights;
  std::vector<int64_t> elements; // that a take reads
  std::vector<Register> registers;
};

int64_t Execution::rowBase(const std::vector<int> &layout,
                           const std::vector<int64_t> &row) const {
  int64_t base = 0;
  for (int dim : layout)
    base = base * extent(dim) + row[dim]; // 0 for a dim that is no row dim
  return base;
}

void Execution::reduce(const Operation &operation, const Prepared &p,
                       Worker &worker) const {
  const NodeFacts &node = program.nodes[operation.index];
  const Primitive &step = program.primitives[node.primitive];
  std::vector<double> &out = worker.values[operation.result];
  if (p.plan < 0) {
    std::fill(out.begin(), out.end(), std::numeric_limits<double>::quiet_NaN());
    return;
  }
  auto operand = [&](size_t k, int64_t i) {
    return ReductionPlan::Operand{worker.values[operation.args[k]].data() +
                                      p.operands[k][i],
                                  p.strides[k]};
  };
  auto at = [&](int number) {
    return number < 0 ? nullptr : &program.primitives[number];
  };
  size_t last = operation.args.size() - 1; // twice the same for one operand
  for (int64_t i = 0; i < p.elements; ++i) {
    ReductionPlan::Operand x = operand(0, i);
    switch (node.reduction.state) {
    case algebra::State::None:
      out[i] =
          plans[p.plan].evaluate(step, x, operand(last, i), worker.scratch);
      break;
    case algebra::State::TwoPass: {
      const Primitive &weight = *at(node.weight);
      worker.weights.resize(p.existing);
      worker.registers.resize(
          std::max(worker.registers.size(), weight.registers()));
      for (int64_t k = 0; k < p.existing; ++k) {
        worker.registers[0].real = x.base[k * x.stride];
        worker.registers[1].real = *operand(1, i).base;
        worker.weights[k] = weight.run(worker.registers.data());
      }
      out[i] = plans[p.plan].evaluate(step, {worker.weights.data()}, {},
                                      worker.scratch);
      break;
    }
    case algebra::State::Online:
      out[i] = statePlans[p.plan].evaluate(
          {&step, at(node.weight), at(node.rescale), at(node.combine)}, x,
          worker.states);
    }
  }
}

/// Outside of what exists nothing is read: the value is NaN.
void Execution::take(const Operation &operation, const Prepared &p,
                     Worker &worker) const {
  std::vector<double> &out = worker.values[operation.result];
  const int64_t at = rowBase(operation.positions.dims, worker.row);
  auto positionOf = [&](int64_t i) { return p.positions[at + p.where[i]]; };
  auto exists = [&](int64_t i) {
    return positionOf(i) >= 0 && positionOf(i) < p.existing;
  };
  std::vector<int64_t> &elements = worker.elements;
  elements.resize(p.elements);
  bool all = true;
  for (int64_t i = 0; i < p.elements; ++i) {
    all &= exists(i);
    elements[i] = exists(i) ? p.source[i] + positionOf(i) * p.strides[0] : 0;
  }
  if (p.tensor) {
    loadElements(*p.tensor, elements,
                 rowBase(program.tensors[operation.index].dims, worker.row),
                 out.data());
  } else {
    const double *values = worker.values[operation.args[0]].data();
    for (int64_t i = 0; i < p.elements; ++i)
      out[i] = values[elements[i]];
  }
  for (int64_t i = 0; !all && i < p.elements; ++i)
    if (!exists(i))
      out[i] = std::numeric_limits<double>::quiet_NaN();
}

void Execution::evaluate(size_t number, Worker &worker) const {
  const Operation &operation = program.operations[number];
  const Prepared &p = prepared[number];
  std::vector<double> &out = worker.values[operation.result];
  out.resize(p.elements);
  auto operand = [&](int i) { return worker.values[operation.args[i]].data(); };
  auto unary = [&](auto &&f) {
    const double *a = operand(0);
    const Index &ia = p.operands[0];
    for (int64_t i = 0; i < p.elements; ++i)
      out[i] = f(a[ia[i]]);
  };
  auto binary = [&](auto &&f) {
    const double *a = operand(0), *b = operand(1);
    const Index &ia = p.operands[0], &ib = p.operands[1];
    for (int64_t i = 0; i < p.elements; ++i)
      out[i] = f(a[ia[i]], b[ib[i]]);
  };
  auto arithmetic = [&]<Format F>() {
    switch (operation.kind) {
    case OperationKind::Add:
      return binary([](double a, double b) { return add<F>(a, b); });
    case OperationKind::Sub:
      return binary([](double a, double b) { return sub<F>(a, b); });
    case OperationKind::Mul:
      return binary([](double a, double b) { return mul<F>(a, b); });
    case OperationKind::Div:
      return binary([](double a, double b) { return div<F>(a, b); });
    default: {
      double p1 = operation.negateProduct ? -1 : 1;
      double c1 = operation.negateAddend ? -1 : 1;
      const double *a = operand(0), *b = operand(1), *c = operand(2);
      for (int64_t i = 0; i < p.elements; ++i)
        out[i] = fma<F>(p1 * a[p.operands[0][i]], b[p.operands[1][i]],
                        c1 * c[p.operands[2][i]]);
    }
    }
  };

  switch (operation.kind) {
  case OperationKind::Load:
    loadElements(*p.tensor, p.source,
                 rowBase(program.tensors[operation.index].dims, worker.row),
                 out.data());
    break;
  case OperationKind::Constant:
    out[0] = operation.constant;
    break;
  case OperationKind::Extent:
    out[0] = p.extent;
    break;
  case OperationKind::Max:
    binary([](double a, double b) { return maximum(a, b); });
    break;
  case OperationKind::Neg:
    unary([](double a) { return -a; });
    break;
  case OperationKind::Abs:
    unary([](double a) { return std::fabs(a); });
    break;
  case OperationKind::Round:
    unary([](double a) { return a; });
    break;
  case OperationKind::Apply: {
    const Primitive &primitive = program.primitives[operation.index];
    worker.registers.resize(
        std::max(worker.registers.size(), primitive.registers()));
    for (int64_t i = 0; i < p.elements; ++i) {
      for (size_t k = 0; k < operation.args.size(); ++k)
        worker.registers[k].real = operand(k)[p.operands[k][i]];
      out[i] = primitive.run(worker.registers.data());
    }
    break;
  }
  case OperationKind::Reduce:
    reduce(operation, p, worker);
    break;
  case OperationKind::Take:
    take(operation, p, worker);
    break;
  default:
    withFormat(operation.format, arithmetic);
  }
  if (operation.rounding)
    withFormat(*operation.rounding, [&]<Format F>() {
      for (double &value : out)
        value = roundTo<F>(value);
    });
}

void Execution::store(const Sink &sink, Worker &worker) const {
  int64_t base = rowBase(sink.dims, worker.row);
  const double *values = worker.values[sink.value].data();
  uint8_t *bytes = sink.tensor->bytes.data();
  switch (sink.tensor->format) {
  case Format::BF16:
    return save<uint16_t, Format::BF16>(bytes, sink.target, base, values);
  case Format::F16:
    return save<uint16_t, Format::F16>(bytes, sink.target, base, values);
  case Format::F32:
    return save<uint32_t, Format::F32>(bytes, sink.target, base, values);
  default:
    return save<uint64_t, Format::F64>(bytes, sink.target, base, values);
  }
}

void Execution::runRow(int64_t row, Worker &worker) const {
  int64_t rest = row;
  for (auto dim = rowDims.rbegin(); dim != rowDims.rend(); ++dim) {
    int64_t position = rest % extent(*dim);
    worker.changed[*dim] = worker.firstRow || position != worker.row[*dim];
    worker.row[*dim] = position;
    rest /= extent(*dim);
  }
  // Rows that differ in one dim have what depends on the others in common.
  for (size_t i = 0; i < program.operations.size(); ++i)
    if (worker.firstRow ||
        std::any_of(prepared[i].rowDims.begin(), prepared[i].rowDims.end(),
                    [&](int dim) { return worker.changed[dim]; }))
      evaluate(i, worker);
  worker.firstRow = false;
  for (const Sink &sink : sinks) {
    // Of the rows that share a value the first one stores it.
    bool owner = true;
    for (int dim : rowDims)
      owner &=
          worker.row[dim] == 0 ||
          std::find(sink.dims.begin(), sink.dims.end(), dim) != sink.dims.end();
    if (owner)
      store(sink, worker);
  }
}

template <class RowOf>
void Execution::runRows(unsigned threads, int64_t rows, RowOf rowOf) {
  if (threads == 0)
    threads = std::max(1u, std::thread::hardware_concurrency());
  const int64_t workers = std::min<int64_t>(threads, rows);
  std::vector<std::exception_ptr> failures(workers);
  auto work = [&](int64_t number) noexcept {
    try {
      Worker worker;
      worker.values.resize(program.values.size());
      worker.row.assign(program.dims.size(), 0);
      worker.changed.assign(program.dims.size(), true);
      for (int64_t at = rows * number / workers;
           at < rows * (number + 1) / workers; ++at)
        runRow(rowOf(at), worker);
    } catch (...) { // no memory
      failures[number] = std::current_exception();
    }
  };
  std::vector<std::thread> others;
  for (int64_t i = 1; i < workers; ++i)
    others.emplace_back(work, i);
  if (workers)
    work(0);
  for (std::thread &other : others)
    other.join();
  for (const std::exception_ptr &failure : failures)
    if (failure)
      std::rethrow_exception(failure);
}

void Execution::runRows(unsigned threads) {
  runRows(threads, count(rowDims), [](int64_t at) { return at; });
}

void Execution::runRows(unsigned threads, const std::vector<int64_t> &rows) {
  runRows(threads, static_cast<int64_t>(rows.size()),
          [&](int64_t at) { return rows[at]; });
}

} // namespace bitpact::reference
