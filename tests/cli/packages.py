# packages.py - check, run, inspect and bench of packages, without a compiler
# Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import json
import os
import shutil
import xml.etree.ElementTree

import tool
from tool import ToolTest, floats, npy, npy_data, run_tool, safetensors


def ones(rows=2, hidden=43):
    return floats([1.0] * (rows * hidden))


class Check(ToolTest):
    def test_right_variants_hold(self):
        result = self.holds("check", self.package("sum.pkg"), "--rows", "1,3,33")
        self.assertIn("0 differing bytes: 2 variants", result.out)
        self.assertIn("seed 1", result.out)
        self.assertEqual(result.err, "")
        report = self.holds(
            "check", self.package("sum.pkg"), "--rows", "2", "--data", "wide", "--json"
        ).json()
        self.assertEqual(report["status"], 0)
        self.assertEqual(report["recipes"], ["wide"])
        self.assertEqual([one["differing"] for one in report["variants"]], [0, 0])

    def test_a_wrong_variant_is_named(self):
        result = self.fails(
            1,
            "check",
            self.package("wrong.pkg"),
            "--rows",
            "5",
            says=["variant sum_pairwise-", "test/sum", "first at  y[", "expected 0x", "got 0x"],
        )
        self.assertIn("1 of 2 variants differ", result.out)
        report = run_tool("check", self.package("wrong.pkg"), "--rows", "5", "--json").json()
        self.assertEqual(report["status"], 1)
        right, wrong = report["variants"]
        self.assertIsNone(right["first"])
        self.assertEqual(wrong["first"]["against"], "the reference evaluator")

    def test_no_evidence(self):
        self.fails(4, "check", self.package("none.pkg"), says="no variant of test/sum")

    def test_mistakes(self):
        sum_pkg = self.package("sum.pkg")
        self.fails(2, "check", self.path("none"), says="no such contract file or package")
        self.fails(2, "check", sum_pkg, "--device", "cuda:99", says="cuda:99")
        self.fails(2, "check", sum_pkg, "--data", "nice", says="unknown data recipe 'nice'")
        self.fails(2, "check", sum_pkg, "--op", "gemm", says="no contract 'gemm'; the package")
        self.fails(2, "check", sum_pkg, "--rows", "0", says="--rows")
        self.fails(2, "check", sum_pkg, "--dim", "hidden", says="NAME=EXTENT")
        self.fails(2, "check", sum_pkg, "--dim", "hidden=7",
                   says=["--dim 'hidden'", "test/sum fixes it at 43"])  # fmt: skip
        self.fails(2, "check", sum_pkg, "--dim", "tokens=7", says="which --rows counts")
        self.fails(2, "bench", sum_pkg, "--dim", "depth=7",
                   says="has no such dim, but tokens, hidden")  # fmt: skip
        self.fails(2, "check", says="required")
        self.fails(2, "nonsense", says="nonsense")


