# reveal.py - generated contracts: the tree revealed in the kernel is the declared one
# Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""reveal.py --tool bitpact [--trees N] [--seed N] [--op OPERATOR]... compiles random
contracts and reveals the tree of one kernel of each, until N trees were the declared
ones. Ends with 1 where a tree is another one, where there is none and the reason is
not one that the contract explains, or where the witness is not told apart; with 77
where there is no compiler."""
import argparse
import collections
import json
import os
import sys
import tempfile

import conform
import generate

# What reveal may say of a kernel without being wrong: partials of fewer bits than
# the accumulator hide the last bit of a sum of squares, and so do outputs.
PLAIN = [
    "no sum was found whose last bit shows in the result",
    "too short a range",
    "fewer than four terms",
    "adds them exactly",
]
CHUNK = 50


def narrows(contract):
    """Does a sum of squares or weights pass fewer bits than its accumulator has?"""
    node = contract["nodes"].get("sum_sq") or contract["nodes"]["sum"]
    return any(" in " in merge or " from " in merge for merge in node["merge"])


def widens(contract):
    """Are sums of the elements exact in the accumulator, or nearly?"""
    node = contract["nodes"].get("sum_sq") or contract["nodes"]["sum"]
    return contract["types"]["x"] == "f16" and node["precision"]["accumulator"] == "f64"


def with_most_bits(name, contract, i):
    """Three of four sums of squares keep their bits, so that they can be seen."""
    node = contract["nodes"].get("sum_sq")
    if node and i % 4:
        node["merge"] = [" ".join(merge.split()[:2]) for merge in node["merge"]]
    return name, contract


def reveal(options, package, name, op, variant):
    done = conform.run(options.tool, "reveal", package, "--op", op, "--contract", name,
                       "--variant", variant, "--json")  # fmt: skip
    if done.returncode not in (0, 1, 4):
        sys.exit("reveal of %s ended with %d: %s" % (name, done.returncode, done.stderr))
    return json.loads(done.stdout)["trees"]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tool", required=True)
    parser.add_argument("--trees", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--op", action="append")
    options = parser.parse_args()
    operators = options.op or ["sum", "rms_norm", "column_sum"]
    chosen = generate.random_contracts(options.seed, 2 * options.trees, operators)
    chosen = [with_most_bits(*one, i // len(operators)) for i, one in enumerate(chosen)]
    results = collections.Counter()
    wrong = []
    for begin in range(0, len(chosen), CHUNK):
        if results["equal"] >= options.trees:
            break
        some = chosen[begin : begin + CHUNK]
        results["contracts"] += len(some)
        with tempfile.TemporaryDirectory() as scratch:
            paths = []
            for name, contract in some:
                paths.append(os.path.join(scratch, name + ".json"))
                with open(paths[-1], "w") as file:
                    json.dump(contract, file)
            package = os.path.join(scratch, "reveal.pkg")
            conform.compile_package(options, package, paths, conform.host_targets(1))
            listed = json.loads(conform.run(options.tool, "inspect", package, "--json").stdout)
            variants = {one["name"]: one["variants"] for one in listed["contracts"]}
            for i, (name, contract) in enumerate(some):
                kernels = variants[contract["name"]]
                variant = kernels[i % len(kernels)]["id"]
                op = contract["op"].split("@")[0]
                for tree in reveal(options, package, contract["name"], op, variant):
                    if tree["determined"]:
                        results["equal" if tree["equal"] else "different"] += 1
                        if not tree["equal"]:
                            wrong.append((name, tree["difference"]))
                        results["recognised" if "fragment" in tree else "explicit"] += 1
                        continue
                    results["not determined"] += 1
                    plain = any(text in tree["reason"] for text in PLAIN)
                    if plain and (narrows(contract) or widens(contract) or tree["terms"] < 24):
                        results["as they say"] += 1
                    else:
                        wrong.append((name, tree["reason"]))
    print("seed %d: %s" % (options.seed, ", ".join(
        "%d %s" % (count, what) for what, count in sorted(results.items()))))
    for name, why in wrong[:20]:
        print("WRONG %s: %s" % (name, why))
    witness(options)
    if results["equal"] < options.trees:
        sys.exit("too few trees were determined: the test shows little")
    sys.exit(1 if wrong else 0)


def witness(options):
    """Two contracts of one shape and other trees: neither kernel has the other's."""
    with tempfile.TemporaryDirectory() as scratch:
        paths, merges = [], {"a": "pairwise", "b": "halving"}
        for name, form in merges.items():
            contract = generate.sum_contract(
                (lambda n: "sweep:* lane:16", ["sweep chain", "lane " + form]), 64, 1)
            contract["nodes"]["sum"]["merge"] = ["sweep chain", "lane " + form]
            contract["types"] = {"x": "f32", "y": "f32"}
            contract["rounding"]["y"] = "f32 rne"
            contract["nodes"]["sum"]["precision"] = {"accumulator": "f32"}
            contract["primitives"]["sum.step"] = "add.f32"
            paths.append(os.path.join(scratch, name + ".json"))
            with open(paths[-1], "w") as file:
                json.dump({"bitpact": 1, "name": "reveal/" + name, **contract}, file)
        package = os.path.join(scratch, "witness.pkg")
        conform.compile_package(options, package, paths, conform.host_targets(1))
        listed = json.loads(conform.run(options.tool, "inspect", package, "--json").stdout)
        texts = set()
        for one in listed["contracts"]:
            tree = reveal(options, package, one["name"], "sum", one["variants"][0]["id"])[0]
            texts.add(tree["fragment"]["nodes"]["sum"]["merge"][1])
        if texts != {"d1 pairwise", "d1 halving"}:
            sys.exit("the witness: pairwise and halving were revealed as %s" % texts)


if __name__ == "__main__":
    main()
