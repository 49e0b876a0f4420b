# products.py - diff, witness, ablation and reveal of products of matrices
# Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import json
import os
import resource
import subprocess

import tool
from tool import ToolTest, npy_data, run_tool

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
LIBRARY = os.path.join(ROOT, "contracts", "library")
SMALL = os.path.join(LIBRARY, "examples", "matmul.json")
LINEAR = os.path.join(LIBRARY, "qwen3-8b", "linear.json")
F32 = {"types": {"y": "f32"}, "rounding": {"y": "f32 rne"}}


def atom(terms, fraction):
    name = f"dot.nv({terms},{fraction})"
    return {"nodes": {"dot": {"partition": f"step:* k:{terms}", "merge": [f"k fused({name})", "step chain"]}},
            "primitives": {"dot.step": name}}  # fmt: skip


def parts(count, length, form, terms=16):
    return {"nodes": {"dot": {"partition": f"part:{count}@{length} step:* k:{terms}",
                              "merge": ["k fused(dot.nv(16,25))", "step chain", "part " + form]}}}  # fmt: skip


FMA = {"nodes": {"dot": {"partition": "k:*", "merge": ["k chain"]}}, "primitives": {"dot.step": "dot.fma.f32"}}


class Products(ToolTest):
    def derived(self, name, base, patch):
        with open(self.path(name + ".json"), "w") as file:
            json.dump({"bitpact": 1, "extends": base, "name": "test/" + name, **patch}, file)
        return self.path(name + ".json")

    def compare(self, base, patch):
        result = run_tool("diff", base, self.derived("other", base, patch), "--witness", "--json")
        self.assertEqual(result.code, 1, result.err)
        report = result.json()
        self.assertTrue(report["witness"]["found"], result.out)
        return report, report["witness"]

    def compiled(self, contract):
        """A package of the contract for CPUs."""
        package = contract[: -len(".json")] + ".pkg"
        self.holds("compile", contract, "-o", package, "--target", "cpu", "--no-cache")
        return package

    def test_threads_with_small_stacks(self):
        """A thread's stack has the limit that the process began with."""

        def limit():
            hard = resource.getrlimit(resource.RLIMIT_STACK)[1]
            resource.setrlimit(resource.RLIMIT_STACK, (384 * 1024, hard))

        for name, patch in (("chain", FMA), ("atom", {}), ("parts", parts(2, 112, "fold"))):
            package = self.compiled(self.derived(name, SMALL, patch))
            check = subprocess.run([tool.TOOL, "check", package, "--rows", "200", "--data", "dense"],
                                   capture_output=True, text=True, preexec_fn=limit)  # fmt: skip
            self.assertEqual(check.returncode, 0, name + check.stdout + check.stderr)

    def special(self, witness, name):
        """Elements unlike most of the input."""
        return len(witness["inputs"][name]["but"])

    def test_fields_and_witnesses(self):
        eight = self.derived("eight", SMALL, atom(8, 25))
        for base, patch, fields in (
            (SMALL, atom(8, 25), ["Pi", "A"]),
            (eight, atom(8, 24), ["A"]),
            (SMALL, FMA, ["Pi", "T", "A"]),
            (SMALL, parts(2, 112, "fold"), ["Pi", "T"]),
            (SMALL, parts(4, 64, "pairwise"), ["Pi", "T"]),
            (SMALL, parts(2, 112, "fold from bf16"), ["Pi", "T", "P"]),
            (SMALL, F32, ["P", "R"]),
        ):
            report, witness = self.compare(base, patch)
            named = [{"Π": "Pi"}.get(one["field"], one["field"]) for one in report["changes"]]
            self.assertEqual(named, fields)
            self.assertEqual(witness["first"]["name"], "y" if patch is F32 else "dot")

    def test_kernels_of_cpus_give_the_bits_of_a_witness(self):
        base = self.derived("base", SMALL, F32)
        for patch in (atom(8, 25), FMA):
            other = self.derived("other", base, patch)
            files = self.path("files")
            result = run_tool("diff", base, other, "--witness", "--witness-out", files, "--json")
            first = result.json()["witness"]["first"]
            self.assertEqual((first["name"], first["coordinate"]), ("dot", [0, 0]))
            for side, contract in (("a", base), ("b", other)):
                y = self.path("y.npy")
                self.holds("run", self.compiled(contract), "--op", "matmul", "--output", "y=" + y,
                           *(word for name in ("x", "weight")
                             for word in ("--input", f"{name}={files}/{name}.npy:bf16")))  # fmt: skip
                bits = int.from_bytes(npy_data(y)[1][:4], "little")
                self.assertEqual(f"{bits:#010x}", first[side]["bits"])

    def test_reveal_finds_the_atom_of_a_kernel_of_cpus(self):
        for terms, fraction in ((8, 24), (8, 25), (16, 25)):
            contract = self.derived(f"dot_{terms}_{fraction}", SMALL, atom(terms, fraction))
            report = self.holds("reveal", self.compiled(contract), "--op", "matmul", "--json").json()
            tree = report["trees"][0]  # of others with the same tree no more is said
            found = {one["what"]: one["value"] for one in tree["findings"]}
            self.assertEqual(found["step"], f"{terms} terms at once")
            self.assertEqual(found["fraction"], f"{fraction} bits")
            self.assertEqual(tree["recognised"]["merge"],
                             [f"d1 fused(dot.nv({terms},{fraction}))", "d0 chain"])  # fmt: skip
            for tree in report["trees"]:
                self.assertTrue(tree["equal"])
        contract = self.derived("chain", SMALL, FMA)
        report = self.holds("reveal", self.compiled(contract), "--op", "matmul", "--json").json()
        self.assertEqual(report["trees"][0]["fragment"]["nodes"]["dot"]["merge"], ["d0 chain"])
        for tree in report["trees"]:
            self.assertTrue(tree["equal"])
            self.assertEqual(tree["depth"], tree["terms"] - 1)

    def test_a_witness_of_a_long_row_is_small(self):
        report, witness = self.compare(LINEAR, parts(2, 2048, "fold"))
        self.assertEqual(witness["by"], "tree")
        self.assertEqual(witness["dims"], {"tokens": 1, "out": 1, "in": 4096})
        self.assertLessEqual(self.special(witness, "x"), 3)
        self.assertEqual(self.special(witness, "weight"), 0)
        self.assertNotEqual(witness["first"]["a"]["bits"], witness["first"]["b"]["bits"])

    def test_columns_that_the_contract_fixes_are_in_the_witness(self):
        _, witness = self.compare(SMALL, parts(2, 112, "fold"))
        self.assertEqual(witness["dims"], {"tokens": 1, "out": 328, "in": 200})
        files = self.path("files")
        other = self.path("other.json")
        self.assertEqual(run_tool("diff", SMALL, other, "--witness", "--witness-out", files).code, 1)
        with open(os.path.join(files, "weight.npy"), "rb") as file:
            self.assertIn(b"(328, 200)", file.read(128))

    def test_one_tree_in_other_words(self):
        same = {"nodes": {"dot": {"partition": "far:* near:4 k:16",
                                  "merge": ["k fused(dot.nv(16,25))", "near chain", "far chain"]}}}  # fmt: skip
        result = self.holds("diff", SMALL, self.derived("same", SMALL, same), "--witness")
        self.assertIn("equivalent", result.out)

    def test_ablation_isolates_the_cut(self):
        base = self.derived("base", SMALL, F32)
        patch = {**parts(2, 112, "fold", 8), "primitives": {"dot.step": "dot.nv(8,24)"}}
        patch["nodes"]["dot"]["merge"][0] = "k fused(dot.nv(8,24))"
        both = self.derived("both", base, patch)
        report = run_tool("ablate", base, both, "--rows", "4", "--json").json()
        single = [step for step in report["steps"] if step["single"]]
        fields = [{change["field"] for change in step["changes"]} for step in single]
        self.assertEqual(fields, [{"Π", "T"}, {"Π", "T", "A"}])
        self.assertEqual([step["first"]["name"] for step in single], ["dot", "dot"])
        self.assertGreater(single[0]["differing"], 0)
        self.assertGreater(single[1]["differing"], single[0]["differing"])
        result = run_tool("ablate", base, self.derived("cut", base, parts(2, 112, "fold")), "--rows", "4")
        self.assertEqual(result.code, 1)
        self.assertIn("alone gives the bytes of B: nodes.dot.partition+nodes.dot.merge", result.out)


if __name__ == "__main__":
    import sys

    if "--tool" in sys.argv:
        tool.TOOL = os.path.abspath(sys.argv[sys.argv.index("--tool") + 1])
    tool.needs_compiler()
    tool.main("__main__")
