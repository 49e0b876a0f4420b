// PinMutations.cpp - faults of what a library's variant is pinned to
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/package/Format.h"
#include "tests/faults/Mutations.h"

using namespace bitpact;
using namespace bitpact::faults;
using nlohmann::json;

namespace {

using Change = std::function<bool(json &variant, json &pin)>;

/// A value that must have been another.
bool set(json &value, const json &to) {
  bool changes = value != to;
  value = to;
  return changes;
}

/// In the pin and the manifest, which is then sealed again: what a hash would
/// notice alone is PackageMutations.cpp's.
PackageMutation pinned(std::string name, Detector detector, const char *says,
                       Change change) {
  auto edit = [change = std::move(change)](PackageFiles &package) {
    for (json &variant : package.manifest.at("variants")) {
      if (!variant.contains("library"))
        continue;
      std::string &text = package.files.at(variant.at("code").at("file"));
      json pin = json::parse(text);
      bool changed = change(variant, pin);
      text = package::canonicalText(pin) + "\n";
      return changed;
    }
    return false;
  };
  return {"pin: " + std::move(name),
          {"product"},
          "cpu:x86-64-v3",
          PackageMutation::Sealed,
          detector,
          {says},
          edit,
          /*attested=*/true};
}

} // namespace

std::vector<PackageMutation> faults::pinMutations() {
  constexpr auto Loader = Detector::Loader, Challenge = Detector::Challenge;
  constexpr char notKept[] = "does not keep the contract any more";
  return {
      pinned("another algorithm", Loader, "is pinned to 2",
             [](json &, json &pin) {
               return set(pin["algorithm"]["settings"]["threads"], 2);
             }),
      pinned("a setting that the library has not", Challenge, notKept,
             [](json &, json &pin) {
               return set(pin["algorithm"]["settings"]["id"], 7);
             }),
      pinned("another version", Loader, "is pinned to openblas FakeBLAS 1.1",
             [](json &, json &pin) {
               return set(pin["version"], "FakeBLAS 1.1");
             }),
      pinned("another device", Loader, "on Slide rule",
             [](json &, json &pin) { return set(pin["device"], "Slide rule"); }),
      pinned("another library", Loader, "library is 'cublaslt'",
             [](json &, json &pin) { return set(pin["library"], "cublaslt"); }),
      pinned("operands exchanged", Loader, "product.rows",
             [](json &, json &pin) {
               std::swap(pin["product"]["rows"], pin["product"]["columns"]);
               return true;
             }),
      pinned("a range wider in the manifest", Loader, "attestation.ranges are",
             [](json &variant, json &) {
               return set(variant["when"]["dims"]["tokens"]["max"], 90);
             }),
      pinned("a range wider in manifest and pin", Loader,
             "is not what attestation.shapes reach",
             [](json &variant, json &pin) {
               return set(variant["when"]["dims"]["tokens"]["max"], 90) &&
                      set(pin["attestation"]["ranges"]["tokens"]["max"], 90);
             }),
      pinned("a wider range and a shape for it", Challenge, notKept,
             [](json &variant, json &pin) {
               pin["attestation"]["shapes"].push_back("in=40 out=24 tokens=90");
               return set(variant["when"]["dims"]["tokens"]["max"], 90) &&
                      set(pin["attestation"]["ranges"]["tokens"]["max"], 90);
             }),
      pinned("no evidence", Loader, "there must be a challenge",
             [](json &, json &pin) { return pin.erase("attestation") > 0; }),
      pinned("a shape that was not tried", Challenge, notKept,
             [](json &, json &pin) {
               return set(pin["attestation"]["shapes"][1],
                          "in=40 out=24 tokens=4");
             }),
      pinned("a tree that was not found", Loader, "attestation.revealed",
             [](json &, json &pin) {
               return set(pin["attestation"]["revealed"][0],
                          "in=40 out=24 tokens=90");
             }),
      pinned("more outputs compared", Challenge, notKept,
             [](json &, json &pin) {
               return set(pin["attestation"]["compared"], 1000000000);
             }),
      pinned("fewer launches than shapes", Loader, "attestation.launches",
             [](json &, json &pin) {
               return set(pin["attestation"]["launches"], 1);
             }),
      pinned("no challenge", Loader, "there must be a challenge",
             [](json &, json &pin) { return pin.erase("challenge") > 0; }),
      pinned("another seed of the challenge", Challenge, notKept,
             [](json &, json &pin) {
               return set(pin["challenge"]["seed"],
                          pin["challenge"]["seed"].get<int>() + 1);
             }),
      pinned("a challenge of fewer elements", Challenge, notKept,
             [](json &, json &pin) {
               return set(pin["challenge"]["elements"], 3);
             }),
      pinned("a challenge out of the range", Loader, "challenge.dims",
             [](json &, json &pin) {
               return set(pin["challenge"]["dims"]["tokens"], 90);
             }),
      pinned("a challenge of other rows", Challenge, notKept,
             [](json &, json &pin) {
               return set(pin["challenge"]["dims"]["tokens"], 3);
             }),
      pinned("another hash of the challenge", Challenge, notKept,
             [](json &, json &pin) {
               return set(pin["challenge"]["sha256"], std::string(64, 'a'));
             }),
  };
}
