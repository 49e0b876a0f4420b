# compile_only.py - generated contracts compiled for targets that cannot run here
# Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""compile_only.py --tool bitpact --target hip [--every N] compiles contracts of
generate.py, which lints the code of each variant, and reads in the manifest
that every contract has code for every architecture and that none claims to have
been measured. 77 where there is no compiler."""
import argparse
import json
import os
import subprocess
import sys
import tempfile

import generate

SKIP = 77


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tool", required=True)
    parser.add_argument("--target", required=True)
    parser.add_argument("--every", type=int, default=1, help="take one contract in N")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        paths = generate.write(os.path.join(scratch, "contracts"), options.seed)
        paths = paths[:: options.every]
        package = os.path.join(scratch, "package")
        done = subprocess.run(
            [options.tool, "compile", *paths, "-o", package, "--target", options.target],
            capture_output=True, text=True)  # fmt: skip
        if "this machine has no compiler" in done.stderr:
            print("skipped: " + done.stderr.strip())
            return SKIP
        if done.returncode:
            print(done.stderr)
            return done.returncode
        with open(os.path.join(package, "manifest.json")) as file:
            manifest = json.load(file)
    archs = {}
    for variant in manifest["variants"]:
        archs.setdefault(variant["contract"], set()).add(variant["target"]["arch"])
        if variant["evidence"]["bits"] == "measured":
            print("CLAIMS %s" % variant["id"])
            return 1
    every = set().union(*archs.values())
    for contract in manifest["contracts"]:
        if archs.get(contract["digest"], set()) != every:
            print("MISSING %s has no code for all of %s" % (contract["name"], sorted(every)))
            return 1
    print("%d contracts, %d variants for %s: compiled and linted" % (
        len(manifest["contracts"]), len(manifest["variants"]), " ".join(sorted(every))))  # fmt: skip
    return 0 if len(manifest["contracts"]) >= 10 else 1


if __name__ == "__main__":
    sys.exit(main())
