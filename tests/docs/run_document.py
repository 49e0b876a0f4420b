# run_document.py - follows a document: writes its files, runs its commands
# Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A block with file=PATH is written there. In a `console` block, lines that
begin with `$ ` are commands; the lines below are their output. `…` stands for
any text in a line, or alone for any lines. A command that fails must be
followed by `$ echo $?`."""
import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import documents


def lay_out(work, build):
    """What a reader has in a clone that is built: contracts, examples, build."""
    for folder in ("contracts", "examples", "tools"):
        shutil.copytree(documents.ROOT / folder, work / folder, symlinks=True)
    for folder, pattern in (("bin", "bitpact*"), ("lib", "*.so*")):
        (work / "build" / folder).mkdir(parents=True)
        for file in (build / folder).glob(pattern):
            shutil.copy2(file, work / "build" / folder, follow_symlinks=False)
    share = work / "build" / "share" / "bitpact"
    share.mkdir(parents=True)
    (share / "contracts").symlink_to("../../../contracts")


def steps(blocks):
    """-> ("write", block) or ("run", line, command, expected lines)"""
    for block in blocks:
        if block.file:
            yield "write", block
        elif block.language == "console":
            command = None
            for number, line in enumerate(block.lines, block.line + 1):
                if line.startswith("$ "):
                    if command:
                        yield command
                    command = ("run", number, line[2:], [])
                elif command:
                    command[3].append(line)
                else:
                    sys.exit(f"line {number}: output without a command")
            if command:
                yield command


def pattern(expected):
    """One expression for all expected lines. Trailing spaces say nothing."""
    text = ""
    for line in expected:
        if line.strip() == "…":
            text += r"(?:.*\n)*?"
        else:
            parts = [re.escape(part) for part in line.rstrip().split("…")]
            text += ".*".join(parts) + r" *\n"
    return re.compile(text)


def script(work, planned):
    lines = ["set -o pipefail"]
    for i, step in enumerate(planned):
        if step[0] == "write":
            file = work / "blocks" / str(i)
            file.parent.mkdir(exist_ok=True)
            file.write_text(step[1].text, "utf-8")
            target = step[1].file
            lines.append(f"mkdir -p '{pathlib.Path(target).parent}'; "
                         f"cp '{file}' '{target}'; true")
        else:
            lines.append(f"{{ {step[2]}\n}} >'{work}/out.{i}' 2>&1 </dev/null\n"
                         f"status=$?; echo $status >'{work}/status.{i}'\n"
                         "(exit $status)")
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("document", type=pathlib.Path)
    parser.add_argument("--build", type=pathlib.Path, required=True)
    args = parser.parse_args()
    document = args.document.resolve()
    planned = list(steps(documents.split(document)[0]))
    failed = commands = 0
    with tempfile.TemporaryDirectory() as folder:
        work = pathlib.Path(folder) / "clone"
        work.mkdir()
        lay_out(work, args.build.resolve())
        path = f"{work}/build/bin{os.pathsep}{os.environ['PATH']}"
        subprocess.run(["bash", "-c", script(work, planned)], cwd=work,
                       env={**os.environ, "PATH": path, "LC_ALL": "C.UTF-8"})
        for i, step in enumerate(planned):
            if step[0] != "run":
                continue
            commands += 1
            _, line, command, expected = step
            output = (work / f"out.{i}").read_text("utf-8").replace(
                str(work) + "/", "")
            status = int((work / f"status.{i}").read_text())
            explained = (i + 1 < len(planned) and planned[i + 1][0] == "run"
                         and planned[i + 1][2] == "echo $?")
            matches = not expected or pattern(expected).fullmatch(
                "".join(each.rstrip() + "\n" for each in output.splitlines()))
            if matches and (status == 0 or explained):
                continue
            failed += 1
            print(f"{documents.name(document)}:{line}: $ {command}\n"
                  f"exit {status}, printed\n{output[:4000]}\nexpected\n"
                  + "\n".join(expected))
    print(f"{documents.name(document)}: {commands} commands, {failed} failed")
    return failed != 0 or commands == 0


sys.exit(main())
