# layer.py - the products of a decoder layer in one CUDA graph, counted by the device
# Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""layer.py [--build build] [--rows 1,16,256] [--replays N] [--work DIR] compiles
the products of a layer of Qwen3-8B (qkv, o with its residual, swiglu in one kernel
and in two, down), captures them in one graph, replays it, and compares bytes with
those of plain launches. Beside each launch the graph counts on the device, so that
`bitpact gate` can say whether the records tell of every launch that ran. Needs a
GPU and PyTorch; ends without them."""
import argparse
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
for folder in ("05-against-torch", "06-trace"):
    sys.path.insert(0, os.path.join(HERE, "..", folder))
import package_kernel
import records

HIDDEN, QKV, WIDE = 4096, 6144, 12288
CONTRACTS = ["linear", "o_residual", "swiglu_separate", "silu_and_mul", "down"]
NAMES = ["qwen3-8b/" + name for name in CONTRACTS]


def parse():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", default="build")
    parser.add_argument("--package", help="made before, instead of compiling")
    parser.add_argument("--rows", default="1,16,256")
    parser.add_argument("--replays", type=int, default=100)
    parser.add_argument("--work", help="where records stay")
    return parser.parse_args()


class Layer:
    """Launches in the order of a layer, each a call site of its own."""

    def __init__(self, torch, library, package, rows):
        options = {"dtype": torch.bfloat16, "device": "cuda"}
        torch.manual_seed(rows)

        def weight(out, reduced):
            return torch.randn(out, reduced, **options) * reduced ** -0.5

        self.torch, self.rows = torch, rows
        self.residual = torch.randn(rows, HIDDEN, **options)
        self.x = torch.randn(rows, HIDDEN, **options)
        self.gate_up = weight(2 * WIDE, HIDDEN)
        gate, up = self.gate_up.split(WIDE)
        qkv = torch.empty(rows, QKV, **options)
        h, fused, two, y = (torch.empty(rows, width, **options)
                            for width in (HIDDEN, WIDE, WIDE, HIDDEN))
        both = torch.empty(rows, 2 * WIDE, **options)
        self.outputs = {"qkv": qkv, "h": h, "fused": fused, "two": two, "y": y}
        # What attention makes of qkv is no product: its queries stand for it.
        steps = [("linear", [self.x, weight(QKV, HIDDEN), qkv]),
                 ("o_residual", [qkv[:, :HIDDEN], weight(HIDDEN, HIDDEN),
                                 self.residual, h]),
                 ("swiglu_separate", [h, gate, up, fused]),
                 ("linear", [h, self.gate_up, both]),
                 ("silu_and_mul", [both[:, :WIDE], both[:, WIDE:], two]),
                 ("down", [fused, weight(HIDDEN, WIDE), y])]
        # The site is the number that records bear.
        self.counters = torch.zeros(len(steps), dtype=torch.int64,
                                    device="cuda")
        self.kernels = {
            name: package_kernel.Kernel(
                library, package, "qwen3-8b/" + name, "rollout",
                {"tokens": rows, **({"out": 2 * WIDE} if name == "linear"
                                    else {})})
            for name in CONTRACTS}
        self.steps = steps
        self.bound = None

    def bind(self):
        """On the stream that is current."""
        self.bound = [self.kernels[name].bind(self.torch, tensors, site=site)
                      for site, (name, tensors) in enumerate(self.steps)]

    def launch(self):
        for site, call in enumerate(self.bound):
            call()
            self.counters[site:site + 1].add_(1)

    def forget(self):
        for output in self.outputs.values():
            output.fill_(float("nan"))
        self.counters.zero_()

    def bytes(self):
        self.torch.cuda.synchronize()
        return {name: output.view(self.torch.int16).cpu()
                for name, output in self.outputs.items()}

    def records(self):
        return next(iter(self.kernels.values())).records()

    def counted(self):
        return {str(site): int(count)
                for site, count in enumerate(self.counters.tolist())}


def capture(torch, layer):
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        layer.bind()
        layer.launch()  # loads what PyTorch loads at a first call
    torch.cuda.synchronize()
    layer.records()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, stream=stream):
        layer.launch()
    return graph, layer.records()


def write(path, launches, counted, tokens):
    """A run of one sequence whose launches are these."""
    if os.path.exists(path):
        os.remove(path)
    writer = records.Writer(path)
    listing = records.listing(list(range(tokens)))
    writer.run(weights={"sha256": "00" * 32, "version": 1},
               rope={"kind": "neox", "base": 1000000}, mask={"kind": "causal"},
               ownership={"heads": records.whole(32),
                          "kv_heads": records.whole(8),
                          "vocabulary": records.whole(151936)},
               vocabulary=[0, 151936], logprob={"mode": "raw"},
               rng={"replay": True})
    writer.sequence("s", tokens=listing, targets=listing, active=listing,
                    positions=listing, kv=None,
                    ownership=records.whole(tokens))
    for number, launch in enumerate(launches):
        fields = {key: value for key, value in launch.items()
                  if key != "bitpact_record"}
        writer.line("bitpact_record", **{**fields, "sequence": number})
    writer.end(sequences=1, launches=len(launches), rows=0, logprobs=0,
               sites=counted, dropped=0)
    return path


def replayed(captured, count):
    """A graph's launches are recorded when they are captured; whoever replays
    it says so once for each."""
    return [{**launch, "route": "replay"} for _ in range(count)
            for launch in captured]


def run(torch, options, rows, work):
    library = os.path.join(options.build, "lib", "libbitpact.so")
    tool = os.path.join(options.build, "bin", "bitpact")
    layer = Layer(torch, library, options.package, rows)
    layer.bind()
    layer.records()
    layer.forget()
    for _ in range(options.replays):
        layer.launch()
    plain, eager = layer.bytes(), layer.records()
    assert {one["route"] for one in eager} == {"eager"}
    a = write(os.path.join(work, f"plain{rows}.jsonl"), eager,
              layer.counted(), rows)

    graph, captured = capture(torch, layer)
    assert {one["route"] for one in captured} == {"capture"}
    assert [one["site"] for one in captured] == list(range(len(layer.steps)))
    different = 0
    layer.forget()
    for _ in range(options.replays):
        for output in layer.outputs.values():
            output.fill_(float("nan"))
        graph.replay()
        again = layer.bytes()
        different += any(not torch.equal(again[name], plain[name])
                         for name in plain)
    assert not layer.records(), "a replay makes no records of its own"
    b = write(os.path.join(work, f"graph{rows}.jsonl"),
              replayed(captured, options.replays), layer.counted(), rows)
    graph.replay()  # and one that nobody writes down
    hidden = write(os.path.join(work, f"hidden{rows}.jsonl"),
                   replayed(captured, options.replays), layer.counted(), rows)
    # Once more in a row, without a look between.
    for _ in range(options.replays):
        graph.replay()
    again = layer.bytes()
    different += any(not torch.equal(again[name], plain[name])
                     for name in plain)
    gates = [subprocess.run([tool, "gate", a, other], capture_output=True,
                            text=True) for other in (b, hidden)]
    same = torch.equal(plain["fused"], plain["two"])
    print(f"rows {rows}: {options.replays} replays looked at and as many in a "
          f"row, {different} with other bytes than plain launches; swiglu in "
          f"one kernel and in two {'alike' if same else 'DIFFER'}; gate "
          f"{gates[0].returncode}, of a replay that is not written down "
          f"{gates[1].returncode}", flush=True)
    lines = gates[1].stdout.splitlines()
    print("  " + next((line for line in lines if "device counted" in line),
                      gates[1].stdout + gates[1].stderr), flush=True)
    if gates[0].returncode:
        print(gates[0].stdout + gates[0].stderr)
    return (not different and same and
            [gate.returncode for gate in gates] == [0, 4])


def main():
    options = parse()
    try:
        import torch
    except ImportError:
        print("skipped: there is no PyTorch here")
        return 0
    if not torch.cuda.is_available():
        print("skipped: there is no GPU here")
        return 0
    with tempfile.TemporaryDirectory() as scratch:
        work = options.work or scratch
        os.makedirs(work, exist_ok=True)
        if not options.package:
            library = os.path.join(HERE, "..", "..", "contracts", "library")
            options.package = os.path.join(work, "layer.pkg")
            subprocess.run(
                [os.path.join(options.build, "bin", "bitpact"), "compile",
                 *(os.path.join(library, name + ".json") for name in NAMES),
                 "-o", options.package, "--target", "cuda:sm_90a", "--role",
                 "rollout"], check=True)
        holds = [run(torch, options, int(rows), work)
                 for rows in options.rows.split(",")]
    return 0 if all(holds) else 1


if __name__ == "__main__":
    sys.exit(main())
