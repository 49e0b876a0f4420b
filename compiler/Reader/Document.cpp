// Document.cpp - nlohmann's JSON parser, with a place for every token
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/Reader/Document.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/Support/ConvertUTF.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"

#include <nlohmann/json.hpp>

using namespace bitpact;
using namespace bitpact::reader;
using mlir::failed;
using mlir::failure;

namespace {

constexpr size_t maxBytes = 1 << 20;
constexpr size_t maxDepth = 64;

struct Token {
  size_t begin, end;
  /// False for the commas and colons, of which the parser tells nothing.
  bool event;
};

/// Where tokens and comments stand. The text need not be well formed: the
/// parser decides that, and consumes the tokens in this order.
struct Scanner {
  llvm::StringRef text;
  std::vector<Token> tokens;
  std::vector<Comment> comments;
  /// Offset of a comment that is not `//`.
  size_t badComment = llvm::StringRef::npos;

  explicit Scanner(llvm::StringRef text) : text(text) {
    size_t at = 0;
    while ((at = text.find_first_not_of(" \t\r\n", at)) != text.npos)
      at = scan(at);
  }

private:
  size_t scan(size_t at) {
    char c = text[at];
    if (text.substr(at).starts_with("//")) {
      size_t end = std::min(text.find_first_of("\r\n", at), text.size());
      comments.push_back({at, text.slice(at, end).rtrim().str()});
      return end;
    }
    if (c == '/' && badComment == text.npos)
      badComment = at;
    size_t end = at + 1;
    if (c == '"') {
      while (end < text.size() && text[end] != '"')
        end += text[end] == '\\' ? 2 : 1;
      end = std::min(end + 1, text.size());
    } else if (!llvm::StringRef("{}[],:").contains(c)) {
      end = std::min(text.find_first_of(" \t\r\n{}[],:\"/", end), text.size());
    }
    tokens.push_back({at, end, c != ',' && c != ':'});
    return end;
  }
};

class TreeBuilder : public nlohmann::json_sax<nlohmann::json> {
public:
  TreeBuilder(llvm::StringRef path, llvm::StringRef text,
              mlir::MLIRContext *context)
      : path(mlir::StringAttr::get(context, path)), text(text), scanner(text) {
    for (size_t at = text.find('\n'); at != text.npos;
         at = text.find('\n', at + 1))
      lineStarts.push_back(at + 1);
  }

  std::optional<Value> root;
  Scanner &tokens() { return scanner; }

  mlir::Location place(size_t offset) const {
    auto line = std::upper_bound(lineStarts.begin(), lineStarts.end(), offset);
    return mlir::FileLineColLoc::get(path, line - lineStarts.begin(),
                                     offset - line[-1] + 1);
  }

  bool null() override { return add(Value::Kind::Null); }
  bool boolean(bool) override { return add(Value::Kind::Bool); }
  bool number_integer(int64_t) override { return add(Value::Kind::Number); }
  bool number_unsigned(uint64_t) override { return add(Value::Kind::Number); }
  bool number_float(double, const std::string &) override {
    return add(Value::Kind::Number);
  }
  bool string(std::string &content) override {
    return add(Value::Kind::String, &content);
  }
  bool binary(nlohmann::json::binary_t &) override { return false; }
  bool start_object(size_t) override { return open(Value::Kind::Object); }
  bool start_array(size_t) override { return open(Value::Kind::Array); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }

  bool key(std::string &name) override {
    Token token = take();
    if (!isPlain(name, token))
      return false;
    for (const Member &member : stack.back()->members)
      if (member.key == name) {
        mlir::InFlightDiagnostic diag = emitError(place(token.begin));
        diag << "key '" << name << "' stands twice in one object [C3]";
        diag.attachNote(member.loc) << "first here";
        return false;
      }
    pendingKey = name;
    pendingToken = token;
    return true;
  }

  bool parse_error(size_t position, const std::string &,
                   const nlohmann::detail::exception &error) override {
    // The token in which reading stopped says more than the byte after it.
    size_t at = std::min(position ? position - 1 : 0, text.size());
    for (const Token &token : scanner.tokens)
      if (token.begin < position)
        at = token.begin;
    llvm::StringRef message = error.what();
    size_t cut = message.find("syntax error");
    if (cut == message.npos)
      cut = message.find("] ") == message.npos ? 0 : message.find("] ") + 2;
    emitError(place(at)) << "this is no JSON: " << message.substr(cut)
                         << " [C1]";
    return false;
  }

private:
  Token take() {
    while (next < scanner.tokens.size() && !scanner.tokens[next].event)
      ++next;
    return next < scanner.tokens.size() ? scanner.tokens[next++]
                                        : Token{text.size(), text.size(), true};
  }

  Value *insert(Value value) {
    if (stack.empty())
      return &root.emplace(std::move(value));
    Value &parent = *stack.back();
    if (parent.is(Value::Kind::Array))
      return &parent.items.emplace_back(std::move(value));
    return &parent.members
                .emplace_back(Member{pendingKey, place(pendingToken.begin),
                                     std::move(value), pendingToken.begin})
                .value;
  }

  bool add(Value::Kind kind, const std::string *content = nullptr) {
    Token token = take();
    if (content && !isPlain(*content, token))
      return false;
    Value value(kind, place(token.begin));
    value.begin = token.begin;
    value.end = token.end;
    value.text = content ? *content : text.slice(token.begin, token.end).str();
    insert(std::move(value));
    return true;
  }

