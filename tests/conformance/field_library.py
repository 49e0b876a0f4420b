# field_library.py - contracts/library/field rounds and merges as its sources do
# Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiles every contract of contracts/library/field for the CPU, checks the
kernels against the reference evaluator, and compares their bytes with the
sources' own threads and casts in field_sources.py. bf16 outputs hide most of a
sum's last bits, so each contract is compared twice: as it is, and derived with
f32 outputs, where a sum in another order must show."""
import argparse
import array
import json
import pathlib
import platform
import random
import re
import struct
import subprocess
import sys
import tempfile

import field_sources as s

ROOT = pathlib.Path(__file__).resolve().parents[2]
FIELD = ROOT / "contracts" / "library" / "field"
sys.path.insert(0, str(ROOT / "examples"))
import tensors

ROWS, HIDDEN, VOCAB = 3, 4096, 131072
random.seed(17)


def bf16_normal(count, mean=0.0, deviation=1.0):
    return [s.bf16(random.gauss(mean, deviation)) for _ in range(count)]


X = [bf16_normal(HIDDEN) for _ in range(ROWS)]
RESIDUAL = [bf16_normal(HIDDEN, 0, 8) for _ in range(ROWS)]
WEIGHT = bf16_normal(HIDDEN, 1, 0.25)
F32 = [[s.f32(random.gauss(0, 1)) for _ in range(HIDDEN)] for _ in range(ROWS)]
# A few thousand values of f32 only, so that exp has few arguments; bf16 as such.
LOGITS = [[round(random.gauss(0, 3) * 256) / 256 for _ in range(VOCAB)]
          for _ in range(ROWS)]
LOGITS16 = [[s.bf16(v) for v in row] for row in LOGITS]
TARGET = [random.randrange(VOCAB) for _ in range(ROWS)]


def exact(value):
    return value


def norms(squares, before, offset=None):
    """-> rows of y; `before` rounds what the weight meets."""
    def rows(wide, order=None):
        out, rounded = (exact, exact) if wide else (s.bf16, before)
        return {"y": [s.norm(x, WEIGHT, (order or squares)(x), rounded, out, offset)
                      for x in X]}
    return rows


def added(squares, kept, before):
    """x + residual; `kept` is what squares and the norm see of the sum."""
    def rows(wide, order=None):
        out, rounded = (exact, exact) if wide else (s.bf16, before)
        sums = [[s.f32(a + b) for a, b in zip(x, r)] for x, r in zip(X, RESIDUAL)]
        inner = [[kept(v) for v in h] for h in sums]
        return {"residual_out": [[s.bf16(v) for v in h] for h in sums],
                "y": [s.norm(h, WEIGHT, (order or squares)(h), rounded, out)
                      for h in inner]}
    return rows


def logprobs(source, logits=LOGITS, out=exact):
    def rows(wide, order=None):
        last = exact if wide else out
        return {"y": [[last((order or source)(row)(t))]
                      for row, t in zip(logits, TARGET)]}
    return rows


def sums(source):
    return lambda wide, order=None: {"y": [[(order or source)(x)] for x in F32]}


def serial_logprob(row):
    m, total = max(row), 0.0
    for x in row:
        total = s.f32(total + s.EXP(x, m))
    return lambda t: s.f32(s.f32(row[t] - m) - s.LOG(total))


def serial_sum(row):
    total = 0.0
    for x in row:
        total = s.f32(total + x)
    return total


def of_rows(rows):
    return lambda x: s.torch_squares(x, rows)


# Contract -> (its source, the same operator with a sum in another order)
SOURCES = {
    "apex/rms_norm": norms(s.apex_squares, s.bf16),
    "flash-attention/cross_entropy": logprobs(s.flash_attention),
    "flashinfer/fused_add_rms_norm": added(s.flashinfer_squares, exact, exact),
    "flashinfer/gemma_rms_norm": norms(s.flashinfer_squares, exact, 1.0),
    "flashinfer/rms_norm": norms(s.flashinfer_squares, exact),
    "liger/gemma_rms_norm": norms(s.balanced_squares, exact, 1.0),
    "liger/rms_norm": norms(s.balanced_squares, s.bf16),
    "megatron/vocab_parallel_cross_entropy":
        logprobs(lambda row: s.megatron(row, 8, ROWS)),
    "numpy/sum": sums(s.numpy_pairwise),
    "torch/log_softmax": logprobs(lambda row: s.torch_log_softmax(row, 4)),
    "torch/rms_norm": norms(of_rows(16), exact),
    "torch/sum": sums(lambda row: s.torch_sum(row, 1000)),
    "torch/sum_one_row": sums(lambda row: s.torch_sum(row, 1)),
    "transformers/add_rms_norm": added(of_rows(16), s.bf16, s.bf16),
    "transformers/gemma_rms_norm": norms(of_rows(16), exact, 1.0),
    "transformers/llama_rms_norm": norms(of_rows(16), s.bf16),
    "transformers/llama_rms_norm_one_row": norms(of_rows(1), s.bf16),
    "verl/logprobs_from_logits": logprobs(s.verl),
    "verl/logprobs_from_logits_bf16":
        logprobs(lambda row: s.torch_log_softmax(row, 8), LOGITS16, s.bf16),
    "vllm/fused_add_rms_norm":
        added(lambda x: s.vllm_fused_squares(x, 1024), s.bf16, s.bf16),
    "vllm/fused_add_rms_norm_256":
        added(lambda x: s.vllm_fused_squares(x, 256), s.bf16, s.bf16),
    "vllm/rms_norm": norms(s.vllm_squares, s.bf16),
}


def other_order(op):
    return (serial_sum if op == "sum" else serial_logprob if "logprob" in op
            else s.chain_of_squares)


def widened(path, contract):
    """The contract with nothing rounded below f32 behind its reductions."""
    patch = {"bitpact": 1, "extends": str(path), "name": contract["name"] + "/wide",
             "types": {"y": "f32"}, "rounding": {"y": "f32 rne"}}
    if "norm" in contract["op"]:
        patch["rounding"]["normed"] = "f32 rne"
    return patch


def encode(values, kind):
    if kind == "bf16":
        return array.array("H", [v >> 16 for v in array.array(
            "I", array.array("f", values).tobytes())]).tobytes()
    return array.array("q" if kind == "i64" else "f", values).tobytes()


def write_inputs(folder, contract):
    """-> the words of the command line"""
    data = {"weight": [WEIGHT], "residual": RESIDUAL, "target": [TARGET],
            "x": F32 if contract["op"] == "sum" else X}
    if "logprob" in contract["op"]:
        data["x"] = LOGITS16 if contract["types"]["x"] == "bf16" else LOGITS
    words = []
    for name, kind in contract["types"].items():
        if name not in data or name in ("y", "residual_out"):
            continue
        rows = data[name]
        shape = (ROWS, len(rows[0])) if len(rows) == ROWS else (len(rows[0]),)
        descr, suffix = {"bf16": ("<u2", ":bf16"), "f32": ("<f4", ""),
                         "i64": ("<i8", "")}[kind]
        tensors.write_npy(folder / f"{name}.npy", descr, shape,
                          b"".join(encode(row, kind) for row in rows))
        words += ["--input", f"{name}={folder / name}.npy{suffix}"]
    return words


def run(tool, *args):
    return subprocess.run([tool, *map(str, args)], capture_output=True, text=True)


def launch(tool, package, folder, contract):
    """-> output -> bytes"""
    outputs = [name for name in ("y", "residual_out") if name in contract["types"]]
    words = [word for name in outputs
             for word in ("--output", f"{name}={folder / name}.out.npy")]
    done = run(tool, "run", package, "--op", contract["op"],
               "--contract", contract["digest"], *write_inputs(folder, contract), *words)
    if done.returncode:
        sys.exit(f"{contract['name']}: {done.stderr}")
    return {name: tensors.read_npy(folder / f"{name}.out.npy") for name in outputs}


def expanded(tool, path):
    """The contract as `check --expand` prints it, of its operator the name."""
    done = run(tool, "check", path, "--expand")
    if "this machine has no compiler" in done.stderr:
        print("skipped: " + done.stderr.strip())
        sys.exit(77)
    if done.returncode:
        sys.exit(done.stderr)
    contract = json.loads(re.sub(r"^//.*$", "", done.stdout, flags=re.M))
    digest = re.search(r"digest ([0-9a-f]+)", done.stdout)[1]
    return {**contract, "op": contract["op"]["name"], "digest": digest}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tool", required=True)
    tool = parser.parse_args().tool
    files = {f"{p.parent.name}/{p.stem}": p for p in sorted(FIELD.glob("*/*.json"))}
    if files.keys() != SOURCES.keys():
        sys.exit(f"without a source here: {sorted(files.keys() ^ SOURCES.keys())}")
    failed = 0
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        pairs = {}
        for name, path in files.items():
            contract = expanded(tool, path)
            pairs[name] = contract, contract
            if contract["types"]["y"] != "f32":
                wide = folder / (name.replace("/", ".") + ".json")
                wide.write_text(json.dumps(widened(path, contract)), "utf-8")
                pairs[name] = contract, expanded(tool, wide)
        package = folder / "field.pkg"
        host = "cpu:x86-64-v3" if platform.machine() == "x86_64" else "cpu"
        done = run(tool, "compile", *files.values(), *folder.glob("*.json"),
                   "-o", package, "--no-cache", "--target", host)
        if done.returncode:
            sys.exit(done.stderr)
        done = run(tool, "check", package, "--rows", "1,3", "--device", "cpu")
        print(done.stdout.splitlines()[-1] if done.stdout else done.stderr)
        failed += done.returncode != 0
        for name, (contract, wide) in pairs.items():
            same = []
            for is_wide, each in ((False, contract), (True, wide)):
                actual = launch(tool, package, folder, each)
                expected = SOURCES[name](is_wide)
                same.append(all(
                    actual[output] == b"".join(encode(row, each["types"][output])
                                               for row in expected[output])
                    for output in actual))
            other = SOURCES[name](True, other_order(contract["op"]))["y"]
            seen = other != SOURCES[name](True)["y"]
            failed += not (all(same) and seen)
            print(f"{name:<40} as it is: {'equal' if same[0] else 'DIFFERS'}, "
                  f"f32 out: {'equal' if same[1] else 'DIFFERS'}, "
                  f"another order: {'differs' if seen else 'NOT SEEN'}")
    print(f"{len(files)} contracts, {failed} problems")
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
