# witness.py - pairs of contracts that differ in one field, and their witnesses
# Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""witness.py --tool BITPACT --survey PROGRAM [--count N] [--seed N] [--long N]

Takes contracts of the library and random ones, changes one field of each, and
searches an input on which both differ. It fails if an equivalent pair has one,
or one of which a reason below says that it never differs, or if more than a few
of the others have none. With --long these are searched again, N times as long,
with another seed."""
import argparse
import collections
import copy
import json
import os
import random
import subprocess
import sys
import tempfile

import generate

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SKIP = 77
FORMATS = ["bf16", "f16", "f32", "f64"]


def expanded(tool, seed, count):
    """Canonical JSON of library contracts and of random ones."""
    with tempfile.TemporaryDirectory() as folder:
        paths = generate.write(folder, seed, random_count=max(count // 2, 60))
        paths += generate.write(folder + "/states", seed, random_count=max(count // 4, 60), operators=generate.STATES)
        for base, _, files in sorted(os.walk(os.path.join(ROOT, "contracts", "library"))):
            paths += [os.path.join(base, name) for name in sorted(files) if name.endswith(".json")]
        contracts = []
        for begin in range(0, len(paths), 200):
            done = subprocess.run(
                [tool, "check", *[p for p in paths[begin : begin + 200] if not p.endswith("model.json")], "--expand", "--json"],
                capture_output=True, text=True,
            )  # fmt: skip
            if "no compiler" in done.stderr:
                sys.exit(SKIP)
            if done.returncode:
                sys.exit(done.stderr)
            for one in json.loads(done.stdout)["contracts"]:
                canonical = one["canonical"]
                contracts.append(json.loads(canonical) if isinstance(canonical, str) else canonical)
    # Vocabularies take seconds a pair; tests/unit/witness has them. Products of
    # matrices have steps that the mutations below know nothing of.
    return [
        c
        for c in contracts
        if all(e == "*" or e <= 20000 for e in c["dims"].values())
        and not any("fused(" in m for node in c["nodes"].values() for m in node["merge"])
    ]


class Mutation:
    """One field of a contract, changed at random."""

    def __init__(self, contract, definitions, shuffle):
        self.c = copy.deepcopy(contract)
        self.definitions = definitions
        self.shuffle = shuffle

    def nodes(self):
        return self.shuffle.choice(sorted(self.c["nodes"].items()))

    def primitive(self, site, name):
        if name not in self.definitions:
            return False
        self.c["primitives"][site] = name
        self.c["definitions"][name] = self.definitions[name]
        return True

    def domain(self):
        """D: one element less exists, for every node over a dim."""
        _, node = self.nodes()
        dim = node["domain"] if isinstance(node["domain"], str) else next(iter(node["domain"]))
        stored = self.c["dims"][dim]
        if stored == "*" or stored < 2:
            return None
        for other in self.c["nodes"].values():
            if other["domain"] == node["domain"] and other is not node:
                other["domain"] = {dim: {"extent": stored - 1, "stored": stored}}
        node["domain"] = {dim: {"extent": stored - 1, "stored": stored}}
        return "D domain"

    def partition(self):
        """Π: another radix or length of a digit."""
        name, node = self.nodes()
        digits = node["partition"].split()
        i = self.shuffle.randrange(len(digits))
        digit, _, size = digits[i].partition(":")
        radix, at, length = size.partition("@")
        if radix == "*" or radix == "":
            if not length.isdigit():
                return None
            length = str(max(1, int(length) + self.shuffle.choice([-1, 1, 8])))
        else:
            radix = str(max(1, self.shuffle.choice([int(radix) * 2, int(radix) // 2, int(radix) + 1])))
        digits[i] = digit + ":" + radix + at + length
        node["partition"] = " ".join(digits)
        return "Π partition of " + name

    def form(self):
        """T: another form of one merge."""
        name, node = self.nodes()
        i = self.shuffle.randrange(len(node["merge"]))
        words = node["merge"][i].split()
        words[1] = self.shuffle.choice(["chain", "fold", "pairwise", "halving"])
        if words[1] == "chain":
            words = words[:2]
        node["merge"][i] = " ".join(words)
        return "T form in " + name

    def order(self):
        """T: two merges change places."""
        name, node = self.nodes()
        if len(node["merge"]) < 2:
            return None
        i = self.shuffle.randrange(len(node["merge"]) - 1)
        node["merge"][i : i + 2] = reversed(node["merge"][i : i + 2])
        return "T order in " + name

    def start(self):
        name, node = self.nodes()
        node["start"] = "first" if node["start"] == "identity" else "identity"
        return "T start of " + name

    def state(self):
        for name, node in self.c["nodes"].items():
            if node.get("state") == "online":
                node["state"] = "two_pass"
                node["merge"] = [m.replace(" carry", " chain").replace(" merge", "") for m in node["merge"]]
                for site in ("rescale", "combine"):
                    self.c["primitives"].pop(name + "." + site, None)
                return "T state of " + name
        return None

    def partial(self):
        """P: the format of partials."""
        name, node = self.nodes()
        i = self.shuffle.randrange(len(node["merge"]))
        words = node["merge"][i].split()
        if words[1] in ("chain", "carry") or words[1].startswith("fused"):
            return None
        kept = words[:3] if words[2:3] == ["merge"] else words[:2]
        node["merge"][i] = " ".join(kept) + self.shuffle.choice(["", " in bf16", " from f16", " in f16", " from bf16"])
        return "P partials of " + name

    def accumulator(self):
        """P: the accumulator, and the step that has it."""
        name, node = self.nodes()
        site = name + ".step"
        step = self.c["primitives"][site]
        wide = "f32" if node["precision"]["accumulator"] == "f64" else "f64"
        other = step.rsplit(".", 1)[0] + "." + wide
        if not self.primitive(site, other):
            return None
        node["precision"]["accumulator"] = wide
        if node["precision"].get("product") in ("f32", "f64"):
            node["precision"]["product"] = wide
        return "P accumulator of " + name

    def product(self):
        name, node = self.nodes()
        exact = node["precision"].get("product")
        if exact is None:
            return None
        accumulator = node["precision"]["accumulator"]
        node["precision"]["product"] = accumulator if exact == "exact" else "exact"
        if not self.primitive(name + ".step", ("dot.mul_add." if exact == "exact" else "dot.fma.") + accumulator):
            return None
        return "P product of " + name

    def element(self):
        """P: the type of an input."""
        names = [t["name"] for t in self.c["op"]["tensors"] if t["kind"] == "in" and self.c["types"][t["name"]] in FORMATS]
        name = self.shuffle.choice(names)
        self.c["types"][name] = self.shuffle.choice([f for f in FORMATS if f != self.c["types"][name]])
        return "P type of " + name

    def rounding(self):
        """R: another format at a site; an output's is its type too."""
        site = self.shuffle.choice(sorted(self.c["rounding"]))
        before = self.c["rounding"][site]
        now = self.shuffle.choice([f for f in FORMATS if before == "exact" or f != before["format"]])
        self.c["rounding"][site] = {"format": now, "mode": "rne"}
        for op in self.c["op"]["body"]:
            if op["op"] == "output" and op.get("site", op["tensor"]) == site:
                self.c["types"][op["tensor"]] = now
        return "R " + site

    def other_primitive(self):
        """A: another primitive of the same arguments."""
        site = self.shuffle.choice(sorted(self.c["primitives"]))
        mine = self.c["primitives"][site]
        shape = lambda d: (d["kind"], d["args"], d["result"], d.get("product"), d.get("reduction"))
        alike = sorted(n for n, d in self.definitions.items() if n != mine and shape(d) == shape(self.definitions[mine]))
        if not alike:
            return None
        return self.primitive(site, self.shuffle.choice(alike)) and "A " + site

    KINDS = [domain, partition, form, order, start, state, partial, accumulator, product, element, rounding, rounding, other_primitive]  # fmt: skip
    # Operators without a node have none of these fields.
    OF_NODES = [domain, partition, form, order, start, state, partial, accumulator, product]


