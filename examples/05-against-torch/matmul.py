# matmul.py - products of matrices of packages beside cuBLAS, through PyTorch
# Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Times the products of Qwen3-8B and PyTorch's on the same tensors in one
process, contenders taken in turn, medians. Few rows: as CUDA graphs of many
launches on weights that rotate through more memory than any cache keeps. Many
rows: sustained, as such a graph, and cold, one launch at a time after the cache
was overwritten. Bytes are compared with torch's and between the roles. Of a
mixture of experts, moe_gate_up and moe_down, --rows are tokens before each goes to
eight experts. Without PyTorch or without a GPU it says so and measures nothing."""
import argparse
import json
import math
import os
import statistics
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, HERE)
import bench
import grouped
import package_kernel
import products

SHAPES = {**products.SHAPES, **grouped.SHAPES}
LIBRARY = os.path.join(ROOT, "contracts", "library")
ROWS = (1, 16, 64, 128, 512, 4096)
MANY_ROWS = 128 # from here on also cold
CACHE, PAUSE = 128 << 20, 0.002
GRAPH_BYTES = 8 << 30  # that a graph of few rows moves: about 2 ms


def cold_all(torch, contenders, rounds):
    """Median microseconds of a launch on memory that no cache holds."""
    flushed = torch.empty(CACHE, dtype=torch.uint8, device="cuda")
    samples = {name: [] for name in contenders}
    for round_ in range(rounds + 3):
        for name, call in contenders.items():
            time.sleep(PAUSE)
            flushed.fill_(round_ % 251)
            start, end = (torch.cuda.Event(enable_timing=True)
                          for _ in range(2))
            start.record()
            call(round_)
            end.record()
            end.synchronize()
            if round_ >= 3:
                samples[name].append(1000 * start.elapsed_time(end))
    return {name: statistics.median(times) for name, times in samples.items()}


def measure(torch, arguments, shape, tokens, rounds, steady):
    case = SHAPES[shape]
    rows = case.rows(tokens)
    name = f"{case.folder}/{case.contract}"
    count = case.sets(rows)
    sets = [case.tensors(torch, rows)]
    while len(sets) < count:
        sets.append(case.tensors(torch, rows, sets[-1]))
    kernels = {role: package_kernel.Kernel(*arguments, name, role,
                                           case.dims(rows))
               for role in bench.ROLES}
    y = sets[0][-1]
    weights_of = range(1, 1 + case.weights)
    peers = case.peers(torch)
    # What a peer makes once for each set is made before anything is captured.
    for peer in peers.values():
        for each in sets:
            peer(*each)
    # The first peer is cuBLAS's own.
    theirs = next(iter(peers.values()))(*sets[0]).clone()
    bits = {}
    for role, kernel in kernels.items():
        y.fill_(float("nan"))
        kernel.bind(torch, sets[0])()
        torch.cuda.synchronize()
        bits[role] = y.view(torch.int16).clone()
    roles_differ = int((bits["train"] != bits["rollout"]).sum())
    # A row alone must have the bytes that it has among all rows.
    alone_differ = 0
    for row in {0, rows // 2, rows - 1}:
        lone = case.alone(torch, sets[0], row)
        kernels["rollout"].bind(torch, lone)()
        torch.cuda.synchronize()
        alone_differ += int((lone[-1].view(torch.int16)[0] !=
                             bits["rollout"][row]).sum())

    def launches_of(kernel):
        bound = {}

        def call(i): # bound to the stream that is current where it is made
            key = i % count, torch.cuda.current_stream().cuda_stream
            if key not in bound:
                bound[key] = kernel.bind(torch, sets[i % count],
                                         weights_of if steady else ())
            bound[key]()
        return call

    def peer_calls(peer):
        return lambda i: peer(*sets[i % count])

    contenders = {role: launches_of(kernels[role]) for role in bench.ROLES}
    variants = {role: kernel.variant(sets[0], torch)
                for role, kernel in kernels.items()}
    if variants["train"] == variants["rollout"]:
        del contenders["rollout"]
    for peer, call in peers.items():
        contenders[peer] = peer_calls(call)
    launches = max(4, count // 8)
    if rows < MANY_ROWS: # whole rotations, so many that a graph's begin is little
        launches = count * math.ceil(GRAPH_BYTES / (count * case.moved(rows)))
    medians, notes = bench.time_all(torch, contenders, launches, rounds)
    gone = [peer for peer in peers if peer in notes]
    if gone:
        print(f"{shape}, {rows} rows: no time of " +
              ", ".join(f"{peer} ({notes[peer]})" for peer in gone))
    result = {"shape": shape, "contract": name, "tokens": tokens, "rows": rows,
              "out": case.out, "in": case.reduced,
              "variants": variants, "notes": notes,
              "differ_from_cublas": int((theirs.view(torch.int16) !=
                                         bits["train"]).sum()),
              "roles_differ": roles_differ, "alone_differ": alone_differ,
              "outputs": rows * case.out, "median_us": medians}
    if rows >= MANY_ROWS:
        result["cold_us"] = cold_all(
            torch, {name: call for name, call in contenders.items()
                    if name in medians}, max(5, rounds // 2))
    return result


def fastest(times, peers):
    return min(us for name, us in times.items()
               if (name not in bench.ROLES) == peers)


def has_both(times):
    """Ours and a peer's."""
    return len({name in bench.ROLES for name in times or ()}) == 2


