// Pin.h - what a variant that another library computes is pinned to
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The code file of such a variant, code/<variant>.json, in canonical text. It
// holds no code: which algorithm of which version of the library on which
// device, what was seen of it there, and a challenge that is repeated whenever
// the variant is loaded.
#ifndef BITPACT_RUNTIME_PACKAGE_PIN_H
#define BITPACT_RUNTIME_PACKAGE_PIN_H

#include "runtime/package/Format.h"

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bitpact::package {

// Libraries that can be pinned, and the function that is each one's entry.
inline constexpr const char *libraryNames[] = {"cublaslt", "openblas"};
const char *entryOf(const std::string &library);

// A product of matrices: result[i, j] is the sum over k of
// rows[i, k] * columns[j, k].
struct PinnedProduct {
  struct Matrix {
    std::string tensor;
    ElementType type = ElementType::F32;
  } rows, columns, result;
  std::string rowDim, columnDim, depthDim;
};

// One configuration of a library: its settings by name, for people and for
// checks, and what the library itself stores of it, in hexadecimal digits,
// where it stores anything.
struct PinnedAlgorithm {
  std::map<std::string, int64_t> settings;
  std::string stored;
  bool operator==(const PinnedAlgorithm &) const = default;
};

// Tensors filled by challengeData() give outputs with that SHA-256, in which a
// NaN counts as the one that contracts store.
struct Challenge {
  std::map<std::string, int64_t> dims;
  int64_t seed = 0;
  // Of a tensor, how many elements differ before they repeat, and how many at
  // either end of the outputs are hashed; 0: all. It bounds what a load costs.
  // With it the data come from the whole pin: challengeSeed().
  int64_t elements = 0;
  std::string sha256;
};

// What was compared before the variant was admitted.
struct Attestation {
  std::map<std::string, Range> ranges; // those that the variant serves
  std::vector<std::string> data;       // recipes
  int64_t seed = 0;
  int64_t launches = 0, compared = 0; // and the outputs of those launches
  std::vector<std::string> shapes;    // "in=4096 out=6144 tokens=512"
  std::vector<std::string> revealed;  // of them, where the tree was found too
};

struct Pin {
  std::string library;
  std::string version; // as the library says
  std::string device;  // what the library runs on, as it or the runtime says
  PinnedAlgorithm algorithm;
  PinnedProduct product;
  // Both absent in a variant without evidence, which runs only by its name.
  std::optional<Challenge> challenge;
  std::optional<Attestation> attestation;
};

// Throws FormatError; `where` names the file.
Pin parsePin(std::string_view bytes, const std::string &where);
std::string pinText(const Pin &pin);

// Throws FormatError unless the pin is one of that variant and contract.
void verifyPin(const Pin &pin, const Variant &variant,
               const ContractEntry &contract, const std::string &where);

// The seed of a challenge's data. Where there is a number of elements, it is made
// of the whole text of the pin but the SHA-256, so that outputs are those of
// this algorithm, version, evidence and range, or others.
int64_t challengeSeed(const Pin &pin);

// Of outputs of that many elements, what is hashed: the first and the last ones.
struct Span {
  size_t first, count;
};
std::vector<Span> hashedSpans(const Challenge &challenge, size_t elements);

// Bytes of elements of either sign between 2^-6 and 4, each from the seed, the
// tensor's place in the operator and the element's index alone.
std::string challengeData(int64_t seed, size_t tensor, ElementType type,
                          size_t elements);

// Every NaN becomes the one that contracts store: which NaN a library writes is
// not pinned.
void canonicalizeNans(ElementType type, void *data, size_t elements);

} // namespace bitpact::package

#endif // BITPACT_RUNTIME_PACKAGE_PIN_H