class Run(ToolTest):
    def run_sum(self, *more, x="x.npy", y="y.npy"):
        return run_tool(
            "run", self.package("sum.pkg"), "--op", "sum",
            "--input", "x=" + self.path(x), "--output", "y=" + self.path(y), *more,
        )  # fmt: skip

    def test_bytes_are_the_same_from_every_file_and_role(self):
        values = [(i * 37 % 101 - 50) / 64 for i in range(3 * 43)]
        npy(self.path("x.npy"), (3, 43), floats(values))
        safetensors(
            self.path("x.safetensors"),
            {"a": ("F32", [1], floats([0])), "x": ("F32", [3, 43], floats(values))},
        )
        seen = set()
        for role in ("train", "rollout"):
            for source in ("x.npy", "x.safetensors:x"):
                result = self.run_sum("--role", role, x=source)
                self.assertEqual(result.code, 0, result.err)
                header, data = npy_data(self.path("y.npy"))
                self.assertIn("'shape': (3,)", header)
                seen.add(data)
        # Values on a grid of 1/64 sum exactly, in any order.
        self.assertEqual(seen, {floats([sum(values[r * 43 : r * 43 + 43]) for r in range(3)])})

    def test_json_and_record(self):
        npy(self.path("x.npy"), (2, 43), ones())
        result = self.run_sum("--json", "--record", self.path("run.jsonl"), y="o.safetensors")
        answer = result.json()
        self.assertEqual(answer["dims"], {"tokens": 2, "hidden": 43})
        self.assertTrue(answer["variant"].startswith("sum_right-"))
        with open(self.path("run.jsonl")) as file:
            records = [json.loads(line) for line in file]
        self.assertEqual(len(records), 1)
        self.assertIn(answer["contract"], json.dumps(records[0]))
        with open(self.path("o.safetensors"), "rb") as file:
            self.assertTrue(file.read().endswith(floats([43.0, 43.0])))

    def test_records_are_added(self):
        npy(self.path("x.npy"), (2, 43), ones())
        record = self.path("run.jsonl")
        for role in ("train", "rollout", "train"):
            result = self.run_sum("--role", role, "--record", record)
            self.assertEqual(result.code, 0, result.err)
        with open(record) as file:
            self.assertEqual(
                [json.loads(line)["role"] for line in file], ["train", "rollout", "train"]
            )
        # A run that fails adds nothing, and makes no file.
        with open(record) as file:
            before = file.read()
        for name in ("run.jsonl", "new.jsonl"):
            self.assertEqual(self.run_sum("--record", self.path(name), y="no/y.npy").code, 2)
        with open(record) as file:
            self.assertEqual(file.read(), before)
        self.assertFalse(os.path.exists(self.path("new.jsonl")))

    def test_a_named_variant_runs(self):
        npy(self.path("x.npy"), (2, 43), ones())
        listed = self.holds("inspect", self.package("sum.pkg"), "--json").json()
        second = listed["contracts"][0]["variants"][1]["id"]
        self.assertIn(second, self.run_sum("--variant", second).out)
        self.assertEqual(npy_data(self.path("y.npy"))[1], floats([43.0, 43.0]))

    def test_mistakes_leave_nothing(self):
        pkg = self.package("sum.pkg")
        x = npy(self.path("x.npy"), (2, 43), ones())
        y = self.path("y.npy")
        good = ["run", pkg, "--op", "sum", "--input", "x=" + x, "--output", "y=" + y]

        def replaced(option, value):
            args = list(good)
            args[args.index(option) + 1] = value
            return args

        self.fails(2, *replaced("--op", "gemm"), says="no contract 'gemm'")
        self.fails(2, *good[:4], "--output", "y=" + y, says="missing: --input x=FILE")
        self.fails(2, *good[:6], says="missing: --output y=FILE")
        self.fails(2, *replaced("--input", "z=" + x), says="sum@1 has no input 'z'; it has x")
        self.fails(2, *replaced("--output", "x=" + y), says="has no output 'x'")
        self.fails(2, *replaced("--input", "x"), says="is not of the form NAME=FILE")
        self.fails(2, *good, "--input", "x=" + x, says="input 'x' is given twice")
        self.fails(2, *replaced("--input", "x=x.pt"), says="neither in .npy nor in .safetensors")
        self.fails(2, *replaced("--input", "x=none.npy"), says="none.npy: error: cannot read")
        self.fails(2, *good, "--role", "prefill", says=["prefill", "sum_right"])
        self.fails(2, *good, "--role", "nonsense", says="--role")
        self.fails(2, *good, "--variant", "none", says=["none", "sum_right"])
        self.fails(2, *good, "--device", "cuda:99", says="cuda:99")
        self.fails(2, *good, "--device", "nonsense", says="nonsense")
        self.fails(2, *replaced("--output", "y=" + self.path("no/y.npy")), says="cannot write")
        self.fails(
            2, *good, "--record", self.path("no/r.jsonl"), says=["no/r.jsonl", "cannot write"]
        )
        self.fails(2, *replaced("--output", "y=" + self.packages + ".npy/"), says="neither")

    def test_wrong_tensors(self):
        pkg = self.package("norm.pkg")
        weight = npy(self.path("w.npy"), (43,), ones(1))

        def attempt(x, says, weight=weight):
            self.fails(
                2, "run", pkg, "--op", "rms_norm", "--input", "x=" + x,
                "--input", "weight=" + weight, "--output", "y=" + self.path("y.npy"), says=says,
            )  # fmt: skip

        x = npy(self.path("x.npy"), (2, 43), ones())
        attempt(
            npy(self.path("short.npy"), (2, 42), ones(2, 42)),
            "input 'x': shape [2, 42], axis 1 (hidden) is 42; the contract has hidden = 43",
        )
        attempt(npy(self.path("flat.npy"), (43,), ones(1)), "has 1 axes")
        attempt(
            npy(self.path("half.npy"), (2, 43), bytes(2 * 43 * 2), "<f2"),
            "input 'x': element type is f16, the contract has f32",
        )
        attempt(x, "input 'weight': shape [42]", npy(self.path("w2.npy"), (42,), ones(1, 42)))
        with open(x, "rb") as file:
            whole = file.read()
        with open(self.path("cut.npy"), "wb") as file:
            file.write(whole[:-1])
        attempt(self.path("cut.npy"), "cut.npy: error: shape [2, 43]")

    def test_several_contracts(self):
        x = npy(self.path("x.npy"), (1, 8), ones(1, 8))
        args = ["run", self.package("two.pkg"), "--op", "sum", "--input", "x=" + x]
        args += ["--output", "y=" + self.path("y.npy")]
        self.fails(2, *args, says=["several contracts fit", "test/sum43", "test/sum8"])
        listed = self.holds("inspect", self.package("two.pkg"), "--json").json()
        digest = next(one["digest"] for one in listed["contracts"] if one["name"] == "test/sum8")
        self.holds(*args, "--contract", digest[:10])
        self.assertEqual(npy_data(self.path("y.npy"))[1], floats([8.0]))


