# field_sources.py - what other people's kernels compute, thread by thread
# Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Row operators as their sources write them: threads, shuffles, shared memory,
casts. Nothing here reads a partition, a merge order or a rounding of a contract.
The sources are named in the contract files of contracts/library/field. All
numbers are f32 (or bf16) held in Python floats; every operation is rounded.
1/sqrt stands for rsqrt, and the library's primitives for exp and log."""
import fractions
import math
import pathlib
import re
import struct

F32 = struct.Struct("<f")
PRIMITIVES = pathlib.Path(__file__).resolve().parents[2] / "contracts/primitives"


def f32(value):
    return F32.unpack(F32.pack(value))[0]


def bf16(value):
    bits, = struct.unpack("<I", F32.pack(value))
    bits = (bits + 0x7FFF + (bits >> 16 & 1)) >> 16 << 16
    return F32.unpack(struct.pack("<I", bits & 0xFFFFFFFF))[0]


def fma(a, b, c):
    """a·b + c rounded once: through f64 rounded to odd, which f32 rounds right."""
    exact = fractions.Fraction(a) * fractions.Fraction(b) + fractions.Fraction(c)
    near = float(exact)
    if near != exact and not struct.unpack("<q", struct.pack("<d", near))[0] & 1:
        near = math.nextafter(near, math.inf if exact > near else -math.inf)
    return f32(near)


def rsqrt(value):
    return f32(1.0 / f32(math.sqrt(value)))


class Primitive:
    """A function of the library on finite f32: its lines, one after another."""

    def __init__(self, name):
        text = re.sub(r"//.*", "", (PRIMITIVES / (name + ".mlir")).read_text("utf-8"))
        head, body = text.split("{", 1)
        self.args = re.findall(r"%(\w+):", head)
        self.lines = re.findall(r"%(\w+) = (\S+) (.*) : (.*)", body)
        self.result = re.search(r"pact\.yield %(\w+)", body)[1]
        self.known = {}

    def __call__(self, *values):
        if values not in self.known:
            env = dict(zip(self.args, values))
            for name, op, operands, kind in self.lines:
                env[name] = self.step(op, operands, kind, env)
            self.known[values] = env[self.result]
        return self.known[values]

    @staticmethod
    def step(op, operands, kind, env):
        op = op.split(".", 1)[1]
        if op == "constant":
            if "0x" in operands and kind == "f32":
                return F32.unpack(struct.pack("<I", int(operands, 16)))[0]
            return int(operands, 0) if kind == "i32" else f32(float(operands))
        words = operands.replace(",", "").split()
        a, b, c = ([env[w[1:]] for w in words if w[0] == "%"] + [None] * 3)[:3]
        if op == "bitcast":
            codes = ("<f", "<i") if kind.startswith("f32") else ("<i", "<f")
            return struct.unpack(codes[1], struct.pack(codes[0], a))[0]
        if op in ("shli", "subi", "andi"):
            value = {"shli": lambda: a << b, "subi": lambda: a - b,
                     "andi": lambda: a & b}[op]()
            return (value + 2**31) % 2**32 - 2**31
        return {"addf": lambda: f32(a + b), "subf": lambda: f32(a - b),
                "mulf": lambda: f32(a * b), "fma": lambda: fma(a, b, c),
                "negf": lambda: -a, "maximumf": lambda: max(a, b),
                "shrsi": lambda: a >> b, "sitofp": lambda: f32(float(a)),
                "select": lambda: b if a else c,
                "cmpf": lambda: {"oge": a >= b, "olt": a < b, "oeq": a == b}[words[0]],
                }[op]()


EXP, LOG = Primitive("exp_below.f32"), Primitive("log.f32")


# --- reductions over threads ---------------------------------------------------

def shuffle_xor(lanes):
    """for offset 16, 8, 4, 2, 1: v += shfl_xor(v, offset)"""
    for offset in (16, 8, 4, 2, 1):
        lanes = [f32(lanes[i] + lanes[i ^ offset]) for i in range(32)]
    return lanes[0]


def shuffle_down(lanes, offsets):
    """Lanes past the end keep what they have; lane 0 never sees them."""
    for offset in offsets:
        lanes = [f32(lanes[i] + lanes[i + offset]) if i + offset < 32 else lanes[i]
                 for i in range(32)]
    return lanes[0]


def warps_of(threads):
    return [threads[i:i + 32] for i in range(0, len(threads), 32)]


def cub_block_reduce(threads):
    totals = [shuffle_down(w, (1, 2, 4, 8, 16)) for w in warps_of(threads)]
    aggregate = totals[0]
    for total in totals[1:]:
        aggregate = f32(aggregate + total)
    return aggregate


def shared_halving(values):
    while len(values) > 1:
        half = len(values) // 2
        values = [f32(values[i] + values[i + half]) for i in range(half)]
    return values[0]


def last_power_of_two(n):
    return 1 << n.bit_length() - 1


