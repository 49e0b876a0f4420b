# layers.py - products in the layouts of engines, and operators after each other
# Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Through the C ABI, on the device that --device says (cpu), with the kernels of
--package, which was made before, or compiled here."""
import ctypes
import json
import os
import random
import struct
import sys

import tool
from tool import SKIP, ToolTest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "examples", "05-against-torch"))
import package_kernel  # noqa: E402
from package_kernel import BF16, FLOAT, View  # noqa: E402

QWEN = os.path.join(ROOT, "contracts", "library", "qwen3-8b")
DEVICE, PACKAGE = "cpu", ""
# Whole 16-byte pieces of every row, and no whole tiles.
HIDDEN, WIDE, ROWS = 208, 328, 37
ROLES = ("train", "prefill", "decode")
SHAPES = {"linear": {"in": HIDDEN}, "lm_head_f32": {"in": HIDDEN}, "down": {"in": WIDE, "out": HIDDEN},
          "swiglu": {"in": HIDDEN, "out": WIDE}, "swiglu_separate": {"in": HIDDEN, "out": WIDE},
          "silu_and_mul": {"out": WIDE}, "silu_and_mul_f32": {"out": WIDE}}  # fmt: skip


def nearest_bf16(value):
    bits = struct.unpack("<I", struct.pack("<f", value))[0]
    return (bits + 0x7FFF + (bits >> 16 & 1)) >> 16


class Matrix:
    """Rows in the device's memory, which others may share."""

    def __init__(self, device, rows, cols, bits=16, data=None):
        self.device, self.shape, self.bits = device, (rows, cols), bits
        self.stride = cols
        self.bytes = rows * cols * bits // 8
        self.address = device.alloc(self.bytes)
        device.put(self.address, data or b"\xa5" * self.bytes)

    def part(self, rows=slice(None), cols=slice(None)):
        """A view; rows may have a step."""
        view = object.__new__(Matrix)
        view.device, view.bits = self.device, self.bits
        first, last, step = rows.indices(self.shape[0])
        left, right, _ = cols.indices(self.shape[1])
        view.shape = (len(range(first, last, step)), right - left)
        view.stride = self.stride * step
        view.address = self.address + (first * self.stride + left) * self.bits // 8
        return view

    def view(self):
        return View(self.address, self.shape, (self.stride, 1), FLOAT if self.bits == 32 else BF16, self.bits)

    def data(self):
        """Row by row, without what lies between."""
        size = self.shape[1] * self.bits // 8
        return b"".join(self.device.get(self.address + i * self.stride * self.bits // 8, size)
                        for i in range(self.shape[0]))  # fmt: skip


class Device:
    def __init__(self, library):
        self.api = ctypes.CDLL(library)
        self.handle = ctypes.c_void_p()
        self.blocks = []
        self.call("open", DEVICE.encode(), None, ctypes.byref(self.handle))

    def call(self, name, *arguments):
        if getattr(self.api, "bitpact_device_" + name)(*arguments):
            self.api.bitpact_last_error.restype = ctypes.c_char_p
            raise RuntimeError(self.api.bitpact_last_error().decode())

    def alloc(self, size):
        data = ctypes.c_void_p()
        self.call("alloc", self.handle, ctypes.c_uint64(size), ctypes.byref(data))
        self.blocks.append(data)
        return data.value

    def put(self, address, data):
        self.call("copy_in", self.handle, ctypes.c_void_p(address), data, ctypes.c_uint64(len(data)))

    def get(self, address, size):
        data = ctypes.create_string_buffer(size)
        self.call("copy_out", self.handle, data, ctypes.c_void_p(address), ctypes.c_uint64(size))
        return data.raw

    def close(self):
        for data in self.blocks:
            self.call("free", self.handle, data)
        self.api.bitpact_device_close(self.handle)


class Layers(ToolTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.library = os.path.join(os.path.dirname(tool.TOOL), "..", "lib", "libbitpact.so")
        cls.kernel_package = PACKAGE or os.path.join(cls.packages, "layers.pkg")
        cls.kernels = {}
        if not PACKAGE:
            cls.compile()

    @classmethod
    def compile(cls):
        paths = []
        for name, dims in SHAPES.items():
            paths.append(os.path.join(cls.packages, name + ".json"))
            with open(paths[-1], "w") as file:
                json.dump({"bitpact": 1, "extends": os.path.join(QWEN, name + ".json"), "name": "test/" + name,
                           "dims": dims}, file)  # fmt: skip
        target = "cuda:sm_90a" if DEVICE != "cpu" else (
            "cpu:x86-64-v3" if os.uname().machine == "x86_64" else "cpu:aarch64")  # fmt: skip
        roles = [word for role in ROLES for word in ("--role", role)]
        result = tool.run_tool("compile", *paths, "-o", cls.kernel_package, "--target", target, *roles)
        assert result.code == 0, result.err

    def setUp(self):
        super().setUp()
        self.device = Device(self.library)
        self.chance = random.Random(11)
        self.x = self.random(ROWS, HIDDEN, 1)

    def tearDown(self):
        self.device.close()
        super().tearDown()

    def random(self, rows, cols, scale):
        values = [nearest_bf16(self.chance.gauss(0, scale)) for _ in range(rows * cols)]
        return Matrix(self.device, rows, cols, data=struct.pack(f"<{len(values)}H", *values))

    def launch(self, contract, *operands, role="train"):
        if (contract, role) not in self.kernels:
            largest = {"tokens": ROWS}
            if contract in ("linear", "lm_head_f32"):
                largest["out"] = 2 * WIDE
            self.kernels[contract, role] = package_kernel.Kernel(
                self.library, self.kernel_package, "test/" + contract, role, largest, DEVICE)  # fmt: skip
        kernel = self.kernels[contract, role]
        self.assertEqual(kernel.workspace_bytes, 0)
        args, keep = kernel.launch_args([operand.view() for operand in operands])
        kernel.launch(args)
        self.device.call("synchronize", self.device.handle)
        return operands[-1]

    def empty(self, rows, cols, bits=16):
        return Matrix(self.device, rows, cols, bits)

    def gate_up(self):
        """Weights of their own, above each other, and row by row in turn."""
        gate, up = (self.random(WIDE, HIDDEN, HIDDEN**-0.5) for _ in range(2))
        stacked = Matrix(self.device, 2 * WIDE, HIDDEN, data=gate.data() + up.data())
        turns = self.empty(2 * WIDE, HIDDEN)
        size = 2 * HIDDEN
        for i in range(WIDE):
            for j, one in enumerate((gate, up)):
                self.device.put(turns.address + (2 * i + j) * size, self.device.get(one.address + i * size, size))
        return gate, up, stacked, turns

    def test_weights_of_swiglu_lie_as_they_like(self):
        gate, up, stacked, turns = self.gate_up()
        for contract in ("swiglu", "swiglu_separate"):
            want = self.launch(contract, self.x, gate, up, self.empty(ROWS, WIDE)).data()
            halves = [stacked.part(slice(WIDE)), stacked.part(slice(WIDE, None))]
            pairs = [turns.part(slice(0, None, 2)), turns.part(slice(1, None, 2))]
            self.assertEqual(pairs[1].data(), up.data())
            for weights in (halves, pairs):
                self.assertEqual(self.launch(contract, self.x, *weights, self.empty(ROWS, WIDE)).data(), want)
            # A result in columns of a wider tensor, of which nothing else is written.
            wide = self.empty(ROWS, 3 * WIDE)
            result = self.launch(contract, self.x, *halves, wide.part(cols=slice(WIDE, 2 * WIDE)))
            self.assertEqual(result.data(), want)
            for rest in (slice(WIDE), slice(2 * WIDE, None)):
                self.assertEqual(set(wide.part(cols=rest).data()), {0xA5})
            # Weights that are exchanged are others.
            self.assertNotEqual(self.launch(contract, self.x, *halves[::-1], self.empty(ROWS, WIDE)).data(), want)

    def test_one_product_or_three_of_qkv(self):
        widths = (128, 40, 40)
        weight = self.random(sum(widths), HIDDEN, HIDDEN**-0.5)
        whole = self.launch("linear", self.x, weight, self.empty(ROWS, sum(widths)))
        fused, first = self.empty(ROWS, sum(widths)), 0
        for width in widths:
            own = slice(first, first + width)
            alone = Matrix(self.device, width, HIDDEN, data=weight.part(own).data())
            want = self.launch("linear", self.x, alone, self.empty(ROWS, width)).data()
            self.assertEqual(whole.part(cols=own).data(), want)
            self.assertEqual(self.launch("linear", self.x, weight.part(own), fused.part(cols=own)).data(), want)
            first += width
        self.assertEqual(fused.data(), whole.data())

    def in_two_kernels(self, fused, x, gate_up, role):
        """One product with both weights, then the activation of its halves."""
        product, activation, bits = (("linear", "silu_and_mul", 16) if fused == "swiglu_separate" else
                                     ("lm_head_f32", "silu_and_mul_f32", 32))  # fmt: skip
        rows = x.shape[0]
        both = self.launch(product, x, gate_up, self.empty(rows, 2 * WIDE, bits), role=role)
        return self.launch(activation, both.part(cols=slice(WIDE)), both.part(cols=slice(WIDE, None)),
                           self.empty(rows, WIDE), role=role)  # fmt: skip

    def test_swiglu_in_two_kernels(self):
        gate, up, stacked, _ = self.gate_up()
        results = []
        for contract in ("swiglu", "swiglu_separate"):
            for role in ROLES:
                one = self.launch(contract, self.x, gate, up, self.empty(ROWS, WIDE), role=role).data()
                self.assertEqual(self.in_two_kernels(contract, self.x, stacked, role).data(), one)
            results.append(one)
        self.assertNotEqual(*results)

    def test_a_chain_has_the_bytes_of_each_row_alone(self):
        gate, up, stacked, _ = self.gate_up()
        down = self.random(HIDDEN, WIDE, WIDE**-0.5)

        def chain(rows, role, two=False):
            x = self.x.part(rows)
            count = x.shape[0]
            middle = (self.in_two_kernels("swiglu", x, stacked, role) if two else
                      self.launch("swiglu", x, gate, up, self.empty(count, WIDE), role=role))  # fmt: skip
            return self.launch("down", middle, down, self.empty(count, HIDDEN), role=role).data()

        want = chain(slice(ROWS), "train")
        size = 2 * HIDDEN
        for role in ROLES:
            for two in (False, True):
                self.assertEqual(chain(slice(ROWS), role, two), want)
                for cut in (1, 4, 5, 16):
                    self.assertEqual(b"".join(chain(slice(i, i + cut), role, two) for i in range(0, ROWS, cut)), want)
        self.assertEqual(chain(slice(0, ROWS, 3), "decode"),
                         b"".join(want[i * size : i * size + size] for i in range(0, ROWS, 3)))  # fmt: skip

    def test_kernels_equal_the_reference(self):
        result = self.holds("check", self.kernel_package, "--device", DEVICE, "--rows", "1,5,37", "--dim",
                            f"out={2 * WIDE}", "--trials", "1")  # fmt: skip
        self.assertIn("0 differing bytes", result.out)


def needs_device():
    if DEVICE.startswith("cuda") and not os.path.exists("/dev/nvidia0"):
        print("skipped: no NVIDIA device here")
        sys.exit(SKIP)


if __name__ == "__main__":
    if "--tool" in sys.argv:
        tool.TOOL = os.path.abspath(sys.argv[sys.argv.index("--tool") + 1])
    for option in ("--device", "--package"):
        if option in sys.argv:
            at = sys.argv.index(option)
            globals()[option[2:].upper()] = sys.argv[at + 1]
            del sys.argv[at : at + 2]
    needs_device()
    if not PACKAGE:
        tool.needs_compiler()
    tool.main("__main__")
