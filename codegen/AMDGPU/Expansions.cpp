// Expansions.cpp - divisions and square roots in ISA text
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/AMDGPU/Expansions.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SetVector.h"

using namespace llvm;

namespace bitpact::codegen {
namespace {

GcnInstruction parseStatement(StringRef text, unsigned line) {
  GcnInstruction in;
  in.text = text;
  in.line = line;
  in.opcode = text.take_until([](char c) { return isspace(c); });
  StringRef rest = text.substr(in.opcode.size());
  in.isDirective = text.starts_with(".");
  for (StringRef suffix : {"_e32", "_e64", "_dpp", "_sdwa"})
    if (in.opcode.consume_back(suffix))
      break;
  SmallVector<StringRef> parts;
  rest.split(parts, ',', -1, /*KeepEmpty=*/false);
  for (StringRef part : parts)
    in.operands.push_back(part.trim());
  return in;
}

/// VGPRs and AGPRs of an operand: `-v2`, `|v3|`, `v[4:5] offset:8`.
SmallVector<unsigned, 4> registersOf(StringRef operand) {
  operand = operand.ltrim("-|");
  operand.consume_front("abs(");
  unsigned file;
  if (operand.consume_front("v"))
    file = 0;
  else if (operand.consume_front("a"))
    file = 1u << 16;
  else
    return {};
  unsigned first, last;
  if (operand.consume_front("[")) {
    if (operand.consumeInteger(10, first))
      return {};
    last = first;
    if (operand.consume_front(":") && operand.consumeInteger(10, last))
      return {};
  } else {
    if (operand.consumeInteger(10, first))
      return {};
    last = first;
  }
  SmallVector<unsigned, 4> result;
  for (unsigned r = first; r <= last && result.size() < 32; ++r)
    result.push_back(file + r);
  return result;
}

bool isFma(const GcnInstruction &in, StringRef width) {
  return in.opcode == ("v_fma_" + width).str() ||
         in.opcode == ("v_fmac_" + width).str();
}
bool isMul(const GcnInstruction &in, StringRef width) {
  return in.opcode == ("v_mul_" + width).str();
}
bool isMove(const GcnInstruction &in) {
  return in.opcode.starts_with("v_mov_b") || in.is("v_pk_mov_b32") ||
         in.opcode.starts_with("v_accvgpr_");
}

/// LLVM lets these read a stale register as the undefined half of a pair, when
/// that half of the result is not used either.
bool isWideInteger(const GcnInstruction &in) {
  return in.opcode.starts_with("v_mad_u64_") ||
         in.opcode.starts_with("v_mad_i64_") || in.is("v_lshl_add_u64") ||
         in.is("v_lshlrev_b64") || in.is("v_lshrrev_b64") ||
         in.is("v_ashrrev_i64");
}

/// Which instructions use what an instruction has written, in text order: a
/// value that comes around a loop has been written further down, and no
/// expansion crosses that.
class Flow {
public:
  explicit Flow(std::vector<GcnInstruction> &code)
      : code(code), users(code.size()), sources(code.size()) {
    DenseMap<unsigned, size_t> last;
    for (size_t i = 0; i < code.size(); ++i) {
      const GcnInstruction &in = code[i];
      if (in.isDirective)
        continue;
      if (in.opensFunction)
        last.clear();
      bool writes = writesFirst(in), counts = !isWideInteger(in);
      bool alsoReads = in.opcode.contains("fmac") || in.is("v_swap_b32");
      for (auto [n, operand] : enumerate(in.operands)) {
        if (!counts || (n == 0 && writes && !alsoReads))
          continue;
        for (unsigned r : registersOf(operand)) {
          auto it = last.find(r);
          if (it == last.end())
            continue;
          users[it->second].insert(i);
          sources[i].insert(it->second);
        }
      }
      if (writes && !in.operands.empty())
        for (unsigned r : registersOf(in.operands[0]))
          last[r] = i;
    }
  }

  void mark() {
    for (size_t i = 0; i < code.size(); ++i) {
      StringRef name = code[i].opcode;
      if (name == "v_rcp_f32" || name == "v_rcp_f64")
        code[i].refusal = division(i, name.take_back(3));
      else if (name == "v_rcp_iflag_f32")
        code[i].refusal = quotient(i);
      else if (name == "v_sqrt_f32")
        code[i].refusal = root32(i);
      else if (name == "v_rsq_f64")
        code[i].refusal = root64(i);
    }
  }

private:
  using Set = SmallSetVector<size_t, 8>;

  static bool writesFirst(const GcnInstruction &in) {
    StringRef name = in.opcode;
    return !name.contains("store") && !name.contains("ds_write") &&
           !name.starts_with("v_cmpx_");
  }

  bool comesFrom(size_t i, StringRef opcode) const {
    return any_of(sources[i], [&](size_t source) {
      return code[source].is(opcode) ||
             (isMove(code[source]) && comesFrom(source, opcode));
    });
  }
  bool goesTo(size_t i, StringRef opcode) const {
    return any_of(users[i], [&](size_t user) {
      return code[user].is(opcode) ||
             (isMove(code[user]) && goesTo(user, opcode));
    });
  }