def torch_sum(row, rows):
    """setReduceConfig, input_vectorized_thread_reduce_impl, block_y_reduce,
    block_x_reduce and global_reduce of Reduce.cuh: one of `rows` f32 rows."""
    n, vectors = len(row), len(row) // 4
    dim0 = last_power_of_two(min(vectors, 512))
    dim1 = last_power_of_two(min(rows, 512))
    height = min(dim1, 512 // min(dim0, 32))
    width = min(dim0, 512 // height)
    step, ys, ctas = width, 1, 1
    if -(-n // step) >= min(height * 16, 256):
        ys, step = height, step * height
        values = -(-n // step)
        if values >= 256:
            # On devices that hold 16 such blocks at once, as all of today do.
            assert rows == 1
            ctas = max(min(10**6, -(-values // 16)), -(-values // 256))
            step *= ctas

    def thread(x, y, cta):
        lists = [0.0] * 4
        for idx in range(x + y * width + cta * width * ys, vectors, step):
            for i in range(4):
                lists[i] = f32(lists[i] + row[4 * idx + i])
        total = lists[0]
        for i in range(1, 4):
            total = f32(total + lists[i])
        return total

    def block_x(values):
        while len(values) > 32:
            half = len(values) // 2
            values = [f32(values[i] + values[i + half]) for i in range(half)]
        return shuffle_down(values, (1, 2, 4, 8, 16))

    def block(of_thread):
        return block_x([shared_halving([of_thread(x, y) for y in range(ys)])
                        for x in range(width)])

    totals = [block(lambda x, y: thread(x, y, cta)) for cta in range(ctas)]
    if ctas == 1:
        return totals[0]
    return block_x([f32(0.0 + totals[x]) if x < ctas else 0.0 for x in range(width)])


def numpy_pairwise(row):
    if len(row) > 128:
        half = len(row) // 2
        half -= half % 8
        return f32(numpy_pairwise(row[:half]) + numpy_pairwise(row[half:]))
    r = row[:8]
    for i in range(8, len(row), 8):
        r = [f32(r[j] + row[i + j]) for j in range(8)]
    return f32(f32(f32(r[0] + r[1]) + f32(r[2] + r[3]))
               + f32(f32(r[4] + r[5]) + f32(r[6] + r[7])))


# --- squares of a row ----------------------------------------------------------

def strided(row, threads, width):
    """-> each thread's elements: vectors of `width`, thread after thread"""
    vectors = range(0, len(row), width)
    return [[row[v + j] for v in vectors[t::threads] for j in range(width)]
            for t in range(threads)]


def chain_of_squares(elements):
    total = 0.0
    for x in elements:
        total = fma(x, x, total)
    return total


def vllm_squares(row):
    return cub_block_reduce([chain_of_squares(e) for e in strided(row, 1024, 1)])


def vllm_fused_squares(row, threads):
    def thread(elements):
        variance = 0.0
        for v in range(0, len(elements), 8):
            result = 0.0
            for i in range(v, v + 8, 2):
                a, b = elements[i], elements[i + 1]
                result = f32(result + f32(f32(a * a) + f32(b * b)))
            variance = f32(variance + result)
        return variance
    return cub_block_reduce([thread(e) for e in strided(row, threads, 8)])


def flashinfer_squares(row):
    threads = [chain_of_squares(e) for e in strided(row, 512, 8)]
    totals = [shuffle_xor(w) for w in warps_of(threads)]
    return shuffle_xor(totals + [0.0] * (32 - len(totals)))


def apex_squares(row):
    threads = [chain_of_squares(e) for e in strided(row, 128, 4)]
    lanes = []
    for warp in warps_of(threads):
        for l in range(5):
            warp = [f32(warp[i] + warp[(i + (1 << l)) & 31]) for i in range(32)]
        lanes.append(warp[0])
    return shared_halving(lanes)


def torch_squares(row, rows):
    return torch_sum([f32(x * x) for x in row], rows)


def balanced_squares(row):
    values = [f32(x * x) for x in row]
    while len(values) > 1:
        values = [f32(values[i] + values[i + 1]) for i in range(0, len(values), 2)]
    return values[0]


def norm(row, weight, squares, rounded, out, offset=None):
    """x / sqrt(mean + eps), cast where the source casts, times the weight."""
    r = rsqrt(f32(f32(squares / len(row)) + f32(1e-6)))
    scale = weight if offset is None else [f32(offset + w) for w in weight]
    return [out(f32(rounded(f32(x * r)) * w)) for x, w in zip(row, scale)]


# --- log-probabilities ---------------------------------------------------------

def torch_log_softmax(row, ilp):
    m = max(row)
    threads = []
    for elements in strided(row, 1024, ilp):
        total = 0.0
        for x in elements:
            total = f32(total + EXP(x, m))
        threads.append(total)
    down = (16, 8, 4, 2, 1)
    total = shuffle_down([shuffle_down(w, down) for w in warps_of(threads)], down)
    return lambda t: f32(f32(row[t] - m) - LOG(total))


def megatron(row, ranks, rows):
    m, part = max(row), len(row) // ranks
    total = None
    for rank in range(ranks):
        each = torch_sum([EXP(x, m) for x in row[rank * part:(rank + 1) * part]], rows)
        total = each if total is None else f32(total + each)
    return lambda t: -f32(LOG(total) - f32(row[t] - m))


def flash_attention(row):
    m, l = None, 0.0
    for at in range(0, len(row), 16384):
        block = row[at:at + 16384]
        new = max(block) if m is None else max(m, max(block))
        # Triton's choice; 16 warps with vectors of 4 are taken here.
        lanes = []
        for elements in strided(block, 512, 4):
            total = 0.0
            for x in elements:
                total = f32(total + EXP(x, new))
            lanes.append(total)
        l = f32((f32(EXP(m, new) * l) if m is not None else 0.0)
                + shared_halving(lanes))
        m = new
    lse = f32(LOG(l) + m)
    return lambda t: -f32(lse - row[t])


def verl(row):
    m = max(row)
    lse = f32(LOG(torch_sum([EXP(x, m) for x in row], 1)) + m)
    return lambda t: f32(row[t] - lse)
