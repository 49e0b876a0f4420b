// Call.cpp - the arguments and the layout of a call, by the names declared
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "contracts/reference/Arithmetic.h"
#include "tools/evidence/UserError.h"
#include "tools/evidence/foreign/Signature.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <fmt/format.h>
#include <limits>

namespace bitpact::evidence::foreign {
namespace {

[[noreturn]] void refuse(const Signature &signature,
                         const std::string &message) {
  throw UserError("--signature",
                  fmt::format("{}, in '{}'", message, signature.text));
}

/// What CBLAS calls its enumerators.
constexpr int64_t RowMajor = 101, ColumnMajor = 102, NoTrans = 111, Trans = 112;

class Builder {
public:
  Builder(const Signature &signature,
          const std::map<std::string, int64_t> &dims)
      : signature(signature), dims(dims) {}

  Call build() {
    switch (signature.operation) {
    case Operation::Sum:
      vector("x", "incx", "n", false);
      scalarOutput();
      break;
    case Operation::Dot:
      vector("x", "incx", "n", false);
      vector("y", "incy", "n", false);
      scalarOutput();
      break;
    case Operation::Gemv:
      matrix("a", "lda", "trans", "m", "n", false);
      vector("x", "incx", "n", false);
      vector("y", "incy", "m", true);
      break;
    case Operation::Gemm:
      matrix("a", "lda", "transa", "m", "k", false);
      matrix("b", "ldb", "transb", "k", "n", false);
      matrix("c", "ldc", "", "m", "n", true);
      break;
    }
    for (const Parameter &one : signature.parameters)
      call.arguments.push_back(argument(one));
    return std::move(call);
  }

private:
  int64_t extent(const std::string &dim) const {
    auto found = dims.find(dim);
    if (found == dims.end())
      throw UserError(
          fmt::format("the extent of '{}' is needed: --dim {}=N", dim, dim));
    if (found->second < 1 || found->second > int64_t(1) << 31)
      throw UserError(
          "--dim", fmt::format("{}={} is not in 1 … 2³¹", dim, found->second));
    return found->second;
  }

  const Parameter &needed(const char *name) const {
    const Parameter *one = signature.find(name);
    if (!one)
      refuse(signature, fmt::format("{} needs a parameter '{}'",
                                    nameOf(signature.operation), name));
    return *one;
  }

  const Parameter &buffer(const char *name) const {
    const Parameter &one = needed(name);
    if (!one.pointer || !formatOf(one.type))
      refuse(signature,
             fmt::format("'{}' is a pointer to bf16, f16, f32 or f64", name));
    return one;
  }

  /// A number in the signature, or what it is otherwise.
  int64_t number(const char *name, int64_t otherwise) const {
    const Parameter *one = signature.find(name);
    if (!one || !one->value)
      return otherwise;
    int64_t value = 0;
    const char *end = one->value->data() + one->value->size();
    auto [stop, error] = std::from_chars(one->value->data(), end, value);
    if (error != std::errc() || stop != end)
      refuse(signature,
             fmt::format("{} = {} is no integer", name, *one->value));
    return value;
  }

  bool columnMajor() const {
    int64_t order =
        number("order", signature.columnMajor ? ColumnMajor : RowMajor);
    if (order != RowMajor && order != ColumnMajor)
      refuse(signature,
             fmt::format("order = {}; it is 101 (row-major) or 102", order));
    return order == ColumnMajor;
  }

  bool transposed(const char *name) const {
    const Parameter *one = signature.find(name);
    if (!one || !one->value)
      return false;
    if (*one->value == "T" || *one->value == "112")
      return true;
    if (*one->value == "N" || *one->value == "111")
      return false;
    refuse(signature,
           fmt::format("{} = {}; it is N (111) or T (112)", name, *one->value));
  }

  void vector(const char *name, const char *increment, const char *dim,
              bool output) {
    const Parameter &one = buffer(name);
    int64_t step = number(increment, 1);
    if (step < 1)
      refuse(signature,
             fmt::format("{} = {}; it is positive", increment, step));
    call.operands.push_back(
        {name, one.type, {dim}, {extent(dim)}, {step}, output});
  }

  void matrix(const char *name, const char *leading, const char *trans,
              const char *rowDim, const char *columnDim, bool output) {
    int64_t rows = extent(rowDim), columns = extent(columnDim);
    const Parameter &one = buffer(name);
    // Consecutive are the elements of a row, or of a column.
    bool alongRow = columnMajor() == transposed(trans);
    int64_t least = alongRow ? columns : rows;
    int64_t lead = number(leading, least);
    if (lead < least)
      refuse(signature,
             fmt::format("{} = {} is below {}", leading, lead, least));
    leadings[leading] = lead;
    call.operands.push_back({name,
                             one.type,
                             {rowDim, columnDim},
                             {rows, columns},
                             alongRow ? std::vector<int64_t>{lead, 1}
                                      : std::vector<int64_t>{1, lead},
                             output});
  }

