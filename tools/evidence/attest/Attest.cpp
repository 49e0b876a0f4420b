// Attest.cpp - a library's product becomes a variant, or is refused
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/evidence/attest/Attest.h"

#include "tools/evidence/Check.h"
#include "tools/evidence/Layout.h"
#include "tools/evidence/UserError.h"
#include "tools/evidence/attest/Candidates.h"
#include "tools/evidence/attest/Explanation.h"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

namespace bitpact::evidence::attest {
namespace {

/// A challenge is repeated at every load: so many elements of a tensor are made,
/// and so many outputs hashed at either end. A prime, so that rows differ.
constexpr int64_t challengeElements = 65521;
/// Reveal asks many questions, so its tensors are not the largest.
constexpr int64_t revealElements = int64_t(1) << 24;
/// Of more refused algorithms, it is only said what differs.
constexpr int64_t mostExplained = 4;

class Scratch {
public:
  Scratch() {
    std::string pattern =
        (std::filesystem::temp_directory_path() / "bitpact-attest.XXXXXX")
            .string();
    if (!::mkdtemp(pattern.data()))
      throw UserError(pattern, "cannot be made");
    path = pattern;
  }
  ~Scratch() {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }
  Scratch(const Scratch &) = delete;
  std::string operator/(const char *name) const { return path / name; }

private:
  std::filesystem::path path;
};

class Attester {
public:
  Attester(const Request &toAnswer, const Progress &report)
      : request(toAnswer), progress(report), package(request.package),
        device(request.device), contract(chosen()),
        subject(subjectOf(package, contract, device, request.ranges)) {}

  Report run();

private:
  const ContractSpec &chosen() const;
  CheckReport compareAll(const Package &candidates) const;
  std::string whyNot(const VariantReport &found) const;
  std::string whyNoTree(const Package &candidates, const VariantSpec &variant,
                        const Dims &dims) const;
  std::vector<Dims> ends() const;
  void judge(const Package &candidates, const CheckReport &checked);
  const Dims &largestUpTo(int64_t elements) const;
  std::string challengeDigest(const Package &candidates,
                              const package::Pin &pin) const;
  void admit(const Package &candidates, Candidate candidate);

