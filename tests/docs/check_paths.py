# check_paths.py - every link and every path that a document names exists
# Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import re
import sys
import urllib.parse

import documents

TOP = {entry.name for entry in documents.ROOT.iterdir()}
PATH = re.compile(r"^\.?/?[\w.@+-]+(/[\w.@+*-]+)*/?$")


def anchors(document):
    _, prose = documents.split(document)
    for line in prose:
        if heading := re.match(r"^#+ (.*)$", line):
            text = re.sub(r"[^\w\- ]", "", heading[1].lower())
            yield text.replace(" ", "-")


def problems(document):
    blocks, prose = documents.split(document)
    # Files that the document itself tells the reader to write.
    written = {block.file for block in blocks if block.file}
    # Drawings are blocks without a language.
    for block in blocks:
        for word in re.findall(r"[\w.@+/-]+/[\w.@+-]*", block.text):
            if not block.language and word.split("/")[0] in TOP and not (
                    documents.ROOT / word).exists():
                yield block.line, f"{word}: no such file"
    for number, line in enumerate(prose, 1):
        for target in re.findall(r"\]\(([^)\s]+)\)", line):
            if "://" in target:
                continue
            path, _, anchor = urllib.parse.unquote(target).partition("#")
            file = document.parent / path if path else document
            if not file.exists():
                yield number, f"link to {target}: no such file"
            elif anchor and anchor not in anchors(file):
                yield number, f"link to {target}: no such heading"
        for span in re.findall(r"`([^`]+)`", line):
            span = span.removeprefix("./")
            if not PATH.match(span) or span.split("/")[0] not in TOP:
                continue
            if "/" not in span or span.startswith("build/") or span in written:
                continue
            if not list(documents.ROOT.glob(span.rstrip("/"))):
                yield number, f"{span}: no such file"


count = failed = 0
for document in documents.documents():
    count += 1
    for line, problem in problems(document):
        print(f"{documents.name(document)}:{line}: {problem}")
        failed += 1
print(f"{count} documents, {failed} problems")
sys.exit(failed != 0 or count < 5)
