# ranks.py - products divided among ranks, computed by packages
# Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import json
import os
import random
import struct

import tool
from tool import ToolTest, floats, npy, npy_data, run_tool

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
LIBRARY = os.path.join(ROOT, "contracts", "library")
FMA = os.path.join(LIBRARY, "examples", "matmul_fma.json")
RANKS, LENGTH, TOKENS, OUT = 8, 40, 9, 21


def product(count, merge):
    """A share of so many parts."""
    digits, entries = "k:*", ["k chain"]
    if count > 1:
        digits, entries = f"rank:{count}@{LENGTH} k:*", ["k chain", "rank " + merge]
    return {"extends": FMA, "dims": {"in": count * LENGTH},
            "nodes": {"dot": {"partition": digits, "merge": entries}}}  # fmt: skip


def merge_of(ranks, merge):
    """What ranks have sent is summed as a column."""
    return {"op": "column_sum@1", "dims": {"tokens": ranks, "hidden": "*"},
            "types": {"x": "f32", "y": "f32"}, "params": {},
            "nodes": {"sum": {"domain": "tokens", "partition": f"rank:{ranks}", "merge": ["rank " + merge],
                              "start": "first", "precision": {"accumulator": "f32"}}},
            "rounding": {"y": "f32 rne"}, "primitives": {"sum.step": "add.f32"}}  # fmt: skip


