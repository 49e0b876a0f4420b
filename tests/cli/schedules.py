# schedules.py - the table of schedules, and which one a launch takes
# Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import json
import os

import tool
from tool import ToolTest, floats, npy, npy_data, run_tool

LIBRARY = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "contracts", "library")
ROWS = (1, 16, 17, 64, 65, 128, 200, 256, 1000, 4096)
UNITS = (132, 16)


def cost(conditions, dims, units):
    """As docs/packages.md says it: start + rounds x (tile + element x extent)."""
    terms = conditions["cost"]
    tiles = 1
    for dim, length in terms["tiles"].items():
        pieces = 1
        if dim in terms.get("segments", {}):
            pieces = min(dims[dim], max(dims[terms["segments"][dim]] - 1, 1))
        tiles *= (dims[dim] + pieces * (length - 1)) // length
    per_program = terms["ctas_per_program"]
    filled = units - units // 8 if per_program >= 4 else units
    at_once = max(filled * terms["ctas_per_unit"] // per_program, 1)
    return terms["start"] + -(-tiles // at_once) * (terms["tile"] + terms["element"] * dims[terms["dim"]])


# Tokens of Qwen3-30B-A3B, each for eight of 128 experts: the blocks that were within 2 % of the best on an H200
# (docs/results/2026-11-30-experts-activation.md).
EXPERTS = {
    "experts_gate_up": {1: "16x48 64x48", 4: "16x32 16x48", 16: "64x48 64x32 64x64 16x32", 64: "64x48 64x64",
                        256: "64x64 64x128 64x48", 1024: "64x128 64x192 128x128", 4096: "128x192 128x128"},
    "experts_down": {1: "64x128", 4: "16x48", 16: "64x48 64x64", 64: "64x48 64x64 16x48 64x128", 256: "64x128 64x64",
                     1024: "64x128 128x128", 4096: "128x256 128x128"},
}  # fmt: skip

# Rows of Qwen3-8B's products, by columns of all weights: the blocks that were within 2 % of the best on an H200
# (docs/results/2026-11-30-requests.md; 4096 rows: 2026-11-30-power.md; 129 and 192 of swiglu: 2026-12-01-swiglu.md).
PRODUCTS = {
    ("linear", 6144): {1: "64x48 16x48", 16: "16x48 64x48", 64: "64x48", 65: "64x96", 128: "128x96",
                       129: "64x144 64x160", 192: "64x144 64x160", 256: "64x192", 320: "64x256", 512: "128x192",
                       1024: "128x128 128x192", 4096: "128x192 128x256 128x128"},
    ("linear", 4096): {1: "16x32 64x32", 16: "16x32 64x32", 64: "64x32", 65: "64x64", 128: "128x64", 129: "64x96",
                       192: "64x96", 256: "64x128", 320: "64x160", 512: "128x128", 1024: "128x256 128x128",
                       4096: "128x256 128x128"},
    ("linear", 24576): {1: "64x96 16x96 64x64 16x48 64x48", 16: "64x96 64x64 16x32 16x96 64x48 64x192",
                        64: "64x96 64x64 64x192", 65: "128x192 64x192 64x128", 128: "64x192 128x192 64x128",
                        129: "192x96 64x192 192x192", 192: "192x96 192x192", 256: "128x128 128x192",
                        320: "64x192 64x160", 512: "128x256", 1024: "128x128 128x256 128x192",
                        4096: "128x128 128x192 128x256"},
    ("linear", 151936): {1: "64x96 16x96 16x32 64x64 16x48 64x192 64x144 64x128 64x48",
                         16: "16x32 64x96 16x96 16x48 64x128 64x64 64x192 64x144 64x48",
                         64: "64x192 128x192 64x144 64x128", 128: "128x192 64x192 64x128 64x144 64x256",
                         192: "192x192 192x96", 256: "128x256 128x128 128x192"},
    ("down", 4096): {1: "64x32 16x32", 16: "16x32 64x32", 64: "64x64 64x32", 65: "64x64", 128: "128x64", 129: "64x96",
                     192: "64x96", 256: "64x128", 512: "128x128", 1024: "128x128 128x256", 4096: "128x128 128x256"},
    ("swiglu", 12288): {1: "16x32", 16: "16x32", 64: "64x192 64x96", 65: "128x192", 128: "128x192",
                        129: "192x192 192x96", 192: "192x192", 256: "128x128 128x192", 512: "128x256 128x128 128x192",
                        1024: "128x256 128x128 128x192", 4096: "192x96 128x128 128x256"},
}  # fmt: skip


class Schedules(ToolTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.tiles = os.path.join(cls.packages, "tiles.pkg")
        contract = os.path.join(cls.packages, "tiles.json")
        with open(contract, "w") as file:
            json.dump({"bitpact": 1, "extends": os.path.join(LIBRARY, "qwen3-8b", "linear.json"),
                       "name": "test/tiles", "dims": {"in": 520}}, file)  # fmt: skip
        result = run_tool("compile", contract, "-o", cls.tiles, "--target", "cuda:sm_90a")
        assert result.code == 0, result.err

    def test_the_table_shows_what_the_choice_goes_by(self):
        text = self.holds("inspect", self.tiles).out
        listed = self.holds("inspect", self.tiles, "--json").json()["contracts"][0]["variants"]
        costs = [one for one in listed if "cost" in one["conditions"]]
        self.assertGreater(len(costs), 5)
        for one in costs:
            terms = one["conditions"]["cost"]
            ctas = terms.get("ctas_per_program", 1)
            at_once = "1 a multiprocessor" + (f", {ctas} a tile" if ctas > 1 else "")
            self.assertRegex(text, rf"(?m)^{one['id']} +out {terms['tiles']['out']}, tokens "
                             rf"{terms['tiles']['tokens']} +{at_once} +{terms['start'] / 1e6:.2f} +"
                             rf"{terms['tile'] / 1e6:.2f} +{terms['element']} ps for each of 'in' +measured$")  # fmt: skip
            self.assertEqual(terms["on"], {"device": "NVIDIA H200", "units": 132, "date": "2026-11-30"})
        self.assertIn("costs, measured on NVIDIA H200 (132 multiprocessors), 2026-11-30:", text)

    def test_costs_taken_over_from_another_contract_say_so(self):
        # Of sums with parts only blocks that a cluster divides were measured; products of two weights were.
        parts, gated = self.path("parts.pkg"), self.path("gated.pkg")
        self.holds("compile", os.path.join(LIBRARY, "qwen3-8b", "o_rank8.json"), "-o", parts,
                   "--target", "cuda:sm_90a", "--role", "train")  # fmt: skip
        self.holds("compile", os.path.join(LIBRARY, "examples", "swiglu.json"), "-o", gated,
                   "--target", "cuda:sm_90a", "--role", "train")  # fmt: skip
        evidence = {}
        for package in (parts, gated):
            listed = self.holds("inspect", package, "--json").json()["contracts"][0]["variants"]
            for one in listed:
                if "cost" in one["conditions"]:
                    terms = one["conditions"]["cost"]
                    divided = package == parts and terms["ctas_per_program"] > 1
                    evidence.setdefault((package, divided), set()).add(terms["evidence"])
        self.assertEqual(evidence, {(parts, False): {"model"}, (parts, True): {"measured"},
                                    (gated, False): {"measured"}})  # fmt: skip
        self.assertRegex(self.holds("inspect", parts).out, r"(?m) ps for each of '\w+' +model$")

    def test_the_choice_says_of_which_device_its_costs_are(self):
        line = "costs for cuda:sm_90a: measured on NVIDIA H200 (132 multiprocessors), 2026-11-30\n"
        asked = ("inspect", self.tiles, "--select", "tokens=64,out=6144")
        here, other = self.holds(*asked).out, self.holds(*asked, "--units", 78).out
        self.assertIn("null:cuda:sm_90a:132 ", here)
        self.assertIn("null:cuda:sm_90a:78 ", other)
        for text in (here, other):
            self.assertEqual(text.count(line), 1)
        for one in self.holds(*asked, "--json").json()["selections"][0]["contenders"]:
            if "cost" in one:
                self.assertEqual(one["cost_on"]["device"], "NVIDIA H200")

    def test_the_least_cost_of_those_that_fit_is_taken(self):
        listed = self.holds("inspect", self.tiles, "--json").json()["contracts"][0]["variants"]
        conditions = {one["id"]: one["conditions"] for one in listed}
        taken = set()
        for units in UNITS:
            report = self.holds("inspect", self.tiles, "--select", "tokens=" + ",".join(map(str, ROWS)),
                                "--select", "out=64,333,6144", "--units", units, "--json").json()  # fmt: skip
            self.assertEqual(len(report["selections"]), 3 * len(ROWS) * 2)
            for one in report["selections"]:
                self.assertEqual(one["device"], f"null:cuda:sm_90a:{units}")
                costs = {}
                for each in one["contenders"]:
                    if each["fits"] and each["priority"] == 10:
                        costs[each["variant"]] = cost(conditions[each["variant"]], one["dims"], units)
                        self.assertEqual(each["cost"], costs[each["variant"]])
                self.assertEqual(one["variant"], min(costs, key=costs.get), one)
                # Rows of y that are no whole 16-byte pieces do not leave through the copy unit, as those of
                # several consumers do where columns fill boxes.
                blocks = [conditions[variant]["cost"] for variant in costs]
                boxed = [each for each in blocks if each["tiles"]["tokens"] > 64 * each["ctas_per_program"]
                         and each["tiles"]["out"] % 64 == 0]  # fmt: skip
                self.assertEqual(not boxed, one["dims"]["out"] == 333)
                taken.add(one["variant"])
        self.assertGreater(len(taken), 3)

    def test_schedules_that_are_left_out_are_told_once_for_a_target(self):
        contract = os.path.join(LIBRARY, "..", "..", "tests", "Schedule", "Inputs", "folded.json")
        cache = ("--cache", self.path("cache"))
        line = "remark: contract 'tests/folded': left out for cuda:sm_90a, whose registers do not suffice: "
        proposed = self.holds("compile", contract, "--target", "cuda:sm_90a", "--stop-after", "schedule", *cache)
        self.assertNotIn("left out", proposed.err)
        said = []
        for name in ("first", "again"):
            package = self.path(name + ".pkg")
            result = self.holds("compile", contract, "-o", package, "--target", "cuda:sm_90a", "--json", *cache)
            answer = result.json()
            listed = self.holds("inspect", package, "--json").json()["contracts"][0]["variants"]
            self.assertEqual(answer["from_cache"] > 0, name == "again")
            # What was proposed is in the package or left out, and nothing else is.
            left = [one["schedule"] for one in answer["left_out"]]
            self.assertTrue(left)
            self.assertEqual(sorted(left + [one["schedule"] for one in listed]),
                             sorted(text.split("] ")[1].split(" up to ")[0] for text in proposed.out.splitlines()))  # fmt: skip
            self.assertEqual({(one["contract"], one["target"]) for one in answer["left_out"]},
                             {("tests/folded", "cuda:sm_90a")})  # fmt: skip
            self.assertEqual(result.err.count("remark: "), 1)
            self.assertRegex(result.err, r"(?m)^[^\n]*folded\.json:\d+:\d+: " + line + "; ".join(left) + "$")
            said.append((result.err, left))
        self.assertEqual(*said)
        result = self.holds("compile", os.path.join(LIBRARY, "examples", "matmul.json"), "-o", self.path("all.pkg"),
                            "--target", "cuda:sm_90a", "--json", *cache)  # fmt: skip
        self.assertEqual((result.json()["left_out"], result.err), ([], ""))

    def test_tiles_of_segments_are_counted_as_a_launch_counts_them(self):
        grouped = self.path("grouped.pkg")
        contract = self.path("grouped.json")
        with open(contract, "w") as file:
            json.dump({"bitpact": 1, "extends": os.path.join(LIBRARY, "examples", "grouped_matmul.json"),
                       "name": "test/grouped", "dims": {"experts": "*", "out": 1536, "in": 520}}, file)  # fmt: skip
        self.holds("compile", contract, "-o", grouped, "--target", "cuda:sm_90a")
        listed = self.holds("inspect", grouped, "--json").json()["contracts"][0]["variants"]
        conditions = {one["id"]: one["conditions"] for one in listed}
        report = self.holds("inspect", grouped, "--select", "tokens=1,8,64,300,4096,32768,experts=128",
                            "--select", "boundaries=2,9,129", "--role", "train", "--json").json()  # fmt: skip
        self.assertEqual(len(report["selections"]), 6 * 3)
        taken = set()
        for one in report["selections"]:
            costs = {}
            for each in one["contenders"]:
                if each["fits"] and "cost" in each:
                    costs[each["variant"]] = cost(conditions[each["variant"]], one["dims"], 132)
                    self.assertEqual(each["cost"], costs[each["variant"]], one["dims"])
            self.assertEqual(one["variant"], min(costs, key=costs.get), one["dims"])
            taken.add(one["variant"])
        self.assertGreater(len(taken), 2)

    def test_experts_get_a_block_that_was_measured_to_be_fast(self):
        package = self.path("model.pkg")
        self.holds("compile", *(os.path.join(LIBRARY, "qwen3-30b-a3b", name + ".json") for name in EXPERTS),
                   "-o", package, "--target", "cuda:sm_90a", "--role", "rollout")  # fmt: skip
        for contract in self.holds("inspect", package, "--json").json()["contracts"]:
            blocks = {one["id"]: one["conditions"]["cost"] for one in contract["variants"]
                      if "cost" in one["conditions"]}  # fmt: skip
            self.assertEqual({cost["evidence"] for cost in blocks.values()}, {"measured"})
            measured = EXPERTS[contract["name"].split("/")[1]]
            report = self.holds("inspect", package, "--contract", contract["name"], "--json", "--select",
                                "experts=128,boundaries=129,tokens=" + ",".join(str(8 * tokens) for tokens in measured))
            for one in report.json()["selections"]:
                tiles = blocks[one["variant"]]["tiles"]
                self.assertIn(f"{tiles['tokens']}x{tiles['out']}",
                              measured[one["dims"]["tokens"] // 8].split(), one["dims"])  # fmt: skip

    def test_products_get_a_block_that_was_measured_to_be_fast(self):
        package = self.path("products.pkg")
        self.holds("compile", *(os.path.join(LIBRARY, "qwen3-8b", name + ".json")
                                for name in ("linear", "down", "swiglu")),
                   "-o", package, "--target", "cuda:sm_90a", "--role", "rollout")  # fmt: skip
        blocks = {one["id"]: one["conditions"].get("cost")
                  for contract in self.holds("inspect", package, "--json").json()["contracts"]
                  for one in contract["variants"]}  # fmt: skip
        for (name, out), measured in PRODUCTS.items():
            asked = ["--contract", "qwen3-8b/" + name, "--select", "tokens=" + ",".join(map(str, measured))]
            if name == "linear":
                asked += ["--select", f"out={out}"]
            report = self.holds("inspect", package, "--json", *asked).json()
            self.assertEqual(len(report["selections"]), len(measured))
            for one in report["selections"]:
                tiles = blocks[one["variant"]]["tiles"]
                columns = tiles["out"] * (2 if name == "swiglu" else 1)
                self.assertIn(f"{tiles['tokens']}x{columns}", measured[one["dims"]["tokens"]].split(),
                              (name, one["dims"]))  # fmt: skip

    def test_one_question_is_answered_in_full_and_again_alike(self):
        asked = ("inspect", self.tiles, "--select", "tokens=64,out=333", "--role", "train")
        first = self.holds(*asked).out
        self.assertEqual(self.holds(*asked).out, first)
        self.assertIn("the least cost of ", first)
        self.assertIn("tensor 'y' has stride 333 at axis 0, it needs a multiple of 8", first)
        self.assertRegex(first, r"(?m) taken$")
        self.assertNotIn("because", self.holds("inspect", self.tiles).out)

    def test_mistakes(self):
        def refused(*asked, says):
            self.fails(2, "inspect", self.tiles, *asked, says=says)

        refused("--select", "tokens=64", says="leaves 'out' open; say out=EXTENT")
        refused("--select", "tokens=1,out=1,depth=1", says=["'depth'", "has the dims tokens, out, in"])
        refused("--select", "tokens=1,out=1,in=7", says="fixes it at 520")
        refused("--select", "tokens=0,out=1", says="--select 'tokens=0' is not of the form NAME=EXTENT")
        refused("--select", "64", says="--select '64' is not of the form NAME=EXTENT")
        refused("--select", "tokens=1,out=1", "--role", "decode", says="has variants for train, rollout")
        refused("--select", "tokens=1,out=1", "--target", "cpu", says="has variants for cuda:sm_90a")
        refused("--select", "tokens=9223372036854775807,out=9223372036854775807",
                says="is larger than any memory")  # fmt: skip
        refused("--units", "4", says="for what --select asks")
        report = self.holds("inspect", self.tiles, "--select", "tokens=4194305,out=8", "--json").json()
        self.assertIsNone(report["selections"][0]["variant"])
        self.assertEqual(report["selections"][0]["why"], "no variant takes it")

    def test_a_variant_of_the_same_contract_may_be_taken_instead(self):
        contracts = []
        for name, merge in (("one", {}), ("other", {"nodes": {"dot": {
                "partition": "part:2@64 k:*", "merge": ["k chain", "part fold"]}}})):  # fmt: skip
            contracts.append(self.path(name + ".json"))
            with open(contracts[-1], "w") as file:
                json.dump({"bitpact": 1, "extends": os.path.join(LIBRARY, "examples", "matmul_fma.json"),
                           "name": "test/" + name, "dims": {"in": 100}, **merge}, file)  # fmt: skip
        package = self.path("two.pkg")
        self.holds("compile", *contracts, "-o", package, "--target",
                   "cpu:x86-64-v3" if os.uname().machine == "x86_64" else "cpu:aarch64")  # fmt: skip
        listed = self.holds("inspect", package, "--json").json()["contracts"]
        ids = {one["name"]: [each["id"] for each in one["variants"]] for one in listed}
        values = [i * 7919 % 1009 / 77 - 6 for i in range(500)]
        inputs = ("--input", "x=" + npy(self.path("x.npy"), (3, 100), floats(values[:300])),
                  "--input", "weight=" + npy(self.path("w.npy"), (2, 100), floats(values[300:])))  # fmt: skip
        outputs = []
        for variant in ids["test/one"]:
            self.holds("run", package, "--op", "matmul", "--contract", "test/one", "--variant", variant, *inputs,
                       "--output", "y=" + self.path("y.npy"))  # fmt: skip
            outputs.append(npy_data(self.path("y.npy"))[1])
        self.assertEqual(len(outputs), 2)  # few rows and many
        self.assertEqual(outputs[0], outputs[1])
        self.fails(2, "run", package, "--op", "matmul", "--contract", "test/one", "--variant", ids["test/other"][0],
                   *inputs, "--output", "y=" + self.path("z.npy"),
                   says=[ids["test/other"][0], ids["test/one"][0]])  # fmt: skip


if __name__ == "__main__":
    import sys

    if "--tool" in sys.argv:
        tool.TOOL = os.path.abspath(sys.argv[sys.argv.index("--tool") + 1])
    tool.needs_compiler()
    tool.main("__main__")
