// Primitive.cpp - reads a primitive's definition into checked code
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "contracts/reference/Primitive.h"

#include "contracts/algebra/RuleError.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <map>

namespace bitpact::reference {
namespace {

using algebra::RuleError;
using nlohmann::json;

struct OpcodeFacts {
  std::string_view name;
  int operands;
};

// Indexed by Opcode.
constexpr std::array<OpcodeFacts, 24> opcodes{
    {{"constant", 0}, {"add", 2},     {"sub", 2},     {"mul", 2},
     {"div", 2},      {"fma", 3},     {"sqrt", 1},    {"maximum", 2},
     {"minimum", 2},  {"neg", 1},     {"abs", 1},     {"cmp", 2},
     {"select", 3},   {"convert", 1}, {"bitcast", 1}, {"iadd", 2},
     {"isub", 2},     {"iand", 2},    {"ior", 2},     {"ixor", 2},
     {"ishl", 2},     {"ishr", 2},    {"ushr", 2},    {"icmp", 2}}};

struct TypeFacts {
  std::string_view name;
  int bits;
  bool real;
};

// Indexed by ScalarType, whose first four are Format's.
constexpr std::array<TypeFacts, 8> types{{{"bf16", 16, true},
                                          {"f16", 16, true},
                                          {"f32", 32, true},
                                          {"f64", 64, true},
                                          {"i1", 1, false},
                                          {"i16", 16, false},
                                          {"i32", 32, false},
                                          {"i64", 64, false}}};

const TypeFacts &facts(ScalarType type) {
  return types[static_cast<size_t>(type)];
}

/// Without the first letter, which says what a NaN gives: o false, u true.
const std::map<std::string_view, Predicate> floatPredicates{
    {"eq", Predicate::Eq}, {"ne", Predicate::Ne}, {"lt", Predicate::Lt},
    {"le", Predicate::Le}, {"gt", Predicate::Gt}, {"ge", Predicate::Ge}};
const std::map<std::string_view, Predicate> integerPredicates{
    {"eq", Predicate::Eq},   {"ne", Predicate::Ne},   {"slt", Predicate::Lt},
    {"sle", Predicate::Le},  {"sgt", Predicate::Gt},  {"sge", Predicate::Ge},
    {"ult", Predicate::ULt}, {"ule", Predicate::ULe}, {"ugt", Predicate::UGt},
    {"uge", Predicate::UGe}};

ScalarType parseType(const std::string &text, const std::string &where) {
  for (size_t i = 0; i < types.size(); ++i)
    if (types[i].name == text)
      return static_cast<ScalarType>(i);
  throw RuleError("P1", fmt::format("unknown type '{}'", text), where);
}

Format floatFormat(const std::string &text, const std::string &where) {
  std::optional<Format> format = algebra::parseFormat(text);
  if (!format || !algebra::isFloat(*format))
    throw RuleError("P1",
                    fmt::format("unknown format '{}'; formats are {}", text,
                                algebra::floatFormatNames()),
                    where);
  return *format;
}

uint64_t parseBits(const std::string &text, int bits,
                   const std::string &where) {
  uint64_t value = 0;
  auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), value, 16);
  if (error != std::errc() || end != text.data() + text.size() ||
      (bits < 64 && value >> bits != 0))
    throw RuleError(
        "C4",
        fmt::format("'{}' is no hexadecimal number of {} bits", text, bits),
        where);
  return value;
}

bool readFloatPredicate(std::string_view text, Instruction &instruction) {
  if (text == "ord" || text == "uno" || text == "true" || text == "false") {
    instruction.predicate =
        text == "ord" || text == "true" ? Predicate::Always : Predicate::Never;
    instruction.whenUnordered = text == "uno" || text == "true";
    return true;
  }
  if (text.empty() || (text[0] != 'o' && text[0] != 'u'))
    return false;
  auto found = floatPredicates.find(text.substr(1));
  if (found == floatPredicates.end())
    return false;
  instruction.predicate = found->second;
  instruction.whenUnordered = text[0] == 'u';
  return true;
}

bool readIntegerPredicate(std::string_view text, Instruction &instruction) {
  auto found = integerPredicates.find(text);
  if (found == integerPredicates.end())
    return false;
  instruction.predicate = found->second;
  return true;
}

} // namespace

Primitive::Primitive(const json &definition, const std::string &where) {
  std::string kindText = definition.at("kind").get<std::string>();
  if (kindText != "function" && kindText != "step" && kindText != "atom")
    throw RuleError("A3",
                    fmt::format("unknown kind '{}'; kinds are function step "
                                "atom",
                                kindText),
                    where);
  kind = kindText == "function" ? PrimitiveKind::Function
         : kindText == "step"   ? PrimitiveKind::Step
                                : PrimitiveKind::Atom;
  for (const json &argument : definition.at("args"))
    arguments.push_back(floatFormat(argument.get<std::string>(), where));
  result = floatFormat(definition.at("result").get<std::string>(), where);

  if (kind != PrimitiveKind::Function) {
    std::string text = definition.at("reduction").get<std::string>();
    reduction = algebra::parseReductionKind(text);
    if (!reduction)
      throw RuleError("A3", fmt::format("unknown reduction '{}'", text), where);
    if (*reduction == algebra::ReductionKind::Dot)
      product = definition.at("product").get<std::string>();
    size_t expected = algebra::operandCount(*reduction) + 1;
    if (arguments.size() != expected)
      throw RuleError("A3",
                      fmt::format("a {} step takes {} arguments, it has {}",
                                  text, expected, arguments.size()),
                      where);
    if (arguments.back() != result)
      throw RuleError("P3",
                      fmt::format("a step's result has its accumulator's "
                                  "format, {} is not {}",
                                  name(result), name(arguments.back())),
                      where);
  }
  if (kind == PrimitiveKind::Atom)
    readAtom(definition, where);
  else
    readBody(definition, where);
}

