# products.py - products of matrices as packages and as PyTorch compute them
# Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What matmul.py times. A case has a contract, tensors in the contract's order,
the output last, and peers: functions of these tensors that return their
output."""
FOOTPRINT = 512 << 20  # bytes of the sets of tensors that launches rotate through


class Linear:
    """x times the transpose of a weight, beside one product of cuBLAS."""
    folder = "qwen3-8b"

    def __init__(self, contract, out, reduced):
        self.contract, self.out, self.reduced = contract, out, reduced
        self.weights = 1

    def rows(self, tokens):
        return tokens

    def dims(self, rows):
        """The largest dims of a launch, beside those that the contract has."""
        return {"tokens": rows, "out": self.out}

    def tensors(self, torch, rows, before=None):
        """A set of tensors; what it may share with the set before is that."""
        options = {"dtype": torch.bfloat16, "device": "cuda"}
        weight = torch.randn(self.weights * self.out, self.reduced, **options)
        weight *= self.reduced ** -0.5
        # Of several, one tensor holds one after the other, as engines store it.
        return [torch.randn(rows, self.reduced, **options),
                *weight.split(self.out), torch.empty(rows, self.out, **options)]

    def alone(self, torch, tensors, row):
        """The launch of one row by itself."""
        x, *weights, y = tensors
        return [x[row:row + 1].contiguous(), *weights,
                torch.full_like(y[:1], float("nan"))]

    def sets(self, rows):
        return max(2, min(64, FOOTPRINT // self.moved(rows) + 1))

    def moved(self, rows):
        return 2 * (rows * self.reduced + rows * self.out +
                    self.weights * self.out * self.reduced)

    def flops(self, rows):
        return 2 * rows * self.weights * self.out * self.reduced

    def peers(self, torch):
        def product(x, weight, y):
            return torch.mm(x, weight.t(), out=y)
        return {"cublas": product}


class Gated(Linear):
    """SwiGLU, beside products of cuBLAS and a compiled activation: one product
    with both weights, as engines run it, and one with each."""

    def __init__(self, contract, out, reduced):
        super().__init__(contract, out, reduced)
        self.weights = 2

    def peers(self, torch):
        # Each number of rows is compiled anew; behind a limit PyTorch would go
        # on without its compiler.
        torch._dynamo.reset()

        @torch.compile(dynamic=False)
        def activation(gate, up):
            return torch.nn.functional.silu(gate) * up

        def one(x, gate, up, _):
            both = torch.as_strided(gate, (2 * self.out, self.reduced),
                                    (self.reduced, 1), gate.storage_offset())
            halves = torch.mm(x, both.t())
            return activation(halves[:, :self.out], halves[:, self.out:])

        def two(x, gate, up, _):
            return activation(torch.mm(x, gate.t()), torch.mm(x, up.t()))
        return {"cublas": one, "cublas_each": two}


# Qwen3-8B: name, case. Those of ranks have K in the parts of eight ranks.
SHAPES = {"qkv": Linear("linear", 6144, 4096),
          "o": Linear("linear", 4096, 4096),
          "gate_up": Linear("linear", 24576, 4096),
          "down": Linear("down", 4096, 12288),
          "lm_head": Linear("linear", 151936, 4096),
          "swiglu": Gated("swiglu", 12288, 4096),
          "swiglu_separate": Gated("swiglu_separate", 12288, 4096),
          "o_rank8": Linear("o_rank8", 4096, 4096),
          "down_rank8": Linear("down_rank8", 4096, 12288)}
USUAL = ("qkv", "o", "gate_up", "down", "lm_head")
