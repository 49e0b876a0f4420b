# check_primitives.py - the table of docs/primitives.md says what was measured
# Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares the table with the newest docs/results/*-primitives.json and with
contracts/primitives, whose operations it counts. With --table it prints the
rows as they should be, without formulas."""
import json
import math
import re
import struct
import sys

import documents

HEAD = re.compile(r'pact\.primitive @"([^"]+)" function\s*\(([^)]*)\) -> f32')
FREE = ("arith.constant", "arith.bitcast", "arith.negf", "pact.yield")


def operations():
    """-> name -> count, of functions of one or two f32."""
    counts = {}
    for file in sorted((documents.ROOT / "contracts/primitives").glob("*.mlir")):
        text = re.sub(r"//.*", "", file.read_text("utf-8"))
        for head in HEAD.finditer(text):
            types = re.findall(r": (\w+)", head[2])
            if len(types) > 2 or set(types) != {"f32"}:
                continue
            body = text[head.end():text.index("\n}", head.end())]
            used = re.findall(r"\b((?:arith|pact)\.\w+)", body)
            counts[head[1]] = sum(op not in FREE for op in used)
    return counts


def hexadecimal(bits):
    value, = struct.unpack("<f", struct.pack("<I", int(bits, 16)))
    sign, mantissa, exponent = re.fullmatch(
        r"(-?)0x(\d(?:\.\w+)?)p([+-]\d+)", value.hex()).groups()
    if "." in mantissa:
        mantissa = mantissa.rstrip("0").rstrip(".")
    return f"{sign}0x{mantissa}p{exponent}"


def row(name, count, entry):
    """Everything of a row but the formula."""
    ulp = entry["ulp"]
    digits = 3 if ulp < 100 else 0
    shown = f"{math.ceil(ulp * 10**digits) / 10**digits:.{digits}f}"
    back = entry["rises"] if name.startswith("rsqrt") else entry["falls"]
    inputs = "all" if entry["inputs"] == 2**32 else str(entry["inputs"])
    return [f"`{name}`", str(count), shown, f"`{hexadecimal(entry['at'])}`",
            "–" if name.startswith("silu") else str(back), inputs]


record_file = sorted((documents.ROOT / "docs/results").glob("*-primitives.json"))[-1]
record = {entry["name"]: entry for entry in json.loads(record_file.read_text("utf-8"))}
page = documents.ROOT / "docs" / "primitives.md"
expected = {name: row(name, count, record[name])
            for name, count in operations().items() if name in record}
if "--table" in sys.argv:
    for cells in expected.values():
        print("| " + " | ".join(cells) + " |")
    sys.exit()

found, failed = {}, False
for number, line in enumerate(page.read_text("utf-8").splitlines(), 1):
    cells = [cell.strip() for cell in line.strip("|").split("|")]
    if len(cells) == 7 and cells[0].startswith("`"):
        found[cells[0].strip("`")] = number, [cells[0]] + cells[2:]
for name in sorted(operations().keys() | found.keys()):
    if name not in record:
        problem = f"{record_file.name} has no measurement of it"
    elif name not in expected:
        problem = "contracts/primitives has no such function"
    elif record[name]["differing"]:
        problem = "its kernels differ from the evaluator"
    elif name not in found:
        problem = "is not in the table"
    elif found[name][1] != expected[name]:
        problem = f"measured: {' | '.join(expected[name])}"
    else:
        continue
    print(f"{documents.name(page)}:{found.get(name, (1,))[0]}: {name}: {problem}")
    failed = True
print(f"{len(found)} primitives in the table")
sys.exit(failed or not found)
