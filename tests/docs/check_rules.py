# check_rules.py - spec and code cite the same rules
# Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import re
import sys

import documents

ROOMS = ["contracts/algebra", "contracts/reference", "contracts/diff",
         "compiler", "dialects", "codegen"]
ID = r"(?:PI|[CDTPRAELFSQM])[1-9]\d?"
spec = documents.ROOT / "docs" / "spec.md"

# The spec states a rule in a row of a table that begins with its ID.
stated = {}
for number, line in enumerate(spec.read_text("utf-8").splitlines(), 1):
    if row := re.match(rf"^\| ({ID}) \|", line):
        if row[1] in stated:
            sys.exit(f"docs/spec.md:{number}: rule {row[1]} stands twice")
        stated[row[1]] = number

cited, mentioned = {}, set()
for room in ROOMS:
    for file in sorted((documents.ROOT / room).rglob("*")):
        if file.suffix not in (".cpp", ".h", ".td"):
            continue
        text = file.read_text("utf-8")
        # A message or an error object cites "ID" or [ID].
        for rule in re.findall(rf'"({ID})"|\[({ID})\]', text):
            cited.setdefault(rule[0] or rule[1], documents.name(file))
        mentioned.update(re.findall(rf"\b{ID}\b", text))

failed = False
for rule in sorted(cited.keys() - stated.keys()):
    print(f"{cited[rule]}: cites rule {rule}, which docs/spec.md does not state")
    failed = True
for rule in sorted(stated.keys() - mentioned):
    print(f"docs/spec.md:{stated[rule]}: rule {rule} is nowhere in the code")
    failed = True
print(f"{len(stated)} rules in the spec, {len(cited)} cited in messages")
sys.exit(failed or len(cited) < 40)
