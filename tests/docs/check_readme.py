# check_readme.py - the README shows what tools/demo prints
# Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compared is what a person reads off: contracts, roles, the hash of the
output's bytes, numbers of differing bytes. The hashes are the same on every
machine; what depends on the machine is left out: packages, times, paths, GPUs,
how many variants its tools can make. Where the model's weights cannot be had,
the demo runs on generated data, and only the shape of its table is compared."""
import argparse
import re
import subprocess
import sys

import documents

SKIPPED = ("Dependencies:", "Build:", "CUDA:", "GPU:", "Data: getting",
           "Data: not to be had", "$ ")


def essence(lines, shape_only):
    result = []
    for line in lines:
        if not line.strip() or line.startswith(SKIPPED) or " cuda:0 " in line:
            continue
        line = re.sub(r"^\S+\.pkg: (\d+) contracts, \d+ variants",
                      r"PACKAGE: \1 contracts", line)
        line = re.sub(r"(@\d+ +)[0-9a-f]{12} +\d+$", r"\1DIGEST", line)
        if shape_only:
            if line.startswith(("Data:", "      ")):
                continue
            line = re.sub(r"smollm2-135m|qwen3-8b", "MODEL", line)
            line = re.sub(r" [0-9a-f]{12} ", " HASH ", line)
            line = re.sub(r"\b[1-9]\d*(\.\d+)?\b", "N", line)
        result.append(" ".join(line.split()))
    return result


parser = argparse.ArgumentParser()
parser.add_argument("--build", required=True)
args = parser.parse_args()

blocks, _ = documents.split(documents.ROOT / "README.md")
shown = [b for b in blocks if b.lines and b.lines[0] == "$ ./tools/demo"]
if len(shown) != 1:
    sys.exit("README.md: shows no output of ./tools/demo")
demo = subprocess.run([documents.ROOT / "tools" / "demo", "--build", args.build],
                      capture_output=True, text=True)
if demo.returncode:
    sys.exit(f"tools/demo failed with {demo.returncode}\n{demo.stdout}"
             f"{demo.stderr}")
printed = demo.stdout.splitlines()
generated = any(line.startswith("Data: generated") for line in printed)
expected = essence(shown[0].lines, generated)
actual = essence(printed, generated)
if expected != actual:
    print("README.md shows\n  " + "\n  ".join(expected))
    print("tools/demo prints\n  " + "\n  ".join(actual))
    sys.exit(1)
print(f"{len(actual)} lines equal"
      + (", their shape only: generated data" if generated else ""))
