# grouped.py - experts' products, as packages and as PyTorch compute them
# Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The case of a mixture of experts: rows sorted by expert, and offsets between
them from a routing in which some experts are asked for more often than others.
Peers are one product of cuBLAS for every expert that has rows, sized on the
host before anything is timed, and PyTorch's grouped product where it has one."""
import products


class Grouped(products.Linear):
    folder = "qwen3-30b-a3b"
    experts, chosen = 128, 8  # a token goes to so many

    def rows(self, tokens):
        return tokens * self.chosen

    def dims(self, rows):
        return {"tokens": rows, "experts": self.experts,
                "boundaries": self.experts + 1, "out": self.out}

    def routing(self, torch, rows):
        """How many rows each expert has: the `chosen` best scores of every
        token, of which an expert's have a mean of its own."""
        scores = torch.randn(rows // self.chosen, self.experts)
        scores += torch.randn(self.experts)
        picks = scores.topk(self.chosen, dim=1).indices.flatten()
        return torch.bincount(picks, minlength=self.experts)

    def tensors(self, torch, rows, before=None):
        options = {"dtype": torch.bfloat16, "device": "cuda"}
        # Every set has a routing of its own, on the same weights.
        weight = before[1] if before else self.reduced ** -0.5 * torch.randn(
            self.experts, self.out, self.reduced, **options)
        ends = self.routing(torch, rows).cumsum(0)
        offsets = torch.cat([torch.zeros(1, dtype=ends.dtype), ends])
        x = torch.randn(rows, self.reduced, **options)
        return [x, weight, offsets.to(device="cuda", dtype=torch.int32),
                torch.empty(rows, self.out, **options)]

    def alone(self, torch, tensors, row):
        x, weight, offsets, y = tensors
        return [x[row:row + 1].contiguous(), weight,
                (offsets - row).clamp(0, 1), torch.full_like(y[:1], float("nan"))]

    def moved(self, rows):
        # Every expert that one can expect to be asked for, once.
        touched = self.experts * (1 - (1 - 1 / self.experts) ** rows)
        return int(2 * (rows * self.reduced + rows * self.out +
                        touched * self.out * self.reduced))

    def sets(self, rows):
        return max(2, min(16, products.FOOTPRINT // self.moved(rows) + 1))

    def peers(self, torch):
        known = {}

        def bounds(offsets):
            """On the host, and their ends on the device: made in the launch
            before any is timed or captured."""
            key = offsets.data_ptr()
            if key not in known:
                known[key] = offsets.tolist(), offsets[1:].clone()
            return known[key]

        def each(x, weight, offsets, y):
            at, _ = bounds(offsets)
            for expert in range(self.experts):
                rows = slice(at[expert], at[expert + 1])
                if rows.start < rows.stop:
                    torch.mm(x[rows], weight[expert].t(), out=y[rows])
            return y
        peers = {"cublas": each}
        grouped = (getattr(torch.nn.functional, "grouped_mm", None) or
                   getattr(torch, "_grouped_mm", None))
        if grouped:
            peers["torch_grouped"] = lambda x, weight, offsets, y: grouped(
                x, weight.transpose(-2, -1), offs=bounds(offsets)[1])
        return peers


# Qwen3-30B-A3B: gate and up in one, and down.
SHAPES = {"moe_gate_up": Grouped("experts_gate_up", 1536, 2048),
          "moe_down": Grouped("experts_down", 2048, 768)}
TOKENS = (1, 16, 64, 256, 4096)
