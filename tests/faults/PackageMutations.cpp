// PackageMutations.cpp - faults of what is shipped: manifest, contracts, code
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/package/Format.h"
#include "tests/faults/Mutations.h"

using namespace bitpact;
using namespace bitpact::faults;
using nlohmann::json;

namespace {

const char *const kCpu = "cpu:x86-64-v3", *const kCuda = "cuda:sm_90a",
                  *const kHip = "hip:gfx942";
constexpr auto Broken = PackageMutation::Broken,
               Sealed = PackageMutation::Sealed;

bool flip(std::string &bytes, size_t at, int bit) {
  if (at >= bytes.size())
    return false;
  bytes[at] = char(bytes[at] ^ (1 << bit));
  return true;
}

/// The value of a key, which must have been another.
bool set(json &object, const std::string &key, const json &value) {
  bool changes = object.at(key) != value;
  object[key] = value;
  return changes;
}

json &tensorOf(PackageFiles &package, const std::string &name) {
  for (json &tensor : package.manifest.at("contracts").at(0).at("tensors"))
    if (tensor.at("name") == name)
      return tensor;
  throw std::logic_error("no tensor " + name);
}

/// Files whose bytes are not those that the manifest was sealed with.
void altered(std::vector<PackageMutation> &table) {
  auto add = [&](const char *name, const char *says, auto change,
                 const char *target = kCpu) {
    table.push_back(
        {name, {"rounded"}, target, Broken, Detector::Loader, {says}, change});
  };
  add("a flipped bit in a shared object", "the file was altered",
      [](PackageFiles &package) {
        std::string &code = package.code();
        return flip(code, code.size() / 2, 3);
      });
  add(
      "a flipped bit in a cubin", "the file was altered",
      [](PackageFiles &package) {
        std::string &code = package.code();
        return flip(code, code.size() / 2, 3);
      },
      kCuda);
  auto truncate = [](PackageFiles &package) {
    std::string &code = package.code();
    code.resize(code.size() - 1);
    return true;
  };
  add("a truncated shared object", "truncated or altered", truncate);
  add("a truncated cubin", "truncated or altered", truncate, kCuda);
  add("a truncated hsaco", "truncated or altered", truncate, kHip);
  add("a flipped bit in a contract", "the file was altered",
      [](PackageFiles &package) {
        std::string &text =
            package.files.at(package.manifest.at("contracts").at(0).at("file"));
        return flip(text, text.size() / 2, 0);
      });
  add("a digit of the manifest", "the manifest was altered",
      [](PackageFiles &package) {
        return set(package.variant(), "priority",
                   package.variant().at("priority").get<int>() + 1);
      });
  add("a code object removed", "manifest.json names this file",
      [](PackageFiles &package) {
        return package.files.erase(package.variant().at("code").at("file")) > 0;
      });
  add("a file that nobody named", "does not name this file",
      [](PackageFiles &package) {
        package.files["code/more.so"] = package.code();
        return true;
      });
  add(
      "two variants' code exchanged", "altered",
      [](PackageFiles &package) {
        std::swap(package.code("vector_bytes=1 "),
                  package.code("vector_bytes=16"));
        return true;
      },
      kCuda);
  add("evidence upgraded", "the manifest was altered",
      [](PackageFiles &package) {
        return set(package.variant().at("evidence"), "bits", "measured");
      });
  table.push_back({"the device of costs renamed",
                   {"grouped"},
                   kCuda,
                   Broken,
                   Detector::Loader,
                   {"the manifest was altered"},
                   [](PackageFiles &package) {
                     return set(package.manifest.at("costs").at(0), "device",
                                "NVIDIA H100");
                   }});
  add(
      "evidence upgraded (HIP)", "the manifest was altered",
      [](PackageFiles &package) {
        return set(package.variant().at("evidence"), "bits", "measured");
      },
      kHip);
}

/// Manifests that contradict themselves.
void contradictory(std::vector<PackageMutation> &table) {
  auto add = [&](const char *name, const char *says, auto change,
                 const char *target = kCpu) {
    table.push_back(
        {name, {"rounded"}, target, Sealed, Detector::Loader, {says}, change});
  };
  add("two arguments exchanged", ".arguments[0]", [](PackageFiles &package) {
    json &arguments = package.variant().at("arguments");
    std::swap(arguments[0], arguments[2]);
    return arguments[0] != arguments[2];
  });
  add("a stride of another tensor", ".arguments[1]", [](PackageFiles &package) {
    return set(package.variant().at("arguments").at(1), "tensor", "y");
  });
  add("an output for an input", ".mutable", [](PackageFiles &package) {
    return set(tensorOf(package, "x"), "kind", "out");
  });
  add("an input that may be written", ".mutable", [](PackageFiles &package) {
    return set(package.variant().at("tensors").at(0), "mutable", true);
  });
  add("a contract that is not there", "is not a contract of the package",
      [](PackageFiles &package) {
        return set(package.variant(), "contract", std::string(64, '0'));
      });
  add("a role that does not exist", "is not a role", [](PackageFiles &package) {
    return set(package.variant(), "roles", json{"training"});
  });
  add("an alignment that is no power of two", "must be a power of two",
      [](PackageFiles &package) {
        return set(package.variant().at("when"), "align", {{"x", 12}});
      });
  add("a workspace that the code does not take", "misses a workspace pointer",
      [](PackageFiles &package) {
        return set(package.variant(), "workspace", "4*tokens");
      });
  add("a path out of the package", ".file", [](PackageFiles &package) {
    json &code = package.variant().at("code");
    package.files["code/../../stray.so"] = package.code();
    return set(code, "file", "code/../../stray.so");
  });
  add(
      "two variants of one name", "is there twice",
      [](PackageFiles &package) {
        return set(package.variant("vector_bytes=1 "), "id",
                   package.variant("vector_bytes=16").at("id"));
      },
      kCuda);
  add("a newer format", "it is too old for this package",
      [](PackageFiles &package) {
        return set(package.manifest, "format",
                   bitpact::package::formatVersion + 1);
      });
  auto costs = [&](const char *name, const char *says, auto change) {
    table.push_back({name, {"grouped"}, kCuda, Sealed, Detector::Loader, {says},
                     [change](PackageFiles &package) {
                       return change(package.manifest.at("costs").at(0));
                     }});
  };
  costs("costs of another target", "costs does not name the device",
        [](json &table) { return set(table, "target", "cuda:sm_80"); });
  costs("costs of no device", ".device", [](json &table) {
    return set(table, "device", "");
  });
  costs("costs measured on no day", ".date", [](json &table) {
    return set(table, "date", "2026-13-30");
  });
  add("a dim in no order", "must be each dim of the contract once",
      [](PackageFiles &package) {
        json &arguments = package.variant().at("arguments");
        return set(arguments.back(), "dim", "tokens");
      });
}

/// Manifests that are well-formed, and wrong about contract or code.
void wrong(std::vector<PackageMutation> &table) {
  auto add = [&](const char *name, Detector detector, const char *says,
                 auto change,
                 std::vector<std::string> contracts = {"rounded"}) {
    table.push_back({name, contracts, kCpu, Sealed, detector, {says}, change});
  };
  add("an entry renamed", Detector::Loader, "has no entry",
      [](PackageFiles &package) {
        json &variant = package.variant();
        return set(variant, "entry",
                   variant.at("entry").get<std::string>() + "x");
      });
  add("a type of a tensor", Detector::Loader, "the contract says",
      [](PackageFiles &package) {
        return set(tensorOf(package, "x"), "type", "f16");
      });
  add("an extent", Detector::Loader, "the contract says",
      [](PackageFiles &package) {
        return set(package.manifest.at("contracts").at(0).at("dims"), "hidden",
                   511);
      });
  add("another operator's name", Detector::Loader, "the contract says",
      [](PackageFiles &package) {
        return set(package.manifest.at("contracts").at(0), "op", "sum@1");
      });
  add("a contract's text with its digest kept", Detector::Loader,
      "the contract's text has the digest", [](PackageFiles &package) {
        std::string &text =
            package.files.at(package.manifest.at("contracts").at(0).at("file"));
        json contract = json::parse(text);
        contract.at("rounding").at("normed").at("format") = "f32";
        std::string was = text;
        text = contract.dump();
        return text != was;
      });
  add("the digest of another contract", Detector::Check, "y[",
      [](PackageFiles &package) {
        // The code of the first under the contract of the second.
        json &variants = package.manifest.at("variants");
        const std::string first = variants.at(0).at("contract");
        for (const json &contract : package.manifest.at("contracts"))
          if (contract.at("digest") != first)
            return set(variants.at(0), "contract", contract.at("digest"));
        return false;
      },
      {"rounded", "unrounded"});
  add("programs that do half their rows", Detector::Check, "",
      [](PackageFiles &package) {
        json &launch = package.variant().at("launch");
        return set(launch, "rows_per_program",
                   launch.at("rows_per_program").get<int>() * 2);
      });
  add("programs that begin with others' rows", Detector::Check, "",
      [](PackageFiles &package) {
        return set(package.variant().at("launch"), "rows_per_program", 2);
      });
  add("rows that are no rows", Detector::Check, "", [](PackageFiles &package) {
    return set(package.variant().at("launch"), "parallel_dims", json::array());
  });
}

/// Code that is not what the compiler made, under hashes that say it is.
void code(std::vector<PackageMutation> &table) {
  auto add = [&](const char *name, const char *contract, Detector detector,
                 const char *says, auto change) {
    table.push_back({name, {contract}, kCpu, Sealed, detector, {says}, change});
  };
  add("an addition that subtracts", "pairwise", Detector::Check, "y[",
      [](PackageFiles &package) {
        // vaddps and vsubps differ in one byte after a two-byte VEX prefix.
        std::string &code = package.code();
        for (size_t i = 0; i + 2 < code.size(); ++i)
          if (code[i] == '\xc5' && (code[i + 1] & 7) == 4 &&
              code[i + 2] == '\x58')
            return code[i + 2] = '\x5c', true;
        return false;
      });
  add("an addition of scalars", "pairwise", Detector::Check, "y[",
      [](PackageFiles &package) {
        // vaddps of eight lanes becomes one of four.
        std::string &code = package.code();
        for (size_t i = 0; i + 2 < code.size(); ++i)
          if (code[i] == '\xc5' && (code[i + 1] & 7) == 4 &&
              code[i + 2] == '\x58')
            return flip(code, i + 1, 2);
        return false;
      });
  add("a constant of the code", "mul_add", Detector::Check, "y[",
      [](PackageFiles &package) {
        std::string &code = package.code();
        size_t eps = code.find("\xbd\x37\x86\x35");
        return eps != code.npos && flip(code, eps + 2, 7);
      });
  add("a cubin as a shared object", "rounded", Detector::Loader,
      "cannot be loaded", [](PackageFiles &package) {
        // What the loader looks at: the header of NVIDIA's ELF.
        std::string &code = package.code();
        code[16] = 2; // ET_EXEC
        return flip(code, 18, 7);
      });
  add("code for another machine", "rounded", Detector::Loader,
      "another machine", [](PackageFiles &package) {
        std::string &code = package.code();
        bool was = code[18] == '\x3e'; // EM_X86_64
        code[18] = '\xb7';             // EM_AARCH64
        return was;
      });
  table.push_back({"an alignment that is not asked for (PTX)",
                   {"pairwise"},
                   kCuda,
                   Sealed,
                   Detector::Check,
                   {""},
                   [](PackageFiles &package) {
                     json &when = package.variant().at("when");
                     return set(when, "align", json::object()) &&
                            set(when, "stride_multiple", json::object());
                   }});
  add("code cut short", "rounded", Detector::Loader, "cut short",
      [](PackageFiles &package) {
        std::string &code = package.code();
        code.resize(code.size() / 4);
        return true;
      });
  add("code that is empty", "rounded", Detector::Loader, "no ELF header",
      [](PackageFiles &package) {
        package.code().clear();
        return true;
      });
}

} // namespace

json &PackageFiles::variant(const std::string &schedule) {
  for (json &variant : manifest.at("variants"))
    if (variant.at("schedule").get<std::string>().find(schedule) !=
        std::string::npos)
      return variant;
  throw std::logic_error("no variant with " + schedule);
}

std::string &PackageFiles::code(const std::string &schedule) {
  return files.at(variant(schedule).at("code").at("file"));
}

std::vector<PackageMutation> faults::packageMutations() {
  std::vector<PackageMutation> table;
  altered(table);
  contradictory(table);
  wrong(table);
  code(table);
  return table;
}
