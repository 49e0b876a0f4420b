# bench.py - rms_norm from a package beside a device copy and PyTorch's own
# Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Times 8192 x 4096 in bf16 in one process: CUDA events, contenders taken in
turn, buffers that rotate through more memory than any cache keeps, medians.
Without PyTorch or without a GPU it says so and measures nothing."""
import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, HERE)
import package_kernel

TOKENS, HIDDEN, EPS = 8192, 4096, 1e-6
CONTRACT = os.path.join(ROOT, "contracts", "library", "qwen3-8b",
                        "rms_norm.json")
SETS, LAUNCHES = 4, 8


def time_all(torch, contenders, rounds):
    """Median microseconds of one call of each contender."""
    samples = {name: [] for name in contenders}
    for round_ in range(rounds + 3):
        for name, call in contenders.items():
            start, end = (torch.cuda.Event(enable_timing=True)
                          for _ in range(2))
            start.record()
            for i in range(LAUNCHES):
                call(i % SETS)
            end.record()
            end.synchronize()
            if round_ >= 3:
                samples[name].append(1000 * start.elapsed_time(end) / LAUNCHES)
    return {name: statistics.median(times) for name, times in samples.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", default=os.path.join(ROOT, "build"))
    parser.add_argument("--package", help="one with CUDA kernels of "
                        "qwen3-8b/rms_norm; else it is compiled")
    parser.add_argument("--rounds", type=int, default=101)
    parser.add_argument("--json", help="write the numbers here as well")
    args = parser.parse_args()
    try:
        import torch
    except ImportError:
        print("skipped: there is no PyTorch here")
        return 0
    if not torch.cuda.is_available():
        print("skipped: PyTorch sees no GPU here")
        return 0

    with tempfile.TemporaryDirectory() as work:
        package = args.package
        if not package:
            package = os.path.join(work, "norm.pkg")
            subprocess.run([os.path.join(args.build, "bin", "bitpact"),
                            "compile", CONTRACT, "-o", package, "--target",
                            "cuda"], check=True, stdout=subprocess.DEVNULL)
        library = os.path.join(args.build, "lib", "libbitpact.so")
        kernels = {role: package_kernel.Kernel(library, package,
                                               "qwen3-8b/rms_norm", role,
                                               {"tokens": TOKENS})
                   for role in ("train", "rollout")}

    torch.manual_seed(1)
    options = {"dtype": torch.bfloat16, "device": "cuda"}
    x = [torch.randn(TOKENS, HIDDEN, **options) for _ in range(SETS)]
    y = [torch.empty(TOKENS, HIDDEN, **options) for _ in range(SETS)]
    weight = torch.randn(HIDDEN, **options)
    norm = torch.nn.functional.rms_norm

    calls = {role: [kernel.bind(torch, [x[i], weight, y[i]])
                    for i in range(SETS)]
             for role, kernel in kernels.items()}
    outputs = {}
    for role in calls:
        y[0].fill_(float("nan"))
        calls[role][0]()
        torch.cuda.synchronize()
        outputs[role] = y[0].view(torch.int16).clone()
    differing = int((outputs["train"] != outputs["rollout"]).sum())
    theirs = norm(x[0], (HIDDEN,), weight, EPS).view(torch.int16)
    equal = float((outputs["train"] == theirs).float().mean())

    medians = time_all(torch, {
        "device copy": lambda i: y[i].copy_(x[i]),
        "bitpact, train": lambda i: calls["train"][i](),
        "bitpact, rollout": lambda i: calls["rollout"][i](),
        "torch rms_norm": lambda i: norm(x[i], (HIDDEN,), weight, EPS),
    }, args.rounds)

    copy = medians["device copy"]
    report = {
        "device": torch.cuda.get_device_name(), "torch": torch.__version__,
        "shape": [TOKENS, HIDDEN], "type": "bf16", "rounds": args.rounds,
        "variants": {role: k.variant([x[0], weight, y[0]], torch)
                     for role, k in kernels.items()},
        "median_us": medians,
        "speed_as_share_of_copy": {n: copy / t for n, t in medians.items()},
        "differing_elements_train_rollout": differing,
        "elements_equal_to_torch": equal,
    }
    print(f"rms_norm {TOKENS} x {HIDDEN} bf16 on {report['device']}, medians of "
          f"{args.rounds} rounds")
    print(f"{'':<18}{'us':>8}{'of copy':>9}")
    for name, microseconds in medians.items():
        print(f"{name:<18}{microseconds:>8.1f}{copy / microseconds:>9.2f}")
    print(f"train and rollout: {differing} differing elements; equal to "
          f"torch's: {100 * equal:.2f} % of elements")
    if args.json:
        with open(args.json, "w", encoding="utf-8") as file:
            json.dump(report, file, indent=2)
            file.write("\n")
    return 1 if differing else 0


sys.exit(main())
