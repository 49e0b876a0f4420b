# experts.py - compiled products of experts: witness, ablation, reveal
# Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import json
import os

import tool
from tool import ToolTest, npy_data, run_tool

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SMALL = os.path.join(ROOT, "contracts", "library", "examples", "grouped_matmul.json")
FMA = os.path.join(ROOT, "tests", "field", "contracts", "experts.json")


class Experts(ToolTest):
    def derived(self, name, base, patch):
        with open(self.path(name + ".json"), "w") as file:
            json.dump({"bitpact": 1, "extends": base, "name": "test/" + name, **patch}, file)
        return self.path(name + ".json")

    def compiled(self):
        package = self.path("experts.pkg")
        self.holds("compile", FMA, "-o", package, "--target", "cpu", "--no-cache")
        return package

    def test_kernels_of_cpus_are_checked(self):
        report = self.holds("check", self.compiled(), "--device", "cpu", "--rows", "1,5,33", "--dim", "in=63",
                            "--dim", "out=33", "--json").json()  # fmt: skip
        self.assertTrue(report["equal"])

    def test_a_witness_and_its_kernels(self):
        base = self.derived("base", SMALL, {"types": {"y": "f32"}, "rounding": {"y": "f32 rne"}})
        patch = {"nodes": {"dot": {"partition": "part:2@112 step:* k:16",
                                   "merge": ["k fused(dot.nv(16,25))", "step chain", "part fold"]}}}  # fmt: skip
        other = self.derived("other", base, patch)
        files = self.path("files")
        result = run_tool("diff", base, other, "--witness", "--witness-out", files, "--json")
        self.assertEqual(result.code, 1, result.err)
        witness = result.json()["witness"]
        self.assertTrue(witness["found"])
        self.assertEqual(witness["first"]["name"], "dot")
        self.assertEqual(witness["dims"]["tokens"], 1)
        self.assertLessEqual(len(witness["inputs"]["x"]["but"]), 3)
        package = self.path("base.pkg")
        self.holds("compile", base, "-o", package, "--target", "cpu", "--no-cache")
        y = self.path("y.npy")
        self.holds("run", package, "--op", "grouped_matmul", "--output", "y=" + y,
                   "--input", f"offsets={files}/offsets.npy", "--input", f"x={files}/x.npy:bf16",
                   "--input", f"weight={files}/weight.npy:bf16")  # fmt: skip
        bits = int.from_bytes(npy_data(y)[1][:4], "little")
        self.assertEqual(f"{bits:#010x}", witness["first"]["a"]["bits"])

    def test_ablation_isolates_the_cut(self):
        patch = {"nodes": {"dot": {"partition": "part:2@112 step:* k:16",
                                   "merge": ["k fused(dot.nv(16,25))", "step chain", "part fold"]}},
                 "types": {"y": "f32"}, "rounding": {"y": "f32 rne"}}  # fmt: skip
        report = run_tool("ablate", SMALL, self.derived("cut", SMALL, patch), "--rows", "5", "--json").json()
        single = [step for step in report["steps"] if step["single"]]
        self.assertIn({"Π", "T"}, [{change["field"] for change in step["changes"]} for step in single])

    def test_reveal_finds_the_chain_of_a_kernel(self):
        report = self.holds("reveal", self.compiled(), "--op", "grouped_matmul", "--json").json()
        for tree in report["trees"]:
            self.assertTrue(tree["equal"])
            self.assertEqual(tree["depth"], tree["terms"] - 1)
        self.assertEqual(report["trees"][0]["fragment"]["nodes"]["dot"]["merge"], ["d0 chain"])


if __name__ == "__main__":
    import sys

    if "--tool" in sys.argv:
        tool.TOOL = os.path.abspath(sys.argv[sys.argv.index("--tool") + 1])
    tool.needs_compiler()
    tool.main("__main__")
