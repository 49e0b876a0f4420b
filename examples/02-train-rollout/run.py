# run.py - the main job: one norm in two roles, from two kinds of files
# Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Training and rollout launch different kernels of one contract on the same
activations. Their outputs are compared byte by byte, and with those of a
contract that rounds once more, which must differ."""
import argparse
import hashlib
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, os.path.dirname(HERE))
import real_text
import tensors

SMOLLM2 = (576, "smollm2-135m/rms_norm", "smollm2-135m/rms_norm_rounded")
QWEN3 = (4096, "qwen3-8b/rms_norm", "qwen3-8b/rms_norm_rounded")


def make_data(work):
    """Writes x and weight in both kinds of files."""
    real = real_text.embedded_text()
    if real:
        hidden, contract, other = SMOLLM2
        tokens, x, weight = real
        print(f"Data: LICENSE as {tokens} tokens (longest match), embedded by "
              "SmolLM2-135M;\n      weight: its first attention norm")
    else:
        hidden, contract, other = QWEN3
        tokens = 256
        x = tensors.bf16_bytes(tensors.normal_values(tokens * hidden, 1))
        weight = tensors.bf16_bytes(
            1 + v / 8 for v in tensors.normal_values(hidden, 2))
        print(f"Data: generated, {tokens} tokens in Qwen3-8B's shape, since "
              "SmolLM2-135M's weights\n      are not to be had here")
    tensors.write_safetensors(
        os.path.join(work, "in.safetensors"),
        {"x": ("BF16", (tokens, hidden), x), "weight": ("BF16", (hidden,),
                                                        weight)})
    tensors.write_npy(os.path.join(work, "x.npy"), "<u2", (tokens, hidden), x)
    tensors.write_npy(os.path.join(work, "weight.npy"), "<u2", (hidden,),
                      weight)
    return tokens * hidden, contract, other


def launch(args, contract, role, device, source):
    """Runs the tool and returns the bytes of y."""
    inputs = {"safetensors": ["x=in.safetensors:x",
                              "weight=in.safetensors:weight"],
              "npy": ["x=x.npy:bf16", "weight=weight.npy:bf16"]}[source]
    output = f"y-{role}-{device.replace(':', '')}-{source}.npy"
    command = [args.bitpact, "run", args.package, "--op", "rms_norm",
               "--contract", contract, "--role", role, "--device", device,
               "--input", inputs[0], "--input", inputs[1],
               "--output", "y=" + output, "--record", "run.jsonl"]
    done = subprocess.run(command, cwd=args.work, capture_output=True,
                          text=True)
    if done.returncode:
        sys.exit(f"{' '.join(command)}\n{done.stderr}")
    return tensors.read_npy(os.path.join(args.work, output))


def has_gpu(args):
    """Whether there is a GPU here and the package has kernels for it."""
    command = [args.bitpact, "run", args.package, "--op", "rms_norm",
               "--contract", args.contract, "--device", "cuda:0",
               "--input", "x=x.npy:bf16", "--input", "weight=weight.npy:bf16",
               "--output", "y=probe.npy"]
    done = subprocess.run(command, cwd=args.work, capture_output=True,
                          text=True)
    if done.returncode:
        print("GPU: not used: "
              + done.stderr.strip().splitlines()[0].removeprefix("error: "))
    return done.returncode == 0


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bitpact", default=os.path.join(ROOT, "build", "bin",
                                                          "bitpact"))
    parser.add_argument("--package", help="else it is compiled, for the CPU")
    parser.add_argument("--work", default="out", help="where files go")
    args = parser.parse_args()
    args.bitpact = os.path.abspath(args.bitpact)
    os.makedirs(args.work, exist_ok=True)
    if not args.package:
        args.package = os.path.join(args.work, "norm.pkg")
        library = os.path.join(ROOT, "contracts", "library")
        subprocess.run(
            [args.bitpact, "compile", "-o", args.package,
             os.path.join(library, "smollm2-135m", "rms_norm.json"),
             os.path.join(ROOT, "examples", "03-variant", "rounded.json"),
             os.path.join(library, "qwen3-8b", "rms_norm.json"),
             os.path.join(library, "qwen3-8b", "rms_norm_rounded.json")],
            check=True, stdout=subprocess.DEVNULL)
    args.package = os.path.abspath(args.package)

    elements, args.contract, other = make_data(args.work)
    devices = ["cpu"] + (["cuda:0"] if has_gpu(args) else [])
    print("\nThe same activations in the training and in the rollout role "
          "(y in bf16):\n")
    line = "{:<29} {:<7} {:<6} {:<11} {:<12} {}"
    print(line.format("contract", "role", "device", "read from", "sha256 of y",
                      "differing bytes"))
    first, wrong = None, 0
    for device in devices:
        for source in ("safetensors", "npy"):
            for role in ("train", "rollout"):
                y = launch(args, args.contract, role, device, source)
                first = first or y
                differing = sum(a != b for a, b in zip(first, y))
                wrong += differing != 0 or len(y) != len(first)
                print(line.format(args.contract, role, device, source,
                                  hashlib.sha256(y).hexdigest()[:12],
                                  differing))
    y = launch(args, other, "train", "cpu", "npy")
    count = tensors.differing_elements(first, y, 2)
    print(line.format(other, "train", "cpu", "npy",
                      hashlib.sha256(y).hexdigest()[:12],
                      sum(a != b for a, b in zip(first, y))))
    print(f"\nOne contract: {'0 differing bytes' if not wrong else 'BYTES DIFFER'}"
          " in every role, on every device, from every file.")
    print(f"The other contract rounds before the weight, so it must differ: "
          f"{100 * (elements - count) / elements:.1f} %\nof its elements are "
          f"equal, {count} of {elements} are not.")
    return 1 if wrong or not count else 0


sys.exit(main())
