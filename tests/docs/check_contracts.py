# check_contracts.py - every contract file in a document is one
# Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Every `json` block that is a whole contract file expands without an error.
One that extends a file does so from a folder of contracts/library. Blocks that
say file=PATH belong to a document that is followed as a whole instead."""
import argparse
import pathlib
import shutil
import subprocess
import sys
import tempfile

import documents

parser = argparse.ArgumentParser()
parser.add_argument("--bitpact", required=True)
args = parser.parse_args()

count = failed = 0
with tempfile.TemporaryDirectory() as folder:
    library = pathlib.Path(folder) / "library"
    shutil.copytree(documents.ROOT / "contracts" / "library", library)
    for document in documents.documents():
        blocks, _ = documents.split(document)
        for block in blocks:
            if (block.language != "json" or block.file
                    or '"bitpact"' not in block.text):
                continue
            count += 1
            file = library / "qwen3-8b" / f"block{count}.json"
            file.write_text(block.text, "utf-8")
            done = subprocess.run([args.bitpact, "check", "--expand", str(file)],
                                  capture_output=True, text=True)
            if done.returncode:
                failed += 1
                print(f"{documents.name(document)}:{block.line}: {done.stderr}")
print(f"{count} contract files in the documents, {failed} with errors")
sys.exit(failed != 0 or count == 0)
