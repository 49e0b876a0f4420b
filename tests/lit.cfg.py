# lit.cfg.py - how lit finds and runs Bitpact's tests
# Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import os
import shutil

import lit.formats

config.name = "bitpact"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".test"]
config.excludes = ["Inputs", "unit", "data"]
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = os.path.join(config.bitpact_build, "tests", "lit")

config.substitutions += [
    ("%bitpact_source", config.bitpact_source),
    ("%bitpact_build", config.bitpact_build),
    ("%contracts", os.path.join(config.bitpact_source, "contracts")),
    ("%library", os.path.join(config.bitpact_source, "contracts", "library")),
]
config.environment["PATH"] = os.pathsep.join(
    [os.path.join(config.bitpact_build, "bin"), config.llvm_tools,
     os.environ["PATH"]])

# What a test compiles is not taken from an earlier run.
config.environment["XDG_CACHE_HOME"] = "relative, so ignored"
config.environment.pop("HOME", None)

# A test says `REQUIRES: ptxas` where it needs NVIDIA's assembler.
if shutil.which("ptxas") or os.path.exists("/usr/local/cuda/bin/ptxas"):
    config.available_features.add("ptxas")
