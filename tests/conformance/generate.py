# generate.py - contracts of every operator in every form schedules accept
# Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""generate.py DIRECTORY [--seed N] [--random N] writes contract files, valid by
construction, and prints how many. Every structure of digits and merges below
occurs with sum and rms_norm; formats, roundings, starts, primitives and extents
rotate under a seeded shuffle. With --random, there are N contracts of random
digits instead, over all operators in turn. It fails if a feature is not
covered."""
import argparse
import json
import os
import random
import sys

HIDDEN = [1, 7, 63, 64, 65, 127, 128, 129, 255, 256, 257, 576, 4096, 12288]


def ceil(a, b):
    return -(-a // b)


# A structure: the partition of an extent, and the merges, innermost first.
# {r} takes a rounding, which differs from contract to contract.
STRUCTURES = {
    "serial": (lambda n: "all:*", ["all chain"]),
    "lanes halving": (lambda n: "sweep:* lane:32", ["sweep chain", "lane halving{r}"]),
    "lanes pairwise": (lambda n: "sweep:* lane:24", ["sweep chain", "lane pairwise{r}"]),
    "lanes fold": (lambda n: "sweep:* lane:8", ["sweep chain", "lane fold{r}"]),
    "packs in lanes": (
        lambda n: "sweep:* lane:16 pack:8",
        ["pack chain", "sweep chain", "lane halving{r}"],
    ),
    "sweep before pack": (
        lambda n: "sweep:* lane:16 pack:4",
        ["sweep chain", "pack chain", "lane pairwise{r}"],
    ),
    "wide lanes": (
        lambda n: "sweep:* lane:512 pack:8",
        ["pack chain", "sweep chain", "lane halving"],
    ),
    "warps": (
        lambda n: "sweep:* warp:4 lane:32 pack:2",
        ["pack chain", "sweep chain", "lane halving{r}", "warp fold{r}"],
    ),
    "pairwise leaves": (lambda n: "tile:* pack:4", ["pack pairwise", "tile fold{r}"]),
    "halving leaves": (lambda n: "tile:* pack:8", ["pack halving{r}", "tile pairwise"]),
    "fold leaves": (lambda n: "tile:* pack:3", ["pack fold", "tile pairwise{r}"]),
    "one pairwise": (lambda n: "all:*", ["all pairwise{r}"]),
    "one fold": (lambda n: "all:*", ["all fold"]),
    "ranks": (
        lambda n: "rank:8@%d tile:* col:16" % ceil(n, 8),
        ["col chain", "tile chain", "rank fold{r}"],
    ),
    "ragged ranks": (
        lambda n: "rank:3@%d tile:* col:8" % ceil(n, 3),
        ["col chain", "tile fold", "rank pairwise{r}"],
    ),
    "star last": (lambda n: "block:4@%d rest:*" % ceil(n, 4), ["rest chain", "block halving{r}"]),
    "long tiles": (
        lambda n: "tile:*@100 lane:8@13 item:13",
        ["item chain", "tile chain", "lane halving{r}"],
    ),
    "fixed": (
        lambda n: "row:%d lane:8 pack:4" % ceil(n, 32),
        ["pack chain", "row chain", "lane halving{r}"],
    ),
    "outer chain": (lambda n: "half:2@%d rest:*" % ceil(n, 2), ["rest chain", "half chain"]),
    "columns first": (lambda n: "row:* col:16", ["row chain", "col chain"]),
}

ROUNDINGS = ["", " in bf16", " from f16", " from bf16 in f16", " in f32", " from f32"]
ELEMENTS = ["bf16", "f32", "f16", "f64"]
OUTPUTS = ["f32", "bf16", "f64", "f16"]


def node(structure, n, rounding, start, accumulator):
    """`structure` is a name from above, or (partition, merges) of a random one."""
    partition, merges = STRUCTURES[structure] if isinstance(structure, str) else structure
    return {
        "domain": "hidden",
        "partition": partition(n) if callable(partition) else partition,
        "merge": [merge.format(r=rounding) for merge in merges],
        "start": start,
        "precision": {"accumulator": accumulator},
    }


def rounded(form):
    return form + " rne"


def sum_contract(structure, n, k):
    x = ELEMENTS[k % 4]
    accumulator = "f64" if x == "f64" or k % 5 == 4 else "f32"
    y = OUTPUTS[(k // 2) % 4]
    return {
        "op": "sum@1",
        "dims": {"tokens": "*", "hidden": n},
        "types": {"x": x, "y": y},
        "nodes": {
            "sum": node(
                structure, n, ROUNDINGS[k % 6], ["identity", "first"][k % 2], accumulator
            )
        },
        "rounding": {"y": rounded(y)},
        "primitives": {"sum.step": "add." + accumulator},
    }


def norm_contract(structure, n, k):
    x = ELEMENTS[k % 4]
    wide = x == "f64" or k % 5 == 3
    accumulator = "f64" if wide else "f32"
    fused = k % 3 != 1
    body = node(
        structure, n, ROUNDINGS[(k // 2) % 6], ["identity", "first"][(k // 3) % 2], accumulator
    )
    body["precision"]["product"] = "exact" if fused else accumulator
    mean_sq = ["f32", "f64" if wide else "bf16", "f32", "f16"][(k // 2) % 4]
    eps = ["1e-6 f32", "1e-5 f32", "0.001 bf16", "1e-12 f64", "0 f32"][(k // 4) % 5]
    # E1: the addition of eps happens in the widest of both formats and f32.
    argument = "f64" if "f64" in (mean_sq, eps[-3:]) else "f32"
    rsqrt = {
        "f64": ["rsqrt.div_sqrt.f64"],
        "f32": ["rsqrt.div_sqrt.f32", "rsqrt.f64_rounded.f32"],
    }[argument]
    y = OUTPUTS[(k + k // 4) % 4]
    return {
        "op": "rms_norm@1",
        "dims": {"tokens": "*", "hidden": n},
        "types": {"x": x, "weight": ["f32", x][k // 4 % 2], "y": y},
        "params": {"eps": eps},
        "nodes": {"sum_sq": body},
        "rounding": {
            "mean_sq": rounded(mean_sq),
            "normed": rounded(["f32", "bf16", "f32", "f16", "f64"][k % 5]),
            "y": rounded(y),
        },
        "primitives": {
            "sum_sq.step": ("dot.fma." if fused else "dot.mul_add.") + accumulator,
            "rsqrt": rsqrt[k % len(rsqrt)],
        },
    }


def layer_contract(first, second, n, k):
    """Two nodes, each with digits of its own, and a product that may be exact."""
    x = ["bf16", "f32", "f16"][k % 3]
    accumulator = "f64" if k % 4 == 3 else "f32"
    mean = node(first, n, ROUNDINGS[k % 6], ["identity", "first"][k % 2], accumulator)
    square = node(second, n, ROUNDINGS[(k // 3) % 6], ["first", "identity"][k % 2], "f32")
    square["precision"]["product"] = "exact"
    y = OUTPUTS[k % 4]
    return {
        "op": "layer_norm@1",
        "dims": {"tokens": "*", "hidden": n},
        "types": {"x": x, "weight": ["f32", "bf16"][k % 2], "bias": "f32", "y": y},
        "params": {"eps": "1e-5 f32"},
        "nodes": {"sum": mean, "sum_sq": square},
        "rounding": {
            "mean": "f32 rne",
            "centered": rounded(["f32", "bf16"][k // 2 % 2]),
            "var": "f32 rne",
            "normed": "f32 rne",
            "scaled": ["exact", "f32 rne"][k // 3 % 2],
            "y": rounded(y),
        },
        "primitives": {
            "sum.step": "add." + accumulator,
            "sum_sq.step": "dot.fma.f32",
            "rsqrt": "rsqrt.div_sqrt.f32",
        },
    }


def add_norm_contract(structure, n, k):
    """rms_norm of a sum, which is an output of its own."""
    contract = norm_contract(structure, n, k)
    added = ["bf16", "f32", "f16"][k // 2 % 3]
    contract["op"] = "add_rms_norm@1"
    contract["types"].update(residual=ELEMENTS[(k // 3) % 4], residual_out=added)
    if "f64" in (contract["types"]["x"], contract["types"]["residual"]):
        contract["types"].update(x="f32", residual="bf16")
    contract["rounding"].update(added=rounded(added), residual_out=rounded(added))
    return contract


def column_contract(structure, n, k):
    """The tokens are what is reduced, and the columns the rows of the launch."""
    contract = sum_contract(structure, n, k)
    contract["op"] = "column_sum@1"
    contract["dims"] = {"tokens": n, "hidden": "*"}
    contract["nodes"]["sum"]["domain"] = "tokens"
    return contract


def packed_contract(structure, n, k):
    """Columns over sequences: the digits start anew in each of them."""
    partition, merges = structure
    merges = merges + ["sequence " + ["fold{r}", "pairwise"][k % 2]]
    contract = column_contract(("sequence:@offsets " + partition, merges), n, k)
    contract["op"] = "packed_column_sum@1"
    contract["dims"] = {"tokens": [n, n, n, "*"][k // 2 % 4], "hidden": "*", "boundaries": "*"}
    contract["types"]["offsets"] = "i32"
    contract["nodes"]["sum"]["offsets"] = "offsets"
    return contract


def random_structure(shuffle, n):
    """Two to four digits, one of them open, and some order of merging them: a
    run of chains, then partials by forms of all kinds."""
    count = shuffle.randint(1, 4)
    if count == 1:
        return "all:*", [shuffle.choice(["all chain", "all fold", "all pairwise{r}"])]
    lengths = [1]  # of the digits, the last first
    digits = []
    for i in range(count - 1):
        radix = shuffle.choice([2, 3, 4, 5, 8, 16, 32] if lengths[-1] < 64 else [2, 3, 4])
        digits.append(("d%d" % i, radix))
        lengths.append(lengths[-1] * radix)
    star = "s:*"
    if shuffle.random() < 0.2:  # blocks longer than the digits to the right fill
        star += "@%d" % (lengths[-1] - shuffle.randrange(lengths[-2]))
    partition = " ".join([star] + ["%s:%d" % digit for digit in reversed(digits)])
    names = [("s", 0)] + digits
    shuffle.shuffle(names)
    chained = shuffle.randint(0, len(names))
    merges = [name + " chain" for name, _ in names[:chained]]
    for name, radix in names[chained:]:
        forms = ["fold", "pairwise"] + (["halving"] if radix & (radix - 1) == 0 and radix else [])
        merges.append("%s %s{r}" % (name, shuffle.choice(forms)))
    return partition, merges


def random_state(shuffle, n):
    """A structure for exp_sum, and its `state`: a prefix of chains, a run that
    carries, partials that share a maximum, and states that merge."""
    partition, plain = random_structure(shuffle, n)
    names = [entry.split()[0] for entry in plain]
    radix = {"s": 0, "all": 0}
    radix.update((d.split(":")[0], int(d.split(":")[1])) for d in partition.split()[1:])
    if shuffle.random() < 0.3:
        return "two_pass", partition, plain
    cuts = sorted(shuffle.randint(0, len(names)) for _ in range(3))
    merges = []
    for i, name in enumerate(names):
        form = ["chain", "carry", "plain", "merge"][sum(i >= cut for cut in cuts)]
        if form in ("plain", "merge"):
            some = ["fold", "pairwise"]
            some += ["halving"] if radix[name] and radix[name] & (radix[name] - 1) == 0 else []
            form = shuffle.choice(some) + (" merge" if form == "merge" else "") + "{r}"
        merges.append(name + " " + form)
    text = " ".join(merges)
    if " carry" not in text and " merge" not in text:
        merges[-1] = names[-1] + " carry"
        if any("chain" not in merge for merge in merges[:-1]):
            return "two_pass", partition, plain
    return "online", partition, merges


def state_contract(op, shuffle, n, k):
    """max and exp_sum, each with digits of its own, inside a stored row."""
    rounding = ["", " in f32", " from bf16", " in f16"][k % 4]
    state, partition, merges = random_state(shuffle, n)
    stored = n + [0, 1, 7, 64][k // 4 % 4]
    domain = "vocab" if stored == n else {"vocab": {"extent": n, "stored": stored}}
    peak = node(random_structure(shuffle, n), n, "", ["identity", "first"][k % 2], "f32")
    total = node((partition, merges), n, rounding, ["first", "identity"][k // 2 % 2], "f32")
    peak["domain"] = total["domain"] = domain
    total["state"] = state
    y = OUTPUTS[k // 3 % 4]
    text = " ".join(total["merge"])
    contract = {
        "op": op + "@1",
        "dims": {"tokens": "*", "vocab": stored},
        "types": {"x": ["f32", "bf16", "f16"][k % 3], "y": y},
        "nodes": {"max": peak, "sum": total},
        "rounding": {"y": rounded(y)},
        "primitives": {"max.step": "max.f32", "sum.step": "add.f32", "sum.weight": "exp_diff.f32"},
    }
    if state == "online":
        contract["primitives"]["sum.rescale"] = "exp_diff.f32"
    if " merge" in text:
        contract["primitives"]["sum.combine"] = "combine.%s.f32" % ["mul_add", "fma"][k % 2]
    contract["primitives"].update({"weight": "exp_diff.f32"} if op == "softmax" else {"log": "log.f32"})
    if op == "selected_logprob":
        contract["types"]["target"] = "i32"
        contract["params"] = {"temperature": ["1 f32", "0.7 f32", "2 bf16"][k % 3]}
        contract["rounding"].update(scaled=rounded(["f32", "bf16"][k // 2 % 2]), centered="f32 rne")
    return contract


# Terms of a step; an fma has one, and no digit of its own.
ATOMS = {
    "dot.nv(16,25)": 16,
    "dot.nv(8,25)": 8,
    "dot.nv(8,24)": 8,
    "dot.cdna3": 8,
    "dot.fma.f32": 1,
    "dot.fma.f64": 1,
}


def product_node(atom, shuffle):
    """The chain of an atom's steps, cut into digits that do not change it."""
    digits, merges = ["k:%d" % ATOMS[atom]], ["k fused(%s)" % atom, "s chain"]
    if ATOMS[atom] == 1:
        merges[0] = "k chain"
    for i in range(shuffle.randint(0, 2)):
        digits.append("d%d:%d" % (i, shuffle.choice([1, 2, 3, 4, 8])))
        merges.insert(-1, "d%d chain" % i)
    return {
        "domain": "in",
        "partition": " ".join(["s:*"] + digits[::-1]),
        "merge": merges,
        "start": "identity",
        "precision": {"product": "exact", "accumulator": atom[-3:] if ATOMS[atom] == 1 else "f32"},
    }


