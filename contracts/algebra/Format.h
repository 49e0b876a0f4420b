// Format.h - element formats and which of them contain which
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef BITPACT_ALGEBRA_FORMAT_H
#define BITPACT_ALGEBRA_FORMAT_H

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace bitpact::algebra {

/// Floats first, then the integers of offsets and indices.
enum class Format : uint8_t { BF16, F16, F32, F64, I32, I64 };

/// The name in contract files: "bf16", "f16", "f32", "f64", "i32", "i64".
std::string_view name(Format format);
std::optional<Format> parseFormat(std::string_view text);

/// Storage width in bits, and in bytes.
int bits(Format format);
int bytes(Format format);

bool isFloat(Format format);

/// Significant bits, the implicit one included, of a float format.
int precision(Format format);

/// True if every value of `from`, zeros' signs and infinities included, is a
/// value of `to`. bf16 and f16 do not contain each other.
bool widensExactly(Format from, Format to);

/// All format names for messages: "bf16 f16 f32 f64".
std::string floatFormatNames();

} // namespace bitpact::algebra

#endif // BITPACT_ALGEBRA_FORMAT_H
