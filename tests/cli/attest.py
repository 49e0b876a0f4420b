# attest.py - attest of a library whose order the test chooses, and of OpenBLAS
# Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import ctypes
import json
import os

import tool
from tool import ToolTest, run_tool

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
FMA = os.path.join(ROOT, "contracts", "library", "examples", "matmul_fma.json")
FAKES = ""
SETTINGS = ("FAKE_BLAS", "FAKE_BLAS_VERSION", "FAKE_BLAS_THREADS")


class FakeLibrary(ToolTest):
    """product.pkg adds 43 products, each rounded, one after the other."""

    def setUp(self):
        super().setUp()
        os.environ["LD_LIBRARY_PATH"] = FAKES

    def tearDown(self):
        for name in SETTINGS + ("LD_LIBRARY_PATH",):
            os.environ.pop(name, None)
        super().tearDown()

    def request(self, *more, package="product.pkg", output="out.pkg"):
        path = package if os.path.isabs(package) else self.package(package)
        return ("attest", path, "--contract", "test/product", "--device", "cpu",
                "--library", "openblas", "--range", "tokens=2..40", *more,
                "--output", self.path(output))  # fmt: skip

    def attested(self):
        self.holds(*self.request("--range", "out=1..5"))
        return self.path("out.pkg")

    def checked(self, package, rows):
        """What check says of the library's variant, beside the one of
        product.pkg that is wrong on purpose."""
        report = run_tool("check", package, "--rows", rows, "--dim", "out=5", "--json").json()
        return next((one for one in report["variants"] if "openblas" in one["variant"]),
                    report["unchecked"])  # fmt: skip

    def pin(self, package):
        with open(os.path.join(package, "manifest.json")) as file:
            manifest = json.load(file)
        variant = next(one for one in manifest["variants"] if "library" in one)
        return variant, os.path.join(package, variant["code"]["file"])

    def test_what_keeps_the_contract_is_admitted(self):
        report = self.holds(*self.request("--range", "out=1..5", "--json")).json()
        self.assertEqual(report["status"], 0)
        self.assertEqual(report["refused"], [])
        self.assertEqual(report["admitted"]["algorithm"], {"threads": 1})
        self.assertIn("hidden=43 out=5 tokens=40", report["shapes"])
        self.assertEqual(report["revealed"],
                         ["hidden=43 out=1 tokens=2", "hidden=43 out=5 tokens=40"])  # fmt: skip
        variant, code = self.pin(self.path("out.pkg"))
        self.assertEqual(variant["library"], "openblas")
        self.assertEqual(variant["evidence"], {"bits": "measured"})
        self.assertEqual(variant["when"]["dims"],
                         {"out": {"min": 1, "max": 5}, "tokens": {"min": 2, "max": 40}})  # fmt: skip
        with open(code) as file:
            pin = json.load(file)
        self.assertEqual(pin["version"], "FakeBLAS 1.0")
        self.assertEqual(pin["attestation"]["ranges"], variant["when"]["dims"])
        found = self.checked(self.path("out.pkg"), "1,7,40")
        self.assertEqual(found["differing"], 0)
        self.assertGreater(found["launches"], 0)
        self.assertGreater(found["excluded"]["lone row"], 0)

    def test_another_order_is_refused_with_the_cut(self):
        os.environ["FAKE_BLAS"] = "halves"
        self.fails(
            1,
            *self.request("--range", "out=1..5"),
            says=["at hidden=43 out=1 tokens=", "outputs differ from the reference evaluator",
                  "the contract adds all:* (all chain)",
                  "the library cuts 'hidden' into 2 parts, at hidden=21", "no package was written"],
        )  # fmt: skip
        self.assertEqual(os.listdir(self.scratch), [])

    def test_any_nan_is_a_nan(self):
        os.environ["FAKE_BLAS"] = "nan"
        self.holds(*self.request("--range", "out=5", "--data", "special"))

    def test_another_version_is_not_here(self):
        package = self.attested()
        os.environ["FAKE_BLAS_VERSION"] = "FakeBLAS 1.1"
        self.assertIn(
            "is pinned to openblas FakeBLAS 1.0 on Abacus; here is FakeBLAS 1.1 on Abacus",
            self.checked(package, "7")[0]["why"],
        )
        variant, _ = self.pin(package)
        self.fails(2, "reveal", package, "--op", "product", "--variant", variant["id"],
                   "--dim", "out=5", says="here is FakeBLAS 1.1", leaves=["out.pkg"])  # fmt: skip

    def test_the_challenge_at_load(self):
        package = self.attested()
        os.environ["FAKE_BLAS"] = "halves"
        self.fails(2, "check", package, "--rows", "7", "--dim", "out=5",
                   says="does not keep the contract any more", leaves=["out.pkg"])  # fmt: skip

    def test_an_altered_package_is_refused(self):
        package = self.attested()
        _, code = self.pin(package)
        for path, old, new in (
            (os.path.join(package, "manifest.json"), '"max":40', '"max":90'),
            (code, '"max":40', '"max":90'),
            (code, '"threads":1', '"threads":2'),
        ):
            with open(path) as file:
                good = file.read()
            self.assertIn(old, good)
            with open(path, "w") as file:
                file.write(good.replace(old, new))
            self.fails(2, "check", package, "--dim", "out=5", says=os.path.basename(path),
                       leaves=["out.pkg"])  # fmt: skip
            with open(path, "w") as file:
                file.write(good)

    def test_attested_again(self):
        """For another range it is another variant, for the same range the same."""
        package = self.attested()
        self.holds(*self.request("--range", "out=7", package=package, output="two.pkg"))
        self.holds(*self.request("--range", "out=1..5", package=self.path("two.pkg"),
                                 output="again.pkg"))  # fmt: skip
        with open(os.path.join(self.path("again.pkg"), "manifest.json")) as file:
            manifest = json.load(file)
        ranges = [one["when"]["dims"]["out"] for one in manifest["variants"] if "library" in one]
        self.assertEqual(ranges, [{"min": 7, "max": 7}, {"min": 1, "max": 5}])

    def test_mistakes(self):
        for more, says in (
            ((), "dim 'out' of test/product is open: say --range out=LEAST..LARGEST"),
            (("--range", "out=5..1"), "--range out: 5..1 is no range of extents"),
            (("--range", "out=x"), "--range 'out=x': must be DIM=LEAST..LARGEST"),
            (("--range", "hidden=43"), "--range hidden: is not an open dim of test/product; open: out, tokens"),
            (("--range", "out=5", "--range", "out=6"), "'out' has a range already"),
            (("--range", "out=5", "--algorithm", "split_k=1"), "openblas has one algorithm"),
            (("--range", "out=5", "--algorithm", "split_k"), "must be SETTING=NUMBER"),
            (("--range", "out=5", "--library", "mkl"), "mkl"),
            (("--range", "out=5", "--data", "nice"), "unknown data recipe 'nice'"),
        ):  # fmt: skip
            self.fails(2, *self.request(*more), says=says)
        self.fails(2, *self.request("--range", "hidden=43", package="sum.pkg"), says="test/product")

    def test_only_products(self):
        self.fails(2, "attest", self.package("sum.pkg"), "--device", "cpu", "--library", "openblas",
                   "--range", "tokens=5", "--output", self.path("out.pkg"),
                   says="contract test/sum (sum@1) is not the product of two matrices")  # fmt: skip
        self.fails(2, "attest", self.package("two.pkg"), "--device", "cpu", "--library", "openblas",
                   "--output", self.path("out.pkg"), says="one contract, not 2")  # fmt: skip


