# records.py - gate, trace and run --rows: messages, exit codes, JSON
# Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import hashlib
import json
import struct

import tool
from tool import ToolTest, floats, npy, npy_data, run_tool

W, CONTRACT, CODE = "a" * 64, "1" * 64, "2" * 64


def run_line(**more):
    line = {
        "bitpact_run": 1,
        "weights": {"sha256": W, "version": 7},
        "rope": {"kind": "neox"},
        "mask": {"kind": "causal"},
        "ownership": {
            name: {"extent": 8, "shards": "whole"} for name in ("heads", "kv_heads", "vocabulary")
        },
        "vocabulary": [0, 8],
        "logprob": {"mode": "raw"},
        "rng": {"replay": True},
    }
    return {**line, **more}


def sequence_line(**more):
    line = {
        "bitpact_sequence": 1,
        "sequence": "s",
        "tokens": [1, 2],
        "targets": [2, 3],
        "active": [1, 1],
        "positions": [0, 1],
        "kv": None,
        "ownership": {"extent": 2, "shards": "whole"},
    }
    return {**line, **more}


def row_line(position=0, layer=0, site="norm", data=b"x", **more):
    line = {
        "bitpact_row": 1,
        "sequence": "s",
        "position": position,
        "layer": layer,
        "site": site,
        "hash": hashlib.sha256(data).hexdigest()[:32],
        "dtype": "f32",
        "contract": CONTRACT,
        "code": CODE,
    }
    return {**line, **more}


class RecordTest(ToolTest):
    def write(self, name, *lines):
        with open(self.path(name), "w") as file:
            for line in lines:
                file.write(json.dumps(line) + "\n")
        return self.path(name)

    def setUp(self):
        super().setUp()
        self.a = self.write("a.jsonl", run_line(), sequence_line(), row_line(0), row_line(1))


class Gate(RecordTest):
    def test_the_same(self):
        out = self.holds("gate", self.a, self.a).out
        self.assertIn("comparable = true: 17 fields are the same", out)
        self.assertIn("contract digests: 0 of 1 sites differ", out)
        report = self.holds("gate", self.a, self.a, "--json").json()
        self.assertEqual(report["comparable"], True)
        self.assertEqual(report["status"], 0)

    def test_not_comparable(self):
        b = self.write("b.jsonl", run_line(vocabulary=[0, 7]), sequence_line(targets=[2, 4]),
                       row_line(0))  # fmt: skip
        out = self.fails(
            3, "gate", self.a, b,
            says="comparable = false: targets, sequence s, position 1: 3 in A, 4 in B",
        ).out  # fmt: skip
        self.assertIn("and 1 more; --all shows them", out)
        self.assertNotIn("vocabulary", out)
        self.fails(3, "gate", self.a, b, "--all", says="vocabulary: [0, 8) in A, [0, 7) in B")
        report = run_tool("gate", self.a, b, "--json").json()
        self.assertEqual(report["comparable"], False)
        self.assertEqual(report["status"], 3)
        self.assertEqual(
            report["fields"][0],
            {"field": "targets", "sequence": "s", "position": 1, "a": "3", "b": "4"},
        )

    def test_digests(self):
        b = self.write("b.jsonl", run_line(), sequence_line(), row_line(contract="3" * 64))
        out = self.fails(1, "gate", self.a, b, says="contract digests: 1 of 1 sites differ").out
        self.assertIn("layer 0 norm\n    A  111111111111\n    B  333333333333", out)
        # A package names its own.
        listed = self.holds("inspect", self.package("sum.pkg"), "--json").json()["contracts"][0]
        b = self.write("b.jsonl", run_line(), sequence_line(),
                       row_line(contract=listed["digest"],
                                code=listed["variants"][0]["code"]["sha256"]))  # fmt: skip
        self.fails(1, "gate", self.a, b, "--package", self.package("sum.pkg"),
                   says=["B  test/sum " + listed["digest"][:12],
                         listed["variants"][0]["id"]])  # fmt: skip

    def test_incomplete(self):
        head = run_line()
        del head["mask"]
        b = self.write("b.jsonl", head, sequence_line(), row_line())
        self.fails(4, "gate", self.a, b, says=["not decided", "incomplete: B: mask is missing"])
        self.fails(4, "gate", self.a, self.write("b.jsonl"), says="B: no record in the file")
        with open(self.a) as file:
            text = file.read()
        with open(self.path("b.jsonl"), "w") as file:
            file.write(text[:-30])
        self.fails(4, "gate", self.a, b, says="B: line 4, the last one, is cut after")
        with open(self.path("b.jsonl"), "w") as file:
            file.write(text[:-30] + text)
        self.fails(4, "gate", self.a, b, says="B: line 4:")
        end = {"bitpact_end": 1, "rows": 3}
        b = self.write("b.jsonl", run_line(), sequence_line(), row_line(), end)
        self.fails(4, "gate", self.a, b, says="B: bitpact_end counts 3 row records, the file has 1")

    def test_mistakes(self):
        def attempt(says, *lines):
            self.fails(2, "gate", self.a, self.write("b.jsonl", *lines), says=says)

        attempt("b.jsonl:2:1: error: bitpact_row has version 2", run_line(), {"bitpact_row": 2})
        attempt("b.jsonl:1:1: error: no record", {"row": 1})
        attempt("'position' is \"0\", must be an integer from 0", row_line(position="0"))
        attempt("does not fit in 64 bits", row_line(position=2**70))
        attempt("weights.version is not what an earlier record", run_line(),
                run_line(weights={"version": 8}))  # fmt: skip
        with open(self.path("b.jsonl"), "wb") as file:
            file.write(json.dumps(row_line()).encode() + b'\n{"bitpact_end":1,"note":"\xff"}\n')
        self.fails(2, "gate", self.a, self.path("b.jsonl"), says=["b.jsonl:2:", "not UTF-8"])
        with open(self.path("b.jsonl"), "wb") as file:
            file.write(b"\x93NUMPY")
        self.fails(2, "gate", self.a, self.path("b.jsonl"), says="b.jsonl:1:")
        self.fails(2, "gate", self.a, self.path("none.jsonl"), says="none.jsonl")
        self.fails(2, "gate", self.a, self.scratch, says="cannot read")
        self.fails(2, "gate", self.a, self.a, "--package", self.path("none.pkg"), says="none.pkg")


