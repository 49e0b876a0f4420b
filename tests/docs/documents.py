# documents.py - Markdown as the tests see it: blocks, links, paths
# Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import dataclasses
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parents[2]


def documents():
    return [ROOT / "README.md", ROOT / "examples" / "README.md",
            *sorted((ROOT / "docs").rglob("*.md"))]


def name(document):
    return str(document.relative_to(ROOT))


@dataclasses.dataclass
class Block:
    """A fenced block: `language`, and `file` where the fence says file=PATH."""
    language: str
    file: str
    line: int
    lines: list

    @property
    def text(self):
        return "".join(line + "\n" for line in self.lines)


def split(document):
    """-> (blocks, prose): prose keeps its line numbers, blocks are blanked."""
    blocks, prose, current = [], [], None
    for number, line in enumerate(document.read_text("utf-8").splitlines(), 1):
        fence = re.match(r"^```(\S*)\s*(.*)$", line)
        if fence and current is None:
            file = re.search(r"\bfile=(\S+)", fence[2])
            current = Block(fence[1], file[1] if file else "", number, [])
        elif fence:
            blocks.append(current)
            current = None
        elif current is not None:
            current.lines.append(line)
        prose.append("" if fence or current is not None else line)
    if current is not None:
        raise SystemExit(f"{name(document)}:{current.line}: block not closed")
    return blocks, prose
