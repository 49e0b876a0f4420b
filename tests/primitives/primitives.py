#!/usr/bin/env python3
# primitives.py - compiles every f32 primitive and runs it on all inputs
# Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""primitives.py --build DIR [--package PKG] [--target cpu] [options of
bitpact_primitives]. Makes a package with one contract for each function of one
or two f32 arguments in contracts/primitives - y = f(x), by way of a sum over
one element - and sweeps it. With --package it only makes the package. Ends
with 1 on any difference, 77 without a compiler or the device."""
import argparse
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
HEAD = re.compile(r'pact\.primitive @"([^"]+)" function\s*\(([^)]*)\) -> f32')


def functions():
    """-> name, number of arguments; of all that take and give f32."""
    for file in sorted((ROOT / "contracts" / "primitives").glob("*.mlir")):
        for name, arguments in HEAD.findall(file.read_text("utf-8")):
            types = [argument.split(":")[1].strip()
                     for argument in arguments.split(",")]
            if len(types) <= 2 and set(types) == {"f32"}:
                yield name, len(types)


def contract(name, arguments):
    inputs = ["x", "m"][:arguments]
    return {
        "bitpact": 1, "name": name, "op": ["apply@1", "apply2@1"][arguments - 1],
        "dims": {"rows": "*", "one": 1},
        "types": {tensor: "f32" for tensor in inputs + ["y"]},
        "nodes": {"sum": {"domain": "one", "partition": "k:1",
                          "merge": ["k chain"], "start": "first",
                          "precision": {"accumulator": "f32"}}},
        "rounding": {"y": "f32 rne"},
        "primitives": {"f": name, "sum.step": "add.f32"}}


def lay_out(work, build):
    """The tool beside a library that has the operators of this folder, too."""
    contracts = work / "share" / "bitpact" / "contracts"
    shutil.copytree(ROOT / "contracts", contracts)
    for file in (HERE / "Inputs").glob("*.mlir"):
        shutil.copy2(file, contracts / "ops")
    for folder, pattern in (("bin", "bitpact"), ("lib", "libbitpact*.so*")):
        (work / folder).mkdir()
        for file in (build / folder).glob(pattern):
            shutil.copy2(file, work / folder, follow_symlinks=False)
    return work / "bin" / "bitpact"


def make_package(build, package, targets):
    with tempfile.TemporaryDirectory() as folder:
        work = pathlib.Path(folder)
        tool = lay_out(work, build)
        files = []
        for name, arguments in functions():
            file = work / f"{name}.json"
            file.write_text(json.dumps(contract(name, arguments)), "utf-8")
            files.append(file)
        words = [word for target in targets for word in ("--target", target)]
        done = subprocess.run([tool, "compile", *files, "-o", package, *words],
                              capture_output=True, text=True)
        if "this machine has no compiler" in done.stderr:
            sys.exit(77)
        if done.returncode:
            sys.exit(done.stderr)
        print(done.stdout.splitlines()[-1], flush=True)


def recorded(rest):
    """A sample must not exceed what the newest run over all inputs found."""
    files = sorted((ROOT / "docs" / "results").glob("*-primitives.json"))
    return ["--record", files[-1]] if "--sample" in rest else []


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--package", type=pathlib.Path)
    parser.add_argument("--target", action="append")
    options, rest = parser.parse_known_args()
    if options.package:
        make_package(options.build, options.package, options.target or ["cpu"])
        return
    with tempfile.TemporaryDirectory() as folder:
        package = pathlib.Path(folder) / "primitives.pkg"
        make_package(options.build, package, options.target or ["cpu"])
        done = subprocess.run([options.build / "bin" / "bitpact_primitives",
                               package, "--values", HERE / "values.txt",
                               *recorded(rest), *rest],
                              stderr=subprocess.PIPE, text=True)
    sys.stderr.write(done.stderr)
    if done.returncode and "no CUDA device" in done.stderr:
        sys.exit(77)
    sys.exit(done.returncode)


if __name__ == "__main__":
    main()