class Trace(RecordTest):
    def test_the_same(self):
        self.assertIn("no row that both runs have differs: 1 sites",
                      self.holds("trace", self.a, self.a).out)  # fmt: skip

    def test_the_first_site(self):
        rows = [row_line(p, layer, site) for layer in (1, 0) for site in ("z", "b") for p in (0, 1)]
        a = self.write("a2.jsonl", run_line(), sequence_line(), *rows)
        changed = [
            {**row, "hash": "0" * 32} if row["layer"] == 1 and row["position"] == 1 else row
            for row in reversed(rows)
        ]
        b = self.write("b.jsonl", *changed, sequence_line(), run_line())
        out = self.fails(1, "trace", a, b, says="first site that differs: layer 1 z").out
        self.assertIn("first   sequence s, position 1", out)
        self.assertIn("one contract, one code", out)
        self.assertIn("2 sites are equal; --all shows them", out)
        report = run_tool("trace", a, b, "--json").json()
        self.assertEqual(report["status"], 1)
        self.assertEqual([site["differing"] for site in report["sites"]], [0, 0, 1, 1])
        self.assertEqual((report["first"]["layer"], report["first"]["site"]), (1, "z"))

    def test_missing_and_repeated(self):
        b = self.write("b.jsonl", run_line(), sequence_line(), row_line(0))
        self.fails(4, "trace", self.a, b, says="layer 0 norm: 1 rows are only in A")
        self.holds("trace", self.a, b, "--common")
        b = self.write("b.jsonl", run_line(), sequence_line(), row_line(0), row_line(1),
                       row_line(1, data=b"y"))  # fmt: skip
        self.fails(1, "trace", self.a, b,
                   says="not deterministic: 0 rows in A and 1 in B have several hashes; first "
                        "sequence s, position 1 in B")  # fmt: skip

    def test_not_comparable(self):
        b = self.write("b.jsonl", run_line(weights={"sha256": W, "version": 8}), sequence_line(),
                       row_line(data=b"y"))  # fmt: skip
        out = self.fails(3, "trace", self.a, b, says="comparable = false: weights.version").out
        self.assertNotIn("first site", out)
        b = self.write("b.jsonl", row_line(0), row_line(1))
        self.fails(4, "trace", self.a, b, says="B: no bitpact_run record, which the other run has")

    def test_the_split(self):
        def logprobs(**roles):
            return [
                {"bitpact_logprob": 1, "sequence": "s", "position": p, "role": role,
                 "dtype": "f32", "bits": struct.pack(">f", value).hex()}
                for role, values in roles.items()
                for p, value in enumerate(values)
            ]  # fmt: skip

        a = self.write("a2.jsonl", *logprobs(training=[-1.0, -2.0]))
        b = self.write("b.jsonl", *logprobs(prefill=[-1.5, -2.0], decode=[-1.5, -2.25],
                                            recorded=[-1.5, -2.25]))  # fmt: skip
        out = self.fails(1, "trace", a, b, "--clip", "0.2,0.28",
                         says="the 3 sums add up to the total, exactly").out  # fmt: skip
        self.assertIn("note: neither file has a bitpact_run record", out)
        self.assertRegex(out, r"training - prefill +50.00 % +0.5 +0.25 +0.5  sequence s, position 0")
        self.assertRegex(out, r"prefill - decode +50.00 % +0.25 ")
        self.assertRegex(out, r"decode - recorded +0.00 % +0 +0 +0 +-")
        self.assertRegex(out, r"total: training - recorded +100.00 % +0.75 ")
        # exp(0.5) > 1.28, exp(0.25) = 1.284.
        self.assertIn("clipped: 2 tokens above 1 + 0.28, 0 below 1 - 0.2; first sequence s, "
                      "position 0", out)  # fmt: skip
        tokens = self.path("tokens.jsonl")
        self.assertEqual(run_tool("trace", a, b, "--per-token", tokens).code, 1)
        with open(tokens) as file:
            lines = [json.loads(line) for line in file]
        self.assertEqual([line["differences"] for line in lines],
                         [[0.5, 0, 0, 0.5], [0, 0.25, 0, 0.25]])  # fmt: skip
        for clip in ("0.2", "1.5,2", "0,1", "0.1,0.2,0.3"):
            self.fails(2, "trace", a, b, "--clip", clip, says="--clip takes LOW,HIGH")
        self.fails(4, "trace", a, self.write("b.jsonl", *logprobs(recorded=[-1])),
                   says="1 tokens without a recorded log-prob")  # fmt: skip


