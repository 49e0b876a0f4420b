// Pin.cpp - reads, writes and checks what a library's variant is pinned to
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/package/Pin.h"

#include "runtime/package/Field.h"

#include <algorithm>
#include <charconv>
#include <cstring>

namespace bitpact::package {

using nlohmann::json;

namespace {

constexpr auto floats = {ElementType::BF16, ElementType::F16, ElementType::F32,
                         ElementType::F64};
constexpr int64_t mostElements = int64_t(1) << 26; // of a challenge's tensor

PinnedProduct::Matrix parseMatrix(const Field &field) {
  field.keys({"tensor", "type"});
  return {field["tensor"].text(), field["type"].one(floats)};
}

PinnedProduct parseProduct(const Field &field) {
  field.keys(
      {"rows", "columns", "result", "row_dim", "column_dim", "depth_dim"});
  return {parseMatrix(field["rows"]),   parseMatrix(field["columns"]),
          parseMatrix(field["result"]), field["row_dim"].text(),
          field["column_dim"].text(),   field["depth_dim"].text()};
}

PinnedAlgorithm parseAlgorithm(const Field &field) {
  field.keys({"settings", "stored"});
  PinnedAlgorithm algorithm;
  field["settings"].entries([&](const std::string &key, const Field &item) {
    algorithm.settings[key] = item.integer(0, int64Max);
  });
  algorithm.stored = field["stored"].text();
  if (algorithm.stored.size() % 2 ||
      algorithm.stored.find_first_not_of("0123456789abcdef") !=
          std::string::npos)
    field["stored"].fail("must be bytes of two hexadecimal digits each");
  return algorithm;
}

Challenge parseChallenge(const Field &field) {
  field.keys({"dims", "seed", "sha256"}, {"elements"});
  Challenge challenge;
  if (field.has("elements"))
    challenge.elements = field["elements"].integer(1, mostElements);
  field["dims"].entries([&](const std::string &dim, const Field &item) {
    challenge.dims[dim] = item.integer(1, mostElements);
  });
  challenge.seed = field["seed"].integer(0, int64Max);
  challenge.sha256 = field["sha256"].text();
  if (challenge.sha256.size() != 64 ||
      challenge.sha256.find_first_not_of("0123456789abcdef") !=
          std::string::npos)
    field["sha256"].fail("must be 64 hexadecimal digits");
  return challenge;
}

Attestation parseAttestation(const Field &field) {
  field.keys(
      {"compared", "data", "launches", "ranges", "revealed", "seed", "shapes"});
  Attestation attestation;
  field["ranges"].entries([&](const std::string &dim, const Field &item) {
    item.keys({"min", "max"});
    attestation.ranges[dim] = {item["min"].integer(1, int64Max),
                               item["max"].integer(1, int64Max)};
  });
  attestation.data = field["data"].texts();
  attestation.seed = field["seed"].integer(0, int64Max);
  attestation.launches = field["launches"].integer(1, int64Max);
  attestation.compared = field["compared"].integer(1, int64Max);
  attestation.shapes = field["shapes"].texts();
  attestation.revealed = field["revealed"].texts();
  for (const char *list : {"data", "revealed", "shapes"})
    if (field[list].texts().empty())
      field[list].fail("is empty");
  return attestation;
}

json matrixJson(const PinnedProduct::Matrix &matrix) {
  return {{"tensor", matrix.tensor}, {"type", name(matrix.type)}};
}

template <typename... Args>
[[noreturn]] void fail(fmt::format_string<Args...> text, Args &&...args) {
  throw FormatError(fmt::format(text, std::forward<Args>(args)...));
}

void verifyMatrix(const PinnedProduct::Matrix &matrix, const std::string &outer,
                  const std::string &inner, TensorKind kind,
                  const ContractEntry &contract, const std::string &at) {
  for (const ContractTensor &tensor : contract.tensors) {
    if (tensor.name != matrix.tensor)
      continue;
    std::vector<std::string> wanted{outer, inner};
    if (tensor.kind != kind || tensor.type != matrix.type ||
        tensor.dims != wanted)
      fail("{}: is {} [{}, {}], but '{}' of the contract is {} [{}]", at,
           name(matrix.type), outer, inner, tensor.name, name(tensor.type),
           fmt::join(tensor.dims, ", "));
    return;
  }
  fail("{}.tensor: '{}' is not a tensor of the contract", at, matrix.tensor);
}

struct Layout {
  int mantissa, bias;
};

Layout layoutOf(ElementType type) {
  return type == ElementType::BF16  ? Layout{7, 127}
         : type == ElementType::F16 ? Layout{10, 15}
         : type == ElementType::F32 ? Layout{23, 127}
                                    : Layout{52, 1023};
}

json rangesJson(const std::map<std::string, Range> &ranges) {
  json value = json::object();
  for (const auto &[dim, range] : ranges)
    value[dim] = {{"min", range.min}, {"max", range.max}};
  return value;
}

// A shape that was tried, as "in=4096 out=6144 tokens=512".
std::map<std::string, int64_t> shapeOf(const std::string &text,
                                       const std::string &where) {
  std::map<std::string, int64_t> shape;
  for (size_t at = 0; at < text.size();) {
    size_t end = std::min(text.find(' ', at), text.size());
    std::string_view item = std::string_view(text).substr(at, end - at);
    size_t is = item.find('=');
    if (is == item.npos)
      fail("{}: attestation.shapes: '{}' is no shape", where, text);
    int64_t extent = 0;
    const char *last = item.data() + item.size();
    auto [rest, error] = std::from_chars(item.data() + is + 1, last, extent);
    if (error != std::errc() || rest != last || extent < 1)
      fail("{}: attestation.shapes: '{}' is no shape", where, text);
    shape[std::string(item.substr(0, is))] = extent;
    at = end + 1;
  }
  return shape;
}

// What was tried reaches from one end of every range to the other, and trees
// were found at shapes that were tried.
void verifyShapes(const Attestation &attestation, const std::string &where) {
  std::map<std::string, Range> reached;
  for (const std::string &text : attestation.shapes)
    for (const auto &[dim, extent] : shapeOf(text, where)) {
      auto [range, isNew] = reached.try_emplace(dim, Range{extent, extent});
      range->second.min = std::min(range->second.min, extent);
      range->second.max = std::max(range->second.max, extent);
    }
  for (const auto &[dim, range] : attestation.ranges)
    if (!reached.count(dim) || reached[dim].min != range.min ||
        reached[dim].max != range.max)
      fail("{}: attestation.ranges: '{}' is {} to {}, which is not what "
           "attestation.shapes reach",
           where, dim, range.min, range.max);
  for (const std::string &text : attestation.revealed)
    if (std::find(attestation.shapes.begin(), attestation.shapes.end(), text) ==
        attestation.shapes.end())
      fail("{}: attestation.revealed: '{}' is none of attestation.shapes",
           where, text);
  if (attestation.launches < int64_t(attestation.shapes.size()))
    fail("{}: attestation.launches: {} for {} shapes", where,
         attestation.launches, attestation.shapes.size());
}

// The variant serves what was attested, and no more.
void verifyRanges(const Pin &pin, const Variant &variant,
                  const ContractEntry &contract, const std::string &where) {
  json attested = rangesJson(pin.attestation->ranges),
       served = rangesJson(variant.when.dims);
  if (attested != served)
    fail("{}: attestation.ranges are {}, but the manifest's variant serves {}",
         where, attested.dump(), served.dump());
  verifyShapes(*pin.attestation, where);
  for (const auto &[dim, extent] : contract.dims) {
    auto found = pin.challenge->dims.find(dim);
    auto range = variant.when.dims.find(dim);
    if (extent == dynamicExtent && range == variant.when.dims.end())
      fail("{}: attestation.ranges: misses '{}', which is open", where, dim);
    if (found == pin.challenge->dims.end() ||
        (extent != dynamicExtent && extent != found->second) ||
        (range != variant.when.dims.end() &&
         (found->second < range->second.min ||
          found->second > range->second.max)))
      fail(
          "{}: challenge.dims: must say '{}' as the contract and the ranges do",
          where, dim);
  }
  if (pin.challenge->dims.size() != contract.dims.size())
    fail("{}: challenge.dims: {} dims, the contract has {}", where,
         pin.challenge->dims.size(), contract.dims.size());
}

uint64_t mix(uint64_t value) { // splitmix64
  value += 0x9E3779B97F4A7C15u;
  value = (value ^ value >> 30) * 0xBF58476D1CE4E5B9u;
  value = (value ^ value >> 27) * 0x94D049BB133111EBu;
  return value ^ value >> 31;
}

} // namespace

const char *entryOf(const std::string &library) {
  return library == "cublaslt"   ? "cublasLtMatmul"
         : library == "openblas" ? "cblas_sgemm"
                                 : "";
}

Pin parsePin(std::string_view bytes, const std::string &where) {
  json value = json::parse(bytes, nullptr, /*allow_exceptions=*/false);
  if (value.is_discarded())
    fail("{}: is not JSON", where);
  Field field(value, where);
  field.keys({"library", "version", "device", "algorithm", "product"},
             {"challenge", "attestation"});
  Pin pin;
  pin.library = field["library"].text();
  pin.version = field["version"].text();
  pin.device = field["device"].text();
  pin.algorithm = parseAlgorithm(field["algorithm"]);
  pin.product = parseProduct(field["product"]);
  if (field.has("challenge"))
    pin.challenge = parseChallenge(field["challenge"]);
  if (field.has("attestation"))
    pin.attestation = parseAttestation(field["attestation"]);
  if (pinText(pin) != bytes)
    fail("{}: is not canonical text", where);
  return pin;
}

std::string pinText(const Pin &pin) {
  const PinnedProduct &product = pin.product;
  json value = {{"library", pin.library},
                {"version", pin.version},
                {"device", pin.device},
                {"algorithm",
                 {{"settings", pin.algorithm.settings},
                  {"stored", pin.algorithm.stored}}},
                {"product",
                 {{"rows", matrixJson(product.rows)},
                  {"columns", matrixJson(product.columns)},
                  {"result", matrixJson(product.result)},
                  {"row_dim", product.rowDim},
                  {"column_dim", product.columnDim},
                  {"depth_dim", product.depthDim}}}};
  if (pin.challenge)
    value["challenge"] = {{"dims", pin.challenge->dims},
                          {"seed", pin.challenge->seed},
                          {"sha256", pin.challenge->sha256}};
  if (pin.challenge && pin.challenge->elements)
    value["challenge"]["elements"] = pin.challenge->elements;
  if (pin.attestation)
    value["attestation"] = {{"ranges", rangesJson(pin.attestation->ranges)},
                            {"data", pin.attestation->data},
                            {"seed", pin.attestation->seed},
                            {"launches", pin.attestation->launches},
                            {"compared", pin.attestation->compared},
                            {"shapes", pin.attestation->shapes},
                            {"revealed", pin.attestation->revealed}};
  return canonicalText(value) + "\n";
}

void verifyPin(const Pin &pin, const Variant &variant,
               const ContractEntry &contract, const std::string &where) {
  const PinnedProduct &product = pin.product;
  if (pin.library != variant.library)
    fail("{}: library is '{}', the manifest says '{}'", where, pin.library,
         variant.library);
  verifyMatrix(product.rows, product.rowDim, product.depthDim, TensorKind::In,
               contract, where + ": product.rows");
  verifyMatrix(product.columns, product.columnDim, product.depthDim,
               TensorKind::In, contract, where + ": product.columns");
  verifyMatrix(product.result, product.rowDim, product.columnDim,
               TensorKind::Out, contract, where + ": product.result");
  if (contract.tensors.size() != 3)
    fail("{}: the contract has {} tensors; a pinned product has three", where,
         contract.tensors.size());
  bool attested = variant.evidence == Evidence::Measured;
  if (attested != pin.challenge.has_value() ||
      attested != pin.attestation.has_value())
    fail("{}: evidence is {}, so there must be {} challenge and attestation",
         where, name(variant.evidence), attested ? "a" : "no");
  if (!attested)
    return;
  verifyRanges(pin, variant, contract, where);
  for (const ContractTensor &tensor : contract.tensors) {
    int64_t elements = 1;
    for (const std::string &dim : tensor.dims)
      if (__builtin_mul_overflow(elements, pin.challenge->dims.at(dim),
                                 &elements) ||
          elements > mostElements)
        fail("{}: challenge.dims: '{}' has more than {} elements", where,
             tensor.name, mostElements);
  }
}

int64_t challengeSeed(const Pin &pin) {
  if (!pin.challenge->elements)
    return pin.challenge->seed;
  Pin open = pin;
  open.challenge->sha256.clear();
  std::string digits = sha256Hex(pinText(open)).substr(0, 15);
  return int64_t(std::stoull(digits, nullptr, 16));
}

std::vector<Span> hashedSpans(const Challenge &challenge, size_t elements) {
  size_t most = size_t(challenge.elements);
  if (!most || elements <= 2 * most)
    return {{0, elements}};
  return {{0, most}, {elements - most, most}};
}

std::string challengeData(int64_t seed, size_t tensor, ElementType type,
                          size_t elements) {
  Layout layout = layoutOf(type);
  size_t bytes = size_t(bytesOf(type));
  std::string data(elements * bytes, '\0');
  uint64_t start = mix(mix(uint64_t(seed)) + tensor);
  for (size_t i = 0; i < elements; ++i) {
    uint64_t random = mix(start + i);
    uint64_t exponent = uint64_t(layout.bias - 6) + (random >> 1) % 8;
    uint64_t fraction = mix(random) & ((uint64_t(1) << layout.mantissa) - 1);
    uint64_t bits = (random & 1) << (8 * bytes - 1) |
                    exponent << layout.mantissa | fraction;
    for (size_t byte = 0; byte < bytes; ++byte) // little-endian
      data[i * bytes + byte] = char(bits >> (8 * byte));
  }
  return data;
}

void canonicalizeNans(ElementType type, void *data, size_t elements) {
  Layout layout = layoutOf(type);
  size_t bytes = size_t(bytesOf(type));
  uint64_t sign = uint64_t(1) << (8 * bytes - 1);
  uint64_t infinity = (sign - 1) >> layout.mantissa << layout.mantissa;
  uint64_t quiet = uint64_t(1) << (layout.mantissa - 1);
  auto *at = static_cast<unsigned char *>(data);
  for (size_t i = 0; i < elements; ++i, at += bytes) {
    uint64_t bits = 0; // little-endian
    std::memcpy(&bits, at, bytes);
    if ((bits & ~sign) <= infinity)
      continue;
    bits = infinity | quiet;
    std::memcpy(at, &bits, bytes);
  }
}

} // namespace bitpact::package
