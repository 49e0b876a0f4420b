// Format.h - the package manifest: its fields, its integers, its canonical
// text. Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A package is a directory:
//   manifest.json             canonical text of the manifest, then "\n"
//   contracts/<digest>.json   canonical text of each contract
//   code/<variant>.{cubin,hsaco,so} code objects, and .{ptx,s} to read
//   code/<variant>.json       what a library's variant is pinned to (Pin.h)
// The writer (codegen) and the reader (runtime) meet here and nowhere else.
// The format only grows: a reader of format N reads every format up to N, and a
// manifest says the least format that has all it uses.
#ifndef BITPACT_RUNTIME_PACKAGE_FORMAT_H
#define BITPACT_RUNTIME_PACKAGE_FORMAT_H

#include <nlohmann/json_fwd.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace bitpact::package {

// Format 2 has variants of several steps, launches that are split, and ceil()
// in workspace sizes, the type i64, the tensor kind "index" and the argument
// kind "fault". Format 3 has tensor maps as arguments, launches of tiles,
// costs, and variants that another library computes. Format 4 has tensors that the
// caller calls steady, tiles of segments, and tensor maps of stacks. Format 5 says on
// which device costs were measured. Format 6 has boxes that say how much is asked for
// at a time. A package that has none of them is written as the format that has what
// it has.
inline constexpr int64_t formatVersion = 6;
inline constexpr const char *manifestName = "manifest.json";

// Bounds that let a launch work in fixed space.
inline constexpr size_t maxTensors = 16;
inline constexpr size_t maxRank = 8;
inline constexpr size_t maxDims = 16;
inline constexpr size_t maxArguments = 96;
inline constexpr size_t maxSteps = 8;
inline constexpr size_t maxTensorMaps = 8; // of a variant
inline constexpr int64_t maxParts = 65535; // of the second axis of a grid
inline constexpr int64_t maxWorkspace = int64_t(1) << 48;

// A package that is not what its format says. The message names file, field,
// value and what is allowed.
class FormatError : public std::runtime_error {
public:
  using std::runtime_error::runtime_error;
};

// A package that is not there, or cannot be read or written.
class FileError : public std::runtime_error {
public:
  using std::runtime_error::runtime_error;
};

// The integers are fixed: they are those of the C ABI (bitpact_target_kind).
enum class TargetKind : uint8_t { Cpu = 1, Cuda = 2, Hip = 3 };
enum class ElementType : uint8_t {
  BF16 = 1,
  F16 = 2,
  F32 = 3,
  F64 = 4,
  I32 = 5,
  I64 = 6
};
// An Index is an input of integers that name elements of other tensors.
enum class TensorKind : uint8_t { In = 1, Out = 2, Index = 3 };
enum class ArgumentKind : uint8_t {
  Pointer = 1,
  Stride = 2,
  Dim = 3,
  Workspace = 4,
  Fault = 5,
  TensorMap = 6,
  Steady = 7
};
enum class Evidence : uint8_t { None = 0, Model = 1, Measured = 2 };

const char *name(TargetKind);
const char *name(ElementType);
const char *name(TensorKind);
const char *name(ArgumentKind);
const char *name(Evidence);
int64_t bytesOf(ElementType);

// The roles a variant may be made for, in the order in which they are listed.
inline constexpr const char *roleNames[] = {"train", "rollout", "prefill",
                                            "decode"};

struct ContractTensor {
  std::string name;
  TensorKind kind = TensorKind::In;
  std::vector<std::string> dims;
  ElementType type = ElementType::F32;
};

struct ContractEntry {
  std::string digest;                  // 64 lower-case hexadecimal digits
  std::string name;                    // as in the contract file
  std::string op;                      // operator@version
  std::string file;                    // contracts/<digest>.json
  std::string sha256;                  // of the file
  std::vector<ContractTensor> tensors; // in operator order
  std::map<std::string, int64_t> dims; // dynamicExtent is written "*"
};
inline constexpr int64_t dynamicExtent = -1;

struct Target {
  TargetKind kind = TargetKind::Cpu;
  std::string arch;         // sm_90a, x86-64-v3
  std::string features;     // "" or, for hip, xnack and sramecc
  std::string text() const; // cuda:sm_90a
};

struct FileEntry {
  std::string file; // relative to the package, '/' between components
  std::string sha256;
  int64_t bytes = 0;
};

// A box of a matrix that a copy unit moves at once, in elements. `swizzle`:
// bytes of its rows, whose 16-byte pieces are permuted. Where `part` is not 0, a
// launch's box has all rows of a matrix that has no more than `rows`, and `part`
// rows of one that has. `promotion`: bytes that a request of the second-level cache
// has at least, 0 where the package does not say, which is 256.
struct Box {
  int64_t rows = 0, cols = 0, swizzle = 0, part = 0, promotion = 0;
  int64_t rowsOf(int64_t matrix) const {
    return !part ? rows : matrix <= rows ? matrix : part;
  }
  bool operator==(const Box &) const = default;
};

// A TensorMap describes a tensor of two dims to the copy unit, or one of three as
// a stack of matrices, of which a box is in one; it is made at the launch and
// passed by value (CUDA: 128 bytes). Steady is 1 where the caller says that nothing
// that may still run writes the tensor, else 0.
struct Argument {
  ArgumentKind kind = ArgumentKind::Pointer;
  std::string tensor; // Pointer, Stride, TensorMap, Steady
  int64_t axis = 0;   // Stride
  std::string dim;    // Dim
  Box box;            // TensorMap
};