  const Request &request;
  const Progress &progress;
  Package package;
  Device device;
  const ContractSpec &contract;
  Subject subject;
  Offer offer;
  Scratch scratch;
  int64_t explained = 0;
  Report report;
};

const ContractSpec &Attester::chosen() const {
  std::vector<const ContractSpec *> all =
      chooseContracts(package, request.contract);
  if (all.size() == 1)
    return *all.front();
  std::vector<std::string> names;
  for (const ContractSpec *one : all)
    names.push_back(one->name);
  throw UserError(fmt::format("--contract '{}': one contract, not {}: {}",
                              request.contract, all.size(),
                              fmt::join(names, ", ")));
}

CheckReport Attester::compareAll(const Package &candidates) const {
  CheckOptions options;
  options.devices = {device.name};
  options.contract = contract.digest;
  options.recipes = request.recipes;
  options.seed = request.seed;
  options.bounded = false;
  options.extents = subject.extents;
  options.rows = {1};
  RowShape shape(contract);
  for (const auto &[dim, extents] : subject.extents)
    if (shape.isRow(dim)) {
      options.rows = extents;
      options.extents.erase(dim);
    }
  return check(candidates, options, progress);
}

/// What check has found against a candidate; empty if nothing.
std::string Attester::whyNot(const VariantReport &found) const {
  if (!found.first) {
    auto plain = found.excluded.find(allLayouts().front().name);
    if (plain != found.excluded.end())
      return fmt::format("it takes {} launches with rows one after the other "
                         "not at all",
                         plain->second);
    return found.launches ? "" : "it took no launch";
  }
  const Difference &first = *found.first;
  if (first.stray)
    return fmt::format("at {} with data {} and rows {} it wrote outside of {}",
                       dimsText(first.dims), first.recipe, first.layout,
                       first.tensor);
  return fmt::format(
      "at {} with data {}, {} of {} outputs differ from {}, the first at "
      "{}[{}]: {}, not {}",
      dimsText(first.dims), first.recipe, first.differing, first.elements,
      first.against, first.tensor, fmt::join(first.coordinate, ", "),
      first.actual, first.expected);
}

/// What reveal has found against a candidate at one shape; empty if nothing.
std::string Attester::whyNoTree(const Package &candidates,
                                const VariantSpec &variant,
                                const Dims &dims) const {
  Explanation found =
      explain(candidates, contract, device, variant, dims, progress);
  return found.equal ? "" : found.text;
}

/// Where the tree is found: the least of the shapes, and the largest that takes
/// no minutes.
std::vector<Dims> Attester::ends() const {
  std::vector<Dims> both{subject.shapes.front()};
  if (const Dims &large = largestUpTo(revealElements); large != both.front())
    both.push_back(large);
  return both;
}

void Attester::judge(const Package &candidates, const CheckReport &checked) {
  for (size_t i = 0; i < offer.algorithms.size(); ++i) {
    Candidate candidate =
        candidateOf(subject, request.library, offer, i, request.preferred);
    const VariantReport &found =
        *std::find_if(checked.variants.begin(), checked.variants.end(),
                      [&](const VariantReport &one) {
                        return one.variant->id == candidate.variant.id;
                      });
    std::string why = whyNot(found);
    if (!why.empty() && found.first && explained < mostExplained) {
      ++explained;
      std::string tree =
          whyNoTree(candidates, *found.variant, found.first->dims);
      why += tree.empty() ? "; its tree is the contract's" : "; " + tree;
    }
    std::vector<std::string> revealed;
    for (const Dims &dims : ends())
      if (why.empty() && report.variant.empty()) {
        revealed.push_back(dimsText(dims));
        why = whyNoTree(candidates, *found.variant, dims);
        if (!why.empty())
          why = fmt::format("at {} {}", revealed.back(), why);
      }
    if (!why.empty())
      report.refused.push_back({offer.algorithms[i], why});
    if (report.variant.empty()) {
      report.launches += found.launches;
      report.compared += found.elements;
    }
    if (!why.empty() || !report.variant.empty())
      continue;
    report.launches = found.launches;
    report.compared = found.elements;
    report.revealed = revealed;
    report.variant = candidate.variant.id;
    report.admitted = offer.algorithms[i];
    admit(candidates, std::move(candidate));
  }
}

/// Of the shapes whose tensors have so many elements at most, the largest; the
/// least, if there is none.
const Dims &Attester::largestUpTo(int64_t elements) const {
  auto sizeOf = [&](const Dims &dims) {
    int64_t sum = 0, largest = 0;
    for (const TensorSpec &tensor : contract.tensors) {
      sum += elementsOf(shapeOf(tensor, dims));
      largest = std::max(largest, elementsOf(shapeOf(tensor, dims)));
    }
    return largest <= elements ? sum : -sum;
  };
  return *std::max_element(
      subject.shapes.begin(), subject.shapes.end(),
      [&](const Dims &a, const Dims &b) { return sizeOf(a) < sizeOf(b); });
}

/// What a generated variant makes of the challenge; those without evidence run
/// only by their names.
std::string Attester::challengeDigest(const Package &candidates,
                                      const package::Pin &pin) const {
  const Dims &dims = pin.challenge->dims;
  Kernel kernel(candidates, device, contract.digest,
                subject.generated.roles.front());
  kernel.prepare(dims);
  std::vector<Buffer> memory;
  std::vector<View> views;
  std::string result;
  for (size_t i = 0; i < contract.tensors.size(); ++i) {
    const TensorSpec &tensor = contract.tensors[i];
    std::vector<int64_t> shape = shapeOf(tensor, dims);
    size_t elements = size_t(elementsOf(shape));
    const std::string some = package::challengeData(
        package::challengeSeed(pin), i, subject.contract.tensors[i].type,
        std::min(elements, size_t(pin.challenge->elements)));
    const size_t bytes = elements * size_t(algebra::bytes(tensor.format));
    std::string data;
    while (data.size() < bytes)
      data += some;
    data.resize(bytes);
    memory.emplace_back(device, data.size());
    memory.back().upload(data.data(), data.size());
    views.emplace_back(tensor, device, memory.back().data(), shape,
                       std::vector<int64_t>{shape[1], 1});
    if (tensor.output)
      result.resize(data.size());
  }
  kernel.launch(views);
  std::string hashed;
  for (size_t i = 0; i < contract.tensors.size(); ++i) {
    const TensorSpec &tensor = contract.tensors[i];
    if (!tensor.output)
      continue;
    memory[i].download(result.data(), result.size());
    const size_t width = size_t(algebra::bytes(tensor.format));
    for (const package::Span &span :
         package::hashedSpans(*pin.challenge, result.size() / width))
      hashed.append(result, span.first * width, span.count * width);
  }
  return package::sha256Hex(hashed);
}

void Attester::admit(const Package &candidates, Candidate candidate) {
  candidate.variant.evidence = package::Evidence::Measured;
  std::vector<std::string> data;
  for (Recipe recipe : request.recipes)
    data.emplace_back(nameOf(recipe));
  candidate.pin.attestation = package::Attestation{
      subject.ranges,  data,          int64_t(request.seed), report.launches,
      report.compared, report.shapes, report.revealed};
  // The least of the shapes: what a load costs does not grow with the range.
  package::Pin &pin = candidate.pin;
  pin.challenge = package::Challenge{
      subject.shapes.front(), int64_t(request.seed), challengeElements, ""};
  pin.challenge->sha256 = challengeDigest(candidates, pin);
  // Loaded, and so challenged, before it is where somebody may find it.
  std::string trial = scratch / "admitted.pkg";
  writeAdmitted(trial, subject, candidate);
  Kernel(Package(trial), device, contract.digest,
         candidate.variant.roles.front(), candidate.variant.id);
  writeAdmitted(request.output, subject, candidate);
}

Report Attester::run() {
  report.contract = contract.name;
  for (const Dims &dims : subject.shapes)
    report.shapes.push_back(dimsText(dims));
  offer = offerOf(request.library, device, subject.product, subject.shapes,
                  request.offer);
  report.version = offer.version;
  report.device = offer.device;
  for (const auto &[algorithm, why] : offer.refused)
    report.refused.push_back({algorithm, why});
  if (offer.algorithms.empty())
    return std::move(report);
  std::vector<Candidate> all;
  for (size_t i = 0; i < offer.algorithms.size(); ++i)
    all.push_back(
        candidateOf(subject, request.library, offer, i, request.preferred));
  writeCandidates(scratch / "candidates.pkg", subject, all);
  Package candidates(scratch / "candidates.pkg");
  CheckReport checked = compareAll(candidates);
  for (const VariantReport &one : checked.variants)
    if (one.variant->library.empty() && one.first)
      throw UserError(fmt::format("variant '{}' itself: {}; run bitpact check",
                                  one.variant->id, whyNot(one)));
  judge(candidates, checked);
  return std::move(report);
}

} // namespace

Report attest(const Request &request, const Progress &progress) {
  return Attester(request, progress).run();
}

} // namespace bitpact::evidence::attest