class Rows(RecordTest):
    def launch(self, *more, rows=3, values=None):
        values = values or [(i * 37 % 101 - 50) / 64 for i in range(rows * 43)]
        npy(self.path("x.npy"), (rows, 43), floats(values))
        return ["run", self.package("sum.pkg"), "--op", "sum", "--input",
                "x=" + self.path("x.npy"), "--output", "y=" + self.path("y.npy"),
                *more]  # fmt: skip

    def test_rows_are_added(self):
        record = self.path("run.jsonl")
        rows = ("--record", record, "--rows", "--layer", "3", "--site", "total", "--keep",
                self.path("kept"))  # fmt: skip
        self.holds(*self.launch(*rows, "--sequence-lengths", "1,2"))
        _, data = npy_data(self.path("y.npy"))
        with open(record) as file:
            launch, *lines = [json.loads(line) for line in file]
        self.assertEqual(launch["bitpact_record"], 1)
        self.assertEqual([(one["sequence"], one["position"]) for one in lines],
                         [("0", 0), ("1", 0), ("1", 1)])  # fmt: skip
        for r, one in enumerate(lines):
            self.assertEqual(one["hash"],
                             hashlib.sha256(data[4 * r : 4 * r + 4]).hexdigest()[:32])  # fmt: skip
            self.assertEqual((one["layer"], one["site"], one["dtype"], one["row"]),
                             (3, "total", "f32", r))  # fmt: skip
            self.assertEqual((one["contract"], one["code"]), (launch["contract"], launch["code"]))
        # The same rows in another batch, and one of them otherwise.
        with open(self.path("positions.json"), "w") as file:
            json.dump([["1", 1], ["0", 0], [1, 0]], file)
        values = [(i * 37 % 101 - 50) / 64 for i in range(3 * 43)]
        turned = values[86:] + values[:86]
        for changed, code in ((0, 0), (1 / 64, 1)):
            other = self.path("other%d.jsonl" % code)
            turned[0] += changed
            self.holds(*self.launch("--record", other, *rows[2:], "--positions",
                                    self.path("positions.json"), values=turned))  # fmt: skip
            result = run_tool("trace", record, other)
            self.assertEqual(result.code, code, result.out)
        self.assertIn("first   sequence 1, position 1", result.out)
        self.assertIn("1 of 1 elements differ in 1 rows", result.out)

    def test_mistakes_leave_nothing(self):
        record = ("--record", self.path("r.jsonl"))
        self.fails(2, *self.launch("--rows"), says="add --record FILE",
                   leaves=["a.jsonl", "x.npy"])  # fmt: skip
        self.fails(2, *self.launch(*record, "--layer", "3"), says="--layer is for row records")
        self.fails(2, *self.launch(*record, "--rows", "--sequence-lengths", "2,2"),
                   says="do not add up to the 3 rows of output 'y'")  # fmt: skip
        self.fails(2, *self.launch(*record, "--rows", "--sequence-lengths", "0,3"),
                   says="--sequence-lengths has 0")  # fmt: skip
        with open(self.path("p.json"), "w") as file:
            json.dump([["s", 1], ["s", -2], ["s", 3]], file)
        self.fails(2, *self.launch(*record, "--rows", "--positions", self.path("p.json")),
                   says='p.json: error: entry 1 is ["s",-2]')  # fmt: skip
        with open(self.path("p.json"), "w") as file:
            json.dump([["s", 1]], file)
        self.fails(2, *self.launch(*record, "--rows", "--positions", self.path("p.json")),
                   says="names 1 rows, output 'y' has 3")  # fmt: skip


if __name__ == "__main__":
    tool.main("__main__")
