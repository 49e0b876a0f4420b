# diff.py - bitpact diff: what it says, exit codes, JSON, revisions, pages
# Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import html.parser
import json
import os
import re
import shutil
import subprocess

import tool
from tool import ToolTest, run_tool

LIBRARY = os.path.join(os.path.dirname(__file__), "..", "..", "contracts", "library")
QWEN = os.path.join(LIBRARY, "qwen3-8b")
EXAMPLES = os.path.join(LIBRARY, "examples")
MODEL = os.path.join(QWEN, "model.json")


class Packages(ToolTest):
    """Canonical JSON and packages: no compiler is needed."""

    def canonical(self, package, change=None, name="one.json"):
        listed = self.holds("inspect", self.package(package), "--text", "--json").json()
        contract = listed["contracts"][0]["text"]
        if change:
            change(contract)
        with open(self.path(name), "w") as file:
            json.dump(contract, file)
        return self.path(name)

    def test_a_package_equals_itself_and_its_contract(self):
        result = self.holds("diff", self.package("sum.pkg"), self.package("sum.pkg"))
        self.assertEqual(result.out.splitlines()[-1], "equal")
        self.holds("diff", self.package("sum.pkg"), self.canonical("sum.pkg"))

    def test_contracts_of_packages_are_matched_by_name(self):
        report = self.holds("diff", self.package("two.pkg"), self.package("two.pkg"), "--json").json()
        self.assertEqual([pair["a"]["name"] for pair in report["pairs"]],
                         ["test/sum43", "test/sum8"])  # fmt: skip
        self.assertEqual(report["verdict"], "equal")
        # Nothing fits: nothing is guessed.
        self.fails(2, "diff", self.package("two.pkg"), self.package("norm.pkg"),
                   says=["no one contract here to compare with test/rms_norm", "say which with --op",
                         "test/sum43 (sum@1)"])  # fmt: skip
        self.holds("diff", self.package("two.pkg"), self.package("two.pkg"), "--op", "test/sum8")

    def test_what_is_only_on_one_side_is_said(self):
        def rename(contract):
            contract["name"] = "test/other"
            contract["op"]["name"] = "other"

        both = self.path("both.json")
        with open(both, "w") as file:
            for path in (self.canonical("sum.pkg"), self.canonical("norm.pkg", name="two.json")):
                with open(path) as one:
                    file.write("// digest\n" + one.read() + "\n")
        with open(self.path("others.json"), "w") as file:
            for path in (self.canonical("sum.pkg"), self.canonical("sum.pkg", rename, "o.json")):
                with open(path) as one:
                    file.write(one.read() + "\n")
        result = self.fails(1, "diff", both, self.path("others.json"))
        self.assertRegex(result.out, r"(?m)^test/sum +\w+ +\w+ +equal$")
        self.assertRegex(result.out, r"(?m)^test/rms_norm +\w+ +- +only in A$")
        self.assertRegex(result.out, r"(?m)^test/other +- +\w+ +only in B$")

    def test_one_field_each(self):
        def rounding(contract):
            contract["rounding"]["normed"] = {"format": "f32", "mode": "rne"}

        def start(contract):
            contract["nodes"]["sum_sq"]["start"] = "first"

        for change, field, path in ((rounding, "R", "rounding.normed"), (start, "T", "nodes.sum_sq.start")):
            a = self.canonical("norm.pkg")
            b = self.canonical("norm.pkg", change, "two.json")
            report = run_tool("diff", a, b, "--json").json()
            self.assertEqual(report["status"], 1)
            self.assertEqual([one["field"] for one in report["changes"]], [field])
            self.assertEqual([one["path"] for one in report["changes"]], [path])
            self.fails(1, "diff", a, b, says="different: 1 entry in " + field)

    def test_functions_that_differ_are_not_comparable(self):
        def eps(contract):
            contract["params"]["eps"] = {"format": "f32", "bits": "3727c5ac"}

        def body(contract):
            operation = [one for one in contract["op"]["body"] if one["op"] == "mul"][0]
            operation["op"] = "add"

        self.fails(3, "diff", self.package("sum.pkg"), self.package("norm.pkg"),
                   says=["not comparable: A computes sum@1, B computes rms_norm@1", "operation "])  # fmt: skip
        self.fails(3, "diff", self.canonical("norm.pkg"), self.canonical("norm.pkg", eps, "two.json"),
                   says="not comparable: the param eps is 1e-06 f32 in A, 1e-05 f32 in B")  # fmt: skip
        self.fails(3, "diff", self.canonical("norm.pkg"), self.canonical("norm.pkg", body, "two.json"),
                   says=["two definitions of rms_norm@1: operation", "mul(", "add("])  # fmt: skip

    def test_a_page_is_one_file_that_loads_nothing(self):
        def order(contract):
            contract["nodes"]["sum"]["partition"] = "i:*"
            contract["nodes"]["sum"]["merge"] = ["i pairwise"]

        page = self.path("page.html")
        run_tool("diff", self.canonical("sum.pkg"), self.canonical("sum.pkg", order, "two.json"),
                 "--html", page)  # fmt: skip
        with open(page, encoding="utf-8") as file:
            text = file.read()
        opened = []

        class Balance(html.parser.HTMLParser):
            def handle_starttag(self, tag, attributes):
                if tag not in ("meta", "path", "circle", "rect"):
                    opened.append(tag)

            def handle_endtag(self, tag):
                assert opened and opened.pop() == tag, tag

        Balance().feed(text.replace("/>", ">"))
        self.assertEqual(opened, [])
        self.assertEqual(text.count("<svg"), 2)
        self.assertIn("class=\"differs", text)
        for forbidden in ("http:", "https:", "<script", "@import", "url(", " src="):
            self.assertNotIn(forbidden, text)
        self.fails(2, "diff", self.package("sum.pkg"), self.package("sum.pkg"), "--html",
                   self.path("none/page.html"), says="none/page.html")  # fmt: skip

    def test_names_in_a_page_are_text(self):
        def name(contract):
            contract["name"] = "<script>alert(1)</script>"
            contract["rounding"]["normed"] = {"format": "f32", "mode": "rne"}

        page = self.path("page.html")
        run_tool("diff", self.canonical("norm.pkg"), self.canonical("norm.pkg", name, "two.json"),
                 "--html", page)  # fmt: skip
        with open(page) as file:
            self.assertNotIn("<script", file.read())

    def test_bad_input(self):
        good = self.package("sum.pkg")
        self.fails(2, "diff", good, self.path("none.json"),
                   says="none.json: error: no such contract file, package or model set")  # fmt: skip
        self.fails(2, "diff", good, self.scratch, says="is no package: it has no manifest.json")
        self.fails(2, "diff", good, says="diff needs A and B, or A and --git BASE")
        self.fails(2, "diff", good, good, "--git", "HEAD", says="give no B")
        self.fails(2, "diff", good, good, "--op", "gemm",
                   says=["there is no contract 'gemm'; there are:", "test/sum (sum@1)"])  # fmt: skip
        broken = self.path("broken.pkg")
        shutil.copytree(good, broken)
        [file] = os.listdir(os.path.join(broken, "contracts"))
        with open(os.path.join(broken, "contracts", file), "a") as contract:
            contract.write(" ")
        self.fails(2, "diff", good, broken, says="broken.pkg")

        def partition(contract):
            contract["nodes"]["sum"]["partition"] = "i:4"

        self.fails(2, "diff", good, self.canonical("sum.pkg", partition, "two.json"),
                   leaves=["broken.pkg", "two.json"], says="two.json: error: ")  # fmt: skip
        self.fails(2, "diff", good, self.canonical("sum.pkg", lambda c: c.pop("nodes"), "two.json"),
                   says="two.json: error: ")  # fmt: skip