  void scalarOutput() {
    if (const Parameter *out = signature.find("out")) {
      buffer("out");
      call.operands.push_back({"out", out->type, {}, {}, {}, true});
      return;
    }
    if (!formatOf(signature.result))
      refuse(signature,
             fmt::format("{} returns bf16, f16, f32 or f64, or has a "
                         "parameter 'out'",
                         nameOf(signature.operation)));
    call.operands.push_back({"result", signature.result, {}, {}, {}, true});
    call.result = signature.result;
  }

  size_t operandOf(std::string_view name) const {
    size_t i = 0;
    while (i < call.operands.size() && call.operands[i].name != name)
      ++i;
    return i;
  }

  /// The value of a parameter that is no operand.
  std::string valueOf(const Parameter &one) const {
    const std::string &name = one.name;
    if (name == "order")
      return fmt::to_string(columnMajor() ? ColumnMajor : RowMajor);
    if (name.starts_with("trans")) {
      bool trans = transposed(name.c_str());
      if (one.type == CType::Char)
        return trans ? "T" : "N";
      return fmt::to_string(trans ? Trans : NoTrans);
    }
    if (one.value)
      return *one.value;
    if (auto lead = leadings.find(name); lead != leadings.end())
      return fmt::to_string(lead->second);
    if (name.starts_with("inc") || name == "alpha")
      return "1";
    if (name == "beta")
      return "0";
    // BLAS gives gemv the extents of the matrix as it is stored.
    bool swapped =
        signature.operation == Operation::Gemv && transposed("trans");
    if (swapped && (name == "m" || name == "n"))
      return fmt::to_string(extent(name == "m" ? "n" : "m"));
    return fmt::to_string(extent(name));
  }

  Argument argument(const Parameter &one) const {
    Argument argument;
    argument.type = one.type;
    size_t operand = operandOf(one.name);
    if (operand < call.operands.size()) {
      argument.kind = Argument::Kind::Buffer;
      argument.operand = operand;
      return argument;
    }
    argument.kind =
        one.pointer ? Argument::Kind::Reference : Argument::Kind::Value;
    argument.bits = encode(one, valueOf(one));
    return argument;
  }

  uint64_t encode(const Parameter &one, const std::string &value) const {
    if (auto format = formatOf(one.type)) {
      char *end = nullptr;
      double number = std::strtod(value.c_str(), &end);
      if (value.empty() || *end)
        refuse(signature, fmt::format("{} = {} is no number", one.name, value));
      return reference::encode(*format, number);
    }
    if (one.type == CType::Char && value.size() == 1)
      return static_cast<uint8_t>(value[0]);
    int64_t number = 0;
    const char *end = value.data() + value.size();
    auto [stop, error] = std::from_chars(value.data(), end, number);
    if (error != std::errc() || stop != end)
      refuse(signature, fmt::format("{} = {} is no integer", one.name, value));
    if ((one.type == CType::I32 &&
         (number > std::numeric_limits<int32_t>::max() ||
          number < std::numeric_limits<int32_t>::min())) ||
        (one.type == CType::Char && (number < 0 || number > 255)))
      refuse(signature,
             fmt::format("{} = {} does not fit its type", one.name, value));
    return static_cast<uint64_t>(number);
  }

  const Signature &signature;
  const std::map<std::string, int64_t> &dims;
  Call call;
  std::map<std::string, int64_t> leadings;
};

} // namespace

int64_t Operand::storedElements() const {
  int64_t last = 0;
  for (size_t i = 0; i < shape.size(); ++i)
    last += (shape[i] - 1) * strides[i];
  return last + 1;
}

const std::vector<std::string> &dimsOf(Operation operation) {
  static const std::vector<std::string> vector{"n"}, matrix{"m", "n"},
      product{"m", "n", "k"};
  return operation == Operation::Gemm   ? product
         : operation == Operation::Gemv ? matrix
                                        : vector;
}

Call makeCall(const Signature &signature,
              const std::map<std::string, int64_t> &dims) {
  for (const auto &[name, extent] : dims) {
    const std::vector<std::string> &known = dimsOf(signature.operation);
    if (std::find(known.begin(), known.end(), name) == known.end())
      throw UserError("--dim", fmt::format("{} has no dim '{}'",
                                           nameOf(signature.operation), name));
  }
  return Builder(signature, dims).build();
}

} // namespace bitpact::evidence::foreign
