// Signature.cpp - reads declared signatures; the presets
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/evidence/foreign/Signature.h"
#include "tools/evidence/foreign/Scanner.h"

#include <algorithm>
#include <cctype>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace bitpact::evidence::foreign {
namespace {

struct TypeName {
  const char *word;
  CType type;
};
/// The first word of a type is the one that messages offer.
constexpr TypeName TypeNames[] = {
    {"void", CType::Void},  {"char", CType::Char},   {"i32", CType::I32},
    {"i64", CType::I64},    {"bf16", CType::BF16},   {"f16", CType::F16},
    {"f32", CType::F32},    {"f64", CType::F64},     {"int", CType::I32},
    {"long", CType::I64},   {"int32_t", CType::I32}, {"int64_t", CType::I64},
    {"size_t", CType::I64}, {"float", CType::F32},   {"double", CType::F64}};

/// What the parameters of an operation may be called.
const std::vector<std::string> &namesOf(Operation operation) {
  static const std::vector<std::string> sum{"n", "x", "incx", "out"};
  static const std::vector<std::string> dot{"n", "x",    "incx",
                                            "y", "incy", "out"};
  static const std::vector<std::string> gemv{"order", "trans", "m",   "n",
                                             "alpha", "a",     "lda", "x",
                                             "incx",  "beta",  "y",   "incy"};
  static const std::vector<std::string> gemm{
      "order", "transa", "transb", "m",   "n",    "k", "alpha",
      "a",     "lda",    "b",      "ldb", "beta", "c", "ldc"};
  switch (operation) {
  case Operation::Sum:
    return sum;
  case Operation::Dot:
    return dot;
  case Operation::Gemv:
    return gemv;
  case Operation::Gemm:
    return gemm;
  }
  return sum;
}

class Parser : Scanner {
public:
  explicit Parser(std::string_view text) : Scanner(text, "_-.") {}

  Signature parse() {
    Signature signature;
    signature.text = std::string(text);
    signature.result = type();
    if (accept('*'))
      fail("the result is a value, or void");
    signature.operation = operation();
    expect('(');
    do
      signature.parameters.push_back(parameter(signature));
    while (accept(','));
    expect(')');
    skip();
    if (at < text.size()) {
      std::string word = this->word("column-major");
      if (word != "column-major")
        fail(fmt::format("'{}' after the parameters; only column-major may "
                         "stand there",
                         word));
      signature.columnMajor = true;
    }
    skip();
    if (at < text.size())
      fail("text after the signature");
    return signature;
  }

private:
  CType type() {
    skip();
    size_t start = at;
    std::string name = word("a type");
    if (name == "const") {
      start = at + 1;
      name = word("a type");
    }
    for (const TypeName &one : TypeNames)
      if (name == one.word)
        return one.type;
    at = start;
    fail(fmt::format("type '{}'; there are void char i32 i64 bf16 f16 f32 f64",
                     name));
  }

  Operation operation() {
    skip();
    size_t start = at;
    std::string name = word("an operation");
    for (Operation one :
         {Operation::Sum, Operation::Dot, Operation::Gemv, Operation::Gemm})
      if (name == nameOf(one))
        return one;
    at = start;
    fail(fmt::format("operation '{}'; the word before '(' says what is "
                     "computed: sum, dot, gemv or gemm",
                     name));
  }

  Parameter parameter(const Signature &signature) {
    Parameter one;
    one.type = type();
    one.pointer = accept('*');
    skip();
    size_t start = at;
    one.name = word("the name of a parameter");
    if (signature.find(one.name)) {
      at = start;
      fail(fmt::format("two parameters '{}'", one.name));
    }
    if (one.type == CType::Void) {
      at = start;
      fail(fmt::format("parameter '{}' is void", one.name));
    }
    if (accept('='))
      one.value = word("a value");
    const std::vector<std::string> &names = namesOf(signature.operation);
    if (!one.value &&
        std::find(names.begin(), names.end(), one.name) == names.end()) {
      at = start;
      fail(fmt::format("parameter '{}' of {}; known are {}, and any other with "
                       "= VALUE",
                       one.name, nameOf(signature.operation),
                       fmt::join(names, " ")));
    }
    return one;
  }
};

} // namespace

