# foreign.py - reveal of symbols and commands, and their sweeps
# Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import json
import os
import sys

import tool
from tool import ToolTest, run_tool

SYMBOLS = NUMPY = SCRIPTS = ""
CHAIN = "f32 sum(i64 n, f32* x)"
ROWS = "f32[rows] sum(f32[rows, n] x)"
os.environ["OPENBLAS_CORETYPE"] = "Haswell"
os.environ["OPENBLAS_NUM_THREADS"] = "1"


def has_fma():
    with open("/proc/cpuinfo") as file:
        flags = file.read()
    return " avx2" in flags and " fma" in flags


class Symbols(ToolTest):
    def symbol(self, name, signature=CHAIN, *more):
        return ["reveal", "--library", SYMBOLS + ":" + name, "--signature", signature, *more]

    def test_a_chain_and_its_contract(self):
        contract, image = self.path("chain.json"), self.path("chain.svg")
        result = self.holds(*self.symbol("chain_sum"), "--dim", "n=40",
                            "-o", contract, "--svg", image)  # fmt: skip
        self.assertIn("replayed: 1000 of 1000 random inputs give the same bytes", result.out)
        self.assertIn("merge: d0 chain", result.out)
        with open(contract) as file:
            written = json.load(file)
        self.assertEqual(written["nodes"]["sum"]["partition"], "d0:*")
        self.assertEqual(written["dims"]["hidden"], 40)
        self.assertTrue(os.path.getsize(image))
        # It is a contract for the other tools too, and is the tree it was made of.
        self.holds("diff", contract, contract)
        again = self.holds(*self.symbol("chain_sum"), "--dim", "n=40", "--against", contract)
        self.assertIn("equals the declared tree", again.out)
        other = run_tool(*self.symbol("two_sums", "void sum(i32* n, f32* x, f32* out)"),
                         "--dim", "n=40", "--against", contract)  # fmt: skip
        self.assertEqual(other.code, 1, other.err)
        self.assertIn("differs: ", other.out)

    def test_report_as_json(self):
        report = run_tool(
            *self.symbol("fma_dot", "f64 dot(i32 n, f64* x, i32 incx, f64* y, i32 incy)"),
            "--dim", "n=33", "--json",
        ).json()  # fmt: skip
        self.assertEqual(report["status"], 0)
        self.assertEqual(report["terms"], 33)
        self.assertEqual(report["replay"]["equal"], 1000)
        self.assertEqual(report["replay"]["arithmetic"], "f64 accumulator, one fma a step")
        self.assertEqual(report["contract"]["primitives"], {"dot.step": "dot.fma.f64"})

    def test_what_a_symbol_does_is_told(self):
        size = ("--dim", "n=12")
        self.fails(2, *self.symbol("crashes"), *size,
                   says=["crashes: error: the process that called it was ended by signal 11",
                         "input x=f32[12]"])  # fmt: skip
        self.fails(2, *self.symbol("aborts"), *size, says="signal 6")
        self.fails(2, *self.symbol("leaves"), *size, says=["with status 3", "unlicensed"])
        self.fails(2, *self.symbol("hangs"), *size, "--timeout", "0.3",
                   says=["did not return", "within 0.3 s"])  # fmt: skip
        self.fails(2, *self.symbol("drifts"), *size, says="is not deterministic")
        self.fails(2, *self.symbol("nowhere"), *size, says="undefined symbol: nowhere")
        self.fails(2, "reveal", "--library", "/none.so:f", "--signature", CHAIN, *size,
                   says=["/none.so: error: cannot be loaded", "No such file"])  # fmt: skip
        printed = self.holds(*self.symbol("prints"), *size)
        self.assertIn("note: it printed: summing 12", printed.out)
        result = self.holds(*self.symbol("prints"), *size, "--json")
        self.assertTrue(result.json()["notes"][0].startswith("it printed"))

    def test_mistakes(self):
        self.fails(2, "reveal", says="what is to be revealed")
        self.fails(2, *self.symbol("chain_sum"), says="the extent of 'n' is needed: --dim n=N")
        self.fails(2, *self.symbol("chain_sum"), "--dim", "m=3", says="has no dim 'm'")
        self.fails(2, *self.symbol("chain_sum", "f32 sum(i64 n, f32* z)"), "--dim", "n=3",
                   says="parameter 'z' of sum; known are n x incx out")  # fmt: skip
        self.fails(2, "reveal", "--library", SYMBOLS, says="LIBRARY:SYMBOL")
        self.fails(2, "reveal", "--library", SYMBOLS + ":chain_sum", "--dim", "n=3",
                   says="needs --signature")  # fmt: skip
        self.fails(2, *self.symbol("chain_sum"), "--command", "true", says="take one of them")
        self.fails(2, *self.symbol("chain_sum"), "--dim", "n=3", "--at", "m=0",
                   says="'m' is no dim of the output")  # fmt: skip
        self.fails(2, *self.symbol("chain_sum"), "--sweep", "n=4..1", says="4..1 is empty")

    def test_openblas(self):
        if not has_fma():
            self.skipTest("no AVX2")
        dot = "libopenblas.so.0:cblas_sdot"
        result = self.holds("reveal", "--library", dot, "--dim", "n=4096")
        self.assertIn("replayed: 1000 of 1000", result.out)
        self.assertIn("partition: d0:* d1:8 d2:4", result.out)
        self.assertIn("merge: d0 chain, d1 pairwise, d2 pairwise", result.out)
        self.assertIn("note: OPENBLAS_CORETYPE=Haswell", result.out)
        gemm = self.holds("reveal", "--library", "libopenblas.so.0:sgemm_", "--dim", "m=5",
                          "--dim", "n=3", "--dim", "k=65", "--at", "m=4,n=2")  # fmt: skip
        self.assertIn("replayed: 1000 of 1000", gemm.out)
        self.assertIn("merge: d0 chain", gemm.out)
        # Beyond whole vectors sdot goes on in f64: bytes tell, the tree does not.
        tail = self.fails(4, "reveal", "--library", dot, "--dim", "n=72",
                          says="something that the tree does not tell is otherwise")  # fmt: skip
        self.assertEqual(tail.err, "")