def pairs(contracts, seed):
    """Without end; some break a rule, which the survey sees."""
    definitions = {}
    for contract in contracts:
        definitions.update(contract["definitions"])
    shuffle = random.Random("pairs %d" % seed)
    number = 0
    while True:
        kind = Mutation.KINDS[number % len(Mutation.KINDS)]
        number += 1
        for _ in range(50):
            contract = shuffle.choice(contracts)
            if kind in Mutation.OF_NODES and not contract["nodes"]:
                continue
            mutation = Mutation(contract, definitions, shuffle)
            change = kind(mutation)
            if change and mutation.c != contract:
                yield {"name": contract["name"], "change": change, "a": contract, "b": mutation.c}
                break


def run(survey, pairs_, rounds, seed):
    with tempfile.NamedTemporaryFile("w", suffix=".jsonl") as file:
        for pair in pairs_:
            file.write(json.dumps(pair) + "\n")
        file.flush()
        done = subprocess.run([survey, file.name, str(rounds), str(seed)], capture_output=True, text=True)
        if done.returncode:
            sys.exit(done.stderr or "the survey ended with %d" % done.returncode)
        return [json.loads(line) for line in done.stdout.splitlines()]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tool", required=True)
    parser.add_argument("--survey", required=True)
    parser.add_argument("--count", type=int, default=120)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=8)
    parser.add_argument("--long", type=int, default=0)
    parser.add_argument("--share", type=float, default=0.9, help="fail below this share")
    parser.add_argument("--save", help="write every pair without a witness there, one a line")
    args = parser.parse_args()
    contracts = expanded(args.tool, args.seed, args.count)
    source = pairs(contracts, args.seed)
    kept, results = [], []
    while len(kept) < args.count:
        chunk = [next(source) for _ in range(max(20, args.count - len(kept)))]
        for pair, result in zip(chunk, run(args.survey, chunk, 1, args.seed)):
            if result["verdict"] in ("different", "equivalent") and len(kept) < args.count:
                kept.append(pair)
                results.append(result)
    # The first round is part of every search. Pairs of which it is known that
    # they never differ get no more than that.
    differ = [i for i, r in enumerate(results) if r["verdict"] == "different"]
    why = {i: never(kept[i]) for i in differ}
    again = [i for i in differ if not results[i]["found"] and not why[i]]
    for i, r in zip(again, run(args.survey, [kept[i] for i in again], args.rounds, args.seed)):
        results[i] = r
    missing = [i for i in again if not results[i]["found"]]
    later = {}
    if args.long and missing:
        found = run(args.survey, [kept[i] for i in missing], args.rounds * args.long, args.seed + 1)
        later = dict(zip(missing, found))
    equivalent = [r for r in results if r["verdict"] == "equivalent"]
    wrong = [r for r in equivalent if r["found"]]
    wrong += [results[i] for i in differ if results[i]["found"] and why[i]]
    having = [results[i] for i in differ if results[i]["found"]]
    known = [i for i in differ if why[i] and not results[i]["found"]]
    print("seed %d: %d pairs: %d equivalent, %d different; of these %d never differ, %d have a witness, %d none was found for"
          % (args.seed, len(kept), len(equivalent), len(differ), len(known), len(having), len(missing)))  # fmt: skip
    by = collections.Counter(r["by"] for r in having)
    print("found by: " + ", ".join("%s %d" % item for item in by.most_common()))
    times = sorted(r["seconds"] for r in having)
    if times:
        print("CPU seconds to a witness: median %.3f, 99 %% below %.3f, most %.3f"
              % (times[len(times) // 2], times[len(times) * 99 // 100], times[-1]))  # fmt: skip
    for reason, number in collections.Counter(why[i] for i in known).most_common():
        print("%4d never differ: %s" % (number, reason))
    if later:
        print("searched %d times as long: %d of %d have one" % (args.long, sum(r["found"] for r in later.values()), len(later)))
    for i in missing:
        print("  none for %s: %s, %d inputs%s" % (kept[i]["name"], kept[i]["change"], results[i]["tried"],
              "" if i not in later else "; found later, by " + later[i]["by"] if later[i]["found"] else "; none later, %d inputs" % later[i]["tried"]))  # fmt: skip
    for r in wrong:
        print("said never to differ, and differ: %s: %s" % (r["name"], r["change"]))
    if args.save:
        with open(args.save, "w") as file:
            for i in missing:
                file.write(json.dumps(kept[i]) + "\n")
    share = len(having) / max(1, len(having) + len(missing))
    print("share of pairs that may differ and have a witness: %.1f %%" % (100 * share))
    return 1 if wrong or share < args.share else 0


def widens(a, b):
    """Every value of format a is one of format b."""
    return a == b or FORMATS.index(b) >= 2 and FORMATS.index(a) < FORMATS.index(b)


class Values:
    """The formats of the values of a contract's body, before and after the
    rounding of their sites."""

    def __init__(self, contract):
        self.c, self.format, self.nodes, self.natural = contract, {}, {}, {}
        for op in contract["op"]["body"]:
            kind, name = op["op"], op.get("id")
            args = [self.format.get(a) for a in op.get("args", [])]
            if kind == "input":
                format = contract["types"][op["tensor"]]
            elif kind == "param":
                format = contract["params"][op["param"]]["format"]
            elif kind == "reduce":
                format = contract["nodes"][op["node"]]["precision"]["accumulator"]
                self.nodes[op["node"]] = op
            elif kind == "apply":
                format = contract["definitions"][contract["primitives"][op["site"]]]["result"]
            elif kind == "take":
                format = args[0]
            else:
                format = "f64" if "f64" in args else "f32"
            self.natural[op.get("site", op.get("tensor", name))] = args[0] if kind == "output" else format
            site = contract["rounding"].get(op.get("site"), "exact") if kind != "output" else "exact"
            self.format[name] = format if site == "exact" else site["format"]

    def extent(self, node):
        domain = self.c["nodes"][node]["domain"]
        return self.c["dims"][domain] if isinstance(domain, str) else next(iter(domain.values()))["extent"]

    def squares(self, node):
        op = self.nodes[node]
        return op["kind"] == "dot" and op["args"][0] == op["args"][1]

    def exact_product(self, node, format):
        """Are all products of two elements values of `format`?"""
        elements = [self.format[a] for a in self.nodes[node]["args"]]
        if format == "f64":
            return all(e != "f64" for e in elements)
        return format == "f32" and all(e == "f16" for e in elements)


def never(pair):
    """Why no input tells the two apart, or nothing."""
    a, b = Values(pair["a"]), Values(pair["b"])
    change = pair["change"]
    node = change.split()[-1]
    if change.startswith("T start"):
        if a.squares(node) or a.nodes[node]["kind"] == "exp_sum":
            return "squares and weights are no -0, which alone a start tells apart"
        if a.nodes[node]["kind"] == "max":
            return "a maximum and -Inf is that maximum"
    if change.startswith("P product"):
        wide = [v.c["nodes"][node]["precision"]["product"] for v in (a, b)]
        format = wide[0] if wide[1] == "exact" else wide[1]
        if a.exact_product(node, format):
            return "products of two elements are exact in the format to which they are rounded"
        if a.extent(node) == 1 or not any(" chain" in m or " fused" in m for m in a.c["nodes"][node]["merge"]):
            return "accumulators of one element: its product is rounded once in either"
    if change.startswith(("T form", "T order", "Π")):
        op = a.nodes[node]
        plain = all(" from " not in m and " in " not in m for v in (a, b) for m in v.c["nodes"][node]["merge"])
        if op["kind"] == "sum" and a.format[op["args"][0]] == "f16" and a.format[op["id"]] == "f64" and plain:
            return "sums of f16 values are exact in f64"
    if change.startswith("R "):
        before, after = (v.c["rounding"][node] for v in (a, b))
        outputs = [op.get("site", op["tensor"]) for op in a.c["op"]["body"] if op["op"] == "output"]
        if node in outputs and "exact" not in (before, after):
            if all(widens(a.natural[node], r["format"]) for r in (before, after)):
                return "the value has the narrower format already"
    if change.startswith("A "):
        names = {v.c["primitives"][node] for v in (a, b)}
        whole = all(isinstance(n["domain"], str) for n in a.c["nodes"].values())
        # Of softmax's own weights those of padding may be above.
        if names == {"exp_below.f32", "exp_diff.f32"} and (whole or "." in node):
            return "exp_below and exp_diff differ above the maximum alone, where no element is"
    return None


if __name__ == "__main__":
    sys.exit(main())