class Ranks(ToolTest):
    def contract(self, name, contract):
        path = self.path(name + ".json")
        with open(path, "w") as file:
            json.dump({"bitpact": 1, "name": "test/" + name, **contract}, file)
        return path

    def compiled(self, name, *contracts):
        self.holds("compile", *contracts, "-o", self.path(name + ".pkg"), "--target",
                   "cpu:x86-64-v3" if os.uname().machine == "x86_64" else "cpu:aarch64")  # fmt: skip
        return self.path(name + ".pkg")

    def package(self, name, contract):
        return self.compiled(name, self.contract(name, contract))

    def run_package(self, package, **inputs):
        given = [item for name, (shape, values) in inputs.items() for item in
                 ("--input", name + "=" + npy(self.path(name + ".npy"), shape, values))]  # fmt: skip
        op = "column_sum" if len(inputs) == 1 else "matmul"
        self.holds("run", package, "--op", op, *given, "--output", "y=" + self.path("y.npy"))
        return npy_data(self.path("y.npy"))[1]

    def setUp(self):
        super().setUp()
        chance = random.Random(3)
        self.x = [[chance.gauss(0, 1) for _ in range(RANKS * LENGTH)] for _ in range(TOKENS)]
        self.w = [[chance.gauss(0, 1) for _ in range(RANKS * LENGTH)] for _ in range(OUT)]

    def share(self, package, first, count):
        def cut(rows):
            return (len(rows), count * LENGTH), b"".join(
                floats(row[first * LENGTH : (first + count) * LENGTH]) for row in rows)  # fmt: skip

        return self.run_package(package, x=cut(self.x), weight=cut(self.w))

    def merged(self, ranks, merge):
        package = self.package(f"share{ranks}", product(RANKS // ranks, merge))
        own = RANKS // ranks
        sent = b"".join(self.share(package, rank * own, own) for rank in range(ranks))
        return self.run_package(self.package(f"merge{ranks}", merge_of(ranks, merge)), x=((ranks, TOKENS * OUT), sent))

    def test_cuts_of_a_pairwise_product_have_its_bytes(self):
        whole = self.share(self.package("whole", product(RANKS, "pairwise")), 0, RANKS)
        self.assertEqual(whole, self.by_hand("pairwise"))
        for ranks in (1, 2, 4, 8):
            self.assertEqual(self.merged(ranks, "pairwise"), whole, ranks)

    def test_parts_of_a_folded_product_have_its_bytes(self):
        whole = self.share(self.package("whole", product(RANKS, "fold")), 0, RANKS)
        self.assertEqual(whole, self.by_hand("fold"))
        self.assertEqual(self.merged(8, "fold"), whole)
        self.assertNotEqual(whole, self.by_hand("pairwise"))

    def test_reveal_finds_the_parts_and_how_they_meet(self):
        """The last rank has less."""
        forms = ("fold", "pairwise", "halving", "fold from bf16", "pairwise in bf16")
        base = {"extends": os.path.join(LIBRARY, "examples", "matmul.json"), "types": {"y": "f32"},
                "rounding": {"y": "f32 rne"}}  # fmt: skip
        steps = {"k:*": ["k chain"], "step:* k:16": ["k fused(dot.nv(16,25))", "step chain"]}
        contracts = []
        for form in forms:
            for digits, entries in steps.items():
                name = f"{form} {len(entries)}".replace(" ", "_")
                node = {"partition": f"rank:4@48 {digits}", "merge": [*entries, "rank " + form]}
                more = base if len(entries) > 1 else {"extends": FMA}
                contracts.append(self.contract(name, {**more, "nodes": {"dot": node}, "dims": {"in": 180, "out": 24}}))
        package = self.compiled("forms", *contracts)
        for form in forms:
            for digits, entries in steps.items():
                name = f"test/{form} {len(entries)}".replace(" ", "_")
                report = self.holds("reveal", package, "--op", "matmul", "--contract", name, "--json").json()
                found = report["trees"][0]["fragment"]["nodes"]["dot"]
                self.assertEqual(found["merge"][-1], "d0 " + form, name)
                self.assertEqual(found["merge"][:-1], ["d1 chain"] if len(entries) == 1 else
                                 ["d2 fused(dot.nv(16,25))", "d1 chain"])  # fmt: skip
                outer = "d0:4" if form == "halving" else "d0:*"
                self.assertEqual(found["partition"], outer + (" d1:48" if len(entries) == 1 else " d1:3 d2:16"))
                for tree in report["trees"]:
                    self.assertTrue(tree["equal"], tree["difference"])
                    self.assertEqual(tree["terms"], 180)

    def test_what_was_revealed_is_compared_with_other_parts(self):
        fold, pairwise = (self.contract(form, product(RANKS, form)) for form in ("fold", "pairwise"))
        report = self.holds("reveal", self.compiled("fold", fold), "--op", "matmul", "--json").json()
        found = report["trees"][0]["fragment"]["nodes"]["dot"]
        revealed = {**product(RANKS, "fold"), "nodes": {"dot": {key: found[key] for key in ("partition", "merge")}}}
        revealed = self.contract("revealed", revealed)
        self.holds("diff", fold, revealed)
        # Of three parts fold and pairwise are one tree, of four they are not.
        self.fails(1, "diff", pairwise, revealed, says=f"trees differ from extent {3 * LENGTH + 1} on")

    def test_the_undivided_product_has_a_witness(self):
        for name in ("o_rank8.json", "down_rank8.json"):
            plain = os.path.join(LIBRARY, "qwen3-8b", "down.json" if "down" in name else "linear.json")
            self.bits_differ(plain, os.path.join(LIBRARY, "qwen3-8b", name),
                             ["Π", "T"] if name == "o_rank8.json" else ["Π", "T", "P"])  # fmt: skip

    def test_small_undivided_products_have_a_witness(self):
        plain = self.contract("plain", {**product(1, ""), "dims": {"in": RANKS * LENGTH}})
        for form, fields in (("fold", ["Π", "T"]), ("pairwise", ["Π", "T"]), ("halving", ["Π", "T"]),
                             ("pairwise from bf16", ["Π", "T", "P"])):  # fmt: skip
            self.bits_differ(plain, self.contract("parts", product(RANKS, form)), fields)

    def bits_differ(self, plain, parts, fields):
        """Kernels of both give the bits that are said of each."""
        files = self.path("witness")
        result = run_tool("diff", plain, parts, "--witness", "--witness-out", files, "--json")
        self.assertEqual(result.code, 1, result.err)
        report = result.json()
        self.assertEqual([one["field"] for one in report["changes"]], fields)
        self.assertEqual({one["node"] for one in report["changes"]}, {"dot"})
        first = report["witness"]["first"]
        self.assertEqual((first["name"], first["coordinate"]), ("dot", [0, 0]))
        is_f32 = plain.startswith(self.scratch)
        shown = set()
        for side, contract in (("a", plain), ("b", parts)):
            y, type = self.path(side + ".npy"), "" if is_f32 else ":bf16"
            self.holds("run", self.compiled(side, contract), "--op", "matmul", "--output", "y=" + y,
                       "--input", f"x={files}/x.npy{type}", "--input", f"weight={files}/weight.npy{type}")  # fmt: skip
            bits = int(first[side]["bits"], 16)
            if not is_f32:  # to nearest even
                bits = bits + 0x7FFF + (bits >> 16 & 1) >> 16
            size = 4 if is_f32 else 2
            shown.add(npy_data(y)[1][:size])
            self.assertEqual(npy_data(y)[1][:size], bits.to_bytes(size, "little"))
        self.assertEqual(len(shown), 2)

    def by_hand(self, merge):
        """In doubles: products of two f32 are exact, and a sum of two rounds as fma does but for a tie
        that is none, which these inputs do not have: a difference would fail the test."""

        def f32(value):
            return struct.unpack("<f", struct.pack("<f", value))[0]

        def chain(x, w):
            total = 0.0
            for a, b in zip(x, w):
                total = f32(f32(a) * f32(b) + total)
            return total

        def meet(parts):
            if merge == "pairwise":
                while len(parts) > 1:
                    parts = [f32(a + b) for a, b in zip(parts[::2], parts[1::2])]
                return parts[0]
            total = parts[0]
            for part in parts[1:]:
                total = f32(total + part)
            return total

        spans = [slice(r * LENGTH, (r + 1) * LENGTH) for r in range(RANKS)]
        return floats([meet([chain(x[s], w[s]) for s in spans]) for x in self.x for w in self.w])


if __name__ == "__main__":
    import sys

    if "--tool" in sys.argv:
        tool.TOOL = os.path.abspath(sys.argv[sys.argv.index("--tool") + 1])
    tool.needs_compiler()
    tool.main("__main__")