def product_contract(op, atom, shuffle):
    """Products of matrices by an atom; extents that no block divides."""
    element = shuffle.choice(["bf16", "f16"])
    step = atom + (".f16" if element == "f16" and ATOMS[atom] > 1 else "")
    if ATOMS[atom] == 1 and shuffle.random() < 0.5:
        element = atom[-3:]
    depth = shuffle.choice(["*"] + DEPTHS)
    gated = op == "swiglu"
    nodes = {node: product_node(atom, shuffle) for node in (["gate", "up"] if gated else ["dot"])}
    weights = ["gate_weight", "up_weight"] if gated else ["weight"]
    y = shuffle.choice(["bf16", "f16", "f32"])
    contract = {
        "op": op + "@1",
        "dims": {
            "tokens": "*",
            "out": shuffle.choice(["*"] + DEPTHS),
            "in": depth,
        },
        "types": {"x": element, **{weight: element for weight in weights}, "y": y},
        "nodes": nodes,
        "rounding": {"y": rounded(y)},
        "primitives": {node + ".step": step for node in nodes},
    }
    if gated:
        contract["primitives"]["silu"] = shuffle.choice(["silu.f32", "silu.newton.f32"])
        for site in ["gate_product", "up_product", "activation"]:
            contract["rounding"][site] = rounded(shuffle.choice(["f32", "f32", "bf16", "f16"]))
    elif op == "grouped_matmul":
        experts = shuffle.choice(["*", "*", 1, 3, 8])
        bounds = ["*"] if experts == "*" else ["*", experts + 1]
        contract["dims"].update(experts=experts, boundaries=shuffle.choice(bounds))
        contract["types"]["offsets"] = "i32"
    elif op != "matmul":
        contract["types"][op[len("matmul_"):]] = shuffle.choice(["bf16", "f16", "f32"])
        contract["rounding"]["product"] = rounded(shuffle.choice(["f32", "f32", "bf16", "f16"]))
    return contract


