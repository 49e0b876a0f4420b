# cuda.py - the same bytes from the CPU and from a GPU, through the tool
# Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import json
import os
import sys

import tool
from tool import SKIP, ToolTest, floats, npy, npy_data

CONTRACT = {
    "bitpact": 1,
    "name": "test/sum",
    "op": "sum@1",
    "dims": {"tokens": "*", "hidden": 257},
    "types": {"x": "f32", "y": "f32"},
    "nodes": {
        "sum": {
            "domain": "hidden",
            "partition": "sweep:* lane:32",
            "merge": ["sweep chain", "lane halving"],
            "start": "identity",
            "precision": {"accumulator": "f32"},
        }
    },
    "rounding": {"y": "f32 rne"},
    "primitives": {"sum.step": "add.f32"},
}


class Cuda(ToolTest):
    def test_both_devices_give_the_same_bytes(self):
        with open(self.path("sum.json"), "w") as file:
            json.dump(CONTRACT, file)
        # Compiled for the device that is here, and checked on it and the CPU.
        checked = self.holds(
            "check", self.path("sum.json"), "--device", "cpu", "--device", "cuda:0", "--rows",
            "1,33,257",
        )  # fmt: skip
        self.assertIn("cuda:0", checked.out)
        self.assertIn("0 differing bytes", checked.out)
        self.holds("compile", self.path("sum.json"), "-o", self.path("sum.pkg"), "--target",
                   "cpu", "--target", "cuda:sm_90a")  # fmt: skip
        npy(self.path("x.npy"), (3, 257), floats([(i * 7919 % 1009) / 77 for i in range(771)]))
        outputs = set()
        for device in ("cpu", "cuda:0"):
            for role in ("train", "rollout"):
                self.holds("run", self.path("sum.pkg"), "--op", "sum", "--device", device,
                           "--role", role, "--input", "x=" + self.path("x.npy"), "--output",
                           "y=" + self.path("y.npy"))  # fmt: skip
                outputs.add(npy_data(self.path("y.npy"))[1])
        self.assertEqual(len(outputs), 1)


    def test_reveal_finds_the_parts_of_a_product(self):
        library = os.path.join(os.path.dirname(__file__), "..", "..", "contracts", "library", "examples")
        forms = ["fold", "pairwise", "pairwise in bf16"]  # of fma no kernel of threads halves
        steps = {"matmul_fma": ("k:*", ["k chain"], forms),
                 "matmul": ("step:* k:16", ["k fused(dot.nv(16,25))", "step chain"], [*forms, "halving"])}  # fmt: skip
        for base, (digits, entries, own) in steps.items():
            for form in own:
                with open(self.path("parts.json"), "w") as file:
                    json.dump({"bitpact": 1, "extends": os.path.join(os.path.abspath(library), base + ".json"),
                               "name": "test/parts", "dims": {"in": 504, "out": 136}, "types": {"y": "f32"},
                               "nodes": {"dot": {"partition": "rank:4@128 " + digits,
                                                 "merge": [*entries, "rank " + form]}},
                               "rounding": {"y": "f32 rne"}}, file)  # fmt: skip
                self.holds("compile", self.path("parts.json"), "-o", self.path("parts.pkg"),
                           "--target", "cuda:sm_90a")  # fmt: skip
                report = self.holds("reveal", self.path("parts.pkg"), "--op", "matmul", "--device", "cuda:0",
                                    "--json").json()  # fmt: skip
                found = report["trees"][0]["fragment"]["nodes"]["dot"]
                self.assertEqual(found["merge"][-1], "d0 " + form)
                self.assertTrue(all(tree["equal"] for tree in report["trees"]))

    def test_tiles_that_several_multiprocessors_compute(self):
        """Each has some of the parts; one that is last may be short."""
        library = os.path.join(os.path.dirname(__file__), "..", "..", "contracts", "library", "qwen3-8b")
        for form, extent in (("pairwise from bf16 in bf16", 1024), ("fold", 1000)):
            with open(self.path("split.json"), "w") as file:
                json.dump({"bitpact": 1, "extends": os.path.join(os.path.abspath(library), "o_rank8.json"),
                           "name": "test/split", "dims": {"in": extent},
                           "nodes": {"dot": {"partition": "rank:8@128 step:* k:16",
                                             "merge": ["k fused(dot.nv(16,25))", "step chain", "rank " + form]}}}, file)  # fmt: skip
            self.holds("compile", self.path("split.json"), "-o", self.path("split.pkg"), "--target", "cuda:sm_90a")
            with open(self.path("split.pkg/manifest.json")) as file:
                schedules = " ".join(variant["schedule"] for variant in json.load(file)["variants"])
            self.assertIn("split=2", schedules)
            self.assertIn("split=8", schedules)
            # More blocks than the clusters that run at one time, and such as end within one.
            self.holds("check", self.path("split.pkg"), "--device", "cuda:0", "--rows", "1,7,64,130",
                       "--dim", "out=8,1200", "--data", "normal", "special", "--repeat", "2")  # fmt: skip


def needs_device():
    if not os.path.exists("/dev/nvidia0"):
        print("skipped: no NVIDIA device here")
        sys.exit(SKIP)


if __name__ == "__main__":
    if "--tool" in sys.argv:
        tool.TOOL = os.path.abspath(sys.argv[sys.argv.index("--tool") + 1])
    needs_device()
    tool.needs_compiler()
    tool.main("__main__")
