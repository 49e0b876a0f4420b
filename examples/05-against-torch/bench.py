# bench.py - kernels of packages beside device copies, PyTorch and its compiler
# Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Times row reductions in one process: contenders taken in turn, each as a
CUDA graph of many launches so that no host code is measured, on buffers that
rotate through more memory than any cache keeps as long as a launch is not
tiny; medians. Without PyTorch or without a GPU it says so and measures
nothing."""
import argparse
import glob
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

LIBRARY = os.path.join(ROOT, "contracts", "library")
ROWS, HIDDEN, EPS = (1, 8, 64, 512, 8192), 4096, 1e-6
LOGIT_ROWS = 4096
FOOTPRINT, MOST_SETS, LEAST_LAUNCHES = 512 << 20, 256, 8
ROLES = ("train", "rollout")


def norm_case(torch, rows):
    """Reads x and the weight, writes y."""
    options = {"dtype": torch.bfloat16, "device": "cuda"}
    weight = torch.randn(HIDDEN, **options)

    def make():
        return [torch.randn(rows, HIDDEN, **options), weight,
                torch.empty(rows, HIDDEN, **options)]

    def theirs(x, w, _):
        return torch.nn.functional.rms_norm(x, (HIDDEN,), w, EPS)
    return make, theirs, [2]


def add_norm_case(torch, rows):
    """Reads x, the residual and the weight, writes the sum and its norm."""
    options = {"dtype": torch.bfloat16, "device": "cuda"}
    weight = torch.randn(HIDDEN, **options)

    def make():
        wide = [torch.randn(rows, HIDDEN, **options) for _ in range(4)]
        return [wide[0], wide[1], weight, wide[2], wide[3]]

    def theirs(x, residual, w, *_):
        total = x + residual
        return total, torch.nn.functional.rms_norm(total, (HIDDEN,), w, EPS)
    return make, theirs, [3, 4]


def logprob_case(torch, rows, vocabulary, stored, index):
    """Reads logits, writes the log-probability of one target a row."""
    def make():
        logits = torch.randn(rows, stored, device="cuda")
        target = torch.randint(vocabulary, (rows,), device="cuda", dtype=index)
        return [logits, target, torch.empty(rows, device="cuda")]

    def theirs(logits, target, _):
        scores = torch.log_softmax(logits[:, :vocabulary], -1)
        return scores.gather(-1, target.long()[:, None])
    return make, theirs, [2]


def graph_of(torch, calls, launches):
    """A replay of `launches` launches, or why there is none."""
    stream, kept = torch.cuda.Stream(), []
    with torch.cuda.stream(stream):
        for i in range(3):
            calls(i)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, stream=stream):
        for i in range(launches):
            kept.append(calls(i)) # every result has memory of its own
    return graph, kept


def time_all(torch, contenders, launches, rounds):
    """Median microseconds of one launch of each contender."""
    graphs, samples, notes = {}, {}, {}
    for name, calls in contenders.items():
        try:
            graphs[name] = graph_of(torch, calls, launches)
            samples[name] = []
        except Exception as error: # a compiler may be missing here
            notes[name] = str(error).strip().split("\n")[0]
    for round_ in range(rounds + 3):
        for name, (graph, _) in graphs.items():
            start, end = (torch.cuda.Event(enable_timing=True)
                          for _ in range(2))
            start.record()
            graph.replay()
            end.record()
            end.synchronize()
            if round_ >= 3:
                samples[name].append(1000 * start.elapsed_time(end) / launches)
    return {name: statistics.median(times)
            for name, times in samples.items()}, notes


def measure(torch, arguments, name, rows, case, rounds):
    make, theirs, outputs = case
    first = make()
    moved = sum(t.numel() * t.element_size() for t in first)
    count = max(2, min(MOST_SETS, FOOTPRINT // moved))
    sets = [first] + [make() for _ in range(count - 1)]
    half = moved // 2 // 4
    source = [torch.ones(half, device="cuda") for _ in range(count)]
    goal = [torch.empty(half, device="cuda") for _ in range(count)]

    kernels = {role: package_kernel.Kernel(*arguments, name, role,
                                           {"tokens": rows})
               for role in ROLES}
    bits = {}
    for role, kernel in kernels.items():
        for i in outputs:
            first[i].fill_(float("nan"))
        kernel.bind(torch, first)()
        torch.cuda.synchronize()
        bits[role] = [first[i].view(torch.uint8).clone() for i in outputs]
    differing = sum(int((a != b).sum())
                    for a, b in zip(bits["train"], bits["rollout"]))

    def launches_of(kernel):
        bound = {}

        def call(i): # bound to the stream that is current where it is made
            stream = torch.cuda.current_stream().cuda_stream
            key = i % count, stream
            if key not in bound:
                bound[key] = kernel.bind(torch, sets[i % count])
            bound[key]()
        return call

    torch._dynamo.reset()
    compiled = torch.compile(theirs, dynamic=False)
    contenders = {"copy": lambda i: goal[i % count].copy_(source[i % count])}
    if len(first) == 3 and first[2].dim() == 1: # what is read decides
        contenders["read"] = lambda i: torch.sum(sets[i % count][0])
    for role in ROLES:
        contenders[role] = launches_of(kernels[role])
    contenders["torch"] = lambda i: theirs(*sets[i % count])
    contenders["compile"] = lambda i: compiled(*sets[i % count])
    launches = max(count, LEAST_LAUNCHES)
    medians, notes = time_all(torch, contenders, launches, rounds)
    return {"contract": name, "rows": rows, "bytes": moved,
            "median_us": medians, "notes": notes, "differing_bytes": differing,
            "variants": {role: kernel.variant(first, torch)
                         for role, kernel in kernels.items()}}


def show(results):
    """Times, then how fast both roles are as a multiple of the others."""
    for contract in dict.fromkeys(r["contract"] for r in results):
        own = [r for r in results if r["contract"] == contract]
        names = list(dict.fromkeys(n for r in own for n in r["median_us"]))
        peers = [n for n in names if n not in ROLES]
        print(f"\n{contract}, microseconds; then {', '.join(ROLES)} as a "
              "multiple of the speed of")
        print(f"{'rows':>6}" + "".join(f"{n:>9}" for n in names) + "  |" +
              "".join(f"{n:>12}" for n in peers))
        for r in own:
            us = r["median_us"]
            line = f"{r['rows']:>6}" + "".join(
                f"{us[n]:>9.2f}" if n in us else f"{'-':>9}" for n in names)
            line += "  |"
            for peer in peers:
                ratios = [f"{us[peer] / us[role]:.2f}" if peer in us else "-"
                          for role in ROLES]
                line += f"{' '.join(ratios):>12}"
            print(line)
        for note in dict.fromkeys(f"{n}: {text}" for r in own
                                  for n, text in r["notes"].items()):
            print(f"  without {note}")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", default=os.path.join(ROOT, "build"))
    parser.add_argument("--package", help="one with CUDA kernels of the "
                        "contracts; else they are compiled")
    parser.add_argument("--rounds", type=int, default=101)
    parser.add_argument("--rows", type=lambda text: [int(n) for n in
                                                     text.split(",")],
                        default=ROWS)
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
            package = os.path.join(work, "rows.pkg")
            subprocess.run(
                [os.path.join(args.build, "bin", "bitpact"), "compile",
                 os.path.join(LIBRARY, "qwen3-8b", "rms_norm.json"),
                 os.path.join(LIBRARY, "qwen3-8b", "add_rms_norm.json"),
                 *glob.glob(os.path.join(LIBRARY, "*", "selected_logprob*")),
                 "-o", package, "--target", "cuda"],
                check=True, stdout=subprocess.DEVNULL)
        torch.manual_seed(1)
        for contract in package_kernel.contracts(package):
            name, op = contract["name"], contract["op"]["name"]
            cases = []
            if name == "qwen3-8b/rms_norm":
                cases = [(n, norm_case(torch, n)) for n in args.rows]
            elif name == "qwen3-8b/add_rms_norm":
                cases = [(n, add_norm_case(torch, n)) for n in args.rows]
            elif op == "selected_logprob":
                stored = contract["dims"]["vocab"]
                domain = next(iter(contract["nodes"].values()))["domain"]
                if isinstance(domain, dict):
                    domain = domain["vocab"]["extent"]
                else:
                    domain = stored
                index = {"i32": torch.int32, "i64": torch.int64}[
                    contract["types"]["target"]]
                if stored != "*" and set(contract["types"].values()) <= {
                        "f32", "i32", "i64"}:
                    cases = [(LOGIT_ROWS, logprob_case(
                        torch, LOGIT_ROWS, domain, stored, index))]
            for rows, case in cases:
                results.append(measure(torch, (library, package), name, rows,
                                       case, args.rounds))
                torch.cuda.empty_cache()

    print(f"{torch.cuda.get_device_name()}, torch {torch.__version__}, medians "
          f"of {args.rounds} rounds; a copy and a read of the bytes that the "
          "kernel moves")
    show(results)
    differing = sum(r["differing_bytes"] for r in results)
    print(f"\ntrain and rollout: {differing} differing bytes")
    if args.json:
        with open(args.json, "w", encoding="utf-8") as file:
            json.dump({"device": torch.cuda.get_device_name(),
                       "torch": torch.__version__, "rounds": args.rounds,
                       "results": results}, file, indent=2)
            file.write("\n")
    return 1 if differing else 0


if __name__ == "__main__":
    sys.exit(main())