STATES = ["log_sum_exp", "softmax", "selected_logprob"]
PRODUCTS = ["matmul", "matmul_bias", "matmul_residual", "swiglu", "grouped_matmul"]
# Primes, one, and what ends around a step, a stage and a block.
DEPTHS = [1, 2, 7, 15, 16, 17, 31, 48, 61, 64, 65, 97, 127, 128, 200, 251, 257, 331, 520]
MAKERS = {
    "sum": sum_contract,
    "rms_norm": norm_contract,
    "add_rms_norm": add_norm_contract,
    "column_sum": column_contract,
    "layer_norm": lambda structure, n, k: layer_contract(*structure, n, k),
}
# Only when they are asked for: their schedules and inputs are others.
PACKED = {"packed_column_sum": packed_contract}
# Operators with two nodes, each with a structure of its own.
TWICE = {"layer_norm"}
# Extents that a random structure meets: blocks whole, short and absent.
SMALL = [1, 2, 3, 5, 8, 17, 31, 32, 33, 48, 64, 65, 96, 100, 127, 128, 130, 192, 200, 255, 257]


def random_contracts(seed, count, operators=None, atoms=None):
    """(name, contract) pairs over the operators, and products over the atoms, in
    turn."""
    ops = operators or list(MAKERS)
    atoms = atoms or list(ATOMS)[:1]
    shuffle = random.Random("random %d" % seed)
    result = []
    for i in range(count):
        op = ops[i % len(ops)]
        n = shuffle.choice(SMALL)
        name = "random_%03d_%s_%d" % (i, op, n)
        if op in PRODUCTS:
            contract = product_contract(op, atoms[i // len(ops) % len(atoms)], shuffle)
            name = "random_%03d_%s" % (i, op)
            result.append((name, {"bitpact": 1, "name": "conformance/" + name, **contract}))
            continue
        if op in STATES:
            contract = state_contract(op, shuffle, n, shuffle.randrange(10**6))
            result.append((name, {"bitpact": 1, "name": "conformance/" + name, **contract}))
            continue
        structure = random_structure(shuffle, n)
        if op in TWICE:
            structure = structure, random_structure(shuffle, n)
        contract = {**MAKERS, **PACKED}[op](structure, n, shuffle.randrange(10**6))
        result.append((name, {"bitpact": 1, "name": "conformance/" + name, **contract}))
    return result


def contracts(seed, rounds=2):
    """(name, contract) pairs: every structure, `rounds` times an operator."""
    shuffle = random.Random(seed)
    result = []
    for op, make in (("sum", sum_contract), ("rms_norm", norm_contract)):
        counters = list(range(len(STRUCTURES) * rounds))
        shuffle.shuffle(counters)
        extents = [HIDDEN[i % len(HIDDEN)] for i in range(len(counters))]
        shuffle.shuffle(extents)
        # Each operator meets its largest extents with packed lanes at least.
        for i, (k, n) in enumerate(zip(counters, extents)):
            structure = list(STRUCTURES)[i % len(STRUCTURES)]
            contract = make(structure, n, k)
            name = "%s_%02d_%s_%d" % (op, i, structure.replace(" ", "_"), n)
            result.append((name, {"bitpact": 1, "name": "conformance/" + name, **contract}))
    # Every structure beside another one in the same operator.
    structures = list(STRUCTURES)
    partners = structures[:]
    shuffle.shuffle(partners)
    for i, (first, second) in enumerate(zip(structures, partners)):
        n = shuffle.choice([extent for extent in HIDDEN if extent <= 1024])
        name = "layer_norm_%02d_%d" % (i, n)
        contract = layer_contract(first, second, n, i)
        result.append((name, {"bitpact": 1, "name": "conformance/" + name, **contract}))
    # Two contracts that must differ: the same digits merged in another order.
    for merge in ("halving", "pairwise"):
        contract = sum_contract("lanes halving", 257, 1)
        contract["nodes"]["sum"]["merge"] = ["sweep chain", "lane " + merge]
        contract["nodes"]["sum"]["start"] = "identity"
        name = "witness_" + merge
        result.append((name, {"bitpact": 1, "name": "conformance/" + name, **contract}))
    return result


FEATURES = [
    "chain", "fold", "pairwise", "halving", ":*", "@", ":*@", " in bf16", " from f16",
    " from bf16 in f16", '"first"', '"identity"', "add.f32", "add.f64", "dot.fma.f32",
    "dot.fma.f64", "dot.mul_add.f32", "dot.mul_add.f64", "rsqrt.div_sqrt.f32",
    "rsqrt.div_sqrt.f64", "rsqrt.f64_rounded.f32", '"scaled": "exact"', "1e-12 f64", "0 f32", "0.001 bf16",
    '"mean_sq": "bf16 rne"', '"mean_sq": "f16 rne"', '"normed": "bf16 rne"',
    '"normed": "f16 rne"', '"normed": "f64 rne"',
    *['"%s": "%s"' % (t, f) for t in ("x", "weight", "y") for f in ELEMENTS],
]  # fmt: skip


RANDOM_FEATURES = [
    "chain", "fold", "pairwise", "halving", ":*@", " in bf16", " from f16", '"first"', '"identity"',
    *['"%s": "%s"' % (t, f) for t in ("x", "weight", "y") for f in ELEMENTS],
]  # fmt: skip


def write(directory, seed, rounds=2, random_count=0, operators=None, atoms=None):
    """The paths, in order; raises if a feature is in no contract."""
    os.makedirs(directory, exist_ok=True)
    features = FEATURES
    if random_count:
        features = ['"op": "%s@1"' % op for op in operators or MAKERS]
        features += [] if operators else RANDOM_FEATURES
        features += ['.step": "%s"' % atom for atom in atoms or []]
    paths, coverage = [], {feature: 0 for feature in features}
    extents = set()
    every = random_contracts(seed, random_count, operators, atoms) if random_count else contracts(seed, rounds)
    for name, contract in every:
        text = json.dumps(contract, indent=2) + "\n"
        extents.add(contract["dims"].get("hidden"))
        for feature in features:
            coverage[feature] += feature in text
        paths.append(os.path.join(directory, name + ".json"))
        with open(paths[-1], "w") as file:
            file.write(text)
    missing = [feature for feature, count in coverage.items() if not count]
    if not random_count:
        missing += ["hidden %d" % n for n in HIDDEN if n not in extents]
    if missing or len(paths) < 60:
        raise SystemExit("seed %d does not cover: %s" % (seed, ", ".join(missing)))
    print("seed %d: %d contracts" % (seed, len(paths)))
    return paths


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("directory")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--random", type=int, default=0)
    parser.add_argument("--op", action="append", help="only this operator; may be repeated")
    parser.add_argument("--atom", action="append", choices=ATOMS, help="products by this atom; may be repeated")
    options = parser.parse_args()
    write(options.directory, options.seed, options.rounds, options.random, options.op, options.atom)
