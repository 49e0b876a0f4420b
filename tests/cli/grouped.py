# grouped.py - rows between offsets: run, check, bench, reveal and records
# Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import json
import struct

import tool
from tool import ToolTest, floats, npy, npy_data, safetensors

# Rows 1 2, 3 4, 5 6; two experts with three columns each.
X = [1, 2, 3, 4, 5, 6]
WEIGHT = [[1, 0], [0, 1], [1, 1], [2, 0], [0, 3], [-1, 1]]


def ints(values):
    return struct.pack("<%di" % len(values), *values)


def expected(offsets):
    """By hand: the product of each row with its expert's columns."""
    values = []
    for row in range(3):
        expert = max(e for e in range(len(offsets) - 1) if offsets[e] <= row)
        a, b = X[2 * row : 2 * row + 2]
        values += [a * p + b * q for p, q in WEIGHT[3 * expert : 3 * expert + 3]]
    return floats(values)


class Grouped(ToolTest):
    def inputs(self, offsets, weight=None):
        npy(self.path("offsets.npy"), [len(offsets)], ints(offsets), "<i4")
        npy(self.path("x.npy"), [3, 2], floats(X))
        npy(self.path("weight.npy"), [2, 3, 2], floats([value for row in WEIGHT for value in row]))
        files = {name: self.path(name + ".npy") for name in ("x", "weight", "offsets")}
        files["weight"] = weight or files["weight"]
        return [word for name, file in files.items() for word in ("--input", f"{name}={file}")]

    def run_on(self, *inputs):
        y = self.path("y.npy")
        return "run", self.package("grouped.pkg"), "--op", "grouped", *inputs, "--output", "y=" + y

    def test_run_from_npy_and_safetensors(self):
        record = self.path("run.jsonl")
        for offsets in ([0, 1, 3], [0, 0, 3], [0, 3, 3], [0, 3], [0, 2, 3, 3]):
            self.holds(*self.run_on(*self.inputs(offsets)), "--record", record)
            header, data = npy_data(self.path("y.npy"))
            self.assertIn("(3, 3)", header)
            self.assertEqual(data, expected(offsets))
        with open(record) as file:
            lines = [json.loads(line) for line in file]
        dims = [line["dims"] for line in lines if "dims" in line][-1]
        self.assertEqual(dims, {"tokens": 3, "experts": 2, "boundaries": 4, "out": 3, "hidden": 2})
        # A tensor of three dims of a model's file.
        weight = floats([value for row in WEIGHT for value in row])
        model = safetensors(self.path("model.safetensors"), {"w": ("F32", [2, 3, 2], weight)})
        self.holds(*self.run_on(*self.inputs([0, 1, 3], weight=model + ":w")))
        self.assertEqual(npy_data(self.path("y.npy"))[1], expected([0, 1, 3]))

    def test_offsets_that_cut_no_blocks_write_nothing(self):
        for offsets in ([0, 2, 2], [0, 2, 1, 3], [1, 2, 3], [0, 1, 2, 3], [3]):
            self.inputs(offsets)
            self.fails(2, *self.run_on(*self.inputs(offsets)), says="offsets do not ascend from 0 to their extent")

    def test_shapes_that_do_not_fit(self):
        for shape, says in (([6, 2], "shape [6, 2] has 2 axes, the contract has [experts, out, hidden]"),
                            ([2, 2, 3], "axis 2 (hidden) is 3; input 'x' has hidden = 2")):  # fmt: skip
            given = self.inputs([0, 1, 3])
            npy(self.path("weight.npy"), shape, floats([0] * 12))
            self.fails(2, *self.run_on(*given), says=says)

    def test_check_and_bench(self):
        report = self.holds("check", self.package("grouped.pkg"), "--device", "cpu", "--rows", "1,5,33",
                            "--dim", "hidden=1,30", "--dim", "out=9", "--json").json()  # fmt: skip
        self.assertTrue(report["equal"])
        report = self.holds("bench", self.package("grouped.pkg"), "--device", "cpu", "--rows", "9", "--dim", "hidden=64",
                            "--dim", "out=32", "--dim", "experts=4", "--dim", "boundaries=5", "--json").json()  # fmt: skip
        self.assertTrue(report["results"])

    def test_reveal_finds_the_chain(self):
        report = self.holds("reveal", self.package("grouped.pkg"), "--op", "grouped", "--dim", "hidden=40",
                            "--json").json()  # fmt: skip
        tree = report["trees"][0]
        self.assertTrue(tree["equal"])
        self.assertEqual((tree["terms"], tree["depth"]), (40, 39))
        self.assertEqual(tree["recognised"]["merge"], ["d0 chain"])


if __name__ == "__main__":
    tool.main("__main__")
