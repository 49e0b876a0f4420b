# compiler.py - compile, check and fmt of contract files, and their messages
# Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import copy
import json
import os

import tool
from tool import ToolTest, run_tool

GOOD = {
    "bitpact": 1,
    "name": "test/norm",
    "op": "rms_norm@1",
    "dims": {"tokens": "*", "hidden": 64},
    "types": {"x": "bf16", "weight": "bf16", "y": "bf16"},
    "params": {"eps": "1e-6 f32"},
    "nodes": {
        "sum_sq": {
            "domain": "hidden",
            "partition": "sweep:* lane:8",
            "merge": ["sweep chain", "lane halving"],
            "start": "identity",
            "precision": {"product": "exact", "accumulator": "f32"},
        }
    },
    "rounding": {"mean_sq": "f32 rne", "normed": "f32 rne", "y": "bf16 rne"},
    "primitives": {"sum_sq.step": "dot.fma.f32", "rsqrt": "rsqrt.div_sqrt.f32"},
}


class Compile(ToolTest):
    def contract(self, change=None, name="norm.json"):
        contract = copy.deepcopy(GOOD)
        if change:
            change(contract)
        return self.text(json.dumps(contract, indent=2), name)

    def text(self, text, name="norm.json"):
        with open(self.path(name), "w") as file:
            file.write(text)
        return self.path(name)

    def refused(self, path, rule, *says, command="compile"):
        """The message has a line and the rule, and nothing is left behind."""
        args = [command, path]
        if command == "compile":
            args += ["-o", self.path("out.pkg")]
        result = self.fails(2, *args, says=says)
        self.assertRegex(result.err, r"norm\.json:\d+:\d+: error: ")
        if rule:
            self.assertIn("[%s]" % rule, result.err)

    def node(self, **fields):
        return lambda contract: contract["nodes"]["sum_sq"].update(fields)

    def test_a_contract_becomes_a_package_that_holds(self):
        contract = self.contract()
        package = self.path("out.pkg")
        self.assertIn("test/norm", self.holds("compile", contract, "-o", package).out)
        self.assertIn("0 differing bytes", self.holds("check", package, "--rows", "1,33").out)
        listed = self.holds("inspect", package, "--json").json()
        expanded = self.holds("check", contract, "--expand", "--json").json()
        self.assertEqual(listed["contracts"][0]["digest"], expanded["contracts"][0]["digest"])
        roles = {role for one in listed["contracts"][0]["variants"] for role in one["roles"]}
        self.assertEqual(roles, {"train", "rollout"})
        # A package that is there is replaced; the same input gives the same bytes.
        before = listed["sha256"]
        self.holds("compile", contract, "-o", package)
        self.assertEqual(self.holds("inspect", package, "--json").json()["sha256"], before)
        self.assertEqual(sorted(os.listdir(self.scratch)), ["norm.json", "out.pkg"])

    def test_a_contract_file_is_checked(self):
        temporary = self.path("tmp")
        os.mkdir(temporary)
        os.environ["TMPDIR"] = temporary
        try:
            result = self.holds("check", self.contract(), "--rows", "3", "--device", "cpu")
        finally:
            del os.environ["TMPDIR"]
        self.assertIn("0 differing bytes", result.out)
        self.assertEqual(os.listdir(temporary), [])

    def test_expand_prints_the_whole_contract(self):
        out = self.holds("check", self.contract(), "--expand").out
        for part in ("digest", '"definitions"', '"dot.fma.f32"', '"body"'):
            self.assertIn(part, out)

    def test_malformed_files(self):
        whole = json.dumps(GOOD, indent=2)
        self.refused(self.text(whole[: len(whole) // 2]), "C1")
        self.refused(self.text(whole.replace('"bitpact": 1', '"bitpact": 2')), "C5")
        self.refused(self.contract(lambda c: c.update(extra=1)), "C2", "extra")
        twice = whole.replace('"op"', '"op": "sum@1", "op"', 1)
        self.refused(self.text(twice), "C3", "op")
        self.refused(self.contract(lambda c: c.update(op="gemm@9")), "C7", "gemm", "rms_norm")
        self.refused(self.contract(lambda c: c.pop("types")), "C6", "types")
        self.fails(2, "compile", self.path("none.json"), "-o", self.path("out.pkg"),
                   says="none.json", leaves=["norm.json"])  # fmt: skip

    def test_partitions_and_merges(self):
        for fields, rule, says in (
            ({"partition": "sweep:4 lane:8"}, "PI5", ["32", "64"]),
            ({"merge": ["sweep chain", "sweep chain", "lane halving"]}, "T1", ["sweep"]),
            ({"merge": ["sweep chain"]}, "T1", ["lane"]),
            ({"partition": "sweep:* lane:6"}, "T2", ["6"]),
            ({"merge": ["sweep chain", "lane any"]}, "T4", ["any"]),
            ({"partition": "sweep lane:8"}, "PI1", []),
        ):
            self.refused(self.contract(self.node(**fields)), rule, *says)

    def test_dims_sites_and_primitives(self):
        self.refused(self.contract(lambda c: c["dims"].update(hidden=0)), "D3", "hidden", "0")
        self.refused(self.contract(lambda c: c["dims"].pop("hidden")), "D1", "hidden")
        self.refused(self.contract(lambda c: c["rounding"].pop("normed")), "R1", "normed")
        self.refused(
            self.contract(lambda c: c["primitives"].update(rsqrt="rsqrt.magic")),
            "A2", "rsqrt.magic", "rsqrt.div_sqrt.f32",
        )  # fmt: skip

    def test_an_atom_that_the_target_lacks(self):
        def fused(contract):
            contract["nodes"]["sum_sq"].update(
                partition="block:* k:16", merge=["k fused(dot.nv(16,25))", "block chain"]
            )
            contract["primitives"]["sum_sq.step"] = "dot.nv(16,25)"

        contract, out = self.contract(fused), ["-o", self.path("out.pkg")]
        for target in "hip", "cuda:sm_80":
            self.fails(2, "compile", contract, *out, "--target", target, says="[A4]")
        # CPUs have it, but no rows for it.
        self.fails(2, "compile", contract, *out, says="no schedule of target cpu:x86-64-v3")
        self.assertFalse(os.path.exists(self.path("out.pkg")))

    def test_places_that_cannot_be_written(self):
        contract = self.contract()
        self.fails(2, "compile", contract, "-o", self.path("no/out.pkg"), says="no/out.pkg")
        os.mkdir(self.path("mine"))
        with open(self.path("mine/file"), "w") as file:
            file.write("not a package")
        self.fails(2, "compile", contract, "-o", self.path("mine"), says="mine")
        self.assertEqual(os.listdir(self.path("mine")), ["file"])

    def test_mistakes_on_the_command_line(self):
        contract = self.contract()
        out = ["-o", self.path("out.pkg")]
        self.fails(2, "compile", contract, says="-o PACKAGE")
        self.fails(2, "compile", contract, *out, "--target", "toaster", says="toaster")
        self.fails(2, "compile", contract, *out, "--role", "boss", says="boss")
        self.fails(2, "compile", contract, "--stop-after", "lunch", says="lunch")

    def test_fmt(self):
        contract = self.contract()
        text = self.holds("fmt", contract).out
        self.assertEqual(json.loads(text), GOOD)
        digest = self.holds("check", contract, "--expand", "--json").json()["contracts"][0]["digest"]
        self.assertEqual(run_tool("fmt", "--check", contract).code, 1)
        self.holds("fmt", "-i", contract)
        self.holds("fmt", "--check", contract)
        again = self.holds("check", contract, "--expand", "--json").json()["contracts"][0]["digest"]
        self.assertEqual(digest, again)
        self.fails(2, "fmt", self.text("{", "broken.json"), says="broken.json:")


if __name__ == "__main__":
    import sys

    if "--tool" in sys.argv:
        tool.TOOL = os.path.abspath(sys.argv[sys.argv.index("--tool") + 1])
    tool.needs_compiler()
    tool.main("__main__")