class Files(ToolTest):
    """Contract files and model sets."""

    def setUp(self):
        super().setUp()
        if "this machine has no compiler" in run_tool("check", "--expand", os.devnull).err:
            self.skipTest("no compiler")

    def variant(self, base, patch, name="variant.json"):
        patch = {"bitpact": 1, "extends": os.path.abspath(base), **patch}
        with open(self.path(name), "w") as file:
            json.dump(patch, file)
        return self.path(name)

    def changes(self, a, b):
        report = run_tool("diff", a, b, "--json").json()
        return [(one["field"], one["path"]) for one in report["changes"]], report

    def test_a_rounding_before_the_weight_is_one_entry_of_r(self):
        changes, report = self.changes(os.path.join(QWEN, "rms_norm.json"),
                                       os.path.join(QWEN, "rms_norm_rounded.json"))  # fmt: skip
        self.assertEqual(changes, [("R", "rounding.normed")])
        self.assertEqual(report["changes"][0]["before"], "f32 rne")
        self.assertEqual(report["changes"][0]["after"], "bf16 rne")

    def test_a_residual_added_apart_is_one_entry_of_r(self):
        changes, report = self.changes(os.path.join(QWEN, "o_residual.json"),
                                       os.path.join(QWEN, "o_residual_separate.json"))  # fmt: skip
        self.assertEqual(changes, [("R", "rounding.product")])
        self.assertEqual(report["changes"][0]["before"], "f32 rne")
        self.assertEqual(report["changes"][0]["after"], "bf16 rne")

    def test_a_bf16_head_is_named(self):
        changes, _ = self.changes(os.path.join(QWEN, "selected_logprob.json"),
                                  os.path.join(QWEN, "selected_logprob_bf16.json"))  # fmt: skip
        self.assertEqual(changes, [("R", "rounding.scaled")])
        logits = self.variant(os.path.join(QWEN, "selected_logprob.json"), {"types": {"x": "bf16"}})
        changes, _ = self.changes(os.path.join(QWEN, "selected_logprob.json"), logits)
        self.assertEqual(changes, [("P", "types.x")])

    def test_padding_is_a_domain(self):
        changes, report = self.changes(os.path.join(QWEN, "log_sum_exp.json"),
                                       os.path.join(QWEN, "log_sum_exp_padded.json"))  # fmt: skip
        self.assertEqual({field for field, _ in changes}, {"D"})
        self.assertIn("vocab 151936 of 152064", [one["after"] for one in report["changes"]])

    def test_other_words_for_one_tree_are_equivalent(self):
        same = self.variant(os.path.join(EXAMPLES, "sum.json"), {
            "name": "test/sum", "doc": "in other words",
            "nodes": {"sum": {
                "partition": "round:1@4096 turn:1 wide:64@64 narrow:8@8 high:2 low:4",
                "merge": ["low chain", "high chain", "turn chain", "round chain",
                          "wide halving", "narrow halving"]}}})  # fmt: skip
        result = self.holds("diff", os.path.join(EXAMPLES, "sum.json"), same)
        self.assertEqual(result.out.splitlines()[-1], "equivalent")
        self.assertRegex(result.out, r"sum: equivalent, .*Q4 \(neighbouring")
        named = self.variant(os.path.join(EXAMPLES, "sum.json"), {
            "name": "test/named", "nodes": {"sum": {
                "partition": "s:* l:512 p:8",
                "merge": ["p chain", "s chain", "l halving"]}}})  # fmt: skip
        result = self.holds("diff", os.path.join(EXAMPLES, "sum.json"), named)
        self.assertEqual(result.out.splitlines()[-1], "equal")

    def test_trees_that_differ_say_from_where_on(self):
        # Open extents. By hand: blocks of 4 and of 8 elements a lane have one
        # chain for four elements, and an addition for the fifth; with the sixth
        # (x4 + x5) meets the chain in one and not in the other.
        other = self.variant(os.path.join(EXAMPLES, "sum_parts.json"), {
            "name": "test/parts",
            "nodes": {"sum": {"partition": "part:*@4096 sweep:4 lane:128 pack:8"}}})  # fmt: skip
        self.fails(1, "diff", os.path.join(EXAMPLES, "sum_parts.json"), other,
                   says=["sum: trees differ from extent 6 on", "different: 1 entry in Π"])  # fmt: skip

    def model(self, change=None, name="model.json", files=("rms_norm.json", "add_rms_norm.json",
                                                           "rms_norm_rounded.json",
                                                           "selected_logprob.json")):  # fmt: skip
        for file in files:
            shutil.copy(os.path.join(QWEN, file), self.scratch)
        with open(MODEL) as file:
            text = re.sub(r"(?m)^ *//.*$", "", file.read())
        model = json.loads(text)
        if change:
            change(model)
        with open(self.path(name), "w") as file:
            json.dump(model, file, indent=2)
        return self.path(name)

    def test_model_sets_are_matched_site_by_site(self):
        def rounded(model):
            model["contracts"]["first_norm"] = "rms_norm_rounded.json"
            del model["contracts"]["logprob"], model["cut"]["logprob"]

        result = self.fails(1, "diff", MODEL, self.model(rounded))
        self.assertRegex(result.out, r"(?m)^first_norm +\w+ +\w+ +different: 1 entry in R$")
        self.assertRegex(result.out, r"(?m)^mlp_norm +\w+ +\w+ +equal$")
        self.assertRegex(result.out, r"(?m)^logprob +\w+ +- +only in A$")
        self.assertRegex(result.out, r"(?m)^cut of logprob +tokens +absent$")
        result = self.holds("diff", MODEL, os.path.join(QWEN, "rms_norm.json"))
        self.assertRegex(result.out, r"(?m)^qwen3-8b/rms_norm +\w+ +\w+ +equal$")

    def test_model_sets_that_are_wrong(self):
        def refused(change, rule, *says):
            self.fails(2, "diff", MODEL, self.model(change), leaves=sorted(os.listdir(self.scratch)) or None,
                       says=["model.json:", "[%s]" % rule, *says])  # fmt: skip

        self.model()
        refused(lambda m: m.update(version=1), "M1", "there is no key 'version'")
        refused(lambda m: m.update(bitpact_model=2), "M1", "must be 1")
        refused(lambda m: m["contracts"].update(first_norm="none.json"), "M2",
                "'none.json' is no file beside the set")  # fmt: skip
        refused(lambda m: m["contracts"].update(first_norm="model.json"), "M2", "is a model set itself")
        refused(lambda m: m["tensors"]["stream"].pop("next"), "M5",
                "attention_norm → mlp_norm → attention_norm")  # fmt: skip
        refused(lambda m: m["tensors"]["after_mlp"].update(to=["mlp_norm.residual"]), "M4",
                "'mlp_norm.residual' takes two tensors")  # fmt: skip
        refused(lambda m: m["tensors"]["after_mlp"].update({"from": "mlp_norm.x"}), "M3",
                "'mlp_norm.x' is no output", "residual_out")  # fmt: skip
        refused(lambda m: m["tensors"]["after_mlp"].update(to=["logprob.x"]), "M7",
                "is bf16[*, 4096], 'logprob.x' takes f32[*, 151936]")  # fmt: skip
        refused(lambda m: m["cut"].update(logprob=["vocab"]), "M6", "no rank can own whole parts of 'vocab'")
        refused(lambda m: m["cut"].update(logprob=["heads"]), "M6", "'logprob' has no dim 'heads'")
        with open(self.model()) as file:
            text = file.read()
        with open(self.path("model.json"), "w") as file:
            file.write(text.replace('"mlp_norm": "add', '"first_norm": "add', 1))
        self.fails(2, "diff", MODEL, self.path("model.json"),
                   says=["model.json:8:5: error: the key 'first_norm' stands twice [M1]"])  # fmt: skip

    def git(self, *args):
        subprocess.run(["git", "-C", self.scratch, "-c", "user.name=t", "-c", "user.email=t@t", *args],
                       check=True, capture_output=True)  # fmt: skip

    def test_against_a_revision(self):
        model = self.model()
        with open(self.path("derived.json"), "w") as file:
            json.dump({"bitpact": 1, "extends": "rms_norm.json", "name": "test/derived"}, file)
        self.git("init", "-q")
        self.git("add", ".")
        self.git("commit", "-q", "-m", "one")
        self.holds("diff", model, "--git", "HEAD")
        with open(self.path("rms_norm.json")) as file:
            text = file.read()
        with open(self.path("rms_norm.json"), "w") as file:
            file.write(text.replace('"normed": "f32', '"normed": "bf16'))
        # What a file extends, and what a set lists, is that of the revision.
        result = self.fails(1, "diff", self.path("derived.json"), "--git", "HEAD",
                            says=["HEAD:derived.json", "different: 1 entry in R"])  # fmt: skip
        self.assertRegex(result.out, r"(?m)^normed +R +f32 rne +bf16 rne$")
        result = self.fails(1, "diff", model, "--git", "HEAD")
        self.assertRegex(result.out, r"(?m)^first_norm +\w+ +\w+ +different: 1 entry in R$")
        self.fails(2, "diff", model, "--git", "nowhere", says="there is no revision 'nowhere'")
        self.fails(2, "diff", model, "--git=--all", says="there is no revision")
        self.variant(self.path("rms_norm.json"), {"name": "test/new"}, "new.json")
        self.fails(2, "diff", self.path("new.json"), "--git", "HEAD", says="there is no new.json at HEAD")
        # Messages about files of a revision name it.
        with open(self.path("derived.json"), "w") as file:
            json.dump({"bitpact": 1, "extends": "gone.json", "name": "test/derived"}, file)
        self.git("commit", "-q", "-a", "-m", "two")
        result = self.fails(2, "diff", self.path("derived.json"), "--git", "HEAD", says="HEAD:derived.json:1:")
        self.assertNotIn("/tmp/bitpact-", result.err)

    def test_presets_are_those_of_the_revision(self):
        # A tool whose library lies in the repository.
        build = os.path.dirname(os.path.dirname(os.path.realpath(tool.TOOL)))
        if not os.path.exists(os.path.join(build, "lib", "libbitpact-compiler.so")):
            self.skipTest("no compiler beside the tool")
        for folder in ("build/bin", "build/lib", "build/share/bitpact"):
            os.makedirs(self.path(folder))
        mine = shutil.copy2(tool.TOOL, self.path("build/bin"))
        for file in os.listdir(os.path.join(build, "lib")):
            if re.match(r"libbitpact(-compiler)?\.so", file):
                shutil.copy2(os.path.join(build, "lib", file), self.path("build/lib"),
                             follow_symlinks=False)  # fmt: skip
        shutil.copytree(os.path.join(LIBRARY, ".."), self.path("contracts"))
        os.symlink("../../../contracts", self.path("build/share/bitpact/contracts"))
        self.git("init", "-q")
        self.git("add", "contracts")
        self.git("commit", "-q", "-m", "one")
        preset = self.path("contracts/presets/row.pack8_lane512@1.json")
        with open(preset) as file:
            text = file.read()
        with open(preset, "w") as file:
            file.write(text.replace("lane:512", "lane:256"))
        contract = self.path("contracts/library/examples/sum.json")
        result = run_tool("diff", contract, "--git", "HEAD", tool=mine)
        self.assertEqual(result.code, 1, result.out + result.err)
        self.assertRegex(result.out, r"(?m)^sum +Π +sweep:\* lane:512 pack:8 +sweep:\* lane:256 pack:8$")
        # A file that extends it has another preset, which replaces this one.
        serial = self.path("contracts/library/examples/sum_serial.json")
        result = run_tool("diff", serial, "--git", "HEAD", tool=mine)
        self.assertEqual(result.code, 0, result.out + result.err)

    def test_a_revision_needs_a_repository(self):
        outside = self.variant(os.path.join(QWEN, "rms_norm.json"), {"name": "test/outside"})
        self.fails(2, "diff", outside, "--git", "HEAD", says="the file is in no git repository")


if __name__ == "__main__":
    tool.main(__name__)
