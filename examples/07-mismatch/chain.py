# chain.py - a policy small enough to read, run by two engines
# Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""chain.py run NAME CONTRACT compiles the contract of the norm, runs two layers
and the log-probabilities of four sequences, and records them in NAME.jsonl.
chain.py compare A B says on how many positions the log-probabilities differ.

What lies between the norms of a model is left out: the output of one is the
input of the next, and that of the last one is the row of logits."""
import argparse
import array
import hashlib
import json
import os
import random
import shutil
import struct
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, os.path.dirname(HERE))
import tensors

LENGTHS, HIDDEN = [40, 24, 31, 33], 4096
TOKENS = sum(LENGTHS)


def write_inputs():
    """The embedded tokens, the residual stream, two weights, the targets."""
    if os.path.exists("inputs"):
        return
    os.mkdir("inputs")
    for seed, (name, shape, mean, deviation) in enumerate([
            ("x", (TOKENS, HIDDEN), 0, 1), ("residual", (TOKENS, HIDDEN), 0, 4),
            ("weight0", (HIDDEN,), 1, 0.2), ("weight1", (HIDDEN,), 3, 0.5)]):
        count = shape[0] * (shape[1] if len(shape) > 1 else 1)
        tensors.write_npy(f"inputs/{name}.npy", "<u2", shape, tensors.bf16_bytes(
            mean + deviation * v for v in tensors.normal_values(count, seed + 1)))
    tensors.write_npy("inputs/target.npy", "<i8", (TOKENS,),
                      array.array("q", targets()).tobytes())


def targets():
    return random.Random(5).choices(range(HIDDEN), k=TOKENS)


def header(file):
    """What the gate compares; kernels write the other lines themselves."""
    weights = hashlib.sha256(b"".join(
        tensors.read_npy(f"inputs/weight{layer}.npy") for layer in (0, 1)))
    file.write(json.dumps({
        "bitpact_run": 1, "weights": {"sha256": weights.hexdigest(), "version": 1},
        "rope": {"kind": "none"}, "mask": {"kind": "causal"},
        "ownership": {axis: {"extent": extent, "shards": "whole"} for axis, extent
                      in (("heads", 1), ("kv_heads", 1), ("vocabulary", HIDDEN))},
        "vocabulary": [0, HIDDEN], "logprob": {"mode": "raw"},
        "rng": {"replay": True}}) + "\n")
    tokens, at = targets(), 0
    for sequence, length in enumerate(LENGTHS):
        file.write(json.dumps({
            "bitpact_sequence": 1, "sequence": sequence,
            "tokens": tokens[at:at + length], "targets": tokens[at:at + length],
            "active": [1] * length, "positions": list(range(length)),
            "kv": None, "ownership": {"extent": length, "shards": "whole"}}) + "\n")
        at += length


def run(args):
    write_inputs()
    shutil.rmtree(args.name, ignore_errors=True)
    os.mkdir(args.name)
    record, package = args.name + ".jsonl", args.name + ".pkg"
    with open(record, "w") as file:
        header(file)
    tool([args.bitpact, "compile", args.contract, os.path.join(HERE, "logprob.json"),
          "-o", package, "--target", "cpu"])

    def launch(layer, site, op, inputs, outputs):
        tool([args.bitpact, "run", package, "--op", op, "--role", args.role,
              *(word for i in inputs for word in ("--input", i)),
              *(word for o in outputs for word in
                ("--output", f"{o[0]}={args.name}/{o[1]}.npy")),
              "--record", record, "--rows", "--layer", str(layer), "--site", site,
              "--sequence-lengths", ",".join(map(str, LENGTHS)),
              "--keep", args.name + "/kept"])

    x, residual = "inputs/x.npy", "inputs/residual.npy"
    for layer in (0, 1):
        launch(layer, "norm", "add_rms_norm",
               [f"x={x}:bf16", f"residual={residual}:bf16",
                f"weight=inputs/weight{layer}.npy:bf16"],
               [("y", f"y{layer}"), ("residual_out", f"residual{layer}")])
        x, residual = (f"{args.name}/{name}{layer}.npy" for name in ("y", "residual"))
    launch(2, "logprob", "selected_logprob",
           [f"x={x}:bf16", "target=inputs/target.npy"], [("y", "logprob")])


def tool(command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        sys.exit(" ".join(command) + "\n" + done.stderr)


def compare(args):
    a, b = (array.array("f", tensors.read_npy(f"{name}/logprob.npy"))
            for name in (args.a, args.b))
    differing = sum(struct.pack("f", x) != struct.pack("f", y) for x, y in zip(a, b))
    print(f"log-probabilities differ on {differing} of {len(a)} positions "
          f"({100 * differing / len(a):.0f} %), by up to "
          f"{max(abs(x - y) for x, y in zip(a, b)):.4f}")
    return differing != 0


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bitpact", default=os.path.join(ROOT, "build/bin/bitpact"))
    commands = parser.add_subparsers(required=True)
    one = commands.add_parser("run")
    one.add_argument("name")
    one.add_argument("contract")
    one.add_argument("--role", default="train")
    one.set_defaults(do=run)
    two = commands.add_parser("compare")
    two.add_argument("a")
    two.add_argument("b")
    two.set_defaults(do=compare)
    args = parser.parse_args()
    return args.do(args)


sys.exit(main())