void Primitive::readAtom(const json &definition, const std::string &where) {
  auto family = definition.at("atom").get<std::string>();
  auto terms = definition.at("L").get<int64_t>();
  auto fraction = definition.at("F").get<int64_t>();
  atom = algebra::Atom::parse(
      family == "dot.nv" ? fmt::format("{}({},{})", family, terms, fraction)
                         : family);
  if (atom->terms != terms || atom->fraction != fraction)
    throw RuleError("A3",
                    fmt::format("{} has L {} and F {}, not {} and {}", family,
                                atom->terms, atom->fraction, terms, fraction),
                    where);
  bool small = arguments[0] == Format::BF16 || arguments[0] == Format::F16;
  if (*reduction != algebra::ReductionKind::Dot || !small ||
      arguments[0] != arguments[1] || result != Format::F32)
    throw RuleError("A3",
                    fmt::format("{} multiplies two bf16 or two f16 and "
                                "accumulates in f32",
                                atom->text()),
                    where);
}

void Primitive::readBody(const json &definition, const std::string &where) {
  std::map<std::string, int> numbers;
  std::vector<ScalarType> registerTypes;
  for (size_t i = 0; i < arguments.size(); ++i) {
    numbers["a" + std::to_string(i)] = static_cast<int>(i);
    registerTypes.push_back(static_cast<ScalarType>(arguments[i]));
  }
  auto lookUp = [&](const std::string &id) {
    auto found = numbers.find(id);
    if (found == numbers.end())
      throw RuleError("A3",
                      fmt::format("value '{}' is not defined before its "
                                  "use",
                                  id),
                      where);
    return found->second;
  };

  for (const json &op : definition.at("body")) {
    std::string id = op.at("id").get<std::string>();
    std::string opName = op.at("op").get<std::string>();
    auto fail = [&](const std::string &reason) {
      throw RuleError("A3", fmt::format("{} ({}): {}", id, opName, reason),
                      where);
    };
    Instruction instruction{};
    size_t opcode = 0;
    while (opcode < opcodes.size() && opcodes[opcode].name != opName)
      ++opcode;
    if (opcode == opcodes.size())
      fail("there is no such operation");
    instruction.opcode = static_cast<Opcode>(opcode);
    instruction.type = parseType(op.at("type").get<std::string>(), where);
    const TypeFacts &type = facts(instruction.type);

    std::vector<ScalarType> operandTypes;
    if (int count = opcodes[opcode].operands) {
      const json &arguments = op.at("args");
      if (!arguments.is_array() || static_cast<int>(arguments.size()) != count)
        fail(fmt::format("it takes {} operands", count));
      for (int i = 0; i < count; ++i) {
        instruction.operands[i] = lookUp(arguments.at(i).get<std::string>());
        operandTypes.push_back(registerTypes[instruction.operands[i]]);
      }
      instruction.operand = operandTypes[0];
    }

    bool sameOperands = true;
    for (ScalarType operandType : operandTypes)
      sameOperands &= operandType == instruction.type;
    switch (instruction.opcode) {
    case Opcode::Constant: {
      uint64_t bits =
          parseBits(op.at("bits").get<std::string>(), type.bits, where);
      if (type.real)
        instruction.constant.real =
            decode(static_cast<Format>(instruction.type), bits);
      else
        instruction.constant.integer = bits;
      break;
    }
    case Opcode::Cmp:
    case Opcode::ICmp: {
      bool real = instruction.opcode == Opcode::Cmp;
      std::string text = op.at("pred").get<std::string>();
      if (!(real ? readFloatPredicate(text, instruction)
                 : readIntegerPredicate(text, instruction)))
        fail(fmt::format("there is no predicate '{}'", text));
      if (instruction.type != ScalarType::I1 ||
          operandTypes[0] != operandTypes[1] ||
          facts(operandTypes[0]).real != real)
        fail("it compares two values of one type and gives an i1");
      break;
    }
    case Opcode::Select:
      if (operandTypes[0] != ScalarType::I1 ||
          operandTypes[1] != instruction.type ||
          operandTypes[2] != instruction.type)
        fail("it selects by an i1 between two values of its type");
      break;
    case Opcode::Convert:
      if (facts(operandTypes[0]).real && !type.real)
        fail("it converts no float to an integer");
      break;
    case Opcode::Bitcast:
      if (facts(operandTypes[0]).bits != type.bits)
        fail("the types differ in width");
      break;
    default:
      if (!sameOperands || type.real != (instruction.opcode < Opcode::IAdd))
        fail(fmt::format("an operand's type is not {} or does not fit the "
                         "operation",
                         type.name));
    }
    if (!numbers.emplace(id, static_cast<int>(registerTypes.size())).second)
      fail("the name is taken");
    registerTypes.push_back(instruction.type);
    code.push_back(instruction);
  }

  yielded = lookUp(definition.at("yield").get<std::string>());
  if (registerTypes[yielded] != static_cast<ScalarType>(result))
    throw RuleError("A3",
                    fmt::format("it yields a value of type {}, its result is "
                                "{}",
                                facts(registerTypes[yielded]).name,
                                name(result)),
                    where);
}

} // namespace bitpact::reference