def line_of(result):
    flops = SHAPES[result["shape"]].flops(result["rows"])
    line = f"{result['shape']:>11}{result['rows']:>7}"
    for kind in ("median_us", "cold_us"):
        times = result.get(kind)
        if not has_both(times):
            line += f"{'-':>9}{'-':>9}{'-':>7}{'-':>7}"
            continue
        best, peer = fastest(times, False), fastest(times, True)
        line += (f"{best:>9.1f}{peer:>9.1f}{peer / best:>7.2f}"
                 f"{flops / best / 1e6:>7.0f}")
    same = result["outputs"] - result["differ_from_cublas"]
    return line + f"{same / result['outputs']:>10.4%}"


HEAD = (f"{'shape':>11}{'rows':>7}{'us':>9}{'cuBLAS':>9}{'ratio':>7}{'TF/s':>7}"
        f"{'cold us':>9}{'cuBLAS':>9}{'ratio':>7}{'TF/s':>7}{'same':>10}")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", default=os.path.join(ROOT, "build"))
    parser.add_argument("--package", help="one with CUDA kernels of the "
                        "contracts; else they are compiled")
    parser.add_argument("--rounds", type=int, default=31)
    parser.add_argument("--rows", type=lambda text: [int(n) for n in
                                                     text.split(",")],
                        default=ROWS)
    parser.add_argument("--shapes", type=lambda text: text.split(","),
                        default=products.USUAL)
    parser.add_argument("--steady", action="store_true",
                        help="say at launches that nothing writes the weights")
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

    library = os.path.join(args.build, "lib", "libbitpact.so")
    results = []
    with tempfile.TemporaryDirectory() as work:
        package = args.package
        if not package:
            package = os.path.join(work, "products.pkg")
            subprocess.run(
                [os.path.join(args.build, "bin", "bitpact"), "compile",
                 *sorted({os.path.join(LIBRARY, SHAPES[s].folder,
                                       SHAPES[s].contract + ".json")
                          for s in args.shapes}),
                 "-o", package, "--target", "cuda:sm_90a"],
                check=True, stdout=subprocess.DEVNULL)
        torch.manual_seed(1)
        print(f"{torch.cuda.get_device_name()}, torch {torch.__version__}, "
              f"medians of {args.rounds} rounds; sustained, then cold; ratio: "
              "cuBLAS's time to ours; same: outputs with cuBLAS's bytes")
        print(HEAD)
        for shape in args.shapes:
            for tokens in args.rows:
                results.append(measure(torch, (library, package), shape,
                                       tokens, args.rounds, args.steady))
                print(line_of(results[-1]), flush=True)
                torch.cuda.empty_cache()
    for tokens in args.rows:
        ratios = [fastest(r["median_us"], True) / fastest(r["median_us"], False)
                  for r in results
                  if r["tokens"] == tokens and has_both(r["median_us"])]
        if ratios:
            print(f"{tokens:>7} rows: geometric mean {statistics.geometric_mean(ratios):.3f}, "
                  f"least {min(ratios):.3f}")
    wrong = sum(r["roles_differ"] + r["alone_differ"] for r in results)
    print(f"train and rollout, a row alone and among others: {wrong} differing "
          "outputs")
    if args.json:
        with open(args.json, "w", encoding="utf-8") as file:
            json.dump({"device": torch.cuda.get_device_name(),
                       "torch": torch.__version__, "rounds": args.rounds,
                       "results": results}, file, indent=2)
            file.write("\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
