# check_field.py - docs/field-library.md lists what there is and what diff finds
# Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A row that begins with one contract of contracts/library/field lists it; one
that begins with two says in which fields `bitpact diff` finds them different.
With --table the second kind is printed as it should be."""
import argparse
import json
import re
import subprocess
import sys

import documents

FIELD = documents.ROOT / "contracts" / "library" / "field"
PAGE = documents.ROOT / "docs" / "field-library.md"

parser = argparse.ArgumentParser()
parser.add_argument("--bitpact", required=True)
parser.add_argument("--table", action="store_true")
args = parser.parse_args()


def delta(a, b):
    done = subprocess.run(
        [args.bitpact, "diff", FIELD / f"{a}.json", FIELD / f"{b}.json", "--json"],
        capture_output=True, text=True)
    found = json.loads(done.stdout)
    if not found.get("comparable"):
        return "not comparable: another F"
    nodes = {}
    for change in found["changes"]:
        fields = nodes.setdefault(change["node"], [])
        if change["field"] not in fields:
            fields.append(change["field"])
    return ", ".join(f"{node} {' '.join(fields)}" for node, fields in nodes.items()
                     ) or found["verdict"]


there = {f"{p.parent.name}/{p.stem}" for p in FIELD.glob("*/*.json")}
listed, pairs, failed = set(), 0, 0
for number, line in enumerate(PAGE.read_text("utf-8").splitlines(), 1):
    cells = [cell.strip() for cell in line.strip("|").split("|")]
    names = [re.fullmatch(r"`([\w-]+/\w+)`", cell) for cell in cells[:2]]
    if not line.startswith("|") or not names[0]:
        continue
    if not (len(names) > 1 and names[1]):
        listed.add(names[0][1])
        continue
    pairs += 1
    actual = delta(names[0][1], names[1][1])
    if args.table:
        print(f"| {cells[0]} | {cells[1]} | {actual} |")
    elif actual != cells[2]:
        print(f"{documents.name(PAGE)}:{number}: diff finds: {actual}")
        failed += 1
if listed != there:
    print(f"{documents.name(PAGE)}: not on both sides: {sorted(listed ^ there)}")
    failed += 1
print(f"{len(listed)} contracts, {pairs} pairs, {failed} problems")
sys.exit(failed != 0 or pairs == 0)