class Altered(ToolTest):
    """A package is verified when it is opened, by every command."""

    def alter(self, change):
        copy = self.path("altered.pkg")
        shutil.copytree(self.package("sum.pkg"), copy)
        change(copy)
        for command in ("check", "inspect", "bench"):
            yield self.fails(2, command, copy, says="altered.pkg").err
        shutil.rmtree(copy)

    def first(self, copy, folder):
        return os.path.join(copy, folder, sorted(os.listdir(os.path.join(copy, folder)))[0])

    def test_a_changed_byte(self):
        for folder in ("code", "contracts", ""):

            def flip(copy):
                name = self.first(copy, folder) if folder else os.path.join(copy, "manifest.json")
                with open(name, "r+b") as file:
                    file.seek(os.path.getsize(name) // 2)
                    byte = file.read(1)
                    file.seek(-1, os.SEEK_CUR)
                    file.write(bytes([byte[0] ^ 1]))

            for message in self.alter(flip):
                self.assertIn(folder or "manifest.json", message)

    def test_a_truncated_file(self):
        for folder in ("code", "contracts"):

            def cut(copy):
                name = self.first(copy, folder)
                os.truncate(name, os.path.getsize(name) - 1)

            for message in self.alter(cut):
                self.assertIn(folder, message)

    def test_missing_files(self):
        for message in self.alter(lambda copy: os.remove(self.first(copy, "code"))):
            self.assertIn("code/", message)
        for message in self.alter(lambda copy: os.remove(os.path.join(copy, "manifest.json"))):
            self.assertIn("manifest.json", message)


class Reveal(ToolTest):
    def test_the_declared_tree(self):
        svg = self.path("tree.svg")
        result = self.holds("reveal", self.package("sum.pkg"), "--op", "sum", "--svg", svg)
        self.assertEqual(result.out.count("equals the declared tree"), 2)
        self.assertIn('"partition"', result.out)
        drawing = xml.etree.ElementTree.parse(svg).getroot()
        self.assertTrue(drawing.tag.endswith("svg"))
        report = self.holds("reveal", self.package("sum.pkg"), "--op", "sum", "--json").json()
        self.assertEqual([tree["equal"] for tree in report["trees"]], [True, True])
        self.assertEqual(report["trees"][0]["terms"], 43)

    def test_products_of_matrices(self):
        product = self.package("product.pkg")
        # One column: a query with other factors has a launch for itself.
        for columns in ("1", "2", "5"):
            report = run_tool("reveal", product, "--op", "product", "--dim", "out=" + columns, "--json").json()
            self.assertEqual([tree["equal"] for tree in report["trees"]], [True, True, False])
            self.assertEqual(report["status"], 1)
            found = {one["what"]: one["value"] for one in report["trees"][0]["findings"]}
            self.assertEqual(found["product"], "rounded")
            self.assertEqual(found["accumulator"], "f32")
        self.fails(1, "reveal", product, "--op", "product",
                   says=["ΔC dot Π: declared all:*, revealed d0:* d1:2", "ΔC dot T"])  # fmt: skip

    def test_a_large_product_is_evaluated_at_places(self):
        result = self.fails(1, "check", self.package("product.pkg"), "--rows", "2,3000", "--dim", "out=523",
                            "--data", "normal", "--samples", "300", says="1 of 3 variants differ")  # fmt: skip
        self.assertIn("evaluated in full: 4 of 8 cases", result.out)
        self.assertRegex(result.out, r"test/product hidden=43 out=523 tokens=3000: \d+ of 1569000 outputs; "
                                     r"all are compared with product_right-\w+ on cpu")  # fmt: skip

    def test_another_tree(self):
        result = self.fails(
            1,
            "reveal",
            self.package("wrong.pkg"),
            "--op",
            "sum",
            says=["differs: the contract does not add (", "ΔC sum"],
        )
        self.assertEqual(result.out.count("equals the declared tree"), 1)
        report = run_tool("reveal", self.package("wrong.pkg"), "--op", "sum", "--json").json()
        self.assertEqual(report["status"], 1)
        self.assertEqual(sorted(tree["equal"] for tree in report["trees"]), [False, True])

    def test_mistakes(self):
        sum_pkg = self.package("sum.pkg")
        for option, value, says in (
            ("--node", "depth", "--node 'depth': the operator has sum"),
            ("--variant", "none", "no variant fits 'none'"),
            ("--dim", "hidden=7", "the contract fixes it at 43"),
            ("--dim", "depth=7", "tokens, hidden"),
            ("--dim", "hidden=7,8", "one extent, not 2"),
            ("--device", "cuda:99", "cuda:99"),
        ):
            self.fails(2, "reveal", sum_pkg, "--op", "sum", option, value, says=says)
        self.fails(2, "reveal", sum_pkg, "--op", "gemm", says="no contract 'gemm'")


class Inspect(ToolTest):
    def test_contents(self):
        text = self.holds("inspect", self.package("norm.pkg"), "--text").out
        for part in ("rms_norm@1", "dims      tokens = *, hidden = 43", "x86-64-v3", "sha256",
                     "for train, rollout", "by hand", "evidence", '"sum_sq"'):  # fmt: skip
            self.assertIn(part, text)
        self.assertRegex(text, "digest    [0-9a-f]{64}")
        report = self.holds("inspect", self.package("norm.pkg"), "--json").json()
        self.assertEqual(report["contracts"][0]["dims"], {"tokens": -1, "hidden": 43})


class Bench(ToolTest):
    def test_ratio_to_a_copy(self):
        args = ["bench", self.package("sum.pkg"), "--rows", "64", "--rounds", "3"]
        self.assertIn("of copy", self.holds(*args).out)
        results = self.holds(*args, "--json").json()["results"]
        self.assertEqual(len(results), 2)
        for one in results:
            self.assertEqual(one["bytes"], 64 * 43 * 4 + 64 * 4)
            self.assertGreater(one["ratio"], 0)
        overheads = self.holds(*args, "--json").json()["overheads"]
        self.assertEqual([one["dims"] for one in overheads], [{"tokens": 1, "hidden": 43}])
        self.assertTrue(overheads[0]["variant"].startswith("sum_right-"))
        self.assertGreater(overheads[0]["bare_microseconds"], 0)
        self.assertEqual([one["chosen_for"] for one in results], [["train", "rollout"], []])


class WithoutCompiler(ToolTest):
    def test_a_copied_tool_checks_and_runs(self):
        """The tool and libbitpact alone, as on a machine without LLVM."""
        os.makedirs(self.path("bin"))
        os.makedirs(self.path("lib"))
        copy = shutil.copy(tool.TOOL, self.path("bin/bitpact"))
        lib = os.path.join(os.path.dirname(tool.TOOL), "..", "lib", "libbitpact.so.1")
        shutil.copy(os.path.realpath(lib), self.path("lib/libbitpact.so.1"))
        package = self.path("sum.pkg")
        shutil.copytree(self.package("sum.pkg"), package)
        result = run_tool("check", package, "--rows", "3", tool=copy)
        self.assertEqual(result.code, 0, result.err)
        npy(self.path("x.npy"), (2, 43), ones())
        result = run_tool(
            "run", "sum.pkg", "--op", "sum", "--input", "x=x.npy", "--output", "y=y.npy",
            tool=copy, cwd=self.scratch,
        )  # fmt: skip
        self.assertEqual(result.code, 0, result.err)
        for command in (["compile", "a.json", "-o", "a.pkg"], ["fmt", "a.json"],
                        ["check", "x.npy"]):  # fmt: skip
            result = run_tool(*command, tool=copy, cwd=self.scratch)
            self.assertEqual(result.code, 2)
            self.assertIn("this machine has no compiler", result.err)
            self.assertIn("check, run, inspect and bench of packages work without", result.err)


class Help(ToolTest):
    def test_every_command_has_an_example(self):
        for command in ("compile", "check", "run", "inspect", "bench", "fmt", "gate", "trace"):
            text = self.holds(command, "--help").out
            self.assertIn("Example:\n  bitpact " + command, text)
            self.assertIn("--json", text)
            self.assertIn("4 evidence incomplete", text)
        self.assertRegex(self.holds("--version").out, r"bitpact \d+\.\d+\.\d+")


if __name__ == "__main__":
    tool.main("__main__")