  /// Adds to `inside` what uses `i` through fma, mul and moves, and to `ends`
  /// what uses that and is called `end`. The first other user is returned.
  const GcnInstruction *follow(size_t i, StringRef width, StringRef end,
                               Set &inside, Set &ends) const {
    for (size_t user : users[i]) {
      const GcnInstruction &in = code[user];
      if (in.is(end)) {
        ends.insert(user);
        continue;
      }
      if (!isFma(in, width) && !isMul(in, width) && !isMove(in))
        return &in;
      if (!inside.insert(user))
        continue;
      if (const GcnInstruction *other = follow(user, width, end, inside, ends))
        return other;
    }
    return nullptr;
  }

  std::string counted(size_t i, StringRef width, StringRef end, size_t fmas,
                      size_t muls, Set &ends) {
    Set inside;
    if (const GcnInstruction *other = follow(i, width, end, inside, ends))
      return ("approximate: '" + other->text + "' uses it").str();
    size_t foundFmas =
        count_if(inside, [&](size_t n) { return isFma(code[n], width); });
    size_t foundMuls =
        count_if(inside, [&](size_t n) { return isMul(code[n], width); });
    if (ends.empty() || foundFmas != fmas || foundMuls != muls)
      return "approximate: " + std::to_string(foundFmas) + " fma and " +
             std::to_string(foundMuls) + " mul correct it, not " +
             std::to_string(fmas) + " and " + std::to_string(muls);
    for (size_t n : inside)
      code[n].inExpansion = true;
    return {};
  }

  std::string division(size_t i, StringRef width) {
    if (!comesFrom(i, ("v_div_scale_" + width).str()))
      return "approximate: not of a v_div_scale";
    Set ends;
    std::string why =
        counted(i, width, ("v_div_fmas_" + width).str(), 5, 1, ends);
    if (!why.empty())
      return why;
    if (ends.size() != 1 ||
        !goesTo(ends.front(), ("v_div_fixup_" + width).str()))
      return "approximate: no v_div_fixup";
    code[i].inExpansion = code[ends.front()].inExpansion = true;
    return {};
  }

  /// Where integers are divided, a first guess is made of floats: the
  /// reciprocal of the divisor times a little less than 2^32, as an integer.
  /// What follows is integers alone, and exact.
  std::string quotient(size_t i) {
    if (!comesFrom(i, "v_cvt_f32_u32") && !comesFrom(i, "v_cvt_f32_ubyte0"))
      return "approximate: not of an integer";
    Set inside, ends;
    if (const GcnInstruction *other =
            follow(i, "f32", "v_cvt_u32_f32", inside, ends))
      return ("approximate: '" + other->text + "' uses it").str();
    for (size_t n : inside)
      if (!isMove(code[n]) && !(isMul(code[n], "f32") &&
                                is_contained(code[n].operands, "0x4f7ffffe")))
        return ("approximate: '" + code[n].text + "' uses it").str();
    if (ends.empty() || ends.size() != inside.size())
      return "approximate: not the guess of an integer";
    for (size_t n : inside)
      code[n].inExpansion = true;
    code[i].inExpansion = true;
    return {};
  }

  std::string root64(size_t i) {
    if (!comesFrom(i, "v_ldexp_f64"))
      return "approximate: not of a v_ldexp";
    Set ends;
    std::string why = counted(i, "f64", "v_ldexp_f64", 7, 2, ends);
    code[i].inExpansion = why.empty();
    return why;
  }

  std::string root32(size_t i) {
    Set fmas;
    bool up = false, down = false;
    for (size_t user : users[i]) {
      const GcnInstruction &in = code[user];
      if (isFma(in, "f32") || in.opcode.starts_with("v_cndmask_b32"))
        continue;
      if (!in.is("v_add_u32"))
        return ("approximate: '" + in.text + "' uses it").str();
      bool less = is_contained(in.operands, "-1");
      if (!less && !is_contained(in.operands, "1"))
        return ("approximate: '" + in.text + "' uses it").str();
      size_t before = fmas.size();
      for (size_t next : users[user])
        if (isFma(code[next], "f32") && users[i].contains(next))
          fmas.insert(next);
      (less ? down : up) |= fmas.size() == before + 1;
    }
    if (!up || !down || fmas.size() != 2)
      return "approximate: no fma with both neighbours of the root";
    for (size_t user : users[i])
      if (isFma(code[user], "f32") && !fmas.contains(user))
        return ("approximate: '" + code[user].text + "' uses it").str();
    for (size_t n : fmas)
      code[n].inExpansion = true;
    code[i].inExpansion = true;
    return {};
  }

  std::vector<GcnInstruction> &code;
  std::vector<Set> users, sources;
};

} // namespace

std::vector<GcnInstruction> parseGcn(StringRef text) {
  std::vector<GcnInstruction> code;
  SmallVector<StringRef> lines;
  text.split(lines, '\n');
  bool opens = true;
  unsigned number = 0;
  for (StringRef line : lines) {
    ++number;
    line = line.split(';').first.split("//").first.trim();
    while (true) { // labels: `f:`, `.LBB0_1:`
      StringRef first = line.take_until([](char c) { return isspace(c); });
      if (!first.ends_with(":"))
        break;
      opens |= !first.starts_with(".L");
      line = line.substr(first.size()).ltrim();
    }
    if (line == ".amdgpu_metadata") // YAML follows
      break;
    if (line.empty())
      continue;
    code.push_back(parseStatement(line, number));
    if (code.back().isDirective)
      continue;
    code.back().opensFunction = opens;
    opens = false;
  }
  Flow(code).mark();
  return code;
}

} // namespace bitpact::codegen
