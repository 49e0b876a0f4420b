# ablation.py - diff --witness and ablate: what they find, files, messages
# Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import json
import os
import struct

import tool
from tool import ToolTest, npy, npy_data, run_tool

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
FIELD = os.path.join(ROOT, "tests", "field", "contracts")
LIBRARY = os.path.join(ROOT, "contracts", "library")


def field(name):
    return os.path.join(FIELD, name + ".json")


def library(name):
    return os.path.join(LIBRARY, name + ".json")


class ContractTools(ToolTest):
    def derived(self, name, base, **patch):
        text = {"bitpact": 1, "extends": base, "name": "test/" + name, **patch}
        with open(self.path(name + ".json"), "w") as file:
            json.dump(text, file)
        return self.path(name + ".json")


class Witness(ContractTools):
    def witness(self, a, b, *options):
        result = run_tool("diff", a, b, "--witness", "--json", *options)
        self.assertEqual(result.code, 1, result.err + result.out)
        answer = result.json()["witness"]
        self.assertTrue(answer["found"], result.out)
        return answer

    def test_rounding_before_the_weight(self):
        found = self.witness(field("norm"), field("norm_rounded"))
        self.assertEqual(found["first"]["name"], "normed")
        self.assertEqual(found["first"]["b"]["type"], "bf16")
        self.assertNotEqual(found["outputs"]["y"]["a"]["bits"], found["outputs"]["y"]["b"]["bits"])

    def test_double_rounding(self):
        once = self.derived("once", field("norm"), rounding={"normed": "f64 rne"})
        self.assertEqual(self.witness(field("norm"), once)["first"]["name"], "y")

    def test_bias_fused_or_separate(self):
        found = self.witness(field("layer"), field("layer_separate"))
        self.assertEqual(found["first"]["name"], "y")

    def test_bf16_head(self):
        small = {"dims": {"vocab": 200}}
        a = self.derived("head", library("qwen3-8b/selected_logprob"), **small)
        b = self.derived("head_bf16", library("qwen3-8b/selected_logprob_bf16"), **small)
        self.assertEqual(self.witness(a, b)["first"]["name"], "scaled")

    def test_signed_zero(self):
        found = self.witness(field("sum_identity"), field("sum_first"))
        self.assertEqual(found["outputs"]["y"]["a"]["bits"], "0x00000000")
        self.assertEqual(found["outputs"]["y"]["b"]["bits"], "0x80000000")
        self.assertEqual(found["inputs"]["x"]["all"], "-0")

    def test_vocabulary_padding(self):
        whole = {node: {"domain": "vocab"} for node in ("max", "sum")}
        b = self.derived("whole", field("lse_two_pass"), nodes=whole)
        self.witness(field("lse_two_pass"), b)
        # Another amount of padding, which nobody reads: no witness, and exit 1
        # since the texts say so.
        domain = {"vocab": {"extent": 100, "stored": 130}}
        wider = {node: {"domain": domain} for node in ("max", "sum")}
        c = self.derived("wider", field("lse_two_pass"), dims={"vocab": 130}, nodes=wider)
        result = run_tool("diff", field("lse_two_pass"), c, "--witness", "--trials", "2")
        self.assertIn("no witness: ", result.out)
        self.assertIn("(seed 1): ", result.out)

    def test_states(self):
        for a, b in (("lse_online", "lse_two_pass"), ("lse_online", "lse_shared")):
            self.assertEqual(self.witness(field(a), field(b))["first"]["name"], "sum")

    def test_the_seed_decides_and_is_printed(self):
        texts = [run_tool("diff", field("norm"), field("norm_rounded"), "--witness", "--seed", seed).out for seed in (5, 5, 6)]
        self.assertEqual(texts[0], texts[1])
        self.assertIn("witness (seed 5, by ", texts[0])
        self.assertIn("witness (seed 6, by ", texts[2])

    def test_equal_contracts_are_not_searched(self):
        result = self.holds("diff", field("norm"), field("norm"), "--witness")
        self.assertNotIn("witness", result.out)

    def test_other_operators_are_not_comparable(self):
        result = run_tool("diff", field("norm"), field("layer"), "--witness")
        self.assertEqual(result.code, 3)
        self.assertNotIn("witness", result.out)

    def test_kernels_differ_on_the_files_of_a_witness(self):
        a, b = field("norm"), field("norm_rounded")
        answer = self.witness(a, b, "--witness-out", self.path("w"))
        self.assertEqual(sorted(os.listdir(self.path("w"))), ["weight.npy", "x.npy"])
        bits = []
        for side, contract in (("a", a), ("b", b)):
            package, out = self.path(side + ".pkg"), self.path(side + ".npy")
            self.holds("compile", contract, "-o", package, "--target", "cpu:x86-64-v3" if os.uname().machine == "x86_64" else "cpu:aarch64")
            self.holds("run", package, "--op", "rms_norm", "--output", "y=" + out, *[
                item for name in ("x", "weight") for item in ("--input", "%s=%s:bf16" % (name, self.path("w/" + name + ".npy")))
            ])  # fmt: skip
            data = npy_data(out)[1]
            bits.append(struct.unpack("<%dH" % (len(data) // 2), data))
        row, column = answer["outputs"]["y"]["coordinate"]
        self.assertEqual(row, 0)
        self.assertEqual(answer["outputs"]["y"]["a"]["bits"], "0x%04x" % bits[0][column])
        self.assertEqual(answer["outputs"]["y"]["b"]["bits"], "0x%04x" % bits[1][column])
        self.assertEqual(answer["outputs"]["y"]["differing"], sum(x != y for x, y in zip(*bits)))


class Ablate(ContractTools):
    def other(self):
        return self.derived(
            "other", field("norm"),
            rounding={"normed": "bf16 rne", "y": "f32 rne"}, types={"y": "f32"},
            nodes={"sum_sq": {"merge": ["pack chain", "sweep chain", "lane pairwise"]}},
        )  # fmt: skip

    def test_steps_in_order_and_what_they_do(self):
        result = run_tool("ablate", field("norm"), self.other(), "--json")
        self.assertEqual(result.code, 1, result.err)
        answer = result.json()
        single = [step for step in answer["steps"] if step["single"]]
        self.assertEqual([s["name"] for s in single], ["nodes.sum_sq.merge", "types.y+rounding.y", "rounding.normed"])
        self.assertIn("[P4]", single[1]["together_since"])
        self.assertEqual(single[2]["first"]["name"], "normed")
        self.assertEqual(single[0]["first"]["name"], "sum_sq")
        self.assertEqual(answer["all"]["elements"], 6400)
        for step in answer["steps"]:
            histogram = step["outputs"]["y"]["histogram"]
            counts = [histogram[k] for k in ("zero_sign", "below_one", "class_changes")]
            self.assertEqual(step["differing"], sum(counts) + sum(histogram["ulps"].values()))
            self.assertEqual(step["elements"], step["differing"] + histogram["equal"])

    def test_the_one_step_that_explains_all(self):
        result = run_tool("ablate", field("norm"), field("norm_rounded"), "--seed", "3")
        self.assertEqual(result.code, 1)
        self.assertIn("alone gives the bytes of B: rounding.normed", result.out)
        self.assertIn("data: normal, seed 3, 64 rows", result.out)

    def test_files_read_back(self):
        result = run_tool("ablate", field("norm"), self.other(), "--write", self.path("steps"), "--json")
        answer = result.json()
        files = sorted(os.listdir(self.path("steps")))
        self.assertEqual(files[:3] + files[-1:], ["01-nodes.sum_sq.merge.json", "02-types.y+rounding.y.json", "03-rounding.normed.json", "baseline.json"])
        with open(self.path("steps/03-rounding.normed.json")) as file:
            text = json.load(file)
        self.assertEqual(text["extends"], "baseline.json")
        self.assertEqual(text["rounding"], {"normed": "bf16 rne"})
        for step in answer["steps"]:
            read = self.holds("check", "--expand", "--json", step["file"]).json()
            self.assertEqual(read["contracts"][0]["digest"], step["digest"])
        base = self.holds("check", "--expand", "--json", self.path("steps/baseline.json"), field("norm")).json()
        self.assertEqual(base["contracts"][0]["digest"], base["contracts"][1]["digest"])

    def test_given_tensors(self):
        x = npy(self.path("x.npy"), [2, 100], struct.pack("<200H", *[0x3F80 + i % 128 for i in range(200)]), "<u2")
        weight = npy(self.path("w.npy"), [100], struct.pack("<100H", *[0x3F80] * 100), "<u2")
        result = run_tool("ablate", field("norm"), field("norm_rounded"), "--input", "x=%s:bf16" % x, "--input", "weight=%s:bf16" % weight, "--json")
        # The weight is 1: once or twice rounded to bf16 is the same.
        self.assertEqual(result.code, 0, result.err)
        answer = result.json()
        self.assertEqual(answer["all"]["differing"], 0)
        self.assertEqual(answer["all"]["first"]["name"], "normed")
        self.assertEqual(answer["all"]["elements"], 200)

    def test_tensors_that_do_not_fit(self):
        narrow = npy(self.path("narrow.npy"), [2, 99], b"\0" * 396, "<u2")
        weight = npy(self.path("w.npy"), [100], b"\0" * 200, "<u2")
        pair = ("ablate", field("norm"), field("norm_rounded"))
        weights = ("--input", "weight=%s:bf16" % weight)
        self.fails(2, *pair, *weights, says="missing: --input x=FILE")
        self.fails(2, *pair, *weights, "--input", "x=%s:bf16" % narrow, says=["tensor 'x'", "99 elements", "100"])
        self.fails(2, *pair, *weights, "--input", "z=%s" % narrow, says=["no input 'z'", "x, weight"])
        self.fails(2, *pair, *weights, "--input", narrow, says="not of the form NAME=FILE")
        self.fails(2, *pair, *weights, *weights, says="'weight' is given twice")
        self.fails(2, *pair, "--dim", "hidden=5", says="fixes it at 100")
        self.fails(2, *pair, "--data", "odd", says="unknown data recipe 'odd'")
        self.fails(2, "ablate", field("norm"), self.path("none.json"), says="none.json")

    def test_nothing_to_ablate(self):
        result = self.holds("ablate", field("norm"), field("norm"))
        self.assertIn("equal: there is no step", result.out)
        result = run_tool("ablate", field("norm"), field("layer"))
        self.assertEqual(result.code, 3)
        self.assertIn("not comparable: ", result.out)

    def test_open_extents_indices_and_padding(self):
        for a, b, option in (
            (field("sum_identity"), field("sum_pairwise"), ("--dim", "hidden=300", "--data", "dense")),
            (field("lse_online"), field("lse_two_pass"), ()),
            (library("qwen3-8b/selected_logprob"), library("qwen3-8b/selected_logprob_bf16"), ("--rows", "2", "--data", "dense")),
        ):
            result = run_tool("ablate", a, b, "--json", *option)
            self.assertEqual(result.code, 1, result.err + result.out)
            self.assertTrue(result.json()["all"]["differing"])


if __name__ == "__main__":
    import sys

    if "--tool" in sys.argv:
        tool.TOOL = os.path.abspath(sys.argv[sys.argv.index("--tool") + 1])
    tool.needs_compiler()
    tool.main("__main__")
