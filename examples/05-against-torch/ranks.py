# ranks.py - a product divided among ranks has the bytes of the whole, on a GPU
# Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A contract whose sum has the parts of eight ranks is computed as a whole, and as
what 1, 2, 4 and 8 ranks compute each, whose f32 sums PyTorch then adds pairwise, as an
all-reduce in that order would. All outputs are compared. `--write` only writes the
contracts, for a machine that compiles them."""
import argparse
import json
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, HERE)
import package_kernel

LINEAR = os.path.join(ROOT, "contracts", "library", "qwen3-8b", "linear.json")
PARTS, HIDDEN, OUT, ROWS = 8, 4096, 4096, (1, 16, 130, 1024)


def share(ranks):
    """What one of so many ranks computes: its own parts, and how they meet."""
    own, length = PARTS // ranks, HIDDEN // PARTS
    digits, merge = "step:* k:16", ["k fused(dot.nv(16,25))", "step chain"]
    if own > 1:
        digits, merge = f"rank:{own}@{length} {digits}", [*merge, "rank pairwise"]
    return {"bitpact": 1, "extends": LINEAR, "name": f"ranks/{ranks}",
            "dims": {"in": HIDDEN // ranks, "out": OUT}, "types": {"y": "f32"},
            "rounding": {"y": "f32 rne"},
            "nodes": {"dot": {"partition": digits, "merge": merge}}}


def write(directory):
    os.makedirs(directory, exist_ok=True)
    paths = []
    for ranks in (1, 2, 4, 8):
        paths.append(os.path.join(directory, f"ranks{ranks}.json"))
        with open(paths[-1], "w", encoding="utf-8") as file:
            json.dump(share(ranks), file, indent=2)
    return paths


def pairwise(sums):
    while len(sums) > 1:
        sums = [a + b for a, b in zip(sums[::2], sums[1::2])]
    return sums[0]


def compare(torch, library, package):
    wrong = 0
    weight = torch.randn(OUT, HIDDEN, dtype=torch.bfloat16, device="cuda") / 64
    for rows in ROWS:
        x = torch.randn(rows, HIDDEN, dtype=torch.bfloat16, device="cuda")
        results = {}
        for ranks in (1, 2, 4, 8):
            kernel = package_kernel.Kernel(library, package, f"ranks/{ranks}",
                                           "train", {"tokens": rows})
            sums = []
            for part, own in zip(x.chunk(ranks, 1), weight.chunk(ranks, 1)):
                y = torch.full((rows, OUT), float("nan"), device="cuda")
                # Each rank holds its columns as tensors of their own.
                kernel.bind(torch, [part.contiguous(), own.contiguous(), y])()
                sums.append(y)
            results[ranks] = pairwise(sums)
        torch.cuda.synchronize()
        differ = {ranks: int((y.view(torch.int32) !=
                              results[1].view(torch.int32)).sum())
                  for ranks, y in results.items()}
        wrong += sum(differ.values())
        print(f"{rows:>5} rows, {rows * OUT} outputs; differing from the whole on "
              + ", ".join(f"{r} ranks: {n}" for r, n in differ.items()), flush=True)
    return wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", default=os.path.join(ROOT, "build"))
    parser.add_argument("--package", help="one with CUDA kernels of the contracts")
    parser.add_argument("--write", metavar="DIR", help="write the contracts, no more")
    args = parser.parse_args()
    if args.write:
        print(*write(args.write), sep="\n")
        return 0
    try:
        import torch
    except ImportError:
        print("skipped: there is no PyTorch here")
        return 0
    if not torch.cuda.is_available():
        print("skipped: PyTorch sees no GPU here")
        return 0
    library = os.path.join(args.build, "lib", "libbitpact.so")
    with tempfile.TemporaryDirectory() as work:
        package = args.package
        if not package:
            package = os.path.join(work, "ranks.pkg")
            subprocess.run([os.path.join(args.build, "bin", "bitpact"), "compile",
                            *write(work), "-o", package, "--target", "cuda:sm_90a"],
                           check=True, stdout=subprocess.DEVNULL)
        wrong = compare(torch, library, package)
    print(f"{wrong} differing outputs")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
