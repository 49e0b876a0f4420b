# numpy_sum.py - NumPy's sum of rows, as a command that can be revealed
# Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import sys, numpy as np
for line in sys.stdin:
    path = line.strip()
    np.save(path, np.load(path).sum(axis=-1))
    print(path, flush=True)