const char *nameOf(Operation operation) {
  switch (operation) {
  case Operation::Sum:
    return "sum";
  case Operation::Dot:
    return "dot";
  case Operation::Gemv:
    return "gemv";
  case Operation::Gemm:
    return "gemm";
  }
  return "";
}

int64_t bytesOf(CType type) {
  switch (type) {
  case CType::Void:
    return 0;
  case CType::Char:
    return 1;
  case CType::BF16:
  case CType::F16:
    return 2;
  case CType::I32:
  case CType::F32:
    return 4;
  case CType::I64:
  case CType::F64:
    return 8;
  }
  return 0;
}

std::optional<algebra::Format> formatOf(CType type) {
  switch (type) {
  case CType::BF16:
    return algebra::Format::BF16;
  case CType::F16:
    return algebra::Format::F16;
  case CType::F32:
    return algebra::Format::F32;
  case CType::F64:
    return algebra::Format::F64;
  default:
    return std::nullopt;
  }
}

const Parameter *Signature::find(std::string_view name) const {
  for (const Parameter &one : parameters)
    if (one.name == name)
      return &one;
  return nullptr;
}

Signature parseSignature(std::string_view text) { return Parser(text).parse(); }

const std::map<std::string, std::string> &presetSignatures() {
  static const std::map<std::string, std::string> presets = [] {
    std::map<std::string, std::string> all;
    for (auto [letter, f] : {std::pair{'s', "f32"}, {'d', "f64"}}) {
      auto add = [&, l = letter, type = f](const char *name, const char *form) {
        // F stands for the type of the elements.
        std::string text;
        for (char c : std::string_view(form))
          c == 'F' ? text += type : text += c;
        std::string symbol(name);
        symbol.replace(symbol.find('?'), 1, 1, l);
        all[symbol] = text;
      };
      add("cblas_?dot", "F dot(i32 n, F* x, i32 incx, F* y, i32 incy)");
      add("cblas_?gemv",
          "void gemv(i32 order, i32 trans, i32 m, i32 n, F alpha, F* a, "
          "i32 lda, F* x, i32 incx, F beta, F* y, i32 incy)");
      add("cblas_?gemm",
          "void gemm(i32 order, i32 transa, i32 transb, i32 m, i32 n, i32 k, "
          "F alpha, F* a, i32 lda, F* b, i32 ldb, F beta, F* c, i32 ldc)");
      add("?dot_", "F dot(i32* n, F* x, i32* incx, F* y, i32* incy)");
      add("?gemv_",
          "void gemv(char* trans, i32* m, i32* n, F* alpha, F* a, i32* lda, "
          "F* x, i32* incx, F* beta, F* y, i32* incy, i64 length = 1) "
          "column-major");
      add("?gemm_",
          "void gemm(char* transa, char* transb, i32* m, i32* n, i32* k, "
          "F* alpha, F* a, i32* lda, F* b, i32* ldb, F* beta, F* c, i32* ldc, "
          "i64 lengtha = 1, i64 lengthb = 1) column-major");
    }
    return all;
  }();
  return presets;
}

Signature signatureFor(const std::string &symbol, const std::string &given) {
  const auto &presets = presetSignatures();
  auto named = presets.find(given.empty() ? symbol : given);
  if (named != presets.end())
    return parseSignature(named->second);
  if (given.find('(') != std::string::npos)
    return parseSignature(given);
  std::vector<std::string> names;
  for (const auto &[name, text] : presets)
    names.push_back(name);
  std::string known =
      fmt::format("known by name are {}; any other is declared, for instance "
                  "'f32 sum(i64 n, f32* x)'",
                  fmt::join(names, " "));
  if (given.empty())
    throw UserError(
        fmt::format("symbol '{}' needs --signature: {}", symbol, known));
  throw UserError("--signature", fmt::format("'{}' is none: {}", given, known));
}

} // namespace bitpact::evidence::foreign
