// Layout.cpp - prints a document and keeps its comments where they belong
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/Reader/Layout.h"

#include "llvm/ADT/STLExtras.h"

#include <nlohmann/json.hpp>

using namespace bitpact;
using namespace bitpact::reader;
using Kind = Value::Kind;

namespace {

constexpr size_t lineWidth = 80;

const std::vector<llvm::StringRef> contractKeys{
    "bitpact", "extends", "name",  "doc",      "op",        "dims",
    "types",   "params",  "nodes", "rounding", "primitives"};
const std::vector<llvm::StringRef> nodeKeys{"use",     "domain",   "partition",
                                            "offsets", "merge",    "start",
                                            "state",   "precision"};

/// What a container is, which decides its key order and whether it may stand
/// on one line.
enum class Role { Contract, Nodes, Node, Other };

/// A member or item with the comments that belong to it.
struct Entry {
  const std::string *key;
  const Value *value;
  std::vector<llvm::StringRef> before;
  llvm::StringRef after = {};
};

class Printer {
public:
  explicit Printer(const Document &document) : document(document) {}

  std::string run() {
    size_t next = 0;
    const Value &root = document.root;
    while (next < comments().size() && comments()[next].begin < root.begin)
      out += comments()[next++].text + "\n";
    print(root, Role::Contract, 0);
    out += "\n";
    for (const Comment &comment : comments())
      if (comment.begin >= root.end)
        out += comment.text + "\n";
    return out;
  }

private:
  const std::vector<Comment> &comments() const { return document.comments; }

  static std::string quoted(const std::string &text) {
    return nlohmann::json(text).dump();
  }

  static bool isContainer(const Value &value) {
    return value.is(Kind::Object) || value.is(Kind::Array);
  }

  bool hasComments(const Value &value) const {
    return llvm::any_of(comments(), [&](const Comment &comment) {
      return comment.begin >= value.begin && comment.begin < value.end;
    });
  }

  static std::string inlined(const Value &value) {
    std::string text;
    switch (value.kind) {
    case Kind::String:
      return quoted(value.text);
    case Kind::Array:
      for (const Value &item : value.items)
        text += (text.empty() ? "" : ", ") + inlined(item);
      return "[" + text + "]";
    case Kind::Object:
      for (const Member &member : value.members)
        text += (text.empty() ? "" : ", ") + quoted(member.key) + ": " +
                inlined(member.value);
      return text.empty() ? "{}" : "{ " + text + " }";
    default:
      return value.text;
    }
  }

  static Role roleOf(Role parent, const std::string *key, const Value &value) {
    if (!key || !value.is(Kind::Object))
      return Role::Other;
    if (parent == Role::Contract && *key == "nodes")
      return Role::Nodes;
    bool preset = parent == Role::Contract && *key == "node";
    return parent == Role::Nodes || preset ? Role::Node : Role::Other;
  }

  /// Comments in [from, to), the first of which may end the line of `from`.
  void attach(size_t from, size_t to, llvm::StringRef *sameLine,
              std::vector<llvm::StringRef> &own) const {
    for (const Comment &comment : comments()) {
      if (comment.begin < from || comment.begin >= to)
        continue;
      bool same = llvm::StringRef(document.source)
                      .slice(from, comment.begin)
                      .find('\n') == llvm::StringRef::npos;
      if (same && sameLine && sameLine->empty())
        *sameLine = comment.text;
      else
        own.push_back(comment.text);
    }
  }

  /// Entries in source order, and the comments after the last one.
  std::vector<Entry> entriesOf(const Value &value,
                               std::vector<llvm::StringRef> &rest) const {
    std::vector<Entry> entries;
    size_t end = value.begin + 1;
    auto add = [&](const std::string *key, size_t begin, const Value &inner) {
      Entry entry{key, &inner, {}};
      attach(end, begin, entries.empty() ? nullptr : &entries.back().after,
             entry.before);
      attach(begin, inner.begin, nullptr, entry.before);
      end = inner.end;
      entries.push_back(std::move(entry));
    };
    for (const Member &member : value.members)
      add(&member.key, member.begin, member.value);
    for (const Value &item : value.items)
      add(nullptr, item.begin, item);
    attach(end, value.end, entries.empty() ? nullptr : &entries.back().after,
           rest);
    return entries;
  }

  static void sortEntries(std::vector<Entry> &entries, Role role) {
    if (role != Role::Contract && role != Role::Node)
      return;
    const auto &order = role == Role::Contract ? contractKeys : nodeKeys;
    auto rank = [&](const Entry &entry) {
      return llvm::find(order, llvm::StringRef(*entry.key)) - order.begin();
    };
    llvm::stable_sort(entries, [&](const Entry &a, const Entry &b) {
      return rank(a) < rank(b);
    });
  }

  size_t column() const { return out.size() - (out.rfind('\n') + 1); }

  void print(const Value &value, Role role, size_t indent) {
    std::string line = inlined(value);
    bool fits = column() + line.size() + 1 <= lineWidth;
    bool forced = role != Role::Other && !value.members.empty();
    if (!isContainer(value) || (fits && !forced && !hasComments(value))) {
      out += line;
      return;
    }
    std::vector<llvm::StringRef> rest;
    std::vector<Entry> entries = entriesOf(value, rest);
    if (value.is(Kind::Object))
      sortEntries(entries, role);
    std::string margin(indent + 2, ' ');
    out += value.is(Kind::Object) ? "{\n" : "[\n";
    for (const Entry &entry : entries) {
      for (llvm::StringRef comment : entry.before)
        out += margin + comment.str() + "\n";
      out += margin;
      if (entry.key)
        out += quoted(*entry.key) + ": ";
      print(*entry.value, roleOf(role, entry.key, *entry.value), indent + 2);
      if (&entry != &entries.back())
        out += ",";
      if (!entry.after.empty())
        out += " " + entry.after.str();
      out += "\n";
    }
    for (llvm::StringRef comment : rest)
      out += margin + comment.str() + "\n";
    out += std::string(indent, ' ') + (value.is(Kind::Object) ? "}" : "]");
  }

  const Document &document;
  std::string out;
};

} // namespace

std::string reader::layoutDocument(const Document &document) {
  return Printer(document).run();
}
