# tool.py - runs the built tool and reads what it says
# Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Shared by the tests of the command line: the tool under test, scratch
directories, and the two tensor formats in a few lines each, written after
their specifications and not after the tool's own reader."""
import atexit
import json
import os
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest

TOOL = ""
# Each run of the tests compiles for itself.
os.environ["XDG_CACHE_HOME"] = tempfile.mkdtemp(prefix="bitpact-cache-")
atexit.register(shutil.rmtree, os.environ["XDG_CACHE_HOME"], True)
MAKE_PACKAGE = ""
SKIP = 77


class Result:
    def __init__(self, done):
        self.code = done.returncode
        self.out = done.stdout
        self.err = done.stderr

    def json(self):
        return json.loads(self.out)


def run_tool(*args, tool=None, cwd=None):
    return Result(
        subprocess.run(
            [tool or TOOL, *map(str, args)],
            capture_output=True,
            text=True,
            cwd=cwd,
            timeout=600,
        )
    )


def floats(values):
    return struct.pack("<%df" % len(values), *values)


def npy(path, shape, data, descr="<f4"):
    shape = "(" + "".join("%d, " % n for n in shape) + ")"
    header = "{'descr': '%s', 'fortran_order': False, 'shape': %s, }" % (descr, shape)
    header = header.ljust(117) + "\n"
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)))
        file.write(header.encode() + data)
    return path


def npy_data(path):
    with open(path, "rb") as file:
        text = file.read()
    length = struct.unpack("<H", text[8:10])[0]
    return text[10 : 10 + length].decode(), text[10 + length :]


def safetensors(path, tensors):
    header, data = {}, b""
    for name, (dtype, shape, content) in tensors.items():
        header[name] = {
            "dtype": dtype,
            "shape": shape,
            "data_offsets": [len(data), len(data) + len(content)],
        }
        data += content
    text = json.dumps(header).encode()
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + data)
    return path


class ToolTest(unittest.TestCase):
    """A test with a scratch directory of its own and the packages beside it."""

    packages = None

    @classmethod
    def setUpClass(cls):
        cls.packages = tempfile.mkdtemp(prefix="bitpact-cli-")
        if MAKE_PACKAGE:
            subprocess.run([MAKE_PACKAGE, cls.packages], check=True)

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.packages)

    def setUp(self):
        self.scratch = tempfile.mkdtemp(prefix="bitpact-cli-")

    def tearDown(self):
        shutil.rmtree(self.scratch)

    def path(self, name):
        return os.path.join(self.scratch, name)

    def package(self, name):
        return os.path.join(self.packages, name)

    def fails(self, code, *args, says=(), leaves=None):
        """The command ends with `code`, its messages hold all of `says`, and
        the scratch directory holds the files it held before."""
        before = sorted(os.listdir(self.scratch))
        result = run_tool(*args)
        self.assertEqual(result.code, code, result.err + result.out)
        for text in [says] if isinstance(says, str) else says:
            self.assertIn(text, result.err + result.out)
        if code == 2:
            self.assertIn("error: ", result.err)
            # The same as JSON, for programs; an unknown command takes no options.
            if args[0] != "nonsense":
                answer = run_tool(*args, "--json").json()
                self.assertEqual(answer["status"], 2)
                self.assertTrue(answer["diagnostics"][0]["message"])
        self.assertEqual(before if leaves is None else leaves, sorted(os.listdir(self.scratch)))
        return result

    def holds(self, *args):
        result = run_tool(*args)
        self.assertEqual(result.code, 0, result.err + result.out)
        return result


def main(module):
    """Takes --tool and --make-package before unittest's own arguments."""
    global TOOL, MAKE_PACKAGE
    arguments = sys.argv[1:]
    while arguments and arguments[0] in ("--tool", "--make-package"):
        option, value = arguments[:2]
        arguments = arguments[2:]
        if option == "--tool":
            TOOL = os.path.abspath(value)
        else:
            MAKE_PACKAGE = os.path.abspath(value)
    unittest.main(module=module, argv=[sys.argv[0], *arguments], verbosity=1)


def needs_compiler():
    """Ends the process as skipped where the tool has no compiler."""
    result = run_tool("check", "--expand", os.devnull)
    if "this machine has no compiler" in result.err:
        print("skipped: " + result.err.strip())
        sys.exit(SKIP)