struct Range {
  int64_t min = 1;
  int64_t max = std::numeric_limits<int64_t>::max();
};

// What must hold of a launch for the variant to be used. A dim or tensor that
// is not named is not restricted.
struct Conditions {
  std::map<std::string, Range> dims;
  std::map<std::string, int64_t> align;          // bytes, of the data pointer
  std::map<std::string, int64_t> strideMultiple; // elements, every stride
};

struct TensorUse {
  std::string name;
  bool isMutable = false;
  std::vector<std::string> alias; // inputs whose very tensor this one may be
};

// How many programs share the rows of one: ceil((dim - less) / length), or
// `length` where no dim is named.
struct Split {
  std::string dim;
  int64_t length = 1, less = 0;
  bool operator==(const Split &) const = default;
};

// Blocks of a dim, of which the last may be short. With `segments` the dim is cut
// at as many offsets as that dim has, wherever they are, and the last block of
// each piece may be short: there are as many as there can be.
struct Tile {
  std::string dim;
  int64_t length = 1;
  std::string segments = {}; // none: whole
  bool operator==(const Tile &) const = default;
};

struct Launch {
  int64_t threads = 1; // per CTA
  int64_t programsPerCta = 1;
  int64_t rowsPerProgram = 1;
  std::vector<std::string> parallelDims; // rows = their product
  int64_t sharedBytes = 0;               // dynamic shared memory per CTA
  Split split;
  // Programs are tiles, as many as all dims have together, instead of rows.
  std::vector<Tile> tiles;
  // Where not 0, that many CTAs a multiprocessor at most, which share the
  // programs among themselves.
  int64_t ctasPerUnit = 0;
  // CTAs that compute a tile together: a cluster.
  int64_t ctasPerProgram = 1;
  // It may be started before what precedes it in its stream has ended, and
  // waits for that itself before it reads or writes a tensor. Launches with
  // several tiles of the first dim are not.
  bool overlaps = false;
};

// A kernel that runs after the first of a variant, on the same arguments.
struct Step {
  std::string entry;
  Launch launch;
};

// What a launch of tiles takes, in picoseconds as measured: `start`, and for
// each round of as many programs as run at one time `tile`, and `element` for
// every element of `dim`. Of the variants of one priority that a launch may
// take, that with the least is taken; those that say nothing come last.
struct Cost {
  std::string dim; // "": not said
  int64_t start = 0, tile = 0, element = 0;
  // Measured of such a contract and launch; Model: taken over from another.
  Evidence evidence = Evidence::None;
  bool operator==(const Cost &) const = default;
};

// The device on which the costs of a target's variants were measured.
struct CostTable {
  std::string target; // as Target::text()
  std::string device; // as its driver calls it: NVIDIA H200
  int64_t units = 0;  // multiprocessors
  std::string date;   // 2026-11-30
  bool operator==(const CostTable &) const = default;
};

struct Resources {
  int64_t registers = 0, shared = 0, local = 0, spills = 0;
};

struct Variant {
  std::string id; // [A-Za-z0-9._-]+, unique in the package
  std::string contract;
  Target target;
  std::vector<std::string> roles;
  int64_t priority = 0; // lower is tried first
  std::string entry;
  std::string schedule;
  // Empty, or the library that computes this variant; `code` is then the file
  // of Pin.h.
  std::string library;
  FileEntry code;
  std::vector<FileEntry> inspect;
  std::vector<Argument> arguments;
  Conditions when;
  std::vector<TensorUse> tensors; // in operator order
  Launch launch;
  std::vector<Step> then; // one after the other, in the caller's stream
  std::string workspace = "0"; // bytes: sums of products of dims and integers
  Cost cost;
  Resources resources;
  Evidence evidence = Evidence::None;
};

struct Manifest {
  int64_t format = 1; // seal() raises it to formatOf()
  std::string sha256; // seal() fills it
  std::map<std::string, std::string> producer; // tool -> version
  std::vector<ContractEntry> contracts;
  std::vector<Variant> variants;
  std::vector<CostTable> costs; // one for each target whose variants have costs

  // Null where the manifest does not say.
  const CostTable *costsOf(const Target &) const;
};

// The fields as JSON. from_json refuses missing and unknown keys, wrong types
// and numbers out of range (FormatError); it does not check one field against
// another, which is verify()'s job.
void to_json(nlohmann::json &, const Manifest &);
void from_json(const nlohmann::json &, Manifest &);

// One field against the others: names, digests, argument lists, conditions,
// launch geometry, paths. Throws FormatError.
void verify(const Manifest &);

// Keys sorted bytewise, no whitespace, UTF-8.
std::string canonicalText(const nlohmann::json &);
std::string sha256Hex(std::string_view bytes);

// The hash that `sha256` must hold: of the canonical text without that key.
std::string manifestHash(const nlohmann::json &manifest);

// The least format that has everything the manifest uses.
int64_t formatOf(const Manifest &);

// Sets `format` and `sha256` and returns the bytes of manifest.json.
std::string seal(Manifest &);

// The argument list: for each tensor its pointer and the strides of all axes
// but the last; every dim, in the operator's order; the workspace pointer and
// the fault word's, where the variant has them; its tensor maps follow.
std::vector<Argument> argumentList(const std::vector<ContractTensor> &,
                                   const std::vector<std::string> &dimOrder,
                                   bool workspace = false, bool fault = false);

} // namespace bitpact::package

#endif // BITPACT_RUNTIME_PACKAGE_FORMAT_H
