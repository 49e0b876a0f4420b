# records.py - writes the records of a run, with nothing but the standard library
# Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What an engine has to write for `bitpact gate` and `bitpact trace`, as
docs/records.md describes it. Copy this file into yours."""
import hashlib
import json
import struct


def row_hash(data):
    """Of the bytes of one row: contiguous, little-endian."""
    return hashlib.sha256(data).hexdigest()[:32]


def listing(values):
    """Stands for a list of integers that is too long to write down."""
    data = struct.pack(f"<{len(values)}q", *values)
    return {"sha256": hashlib.sha256(data).hexdigest(), "count": len(values)}


def whole(extent):
    return {"extent": extent, "shards": "whole"}


def paged(tokens, block, weights, first_page=0):
    """The keys and values of a sequence in blocks of a cache."""
    blocks, content = [], b""
    for start in range(0, len(tokens), block):
        part = tokens[start:start + block]
        content = hashlib.sha256(
            content + struct.pack(f"<{len(part)}q", *part)).digest()
        blocks.append({"start": start, "end": start + len(part),
                       "content": content.hex(),
                       "page": first_page + len(blocks)})
    return {"identity": "tokens", "weights": weights, "blocks": blocks}


class Writer:
    def __init__(self, path):
        self.file = open(path, "a", encoding="utf-8")

    def line(self, kind, **fields):
        # One write a line, so that processes may share a file.
        self.file.write(json.dumps({kind: 1, **fields}) + "\n")
        self.file.flush()

    def run(self, **fields):
        self.line("bitpact_run", **fields)

    def sequence(self, name, **fields):
        self.line("bitpact_sequence", sequence=name, **fields)

    def row(self, sequence, position, layer, site, data, dtype, **more):
        self.line("bitpact_row", sequence=sequence, position=position,
                  layer=layer, site=site, hash=row_hash(data), dtype=dtype,
                  **more)

    def logprob(self, sequence, position, role, value):
        self.line("bitpact_logprob", sequence=sequence, position=position,
                  role=role, dtype="f32", bits=struct.pack(">f", value).hex())

    def end(self, **counts):
        self.line("bitpact_end", **counts)