class Products(ToolTest):
    SIGNATURE = "bf16[m,n] dot(bf16[m,k] x, bf16[n,k] w)"

    def product(self, text, *more):
        script = os.path.join(SCRIPTS, "nv_linear.py")
        return ["reveal", "--command", f"{NUMPY} {script} {text}", "--signature", self.SIGNATURE,
                "--dim", "n=64", "--at", "n=*", *more]  # fmt: skip

    def test_steps_of_a_matrix_unit(self):
        for text, atom, radix in (("16 25 0", "dot.nv(16,25)", 16), ("8 24 0", "dot.nv(8,24)", 8)):
            contract = self.path("revealed.json")
            result = self.holds(*self.product(text), "--dim", "m=2", "--dim", "k=40", "-o", contract)
            self.assertIn("replayed: 1000 of 1000 random inputs give the same bytes", result.out)
            self.assertIn("arithmetic: f32 accumulator, steps of " + atom, result.out)
            self.assertIn(f"partition: d0:* d1:{radix}\nmerge: d1 fused({atom}), d0 chain", result.out)
            self.assertRegex(result.out, "(?m)^rounding +toward zero")
            self.assertRegex(result.out, "(?m)^output +bf16, to nearest, ties to even")
            with open(contract) as file:
                self.assertEqual(json.load(file)["primitives"], {"dot.step": atom})
            again = self.holds(*self.product(text), "--dim", "m=2", "--dim", "k=40", "--against", contract)
            self.assertIn("equals the declared tree", again.out)

    def test_a_step_that_keeps_other_bits_is_another_one(self):
        contract = self.path("revealed.json")
        size = ("--dim", "m=1", "--dim", "k=20")
        self.holds(*self.product("16 25 0"), *size, "-o", contract)
        other = run_tool(*self.product("16 24 0"), *size, "--against", contract)
        self.assertEqual(other.code, 1, other.err)
        self.assertIn("a step keeps 24 bits below its largest term, and dot.nv(16,25) keeps 25", other.out)

    def test_k_in_two_parts_for_few_rows(self):
        result = run_tool(*self.product("16 25 2"), "--dim", "k=64", "--sweep", "m=1..4")
        self.assertEqual(result.code, 1, result.err)
        self.assertRegex(result.out, r"(?m)^1 … 2 +2 +#1 +d0:\* d1:2 d2:16 +d2 fused\(dot.nv\(16,25\)\), d1 chain, d0 fold")
        self.assertRegex(result.out, r"(?m)^3 … 4 +2 +#2 +d0:\* d1:16 +d1 fused\(dot.nv\(16,25\)\), d0 chain")
        self.assertIn("m 2 → 3\n  ΔC Π nodes.dot.partition: d0:* d1:2 d2:16 → d0:* d1:16", result.out)

    def test_positions(self):
        self.fails(2, *self.product("16 25 0"), "--dim", "m=1", "--dim", "k=4", "--at", "m=*",
                   says="both m and n are *")  # fmt: skip
        self.fails(2, *self.product("16 25 0"), "--dim", "m=1", "--dim", "k=4", "--at", "m=x",
                   says="'m=x' is not of the form DIM=POSITION or DIM=*")  # fmt: skip


