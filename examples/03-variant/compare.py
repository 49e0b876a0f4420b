# compare.py - what a variant says otherwise, and how many elements that moves
# Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""rounded.json derives from SmolLM2's norm in one line: the normalised values
are rounded to bf16 before the weight is applied, as some engines do."""
import argparse
import json
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, os.path.dirname(HERE))
import tensors

TOKENS, HIDDEN = 64, 576
BASE = os.path.join(ROOT, "contracts", "library", "smollm2-135m",
                    "rms_norm.json")
VARIANT = os.path.join(HERE, "rounded.json")


def differences(a, b, path=""):
    """Every place where two expanded contracts differ, but for names."""
    if isinstance(a, dict) and isinstance(b, dict):
        for key in sorted(a.keys() | b.keys()):
            if path or key not in ("name", "doc"):
                yield from differences(a.get(key), b.get(key),
                                       f"{path}.{key}" if path else key)
    elif a != b:
        yield path, a, b


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bitpact", default=os.path.join(ROOT, "build", "bin",
                                                          "bitpact"))
    bitpact = os.path.abspath(parser.parse_args().bitpact)

    def tool(*arguments):
        return subprocess.run([bitpact, *arguments], check=True,
                              stdout=subprocess.PIPE, text=True).stdout

    expanded = json.loads(tool("check", "--expand", "--json", BASE, VARIANT))
    base, variant = (one["canonical"] for one in expanded["contracts"])
    print("The two contracts differ in:")
    for place, before, after in differences(base, variant):
        print(f"  {place}: {before} -> {after}")
    assert expanded["contracts"][0]["digest"] != expanded["contracts"][1][
        "digest"]

    outputs = []
    with tempfile.TemporaryDirectory() as work:
        def here(name):
            return os.path.join(work, name)
        x = tensors.bf16_bytes(tensors.normal_values(TOKENS * HIDDEN, 1))
        weight = tensors.bf16_bytes(
            1 + v / 8 for v in tensors.normal_values(HIDDEN, 2))
        tensors.write_npy(here("x.npy"), "<u2", (TOKENS, HIDDEN), x)
        tensors.write_npy(here("weight.npy"), "<u2", (HIDDEN,), weight)
        tool("compile", BASE, VARIANT, "-o", here("both.pkg"))
        for contract in (base, variant):
            tool("run", here("both.pkg"), "--op", "rms_norm",
                 "--contract", contract["name"],
                 "--input", f"x={here('x.npy')}:bf16",
                 "--input", f"weight={here('weight.npy')}:bf16",
                 "--output", f"y={here('y.npy')}")
            outputs.append(tensors.read_npy(here("y.npy")))
    count = tensors.differing_elements(*outputs, 2)
    print(f"{count} of {TOKENS * HIDDEN} elements differ; "
          f"{100 - 100 * count / (TOKENS * HIDDEN):.1f} % are equal")
    return 0 if count else 1


sys.exit(main())
