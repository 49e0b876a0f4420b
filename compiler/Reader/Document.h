// Document.h - a JSON file as a tree in which every key and value has a place
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef BITPACT_COMPILER_READER_DOCUMENT_H
#define BITPACT_COMPILER_READER_DOCUMENT_H

#include "mlir/IR/Location.h"
#include "mlir/Support/LLVM.h"
#include "llvm/ADT/StringRef.h"

#include <string>
#include <vector>

namespace bitpact::reader {

struct Member;

struct Value {
  enum class Kind { Null, Bool, Number, String, Array, Object };

  Kind kind;
  mlir::Location loc;
  /// Content of a string; a number or literal as written.
  std::string text;
  std::vector<Value> items;
  std::vector<Member> members;
  /// Bytes [begin, end) of the source.
  size_t begin = 0, end = 0;

  Value(Kind kind, mlir::Location loc);

  bool is(Kind other) const { return kind == other; }
  const Member *find(llvm::StringRef key) const;
  /// The value of a key, or null.
  const Value *get(llvm::StringRef key) const;
  void erase(llvm::StringRef key);
};

struct Member {
  std::string key;
  mlir::Location loc;
  Value value;
  size_t begin = 0;
};

// Here, where the members are complete.
inline Value::Value(Kind kind, mlir::Location loc) : kind(kind), loc(loc) {}

/// "a string", "an object", … for messages.
llvm::StringRef describe(Value::Kind kind);

/// A `//` comment, without the line break.
struct Comment {
  size_t begin;
  std::string text;
};

struct Document {
  std::string path;
  std::string source;
  Value root;
  std::vector<Comment> comments;
};

/// Rules C1 and C3. Errors go to the context's diagnostic engine.
mlir::FailureOr<Document> parseDocument(llvm::StringRef path,
                                        llvm::StringRef source,
                                        mlir::MLIRContext *context);
/// The same for a file; a file that cannot be read is an error at `from`.
mlir::FailureOr<Document> readDocument(llvm::StringRef path,
                                       mlir::Location from);

/// RFC 7386: null removes a key, objects merge, anything else replaces.
void mergePatch(Value &target, const Value &patch);

} // namespace bitpact::reader

#endif // BITPACT_COMPILER_READER_DOCUMENT_H
