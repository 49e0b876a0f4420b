# run.py - two engines, one of which rounds once more: recorded, gated, traced
# Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Three RMSNorms, one after the other, and the log-probability of a token. The
rollout engine's last norm rounds before the weight; everything else is one
contract on both sides. Training scores all tokens at once, rollout prefills all
and replays the decode one position at a time. With --work DIRECTORY the records
stay there: training.jsonl and rollout.jsonl."""
import argparse
import json
import os
import struct
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, os.path.dirname(HERE))
sys.path.insert(0, HERE)
import records
import tensors

NORM = os.path.join(ROOT, "contracts", "library", "smollm2-135m",
                    "rms_norm.json")
ROUNDED = os.path.join(ROOT, "examples", "03-variant", "rounded.json")
LENGTHS, LAYERS, HIDDEN = (5, 7), 3, 576
ROWS = [(str(s), p) for s, n in enumerate(LENGTHS) for p in range(n)]
TOKENS = [[(7 * s + 31 * p) % HIDDEN for p in range(n)]
          for s, n in enumerate(LENGTHS)]
TARGETS = [tokens[1:] + [11] for tokens in TOKENS]
WEIGHTS = "5e" * 32  # of no real checkpoint


class Engine:
    def __init__(self, tool, work, name, norms):
        self.tool, self.work, self.name, self.norms = tool, work, name, norms
        self.record = os.path.join(work, name + ".jsonl")
        self.keep = os.path.join(work, name)
        if os.path.exists(self.record):
            os.remove(self.record)
        self.writer = records.Writer(self.record)

    def path(self, name):
        return os.path.join(self.work, name)

    def launch(self, op, contract, role, rows, layer, site, inputs, output):
        with open(self.path("positions.json"), "w") as file:
            json.dump(rows, file)
        self.tool("run", self.path("model.pkg"), "--op", op,
                  "--contract", contract, "--role", role,
                  *(part for pair in inputs for part in ("--input", pair)),
                  "--output", output, "--record", self.record, "--rows",
                  "--positions", self.path("positions.json"),
                  "--layer", str(layer), "--site", site, "--keep", self.keep)

    def score(self, kernels, role, rows, x):
        """Log-probabilities of some rows, and records of what they went
        through. x: the bytes of every row's input."""
        data = b"".join(x[row] for row in rows)
        tensors.write_npy(self.path("x.npy"), "<u2", (len(rows), HIDDEN), data)
        source = "x.npy:bf16"
        for layer, contract in enumerate(self.norms):
            target = f"y{layer}.safetensors:y"
            self.launch("rms_norm", contract, kernels, rows, layer, "norm",
                        [f"x={self.path(source)}",
                         f"weight={self.path('weight.npy')}:bf16"],
                        f"y={self.path(target)}")
            source = target
        targets = [TARGETS[int(s)][p] for s, p in rows]
        tensors.write_npy(self.path("target.npy"), "<i8", (len(rows),),
                          struct.pack(f"<{len(rows)}q", *targets))
        self.launch("selected_logprob", "example/logprob", kernels, rows,
                    LAYERS, "logprob", [f"x={self.path(source)}",
                                        f"target={self.path('target.npy')}"],
                    f"y={self.path('logprob.npy')}")
        values = struct.unpack(f"<{len(rows)}f",
                               tensors.read_npy(self.path("logprob.npy")))
        for (sequence, position), value in zip(rows, values):
            self.writer.logprob(sequence, position, role, value)
        return dict(zip(rows, values))

    def describe(self, kv, heads):
        """What must be the same for the runs to be comparable."""
        self.writer.run(
            weights={"sha256": WEIGHTS, "version": 1200},
            rope={"kind": "neox", "base": 100000}, mask={"kind": "causal"},
            ownership={"heads": heads, "kv_heads": records.whole(3),
                       "vocabulary": records.whole(HIDDEN)},
            vocabulary=[0, HIDDEN], logprob={"mode": "raw"},
            rng={"replay": True})
        for s, tokens in enumerate(TOKENS):
            self.writer.sequence(
                str(s), tokens=tokens, targets=TARGETS[s],
                active=[1] * len(tokens), positions=list(range(len(tokens))),
                kv=kv(s, tokens), ownership=records.whole(len(tokens)))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bitpact", default=os.path.join(ROOT, "build", "bin",
                                                          "bitpact"))
    parser.add_argument("--work")
    args = parser.parse_args()
    bitpact = os.path.abspath(args.bitpact)
    scratch = tempfile.TemporaryDirectory()
    work = args.work or scratch.name
    os.makedirs(work, exist_ok=True)

    def tool(*arguments, expected=0):
        done = subprocess.run([bitpact, *arguments], stdout=subprocess.PIPE,
                              text=True)
        if done.returncode != expected:
            sys.exit(f"bitpact {' '.join(arguments)} ended with "
                     f"{done.returncode}, not {expected}\n{done.stdout}")
        return done.stdout

    tool("compile", NORM, ROUNDED, os.path.join(HERE, "logprob.json"),
         "--target", "cpu", "-o", os.path.join(work, "model.pkg"))
    tensors.write_npy(os.path.join(work, "weight.npy"), "<u2", (HIDDEN,),
                      tensors.bf16_bytes(
                          1 + v / 8 for v in tensors.normal_values(HIDDEN, 2)))
    values = tensors.bf16_bytes(tensors.normal_values(len(ROWS) * HIDDEN, 1))
    x = {row: values[i * 2 * HIDDEN:(i + 1) * 2 * HIDDEN]
         for i, row in enumerate(ROWS)}

    good, other = "smollm2-135m/rms_norm", "smollm2-135m/rms_norm_rounded"
    training = Engine(tool, work, "training", [good, good, good])
    training.describe(lambda s, tokens: None, {
        "extent": 9, "shards": [{"rank": r, "ranges": [[3 * r, 3 * r + 3]]}
                                for r in range(3)]})
    training.score("train", "training", ROWS, x)

    rollout = Engine(tool, work, "rollout", [good, good, other])
    rollout.describe(lambda s, tokens: records.paged(tokens, 4, WEIGHTS,
                                                     100 * s), records.whole(9))
    rollout.score("rollout", "prefill", ROWS, x)
    for position in range(max(LENGTHS)):
        rows = [row for row in ROWS if row[1] == position]
        for (s, p), value in rollout.score("rollout", "decode", rows, x).items():
            # What the sampler wrote down when it drew the token.
            rollout.writer.logprob(s, p, "recorded", value)

    package = os.path.join(work, "model.pkg")
    print(tool("gate", training.record, rollout.record, "--package", package,
               expected=1), end="")
    print(tool("trace", training.record, rollout.record, "--package", package,
               "--clip", "0.2,0.28", expected=1), end="")
    report = json.loads(tool("trace", training.record, rollout.record,
                             "--package", package, "--json", expected=1))
    # The planted difference, and nothing before it.
    assert [site["differing"] > 0 for site in report["sites"]] == [
        False, False, True, True], report["sites"]
    assert report["first"]["layer"] == 2 and report["first"]["site"] == "norm"
    changes = report["delta"]["changes"]
    assert [change["field"] for change in changes] == ["R"], changes
    # Rollout's prefill and decode replay keep one contract: bit for bit.
    nonzero = [term["nonzero"] for term in report["logprobs"]["terms"]]
    assert nonzero[0] > 0 and nonzero[1:] == [0, 0], nonzero
    tool("trace", rollout.record, rollout.record)


main()
