# prebuilt.py - packages made on one machine and checked on another, in one call
# Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""prebuilt.py build DIRECTORY --tool bitpact [--target cuda:sm_90a] [--count N]
compiles the shipped contracts and N generated ones, each into a package of its
own. prebuilt.py check DIRECTORY --tool bitpact [--device cuda:0] needs no
compiler: every variant of every package against the oracle, byte by byte. Ends
with 1 on a difference, 4 if a package showed nothing, 77 without the device."""
import argparse
import concurrent.futures
import glob
import json
import os
import subprocess
import sys

import generate

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SKIP = 77


def run(*args):
    return subprocess.run([str(arg) for arg in args], capture_output=True, text=True)


def build(options):
    os.makedirs(options.directory, exist_ok=True)
    texts = os.path.join(options.directory, "contracts")
    # Structures that somebody chose, and as many that nobody did.
    half = options.count // 2
    chosen = generate.write(os.path.join(texts, "chosen"), options.seed)
    chosen = chosen[:: max(1, len(chosen) // half)][:half]
    random = generate.write(os.path.join(texts, "random"), options.seed, random_count=max(60, half))
    paths = sorted(glob.glob(os.path.join(ROOT, "contracts/library/*/*.json")))
    paths = [path for path in paths if os.path.basename(path) != "model.json"]
    paths += chosen + random[: options.count - len(chosen)]

    def one(path):
        name = os.path.basename(os.path.dirname(path)) + "_" + os.path.basename(path)[:-5]
        package = os.path.join(options.directory, name + ".pkg")
        done = run(options.tool, "compile", path, "-o", package, "--target", options.target)
        return package, done.returncode, done.stderr

    worst = lacking = 0
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for package, code, words in pool.map(one, paths):
            if code == 2 and "[A4]" in words:
                print("%s: left out, %s has no such atom" % (package, options.target))
                lacking += 1
            elif code:
                print("%s: %s" % (package, words))
                worst = max(worst, code)
    size = sum(
        os.path.getsize(os.path.join(top, file))
        for top, _, files in os.walk(options.directory)
        for file in files
    )
    print("%d packages for %s, %.1f MB" % (len(paths) - lacking, options.target, size / 1e6))
    return worst


def check(options):
    packages = sorted(glob.glob(os.path.join(options.directory, "*.pkg")))
    worst = elements = launches = variants = 0
    for package in packages:
        done = run(options.tool, "check", package, "--device", options.device, "--rows",
                   options.rows, "--seed", options.seed, "--repeat", options.repeat, "--json")  # fmt: skip
        try:
            report = json.loads(done.stdout)
        except ValueError:
            report = {}
        if "variants" not in report:
            words = done.stderr.strip() or done.stdout
            if "device '" in words:
                print("skipped: " + words)
                return SKIP
            print("FAILED %s: %d %s" % (package, done.returncode, words))
            worst = max(worst, done.returncode if done.returncode > 0 else 1)
            continue
        for one in report["variants"]:
            elements += one["elements"]
            launches += one["launches"]
            variants += 1
            if one["first"]:
                print("DIFFERS %s %s: %s" % (package, one["variant"], json.dumps(one["first"])))
        if done.returncode:
            print("%s: exit %d" % (package, done.returncode))
        worst = max(worst, done.returncode)
    print("%d packages, %d variants on %s, rows %s: %d launches, %d outputs, %s" % (
        len(packages), variants, options.device, options.rows, launches, elements,
        "0 differing bytes" if not worst else "exit %d" % worst))  # fmt: skip
    return worst if packages else 4


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("action", choices=["build", "check"])
    parser.add_argument("directory")
    parser.add_argument("--tool", required=True)
    parser.add_argument("--target", default="cuda:sm_90a")
    parser.add_argument("--device", default="cuda:0")
    parser.add_argument("--count", type=int, default=112)
    parser.add_argument("--rows", default="1,2,33,257,1025")
    parser.add_argument("--repeat", default="2")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    return build(options) if options.action == "build" else check(options)


if __name__ == "__main__":
    sys.exit(main())
