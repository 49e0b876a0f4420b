# nv_linear.py - a bf16 linear in steps of dot.nv(L,F), as a command to be revealed
# Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""nv_linear.py L F ROWS: y[m, n] = x[m, k] w[n, k], in whole numbers alone. With ROWS
rows of x or fewer, K is cut into two equal parts that meet in f32."""
import sys

import numpy as np

L, F, ROWS = (int(text) for text in sys.argv[1:4])


def read(path):
    """Of each element significand, exponent of its last bit, and of its first."""
    def number(bits):
        exponent = max(bits >> 7 & 255, 1) - 127
        magnitude = bits & 127 | (128 if bits >> 7 & 255 else 0)
        return (-magnitude if bits >> 15 else magnitude), exponent - 7, exponent
    return [[number(int(bits)) for bits in row] for row in np.load(path).view(np.uint16)]


def cut(value, last, unit):
    """Toward zero, in units of 2^unit."""
    magnitude = abs(value) << last - unit if last >= unit else abs(value) >> unit - last
    return -magnitude if value < 0 else magnitude


def f32(value, last):
    exponent = abs(value).bit_length() - 1 + last
    unit = max(exponent - 23, -149, last)
    return cut(value, last, unit), unit, max(exponent, -126)


def step(terms, accumulator):
    terms = terms + [accumulator]
    largest = max([top for value, _, top in terms if value] + [-108 - F])
    unit = largest - F
    return f32(sum(cut(value, last, unit) for value, last, _ in terms), unit)


def chain(x, w):
    products = [(a * b, i + j, s + t) for (a, i, s), (b, j, t) in zip(x, w)]
    accumulator = (0, 0, -126)
    for at in range(0, len(products), L):
        accumulator = step(products[at:at + L], accumulator)
    return accumulator


def nearest(value, last, bits, least):
    """To nearest even with so many bits: significand and exponent of the last."""
    unit = max(abs(value).bit_length() + last - bits, least, last)
    whole, rest = divmod(abs(value), 1 << unit - last)
    half = 1 << unit - last >> 1
    whole += rest > half or (half and rest == half and whole & 1)
    return (-whole if value < 0 else whole), unit


def dot(x, w, parts):
    length = -(-len(x) // (L * parts)) * L
    total = None
    for at in range(0, len(x), length):
        part = chain(x[at:at + length], w[at:at + length])[:2]
        if total is None:
            total = part
        else:
            unit = min(total[1], part[1])
            both = sum(value << last - unit for value, last in (total, part))
            total = nearest(both, unit, 24, -149)
    return total


def bf16(value, last):
    value, unit = nearest(value, last, 8, -133)
    magnitude = abs(value)
    if magnitude == 256:
        magnitude, unit = 128, unit + 1
    while magnitude and magnitude < 128 and unit > -133:
        magnitude, unit = magnitude * 2, unit - 1
    bits = magnitude + ((unit + 133) << 7 if magnitude >= 128 else 0)
    return (0x8000 if value < 0 else 0) | bits


for line in sys.stdin:
    paths = line.split()
    x, w = read(paths[0]), read(paths[1])
    parts = 2 if len(x) <= ROWS else 1
    y = [[bf16(*dot(row, column, parts)) for column in w] for row in x]
    np.save(paths[0], np.array(y, np.uint16).view(np.int16))
    print(paths[0], flush=True)