class Sweeps(ToolTest):
    def test_a_reduced_dim(self):
        if not has_fma():
            self.skipTest("no AVX2")
        arguments = ("reveal", "--library", "libopenblas.so.0:cblas_sdot", "--sweep")
        one = self.holds(*arguments, "n=64..320:32", "--json").json()
        self.assertTrue(one["reduced"])
        self.assertEqual(len(one["intervals"]), 1)
        self.assertEqual(one["intervals"][0]["merge"], ["d0 chain", "d1 pairwise", "d2 pairwise"])
        # Below 32 elements there is one chain.
        two = run_tool(*arguments, "n=20..32", "--json").json()
        self.assertEqual(two["status"], 1)
        self.assertEqual([(i["first"], i["last"]) for i in two["intervals"]], [(20, 31), (32, 32)])
        (boundary,) = two["boundaries"]
        self.assertEqual((boundary["before"], boundary["after"]), (31, 32))
        self.assertEqual([c["path"] for c in boundary["delta"]["changes"]],
                         ["nodes.dot.partition", "nodes.dot.merge"])  # fmt: skip
        table = run_tool(*arguments, "n=20..32").out
        self.assertIn("20 … 31", table)
        self.assertIn("n 31 → 32", table)

    def test_rows_that_switch_the_tree(self):
        arguments = ("reveal", "--library", SYMBOLS + ":switching_gemv", "--signature",
                     "void gemv(i64 m, i64 n, f32* a, f32* x, f32* y)", "--dim", "n=16",
                     "--sweep")  # fmt: skip
        report = run_tool(*arguments, "m=1..9", "--json").json()
        self.assertEqual(report["status"], 1)
        self.assertFalse(report["reduced"])
        few, many = report["intervals"]
        self.assertEqual((few["first"], few["last"], few["merge"]), (1, 3, ["d0 chain"]))
        self.assertEqual((many["first"], many["last"], many["partition"]), (4, 9, "d0:* d1:2"))
        (boundary,) = report["boundaries"]
        self.assertEqual((boundary["before"], boundary["after"]), (3, 4))
        self.assertIn("nodes.dot.merge", [c["path"] for c in boundary["delta"]["changes"]])
        table = run_tool(*arguments, "m=1..9")
        self.assertIn("m 3 → 4", table.out)
        self.assertIn("9 extents of m asked, 2 trees", table.out)
        # A stride does not see what lies between.
        self.holds(*arguments, "m=5,7,8..64", "--stride", "16")

    def test_rows_of_a_package(self):
        package = self.package("sum.pkg")
        result = self.holds("reveal", package, "--op", "sum", "--sweep", "tokens=1..40", "--json")
        report = result.json()
        self.assertFalse(report["reduced"])
        self.assertEqual(sum(one["asked"] for one in report["intervals"]), 40)
        self.assertEqual({one["tree"] for one in report["intervals"]}, {1})
        self.assertTrue(report["intervals"][0]["variant"].startswith("sum"))
        self.fails(2, "reveal", package, "--op", "sum", "--sweep", "hidden=1..4",
                   says="'hidden' is no open dim")  # fmt: skip


class Commands(ToolTest):
    def command(self, text, *more):
        return ["reveal", "--command", text, "--signature", ROWS, *more]

    def test_pairwise_summation(self):
        result = self.holds(*self.command(NUMPY + " " + SCRIPTS + "/numpy_sum.py"),
                            "--dim", "rows=2", "--dim", "n=128", "--at", "rows=1")  # fmt: skip
        self.assertIn("replayed: 1000 of 1000", result.out)
        self.assertIn("merge: d0 chain, d1 pairwise", result.out)

    def test_what_a_command_does_wrong(self):
        size = ("--dim", "rows=1", "--dim", "n=4")
        cat = "while read x; do echo $x; done"
        self.fails(2, *self.command(cat), *size, says=["answered f32[1,4], f32[1] is declared"])
        self.fails(2, *self.command("/none/program"), *size, says="program that is not found")
        self.fails(2, *self.command("sleep 20"), *size, "--timeout", "0.3",
                   says="did not answer within 0.3 s")  # fmt: skip
        self.fails(2, *self.command("echo error: no luck"), *size, says="error: no luck")
        self.fails(2, "reveal", "--command", cat, *size, says="needs --signature")


if __name__ == "__main__":
    options = {}
    while sys.argv[1:] and sys.argv[1] in ("--symbols", "--numpy", "--scripts"):
        options[sys.argv[1]] = sys.argv[2]
        del sys.argv[1:3]
    SYMBOLS, NUMPY, SCRIPTS = (options[key] for key in ("--symbols", "--numpy", "--scripts"))
    tool.main("__main__")