  /// Texts end up in file names and on terminals.
  bool isPlain(const std::string &content, const Token &token) {
    if (llvm::none_of(content,
                      [](unsigned char c) { return c < 0x20 || c == 0x7F; }))
      return true;
    emitError(place(token.begin))
        << "the text holds a control character; none is allowed [C1]";
    return false;
  }

  bool open(Value::Kind kind) {
    Token token = take();
    if (stack.size() == maxDepth) {
      emitError(place(token.begin))
          << "values are nested more than " << maxDepth << " deep [C1]";
      return false;
    }
    Value value(kind, place(token.begin));
    value.begin = token.begin;
    stack.push_back(insert(std::move(value)));
    return true;
  }

  bool close() {
    stack.back()->end = take().end;
    stack.pop_back();
    return true;
  }

  mlir::StringAttr path;
  llvm::StringRef text;
  Scanner scanner;
  std::vector<size_t> lineStarts{0};
  size_t next = 0;
  // An open container is the last child of the one below it, so that nothing
  // moves while it is open.
  std::vector<Value *> stack;
  std::string pendingKey;
  Token pendingToken{0, 0, false};
};

} // namespace

const Member *Value::find(llvm::StringRef key) const {
  for (const Member &member : members)
    if (member.key == key)
      return &member;
  return nullptr;
}

const Value *Value::get(llvm::StringRef key) const {
  const Member *member = find(key);
  return member ? &member->value : nullptr;
}

void Value::erase(llvm::StringRef key) {
  std::erase_if(members, [&](const Member &each) { return each.key == key; });
}

llvm::StringRef reader::describe(Value::Kind kind) {
  switch (kind) {
  case Value::Kind::Null:
    return "null";
  case Value::Kind::Bool:
    return "a truth value";
  case Value::Kind::Number:
    return "a number";
  case Value::Kind::String:
    return "a string";
  case Value::Kind::Array:
    return "a list";
  case Value::Kind::Object:
    return "an object";
  }
  llvm_unreachable("every kind has a description");
}

mlir::FailureOr<Document> reader::parseDocument(llvm::StringRef path,
                                                llvm::StringRef source,
                                                mlir::MLIRContext *context) {
  if (source.size() > maxBytes) {
    emitError(mlir::FileLineColLoc::get(context, path, 1, 1))
        << "the file has " << source.size() << " bytes; a contract has at most "
        << maxBytes << " [C1]";
    return failure();
  }
  TreeBuilder builder(path, source, context);
  auto *begin = reinterpret_cast<const llvm::UTF8 *>(source.bytes_begin());
  auto *end = reinterpret_cast<const llvm::UTF8 *>(source.bytes_end());
  auto *at = begin;
  if (!llvm::isLegalUTF8String(&at, end)) {
    emitError(builder.place(at - begin)) << "this byte is not UTF-8 [C1]";
    return failure();
  }
  if (source.starts_with("\xEF\xBB\xBF")) {
    emitError(builder.place(0)) << "the file begins with a byte order mark; "
                                   "UTF-8 needs none [C1]";
    return failure();
  }
  if (builder.tokens().badComment != llvm::StringRef::npos) {
    emitError(builder.place(builder.tokens().badComment))
        << "a comment begins with // and ends with its line [C1]";
    return failure();
  }
  if (source.trim(" \t\r\n").empty()) {
    emitError(builder.place(0)) << "the file is empty [C1]";
    return failure();
  }
  if (!nlohmann::json::sax_parse(source.begin(), source.end(), &builder,
                                 nlohmann::json::input_format_t::json,
                                 /*strict=*/true, /*ignore_comments=*/true))
    return failure();
  return Document{path.str(), source.str(), std::move(*builder.root),
                  std::move(builder.tokens().comments)};
}

mlir::FailureOr<Document> reader::readDocument(llvm::StringRef path,
                                               mlir::Location from) {
  // Devices and pipes have no end to read to.
  llvm::sys::fs::file_status status;
  if (!llvm::sys::fs::status(path, status) &&
      status.type() != llvm::sys::fs::file_type::regular_file) {
    emitError(from) << "cannot read '" << path
                    << "': it is no regular file [C8]";
    return failure();
  }
  auto buffer = llvm::MemoryBuffer::getFile(path, /*IsText=*/false,
                                            /*RequiresNullTerminator=*/false);
  if (!buffer) {
    emitError(from) << "cannot read '" << path
                    << "': " << buffer.getError().message() << " [C8]";
    return failure();
  }
  return parseDocument(path, (*buffer)->getBuffer(), from.getContext());
}

void reader::mergePatch(Value &target, const Value &patch) {
  if (!patch.is(Value::Kind::Object)) {
    target = patch;
    return;
  }
  if (!target.is(Value::Kind::Object)) {
    Value empty(Value::Kind::Object, patch.loc);
    target = std::move(empty);
  }
  for (const Member &member : patch.members) {
    if (member.value.is(Value::Kind::Null)) {
      target.erase(member.key);
      continue;
    }
    auto found = llvm::find_if(target.members, [&](const Member &each) {
      return each.key == member.key;
    });
    if (found == target.members.end()) {
      // Nulls inside a new object remove nothing and must not stay.
      Member added{member.key, member.loc,
                   Value(Value::Kind::Null, member.value.loc), member.begin};
      mergePatch(added.value, member.value);
      target.members.push_back(std::move(added));
      continue;
    }
    if (!member.value.is(Value::Kind::Object) ||
        !found->value.is(Value::Kind::Object))
      found->loc = member.loc;
    mergePatch(found->value, member.value);
  }
}
