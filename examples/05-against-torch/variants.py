# variants.py - every variant of a contract, one beside the other, on a GPU
# Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Times each variant of a contract on the same tensors, as CUDA graphs of launches
on sets that rotate, medians of turns, and says which one the costs in the package
choose. The cases: experts_gate_up and experts_down of Qwen3-30B-A3B, whose --rows
are tokens before each goes to eight experts, and silu_and_mul of Qwen3-8B, beside
PyTorch's with and without its compiler, also on rows that begin one element late.
Without PyTorch or without a GPU it says so and measures nothing."""
import argparse
import os
import statistics
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, HERE)
import grouped
import package_kernel

ROWS = (1, 4, 16, 64, 256, 1024, 4096)
TURN = 4000  # microseconds at least of a contender's turn


class Experts:
    def __init__(self, case):
        self.case, self.name = case, f"{case.folder}/{case.contract}"

    def largest(self, rows):
        return self.case.dims(self.case.rows(rows))

    def sets(self, torch, rows, late):
        made = None
        for _ in range(4 if rows > 256 else 12):
            made = self.case.tensors(torch, self.case.rows(rows), made)
            yield made

    def peers(self, torch):
        return {}


class Activation:
    name, columns = "qwen3-8b/silu_and_mul", 12288

    def largest(self, rows):
        return {"tokens": rows}

    def sets(self, torch, rows, late):
        elements = rows * self.columns
        for _ in range(max(2, min(32, (160 << 20) // (6 * elements) + 1))):
            yield [torch.randn(elements + late, device="cuda",
                               dtype=torch.bfloat16)[late:].view(rows, -1)
                   for _ in range(3)]

    def peers(self, torch):
        # Behind its limit PyTorch would go on without its compiler.
        torch._dynamo.reset()

        def eager(gate, up, _):
            return torch.nn.functional.silu(gate) * up
        return {"torch": eager, "compiled": torch.compile(eager, dynamic=False)}


CASES = {"experts_gate_up": Experts(grouped.SHAPES["moe_gate_up"]),
         "experts_down": Experts(grouped.SHAPES["moe_down"]),
         "silu_and_mul": Activation()}


def replays(torch, calls):
    """A graph of what the makers of calls make in its stream, and these calls."""
    stream, graph = torch.cuda.Stream(), torch.cuda.CUDAGraph()
    with torch.cuda.stream(stream):
        bound = [make() for make in calls]
        for _ in range(2):
            for call in bound:
                call()
        stream.synchronize()
        with torch.cuda.graph(graph, stream=stream):
            for call in bound:
                call()
    return graph, bound


def medians(torch, graphs, launches, rounds):
    """Microseconds of a launch; the first round says how many replays fill a
    turn."""
    samples, turns = {name: [] for name in graphs}, dict.fromkeys(graphs, 3)
    for _ in range(rounds + 1):
        for name, (graph, _) in graphs.items():
            start, end = (torch.cuda.Event(enable_timing=True)
                          for _ in range(2))
            graph.replay()
            start.record()
            for _ in range(turns[name]):
                graph.replay()
            end.record()
            end.synchronize()
            one = 1000 * start.elapsed_time(end) / turns[name]
            samples[name].append(one / launches)
            turns[name] = max(2, min(400, int(TURN / one) + 1))
    return {name: statistics.median(times[1:])
            for name, times in samples.items()}


def measure(torch, arguments, case, rows, late):
    library, package = arguments.library, arguments.package
    largest = case.largest(rows)
    sets = list(case.sets(torch, rows, late))
    kernel = package_kernel.Kernel(library, package, case.name, "rollout",
                                   largest)
    chosen = kernel.variant(sets[0], torch)
    graphs = {}
    for entry in package_kernel.variants(package, case.name, "cuda"):
        one = package_kernel.Kernel(library, package, case.name, "rollout",
                                    largest, variant=entry)
        try:
            graphs[entry] = replays(torch, [
                lambda one=one, tensors=tensors: one.bind(torch, tensors)
                for tensors in sets])
        except RuntimeError:  # it does not take such a launch
            continue
    for name, call in case.peers(torch).items():
        graphs[name] = replays(torch, [
            lambda call=call, tensors=tensors: lambda: call(*tensors)
            for tensors in sets])
    times = medians(torch, graphs, len(sets), arguments.rounds)
    ours = {name: time for name, time in times.items() if name not in
            case.peers(torch)}
    best = min(ours, key=ours.get)
    number = lambda entry: entry.rpartition("-")[2]
    print(f"{rows:6} {'late' if late else '    '} " + " ".join(
        f"{number(name):>8} {time:8.2f}{'*' if name == chosen else ' '}"
        for name, time in times.items()) +
        f" chosen {number(chosen)}, best {number(best)}: "
        f"{ours[chosen] / ours[best]:.3f}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", default=os.path.join(ROOT, "build"))
    parser.add_argument("--package", required=True,
                        help="one with CUDA kernels of the contracts")
    parser.add_argument("--rounds", type=int, default=6)
    parser.add_argument("--rows", type=lambda text: [int(n) for n in
                                                     text.split(",")],
                        default=ROWS)
    parser.add_argument("--cases", type=lambda text: text.split(","),
                        default=list(CASES))
    args = parser.parse_args()
    try:
        import torch
    except ImportError:
        print("skipped: there is no PyTorch here")
        return 0
    if not torch.cuda.is_available():
        print("skipped: PyTorch sees no GPU here")
        return 0
    args.library = os.path.join(args.build, "lib", "libbitpact.so")
    torch.manual_seed(1)
    print(f"{torch.cuda.get_device_name()}, torch {torch.__version__}, "
          f"microseconds of a launch, medians of {args.rounds} turns; "
          "* is chosen")
    for name in args.cases:
        case = CASES[name]
        print(f"{case.name}: rows, then each variant by its number")
        for rows in args.rows:
            for late in (0, 1) if isinstance(case, Activation) else (0,):
                measure(torch, args, case, rows, late)
                torch.cuda.empty_cache()
    return 0


if __name__ == "__main__":
    sys.exit(main())