def has_fma():
    with open("/proc/cpuinfo") as file:
        flags = file.read()
    return " avx2" in flags and " fma" in flags


class OpenBlas(ToolTest):
    """The kernels of OpenBLAS 0.3.21 for Haswell, in one thread."""

    def setUp(self):
        super().setUp()
        try:
            ctypes.CDLL("libopenblas.so.0")
        except OSError as error:
            self.skipTest(f"no OpenBLAS here: {error}")
        if not has_fma():
            self.skipTest("this processor does not run OpenBLAS's kernels for Haswell")
        os.environ.update(OPENBLAS_CORETYPE="Haswell", OPENBLAS_NUM_THREADS="1")
        compiled = run_tool("compile", FMA, "--target", "cpu:x86-64-v3", "-o", self.path("fma.pkg"))
        if "this machine has no compiler" in compiled.err:
            self.skipTest(compiled.err.strip())
        self.assertEqual(compiled.code, 0, compiled.err)

    def attest(self, tokens, out, depth):
        return ("attest", self.path("fma.pkg"), "--device", "cpu", "--library", "openblas",
                "--range", f"tokens={tokens}", "--range", f"out={out}", "--range", f"in={depth}",
                "--data", "normal,special", "--output", self.path("out.pkg"))  # fmt: skip

    def test_one_block_of_k_keeps_the_chain(self):
        self.holds(*self.attest("1..3", 64, 256))
        self.holds("check", self.path("out.pkg"), "--rows", "2,3", "--dim", "out=64", "--dim",
                   "in=256", "--data", "dense")  # fmt: skip

    def test_more_rows_are_added_in_another_order(self):
        self.fails(1, *self.attest("1..8", 64, 256),
                   says=["at in=256 out=64 tokens=4", "the contract adds k:* (k chain)"],
                   leaves=["fma.pkg"])  # fmt: skip

    def test_blocks_of_k_are_refused(self):
        self.fails(1, *self.attest(3, 64, 1024),
                   says=["the library cuts 'in' into 4 parts, at in=320"],
                   leaves=["fma.pkg"])  # fmt: skip


if __name__ == "__main__":
    import sys

    at = sys.argv.index("--fakes")
    FAKES = sys.argv[at + 1]
    del sys.argv[at : at + 2]
    tool.main(__name__)
