# conform.py - compiles generated contracts and checks every variant's bytes
# Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""conform.py --tool bitpact [--device cpu] [--target cpu] [--full] [--random N]
writes the contracts of generate.py, compiles each set into one package and runs
`bitpact check` on it. Ends with 1 on any difference, 77 where there is no
compiler or no such device."""
import argparse
import json
import os
import platform
import struct
import subprocess
import sys
import tempfile
import time

import generate

SKIP = 77
# Narrow rows cross every threshold of the row count; wide ones the small ones.
NARROW = "1,2,3,31,32,33,255,256,257,1024,1025"
WIDE = "1,3,32,33"
NARROW_LIMIT = 1024
RANDOM = "1,2,9,33"
# Contracts of a package: what is wrong with one is found in little time.
CHUNK = 64


def host_targets(number):
    """x86-64-v3; and v4 with every fourth set, where this machine runs it."""
    if platform.machine() != "x86_64":
        return ["cpu"]
    with open("/proc/cpuinfo") as file:
        levels = ["v3"] + ["v4"] * (number % 4 == 0 and "avx512vl" in file.read())
    return ["cpu:x86-64-" + level for level in levels]


def run(*args):
    return subprocess.run([str(arg) for arg in args], capture_output=True, text=True)


def skip(reason):
    print("skipped: " + reason.strip())
    sys.exit(SKIP)


def compile_package(options, package, paths, targets):
    targets = [word for target in targets for word in ("--target", target)]
    done = run(options.tool, "compile", *paths, "-o", package, "--no-cache", *targets)
    if "this machine has no compiler" in done.stderr:
        skip(done.stderr)
    if done.returncode:
        print(done.stderr)
        sys.exit("compile ended with %d" % done.returncode)


def check_package(options, package, rows):
    devices = [word for device in options.device for word in ("--device", device)]
    done = run(options.tool, "check", package, "--rows", rows, *devices, "--json",
               "--seed", options.seed)  # fmt: skip
    if done.returncode < 0:
        # A kernel took the process down: find whose.
        listed = json.loads(run(options.tool, "inspect", package, "--json").stdout)
        for contract in listed["contracts"]:
            alone = run(options.tool, "check", package, "--rows", rows, *devices,
                        "--op", contract["digest"])  # fmt: skip
            if alone.returncode < 0:
                print("CRASHED %s: signal %d" % (contract["name"], -alone.returncode))
            elif alone.returncode == 1:
                print("DIFFERS %s\n%s" % (contract["name"], alone.stdout))
        sys.exit("check was ended by signal %d" % -done.returncode)
    report = json.loads(done.stdout)
    if "equal" not in report:
        message = report["diagnostics"][0]["message"]
        if message.startswith("device "):
            skip(message)
        sys.exit("check ended with %d: %s" % (done.returncode, message))
    return done.returncode, report


def witness(options, package):
    """Two contracts that must differ do, on the same device and data."""
    with tempfile.TemporaryDirectory() as scratch:
        rows, hidden, state, values = 64, 257, 1, []
        for _ in range(rows * hidden):
            state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
            values.append(state / 2**63 - 1)
        data = struct.pack("<%df" % len(values), *values)
        header = json.dumps(
            {"x": {"dtype": "F32", "shape": [rows, hidden], "data_offsets": [0, len(data)]}}
        ).encode()
        x = os.path.join(scratch, "x.safetensors")
        with open(x, "wb") as file:
            file.write(struct.pack("<Q", len(header)) + header + data)
        outputs = []
        for merge in ("halving", "pairwise"):
            y = os.path.join(scratch, merge + ".npy")
            done = run(options.tool, "run", package, "--op", "sum", "--contract",
                       "conformance/witness_" + merge, "--device", options.device[0],
                       "--input", "x=" + x, "--output", "y=" + y)  # fmt: skip
            if done.returncode:
                sys.exit("the witness did not run: " + done.stderr)
            with open(y, "rb") as file:
                outputs.append(file.read())
    if outputs[0] == outputs[1]:
        sys.exit("halving and pairwise gave the same bytes: the data shows nothing")


def sets_of_widths(paths, full):
    sets = {"narrow": ([], NARROW), "wide": ([], NARROW if full else WIDE)}
    for path in paths:
        with open(path) as file:
            hidden = json.load(file)["dims"]["hidden"]
        sets["narrow" if hidden <= NARROW_LIMIT else "wide"][0].append(path)
    return sets


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tool", required=True)
    parser.add_argument("--device", action="append")
    parser.add_argument("--target", action="append")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--full", action="store_true", help="every row count, also of wide rows")
    parser.add_argument("--random", type=int, default=0, help="so many random contracts instead")
    parser.add_argument("--op", action="append", help="random contracts of this operator alone")
    parser.add_argument("--atom", action="append", help="products by this atom; may be repeated")
    parser.add_argument("--keep", help="write contracts and packages here and leave them")
    options = parser.parse_args()
    options.device = options.device or ["cpu"]
    with tempfile.TemporaryDirectory() as scratch:
        directory = options.keep or scratch
        paths = generate.write(
            os.path.join(directory, "contracts"), options.seed, options.rounds, options.random, options.op, options.atom
        )
        sets = {
            "random%02d" % i: (paths[at : at + CHUNK], RANDOM)
            for i, at in enumerate(range(0, len(paths), CHUNK))
        }
        if not options.random:
            sets = sets_of_widths(paths, options.full)
        worst, variants, launches, digests = 0, 0, 0, set()
        for number, (name, (contracts, rows)) in enumerate(sets.items()):
            # Every level of the CPU, for some of the many.
            targets = options.target or (host_targets(number) if options.random else ["cpu"])
            package = os.path.join(directory, name + ".pkg")
            start = time.monotonic()
            compile_package(options, package, contracts, targets)
            compiled = time.monotonic()
            code, report = check_package(options, package, rows)
            if name == "narrow":
                witness(options, package)
            checked = time.monotonic()
            print("%s: %d contracts, %d variants on %s, %d launches, %d differing elements; "
                  "compile %.0f s, check %.0f s" % (
                      name, len(contracts), len(report["variants"]), " ".join(report["devices"]),
                      sum(one["launches"] for one in report["variants"]), report["differing"],
                      compiled - start, checked - compiled))  # fmt: skip
            for one in report["variants"]:
                if one["first"]:
                    print("DIFFERS %s %s on %s: %s" % (
                        one["name"], one["variant"], one["device"], json.dumps(one["first"])))  # fmt: skip
            for digest in report["without_evidence"]:
                print("INCOMPLETE " + digest)
            worst = max(worst, code)
            variants += len(report["variants"])
            digests.update(one["contract"] for one in report["variants"])
            launches += sum(one["launches"] for one in report["variants"])
    if not launches:
        worst = worst or 4
    print("seed %d, %d contracts (%d digests), %d variants: %s" % (
        options.seed, len(paths), len(digests), variants, "0 differing bytes" if not worst else "exit %d" % worst))  # fmt: skip
    return worst


if __name__ == "__main__":
    sys.exit(main())
