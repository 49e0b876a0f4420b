# tensors.py - .npy and .safetensors files with nothing but the standard library
# Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""bf16 values travel as 16-bit patterns: .npy has no bf16 and stores <u2."""
import array
import json
import math
import struct


def write_safetensors(path, tensors):
    """tensors: name -> (dtype, shape, bytes), dtype as in BF16, F32."""
    header, at = {}, 0
    for name, (dtype, shape, data) in tensors.items():
        header[name] = {"dtype": dtype, "shape": list(shape),
                        "data_offsets": [at, at + len(data)]}
        at += len(data)
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        for _, _, data in tensors.values():
            file.write(data)


def read_safetensors(path, name):
    """-> (dtype, shape, bytes)"""
    with open(path, "rb") as file:
        (length,) = struct.unpack("<Q", file.read(8))
        entry = json.loads(file.read(length))[name]
        begin, end = entry["data_offsets"]
        file.seek(8 + length + begin)
        return entry["dtype"], entry["shape"], file.read(end - begin)


def write_npy(path, descr, shape, data):
    """descr as NumPy writes it: <u2, <f4."""
    text = (f"{{'descr': '{descr}', 'fortran_order': False, "
            f"'shape': ({', '.join(map(str, shape))},), }}").encode()
    text += b" " * (-(len(text) + 11) % 64) + b"\n"
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text
                   + data)


def read_npy(path):
    """-> the bytes of the elements"""
    with open(path, "rb") as file:
        content = file.read()
    (length,) = struct.unpack("<H", content[8:10])
    return content[10 + length:]


def bf16(value):
    """The bit pattern of a finite float, rounded to nearest even."""
    (bits,) = struct.unpack("<I", struct.pack("<f", value))
    return (bits + 0x7FFF + (bits >> 16 & 1)) >> 16


def bf16_bytes(values):
    return array.array("H", map(bf16, values)).tobytes()


def normal_values(count, seed):
    """Normal numbers from a generator of 64 bits, the same everywhere up to
    the last bit of the C library's logarithm and cosine, which bf16 hides."""
    state, values = seed, []

    def uniform():
        nonlocal state
        state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
        return ((state >> 11) + 0.5) / 2**53

    while len(values) < count:
        radius = math.sqrt(-2 * math.log(uniform()))
        angle = 2 * math.pi * uniform()
        values += [radius * math.cos(angle), radius * math.sin(angle)]
    return values[:count]


def differing_elements(a, b, size):
    """How many elements of `size` bytes differ."""
    kind = {2: "H", 4: "I", 8: "Q"}[size]
    return sum(x != y for x, y in zip(array.array(kind, a),
                                      array.array(kind, b)))
