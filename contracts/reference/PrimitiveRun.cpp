// PrimitiveRun.cpp - evaluates the code of a primitive
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "contracts/reference/Primitive.h"

#include <algorithm>
#include <cassert>
#include <type_traits>

namespace bitpact::reference {
namespace {

int width(ScalarType type) {
  switch (type) {
  case ScalarType::I1:
    return 1;
  case ScalarType::I16:
    return 16;
  case ScalarType::I32:
    return 32;
  default:
    return 64;
  }
}

uint64_t truncated(ScalarType type, uint64_t value) {
  int bits = width(type);
  return bits == 64 ? value : value & ((uint64_t(1) << bits) - 1);
}

int64_t asSigned(ScalarType type, uint64_t value) {
  int unused = 64 - width(type);
  return static_cast<int64_t>(value << unused) >> unused;
}

bool isReal(ScalarType type) { return type <= ScalarType::F64; }
Format format(ScalarType type) { return static_cast<Format>(type); }

/// Which orders of two numbers satisfy a predicate.
struct Orders {
  bool less, equal, greater;

  explicit Orders(Predicate predicate) {
    using enum Predicate;
    auto is = [&](auto... each) { return ((predicate == each) || ...); };
    less = is(Ne, Lt, Le, ULt, ULe, Always);
    equal = is(Eq, Le, Ge, ULe, UGe, Always);
    greater = is(Ne, Gt, Ge, UGt, UGe, Always);
  }
  /// False where a NaN has no order. Without branches, for loops.
  template <class Value> bool has(Value a, Value b) const {
    return (less & (a < b)) | (equal & (a == b)) | (greater & (a > b));
  }
};

template <Format F>
double arithmetic(Opcode opcode, double a, double b, double c) {
  switch (opcode) {
  case Opcode::Add:
    return add<F>(a, b);
  case Opcode::Sub:
    return sub<F>(a, b);
  case Opcode::Mul:
    return mul<F>(a, b);
  case Opcode::Div:
    return div<F>(a, b);
  case Opcode::Fma:
    return fma<F>(a, b, c);
  case Opcode::Sqrt:
    return reference::sqrt<F>(a);
  case Opcode::Maximum:
    return maximum(a, b);
  case Opcode::Minimum:
    return minimum(a, b);
  case Opcode::Neg:
    return -a;
  case Opcode::Abs:
    return std::fabs(a);
  default:
    assert(false && "no float arithmetic");
    return 0;
  }
}

uint64_t integerArithmetic(Opcode opcode, ScalarType type, uint64_t a,
                           uint64_t b) {
  // A shift by the width or more leaves nothing but the sign.
  bool over = b >= static_cast<uint64_t>(width(type));
  switch (opcode) {
  case Opcode::IAdd:
    return a + b;
  case Opcode::ISub:
    return a - b;
  case Opcode::IAnd:
    return a & b;
  case Opcode::IOr:
    return a | b;
  case Opcode::IXor:
    return a ^ b;
  case Opcode::IShl:
    return over ? 0 : a << b;
  case Opcode::IShr:
    return static_cast<uint64_t>(asSigned(type, a) >> (over ? 63 : b));
  case Opcode::UShr:
    return over ? 0 : a >> b;
  default:
    assert(false && "no integer arithmetic");
    return 0;
  }
}

Register bitcast(ScalarType from, ScalarType to, Register value) {
  // A NaN shows its canonical bits to an integer view.
  Register result;
  if (from == ScalarType::F32 && to == ScalarType::I32) {
    result.integer = encode32(value.real);
    return result;
  }
  if (from == ScalarType::I32 && to == ScalarType::F32) {
    result.real = decode32(static_cast<uint32_t>(value.integer));
    return result;
  }
  uint64_t bits =
      isReal(from) ? encode(format(from), value.real) : value.integer;
  if (isReal(to))
    result.real = decode(format(to), bits);
  else
    result.integer = bits;
  return result;
}

/// The nearest value of `format`, ties to even, rounded once.
double fromInteger(Format format, int64_t value) {
  if (format == Format::F64)
    return static_cast<double>(value);
  // Rounded to odd in 53 bits first, which decides every narrower rounding.
  uint64_t magnitude = value < 0 ? -static_cast<uint64_t>(value) : value;
  if (magnitude >> 53)
    magnitude =
        (magnitude | ((magnitude & 0x7ff) != 0 ? 0x800 : 0)) & ~0x7ffull;
  double exact = static_cast<double>(magnitude);
  return roundTo(format, value < 0 ? -exact : exact);
}

Register convert(ScalarType from, ScalarType to, Register value) {
  Register out;
  if (isReal(from))
    out.real = roundTo(format(to), value.real);
  else if (isReal(to))
    out.real = fromInteger(format(to), asSigned(from, value.integer));
  else
    out.integer =
        truncated(to, static_cast<uint64_t>(asSigned(from, value.integer)));
  return out;
}

/// Calls `f` with an opcode of arithmetic as a template argument, so that a
/// loop over many values decides once.
template <class Function> void withOpcode(Opcode opcode, Function &&f) {
  switch (opcode) {
  case Opcode::Add:
    return f.template operator()<Opcode::Add>();
  case Opcode::Sub:
    return f.template operator()<Opcode::Sub>();
  case Opcode::Mul:
    return f.template operator()<Opcode::Mul>();
  case Opcode::Div:
    return f.template operator()<Opcode::Div>();
  case Opcode::Fma:
    return f.template operator()<Opcode::Fma>();
  case Opcode::Sqrt:
    return f.template operator()<Opcode::Sqrt>();
  case Opcode::Maximum:
    return f.template operator()<Opcode::Maximum>();
  case Opcode::Minimum:
    return f.template operator()<Opcode::Minimum>();
  case Opcode::Neg:
    return f.template operator()<Opcode::Neg>();
  case Opcode::Abs:
    return f.template operator()<Opcode::Abs>();
  case Opcode::IAdd:
    return f.template operator()<Opcode::IAdd>();
  case Opcode::ISub:
    return f.template operator()<Opcode::ISub>();
  case Opcode::IAnd:
    return f.template operator()<Opcode::IAnd>();
  case Opcode::IOr:
    return f.template operator()<Opcode::IOr>();
  case Opcode::IXor:
    return f.template operator()<Opcode::IXor>();
  case Opcode::IShl:
    return f.template operator()<Opcode::IShl>();
  case Opcode::IShr:
    return f.template operator()<Opcode::IShr>();
  case Opcode::UShr:
    return f.template operator()<Opcode::UShr>();
  default:
    assert(false && "no arithmetic");
  }
}

} // namespace

template <class Count>
void Primitive::execute(Register *file, Count count) const {
  Register *out = file + arguments.size() * count;
  for (const Instruction &i : code) {
    const Register *a = file + i.operands[0] * count,
                   *b = file + i.operands[1] * count,
                   *c = file + i.operands[2] * count;
    switch (i.opcode) {
    case Opcode::Constant:
      std::fill_n(out, static_cast<size_t>(count), Register(i.constant));
      break;
    case Opcode::Cmp: {
      Orders orders(i.predicate);
      for (size_t n = 0; n < count; ++n) {
        bool unordered = std::isnan(a[n].real) | std::isnan(b[n].real);
        out[n].integer =
            orders.has(a[n].real, b[n].real) | (unordered & i.whenUnordered);
      }
      break;
    }
    case Opcode::ICmp: {
      Orders orders(i.predicate);
      if (i.predicate >= Predicate::ULt)
        for (size_t n = 0; n < count; ++n)
          out[n].integer = orders.has(a[n].integer, b[n].integer);
      else
        for (size_t n = 0; n < count; ++n)
          out[n].integer = orders.has(asSigned(i.operand, a[n].integer),
                                      asSigned(i.operand, b[n].integer));
      break;
    }
    case Opcode::Select:
      // A register's bits are its value, of either kind.
      for (size_t n = 0; n < count; ++n) {
        uint64_t yes = std::bit_cast<uint64_t>(b[n]),
                 no = std::bit_cast<uint64_t>(c[n]);
        out[n] = std::bit_cast<Register>(a[n].integer ? yes : no);
      }
      break;
    case Opcode::Convert:
      for (size_t n = 0; n < count; ++n)
        out[n] = convert(i.operand, i.type, a[n]);
      break;
    case Opcode::Bitcast:
      for (size_t n = 0; n < count; ++n)
        out[n] = bitcast(i.operand, i.type, a[n]);
      break;
    default:
      withOpcode(i.opcode, [&]<Opcode O>() {
        if constexpr (O >= Opcode::IAdd)
          for (size_t n = 0; n < count; ++n)
            out[n].integer =
                truncated(i.type, integerArithmetic(O, i.type, a[n].integer,
                                                    b[n].integer));
        else
          withFormat(format(i.type), [&]<Format F>() {
            for (size_t n = 0; n < count; ++n)
              out[n].real = arithmetic<F>(O, a[n].real, b[n].real, c[n].real);
          });
      });
    }
    out += count;
  }
}

double Primitive::run(Register *file) const {
  execute(file, std::integral_constant<size_t, 1>());
  return file[yielded].real;
}

// The same operations, with vectors and fma instructions where there are any.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
__attribute__((target_clones("arch=x86-64-v3", "default"), flatten))
#endif
const Register *
Primitive::runMany(Register *file, size_t count) const {
  execute(file, count);
  return file + yielded * count;
}

} // namespace bitpact::reference
